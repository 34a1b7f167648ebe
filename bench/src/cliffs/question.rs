//! One question to a collection, and how it is asked.

use bourse_catalog::{
    Collection, Column, Condition, OrderFilter, OrdersQuery, Position, PropertyFilter, Query, Sort, Start,
    TokenFilter, TokensQuery, Value as PropertyValue,
};
use bourse_wire::{OrderSide, TokenId};
use serde_json::{Map, Value, json};

use super::service;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    List,
    LowestListings,
    HighestOffers,
    Owned,
    OfMaker,
    Count,
    Floor,
    OrdersOfToken,
    Search,
    Facets,
}

impl Operation {
    pub(crate) const ALL: [Self; 10] = [
        Self::List,
        Self::LowestListings,
        Self::HighestOffers,
        Self::Owned,
        Self::OfMaker,
        Self::Count,
        Self::Floor,
        Self::OrdersOfToken,
        Self::Search,
        Self::Facets,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::LowestListings => "lowest-listings",
            Self::HighestOffers => "highest-offers",
            Self::Owned => "owned",
            Self::OfMaker => "of-maker",
            Self::Count => "count",
            Self::Floor => "floor",
            Self::OrdersOfToken => "orders-of-token",
            Self::Search => "search",
            Self::Facets => "facets",
        }
    }
}

/// A question.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) operation: Operation,
    pub(crate) side: OrderSide,
    pub(crate) tokens: TokenFilter,
    pub(crate) orders: OrderFilter,
    pub(crate) include_empty: bool,
    pub(crate) sort: Option<Sort>,
    pub(crate) start: Start,
    pub(crate) limit: usize,
    /// The token whose orders are asked for.
    pub(crate) token: TokenId,
}

impl Question {
    /// Asks, and writes the answer; where the next page would begin.
    pub(crate) fn ask(&self, collection: &Collection, answer: &mut Vec<u8>) -> Option<Position> {
        answer.clear();
        match self.operation {
            Operation::List
            | Operation::LowestListings
            | Operation::HighestOffers
            | Operation::Owned
            | Operation::OfMaker => {
                let rows = collection.query(&self.query());
                collection.write_rows(answer, &rows);
                rows.next
            }
            Operation::Count => {
                let count = collection.count(self.side, &self.tokens, &self.orders, self.include_empty);
                answer.extend_from_slice(count.to_string().as_bytes());
                None
            }
            Operation::Floor => {
                if let Some(row) = collection.listing_floor(&self.tokens, &self.orders) {
                    collection.write_row(answer, row);
                }
                None
            }
            Operation::OrdersOfToken => collection.write_orders(answer, &self.orders_query()),
            Operation::Search => {
                let (tokens, start, limit) = (&self.tokens, self.start.clone(), self.limit);
                let rows = collection.search(&TokensQuery { tokens, start, limit });
                collection.write_metadata(answer, &rows);
                rows.next
            }
            Operation::Facets => {
                answer.extend_from_slice(collection.facets(&self.tokens).len().to_string().as_bytes());
                None
            }
        }
    }

    /// How many rows all pages have together.
    pub(crate) fn rows(&self, collection: &Collection) -> usize {
        match self.operation {
            Operation::OrdersOfToken => collection.count_orders(self.token, self.side, &self.orders),
            Operation::Search => {
                collection.count(OrderSide::Listing, &self.tokens, &OrderFilter::default(), true)
            }
            _ => collection.count(self.side, &self.tokens, &self.orders, self.include_empty),
        }
    }

    fn query(&self) -> Query<'_> {
        Query {
            side: self.side,
            tokens: &self.tokens,
            orders: &self.orders,
            include_empty: self.include_empty,
            sort: self.sort,
            start: self.start.clone(),
            limit: self.limit,
        }
    }

    fn orders_query(&self) -> OrdersQuery<'_> {
        OrdersQuery {
            token: self.token,
            side: self.side,
            filter: &self.orders,
            sort: self.sort,
            start: self.start.clone(),
            limit: self.limit,
        }
    }

    /// What it restricts, how it sorts, and whether it begins at the first page: questions of one shape cost alike.
    pub(crate) fn shape(&self) -> String {
        let json = self.to_json();
        let members = json["filter"].as_object().map(|filter| filter.keys().cloned().collect::<Vec<_>>());
        let is_first = self.start == Start::Skip(0);
        format!("{:?} {} {} {is_first}", members.unwrap_or_default(), json["side"], json["sort"])
    }

    /// The question as requests spell it, without what it does not say. Long lists are cut.
    pub(crate) fn to_json(&self) -> Value {
        let filter = without_empty(json!({
            "includeEmpty": self.include_empty,
            "searchText": self.tokens.text,
            "properties": self.tokens.properties.iter().map(property).collect::<Vec<_>>(),
            "inAccounts": shown(&self.tokens.in_accounts, ToString::to_string),
            "notInAccounts": shown(&self.tokens.not_in_accounts, ToString::to_string),
            "marketplaces": shown(&self.orders.marketplaces, |marketplace| marketplace.word(&service())),
            "ordersCreatedBy": shown(&self.orders.makers, ToString::to_string),
            "ordersNotCreatedBy": shown(&self.orders.not_makers, ToString::to_string),
            "inCurrencyAddresses": shown(&self.orders.currencies, ToString::to_string),
            "notInCurrencyAddresses": shown(&self.orders.not_currencies, ToString::to_string),
            "prices": self.orders.prices.iter().map(|price| json!({
                "contractAddress": price.currency.to_string(),
                "min": price.min.map(|min| min.to_string()),
                "max": price.max.map(|max| max.to_string()),
            })).collect::<Vec<_>>(),
        }));
        let start = match &self.start {
            Start::Skip(count) => json!(count),
            Start::After(position) => serde_json::to_value(position).unwrap_or_default(),
        };
        let token = (self.operation == Operation::OrdersOfToken).then(|| self.token.to_string());
        without_empty(json!({
            "side": self.side.word(),
            "tokenId": token,
            "filter": filter,
            "sort": self.sort.map(sort),
            "from": start,
            "pageSize": self.limit,
        }))
    }
}

fn sort(Sort { column, descending }: Sort) -> String {
    let column = match column {
        Column::Price => "price",
        Column::CreatedAt => "createdAt",
        Column::TokenId => "tokenId",
        Column::Name => "name",
    };
    format!("{column} {}", if descending { "desc" } else { "asc" })
}

fn property(PropertyFilter { name, condition }: &PropertyFilter) -> Value {
    match condition {
        Condition::Any => json!({ "name": name }),
        Condition::Within { min, max } => without_empty(json!({ "name": name, "min": min, "max": max })),
        Condition::OneOf(values) => {
            let value = |value: &PropertyValue| match value {
                PropertyValue::Int(number) => number.to_string(),
                PropertyValue::Text(text) | PropertyValue::Other(text) => text.to_string(),
            };
            json!({ "name": name, "values": shown(values, value) })
        }
    }
}

/// The first few of a list, and how many more there are.
fn shown<T>(items: &[T], show: impl Fn(&T) -> String) -> Vec<String> {
    const SHOWN_MAX: usize = 2;
    let more = items.len().saturating_sub(SHOWN_MAX);
    let rest = (more > 0).then(|| format!("and {more} more"));
    items.iter().take(SHOWN_MAX).map(show).chain(rest).collect()
}

fn without_empty(value: Value) -> Value {
    let Value::Object(members) = value else { return value };
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    Value::Object(members.into_iter().filter(|(_, value)| says(value)).collect::<Map<_, _>>())
}
