//! A filter on orders as it is asked of many of them.

use bourse_wire::Address;

use super::{Book, Order};
use crate::filter::OrderFilter;
use crate::holders::Holders;

/// A filter with the numbers of currencies and makers in place of their addresses: lists of addresses may be long, and
/// are gone through once instead of for every order.
pub(crate) struct OrderTest<'a> {
    filter: &'a OrderFilter,
    /// By number, whether orders in the currency may pass.
    currencies: Vec<bool>,
    /// Ascending.
    makers: Vec<u32>,
    /// Ascending.
    not_makers: Vec<u32>,
}

impl<'a> OrderTest<'a> {
    pub(crate) fn new(filter: &'a OrderFilter, book: &Book, holders: &Holders) -> Self {
        let numbers = |makers: &[Address]| {
            let mut numbers: Vec<u32> = makers.iter().filter_map(|maker| holders.find(maker)).collect();
            numbers.sort_unstable();
            numbers
        };
        let currencies = book.currencies().addresses().map(|address| filter.allows_currency(address));
        Self {
            filter,
            currencies: currencies.collect(),
            makers: numbers(&filter.makers),
            not_makers: numbers(&filter.not_makers),
        }
    }

    /// Whether the filter lets an order through.
    pub(crate) fn allows(&self, book: &Book, order: &Order) -> bool {
        let is_of_maker = || self.filter.makers.is_empty() || self.makers.binary_search(&order.maker).is_ok();
        let price = &order.price;
        let is_priced = || {
            self.filter.prices.is_empty()
                || self.filter.allows_price(book.currencies().address(price.currency), price.amount)
        };
        self.currencies.get(price.currency as usize).is_some_and(|allowed| *allowed)
            && self.filter.allows_marketplace(order.marketplace)
            && is_of_maker()
            && self.not_makers.binary_search(&order.maker).is_err()
            && is_priced()
    }
}
