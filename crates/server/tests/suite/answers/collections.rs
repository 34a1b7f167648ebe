//! Hosted collections: the life of each kind of record, from made to gone.

use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::{self, RELICS, RELICS_MIXED, UNKNOWN};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn collections() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    said.call(a, "Collections/ListCollections", json!({})).await;
    let metadata = json!({
        "name": "Relics", "description": "Old things", "image": "https://a.example/c.png",
        "externalLink": "https://a.example", "properties": { "era": "bronze", "year": -1200 },
        "attributes": [{ "origin": "sea" }],
    });
    let body = json!({ "projectId": a.id, "collection": { "metadata": metadata, "private": false } });
    said.call(a, "Collections/CreateCollection", body).await;
    let body = json!({ "collection": { "metadata": { "name": "Plain" } } });
    said.call(a, "Collections/CreateCollection", body).await;
    said.call(a, "Collections/GetCollection", json!({ "collectionId": 2 })).await;
    said.call(a, "Collections/ListCollections", json!({ "page": { "pageSize": 1 } })).await;
    let page = json!({ "page": 1, "pageSize": 1, "after": "2" });
    said.call(a, "Collections/ListCollections", json!({ "page": page })).await;
    app.clock.advance(60);
    let change =
        json!({ "id": 1, "metadata": { "description": "", "properties": {}, "external_link": null } });
    said.call(a, "Collections/UpdateCollection", json!({ "collection": change })).await;
    app.clock.advance(60);
    said.call(a, "Collections/PublishCollection", json!({ "collectionId": 2, "recursive": true })).await;
    said.call(a, "Collections/UnpublishCollection", json!({ "collectionId": 2 })).await;
    said.call(a, "Collections/DeleteCollection", json!({ "collectionId": 2 })).await;
    said.call(a, "Collections/DeleteCollection", json!({ "collectionId": 2 })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn tokens() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    a.call("Collections/CreateCollection", json!({ "collection": { "metadata": { "name": "Relics" } } }))
        .await
        .ok();
    let token = json!({
        "tokenId": "10", "name": "Ten", "description": "d", "image": "https://a.example/i", "video": "https://a.example/v",
        "audio": "https://a.example/a", "properties": { "power": 0.5, "level": 7 }, "attributes": [{ "rarity": "rare" }],
        "image_data": "<svg/>", "external_url": "https://a.example/e", "background_color": "00ff00",
        "animation_url": "https://a.example/g", "decimals": 18, "updatedAt": "2001-01-01T00:00:00Z",
    });
    let token = json!({ "projectId": 1, "collectionId": 1, "token": token, "private": true });
    said.call(a, "Collections/CreateToken", token).await;
    said.call(a, "Collections/CreateToken", json!({ "collectionId": 1, "token": { "tokenId": 9 } })).await;
    said.call(a, "Collections/GetToken", json!({ "projectId": 1, "collectionId": 1, "tokenId": "9" })).await;
    said.call(a, "Collections/ListTokens", json!({ "collectionId": 1, "page": { "pageSize": 1 } })).await;
    said.call(
        a,
        "Collections/ListTokens",
        json!({ "collectionId": 1, "page": { "page": 3, "pageSize": 1 } }),
    )
    .await;
    app.clock.advance(60);
    let change = json!({ "name": "Nine", "attributes": [{ "rarity": "common" }] });
    let change = json!({ "collectionId": 1, "tokenId": "9", "token": change, "private": true });
    said.call(a, "Collections/UpdateToken", change).await;
    said.call(a, "Collections/GetCollection", json!({ "collectionId": 1 })).await;
    said.call(a, "Collections/DeleteToken", json!({ "collectionId": 1, "tokenId": "9" })).await;
    said.call(a, "Collections/GetToken", json!({ "collectionId": 1, "tokenId": "9" })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn assets() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    seed::belongings(&app.store, a, "Relics", true).await;
    said.call(a, "Collections/CreateAsset", json!({ "asset": { "collectionId": 1 } })).await;
    let asset = json!({ "collectionId": 1, "tokenId": "1", "metadataField": "video", "name": "film.mp4" });
    said.call(a, "Collections/CreateAsset", json!({ "asset": asset })).await;
    said.call(a, "Collections/GetAsset", json!({ "assetId": 1 })).await;
    said.call(a, "Collections/GetToken", json!({ "collectionId": 1, "tokenId": 1 })).await;
    app.clock.advance(60);
    let asset = json!({ "id": 2, "metadataField": "animation_url", "filename": "scene.glb", "filesize": 5 });
    said.call(a, "Collections/UpdateAsset", json!({ "asset": asset })).await;
    said.call(a, "Collections/DeleteAsset", json!({ "assetId": 2 })).await;
    said.call(a, "Collections/GetAsset", json!({ "assetId": 2 })).await;
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn contract_links() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    for name in ["Relics", "Others"] {
        let body = json!({ "collection": { "metadata": { "name": name } } });
        a.call("Collections/CreateCollection", body).await.ok();
    }
    let link = |contract: &str, collection: u64| {
        let link = json!({ "chainId": "polygon", "contractAddress": contract, "collectionId": collection });
        json!({ "contractCollection": link })
    };
    said.call(a, "Collections/CreateContractCollection", link(RELICS_MIXED, 1)).await;
    said.call(a, "Collections/CreateContractCollection", link(UNKNOWN, 1)).await;
    said.call(a, "Collections/CreateContractCollection", link(RELICS, 2)).await;
    let contract = json!({ "chainId": 137, "contractAddress": RELICS });
    said.call(a, "Collections/GetContractCollection", contract.clone()).await;
    said.call(a, "Collections/UpdateContractCollection", link(RELICS, 2)).await;
    let body = json!({ "collectionId": 1, "page": { "page": 0 } });
    said.call(a, "Collections/ListContractCollections", body).await;
    said.call(a, "Collections/ListContractCollections", json!({ "page": { "pageSize": 1 } })).await;
    said.call(a, "Collections/DeleteContractCollection", contract.clone()).await;
    said.call(a, "Collections/GetContractCollection", contract).await;
    insta::assert_snapshot!(said.text());
}
