//! What PostgreSQL keeps: tables whose rows are what answers show, and an index for each kind of request.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::{Context, Error};
use crate::relics::Relics;
use crate::trading::{Number, Order, Text, TradedCollection};

/// What sorts orders without a rate behind all others.
const WITHOUT_RATE: u64 = 1 << 60;

/// Data that PostgreSQL is loaded with.
pub(crate) trait Tabled {
    /// Makes the tables.
    const TABLES: &'static str;
    /// Makes the indexes, once the rows are there.
    const INDEXES: &'static str;
    /// Writes the rows of all tables, each to a file with its name.
    fn write(&self, directory: &Path) -> Result<Vec<&'static str>, Error>;
}

impl Tabled for Relics {
    const TABLES: &'static str = include_str!("relics_tables.sql");
    const INDEXES: &'static str = include_str!("relics_indexes.sql");

    fn write(&self, directory: &Path) -> Result<Vec<&'static str>, Error> {
        let rows = Self::records().map(|record| {
            let token = record["tokenId"].as_str().unwrap_or_default().to_owned();
            vec![token, record.to_string()]
        });
        write_table(directory, "relics", rows)?;
        Ok(vec!["relics"])
    }
}

impl Tabled for TradedCollection {
    const TABLES: &'static str = include_str!("trading_tables.sql");
    const INDEXES: &'static str = include_str!("trading_indexes.sql");

    fn write(&self, directory: &Path) -> Result<Vec<&'static str>, Error> {
        let tokens = self.tokens.iter().enumerate().map(|(index, token)| {
            let record = token.record(index);
            let name = record["name"].as_str().unwrap_or_default().to_owned();
            vec![(index + 1).to_string(), name, record.to_string()]
        });
        write_table(directory, "tokens", tokens)?;
        write_table(
            directory,
            "listed",
            cheapest(self, |_| 0).into_values().map(|order| self.listed_row(order)),
        )?;
        let sold_in = cheapest(self, |order| order.currency).into_values().map(|order| self.sold_row(order));
        write_table(directory, "sold_in", sold_in)?;
        let listings = self.active_listings();
        let listing = |order: &Order| vec![token(order), rank(order), order.record().to_string()];
        write_table(directory, "listings", listings.map(listing))?;
        Ok(vec!["tokens", "listed", "sold_in", "listings"])
    }
}

impl TradedCollection {
    fn listed_row(&self, order: &Order) -> Vec<String> {
        let of = &self.tokens[order.token];
        let texts = Text::ALL.into_iter().map(|property| property.value(of.text(property)));
        let numbers = Number::ALL.into_iter().map(|property| of.number(property).to_string());
        [token(order), rank(order)].into_iter().chain(texts).chain(numbers).chain(self.shown(order)).collect()
    }

    fn sold_row(&self, order: &Order) -> Vec<String> {
        let record = order.record();
        let text = |member: &str| record[member].as_str().unwrap_or_default().to_owned();
        let key = [text("createdBy"), text("priceCurrencyAddress"), rank(order)];
        key.into_iter().chain(self.shown(order)).collect()
    }

    /// What a page shows of a token that is for sale.
    fn shown(&self, order: &Order) -> [String; 2] {
        [self.tokens[order.token].record(order.token).to_string(), order.record().to_string()]
    }
}

/// The cheapest listing of each token, in each group of listings.
fn cheapest(collection: &TradedCollection, group: fn(&Order) -> usize) -> BTreeMap<(usize, usize), &Order> {
    let mut cheapest: BTreeMap<(usize, usize), &Order> = BTreeMap::new();
    for order in collection.active_listings() {
        let best = cheapest.entry((order.token, group(order))).or_insert(order);
        if order.rank() < best.rank() {
            *best = order;
        }
    }
    cheapest
}

fn token(order: &Order) -> String {
    (order.token + 1).to_string()
}

fn rank(order: &Order) -> String {
    let (without_rate, micros) = order.rank();
    (micros + if without_rate { WITHOUT_RATE } else { 0 }).to_string()
}

fn write_table(directory: &Path, name: &str, rows: impl Iterator<Item = Vec<String>>) -> Result<(), Error> {
    let path = directory.join(name);
    write_rows(&path, rows).context(|| format!("writing {}", path.display()))
}

/// The text format of COPY, in which backslashes are doubled. No value has a tab or a line's end in it.
fn write_rows(path: &Path, rows: impl Iterator<Item = Vec<String>>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for row in rows {
        writeln!(file, "{}", row.join("\t").replace('\\', "\\\\"))?;
    }
    file.flush()
}
