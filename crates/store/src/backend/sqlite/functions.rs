//! What statements ask of SQLite that has no numbers as large as amounts.

use std::fmt::Display;
use std::str::FromStr;

use bourse_market::{OpenOffer, OpenOffers};
use bourse_wire::Marketplace;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Error};

/// What remains of some offers takes of their makers' money, as text.
pub(crate) const OFFER_COSTS: &str =
    "offer_costs(orders.marketplace, orders.price_amount, orders.quantity_remaining, orders.fee_bps)";

/// The function that does so.
struct OfferCosts;

/// Adds the functions to a connection that reads.
pub(super) fn add_to(connection: &Connection) -> Result<(), Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("offer_costs", 4, flags, OfferCosts)
}

impl Aggregate<OpenOffers, String> for OfferCosts {
    fn init(&self, _context: &mut Context<'_>) -> Result<OpenOffers, Error> {
        Ok(OpenOffers::default())
    }

    fn step(&self, context: &mut Context<'_>, open: &mut OpenOffers) -> Result<(), Error> {
        open.add(OpenOffer {
            // Statements leave out those that only a newer version of the program knows.
            marketplace: Marketplace::from_number(context.get(0)?).unwrap_or(Marketplace::Unknown),
            price_amount: parsed(context, 1)?,
            quantity_remaining: parsed(context, 2)?,
            fee_bps: context.get(3)?,
        });
        Ok(())
    }

    fn finalize(&self, _context: &mut Context<'_>, open: Option<OpenOffers>) -> Result<String, Error> {
        Ok(open.unwrap_or_default().cost.to_string())
    }
}

fn parsed<T: FromStr<Err: Display>>(context: &Context<'_>, place: usize) -> Result<T, Error> {
    let text = context.get_raw(place).as_str()?;
    text.parse().map_err(|error: T::Err| Error::UserFunctionError(format!("`{text}`: {error}").into()))
}
