//! What the contracts' logs state.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, Which};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, TokenId};

use super::LooksRare;
use super::abi::{
    ApprovalsGranted, ApprovalsRemoved, NewBidAskNonces, NonceInvalidationParameters, OrderNoncesCancelled,
    SubsetNoncesCancelled, TakerAsk, TakerBid,
};
use crate::logs::{Finding, address, each, read, revoked};
use crate::{LogError, Scope, Statement};

const MARKETPLACE: Marketplace = Marketplace::LooksRare;

/// The first topics of the logs that are read.
pub(super) const TOPICS: [B256; 7] = [
    TakerBid::SIGNATURE_HASH,
    TakerAsk::SIGNATURE_HASH,
    OrderNoncesCancelled::SIGNATURE_HASH,
    SubsetNoncesCancelled::SIGNATURE_HASH,
    NewBidAskNonces::SIGNATURE_HASH,
    ApprovalsGranted::SIGNATURE_HASH,
    ApprovalsRemoved::SIGNATURE_HASH,
];

impl LooksRare {
    pub(super) fn read_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        each(logs, |log| self.findings(log))
    }

    fn findings(&self, log: &Log) -> Result<Vec<Finding>, LogError> {
        let Some(topic) = log.topics.first() else { return Ok(Vec::new()) };
        // Both contracts are the protocol's own, but each has its own events.
        let is_manager = log.address == self.transfer_manager;
        let over =
            |user, series, numbers| revoked((MARKETPLACE, log.address), address(user), series, numbers);
        Ok(match *topic {
            TakerBid::SIGNATURE_HASH if !is_manager => bought(log.address, &read(log)?),
            TakerAsk::SIGNATURE_HASH if !is_manager => sold(log.address, &read(log)?),
            OrderNoncesCancelled::SIGNATURE_HASH if !is_manager => {
                let event: OrderNoncesCancelled = read(log)?;
                let numbers = event.orderNonces.iter();
                numbers.map(|number| over(event.user, Series::Nonce, Numbers::Exactly(*number))).collect()
            }
            SubsetNoncesCancelled::SIGNATURE_HASH if !is_manager => {
                let event: SubsetNoncesCancelled = read(log)?;
                let numbers = event.subsetNonces.iter();
                numbers.map(|number| over(event.user, Series::Group, Numbers::Exactly(*number))).collect()
            }
            NewBidAskNonces::SIGNATURE_HASH if !is_manager => {
                let event: NewBidAskNonces = read(log)?;
                vec![
                    over(event.user, Series::BidCounter, Numbers::AllBut(event.bidNonce)),
                    over(event.user, Series::AskCounter, Numbers::AllBut(event.askNonce)),
                ]
            }
            ApprovalsGranted::SIGNATURE_HASH if is_manager => {
                let event: ApprovalsGranted = read(log)?;
                self.grant(address(event.user), &event.operators, true)
            }
            ApprovalsRemoved::SIGNATURE_HASH if is_manager => {
                let event: ApprovalsRemoved = read(log)?;
                self.grant(address(event.user), &event.operators, false)
            }
            _ => Vec::new(),
        })
    }

    fn grant(&self, owner: Address, to: &[alloy_primitives::Address], granted: bool) -> Vec<Finding> {
        let is_ours = to.iter().any(|operator| address(*operator) == self.domain.contract);
        let fact = Fact::Grant { owner, manager: self.transfer_manager, granted };
        is_ours.then_some((Scope::EveryCollection, fact)).into_iter().collect()
    }
}

/// A listing was filled: its maker is the first to be paid.
fn bought(contract: Address, event: &TakerBid) -> Vec<Finding> {
    let (taker, recipient) = (address(event.bidUser), address(event.bidRecipient));
    let items = (event.itemIds.as_slice(), event.amounts.as_slice());
    let maker = address(event.feeRecipients[0]);
    fill(
        &event.nonceInvalidationParameters,
        (contract, maker),
        address(event.collection),
        (taker, recipient),
        items,
    )
}

/// An offer was taken.
fn sold(contract: Address, event: &TakerAsk) -> Vec<Finding> {
    let (taker, recipient) = (address(event.askUser), address(event.feeRecipients[0]));
    let items = (event.itemIds.as_slice(), event.amounts.as_slice());
    let maker = address(event.bidUser);
    fill(
        &event.nonceInvalidationParameters,
        (contract, maker),
        address(event.collection),
        (taker, recipient),
        items,
    )
}

/// What a fill states: that the order is filled, when it is of one token, and that all others with its number are over.
fn fill(
    nonce: &NonceInvalidationParameters,
    (contract, maker): (Address, Address),
    collection: Address,
    (taker, recipient): (Address, Address),
    items: (&[U256], &[U256]),
) -> Vec<Finding> {
    let mut findings = Vec::with_capacity(2);
    if let ([token], [quantity]) = items {
        let filled = OrderFilled {
            marketplace: MARKETPLACE,
            which: Which::Id(format!("0x{}", hex::encode(nonce.orderHash))),
            taker,
            recipient,
            token_id: Some(TokenId::from(*token)),
            quantity: Amount::from(*quantity),
            remaining: Some(Amount::ZERO),
        };
        findings.push((Scope::Collection(collection), Fact::OrderFilled(Box::new(filled))));
    }
    if nonce.isNonceInvalidated {
        findings.push(revoked(
            (MARKETPLACE, contract),
            maker,
            Series::Nonce,
            Numbers::Exactly(nonce.orderNonce),
        ));
    }
    findings
}
