//! Why there are no calls that do what is asked.

use alloy_primitives::U256;
use bourse_wire::{Address, Amount};

use super::native::SourceFault;

/// Why there are no calls that do what is asked.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing to fill.
    #[error("there is no order to fill")]
    Empty,
    /// Listings and offers in one trade.
    #[error("listings and offers cannot be filled together")]
    Sides,
    /// Orders in several currencies: their prices have no sum.
    #[error("the orders ask for different currencies, {first} and {other}: fill those of each on their own")]
    Currencies {
        /// Currency of the first.
        first: Address,
        /// Another.
        other: Address,
    },
    /// A price that no contract can reckon with.
    #[error("the amounts add up to more than 2^256-1")]
    Overflow,
    /// More fees than a trade may have.
    #[error("{count} fees where at most {most} are allowed")]
    FeeCount {
        /// How many were asked for.
        count: usize,
        /// How many may be.
        most: usize,
    },
    /// A fee for nobody.
    #[error("fee {index} has the zero address as receiver")]
    FeeReceiver {
        /// Its place among those asked for.
        index: usize,
    },
    /// A fee of an offer for who makes it.
    #[error("fee {index} of the offer would go back to its maker")]
    FeeToMaker {
        /// Its place among those asked for.
        index: usize,
    },
    /// There is nothing at the address of a marketplace.
    #[error(
        "no contract of the marketplace answers at {contract}: whatever is sent there does nothing, so that the operator must \
         name another one"
    )]
    NoContract {
        /// The address.
        contract: Address,
    },
    /// The fees are larger than the contract lets them be.
    #[error(
        "the fees add up to {fees}, which is more than the {most} that the price leaves without royalties"
    )]
    FeeSum {
        /// What they add up to.
        fees: U256,
        /// The most that they may be.
        most: U256,
    },
    /// The contract does not take the chain's own currency.
    #[error("the contract takes no native currency for this")]
    Native,
    /// The marketplace has no such names for orders.
    #[error("`{order_id}` is no number, as the names of orders are on this marketplace")]
    OrderId {
        /// The name.
        order_id: String,
    },
    /// The contract cannot remember a time that late.
    #[error("the end is too late: at most 2^96-1 seconds since 1970")]
    Expiry,
    /// The protocol has no way to pay anybody else.
    #[error("{protocol} cannot pay fees to others on top of its orders: leave them out")]
    NoFees {
        /// What the protocol is called in messages.
        protocol: &'static str,
    },
    /// Orders of the marketplace pay nobody but who sells.
    #[error(
        "orders of this marketplace cannot pay anybody else: leave them out, and ask for them when it is filled"
    )]
    NoShares,
    /// The marketplace has no offers for any token of a collection.
    #[error("this marketplace has no offers for any token of a collection: name the token")]
    NoAnyToken,
    /// A fee that is paid with a part of an order is scaled like the order, and must come out whole.
    #[error(
        "a fee of {fee} cannot be paid exactly with these parts of the orders: make it a multiple of {multiple}"
    )]
    FeeFraction {
        /// The fee.
        fee: U256,
        /// What it must be a multiple of.
        multiple: U256,
    },
    /// Each order carries one fee at most.
    #[error("{fees} fees where the orders can carry {slots}, one each")]
    FeeSlots {
        /// How many there are.
        fees: usize,
        /// How many orders there are.
        slots: usize,
    },
    /// The order was put without what its maker signed.
    #[error("order {order_id} was put without what its maker signed, so that nothing can be made of it")]
    NotSigned {
        /// The order.
        order_id: String,
    },
    /// What is kept of the order cannot be read.
    #[error("what is kept of order {order_id} cannot be read: {reason}")]
    Damaged {
        /// The order.
        order_id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// None of an order, or more of it than there ever was.
    #[error("{quantity} units of order {order_id}, which has {units}")]
    Units {
        /// The order.
        order_id: String,
        /// How many units are asked for.
        quantity: Amount,
        /// How many it has.
        units: Amount,
    },
    /// The order was signed for all its units at once.
    #[error("order {order_id} can only be filled as a whole, with all its {quantity} units")]
    Whole {
        /// The order.
        order_id: String,
        /// All its units.
        quantity: U256,
    },
    /// So many units have no price in whole base units.
    #[error("{quantity} units of order {order_id} come to no whole amount of its currency")]
    Indivisible {
        /// The order.
        order_id: String,
        /// How many units.
        quantity: U256,
    },
    /// More units than the contract can be asked for.
    #[error("{quantity} units of order {order_id} are more than its contract can count")]
    Uncountable {
        /// The order.
        order_id: String,
        /// How many units.
        quantity: U256,
    },
    /// An offer for any token, and none is named.
    #[error("order {order_id} is for any token: name the one to sell")]
    AnyToken {
        /// The order.
        order_id: String,
    },
    /// The marketplace must agree to each fill.
    #[error(
        "order {order_id} needs the signature of its marketplace for each fill, which only a source can give"
    )]
    Held {
        /// The order.
        order_id: String,
    },
    /// The marketplace's own service gave no answer that can be used.
    #[error("order {order_id}: {fault}")]
    Source {
        /// The order.
        order_id: String,
        /// What is wrong.
        fault: SourceFault,
    },
    /// The marketplace's own service gave nothing to sign that can be used.
    #[error("{protocol}: {fault}")]
    Challenge {
        /// What the protocol is called in messages.
        protocol: &'static str,
        /// What is wrong.
        fault: SourceFault,
    },
    /// The taker has something to sign first.
    #[error("{protocol} wants whoever fills its orders to sign something first")]
    Consent {
        /// What the protocol is called in messages.
        protocol: &'static str,
    },
    /// Nobody makes orders for an old contract.
    #[error("{protocol} takes no new orders: later versions have replaced it")]
    Replaced {
        /// What the protocol is called in messages.
        protocol: &'static str,
    },
    /// The marketplace takes orders back in its own way.
    #[error("{protocol} takes orders back only through its own service")]
    CancelElsewhere {
        /// What the protocol is called in messages.
        protocol: &'static str,
    },
    /// Orders of the marketplace are made with its own service.
    #[error("{protocol} takes new orders only through its own service")]
    MakeElsewhere {
        /// What the protocol is called in messages.
        protocol: &'static str,
    },
    /// What of the price is for the makers of the token would go to nobody.
    #[error(
        "the royalty of {amount} would go to the zero address, where the contract burns it or fails: the collection, or \
         the owner of the marketplace, must name a receiver first"
    )]
    LostRoyalty {
        /// How much it is.
        amount: Amount,
    },
    /// Nobody tells what an order must be signed with.
    #[error("a node of the network must tell {what} before an order can be signed")]
    Unknown {
        /// What must be known.
        what: &'static str,
    },
}
