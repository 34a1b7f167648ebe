//! Collectibles, the orders of one of them, and searches within a collection.

use serde_json::{Value, json};

use crate::marketplace::{listing, market, offer, orders};
use crate::support::TestApp;
use crate::support::seed::{RELICS, token_of};
use crate::support::transcript::Transcript;

/// Token 1 with a listing and an offer, token 2 with neither.
async fn two() -> TestApp {
    let token = |id: &str, name: &str, level: u64| {
        token_of(
            json!({ "tokenId": id, "name": name, "attributes": [{ "level": level }, { "Metal": "Tin" }] }),
        )
    };
    let mut changes = orders([listing("77", 1, 5_000), offer("0xab", 1, 3_000)]);
    changes.extend([token("1", "Brass Compass", 3), token("2", "Tin Whistle", 9)]);
    market(changes).await
}

async fn transcript(operations: &[&str], members: Value) -> String {
    let app = two().await;
    let mut said = Transcript::default();
    let Value::Object(mut body) = members else { panic!("{members} is no object") };
    body.insert("chainId".to_owned(), json!("137"));
    body.insert("contractAddress".to_owned(), json!(RELICS));
    for operation in operations {
        said.call(&app.project_a, operation, Value::Object(body.clone())).await;
    }
    said.text()
}

#[tokio::test]
async fn collectibles() {
    let operations = [
        "Marketplace/ListCollectibles",
        "Marketplace/ListCollectiblesWithLowestListing",
        "Marketplace/ListCollectiblesWithHighestOffer",
        "Marketplace/GetCountOfFilteredCollectibles",
        "Marketplace/GetFloorOrder",
    ];
    let members = json!({ "side": "unknown", "filter": { "includeEmpty": true }, "page": { "pageSize": 1 } });
    insta::assert_snapshot!(transcript(&operations, members).await);
}

#[tokio::test]
async fn listings_of_one() {
    let operations = [
        "Marketplace/ListListingsForCollectible",
        "Marketplace/ListCollectibleListings",
        "Marketplace/GetHighestPriceListingForCollectible",
        "Marketplace/GetCollectibleHighestListing",
        "Marketplace/GetLowestPriceListingForCollectible",
        "Marketplace/GetCollectibleLowestListing",
        "Marketplace/GetCountOfListingsForCollectible",
    ];
    insta::assert_snapshot!(transcript(&operations, json!({ "tokenId": "1" })).await);
}

#[tokio::test]
async fn offers_for_one() {
    let operations = [
        "Marketplace/ListOffersForCollectible",
        "Marketplace/ListCollectibleOffers",
        "Marketplace/GetHighestPriceOfferForCollectible",
        "Marketplace/GetCollectibleHighestOffer",
        "Marketplace/GetLowestPriceOfferForCollectible",
        "Marketplace/GetCollectibleLowestOffer",
        "Marketplace/GetCountOfOffersForCollectible",
    ];
    insta::assert_snapshot!(transcript(&operations, json!({ "tokenId": "1" })).await);
}

#[tokio::test]
async fn searches() {
    let operations = [
        "Metadata/SearchTokenMetadata",
        "Metadata/SearchTokenIDs",
        "Metadata/TokenCollectionFilters",
        "Metadata/GetTokenMetadataPropertyFilters",
    ];
    let level = json!({ "name": "level", "type": "INT", "min": 4 });
    let members = json!({ "filter": { "text": "tin", "properties": [level] }, "includeCounts": true });
    insta::assert_snapshot!(transcript(&operations, members).await);
}
