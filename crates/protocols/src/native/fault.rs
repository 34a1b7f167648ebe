//! Why a signed order is not taken.

use alloy_primitives::{B256, U256};
use bourse_wire::{Address, LenientError, Timestamp};

use super::signature::SignatureFault;

/// Why a signed order is not taken. Members are named as in its native form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// The native form cannot be read.
    #[error("native.{0}")]
    Format(LenientError),
    /// A list is longer than any real one.
    #[error("native.{member}: {count} entries where at most {most} are allowed")]
    TooMany {
        /// The list.
        member: &'static str,
        /// How long it is.
        count: usize,
        /// How long it may be.
        most: usize,
    },
    /// A number does not fit what the contract keeps it in.
    #[error("native.{member}: {value} takes more than {bits} bits")]
    TooLarge {
        /// Where in the native form.
        member: &'static str,
        /// The number.
        value: U256,
        /// What it may take.
        bits: usize,
    },
    /// A member has a value that means something which is not traded here, or nothing at all.
    #[error("native.{member}: {value} is not one of {known}")]
    Kind {
        /// Where in the native form.
        member: &'static str,
        /// What it is.
        value: u64,
        /// What it may be, and what that means.
        known: &'static str,
    },
    /// Orders of the marketplace are not signed.
    #[error("orders of this marketplace are made on its chain and cannot be put in a native form")]
    Unsigned,
    /// The marketplace has no such contract on the chain.
    #[error("native.protocolAddress: {address} is no contract of the marketplace on this chain")]
    Contract {
        /// The contract.
        address: Address,
    },
    /// The marketplace has several contracts on the chain, and it is not said which.
    #[error("native.protocolAddress: is required, as the marketplace has several contracts on this chain")]
    WhichContract,
    /// More than one token, or none.
    #[error("native.{member}: {count} tokens where there must be one")]
    Bundle {
        /// The list.
        member: &'static str,
        /// How many.
        count: usize,
    },
    /// Only one taker may fill it.
    #[error("native.{member}: the order is for {taker} alone")]
    Private {
        /// The member that says so.
        member: &'static str,
        /// For whom.
        taker: Address,
    },
    /// The price depends on the time.
    #[error("native.{member}: the amount changes with time, from {start} to {end}")]
    ChangingAmount {
        /// The amount.
        member: &'static str,
        /// At first.
        start: U256,
        /// At last.
        end: U256,
    },
    /// The price is in several currencies.
    #[error("native.{member}: the order is in several currencies, {first} and {other}")]
    Currencies {
        /// The list.
        member: &'static str,
        /// One currency.
        first: Address,
        /// Another.
        other: Address,
    },
    /// Nobody can take the chain's own currency from somebody later.
    #[error("native.{member}: an offer cannot be in the chain's own currency")]
    NativeOffer {
        /// The member that names the currency.
        member: &'static str,
    },
    /// An offer for some tokens of a collection, of which only their hash is known.
    #[error("native.{member}: offers for a set of tokens are not taken, only for one token or any")]
    TokenSet {
        /// The member that names the set.
        member: &'static str,
    },
    /// The tokens of an offer go to somebody else than its maker.
    #[error("native.{member}: the token must go to the maker {maker}, not to {recipient}")]
    Recipient {
        /// The member that names the recipient.
        member: &'static str,
        /// The maker.
        maker: Address,
        /// The recipient.
        recipient: Address,
    },
    /// Tokens would go through a contract that is not known to do it.
    #[error("native.conduitKey: {key} is not known as a conduit of this marketplace")]
    Conduit {
        /// The conduit.
        key: B256,
    },
    /// A contract that is not known must agree to each fill.
    #[error("native.zone: {zone} must agree to each fill, and is not known how to be asked")]
    Zone {
        /// The contract.
        zone: Address,
    },
    /// The number of units is not possible.
    #[error("native.{member}: {value} units where there must be {expected}")]
    Quantity {
        /// Where in the native form.
        member: &'static str,
        /// How many.
        value: U256,
        /// How many there must be.
        expected: &'static str,
    },
    /// Nobody sells or buys for nothing.
    #[error("native.{member}: the price must not be zero")]
    ZeroPrice {
        /// Where in the native form.
        member: &'static str,
    },
    /// It would be over before it begins.
    #[error("native: the order begins at {from}, which is not before its end {until}")]
    Times {
        /// Begin.
        from: Timestamp,
        /// End.
        until: Timestamp,
    },
    /// The fees are more than the price.
    #[error("native.{member}: the fees of {fees} are more than the price of {price}")]
    FeesTooHigh {
        /// Where in the native form.
        member: &'static str,
        /// What they add up to.
        fees: U256,
        /// The price.
        price: U256,
    },
    /// An offer of which the maker gets something back.
    #[error("native.{member}: a share of the price of the offer goes back to its maker {maker}")]
    ShareOfMaker {
        /// Where in the native form.
        member: &'static str,
        /// The maker.
        maker: Address,
    },
    /// An offer that leaves too little for whoever sells.
    #[error(
        "native.{member}: of the price of {price} an offer may pay {most} to others than who sells, not {fees}"
    )]
    SharesTooHigh {
        /// Where in the native form.
        member: &'static str,
        /// What the shares add up to.
        fees: U256,
        /// The price.
        price: U256,
        /// What they may add up to.
        most: U256,
    },
    /// Amounts that no contract can add up.
    #[error("native.{member}: the amounts add up to more than 2^256-1")]
    Overflow {
        /// The list.
        member: &'static str,
    },
    /// The order is not part of what was signed.
    #[error("native.{member}: the proof leads to {found}, not to {root}")]
    MerkleProof {
        /// The proof.
        member: &'static str,
        /// Where it leads.
        found: B256,
        /// Where it must lead.
        root: B256,
    },
    /// Something of the protocol that is not spoken here.
    #[error("native.{member}: {what} are not supported")]
    Unsupported {
        /// Where in the native form.
        member: &'static str,
        /// What it is.
        what: &'static str,
    },
    /// The signature cannot be one.
    #[error("signature: {0}")]
    Signature(#[from] SignatureFault),
}

impl From<LenientError> for OrderFault {
    fn from(error: LenientError) -> Self {
        Self::Format(error)
    }
}

/// Refuses lists that no real order has.
pub(crate) fn check_count(member: &'static str, count: usize, most: usize) -> Result<(), OrderFault> {
    if count > most { Err(OrderFault::TooMany { member, count, most }) } else { Ok(()) }
}

/// Refuses numbers that the contract has no room for.
pub(crate) fn check_bits(member: &'static str, value: U256, bits: usize) -> Result<(), OrderFault> {
    if value.bit_len() > bits { Err(OrderFault::TooLarge { member, value, bits }) } else { Ok(()) }
}

/// The sum of amounts.
pub(crate) fn total(
    member: &'static str,
    mut amounts: impl Iterator<Item = U256>,
) -> Result<U256, OrderFault> {
    let sum = amounts.try_fold(U256::ZERO, U256::checked_add);
    sum.ok_or(OrderFault::Overflow { member })
}
