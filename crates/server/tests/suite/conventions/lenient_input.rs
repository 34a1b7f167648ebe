//! Input as existing clients write it, and output as they read it.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::seed::{self, RELICS, RELICS_MIXED, UNKNOWN};

/// An application that knows one contract, and a way to ask for it.
async fn relics() -> TestApp {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    app
}

async fn ask(app: &TestApp, path: &str, body: Value) -> Answer {
    app.project_a.key.post(path, body.to_string()).await
}

const PATH: &str = "/rpc/Metadata/GetContractInfo";

#[tokio::test]
async fn names_in_any_case_nulls_and_unknown_members() {
    let app = relics().await;
    for body in [
        json!({ "chainID": "137", "contractAddress": RELICS }),
        json!({ "chainId": "137", "contractaddress": RELICS }),
        json!({ "chain_id": "137", "contract_address": RELICS }),
        json!({ "CHAINID": 137, "ContractAddress": RELICS_MIXED, "enabled": true, "query": { "a": [1] } }),
        json!({ "chainID": null, "chainId": "137", "contractAddress": RELICS, "page": null }),
    ] {
        assert_eq!(ask(&app, PATH, body.clone()).await.ok()["contractInfo"]["address"], RELICS, "{body}");
    }
    let null = ask(&app, PATH, json!({ "chainID": "137", "contractAddress": null })).await;
    assert_eq!((null.refusal(), &null.json["msg"]), ((400, 2001), &json!("contractAddress: is required")));
}

#[tokio::test]
async fn an_empty_body_is_an_empty_object() {
    let app = TestApp::start().await;
    for body in ["", " \r\n\t", "{}"] {
        let answer = app.project_a.key.post("/rpc/Builder/ListAudiences", body).await;
        assert_eq!(answer.ok(), json!({ "audiences": [] }), "{body:?}");
        let answer = app.project_a.token.post("/rpc/Collections/CreateToken", body).await;
        assert_eq!(answer.refusal(), (400, 2001), "{body:?}");
    }
}

#[tokio::test]
async fn a_chain_by_name_or_number_in_body_or_path() {
    let app = relics().await;
    for (path, chain) in [
        ("/rpc", json!("137")),
        ("/rpc", json!(137)),
        ("/rpc", json!("polygon")),
        ("/rpc", json!("Polygon")),
        ("/polygon/rpc", Value::Null),
        ("/137/rpc", Value::Null),
        ("/POLYGON/rpc", json!("137")),
        ("/137/rpc", json!("polygon")),
    ] {
        let path = format!("{path}/Metadata/GetContractInfo");
        let body = json!({ "chainID": chain, "contractAddress": RELICS });
        assert_eq!(
            ask(&app, &path, body.clone()).await.ok()["contractInfo"]["chainId"],
            137,
            "{path} {body}"
        );
    }
    for (path, chain, refusal) in [
        ("/rpc", Value::Null, (400, 2001)),
        ("/mainnet/rpc", json!("137"), (400, 2001)),
        ("/atlantis/rpc", json!("137"), (400, 3003)),
        ("/0/rpc", Value::Null, (400, 3003)),
        ("/rpc", json!("atlantis"), (400, 3003)),
        ("/rpc", json!(-1), (400, 3003)),
        ("/rpc", json!("99999999999999999999"), (400, 3003)),
        ("/rpc", json!(""), (400, 3003)),
        ("/rpc", json!("1"), (404, 3000)),
        ("/12345/rpc", Value::Null, (400, 3003)),
    ] {
        let path = format!("{path}/Metadata/GetContractInfo");
        let body = json!({ "chainID": chain, "contractAddress": RELICS });
        assert_eq!(ask(&app, &path, body.clone()).await.refusal(), refusal, "{path} {body}");
    }
}

#[tokio::test]
async fn the_only_configured_network_needs_no_name() {
    let app = TestApp::with(&[("networks.polygon.id", "137")]).await;
    seed::relics(&app.store).await;
    let answer = ask(&app, PATH, json!({ "contractAddress": RELICS })).await;
    assert_eq!(answer.ok()["contractInfo"]["chainId"], 137);
    let app = TestApp::with(&[("networks.polygon.id", "137"), ("networks.my-chain.id", "7")]).await;
    let answer = ask(&app, PATH, json!({ "contractAddress": RELICS })).await;
    assert_eq!(answer.refusal(), (400, 2001));
    let answer =
        ask(&app, "/My-Chain/rpc/Metadata/GetContractInfo", json!({ "contractAddress": RELICS })).await;
    assert_eq!(answer.refusal(), (404, 3000));
}

