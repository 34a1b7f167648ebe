//! What the contracts' logs state.

use alloy_primitives::{B256, U256, hex};
use alloy_sol_types::SolEvent as _;
use bourse_market::facts::{Fact, Log, OrderFilled, OrderRef};
use bourse_market::{Numbers, Series};
use bourse_wire::{Address, Amount, Marketplace, TokenId};

use super::LooksRare;
use super::abi::{
    ApprovalsGranted, ApprovalsRemoved, NewBidAskNonces, NonceInvalidationParameters, OrderNoncesCancelled,
    SubsetNoncesCancelled, TakerAsk, TakerBid,
};
use crate::logs::{MakerAccount, ScopedFact, address, each, read};
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

    fn findings(&self, log: &Log) -> Result<Vec<ScopedFact>, LogError> {
        let Some(topic) = log.topics.first() else { return Ok(Vec::new()) };
        // Both contracts are the protocol's own, but each has its own events.
        let is_manager = log.address == self.transfer_manager;
        let over = |user, series, numbers| account(log.address, user).revoked(series, numbers);
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
                    over(event.user, Series::BidCounter, Numbers::Below(event.bidNonce)),
                    over(event.user, Series::AskCounter, Numbers::Below(event.askNonce)),
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

    fn grant(&self, owner: Address, to: &[alloy_primitives::Address], granted: bool) -> Vec<ScopedFact> {
        let is_ours = to.iter().any(|operator| address(*operator) == self.domain.contract);
        let fact = Fact::Grant { owner, manager: self.transfer_manager, granted };
        is_ours.then_some((Scope::EveryCollection, fact)).into_iter().collect()
    }
}

fn account(contract: Address, maker: alloy_primitives::Address) -> MakerAccount {
    MakerAccount { marketplace: MARKETPLACE, contract, maker: address(maker) }
}

/// A fill, as both of its events have it.
struct FillEvent<'a> {
    account: MakerAccount,
    taker: alloy_primitives::Address,
    recipient: alloy_primitives::Address,
    collection: alloy_primitives::Address,
    token_ids: &'a [U256],
    amounts: &'a [U256],
    nonce: &'a NonceInvalidationParameters,
}

/// A listing was filled: its maker is the first to be paid.
fn bought(contract: Address, event: &TakerBid) -> Vec<ScopedFact> {
    FillEvent {
        account: account(contract, event.feeRecipients[0]),
        taker: event.bidUser,
        recipient: event.bidRecipient,
        collection: event.collection,
        token_ids: &event.itemIds,
        amounts: &event.amounts,
        nonce: &event.nonceInvalidationParameters,
    }
    .facts()
}

/// An offer was taken.
fn sold(contract: Address, event: &TakerAsk) -> Vec<ScopedFact> {
    FillEvent {
        account: account(contract, event.bidUser),
        taker: event.askUser,
        recipient: event.feeRecipients[0],
        collection: event.collection,
        token_ids: &event.itemIds,
        amounts: &event.amounts,
        nonce: &event.nonceInvalidationParameters,
    }
    .facts()
}

impl FillEvent<'_> {
    /// That the order is filled, when it is of one token, and that all others with its number are over.
    fn facts(&self) -> Vec<ScopedFact> {
        let mut facts = Vec::with_capacity(2);
        if let ([token], [quantity]) = (self.token_ids, self.amounts) {
            let filled = OrderFilled {
                marketplace: MARKETPLACE,
                order_ref: OrderRef::Id(format!("0x{}", hex::encode(self.nonce.orderHash))),
                taker: address(self.taker),
                recipient: address(self.recipient),
                token_id: Some(TokenId::from(*token)),
                quantity: Amount::from(*quantity),
                remaining: Some(Amount::ZERO),
            };
            let scope = Scope::Collection(address(self.collection));
            facts.push((scope, Fact::OrderFilled(Box::new(filled))));
        }
        if self.nonce.isNonceInvalidated {
            facts.push(self.account.revoked(Series::Nonce, Numbers::Exactly(self.nonce.orderNonce)));
        }
        facts
    }
}
