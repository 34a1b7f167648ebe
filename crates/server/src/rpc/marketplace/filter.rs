//! Filters as requests spell them, turned into what the catalog looks for.

use bourse_catalog::{Condition, OrderFilter, PriceRange, PropertyFilter, TokenFilter, Value};
use bourse_wire::{Address, Amount, Error, Marketplace, ServiceName, Text};
use schemars::JsonSchema;
use serde::Deserialize;

/// Entries that one list of a filter may have.
pub(super) const ENTRIES_MAX: usize = 200;
/// Words of a text that is searched for.
const WORDS_MAX: usize = 16;
/// How much of a number that is none is shown.
const SHOWN_CHARS_MAX: usize = 32;

/// Which collectibles, with which orders. What is empty or absent restricts nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct CollectiblesFilter {
    /// Whether collectibles without an order come too, after the others.
    pub(crate) include_empty: bool,
    /// Words, all of which are in the name, in any order and letter case; or the token id.
    search_text: Text<256>,
    /// Properties, all of which must hold.
    properties: Vec<PropertyInput>,
    /// Marketplaces, one of which an order must be on.
    marketplaces: Vec<Text<64>>,
    /// Accounts, one of which must hold the token.
    in_accounts: Vec<Address>,
    /// Accounts, none of which may hold the token.
    not_in_accounts: Vec<Address>,
    /// Accounts, one of which an order must be by.
    orders_created_by: Vec<Address>,
    /// Accounts, none of which an order may be by.
    orders_not_created_by: Vec<Address>,
    /// Currencies, one of which an order must be in.
    in_currency_addresses: Vec<Address>,
    /// Currencies, none of which an order may be in.
    not_in_currency_addresses: Vec<Address>,
    /// Prices, within one of which an order's must be.
    prices: Vec<PriceInput>,
}

/// A property that a token must have.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PropertyFilterInput", extend("additionalProperties" = true))]
pub(crate) struct PropertyInput {
    /// Its name.
    name: String,
    /// `INT`, `STRING`, `ARRAY` or `GENERIC`.
    r#type: PropertyType,
    /// The lowest value, for `INT`.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Number>")]
    min: Option<serde_json::Value>,
    /// The highest value, for `INT`.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Number>")]
    max: Option<serde_json::Value>,
    /// Values, one of which it must have. Without any, having the property is enough.
    #[serde(default)]
    values: Option<Vec<serde_json::Value>>,
}

/// What kind of values a property has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum PropertyType {
    /// Whole numbers.
    Int,
    /// Texts.
    String,
    /// Lists.
    Array,
    /// Anything.
    Generic,
}

/// Prices of one unit in a currency, both bounds included.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PriceFilterInput", extend("additionalProperties" = true))]
pub(crate) struct PriceInput {
    /// The currency.
    contract_address: Address,
    /// The lowest price.
    #[serde(default)]
    min: Option<Amount>,
    /// The highest price.
    #[serde(default)]
    max: Option<Amount>,
}

/// Which orders of one collectible. What is empty or absent restricts nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct OrderFilterInput {
    /// Accounts, one of which an order must be by.
    created_by: Vec<Address>,
    /// Marketplaces, one of which an order must be on.
    marketplace: Vec<Text<64>>,
    /// Currencies, one of which an order must be in.
    currencies: Vec<Address>,
}

impl CollectiblesFilter {
    /// Which tokens and which orders it lets through.
    pub(crate) fn read(self, service: &ServiceName) -> Result<(TokenFilter, OrderFilter), Error> {
        if self.prices.len() > ENTRIES_MAX {
            return Err(too_many("filter.prices", self.prices.len()));
        }
        let prices = self.prices.iter();
        let orders = OrderFilter {
            marketplaces: marketplaces("filter.marketplaces", &self.marketplaces, service)?,
            makers: bounded("filter.ordersCreatedBy", &self.orders_created_by)?,
            not_makers: bounded("filter.ordersNotCreatedBy", &self.orders_not_created_by)?,
            currencies: bounded("filter.inCurrencyAddresses", &self.in_currency_addresses)?,
            not_currencies: bounded("filter.notInCurrencyAddresses", &self.not_in_currency_addresses)?,
            prices: prices
                .map(|price| PriceRange { currency: price.contract_address, min: price.min, max: price.max })
                .collect(),
        };
        let tokens = TokenFilter {
            in_accounts: bounded("filter.inAccounts", &self.in_accounts)?,
            not_in_accounts: bounded("filter.notInAccounts", &self.not_in_accounts)?,
            text: search_text("filter.searchText", self.search_text)?,
            properties: properties("filter.properties", self.properties)?,
            ..TokenFilter::default()
        };
        Ok((tokens, orders))
    }
}

