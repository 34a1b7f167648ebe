//! Seaport and its forks: orders that give one thing for others, signed for one contract.
//!
//! Forks have another address, another name to sign for and other conduits; everything else is the same.

mod abi;
mod agreed;
mod fill;
mod logs;
mod make;
mod order;
mod signed;
#[cfg(test)]
mod tests;
mod tips;
mod venues;

use alloy_primitives::{B256, U256};
use bourse_market::facts::{Fact, Log};
use bourse_market::{Nonces, Series, Standing};
use bourse_wire::{Address, Amount, Marketplace};
use serde_json::Value;

use self::abi::{getCounterCall, getOrderStatusCall};
use self::order::SeaportOrder;
pub(crate) use self::venues::FAMILY;
use super::native::{
    self, Answers, Api, Domain, Inquiry, NativeOrder, OrderFault, Proof, SourceRequest, SubmittedOrder,
    by_counter, prove, returned,
};
use super::{
    Call, LogError, LogQuestion, NewOrder, OrderExtras, OrderMaking, OrderSeed, OrderTerms, Plan, Protocol,
    Refusal, Statement, StoredOrder, TopicFilter, Trade,
};

/// Seaport, or a fork of it, as one marketplace uses it on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seaport {
    /// The marketplace.
    pub marketplace: Marketplace,
    /// What orders are signed for.
    pub domain: Domain,
    /// The conduits through which makers may have their tokens and money moved. The first is for takers and for new
    /// orders; without any, the contract itself moves everything.
    pub conduits: Vec<Conduit>,
    /// Contracts that agree to fills by a signature of the marketplace.
    pub signed_zones: Vec<Address>,
    /// Through what the marketplace agrees, if it ever has to.
    pub api: Option<Api>,
    /// Who gets the marketplace's own share.
    pub fee_recipient: Option<Address>,
}

/// A contract that moves tokens and money for Seaport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conduit {
    /// Its name in orders.
    pub key: B256,
    /// The contract.
    pub address: Address,
}

impl Seaport {
    /// Who moves what belongs to those who name a conduit.
    fn mover(&self, key: B256) -> Option<Address> {
        if key.is_zero() {
            return Some(self.domain.contract);
        }
        self.conduits.iter().find(|conduit| conduit.key == key).map(|conduit| conduit.address)
    }

    /// The numbers by which an order can be taken back.
    fn nonces(&self, signed: &SeaportOrder) -> Nonces {
        Nonces::new(self.domain.contract, [(Series::Counter, signed.counter.0)])
    }

    /// The conduit of takers and of new orders, and who that is.
    fn usual_conduit(&self) -> (B256, Address) {
        self.conduits
            .first()
            .map_or((B256::ZERO, self.domain.contract), |conduit| (conduit.key, conduit.address))
    }
}

impl Protocol for Seaport {
    fn contract(&self) -> Address {
        self.domain.contract
    }

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let signed = SeaportOrder::read(order, self.domain.contract, self.api.is_some())?;
        let (collection, facts) = self.derive(&signed)?;
        let digest = self.domain.digest(signed.hash());
        let proof = match signed.bulk()? {
            // A maker that is a contract is asked about the order itself, and shown all of the signature.
            Some(bulk) => {
                match prove(signed.offerer, self.domain.digest(bulk.hash(signed.hash())), &bulk.signature) {
                    Proof::Signed => Proof::Signed,
                    _ => prove(signed.offerer, digest, &signed.signature.0),
                }
            }
            None if signed.is_held() => Proof::Held,
            None => prove(signed.offerer, digest, &signed.signature.0),
        };
        let (nonces, text) = (self.nonces(&signed), signed.to_text());
        Ok(NativeOrder { collection, facts, nonces, text, proof })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        Self::part(stored, quantity)?.price()
    }

    fn source_requests(&self, trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
        self.ask(trade)
    }

    fn fill(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade, answers)
    }

    fn order_inquiries(&self, order: &NewOrder) -> Vec<Inquiry> {
        let call = getCounterCall { offerer: order.maker.bytes().into() };
        vec![Inquiry::new(self.domain.contract, &call)]
    }

    fn make_order(&self, order: &NewOrder, seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        self.sign(order, &OrderExtras::default(), seed)
    }

    fn make_special_order(
        &self,
        order: &NewOrder,
        extras: &OrderExtras,
        seed: OrderSeed<'_>,
    ) -> Result<OrderMaking, Refusal> {
        self.sign(order, extras, seed)
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let orders = vec![native::read_stored::<SeaportOrder>(stored)?.components()];
        Ok(Call::of(self.domain.contract, &abi::cancelCall { orders }))
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let signed = native::read_stored::<SeaportOrder>(stored)?;
        let status = getOrderStatusCall { orderHash: signed.hash() };
        let counter = getCounterCall { offerer: signed.offerer.bytes().into() };
        let to = self.domain.contract;
        Ok(vec![Inquiry::new(to, &status), Inquiry::new(to, &counter)])
    }

    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed = native::read_stored::<SeaportOrder>(stored).ok()?;
        let status = returned::<getOrderStatusCall>(answers, 0)?;
        let counter = returned::<getCounterCall>(answers, 1)?;
        if status.isCancelled {
            return Some(Standing::Cancelled);
        }
        if let Some(standing) = by_counter(counter, signed.counter.0) {
            return Some(standing);
        }
        // An order that nobody has touched has no size yet.
        if status.totalSize.is_zero() {
            return Some(Standing::Open { remaining: stored.facts.quantity_initial });
        }
        let initial = stored.facts.quantity_initial.value();
        let filled = initial.checked_mul(status.totalFilled)?.checked_div(status.totalSize)?;
        let remaining = initial.saturating_sub(filled);
        if remaining.is_zero() {
            return Some(Standing::Filled);
        }
        Some(Standing::Open { remaining: remaining.into() })
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |signed| self.derive(signed))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn collection_topics(&self, _collection: Address) -> Vec<TopicFilter> {
        vec![vec![logs::PUBLISHING.to_vec()]]
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(self, logs)
    }

    fn log_question(&self, log: &Log) -> Option<LogQuestion> {
        let (collection, offerer) = logs::of_unknown_counter(self, log)?;
        let call = getCounterCall { offerer: offerer.bytes().into() };
        Some(LogQuestion { collection, inquiry: Inquiry::new(self.domain.contract, &call) })
    }

    fn answered_log(&self, log: &Log, answers: Answers<'_>) -> Option<Fact> {
        let counter = returned::<getCounterCall>(answers, 0)?;
        logs::of_counter(self, log, counter)
    }
}
