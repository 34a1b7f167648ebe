//! What orders mean: their prices, what of them can be filled, their status. Pure: no I/O, no clock.

mod decimal;
pub mod facts;
pub mod ledger;
mod money;
pub mod protocols;
mod rate;
mod status;
#[cfg(test)]
mod testing;

pub use money::{net, write_formatted};
pub use rate::{Dollars, Rate, compare_usd};
pub use status::{Terms, World};
