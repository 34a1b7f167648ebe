//! The properties of a collection as filters to choose from.

use bourse_catalog::{Facet, FacetKind, Value};
use bourse_wire::{Address, ChainRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::SearchFilter;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::rpc::marketplace::filter::PropertyType;
use crate::rpc::marketplace::searchable;

/// Of which collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TokenCollectionFiltersRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address.
    contract_address: Address,
    /// Properties to leave out.
    #[serde(default)]
    exclude_properties: Vec<String>,
    /// Whether to leave out all values.
    #[serde(default)]
    exclude_property_values: bool,
    /// Whether to tell how many tokens have each value.
    #[serde(default)]
    include_counts: bool,
    /// Which tokens to count.
    filter: Option<SearchFilter>,
}
request!(Request);

/// The filters.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TokenCollectionFiltersAnswer")]
pub(crate) struct Answer {
    /// The properties, by name.
    filters: Vec<PropertyFilter>,
}

/// A property to filter by.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PropertyFilter {
    /// Its name.
    name: String,
    /// What kind of values it has.
    r#type: PropertyType,
    /// The lowest value, of whole numbers.
    min: Option<i64>,
    /// The highest value, of whole numbers.
    max: Option<i64>,
    /// Its values. None where there are more than 1,000, and for whole numbers.
    values: Vec<serde_json::Value>,
    /// How many of the tokens that the filter lets through have each value; only when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Vec<ValueCount>>,
}

/// How many tokens have a value.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ValueCount {
    /// The value.
    value: serde_json::Value,
    /// How many tokens.
    count: usize,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let filter = request.filter.unwrap_or_default().read()?;
    let facets = match searchable(&call, key).await? {
        Some(slot) => slot.read().facets(&filter),
        None => Vec::new(),
    };
    let wanted = facets.into_iter().filter(|facet| !request.exclude_properties.contains(&facet.name));
    let (with_values, with_counts) = (!request.exclude_property_values, request.include_counts);
    Ok(Answer { filters: wanted.map(|facet| property(facet, with_values, with_counts)).collect() })
}

fn property(facet: Facet, with_values: bool, with_counts: bool) -> PropertyFilter {
    let counted = facet.values.iter().map(|(value, count)| ValueCount { value: json(value), count: *count });
    PropertyFilter {
        r#type: match facet.kind {
            FacetKind::Int => PropertyType::Int,
            FacetKind::Text => PropertyType::String,
            FacetKind::List => PropertyType::Array,
            FacetKind::Mixed => PropertyType::Generic,
        },
        min: facet.range.map(|(min, _)| min),
        max: facet.range.map(|(_, max)| max),
        counts: with_counts.then(|| counted.collect()),
        values: if with_values {
            facet.values.iter().map(|(value, _)| json(value)).collect()
        } else {
            Vec::new()
        },
        name: facet.name,
    }
}

fn json(value: &Value) -> serde_json::Value {
    serde_json::from_str(&value.to_json()).unwrap_or_default()
}
