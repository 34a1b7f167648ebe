//! What a chain says became of a signed order.

use bourse_wire::Amount;

/// What became of an order, by the word of its contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can still be filled.
    Open {
        /// How much of it.
        remaining: Amount,
    },
    /// Nothing of it remains.
    Filled,
    /// Its maker took it back, or filled another order in its place.
    Cancelled,
    /// Its maker has not come to the number that it has: it was signed after a block that is still to come, or never counts.
    NotYet,
    /// Its maker does not let the marketplace move the tokens.
    Uncovered,
    /// Its contract has no such order: it was never made, or is over.
    Absent,
    /// Its contract has the order, and would not let it be filled now.
    Refused,
}
