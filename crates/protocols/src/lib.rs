//! How marketplaces are spoken with: which calls do what, and what their logs state. One module for each family. Pure: no
//! I/O, no clock.

mod approval;
mod approvals;
pub mod blur;
mod consent;
mod extras;
mod logs;
pub mod looks_rare;
pub mod native;
pub mod own;
pub mod payment_processor;
mod plan;
pub mod primary_sale;
mod refusal;
pub mod reverts;
mod royalty;
pub mod seaport;
#[cfg(test)]
mod testing;
mod trade;
pub mod venues;
pub mod x2y2;
pub mod zerox;

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::SolCall;
use bourse_wire::{Address, Amount, OrderFacts, OrderSide, TokenId};
use serde_json::Value;

pub use approval::Approval;
use approvals::{allowance, grant_approval, is_granted, is_operator};
pub use approvals::{approve_currency, approve_tokens, funds_of, read_amount};
use bourse_market::Standing;
use bourse_market::facts::{Fact, Log};
pub use consent::{
    Consent, ConsentAnswers, ConsentFault, ConsentOutcome, ConsentQuestions, ConsentRequest,
    ConsentSignature, SigningPayload,
};
pub use extras::OrderExtras;
use native::{Answers, Inquiry, NativeOrder, OrderFault, SourceFault, SourceRequest, SubmittedOrder};
pub use plan::{Act, OrderMaking, OrderSigning, Permission, Plan};
pub use refusal::Refusal;
pub use royalty::{Royalty, Sale, getRoyaltyInfoCall, royaltyInfoCall, royaltyLeftCall};
pub use trade::{Fee, FeeSize, Fill, RequestedFee, Trade, price_of};

/// Every family. One that is not named here is not spoken.
const FAMILIES: [&venues::Family; 7] = [
    &own::FAMILY,
    &seaport::FAMILY,
    &looks_rare::FAMILY,
    &zerox::FAMILY,
    &payment_processor::FAMILY,
    &blur::FAMILY,
    &x2y2::FAMILY,
];

/// A family of marketplaces, as one contract of it is spoken with.
pub trait Protocol: std::fmt::Debug + Send + Sync + 'static {
    /// The contract that orders are for, which tells it apart from others of the same venue.
    fn contract(&self) -> Address;

    /// Reads a signed order and tells what it is.
    fn read_order(&self, _order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        Err(OrderFault::Unsigned)
    }

    /// What so many units of an order cost whoever fills it, or pays them, without fees on top.
    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        price_of(stored.facts.price_amount, quantity)
    }

    /// What to ask of the chain to learn what of a price goes to the makers of the token, where whoever fills an order has
    /// to know.
    fn royalty_inquiry(&self, _collection: Address, _fill: &Fill<'_>) -> Option<Inquiry> {
        None
    }

    /// What must be asked before it is known what the taker must sign to fill orders.
    fn consent_questions(&self, _trade: &Trade<'_>) -> Result<ConsentQuestions, Refusal> {
        Ok(ConsentQuestions::default())
    }

    /// What the taker has still to sign before orders can be filled, beside what the trade has of it already.
    fn missing_consents(
        &self,
        _trade: &Trade<'_>,
        _answers: ConsentAnswers<'_>,
    ) -> Result<Vec<ConsentRequest>, Refusal> {
        Ok(Vec::new())
    }

    /// Takes a signature that [`Protocol::missing_consents`] asked for.
    fn accept_consent(&self, _signature: ConsentSignature<'_>) -> Result<ConsentOutcome, ConsentFault> {
        Err(ConsentFault::Needless)
    }

    /// The consent in what the marketplace's own service answered to [`ConsentOutcome::AskSource`].
    fn consent_from_source(&self, _answer: &Value, _now: u64) -> Result<Consent, SourceFault> {
        Err(SourceFault::Missing { member: "consent" })
    }

    /// What must be asked of the marketplace's own service before orders can be filled.
    fn source_requests(&self, _trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
        Ok(Vec::new())
    }

    /// The calls that fill orders, with the answers to [`Protocol::source_requests`].
    fn fill(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal>;

    /// What must be asked of the chain before an order is made.
    fn order_inquiries(&self, _order: &NewOrder) -> Vec<Inquiry> {
        Vec::new()
    }

    /// How an order is made.
    fn make_order(&self, order: &NewOrder, seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal>;

    /// How an order is made of which more is wanted than every marketplace has.
    fn make_special_order(
        &self,
        order: &NewOrder,
        extras: &OrderExtras,
        seed: OrderSeed<'_>,
    ) -> Result<OrderMaking, Refusal> {
        extras.refuse()?;
        self.make_order(order, seed)
    }

    /// The call by which its maker takes an order back.
    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal>;

    /// What to ask of the chain to learn what became of an order.
    fn standing_inquiries(&self, _stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        Ok(Vec::new())
    }

    /// What became of an order by what was answered; `None` when that does not tell.
    fn standing(&self, _stored: StoredOrder<'_>, _answers: Answers<'_>) -> Option<Standing> {
        None
    }

    /// What an order is by the only word that counts: by what was signed, or by what its contract answered to
    /// [`Protocol::standing_inquiries`]. `None` when the contract did not tell.
    fn terms(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal>;

    /// The contracts whose logs tell of its orders.
    fn log_addresses(&self) -> Vec<Address> {
        vec![self.contract()]
    }

    /// The first topics of the logs that [`Protocol::decode_logs`] reads.
    fn log_topics(&self) -> &'static [B256];

    /// By which topics those of its logs are found that tell of one collection, all the way back. Most marketplaces name
    /// collections in no topic: what became of a signed order before it was put is asked when it is put. Orders that makers
    /// had a contract take are told by nobody else, so that those of all collections are looked through.
    fn collection_topics(&self, _collection: Address) -> Vec<TopicFilter> {
        Vec::new()
    }

    /// Reads logs that its contracts wrote in one transaction, in their order. Those about something else state nothing.
    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>>;

    /// What must be asked of the chain, as of the block of a log, before it is known what the log states. Most logs tell all
    /// by themselves.
    fn log_question(&self, _log: &Log) -> Option<LogQuestion> {
        None
    }

    /// What such a log states by what was answered, of the collection that it was asked for.
    fn answered_log(&self, _log: &Log, _answers: Answers<'_>) -> Option<Fact> {
        None
    }
}

/// A question without whose answer it is not known what a log states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogQuestion {
    /// Contract of the collection that the log would state something of.
    pub collection: Address,
    /// The question.
    pub inquiry: Inquiry,
}

/// For each topic of a log, in order, what it may be; anything when empty.
pub type TopicFilter = Vec<Vec<B256>>;

/// An order, and what is kept of it for trades.
#[derive(Clone, Copy, Debug)]
pub struct StoredOrder<'a> {
    /// What it is.
    pub facts: &'a OrderFacts,
    /// Its native form, where it has one.
    pub native: Option<&'a str>,
}

