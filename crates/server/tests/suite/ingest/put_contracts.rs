//! Contracts that are put can be read back at once.

use serde_json::json;

use super::{put, taken};
use crate::support::seed::{RELICS, UNKNOWN};
use crate::support::{START, TestApp};

#[tokio::test]
async fn contracts_are_served_as_soon_as_they_are_put() {
    let app = TestApp::start().await;
    let contract = json!({ "chainId": 137, "address": RELICS, "contractType": "ERC721", "name": "Relics",
        "extensions": { "verified": true } });
    let other = json!({ "chainId": 137, "address": UNKNOWN, "contractType": "ERC20", "decimals": 6,
        "updatedAt": "2024-01-01T00:00:00Z" });
    let answer = put(&app, "PutContracts", json!({ "contracts": [contract, other] })).await;
    assert_eq!(answer, taken(2, 2));
    let body = json!({ "chainID": "137", "contractAddresses": [RELICS, UNKNOWN] });
    let infos = app.project_a.call("Metadata/GetContractInfoBatch", body).await.ok();
    let info = &infos["contractInfoMap"][RELICS];
    assert_eq!(
        (&info["type"], &info["name"], &info["updatedAt"]),
        (&json!("ERC721"), &json!("Relics"), &json!(START))
    );
    assert_eq!(info["extensions"]["originAddress"], RELICS);
    let info = &infos["contractInfoMap"][UNKNOWN];
    assert_eq!((&info["decimals"], &info["updatedAt"]), (&json!(6), &json!("2024-01-01T00:00:00Z")));
}
