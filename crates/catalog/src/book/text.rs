//! The text of an order: what never changes of it as JSON values, to be joined with the members' names and with what
//! follows from balances, rates and the time. A third of the memory that whole JSON would take, and as fast to write.

use std::io::Write as _;

use bourse_market::{Rate, net, write_formatted};
use bourse_wire::{
    Address, Amount, ChainId, CollectionNumbers, Marketplace, OrderFacts, OrderSide, OrderStatus,
    ServiceName, Timestamp,
};

/// In place of the length of a value that is at least this long; then the length follows.
const LONG: u8 = u8::MAX;

/// Room that one order takes in an answer, mostly.
pub(crate) const ORDER_BYTES: usize = 1_600;

/// Appends pieces one by one: those of a known length are then copied without a call.
macro_rules! put {
    ($out:expr, $($piece:expr),+) => {{
        $($out.extend_from_slice($piece);)+
    }};
}

/// The values of an order, in the order of [`render`].
#[derive(Clone, Copy)]
pub(crate) struct OrderText<'a>(&'a [u8]);

/// What the orders of a collection have in common.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) numbers: CollectionNumbers,
    collection_id: String,
    chain: String,
    address: String,
    /// Marketplace to the two members that it says.
    marketplaces: Vec<String>,
}

/// What follows of an order from the world around it.
pub(crate) struct Derived<'a> {
    pub(crate) marketplace: Marketplace,
    pub(crate) side: OrderSide,
    pub(crate) status: OrderStatus,
    pub(crate) amount: Amount,
    /// The members that tell the currency, by [`currency_members`].
    pub(crate) currency: &'a str,
    pub(crate) currency_decimals: u8,
    pub(crate) rate: Option<&'a Rate>,
    pub(crate) quantity_decimals: u8,
    pub(crate) remaining: Amount,
    pub(crate) available: Amount,
}