/// What an order is by the word of who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderTerms {
    /// Contract of the collection.
    pub collection: Address,
    /// The order. What nobody signed, like how much of it remains, means nothing.
    pub facts: OrderFacts,
}

impl OrderTerms {
    /// The first member by which an order is another than the one of a collection that is stored.
    pub fn difference(&self, collection: Address, stored: &OrderFacts) -> Option<&'static str> {
        let Self { collection: signed_collection, facts } = self;
        let members = [
            ("collectionContractAddress", *signed_collection == collection),
            ("orderId", facts.order_id == stored.order_id),
            ("marketplace", facts.marketplace == stored.marketplace),
            ("side", facts.side == stored.side),
            ("tokenId", facts.token_id == stored.token_id),
            ("createdBy", facts.maker == stored.maker),
            ("priceAmount", facts.price_amount == stored.price_amount),
            ("priceCurrencyAddress", facts.currency == stored.currency),
            ("quantityInitial", facts.quantity_initial == stored.quantity_initial),
            ("feeBreakdown", facts.fee_bps == stored.fee_bps && facts.fee_breakdown == stored.fee_breakdown),
            ("validFrom", facts.valid_from == stored.valid_from),
            ("validUntil", facts.valid_until == stored.valid_until),
        ];
        members.iter().find(|(_, is_same)| !is_same).map(|(member, _)| *member)
    }
}

/// What makes an order unlike any other, and what the chain answered to [`Protocol::order_inquiries`].
#[derive(Clone, Copy, Debug)]
pub struct OrderSeed<'a> {
    /// A number that was never drawn before.
    pub salt: U256,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// The chain's answers.
    pub answers: Answers<'a>,
}

/// How long before they are made orders begin, in seconds. The time of chains is that of their newest block, which may
/// be a while ago, or by a clock that goes slow: an order that begins now could not be filled at once.
const BEGINS_BEFORE: u64 = 300;

impl OrderSeed<'_> {
    /// When an order begins, in seconds since 1970.
    fn start(&self) -> U256 {
        U256::from(self.now.saturating_sub(BEGINS_BEFORE))
    }
}

/// A call of a contract, as a wallet sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The contract.
    pub to: Address,
    /// What it is asked to do.
    pub data: Bytes,
    /// How much of the chain's own currency goes with it.
    pub value: Amount,
    /// What it moves in the currency of the orders.
    pub price: Amount,
}

impl Call {
    /// A call that costs nothing but gas.
    fn of<C: SolCall>(to: Address, call: &C) -> Self {
        Self { to, data: call.abi_encode().into(), value: Amount::ZERO, price: Amount::ZERO }
    }

    /// The same at a price, which goes with the call when it is in the chain's own currency.
    fn paying(self, currency: Address, price: U256) -> Self {
        let price = Amount::from(price);
        let value = if currency == Address::ZERO { price } else { Amount::ZERO };
        Self { value, price, ..self }
    }
}

/// An order to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// Selling or buying.
    pub side: OrderSide,
    /// Who makes it.
    pub maker: Address,
    /// Contract of the collection.
    pub collection: Address,
    /// Whether the collection has many of each token (ERC-1155), rather than one (ERC-721).
    pub is_multiple: bool,
    /// The token; it means nothing of an offer for any.
    pub token_id: TokenId,
    /// How many units.
    pub quantity: Amount,
    /// When it ends, in seconds since 1970.
    pub expiry: Amount,
    /// The currency.
    pub currency: Address,
    /// Price of one unit, in base units of the currency.
    pub unit_price: Amount,
}

/// What a log states.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The log's place among those that were read.
    pub log: usize,
    /// Of which collections.
    pub scope: Scope,
    /// What it states of them.
    pub fact: Fact,
}

/// Which collections a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The one of this contract.
    Collection(Address),
    /// Every collection that has orders of that maker on that marketplace.
    EveryCollection,
}

/// Why a log states nothing, although it has the name of an event that does.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("log {index} of transaction {tx_hash} by {address} is no {event}: {reason}")]
pub struct LogError {
    /// The contract that wrote it.
    pub address: Address,
    /// Its transaction.
    pub tx_hash: B256,
    /// Its place among the logs of its block.
    pub index: u64,
    /// The event that it has the name of.
    pub event: &'static str,
    /// What is wrong with it.
    pub reason: String,
}
