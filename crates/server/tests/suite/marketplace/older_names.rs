//! Older names of operations answer like the newer ones.

use serde_json::{Value, json};

use super::{ask, listing, market, offer, orders, token};
use crate::support::TestApp;

async fn some() -> TestApp {
    let mut changes = orders([
        listing("a", 1, 5),
        listing("b", 1, 6),
        offer("c", 1, 3),
        offer("d", 1, 4),
        listing("e", 2, 1),
    ]);
    changes.push(token(3, "Axe"));
    market(changes).await
}

#[tokio::test]
async fn older_names() {
    let app = some().await;
    for (name, twin) in [
        ("ListListingsForCollectible", "ListCollectibleListings"),
        ("ListOffersForCollectible", "ListCollectibleOffers"),
        ("GetHighestPriceListingForCollectible", "GetCollectibleHighestListing"),
        ("GetLowestPriceListingForCollectible", "GetCollectibleLowestListing"),
        ("GetHighestPriceOfferForCollectible", "GetCollectibleHighestOffer"),
        ("GetLowestPriceOfferForCollectible", "GetCollectibleLowestOffer"),
    ] {
        for token in ["1", "3"] {
            let body = json!({ "tokenId": token, "page": { "pageSize": 1 } });
            let answer = ask(&app, &format!("Marketplace/{name}"), body.clone()).await.ok();
            assert_eq!(ask(&app, &format!("Marketplace/{twin}"), body).await.ok(), answer, "{twin}");
            let found = answer["order"].is_object() || answer["page"]["more"] == true;
            assert_eq!(found, token == "1", "{name}");
        }
    }
}

#[tokio::test]
async fn names_that_say_the_side() {
    let app = some().await;
    for (name, side) in
        [("ListCollectiblesWithLowestListing", "listing"), ("ListCollectiblesWithHighestOffer", "offer")]
    {
        for (filter, page) in
            [(Value::Null, Value::Null), (json!({ "includeEmpty": true }), json!({ "pageSize": 2 }))]
        {
            let body = json!({ "filter": filter, "page": page });
            let answer = ask(&app, &format!("Marketplace/{name}"), body.clone()).await.ok();
            let with_side = super::with(body, json!({ "side": side }));
            assert_eq!(ask(&app, "Marketplace/ListCollectibles", with_side).await.ok(), answer, "{name}");
        }
        // A side in the body does not change what the name says.
        let other = if side == "offer" { "listing" } else { "offer" };
        let answer = ask(&app, &format!("Marketplace/{name}"), json!({ "side": other })).await.ok();
        assert_eq!(answer["collectibles"][0]["order"]["side"], side);
    }
}
