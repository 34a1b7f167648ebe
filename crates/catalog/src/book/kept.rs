//! A book as bytes.

use std::io::{self, Write};

use bourse_market::Terms;
use bourse_wire::{Address, Amount, Currency, Marketplace, OrderSide, OrderStatus, Timestamp};

use super::side::SideBook;
use super::{Book, NO_TOKEN, Order, rehash};
use crate::arena::{Arena, Span};
use crate::currencies::Currencies;
use crate::kept::{Kept, kept};

/// What is read of a book.
pub(crate) struct KeptBook {
    now: Timestamp,
    whole_from: Timestamp,
    /// The currencies by number, and what was said of those that were known.
    currencies: Vec<Address>,
    said: Vec<u64>,
    slots: Vec<Option<KeptOrder>>,
    texts: Arena,
    listings: SideBook,
    offers: SideBook,
    /// The slots of orders of tokens that have several, in the order of price.
    ranked_listings: Vec<u32>,
    ranked_offers: Vec<u32>,
    /// The same of those for any token.
    collection_offers: Vec<u32>,
}

kept!(KeptBook {
    now,
    whole_from,
    currencies,
    said,
    slots,
    texts,
    listings,
    offers,
    ranked_listings,
    ranked_offers,
    collection_offers,
});

/// An order, without what its price is worth.
struct KeptOrder {
    amount: Amount,
    currency: u32,
    token: u32,
    maker: u32,
    marketplace: Marketplace,
    status: OrderStatus,
    is_covered: bool,
    quantity_decimals: u8,
    terms: Terms,
    created_at: Timestamp,
    text: Span,
}

kept!(KeptOrder {
    amount,
    currency,
    token,
    maker,
    marketplace,
    status,
    is_covered,
    quantity_decimals,
    terms,
    created_at,
    text,
});

impl KeptOrder {
    fn of(order: &Order) -> Self {
        Self {
            amount: order.price.amount,
            currency: order.price.currency,
            token: order.token,
            maker: order.maker,
            marketplace: order.marketplace,
            status: order.status,
            is_covered: order.is_covered,
            quantity_decimals: order.quantity_decimals,
            terms: order.terms,
            created_at: order.created_at,
            text: order.text,
        }
    }

    fn order(self, currencies: &Currencies) -> Order {
        Order {
            price: currencies.price(self.currency, self.amount),
            token: self.token,
            maker: self.maker,
            marketplace: self.marketplace,
            status: self.status,
            is_covered: self.is_covered,
            quantity_decimals: self.quantity_decimals,
            terms: self.terms,
            created_at: self.created_at,
            text: self.text,
        }
    }
}

impl Book {
    /// Writes what [`KeptBook`] reads.
    pub(crate) fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.now.keep(out)?;
        self.whole_from.keep(out)?;
        self.currencies.addresses().copied().collect::<Vec<_>>().keep(out)?;
        said_of(&self.currencies).keep(out)?;
        self.slots.len().keep(out)?;
        for slot in &self.slots {
            slot.as_ref().map(KeptOrder::of).keep(out)?;
        }
        self.texts.keep(out)?;
        self.listings.keep(out)?;
        self.offers.keep(out)?;
        self.ranked.listings.slots().collect::<Vec<u32>>().keep(out)?;
        self.ranked.offers.slots().collect::<Vec<u32>>().keep(out)?;
        self.collection_offers.slots().collect::<Vec<u32>>().keep(out)
    }

    /// Makes everything anew that orders are found by.
    fn find_anew(&mut self) {
        let (slots, texts, hasher) = (&self.slots, &self.texts, &self.hasher);
        let rehash = |slot: &u32| rehash(slots, texts, hasher, *slot);
        self.by_key.reserve(slots.len(), rehash);
        for (order, slot) in slots.iter().zip(0..) {
            let Some(order) = order else {
                self.free.push(slot);
                continue;
            };
            self.by_key.insert_unique(rehash(&slot), slot, rehash);
            if order.token != NO_TOKEN {
                self.by_token.link(order.token, slot);
            }
        }
        self.set_alarms_anew();
    }
}

impl KeptBook {
    /// The time that had passed in it.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The book with these currencies; and whether its orders are in their order by them, or have to be evaluated.
    pub(crate) fn open(self, currencies: &[Currency]) -> (Book, bool) {
        let Self {
            now,
            whole_from,
            said,
            slots,
            texts,
            listings,
            offers,
            ranked_listings,
            ranked_offers,
            collection_offers,
            ..
        } = self;
        let mut book = Book { texts, listings, offers, now, whole_from, ..Book::default() };
        for address in self.currencies {
            book.currencies.number(address);
        }
        for currency in currencies {
            book.currencies.put(currency);
        }
        let is_ordered = said_of(&book.currencies) == said;
        let orders = slots.into_iter().map(|slot| slot.map(|order| order.order(&book.currencies)));
        book.slots = orders.collect();
        book.find_anew();
        book.rank_known(OrderSide::Listing, &ranked_listings);
        book.rank_known(OrderSide::Offer, &ranked_offers);
        book.collection_offers = book.list_of(&collection_offers);
        book.sort_offers_by_creation();
        book.stack_all();
        (book, is_ordered)
    }
}

/// What is said of the currencies that are known, in whatever order they came.
fn said_of(currencies: &Currencies) -> Vec<u64> {
    let mut said: Vec<u64> = currencies.digests().collect();
    said.sort_unstable();
    said
}
