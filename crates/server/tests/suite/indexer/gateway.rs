//! The same on several chains at once.

use serde_json::{Value, json};

use super::{ANNA, ELSEWHERE, MASKS, held, hold, row, rows};
use crate::support::TestApp;
use crate::support::seed::RELICS;
use crate::support::transcript::Transcript;

const BALANCES: &str = "IndexerGateway/GetTokenBalances";

#[tokio::test]
async fn on_two_chains() {
    let app = held().await;
    let (mut said, a) = (Transcript::default(), &app.project_a);
    let of = |more: Value| {
        let mut body = json!({ "chainIds": [137, 80002], "omitMetadata": true });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    said.call(a, BALANCES, of(json!({ "accountAddress": ANNA }))).await;
    let filter = json!({ "contractAddresses": [ELSEWHERE], "accountAddresses": [ANNA] });
    said.call(a, "IndexerGateway/GetTokenBalancesByContract", of(json!({ "filter": filter }))).await;
    let filter = json!({ "accountAddresses": [ANNA], "contractStatus": "ALL" });
    said.call(
        a,
        "IndexerGateway/GetTokenBalancesDetails",
        of(json!({ "filter": filter, "page": { "pageSize": 1 } })),
    )
    .await;
    said.call(a, "IndexerGateway/GetTokenBalancesSummary", of(json!({ "filter": filter }))).await;
    said.call(a, "IndexerGateway/GetNativeTokenBalance", of(json!({ "accountAddress": ANNA }))).await;
    said.call(a, "IndexerGateway/GetChains", json!({})).await;
    let version = said.call(a, "IndexerGateway/Version", json!({})).await;
    said.call(a, "IndexerGateway/RuntimeStatus", json!({})).await;
    let hash = version["version"]["schemaHash"].as_str().unwrap();
    insta::assert_snapshot!(said.text().replace(hash, "…").replace(env!("CARGO_PKG_VERSION"), "(version)"));
}

/// A page is of so many rows on each chain, and goes on where there are more.
#[tokio::test]
async fn page_by_page() {
    let app = held().await;
    let mut body =
        json!({ "networks": ["polygon", "amoy"], "accountAddress": ANNA, "includeCollectionTokens": true });
    let mut all = vec![
        row(RELICS, "1", "7"),
        row(RELICS, "2", "1"),
        row(RELICS, "10", "5"),
        row(MASKS, "4", "1"),
        row(ELSEWHERE, "1", "2"),
        row(ELSEWHERE, "2", "2"),
    ];
    all.sort();
    for size in 1..6 {
        let mut found = Vec::new();
        body["page"] = json!({ "pageSize": size });
        loop {
            let answer = app.project_a.call(BALANCES, body.clone()).await.ok();
            for chain in answer["balances"].as_array().unwrap() {
                found.extend(rows(&chain["results"]));
            }
            if answer["page"]["more"] == false {
                break;
            }
            body["page"] = answer["page"].clone();
        }
        found.sort();
        assert_eq!(found, all, "{size}");
    }
}

#[tokio::test]
async fn which_chains() {
    let app = TestApp::start().await;
    hold(&app, 137, RELICS, &[("1", ANNA, "7")]).await;
    let chains = async |body: Value| {
        let mut body = body;
        body["accountAddress"] = json!(ANNA);
        let answer = app.project_a.call(BALANCES, body).await.ok();
        let chains = answer["balances"].as_array().unwrap();
        chains.iter().map(|chain| chain["chainId"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(
        chains(json!({ "chainIds": [137, "polygon", "1"], "networks": ["mainnet", "base"] })).await,
        [137, 1, 8453]
    );
    // None is named by the settings.
    assert_eq!(chains(json!({})).await, [0; 0]);
    let many: Vec<u64> = (1..18).collect();
    let answer = app.project_a.call(BALANCES, json!({ "chainIds": many, "accountAddress": ANNA })).await;
    assert_eq!(answer.refusal(), (400, 2001));
    let answer =
        app.project_a.call(BALANCES, json!({ "networks": ["no such"], "accountAddress": ANNA })).await;
    assert_eq!(answer.refusal(), (400, 2001));
}

/// Who names no chain is answered for as many as one request may be about.
#[tokio::test]
async fn many_networks() {
    let names: Vec<String> = (1..=20).map(|number| format!("networks.net-{number:02}.id")).collect();
    let ids: Vec<String> = (1..=20).map(|number| (900_000 + number).to_string()).collect();
    let settings: Vec<(&'static str, &str)> =
        names.iter().zip(&ids).map(|(name, id)| (&*name.clone().leak(), id.as_str())).collect();
    let app = TestApp::with(&settings).await;
    let answer = app.project_a.call(BALANCES, json!({ "accountAddress": ANNA })).await.ok();
    let found: Vec<u64> = answer["balances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chain| chain["chainId"].as_u64().unwrap())
        .collect();
    assert_eq!(found, (900_001..=900_016).collect::<Vec<u64>>());
}
