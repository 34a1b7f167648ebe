//! What nobody ever said anything of.

use serde_json::{Value, json};

use super::{listing, market, orders};
use crate::support::seed::{RELICS, UNKNOWN};

const LISTS: [(&str, &str); 8] = [
    ("Marketplace/ListCollectibles", "collectibles"),
    ("Marketplace/ListCollectiblesWithLowestListing", "collectibles"),
    ("Marketplace/ListCollectiblesWithHighestOffer", "collectibles"),
    ("Marketplace/ListListingsForCollectible", "listings"),
    ("Marketplace/ListOffersForCollectible", "offers"),
    ("Metadata/SearchTokenMetadata", "tokenMetadata"),
    ("Metadata/SearchTokenIDs", "tokenIds"),
    ("Metadata/TokenCollectionFilters", "filters"),
];
const COUNTS: [&str; 3] = [
    "Marketplace/GetCountOfFilteredCollectibles",
    "Marketplace/GetCountOfListingsForCollectible",
    "Marketplace/GetCountOfOffersForCollectible",
];
const BEST: [&str; 4] = [
    "Marketplace/GetHighestPriceListingForCollectible",
    "Marketplace/GetLowestPriceListingForCollectible",
    "Marketplace/GetHighestPriceOfferForCollectible",
    "Marketplace/GetLowestPriceOfferForCollectible",
];

fn body(chain: &Value, contract: &str, token: &str) -> Value {
    json!({ "chainId": chain, "contractAddress": contract, "tokenId": token, "filter": {} })
}

#[tokio::test]
async fn an_unknown_contract_is_empty_and_no_error() {
    let app = market(orders([listing("a", 1, 5)])).await;
    for (chain, contract) in [(json!(137), UNKNOWN), (json!("mainnet"), RELICS), (json!(31_337), RELICS)] {
        let body = body(&chain, contract, "1");
        for (operation, member) in LISTS {
            let answer = app.project_a.call(operation, body.clone()).await.ok();
            assert_eq!(answer[member], json!([]), "{operation}");
            if member != "filters" {
                assert_eq!((&answer["page"]["page"], &answer["page"]["more"]), (&json!(1), &json!(false)));
            }
        }
        for operation in COUNTS {
            assert_eq!(app.project_a.call(operation, body.clone()).await.ok(), json!({ "count": 0 }));
        }
        for operation in BEST {
            assert_eq!(app.project_a.call(operation, body.clone()).await.ok(), json!({ "order": null }));
        }
        let floor = app.project_a.call("Marketplace/GetFloorOrder", body).await;
        assert_eq!((floor.refusal(), &floor.json["error"]), ((400, 2000), &json!("NotFound")));
    }
}

#[tokio::test]
async fn an_unknown_token_has_no_orders() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let largest = bourse_wire::TokenId::MAX.to_string();
    for token in ["2", &largest] {
        let body = body(&json!(137), RELICS, token);
        let answer = app.project_a.call("Marketplace/ListListingsForCollectible", body.clone()).await.ok();
        assert_eq!(answer["listings"], json!([]));
        let answer = app.project_a.call(BEST[0], body).await.ok();
        assert_eq!(answer, json!({ "order": null }));
    }
}

#[tokio::test]
async fn an_unknown_network_is_an_error_of_its_own() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let operations = LISTS.iter().map(|(operation, _)| *operation).chain(COUNTS).chain(BEST);
    for operation in operations.chain(["Marketplace/GetFloorOrder"]) {
        let refused = app.project_a.call(operation, body(&json!("atlantis"), RELICS, "1")).await;
        // The client of the marketplace has no word of its own for it.
        let word = if operation.starts_with("Marketplace/") {
            (2001, "InvalidArgument")
        } else {
            (3003, "ChainNotFound")
        };
        assert_eq!(refused.refusal(), (400, word.0), "{operation}");
        assert_eq!(refused.json["error"], word.1, "{operation}");
    }
}

#[tokio::test]
async fn a_number_of_a_chain_of_which_nothing_is_known_is_refused_by_name() {
    let app = market(orders([listing("a", 1, 5)])).await;
    for chain in [json!("987654321"), json!(987_654_321), json!("0x3ade68b1")] {
        let operations = LISTS.iter().map(|(operation, _)| *operation).chain(COUNTS).chain(BEST);
        for operation in operations.chain(["Marketplace/GetFloorOrder", "Marketplace/ListCurrencies"]) {
            let refused = app.project_a.call(operation, body(&chain, RELICS, "1")).await;
            assert_eq!(refused.status, 400, "{operation} {chain}");
            let said = refused.json["msg"].as_str().unwrap();
            assert_eq!(said, "nothing is known of a chain with the number 987654321", "{operation}");
        }
        for (operation, wanted) in [
            ("Metadata/GetTokenMetadata", json!({ "contractAddress": RELICS, "tokenIDs": ["1"] })),
            ("Metadata/GetTokenMetadataBatch", json!({ "contractTokenMap": { RELICS: ["1"] } })),
            ("Metadata/GetContractInfo", json!({ "contractAddress": RELICS })),
            ("Metadata/GetContractInfoBatch", json!({ "contractAddresses": [RELICS] })),
        ] {
            let mut wanted = wanted;
            wanted["chainID"] = chain.clone();
            assert_eq!(app.project_a.call(operation, wanted).await.refusal(), (400, 3003), "{operation}");
        }
    }
    // Whoever says something of it makes it known.
    let token = json!([{ "contractAddress": RELICS, "tokenId": "1", "name": "One" }]);
    let put = json!({ "chainId": 987_654_321, "tokens": token });
    assert_eq!(app.project_a.call("Ingest/PutTokens", put).await.ok()["rejected"], json!([]));
    let other = body(&json!(987_654_321), UNKNOWN, "1");
    assert_eq!(app.project_a.call(LISTS[0].0, other).await.ok()["collectibles"], json!([]));
}