impl Shared {
    pub(crate) fn new(collection_id: u64, chain: ChainId, address: Address, service: &ServiceName) -> Self {
        let marketplaces = (0..).map_while(Marketplace::from_number).map(|marketplace| {
            let (word, source) = (marketplace.word(service), marketplace.source_word(service));
            format!(r#","marketplace":"{word}","source":"{source}","side":""#)
        });
        Self {
            numbers: CollectionNumbers::new(chain, address),
            collection_id: format!(r#","collectionId":{collection_id},"collectibleId":"#),
            chain: format!(r#"","chainId":{chain},"slug":"","originName":"#),
            address: format!(r#","collectionContractAddress":"{address}","tokenId":"#),
            marketplaces: marketplaces.collect(),
        }
    }
}

/// Makes the text of an order.
pub(super) fn render(numbers: CollectionNumbers, facts: &OrderFacts) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    push_json(&mut text, &facts.order_id);
    push(&mut text, format_args!("{}", numbers.order(facts.marketplace, &facts.order_id)));
    push_token(&mut text, numbers, facts);
    push_json(&mut text, &facts.origin_name);
    push(&mut text, format_args!("\"{}\"", facts.maker));
    push(&mut text, format_args!("{}", facts.price_amount));
    push(&mut text, format_args!("{}", net(facts.price_amount, facts.fee_bps)));
    push(&mut text, format_args!("{}", facts.quantity_initial));
    push(&mut text, format_args!("{}", facts.quantity_remaining));
    push(&mut text, format_args!("{}", facts.fee_bps));
    push_json(&mut text, &facts.fee_breakdown);
    push(&mut text, format_args!("\"{}\"", facts.valid_from));
    // Clients compare it with the time of day: what never ends must not look as if it were over.
    push_time(&mut text, facts.valid_until, Timestamp::MAX);
    push(&mut text, format_args!("{}", facts.block_number));
    // Where nobody tells, it is not later than it was seen.
    push_time(&mut text, facts.order_created_at, facts.created_at);
    push_time(&mut text, facts.order_updated_at, facts.updated_at);
    push(&mut text, format_args!("\"{}\"", facts.created_at));
    push(&mut text, format_args!("\"{}\"", facts.updated_at));
    text
}

/// The id of an order as its text has it.
pub(super) fn name(order_id: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(order_id.len() + 3);
    push_json(&mut text, order_id);
    Values(&text).next().to_vec()
}

fn push(text: &mut Vec<u8>, value: std::fmt::Arguments<'_>) {
    push_value(text, |text| {
        // Writing to memory cannot fail.
        let _ = text.write_fmt(value);
    });
}

fn push_json(text: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    push_value(text, |text| {
        let start = text.len();
        // Texts, and records of texts and numbers, always have a JSON form.
        if serde_json::to_writer(&mut *text, value).is_err() {
            text.truncate(start);
            text.extend_from_slice(b"null");
        }
    });
}

/// Appends a value behind its length, so that taking it off again needs no search.
fn push_value(text: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let length_at = text.len();
    text.push(0);
    write(text);
    let length = text.len() - length_at - 1;
    match u8::try_from(length) {
        Ok(short) if short != LONG => text[length_at] = short,
        _ => {
            text[length_at] = LONG;
            // Records are bounded far below 4 GiB.
            let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
            let value = text.split_off(length_at + 1);
            text.extend_from_slice(&length);
            text.extend_from_slice(&value);
        }
    }
}

fn push_token(text: &mut Vec<u8>, numbers: CollectionNumbers, facts: &OrderFacts) {
    let Some(token) = facts.token_id else {
        push(text, format_args!("0"));
        push(text, format_args!("null"));
        return;
    };
    push(text, format_args!("{}", numbers.token(token)));
    push(text, format_args!("\"{token}\""));
}

/// Appends a time, and in place of none another.
fn push_time(text: &mut Vec<u8>, time: Timestamp, otherwise: Timestamp) {
    let time = if time == Timestamp::ZERO { otherwise } else { time };
    push(text, format_args!("\"{time}\""));
}

impl<'a> OrderText<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self(text)
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The order's id as JSON.
    pub(crate) fn order_id(self) -> &'a [u8] {
        Values(self.0).next()
    }

    /// Appends the whole order as JSON.
    pub(crate) fn write(self, out: &mut Vec<u8>, shared: &Shared, derived: &Derived<'_>) {
        out.reserve(ORDER_BYTES);
        let mut values = Values(self.0);
        let order_id = values.next();
        put!(out, b"{\"id\":", values.next(), shared.collection_id.as_bytes(), values.next());
        let token_id = values.next();
        let marketplace = shared.marketplaces[usize::from(derived.marketplace.number())].as_bytes();
        put!(out, b",\"orderId\":", order_id, marketplace, derived.side.word().as_bytes());
        put!(
            out,
            b"\",\"status\":\"",
            derived.status.word().as_bytes(),
            shared.chain.as_bytes(),
            values.next()
        );
        put!(out, shared.address.as_bytes(), token_id, b",\"createdBy\":", values.next());
        write_price(out, values.next(), values.next(), derived);
        write_quantities(out, values.next(), values.next(), derived);
        put!(out, b",\"feeBps\":", values.next(), b",\"feeBreakdown\":", values.next());
        put!(out, b",\"validFrom\":", values.next(), b",\"validUntil\":", values.next());
        put!(out, b",\"blockNumber\":", values.next(), b",\"orderCreatedAt\":", values.next());
        put!(out, b",\"orderUpdatedAt\":", values.next(), b",\"createdAt\":", values.next());
        // An order that is over has its status; none is ever deleted.
        put!(out, b",\"updatedAt\":", values.next(), b",\"deletedAt\":null}");
    }
}

/// The members of an order that tell the currency of its price, up to the price in dollars.
pub(crate) fn currency_members(address: &Address, decimals: u8) -> String {
    format!(r#"","priceCurrencyAddress":"{address}","priceDecimals":{decimals},"priceUSD":"#)
}

fn write_price(out: &mut Vec<u8>, amount: &[u8], net: &[u8], derived: &Derived<'_>) {
    put!(out, b",\"priceAmount\":\"", amount, b"\",\"priceAmountFormatted\":\"");
    write_formatted(out, amount, derived.currency_decimals);
    put!(out, b"\",\"priceAmountNet\":\"", net, b"\",\"priceAmountNetFormatted\":\"");
    write_formatted(out, net, derived.currency_decimals);
    put!(out, derived.currency.as_bytes());
    match derived.rate {
        Some(rate) => {
            let dollars = rate.dollars(derived.amount);
            dollars.write(out);
            put!(out, b",\"priceUSDFormatted\":\"");
            dollars.write_formatted(out);
        }
        // Typed clients read a number here; the empty text tells that nobody knows.
        None => put!(out, b"0,\"priceUSDFormatted\":\""),
    }
}

fn write_quantities(out: &mut Vec<u8>, initial: &[u8], remaining: &[u8], derived: &Derived<'_>) {
    let other = (derived.available != derived.remaining).then(|| derived.available.to_string());
    let available = other.as_ref().map_or(remaining, String::as_bytes);
    let decimals = derived.quantity_decimals;
    put!(out, b"\",\"quantityInitial\":\"", initial, b"\",\"quantityInitialFormatted\":\"");
    write_formatted(out, initial, decimals);
    put!(out, b"\",\"quantityRemaining\":\"", remaining, b"\",\"quantityRemainingFormatted\":\"");
    write_formatted(out, remaining, decimals);
    put!(out, b"\",\"quantityAvailable\":\"", available, b"\",\"quantityAvailableFormatted\":\"");
    write_formatted(out, available, decimals);
    put!(out, b"\",\"quantityDecimals\":");
    if decimals == 0 {
        out.push(b'0');
    } else {
        // Writing to memory cannot fail.
        let _ = write!(out, "{decimals}");
    }
}

/// Takes values off a text one by one.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn next(&mut self) -> &'a [u8] {
        let (value, rest) = match self.0 {
            [LONG, a, b, c, d, rest @ ..] => {
                rest.split_at(rest.len().min(u32::from_le_bytes([*a, *b, *c, *d]) as usize))
            }
            [length, rest @ ..] => rest.split_at(rest.len().min(usize::from(*length))),
            [] => (&[][..], &[][..]),
        };
        self.0 = rest;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_length_come_back() {
        let values = ["", "a", &"b".repeat(254), &"c".repeat(255), &"d".repeat(70_000), "e"];
        let mut text = Vec::new();
        for value in values {
            push(&mut text, format_args!("{value}"));
        }
        let mut read = Values(&text);
        for value in values {
            assert_eq!(read.next(), value.as_bytes());
        }
        assert_eq!(read.next(), b"");
    }
}
