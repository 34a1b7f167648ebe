//! Sets of numbers: tokens that have a property, wallets that were active on a day. Pure: no I/O.
//!
//! A [`Set`] is a sorted list while its numbers are few, and [`Bits`] once they are many. Queries of the catalog take sets
//! as [`Term`]s, borrowed in the form that they have. A [`Part`] is a set within 65,536 numbers, with bits of a fixed
//! length; [`coding`] has the form in which parts are stored.
//!
//! Measured beside the crate `roaring`, which keeps three forms for each 65,536 numbers: counts and unions of many numbers,
//! and first pages of them, are quicker here, and what is stored takes 0.3 to 0.6 of the bytes. Short lists, pages in the
//! middle, retention, and reading and writing what is stored are quicker there, and memory is a tenth less. The figures
//! are in `bench/README.md`.

mod bits;
mod bytes;
pub mod coding;
mod list;
mod number;
mod part;
mod set;
mod term;
mod words;

pub use bits::{Bits, Relocation};
pub use bytes::{Damaged, Reader, write_number};
pub use number::{Number, Words};
pub use part::{PART_NUMBERS, Part, PartBits, PartWords};
pub use set::{Set, SetForm};
pub use term::{Between, Term, count_of_all, for_words_of_all, words_of_all};
pub use words::{numbers, ones};
