//! The table of operations. Everything that has a list of operations derives it from here.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::metrics::{Metrics, OperationMetrics};
use crate::route::Credential::{AccessKey, SecretToken};
use crate::route::Service::{Analytics, Builder, Collections, Marketplace, Metadata};
use crate::route::{Route, Service};
use crate::rpc::{builder, collections, metadata};

/// Every operation.
pub fn operations() -> Vec<Route> {
    let mut operations: Vec<Route> = Service::ALL.into_iter().map(Route::ping).collect();
    operations.extend(metadata_operations());
    operations.extend(collections_operations());
    operations.extend(contract_link_operations());
    operations.extend(token_operations());
    operations.extend(asset_operations());
    operations.extend(marketplace_operations());
    operations.extend(builder_operations());
    operations.extend(analytics_operations());
    operations
}

fn metadata_operations() -> Vec<Route> {
    use metadata::{
        get_contract_info, get_contract_info_batch, get_token_metadata, get_token_metadata_batch,
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
        Route::planned(
            (Metadata, "TokenCollectionFilters"),
            AccessKey,
            "The property filters of a collection.",
        ),
        Route::planned(
            (Metadata, "SearchTokenMetadata"),
            AccessKey,
            "Tokens of a collection by text and properties.",
        ),
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
    let planned = |name, summary| Route::planned((Marketplace, name), AccessKey, summary);
    vec![
        planned("ListCollectibles", "Collectibles with their best order, listing and offer."),
        planned("GetCountOfFilteredCollectibles", "How many collectibles match a filter."),
        planned("GetFloorOrder", "The cheapest listing of a collection."),
        planned("ListListingsForCollectible", "The listings of one collectible."),
        planned("GetHighestPriceListingForCollectible", "The dearest listing of one collectible."),
        planned("GenerateBuyTransaction", "The steps to buy collectibles."),
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
