//! Random questions.

use bourse_catalog::{
    Column, Condition, OrderFilter, PriceRange, PropertyFilter, Sort, Start, TokenFilter, Value,
};
use bourse_wire::{OrderSide, TokenId};

use crate::answer::{OrdersQuestion, RowsQuestion, sort_of_orders};
use crate::generate::{Generator, MARKETPLACES};
use crate::row_rank::Ranking;

const TEXTS: [&str; 17] = [
    "axe divine",
    " axe  AXE ",
    "abcd",
    "axe",
    "Divine",
    "DIVINE AXE",
    "e #1",
    "épé",
    "e\u{301}P",
    "É",
    "ss",
    "STRASSE",
    "刀",
    "7",
    "#",
    "0",
    "nothing",
];
const SIDES: [OrderSide; 3] = [OrderSide::Listing, OrderSide::Offer, OrderSide::Unknown];
const COLUMNS: [Column; 4] = [Column::Price, Column::CreatedAt, Column::TokenId, Column::Name];

impl Generator {
    fn sort(&mut self) -> Option<Sort> {
        let sort = Sort { column: *self.random.pick(&COLUMNS), descending: self.random.one_in(2) };
        (!self.random.one_in(3)).then_some(sort)
    }

    fn sometimes<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        if !self.random.one_in(5) {
            return Vec::new();
        }
        (0..=self.random.below(2)).map(|_| make(self)).collect()
    }

    fn condition(&mut self) -> Condition {
        match self.random.below(5) {
            0 => Condition::Any,
            1 | 2 => {
                let bound = |generator: &mut Self| (!generator.random.one_in(3)).then(|| generator.int());
                Condition::Within { min: bound(self), max: bound(self) }
            }
            _ => Condition::OneOf((0..=self.random.below(3)).map(|_| self.value()).collect()),
        }
    }

    fn property_filter(&mut self) -> PropertyFilter {
        if self.scale.tokens > 1_000 && self.random.one_in(4) {
            let condition = Condition::OneOf(vec![Value::Int(1)]);
            return PropertyFilter { name: "Border".to_owned(), condition };
        }
        let names = ["Rarity", "Level", "Level", "Scores", "tags", "mixed", "nothing"];
        PropertyFilter { name: (*self.random.pick(&names)).to_owned(), condition: self.condition() }
    }

    fn token_filter(&mut self) -> TokenFilter {
        let mut filter = TokenFilter::default();
        match self.random.below(6) {
            0 => filter.text = self.token_id().to_string(),
            1 | 2 => filter.text.push_str(self.random.pick::<&str>(&TEXTS)),
            _ => {}
        }
        if self.random.one_in(2) {
            filter.properties = (0..=self.random.below(2)).map(|_| self.property_filter()).collect();
        }
        filter.in_accounts = self.sometimes(Self::account);
        filter.not_in_accounts = self.sometimes(Self::account);
        filter
    }

    fn order_filter(&mut self) -> OrderFilter {
        if self.random.one_in(3) {
            return OrderFilter::default();
        }
        OrderFilter {
            marketplaces: self.sometimes(|generator| *generator.random.pick(&MARKETPLACES)),
            makers: self.sometimes(Self::account),
            not_makers: self.sometimes(Self::account),
            currencies: self.sometimes(Self::currency_address),
            not_currencies: self.sometimes(Self::currency_address),
            prices: self.sometimes(|generator| PriceRange {
                currency: generator.currency_address(),
                min: generator.random.one_in(2).then(|| generator.amount()),
                max: generator.random.one_in(2).then(|| generator.amount()),
            }),
        }
    }

    pub(crate) fn question(&mut self) -> RowsQuestion {
        let tokens = if self.random.one_in(3) { TokenFilter::default() } else { self.token_filter() };
        RowsQuestion {
            ranking: Ranking { side: *self.random.pick(&SIDES), sort: self.sort() },
            tokens,
            orders: self.order_filter(),
            include_empty: self.random.one_in(2),
        }
    }

    /// For many of the tokens, of which some have orders that a filter lets through and the others come after.
    pub(crate) fn broad_question(&mut self) -> RowsQuestion {
        let (min, max) = (Some(self.int().clamp(0, 100)), None);
        let mut properties =
            vec![PropertyFilter { name: "Level".to_owned(), condition: Condition::Within { min, max } }];
        if self.random.one_in(3) {
            let condition = self.condition();
            properties.push(PropertyFilter { name: "Scores".to_owned(), condition });
        }
        let mut orders = OrderFilter::default();
        match self.random.below(5) {
            0 => orders.not_currencies.push(self.currency_address()),
            1 => orders.not_makers.push(self.account()),
            2 => orders.marketplaces.extend(MARKETPLACES.iter().copied().take(2)),
            // Lists of prices know all that is asked for then.
            _ => {}
        }
        RowsQuestion {
            ranking: Ranking { side: *self.random.pick(&SIDES), sort: self.sort() },
            tokens: TokenFilter { properties, ..TokenFilter::default() },
            orders,
            include_empty: true,
        }
    }

    /// For tokens with a level within random bounds.
    pub(crate) fn range_question(&mut self) -> RowsQuestion {
        let (min, max) = (Some(self.int()), Some(self.int()));
        let condition = Condition::Within { min: min.min(max), max: min.max(max) };
        let name = (*self.random.pick(&["Level", "Scores"])).to_owned();
        let properties = vec![PropertyFilter { name, condition }];
        RowsQuestion {
            ranking: Ranking { side: OrderSide::Listing, sort: None },
            tokens: TokenFilter { properties, ..TokenFilter::default() },
            orders: OrderFilter::default(),
            include_empty: true,
        }
    }

    /// For a token that has orders, if any has.
    pub(crate) fn orders_question(&mut self, with_orders: &[TokenId]) -> OrdersQuestion {
        let token = if with_orders.is_empty() { self.token_id() } else { *self.random.pick(with_orders) };
        let side = *self.random.pick(&[OrderSide::Listing, OrderSide::Offer]);
        let ranking = Ranking { side, sort: sort_of_orders(self.sort()) };
        OrdersQuestion { token, ranking, orders: self.order_filter() }
    }

    pub(crate) fn skip(&mut self, rows: usize) -> Start {
        Start::Skip(self.random.below(rows as u64 + 2))
    }
}
