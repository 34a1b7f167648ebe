//! The text of an order: what never changes of it as JSON values, to be joined with the members' names and with what
//! follows from balances, rates and the time. A third of the memory that whole JSON would take, and as fast to write.

use std::io::Write as _;

use bourse_market::{Rate, net, write_formatted};
use bourse_wire::{
    Address, Amount, ChainId, Marketplace, OrderFacts, OrderSide, OrderStatus, ServiceName, Timestamp,
    stable_number,
};
use memchr::memchr;

/// Between values. JSON never has it in a text.
const SEPARATOR: u8 = b'\n';

/// Room that one order takes in an answer, mostly.
pub(crate) const ORDER_BYTES: usize = 1_600;

/// The values of an order, in the order of [`render`].
#[derive(Clone, Copy)]
pub(crate) struct OrderText<'a>(&'a [u8]);

/// What the orders of a collection have in common.
#[derive(Debug)]
pub(crate) struct Shared {
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
    pub(crate) currency: &'a Address,
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
            collection_id: format!(r#","collectionId":{collection_id},"collectibleId":"#),
            chain: format!(r#"","chainId":{chain},"originName":"#),
            address: format!(r#","collectionContractAddress":"{address}","tokenId":"#),
            marketplaces: marketplaces.collect(),
        }
    }
}

/// Makes the text of an order.
pub(super) fn render(facts: &OrderFacts) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    push_json(&mut text, &facts.order_id);
    let order_number = stable_number(&[&[facts.marketplace.number()], facts.order_id.as_bytes()]);
    push(&mut text, format_args!("{order_number}"));
    push_token(&mut text, facts);
    push_json(&mut text, &facts.origin_name);
    push(&mut text, format_args!("\"{}\"", facts.maker));
    push(&mut text, format_args!("{}", facts.price_amount));
    push(&mut text, format_args!("{}", net(facts.price_amount, facts.fee_bps)));
    push(&mut text, format_args!("{}", facts.quantity_initial));
    push(&mut text, format_args!("{}", facts.quantity_remaining));
    push(&mut text, format_args!("{}", facts.fee_bps));
    push_json(&mut text, &facts.fee_breakdown);
    push(&mut text, format_args!("\"{}\"", facts.valid_from));
    push(&mut text, format_args!("\"{}\"", facts.valid_until));
    push(&mut text, format_args!("{}", facts.block_number));
    push_time_or_null(&mut text, facts.order_created_at);
    push_time_or_null(&mut text, facts.order_updated_at);
    push(&mut text, format_args!("\"{}\"", facts.created_at));
    push(&mut text, format_args!("\"{}\"", facts.updated_at));
    text
}

fn push(text: &mut Vec<u8>, value: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = text.write_fmt(value);
    text.push(SEPARATOR);
}

fn push_json(text: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    let start = text.len();
    // Texts, and records of texts and numbers, always have a JSON form.
    if serde_json::to_writer(&mut *text, value).is_err() {
        text.truncate(start);
        text.extend_from_slice(b"null");
    }
    text.push(SEPARATOR);
}

fn push_token(text: &mut Vec<u8>, facts: &OrderFacts) {
    let Some(token) = facts.token_id else {
        push(text, format_args!("0"));
        push(text, format_args!("null"));
        return;
    };
    let id = token.to_string();
    push(text, format_args!("{}", stable_number(&[id.as_bytes()])));
    push(text, format_args!("\"{id}\""));
}

fn push_time_or_null(text: &mut Vec<u8>, time: Timestamp) {
    if time == Timestamp::ZERO {
        push(text, format_args!("null"));
    } else {
        push(text, format_args!("\"{time}\""));
    }
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
        put(out, &[b"{\"id\":", values.next(), shared.collection_id.as_bytes(), values.next()]);
        let token_id = values.next();
        let marketplace = &shared.marketplaces[usize::from(derived.marketplace.number())];
        put(out, &[b",\"orderId\":", order_id, marketplace.as_bytes(), derived.side.word().as_bytes()]);
        put(
            out,
            &[b"\",\"status\":\"", derived.status.word().as_bytes(), shared.chain.as_bytes(), values.next()],
        );
        put(out, &[shared.address.as_bytes(), token_id, b",\"createdBy\":", values.next()]);
        write_price(out, values.next(), values.next(), derived);
        write_quantities(out, values.next(), values.next(), derived);
        put(out, &[b",\"feeBps\":", values.next(), b",\"feeBreakdown\":", values.next()]);
        put(out, &[b",\"validFrom\":", values.next(), b",\"validUntil\":", values.next()]);
        put(out, &[b",\"blockNumber\":", values.next(), b",\"orderCreatedAt\":", values.next()]);
        put(out, &[b",\"orderUpdatedAt\":", values.next(), b",\"createdAt\":", values.next()]);
        put(out, &[b",\"updatedAt\":", values.next(), b"}"]);
    }
}

fn put(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    for piece in pieces {
        out.extend_from_slice(piece);
    }
}

fn write_price(out: &mut Vec<u8>, amount: &[u8], net: &[u8], derived: &Derived<'_>) {
    put(out, &[b",\"priceAmount\":\"", amount, b"\",\"priceAmountFormatted\":\""]);
    write_formatted(out, amount, derived.currency_decimals);
    put(out, &[b"\",\"priceAmountNet\":\"", net, b"\",\"priceAmountNetFormatted\":\""]);
    write_formatted(out, net, derived.currency_decimals);
    // Writing to memory cannot fail.
    let (currency, decimals) = (derived.currency, derived.currency_decimals);
    let _ =
        write!(out, "\",\"priceCurrencyAddress\":\"{currency}\",\"priceDecimals\":{decimals},\"priceUSD\":");
    match derived.rate {
        Some(rate) => {
            rate.write_usd(out, derived.amount);
            put(out, &[b",\"priceUSDFormatted\":\""]);
            rate.write_usd_formatted(out, derived.amount);
        }
        // Typed clients read a number here; the empty text tells that nobody knows.
        None => put(out, &[b"0,\"priceUSDFormatted\":\""]),
    }
}

fn write_quantities(out: &mut Vec<u8>, initial: &[u8], remaining: &[u8], derived: &Derived<'_>) {
    let other = (derived.available != derived.remaining).then(|| derived.available.to_string());
    let available = other.as_ref().map_or(remaining, String::as_bytes);
    let named: [(&[u8], &[u8]); 3] =
        [(b"Initial", initial), (b"Remaining", remaining), (b"Available", available)];
    for (name, digits) in named {
        put(out, &[b"\",\"quantity", name, b"\":\"", digits, b"\",\"quantity", name, b"Formatted\":\""]);
        write_formatted(out, digits, derived.quantity_decimals);
    }
    let _ = write!(out, "\",\"quantityDecimals\":{}", derived.quantity_decimals);
}

/// Takes values off a text one by one.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn next(&mut self) -> &'a [u8] {
        let end = memchr(SEPARATOR, self.0).unwrap_or(self.0.len());
        let value = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        value
    }
}
