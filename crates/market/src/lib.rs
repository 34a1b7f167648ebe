//! What orders mean: their prices, what of them can be filled, their status, and what the facts of a chain make of a
//! collection. Pure: no I/O, no clock.

mod decimal;
pub mod facts;
pub mod ledger;
mod money;
mod nonces;
mod offers;
mod order_state;
mod rate;
mod royalty;
mod standing;
mod status;
#[cfg(test)]
mod testing;

pub use money::{in_words, net, share, unit_price, write_formatted};
pub use nonces::{Nonces, Numbers, Revoked, Series};
pub use offers::{OpenOffer, OpenOffers, offer_cost, units_paid};
pub use order_state::{OrderParts, OrderState, first_seen, known_or};
pub use rate::{Dollars, Rate, compare_usd};
pub use royalty::{RoyaltyCap, RoyaltyDue};
pub use standing::Standing;
pub use status::{Terms, World};
