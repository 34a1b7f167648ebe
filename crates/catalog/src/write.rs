//! Putting answers together from texts that are ready.

use bourse_market::Terms;
use bourse_wire::{OrderFacts, STORED_EXTRA_BYTES, Timestamp, TokenId, TokenMetadata};

use crate::book::{Derived, NO_TOKEN, ORDER_BYTES, Order, OrderText, PreparedOrder, currency_members};
use crate::collection::{Collection, touch_all};
use crate::members::Missing;
use crate::query::{OrdersQuery, Position, Row, Rows};

/// Room for the members around a row's parts, and for those that its metadata lacks.
const ROW_BYTES: usize = 224 + STORED_EXTRA_BYTES;

impl Collection {
    /// Appends rows as a JSON array of `{metadata, order, listing, offer}`.
    pub fn write_rows(&self, out: &mut Vec<u8>, rows: &Rows) {
        let orders = |row: &Row| [row.listing, row.offer].into_iter().flatten();
        let slots = rows.rows.iter().flat_map(orders).filter_map(|slot| self.book.order(slot));
        touch_all(slots.map(|order| self.book.text(order).bytes()));
        let metadata = || rows.rows.iter().filter_map(|row| self.tokens.metadata(row.token));
        touch_all(metadata());
        // Once, and as much as is needed: growing would copy.
        let written = |row: &Row| usize::from(row.order.is_some()) + orders(row).count();
        let order_count: usize = rows.rows.iter().map(written).sum();
        let metadata_bytes: usize = metadata().map(|metadata| metadata.len() + ROW_BYTES).sum();
        out.reserve(metadata_bytes + order_count * ORDER_BYTES);
        out.push(b'[');
        for (index, row) in rows.rows.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.write_row(out, *row);
        }
        out.push(b']');
    }

    /// Appends a row as JSON.
    pub fn write_row(&self, out: &mut Vec<u8>, row: Row) {
        out.extend_from_slice(b"{\"metadata\":");
        self.write_metadata_of_row(out, row.token);
        // The row's order is its listing or its offer: written once, copied once.
        let mut written: [Option<(u32, std::ops::Range<usize>)>; 3] = [const { None }; 3];
        let members: [(&[u8], Option<u32>); 3] =
            [(b",\"order\":", row.order), (b",\"listing\":", row.listing), (b",\"offer\":", row.offer)];
        for (index, (name, slot)) in members.into_iter().enumerate() {
            out.extend_from_slice(name);
            let start = out.len();
            match slot.and_then(|slot| Some((slot, self.book.order(slot)?))) {
                None => out.extend_from_slice(b"null"),
                Some((slot, order)) => {
                    let known = written.iter().flatten().find(|(other, _)| *other == slot).cloned();
                    match known {
                        Some((_, range)) => out.extend_from_within(range),
                        None => self.write_order(out, order),
                    }
                    written[index] = Some((slot, start..out.len()));
                }
            }
        }
        out.push(b'}');
    }

    /// Appends the metadata of a row's token. An order for any token has none, and says so by an id that is empty.
    fn write_metadata_of_row(&self, out: &mut Vec<u8>, token: u32) {
        if token != NO_TOKEN {
            return self.tokens.write_whole_metadata(out, token);
        }
        let metadata = TokenMetadata::not_available(TokenId::default()).to_json().unwrap_or_default();
        let (named, nameless) = (r#""tokenId":"0""#, r#""tokenId":"""#);
        Missing::write_of(out, &metadata.replacen(named, nameless, 1));
    }

    /// Appends the orders of rows as a JSON array.
    pub fn write_orders_of(&self, out: &mut Vec<u8>, rows: &Rows) {
        let orders = || rows.rows.iter().filter_map(|row| self.book.order(row.order?));
        touch_all(orders().map(|order| self.book.text(order).bytes()));
        self.write_list(out, orders());
    }

    /// Appends the metadata of a page's tokens as a JSON array.
    pub fn write_metadata(&self, out: &mut Vec<u8>, rows: &Rows) {
        let metadata = || rows.rows.iter().filter_map(|row| self.tokens.metadata(row.token));
        touch_all(metadata());
        out.reserve(metadata().map(|metadata| metadata.len() + ROW_BYTES).sum());
        out.push(b'[');
        for (index, row) in rows.rows.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.tokens.write_metadata(out, row.token);
        }
        out.push(b']');
    }

    /// Appends the metadata of a token as JSON, when there is such a token.
    pub fn write_token(&self, out: &mut Vec<u8>, token: TokenId) -> bool {
        let ordinal = self.tokens.find(token);
        if let Some(ordinal) = ordinal {
            self.tokens.write_metadata(out, ordinal);
        }
        ordinal.is_some()
    }

    /// The same with all members that listings of tokens have.
    pub fn write_whole_token(&self, out: &mut Vec<u8>, token: TokenId) -> bool {
        let ordinal = self.tokens.find(token);
        if let Some(ordinal) = ordinal {
            self.tokens.write_whole_metadata(out, ordinal);
        }
        ordinal.is_some()
    }

    /// The ids of a page's tokens.
    pub fn ids<'a>(&'a self, rows: &'a Rows) -> impl Iterator<Item = TokenId> + 'a {
        rows.rows.iter().map(|row| self.tokens.id(row.token))
    }

    /// Appends a page of a token's active orders as a JSON array; the position of the last when there are more.
    pub fn write_orders(&self, out: &mut Vec<u8>, query: &OrdersQuery<'_>) -> Option<Position> {
        let (slots, next) = self.find_orders(query);
        self.write_list(out, slots.iter().filter_map(|slot| self.book.order(*slot)));
        next
    }

    fn write_list<'o>(&self, out: &mut Vec<u8>, orders: impl Iterator<Item = &'o Order>) {
        out.push(b'[');
        for (index, order) in orders.enumerate() {
            if index > 0 {
                out.push(b',');
            }
            self.write_order(out, order);
        }
        out.push(b']');
    }

    fn write_order(&self, out: &mut Vec<u8>, order: &Order) {
        let currencies = self.book.currencies();
        let available = if order.is_covered {
            order.terms.remaining
        } else {
            order.terms.available(self.book.world(order, &self.holders).held)
        };
        let derived = Derived {
            marketplace: order.marketplace,
            side: order.terms.side,
            status: order.status,
            amount: order.price.amount,
            currency: currencies.members(order.price.currency),
            currency_decimals: currencies.decimals(order.price.currency),
            rate: currencies.rate(order.price.currency),
            quantity_decimals: order.quantity_decimals,
            remaining: order.terms.remaining,
            available,
        };
        self.book.text(order).write(out, &self.shared, &derived);
    }

    /// Appends an order of the collection from its facts, in the book or not, as it is at a time.
    pub fn write_facts(&self, out: &mut Vec<u8>, facts: &OrderFacts, now: Timestamp) {
        let prepared = PreparedOrder::new(self.shared.numbers, facts);
        let terms: Terms = prepared.terms;
        let world = self.world_of(facts, now);
        let status = terms.status(world);
        let currencies = self.book.currencies();
        let number = currencies.find(&facts.currency);
        let is_open = !terms.is_over(now);
        let currency_decimals = number.map_or(0, |number| currencies.decimals(number));
        let derived = Derived {
            marketplace: facts.marketplace,
            side: facts.side,
            status,
            amount: facts.price_amount,
            currency: &currency_members(&facts.currency, currency_decimals),
            currency_decimals,
            rate: number.and_then(|number| currencies.rate(number)),
            quantity_decimals: facts.quantity_decimals,
            remaining: facts.quantity_remaining,
            // Nothing can be filled of what is over.
            available: if is_open { terms.available(world.held) } else { bourse_wire::Amount::ZERO },
        };
        OrderText::new(&prepared.text).write(out, &self.shared, &derived);
    }
}
