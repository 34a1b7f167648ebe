//! What the cheapest listing costs.

use bourse_wire::{Address, Amount, OrderSide, TokenId};

use super::{OrdersQuery, Start};
use crate::collection::Collection;
use crate::filter::{OrderFilter, TokenFilter};

impl Collection {
    /// Price of a unit and currency of the cheapest listing of a token, or of all tokens.
    pub fn cheapest(&self, token: Option<TokenId>) -> Option<(Amount, Address)> {
        let filter = OrderFilter::default();
        let listing = match token {
            Some(token) => {
                let (side, start) = (OrderSide::Listing, Start::Skip(0));
                let query = OrdersQuery { token, side, filter: &filter, sort: None, start, limit: 1 };
                self.find_orders(&query).0.first().copied()
            }
            None => self.listing_floor(&TokenFilter::default(), &filter)?.listing,
        };
        let price = &self.book.order(listing?)?.price;
        Some((price.amount, *self.book.currencies().address(price.currency)))
    }
}
