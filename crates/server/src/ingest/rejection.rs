//! Why a record is not taken.

use bourse_protocols::native::OrderFault;
use bourse_store::{CollectionKey, Subject};
use bourse_wire::{Code, Error, LenientError, OrderFactsError, ProjectId};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a record is not taken, in a word that programs can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Reason {
    /// A member is missing, of the wrong type, or has a value that is not possible.
    InvalidFormat,
    /// The whole record is larger than a record may be.
    TooLarge,
    /// The chain is not the name or number of a network.
    UnknownChain,
    /// The record names another chain than the path.
    WrongChain,
    /// The marketplace is not one of the known words.
    UnknownMarketplace,
    /// The price is zero.
    ZeroPrice,
    /// The order would be over before it begins.
    InvalidStartTime,
    /// The order is said to be active, is not known yet, and its time is over.
    Expired,
    /// The fees are more than the price.
    FeesTooHigh,
    /// The marketplace has no contract on the chain, or not the one that the order is signed for.
    UnknownContract,
    /// The order is of a kind that is not traded here: for several tokens, for one taker, at a price that changes.
    UnsupportedOrder,
    /// The order is in several currencies, or in one that it cannot be in.
    IncompatibleCurrency,
    /// The order is for a set of tokens.
    InvalidTokenSet,
    /// Tokens or money would go through a contract that is not known.
    UnsupportedConduit,
    /// A contract that is not known must agree to each fill.
    UnsupportedZone,
    /// The maker did not sign the order.
    InvalidSignature,
    /// The chain says that the order is filled or taken back.
    NotFillable,
    /// The maker, or the collection, has as many such orders as are kept of those whom nobody vouches for.
    TooMany,
    /// The project is no steward of that: the operator has to let it.
    NotGranted,
    /// The maker signed the order: only what was signed says what it is.
    SignedByMaker,
    /// There is no such order.
    NotFound,
    /// The collection's chain is followed, and states that itself: balances, and orders of the service's own marketplaces.
    StatedByChain,
}

/// A record that is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people: the member first where there is one.
    pub message: String,
}

impl Rejection {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// A member cannot have this value.
    pub(crate) fn invalid(member: &str, why: impl std::fmt::Display) -> Self {
        Self::new(Reason::InvalidFormat, format!("{member}: {why}"))
    }

    /// The project may not state that.
    pub(crate) fn not_granted(project: ProjectId, subject: Subject, contract: CollectionKey) -> Self {
        let CollectionKey { chain, address } = contract;
        let subject = subject.word();
        let message = format!(
            "project {project} may not state {subject} of {address} on chain {chain}: the operator lets it with `bourse \
             grant add {project} {subject} --network {chain} --contract {address}`"
        );
        Self::new(Reason::NotGranted, message)
    }

    /// What an order is that its maker signed is said by what was signed, and by nobody else.
    pub fn signed_by_maker(order_id: &str) -> Self {
        let message = format!(
            "order {order_id:.80} was signed by its maker: put it in its `native` form, or end it with CancelOrders or \
             InvalidateOrders"
        );
        Self::new(Reason::SignedByMaker, message)
    }

    /// The record is larger than a record may be.
    pub(super) fn too_large(error: &Error) -> Self {
        Self::new(Reason::TooLarge, error.message.clone())
    }
}

impl From<LenientError> for Rejection {
    fn from(error: LenientError) -> Self {
        Self::new(Reason::InvalidFormat, error.to_string())
    }
}

impl From<OrderFactsError> for Rejection {
    fn from(error: OrderFactsError) -> Self {
        let reason = match error {
            OrderFactsError::Marketplace { .. } => Reason::UnknownMarketplace,
            OrderFactsError::ZeroPrice => Reason::ZeroPrice,
            OrderFactsError::Validity { .. } => Reason::InvalidStartTime,
            OrderFactsError::Fee { bps } | OrderFactsError::FeeShare { bps } if bps >= 0 => {
                Reason::FeesTooHigh
            }
            OrderFactsError::FeeSum { .. } => Reason::FeesTooHigh,
            OrderFactsError::Side
            | OrderFactsError::ListingWithoutToken
            | OrderFactsError::Quantity { .. }
            | OrderFactsError::BlockNumber { .. }
            | OrderFactsError::Fee { .. }
            | OrderFactsError::FeeShare { .. }
            | OrderFactsError::FeeEntries { .. }
            | OrderFactsError::FeeKind { .. } => Reason::InvalidFormat,
        };
        Self::new(reason, error.to_string())
    }
}

impl From<OrderFault> for Rejection {
    fn from(unfit: OrderFault) -> Self {
        let reason = match &unfit {
            OrderFault::Format(_)
            | OrderFault::TooMany { .. }
            | OrderFault::TooLarge { .. }
            | OrderFault::Kind { .. }
            | OrderFault::Quantity { .. }
            | OrderFault::Overflow { .. }
            | OrderFault::MerkleProof { .. } => Reason::InvalidFormat,
            OrderFault::Unsigned
            | OrderFault::Unsupported { .. }
            | OrderFault::Bundle { .. }
            | OrderFault::Private { .. }
            | OrderFault::ChangingAmount { .. }
            | OrderFault::Recipient { .. }
            | OrderFault::ShareOfMaker { .. } => Reason::UnsupportedOrder,
            OrderFault::Contract { .. } | OrderFault::WhichContract => Reason::UnknownContract,
            OrderFault::Currencies { .. } | OrderFault::NativeOffer { .. } => Reason::IncompatibleCurrency,
            OrderFault::TokenSet { .. } => Reason::InvalidTokenSet,
            OrderFault::Conduit { .. } => Reason::UnsupportedConduit,
            OrderFault::Zone { .. } => Reason::UnsupportedZone,
            OrderFault::ZeroPrice { .. } => Reason::ZeroPrice,
            OrderFault::Times { .. } => Reason::InvalidStartTime,
            OrderFault::FeesTooHigh { .. } | OrderFault::SharesTooHigh { .. } => Reason::FeesTooHigh,
            OrderFault::Signature(_) => Reason::InvalidSignature,
        };
        Self::new(reason, unfit.to_string())
    }
}

impl From<Rejection> for Error {
    fn from(rejection: Rejection) -> Self {
        Self::new(Code::InvalidArgument, rejection.message)
    }
}
