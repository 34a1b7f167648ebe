//! The table of operations. Everything that has a list of operations derives it from here.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::metrics::{Metrics, OperationMetrics};
use crate::route::Credential::{AccessKey, SecretToken};
use crate::route::Service::{Analytics, Builder, Collections, Ingest, Marketplace, Metadata};
use crate::route::{Route, Service};
use crate::rpc::{builder, collections, ingest, marketplace, metadata};

/// Every operation.
pub fn operations() -> Vec<Route> {
    let mut operations: Vec<Route> = Service::ALL.into_iter().map(Route::ping).collect();
    operations.extend(metadata_operations());
    operations.extend(search_operations());
    operations.extend(collections_operations());
    operations.extend(contract_link_operations());
    operations.extend(token_operations());
    operations.extend(asset_operations());
    operations.extend(marketplace_operations());
    operations.extend(builder_operations());
    operations.extend(analytics_operations());
    operations.extend(ingest_operations());
    operations
}

/// Bodies to try operations on metadata with.
const COLLECTION: &str =
    r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const SEARCH: &str = r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"text":"a"}}"#;

fn metadata_operations() -> Vec<Route> {
    use metadata::{
        get_contract_info, get_contract_info_batch, get_token_metadata, get_token_metadata_batch,
        token_collection_filters,
    };
    vec![
        Route::raw::<_, get_token_metadata_batch::Answer, _>(
            (Metadata, "GetTokenMetadataBatch"),
            AccessKey,
            "Metadata of tokens of several contracts. Tokens that are not known are left out.",
            get_token_metadata_batch::handle,
        ).example(r#"{"chainID":"amoy","contractTokenMap":{"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af":["1","2"]}}"#),
        Route::raw::<_, get_contract_info_batch::Answer, _>(
            (Metadata, "GetContractInfoBatch"),
            AccessKey,
            "Information about several contracts. Contracts that are not known are left out.",
            get_contract_info_batch::handle,
        ).example(r#"{"chainID":"amoy","contractAddresses":["0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"]}"#),
        Route::raw::<_, get_token_metadata::Answer, _>(
            (Metadata, "GetTokenMetadata"),
            AccessKey,
            "Metadata of tokens of one contract. Tokens that are not known are left out.",
            get_token_metadata::handle,
        ).example(r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenIDs":["1"]}"#),
        Route::raw::<_, get_contract_info::Answer, _>(
            (Metadata, "GetContractInfo"),
            AccessKey,
            "Information about one contract.",
            get_contract_info::handle,
        ).example(r#"{"chainID":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#),
        Route::new(
            (Metadata, "TokenCollectionFilters"),
            AccessKey,
            "The properties of a collection as filters to choose from.",
            token_collection_filters::handle,
        )
        .example(COLLECTION),
        Route::new(
            (Metadata, "GetTokenMetadataPropertyFilters"),
            AccessKey,
            "The properties of a collection as filters to choose from.",
            token_collection_filters::handle,
        )
        .example(COLLECTION),
    ]
}

fn search_operations() -> Vec<Route> {
    use metadata::{search, search_contracts, search_tokens};
    vec![
        Route::raw::<_, search::MetadataAnswer, _>(
            (Metadata, "SearchTokenMetadata"),
            AccessKey,
            "Tokens of a collection by text and properties.",
            search::metadata,
        )
        .example(SEARCH),
        Route::raw::<_, search::IdsAnswer, _>(
            (Metadata, "SearchTokenIDs"),
            AccessKey,
            "Ids of the tokens of a collection by text and properties.",
            search::ids,
        )
        .example(SEARCH),
        Route::raw::<_, search_tokens::Answer, _>(
            (Metadata, "SearchTokens"),
            AccessKey,
            "Tokens of all collections of a chain by name, with the contract each is of.",
            search_tokens::handle,
        )
        .example(r#"{"chainID":"amoy","q":"a","page":{"pageSize":2}}"#),
        Route::raw::<_, search_contracts::Answer, _>(
            (Metadata, "SearchContracts"),
            AccessKey,
            "Contracts by name, symbol or address.",
            search_contracts::handle,
        )
        .example(r#"{"chainID":"amoy","q":"0x5ea9c1","types":["ERC721","ERC1155"]}"#),
    ]
}

fn collections_operations() -> Vec<Route> {
    use collections as c;
    let place = |name| (Collections, name);
    vec![
        Route::new(
            place("CreateCollection"),
            SecretToken,
            "Makes a hosted collection.",
            c::create_collection::handle,
        )
        .example(r#"{"collection":{"metadata":{"name":"Tide charts"}}}"#),
        Route::new(
            place("GetCollection"),
            SecretToken,
            "Reads a hosted collection.",
            c::get_collection::handle,
        )
        .example(r#"{"collectionId":1}"#),
        Route::new(
            place("ListCollections"),
            SecretToken,
            "Lists hosted collections.",
            c::list_collections::handle,
        ),
        Route::new(
            place("UpdateCollection"),
            SecretToken,
            "Changes a hosted collection.",
            c::update_collection::handle,
        ),
        Route::new(
            place("DeleteCollection"),
            SecretToken,
            "Deletes a hosted collection with its tokens, assets and contract links.",
            c::delete_collection::handle,
        ),
        Route::new(
            place("PublishCollection"),
            SecretToken,
            "Shows a collection at its public addresses; with `recursive`, its private tokens too.",
            c::publish_collection::handle,
        )
        .example(r#"{"collectionId":1,"recursive":true}"#),
        Route::new(
            place("UnpublishCollection"),
            SecretToken,
            "Hides a collection from its public addresses.",
            c::unpublish_collection::handle,
        ),
    ]
}

fn contract_link_operations() -> Vec<Route> {
    use collections as c;
    let place = |name| (Collections, name);
    vec![
        Route::new(
            place("CreateContractCollection"),
            SecretToken,
            "Links a contract with the collection that serves its metadata.",
            c::create_contract_collection::handle,
        ),
        Route::new(
            place("GetContractCollection"),
            SecretToken,
            "Reads which collection serves a contract.",
            c::get_contract_collection::handle,
        ),
        Route::new(
            place("ListContractCollections"),
            SecretToken,
            "Lists which collections serve which contracts.",
            c::list_contract_collections::handle,
        ),
        Route::new(
            place("UpdateContractCollection"),
            SecretToken,
            "Links a contract with another collection.",
            c::update_contract_collection::handle,
        ),
        Route::new(
            place("DeleteContractCollection"),
            SecretToken,
            "Unlinks a contract.",
            c::delete_contract_collection::handle,
        ),
    ]
}

fn token_operations() -> Vec<Route> {
    use collections as c;
    let place = |name| (Collections, name);
    vec![
        Route::new(
            place("CreateToken"),
            SecretToken,
            "Adds a token to a collection.",
            c::create_token::handle,
        )
        .example(r#"{"collectionId":1,"token":{"tokenId":"13","name":"Harbour fog"}}"#),
        Route::new(place("GetToken"), SecretToken, "Reads a token and its assets.", c::get_token::handle)
            .example(r#"{"projectId":1,"collectionId":1,"tokenId":"1"}"#),
        Route::new(
            place("ListTokens"),
            SecretToken,
            "Lists the tokens of a collection.",
            c::list_tokens::handle,
        )
        .example(r#"{"collectionId":1,"page":{"page":1,"pageSize":5}}"#),
        Route::new(place("UpdateToken"), SecretToken, "Changes a token.", c::update_token::handle),
        Route::new(
            place("DeleteToken"),
            SecretToken,
            "Deletes a token and its assets.",
            c::delete_token::handle,
        ),
    ]
}

fn asset_operations() -> Vec<Route> {
    use collections as c;
    let place = |name| (Collections, name);
    vec![
        Route::new(
            place("CreateAsset"),
            SecretToken,
            "Makes an asset, for which a file can then be uploaded.",
            c::create_asset::handle,
        )
        .example(r#"{"asset":{"collectionId":1,"tokenId":"13","metadataField":"image"}}"#),
        Route::new(place("GetAsset"), SecretToken, "Reads an asset.", c::get_asset::handle),
        Route::new(place("UpdateAsset"), SecretToken, "Changes an asset.", c::update_asset::handle),
        Route::new(place("DeleteAsset"), SecretToken, "Deletes an asset.", c::delete_asset::handle),
    ]
}

fn marketplace_operations() -> Vec<Route> {
    let mut operations = collectible_operations();
    operations.extend(order_operations());
    operations.extend(record_operations());
    operations.extend(history_operations());
    operations.push(Route::planned(
        (Marketplace, "GenerateBuyTransaction"),
        AccessKey,
        "The steps to buy collectibles.",
    ));
    operations
}

/// Bodies to try operations on collectibles with.
const FILTERED: &str = r#"{"chainId":"amoy","side":"listing","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"includeEmpty":false},"page":{"page":1,"pageSize":2}}"#;
const WHOLE: &str = r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const ORDERS: &str = r#"{"chainId":"amoy","input":[{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","orderId":"6986","marketplace":"service_marketplace_v1"}]}"#;
const ONE: &str =
    r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenId":"1"}"#;

fn collectible_operations() -> Vec<Route> {
    use marketplace::{get_count_of_filtered_collectibles, get_floor_order, list_collectibles};
    vec![
        Route::raw::<_, list_collectibles::Answer, _>(
            (Marketplace, "ListCollectibles"),
            AccessKey,
            "Collectibles with their best order, listing and offer.",
            list_collectibles::handle,
        )
        .example(FILTERED),
        Route::raw::<_, list_collectibles::Answer, _>(
            (Marketplace, "ListCollectiblesWithLowestListing"),
            AccessKey,
            "Collectibles that have a listing, the cheapest first.",
            list_collectibles::handle_listings,
        )
        .example(FILTERED),
        Route::raw::<_, list_collectibles::Answer, _>(
            (Marketplace, "ListCollectiblesWithHighestOffer"),
            AccessKey,
            "Collectibles that have an offer, the dearest first.",
            list_collectibles::handle_offers,
        )
        .example(FILTERED),
        Route::new(
            (Marketplace, "GetCountOfFilteredCollectibles"),
            AccessKey,
            "How many collectibles match a filter.",
            get_count_of_filtered_collectibles::handle,
        )
        .example(FILTERED),
        Route::raw::<_, get_floor_order::Answer, _>(
            (Marketplace, "GetFloorOrder"),
            AccessKey,
            "The cheapest listing of a collection.",
            get_floor_order::handle,
        )
        .example(FILTERED),
    ]
}

/// The orders of one collectible. Each has an older name that clients still call.
fn order_operations() -> Vec<Route> {
    use marketplace::orders_of_collectible as o;
    let mut operations = Vec::new();
    for name in ["ListListingsForCollectible", "ListCollectibleListings"] {
        let summary = "The active listings of one collectible, the cheapest first.";
        let place = (Marketplace, name);
        operations.push(Route::raw::<_, o::ListingsAnswer, _>(place, AccessKey, summary, o::list_listings));
    }
    for name in ["ListOffersForCollectible", "ListCollectibleOffers"] {
        let summary = "The active offers for one collectible, the dearest first.";
        let place = (Marketplace, name);
        operations.push(Route::raw::<_, o::OffersAnswer, _>(place, AccessKey, summary, o::list_offers));
    }
    for name in ["GetHighestPriceListingForCollectible", "GetCollectibleHighestListing"] {
        let summary = "The dearest active listing of one collectible, or null.";
        let place = (Marketplace, name);
        operations.push(Route::raw::<_, o::OrderAnswer, _>(place, AccessKey, summary, o::highest_listing));
    }
    for name in ["GetLowestPriceListingForCollectible", "GetCollectibleLowestListing"] {
        let summary = "The cheapest active listing of one collectible, or null.";
        let place = (Marketplace, name);
        operations.push(Route::raw::<_, o::OrderAnswer, _>(place, AccessKey, summary, o::lowest_listing));
    }
    for name in ["GetHighestPriceOfferForCollectible", "GetCollectibleHighestOffer"] {
        let summary = "The dearest active offer for one collectible, or null.";
        let place = (Marketplace, name);
        operations.push(Route::raw::<_, o::OrderAnswer, _>(place, AccessKey, summary, o::highest_offer));
    }
    for name in ["GetLowestPriceOfferForCollectible", "GetCollectibleLowestOffer"] {
        let summary = "The cheapest active offer for one collectible, or null.";
        let place = (Marketplace, name);
        operations.push(Route::raw::<_, o::OrderAnswer, _>(place, AccessKey, summary, o::lowest_offer));
    }
    let counted = "How many active listings one collectible has.";
    let place = (Marketplace, "GetCountOfListingsForCollectible");
    operations.push(Route::new(place, AccessKey, counted, o::count_listings));
    let counted = "How many active offers there are for one collectible.";
    let place = (Marketplace, "GetCountOfOffersForCollectible");
    operations.push(Route::new(place, AccessKey, counted, o::count_offers));
    operations.into_iter().map(|route| route.example(ONE)).collect()
}

/// Single records, and lists that belong to no collection.
fn record_operations() -> Vec<Route> {
    use marketplace::{
        get_collectible, get_collection_detail, get_count_of_all_collectibles, get_orders, list_currencies,
        supported_marketplaces,
    };
    vec![
        Route::raw::<_, get_orders::Answer, _>(
            (Marketplace, "GetOrders"),
            AccessKey,
            "Orders by their names, in any state. Orders that are not known are left out.",
            get_orders::handle,
        )
        .example(ORDERS),
        Route::new(
            (Marketplace, "GetCountOfAllCollectibles"),
            AccessKey,
            "How many collectibles a collection has.",
            get_count_of_all_collectibles::handle,
        )
        .example(WHOLE),
        Route::raw::<_, get_collectible::Answer, _>(
            (Marketplace, "GetCollectible"),
            AccessKey,
            "What is known of one collectible.",
            get_collectible::handle,
        )
        .example(ONE),
        Route::new(
            (Marketplace, "GetCollectionDetail"),
            AccessKey,
            "What is known of one collection.",
            get_collection_detail::handle,
        )
        .example(WHOLE),
        Route::new(
            (Marketplace, "ListCurrencies"),
            AccessKey,
            "The currencies of a chain with their rates, or of every chain.",
            list_currencies::handle,
        )
        .example(r#"{"chainId":"amoy"}"#),
        Route::new(
            (Marketplace, "SupportedMarketplaces"),
            AccessKey,
            "The marketplaces whose orders are kept here.",
            supported_marketplaces::handle,
        ),
    ]
}

fn history_operations() -> Vec<Route> {
    use marketplace::activities;
    vec![
        Route::raw::<_, activities::Answer, _>(
            (Marketplace, "ListCollectionActivities"),
            AccessKey,
            "What happened in a collection, the newest first.",
            activities::of_collection,
        )
        .example(WHOLE),
        Route::raw::<_, activities::Answer, _>(
            (Marketplace, "ListCollectibleActivities"),
            AccessKey,
            "What happened to one collectible, the newest first.",
            activities::of_collectible,
        )
        .example(ONE),
    ]
}

fn builder_operations() -> Vec<Route> {
    use builder as b;
    let place = |name| (Builder, name);
    vec![
        Route::new(
            place("GetAudience"),
            AccessKey,
            "Reads an audience with its contacts and linked contracts.",
            b::get_audience::handle,
        ).example(r#"{"projectId":1,"audienceId":1}"#),
        Route::new(
            place("ListAudiences"),
            AccessKey,
            "Lists the project's audiences.",
            b::list_audiences::handle,
        ),
        Route::new(place("CreateAudience"), SecretToken, "Makes an audience.", b::create_audience::handle).example(r#"{"name":"Testers"}"#),
        Route::new(place("UpdateAudience"), SecretToken, "Renames an audience.", b::update_audience::handle),
        Route::new(
            place("DeleteAudience"),
            SecretToken,
            "Deletes an audience with its contacts and contract links.",
            b::delete_audience::handle,
        ),
        Route::new(
            place("AddAudienceContacts"),
            SecretToken,
            "Adds contacts, all or none. A contact is known by its address; adding it again updates it.",
            b::add_audience_contacts::handle,
        ).example(r#"{"audienceId":1,"contacts":[{"name":"Ada","address":"0x00000000000000000000000000000000000000ad","email":"ada@example.org"}]}"#),
        Route::new(
            place("RemoveAudienceContacts"),
            SecretToken,
            "Removes contacts. Those that are not there are no error.",
            b::remove_audience_contacts::handle,
        ),
    ]
}

fn analytics_operations() -> Vec<Route> {
    let planned = |name, summary| Route::planned((Analytics, name), SecretToken, summary);
    vec![
        planned("ComputeByService", "Compute units by service."),
        planned("WalletsMonthly", "Active wallets by month."),
        planned("WalletsDaily", "Active wallets by day."),
        planned("WalletsTxnSentDaily", "Transactions sent by day."),
        planned("MarketWalletsDaily", "Wallets that bought or sold, by day."),
        planned("MarketWalletsMonthly", "Wallets that bought or sold, by month."),
        planned("D7RetentionByCohort", "Share of a day's new wallets that came back seven days later."),
        planned("D1RetentionByCohort", "Share of a day's new wallets that came back the next day."),
        planned("TotalNewWallets", "New wallets by day."),
    ]
}

fn ingest_operations() -> Vec<Route> {
    use ingest as i;
    let place = |name| (Ingest, name);
    vec![
        Route::new(
            place("PutContracts"),
            SecretToken,
            "Puts what is known of contracts. A bad record spoils no other.",
            i::put_contracts::handle,
        )
        .example(r#"{"chainId":"amoy","contracts":[{"address":"0x2222222222222222222222222222222222222222","contractType":"ERC721","name":"My Relics","symbol":"MINE"}]}"#),
        Route::new(
            place("PutTokens"),
            SecretToken,
            "Puts tokens, each whole. A bad record spoils no other.",
            i::put_tokens::handle,
        )
        .example(r#"{"chainId":"amoy","tokens":[{"contractAddress":"0x2222222222222222222222222222222222222222","tokenId":"1","name":"Brass Compass"}]}"#),
        Route::new(
            place("PutBalances"),
            SecretToken,
            "Puts what accounts hold of tokens. A bad record spoils no other.",
            i::put_balances::handle,
        )
        .example(r#"{"chainId":"amoy","balances":[{"contractAddress":"0x2222222222222222222222222222222222222222","tokenId":"1","account":"0x1111111111111111111111111111111111111111","balance":"1"}]}"#),
        Route::new(
            place("PutCurrencies"),
            SecretToken,
            "Puts currencies and their rates. A bad record spoils no other.",
            i::put_currencies::handle,
        )
        .example(r#"{"chainId":"amoy","currencies":[{"contractAddress":"0x3333333333333333333333333333333333333333","name":"Shells","symbol":"SHL","decimals":18,"exchangeRate":"0.24"}]}"#),
        Route::new(
            place("PutOrders"),
            SecretToken,
            "Puts listings and offers, each whole. A bad record spoils no other.",
            i::put_orders::handle,
        )
        .example(r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x2222222222222222222222222222222222222222","marketplace":"opensea","orderId":"77","side":"listing","tokenId":"1","createdBy":"0x1111111111111111111111111111111111111111","priceAmount":"2500000000000000000","priceCurrencyAddress":"0x0000000000000000000000000000000000000000","validUntil":"2099-01-01T00:00:00Z"}]}"#),
        Route::new(
            place("CancelOrders"),
            SecretToken,
            "Marks orders as cancelled by their makers. One that is over stays as it is.",
            i::cancel_orders::handle,
        )
        .example(r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x2222222222222222222222222222222222222222","marketplace":"opensea","orderId":"77"}]}"#),
        Route::new(
            place("InvalidateOrders"),
            SecretToken,
            "Marks orders that are shown but cannot be filled as inactive. One that is over stays as it is.",
            i::invalidate_orders::handle,
        )
        .example(r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x2222222222222222222222222222222222222222","marketplace":"opensea","orderId":"77"}],"reason":"the maker moved the token"}"#),
    ]
}

/// An operation with its metrics.
pub(crate) struct Registered {
    route: Route,
    pub(crate) metrics: OperationMetrics,
}

impl Deref for Registered {
    type Target = Route;

    fn deref(&self) -> &Route {
        &self.route
    }
}

/// The operations by service and name.
pub(crate) struct Routes(HashMap<&'static str, HashMap<&'static str, Arc<Registered>>>);

impl Routes {
    pub(crate) fn new(metrics: &Metrics) -> Self {
        let mut routes: HashMap<_, HashMap<_, _>> = HashMap::new();
        for route in operations() {
            let metrics = metrics.operation(route.service.short(), route.name);
            let (service, name) = (route.service.name(), route.name);
            routes.entry(service).or_default().insert(name, Arc::new(Registered { route, metrics }));
        }
        Self(routes)
    }

    pub(crate) fn find(&self, service: &str, operation: &str) -> Option<Arc<Registered>> {
        self.0.get(service)?.get(operation).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::State;

    #[test]
    fn every_operation_of_the_interface_is_routed_once() {
        let mut names: Vec<String> = operations().iter().map(Route::path).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        let interface = [
            "Metadata/TokenCollectionFilters",
            "Metadata/SearchTokenMetadata",
            "Metadata/GetTokenMetadataBatch",
            "Metadata/GetContractInfoBatch",
            "Collections/GetToken",
            "Marketplace/ListCollectibles",
            "Marketplace/GetCountOfFilteredCollectibles",
            "Marketplace/GetFloorOrder",
            "Marketplace/ListListingsForCollectible",
            "Marketplace/GetHighestPriceListingForCollectible",
            "Marketplace/GenerateBuyTransaction",
            "Builder/GetAudience",
            "Analytics/ComputeByService",
            "Analytics/WalletsMonthly",
            "Analytics/WalletsDaily",
            "Analytics/WalletsTxnSentDaily",
            "Analytics/MarketWalletsDaily",
            "Analytics/MarketWalletsMonthly",
            "Analytics/D7RetentionByCohort",
            "Analytics/D1RetentionByCohort",
            "Analytics/TotalNewWallets",
        ];
        for name in interface {
            assert!(names.contains(&format!("/rpc/{name}")), "{name}");
        }
    }

    #[test]
    fn the_readme_tells_the_state_of_every_operation() {
        let readme = include_str!("../../../README.md");
        for route in operations() {
            let state = match route.state {
                State::Ready => "yes",
                State::Planned => "not yet",
            };
            let row = format!("| {}/{} | {state} |", route.service.name(), route.name);
            assert!(readme.contains(&row), "README.md lacks the row {row}");
        }
    }
}
