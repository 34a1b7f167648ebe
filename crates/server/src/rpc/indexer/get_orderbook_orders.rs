//! The same as `GetMarketplaceOrders`, as it was asked before.

use bourse_wire::{Address, ChainRef, Timestamp, TokenId};
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
#[schemars(rename = "GetOrderbookOrdersRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Contract of the marketplace.
    orderbook_contract_address: Address,
    /// Contract of the collection.
    collection_address: Address,
    /// Currencies, one of which they must be in, unless none are named.
    #[serde(default)]
    currency_addresses: Vec<Address>,
    /// Whose orders for which tokens: one of these must fit, unless there are none.
    #[serde(default)]
    filters: Vec<Filter>,
    /// What may have become of them; anything where nothing is said.
    #[serde(default)]
    order_statuses: Vec<OrderState>,
    /// A time, in seconds since 1970, by which open ones have not expired; 0 for those that have, too.
    #[serde(default)]
    before_expiry_timestamp: u64,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

/// Whose orders for which tokens. What is empty or absent restricts nothing.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "OrderbookOrderFilterInput")]
struct Filter {
    /// Listings, or offers.
    is_listing: Option<bool>,
    /// The account that made them.
    user_address: Option<Address>,
    /// An account that did not.
    exclude_user_address: Option<Address>,
    /// The tokens that they may be for.
    token_ids: Vec<TokenId>,
}

/// It cannot name orders.
const NAMES: Names =
    Names { kinds: "filters", currencies: "currencyAddresses", orders: "", states: "orderStatuses" };

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let contract = ("orderbookContractAddress", request.orderbook_contract_address);
    let market = Market::of(&call, request.chain_id.as_ref(), contract, request.collection_address)?;
    let kind = |filter: Filter| Kind {
        side: filter.is_listing.map(side),
        makers: filter.user_address.into_iter().collect(),
        not_makers: filter.exclude_user_address.into_iter().collect(),
        tokens: filter.token_ids,
    };
    let wanted = Wanted {
        kinds: request.filters.into_iter().map(kind).collect(),
        currencies: request.currency_addresses,
        states: request.order_statuses,
        open_at: Some(Timestamp::from_unix_seconds(request.before_expiry_timestamp)),
        ..Wanted::default()
    };
    market_orders::answer(&call, &market, &wanted.checked(&call, &NAMES)?, request.page).await
}
