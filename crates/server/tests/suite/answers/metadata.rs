//! Token and contract metadata.

use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::{self, RELICS, RELICS_MIXED, UNKNOWN};
use crate::support::transcript::Transcript;

const LARGEST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

#[tokio::test]
async fn tokens() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let contracts = json!({ RELICS_MIXED: ["1", LARGEST, "404"], UNKNOWN: ["1"], RELICS: [] });
    let body = json!({ "chainID": "137", "contractTokenMap": contracts });
    said.call(a, "Metadata/GetTokenMetadataBatch", body).await;
    said.call(a, "Metadata/GetTokenMetadataBatch", json!({ "chainID": "137", "contractTokenMap": {} })).await;
    let body =
        json!({ "chainID": "polygon", "contractAddress": RELICS, "tokenIDs": [LARGEST, 1, "404", "1"] });
    said.call(a, "Metadata/GetTokenMetadata", body).await;
    let body = json!({ "chainID": 137, "contractAddress": UNKNOWN, "tokenIDs": ["1"] });
    said.call(a, "Metadata/GetTokenMetadata", body).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn contracts() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    seed::tokens(&app.store, UNKNOWN, 1..2, "of a contract without information").await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let body = json!({ "chainID": "137", "contractAddresses": [RELICS, RELICS_MIXED, UNKNOWN, RELICS] });
    said.call(a, "Metadata/GetContractInfoBatch", body).await;
    said.call(a, "Metadata/GetContractInfoBatch", json!({ "chainID": "137", "contractAddresses": [] })).await;
    let body = json!({ "chainID": "137", "contractAddress": RELICS_MIXED });
    said.call(a, "Metadata/GetContractInfo", body).await;
    let body = json!({ "chainID": "137", "contractAddress": UNKNOWN });
    said.call(a, "Metadata/GetContractInfo", body).await;
    let body = json!({ "chainID": "1", "contractAddress": RELICS });
    said.call(a, "Metadata/GetContractInfo", body).await;
    insta::assert_snapshot!(said.text());
}
