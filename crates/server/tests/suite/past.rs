//! Databases of schemas of the past, brought up to date and served: what was in them is what is answered.

use bourse_server::auth::TokenSigner;
use bourse_store::Migration;
use bourse_store::testing::{PAST_KEY, TestDatabase};
use serde_json::{Value, json};

use crate::support::actor::Actor;
use crate::support::project::create_token;
use crate::support::seed::RELICS;
use crate::support::{SECRET, TestApp};

/// The first schema; the first that had counted events, chains, and signed orders; and today's. The rows of all others
/// are compared in `crates/store/tests/upgrade.rs`.
const SCHEMAS: [i64; 4] = [1, 3, 4, 10];

/// The collection that a chain states.
const MINTED: &str = "0x00000000000000000000000000000000000000c2";

const WALLET: &str = "0x00000000000000000000000000000000000000a1";

/// What every schema's database is asked.
async fn answers(key: &Actor, token: &Actor) -> Value {
    let collection = |members: Value| {
        let Value::Object(mut body) = members else { panic!("{members} is no object") };
        body.insert("chainId".to_owned(), json!(137));
        body.insert("contractAddress".to_owned(), json!(RELICS));
        Value::Object(body)
    };
    let days = json!({ "filter": { "startDate": "2025-03-10", "endDate": "2025-03-11" } });
    let tokens = json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": [1, 2] });
    json!({
        "tokens": key.call("Metadata/GetTokenMetadata", tokens).await.ok(),
        "listed": key.call("Marketplace/ListCollectibles", collection(json!({ "side": "listing" }))).await.ok(),
        "floor": key.call("Marketplace/GetFloorOrder", collection(json!({}))).await.ok(),
        "audiences": token.call("Builder/ListAudiences", json!({})).await.ok(),
        "hosted": token.call("Collections/ListCollections", json!({})).await.ok(),
        "wallets": token.call("Analytics/WalletsDaily", days).await.ok(),
    })
}

#[tokio::test]
async fn a_service_answers_with_what_a_database_of_the_past_holds() {
    let mut first: Option<Value> = None;
    for schema in SCHEMAS.into_iter().chain([Migration::newest()]) {
        let app = TestApp::upgraded(TestDatabase::of_schema(schema).await.unwrap()).await;
        let key = app.anonymous.with("x-access-key", PAST_KEY);
        let (_, token) = create_token(&app.store, 1.try_into().unwrap(), None).await;
        let token = app.anonymous.with("authorization", &format!("Bearer {token}"));
        // An event that comes again is known, also where it was kept before events were counted.
        let event = json!({ "id": "e1", "wallet": WALLET, "kind": "session", "at": "2025-03-10T10:00:00Z" });
        let batch = json!({ "batchId": "again", "events": [event] });
        let tracked = token.call("Ingest/TrackEvents", batch).await.ok();
        assert_eq!(tracked["accepted"], 0, "schema {schema}: {tracked}");
        let said = answers(&key, &token).await;
        assert_eq!(said["tokens"]["tokenMetadata"][1]["name"], "Silver relic", "schema {schema}");
        assert_eq!(said["floor"]["collectible"]["listing"]["orderId"], "listing", "schema {schema}");
        assert_eq!(said["audiences"]["audiences"][0]["name"], "Guests", "schema {schema}");
        let first = first.get_or_insert(said.clone());
        for (asked, answer) in said.as_object().unwrap() {
            assert_eq!(first[asked], *answer, "{asked} of schema {schema}");
        }
        // What was loaded is what is stored, by the digests of both.
        let operator = TokenSigner::new(SECRET.as_bytes()).issue_operator(app.now()).unwrap();
        let operator = app.anonymous.with("authorization", &format!("Bearer {operator}"));
        let minted = json!({ "chainID": 137, "contractAddress": MINTED, "tokenIDs": [5] });
        assert_eq!(key.call("Metadata/GetTokenMetadata", minted).await.status, 200);
        for contract in [RELICS, MINTED] {
            let verdict = operator.post(&format!("/self-check/137/{contract}"), "").await.ok();
            assert_eq!(verdict["outcome"], "equal", "schema {schema}: {verdict}");
        }
    }
}
