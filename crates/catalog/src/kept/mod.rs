//! A collection as bytes, in nearly the form that it has in memory, so that reading it is mostly copying: texts and sets are
//! taken as they are. What is quickly made of the rest is made anew: tables by hash, and what depends on rates where those
//! have changed by then.
//!
//! Nothing here finds damage: whoever hands over the bytes has checked them, and knows that they are of this
//! [layout](LAYOUT).

mod bytes;

use std::io::{self, BufRead, Write};

use bourse_wire::Currency;

pub(crate) use bytes::{Kept, keep_blob, kept, read_blob};

use crate::book::{KeptBook, Shared};
use crate::collection::{Collection, Identity, listed_names};
use crate::common::Common;
use crate::holders::Holders;
use crate::properties::Properties;
use crate::tokens::Tokens;

/// The form that a collection has in memory and so in bytes: another number for every build in which it may be another.
pub const LAYOUT: u64 = number(env!("BOURSE_CATALOG_LAYOUT"));

/// The number that decimal digits tell.
const fn number(digits: &str) -> u64 {
    let (digits, mut index, mut number) = (digits.as_bytes(), 0, 0_u64);
    while index < digits.len() {
        number = number.wrapping_mul(10).wrapping_add((digits[index] - b'0') as u64);
        index += 1;
    }
    number
}

impl Collection {
    /// Writes it as it is.
    pub fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.version.keep(out)?;
        self.contract.keep(out)?;
        self.tokens.keep(out)?;
        self.holders.keep(out)?;
        self.properties.keep(out)?;
        self.book.keep(out)?;
        self.names.keep(out)?;
        let by_name: Option<Vec<u32>> = self.by_name.as_ref().map(|by_name| by_name.ordinals());
        by_name.keep(out)
    }

    /// Reads what [`Collection::keep`] wrote of a collection of this name, at the time that it had; with these currencies.
    pub fn read_kept(
        identity: &Identity,
        currencies: &[Currency],
        from: &mut impl BufRead,
    ) -> io::Result<Self> {
        let (version, contract) = (Kept::read(from)?, Kept::read(from)?);
        let (tokens, holders) = (Tokens::read(from)?, Holders::read(from)?);
        let (properties, book) = (Properties::read(from)?, KeptBook::read(from)?);
        let shared = Shared::new(identity.number, identity.chain, identity.address, &identity.service);
        let mut collection = Self {
            tokens: Common::new(tokens),
            holders: Common::new(holders),
            properties: Common::new(properties),
            version,
            contract,
            ..Self::empty(shared, book.now())
        };
        // Finding orders by their keys, or putting them in order anew, takes as long as reading names.
        let names = std::thread::scope(|scope| {
            let opening = std::thread::Builder::new().name("orders".to_owned()).spawn_scoped(scope, || {
                let (book, is_ordered) = book.open(currencies);
                collection.book = book;
                if !is_ordered {
                    let (book, context) = collection.book_and_around();
                    book.evaluate_all(context);
                }
            });
            let names = Kept::read(from);
            let opened = opening?.join();
            opened.map_err(|_| io::Error::other("the orders of a kept collection cannot be put in order"))?;
            names
        })?;
        collection.names = Common::new(names);
        let by_name: Option<Vec<u32>> = Kept::read(from)?;
        collection.by_name = by_name.map(listed_names);
        Ok(collection)
    }
}
