//! The service's own marketplaces: two contracts that keep orders on the chain, under numbers.

mod abi;
mod logs;
#[cfg(test)]
mod tests;

pub use logs::{TOPICS, decode};
