//! What all pages for people share, the console's and the shop's: numbers, times, addresses and prices as they are read, and
//! filters as fields of an address. No I/O.

pub mod facets;
pub mod format;
pub mod price;
pub mod property;
pub mod query;
pub mod records;
