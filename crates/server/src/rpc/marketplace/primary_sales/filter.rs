//! Which items of a sale are wanted.

use bourse_catalog::TokenFilter;
use bourse_protocols::primary_sale::SaleTerms;
use bourse_wire::{Amount, Error, Text, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

use super::record::ItemType;
use crate::rpc::marketplace::filter::{ENTRIES_MAX, PropertyInput, properties, search_text, too_many};

/// Which items. What is absent restricts nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct PrimarySaleItemsFilter {
    /// Whether items come too of which nothing is left.
    include_empty: bool,
    /// A part of the name in any letter case, or the token id.
    search_text: Text<256>,
    /// Properties, all of which must hold.
    properties: Vec<PropertyInput>,
    /// `individual`: terms of the token's own; `global`: those of a range.
    detail_types: Vec<ItemType>,
    /// What is sold from a later time on.
    start_date_after: Option<Timestamp>,
    /// What is sold from an earlier time on.
    start_date_before: Option<Timestamp>,
    /// What is sold until a later time.
    end_date_after: Option<Timestamp>,
    /// What is sold until an earlier time.
    end_date_before: Option<Timestamp>,
}

/// The same, checked.
pub(crate) struct ItemsWanted {
    pub(super) tokens: TokenFilter,
    include_empty: bool,
    types: Vec<ItemType>,
    starts: Between,
    ends: Between,
}

/// Times between two, neither included.
struct Between {
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl PrimarySaleItemsFilter {
    pub(crate) fn read(self) -> Result<ItemsWanted, Error> {
        if self.detail_types.len() > ENTRIES_MAX {
            return Err(too_many("filter.detailTypes", self.detail_types.len()));
        }
        let tokens = TokenFilter {
            text: search_text("filter.searchText", self.search_text)?,
            properties: properties("filter.properties", self.properties)?,
            ..TokenFilter::default()
        };
        Ok(ItemsWanted {
            tokens,
            include_empty: self.include_empty,
            types: self.detail_types,
            starts: Between { after: self.start_date_after, before: self.start_date_before },
            ends: Between { after: self.end_date_after, before: self.end_date_before },
        })
    }
}

impl ItemsWanted {
    /// Whether a token is wanted that has these terms itself.
    pub(super) fn allows_own(&self, terms: &SaleTerms) -> bool {
        self.allows(ItemType::Individual, terms)
    }

    /// Whether the tokens of a range are wanted that is sold on these terms.
    pub(super) fn allows_range(&self, terms: &SaleTerms) -> bool {
        self.allows(ItemType::Global, terms)
    }

    fn allows(&self, item_type: ItemType, terms: &SaleTerms) -> bool {
        (self.types.is_empty() || self.types.contains(&item_type))
            && (self.include_empty || terms.remaining > Amount::ZERO)
            && self.starts.has(terms.starts)
            && self.ends.has(terms.ends)
    }
}

impl Between {
    fn has(&self, time: Timestamp) -> bool {
        self.after.is_none_or(|after| after < time) && self.before.is_none_or(|before| time < before)
    }
}