impl OrderFilterInput {
    /// Which orders it lets through.
    pub(crate) fn read(self, service: &ServiceName) -> Result<OrderFilter, Error> {
        Ok(OrderFilter {
            marketplaces: marketplaces("filter.marketplace", &self.marketplace, service)?,
            makers: bounded("filter.createdBy", &self.created_by)?,
            currencies: bounded("filter.currencies", &self.currencies)?,
            ..OrderFilter::default()
        })
    }
}

/// A text to search for. Each word of it is looked up by itself.
pub(crate) fn search_text(member: &str, text: Text<256>) -> Result<String, Error> {
    match text.as_str().split_whitespace().count() {
        count if count > WORDS_MAX => {
            Err(Error::invalid(member, format!("{count} words where at most {WORDS_MAX} are allowed")))
        }
        _ => Ok(text.into_string()),
    }
}

/// Conditions on properties.
pub(crate) fn properties(member: &str, inputs: Vec<PropertyInput>) -> Result<Vec<PropertyFilter>, Error> {
    if inputs.len() > ENTRIES_MAX {
        return Err(too_many(member, inputs.len()));
    }
    let mut filters = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.into_iter().enumerate() {
        input.read(&format!("{member}[{index}]"), &mut filters)?;
    }
    Ok(filters)
}

impl PropertyInput {
    fn read(self, member: &str, filters: &mut Vec<PropertyFilter>) -> Result<(), Error> {
        let given = self.values.unwrap_or_default();
        if given.len() > ENTRIES_MAX {
            return Err(too_many(&format!("{member}.values"), given.len()));
        }
        if let Some(null) = given.iter().position(serde_json::Value::is_null) {
            // Passed over, it would let everything through that has the property.
            return Err(Error::invalid(&format!("{member}.values[{null}]"), "null is no value"));
        }
        let mut add = |condition| filters.push(PropertyFilter { name: self.name.clone(), condition });
        // Some clients send bounds with every kind; they mean something for whole numbers only.
        let is_int = self.r#type == PropertyType::Int;
        let value = |given: &serde_json::Value| match given.as_str().map(str::parse) {
            // A number may come as a text, as everywhere.
            Some(Ok(number)) if is_int => Some(Value::Int(number)),
            _ => Value::from_json(given),
        };
        let values: Vec<Value> = given.iter().filter_map(value).collect();
        if is_int && (values.is_empty() || self.min.is_some() || self.max.is_some()) {
            let min = whole_number(&format!("{member}.min"), self.min.as_ref())?;
            add(Condition::Within { min, max: whole_number(&format!("{member}.max"), self.max.as_ref())? });
        }
        if !values.is_empty() {
            add(Condition::OneOf(values));
        } else if !is_int {
            add(Condition::Any);
        }
        Ok(())
    }
}

/// A whole number, which may come as a float or as a text.
fn whole_number(member: &str, number: Option<&serde_json::Value>) -> Result<Option<i64>, Error> {
    let text = match number {
        None | Some(serde_json::Value::Null) => return Ok(None),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let text: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    let whole = text.strip_suffix(".0").unwrap_or(&text).parse();
    whole.map(Some).map_err(|_| Error::invalid(member, format!("{text} is not a whole number of 64 bits")))
}

/// The marketplaces of words. A word that is none of ours names a marketplace that has no orders here.
fn marketplaces(member: &str, words: &[Text<64>], service: &ServiceName) -> Result<Vec<Marketplace>, Error> {
    if words.len() > ENTRIES_MAX {
        return Err(too_many(member, words.len()));
    }
    let known = |word: &Text<64>| Marketplace::parse(word.as_str(), service).unwrap_or(Marketplace::Unknown);
    Ok(words.iter().map(known).collect())
}

fn bounded(member: &str, entries: &[Address]) -> Result<Vec<Address>, Error> {
    if entries.len() > ENTRIES_MAX { Err(too_many(member, entries.len())) } else { Ok(entries.to_vec()) }
}

pub(super) fn too_many(member: &str, count: usize) -> Error {
    Error::invalid(member, format!("{count} entries where at most {ENTRIES_MAX} are allowed"))
}
