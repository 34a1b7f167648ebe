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

/// What is read of a contract can be put again, under the names that it is read with.
#[tokio::test]
async fn what_is_read_of_a_contract_can_be_put() {
    let app = TestApp::start().await;
    let contract = json!({ "chainId": 137, "address": RELICS, "contractType": "ERC1155", "name": "Relics",
        "symbol": "R", "extensions": { "verified": true, "link": "https://relics.example" } });
    assert_eq!(put(&app, "PutContracts", json!({ "contracts": [contract] })).await, taken(1, 1));
    let read = async || {
        let body = json!({ "chainID": "137", "contractAddresses": [RELICS] });
        let infos = app.project_a.call("Metadata/GetContractInfoBatch", body).await.ok();
        infos["contractInfoMap"][RELICS].clone()
    };
    let before = read().await;
    assert_eq!(before["type"], "ERC1155");
    assert_eq!(put(&app, "PutContracts", json!({ "contracts": [before] })).await, taken(1, 0));
    assert_eq!(read().await, before);
}
