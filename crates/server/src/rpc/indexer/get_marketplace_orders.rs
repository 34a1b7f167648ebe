//! The orders of a collection at one of the service's own marketplaces, whatever became of them.

use bourse_wire::{Address, ChainRef, Text, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::market::{Market, OrderState, side};
use super::market_orders::{self, Kind, Names, Wanted};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::PageInput;
use crate::route::request;

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetMarketplaceOrdersRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Contract of the marketplace.
    marketplace_contract_address: Address,
    /// Contract of the collection.
    collection_address: Address,
    /// Which orders; all but those that have expired where nothing is said.
    filter: Option<Filter>,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

/// Which orders. What is empty, zero or absent restricts nothing.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "MarketplaceOrderFilterInput")]
struct Filter {
    /// Listings, or offers.
    is_listing: Option<bool>,
    /// Accounts, one of which must have made them.
    user_addresses: Vec<Address>,
    /// Accounts, none of which may have made them.
    exclude_user_addresses: Vec<Address>,
    /// Currencies, one of which they must be in.
    currency_addresses: Vec<Address>,
    /// The orders, by their names.
    order_ids: Vec<Text<256>>,
    /// The tokens that they may be for.
    token_ids: Vec<TokenId>,
    /// They changed behind this block.
    block_number_gt: u64,
    /// They were made after this time, in seconds since 1970.
    created_at_after: i64,
    /// What may have become of them.
    order_statuses: Vec<OrderState>,
    /// Whether open ones come too that have expired.
    return_expired: bool,
}

const NAMES: Names = Names {
    kinds: "filter",
    currencies: "filter.currencyAddresses",
    orders: "filter.orderIds",
    states: "filter.orderStatuses",
};

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let contract = ("marketplaceContractAddress", request.marketplace_contract_address);
    let market = Market::of(&call, request.chain_id.as_ref(), contract, request.collection_address)?;
    let filter = request.filter.unwrap_or_default();
    let kind = Kind {
        side: filter.is_listing.map(side),
        makers: filter.user_addresses,
        not_makers: filter.exclude_user_addresses,
        tokens: filter.token_ids,
    };
    let wanted = Wanted {
        kinds: vec![kind],
        currencies: filter.currency_addresses,
        names: filter.order_ids.into_iter().map(Text::into_string).collect(),
        states: filter.order_statuses,
        behind_block: Some(filter.block_number_gt).filter(|block| *block > 0),
        made_after: Some(filter.created_at_after).filter(|time| *time != 0),
        open_at: (!filter.return_expired).then_some(call.now),
    };
    market_orders::answer(&call, &market, &wanted.checked(&call, &NAMES)?, request.page).await
}