#[tokio::test]
async fn map_keys_come_back_as_they_were_sent() {
    let app = relics().await;
    let spellings = [RELICS.to_owned(), RELICS_MIXED.to_owned(), RELICS.to_uppercase()];
    let map: serde_json::Map<String, Value> =
        spellings.iter().map(|contract| (contract.clone(), json!(["1"]))).collect();
    let body = json!({ "chainID": "137", "contractTokenMap": map });
    let answer = ask(&app, "/rpc/Metadata/GetTokenMetadataBatch", body).await.ok();
    let keys: Vec<&String> = answer["contractTokenMetadata"].as_object().unwrap().keys().collect();
    assert_eq!(keys, spellings.iter().collect::<Vec<_>>());
    let body = json!({ "chainID": "137", "contractAddresses": spellings });
    let answer = ask(&app, "/rpc/Metadata/GetContractInfoBatch", body).await.ok();
    for contract in &spellings {
        assert_eq!(answer["contractInfoMap"][contract]["address"], RELICS, "{contract}");
    }
}

#[tokio::test]
async fn lists_without_anything_are_empty_and_never_null() {
    let app = TestApp::start().await;
    let metadata = json!({ "collection": { "metadata": { "name": "Relics" } } });
    app.project_a.call("Collections/CreateCollection", metadata).await.ok();
    app.project_a.call("Builder/CreateAudience", json!({ "name": "x" })).await.ok();
    let token = json!({ "collectionId": 1, "token": { "tokenId": "1" } });
    app.project_a.call("Collections/CreateToken", token).await.ok();
    let b = &app.project_b;
    for (answer, pointer) in [
        (
            app.project_a.call("Collections/GetCollection", json!({ "collectionId": 1 })).await,
            "/collection/assets",
        ),
        (
            app.project_a.call("Collections/GetToken", json!({ "collectionId": 1, "tokenId": 1 })).await,
            "/assets",
        ),
        (app.project_a.call("Builder/GetAudience", json!({ "audienceId": 1 })).await, "/contacts"),
        (app.project_a.call("Builder/GetAudience", json!({ "audienceId": 1 })).await, "/contracts"),
        (b.call("Builder/ListAudiences", json!({})).await, "/audiences"),
        (b.call("Collections/ListCollections", json!({})).await, "/collections"),
        (b.call("Collections/ListContractCollections", json!({})).await, "/contractCollections"),
        (b.call("Collections/ListContractCollections", json!({})).await, "/collections"),
    ] {
        assert_eq!(answer.ok().pointer(pointer), Some(&json!([])), "{pointer}");
    }
    let body = json!({ "chainID": "137", "contractAddress": UNKNOWN, "tokenIDs": [] });
    assert_eq!(ask(&app, "/rpc/Metadata/GetTokenMetadata", body).await.ok(), json!({ "tokenMetadata": [] }));
}

/// Whatever is written into free-form metadata comes back to the letter.
#[tokio::test]
async fn free_form_numbers_and_order_are_kept() {
    let app = TestApp::start().await;
    let metadata = json!({ "collection": { "metadata": { "name": "Relics" } } });
    app.project_a.call("Collections/CreateCollection", metadata).await.ok();
    let properties =
        r#"{"z":1.10,"a":123456789012345678901234567890.5,"e":1e+400,"":{"b":null,"a":[-1,0.0]}}"#;
    let body = format!(r#"{{"collectionId":1,"token":{{"tokenId":1,"properties":{properties}}}}}"#);
    let answer = app.project_a.token.post("/rpc/Collections/CreateToken", body).await;
    assert!(answer.text().contains(properties), "{}", answer.text());
    let answer =
        app.project_a.call("Collections/GetToken", json!({ "collectionId": 1, "tokenId": "1" })).await;
    assert!(answer.text().contains(properties), "{}", answer.text());
}
