//! What is in the store before a test begins.

use axum::http::StatusCode;
use bourse_store::testing::{batch, operator};
use bourse_store::{Change, CollectionKey, NewWebhook, Refresh, Store};
use bourse_wire::{ChainId, EventFilter, Timestamp, TokenMetadata};
use serde_json::{Value, json};

use super::body::{SVG, upload};
use super::project::Project;

/// A contract on Polygon that the store knows.
pub(crate) const RELICS: &str = "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712";
/// The same in the letter case of its checksum.
pub(crate) const RELICS_MIXED: &str = "0xfdB42A198a932C8D3B506Ffa5e855bC4b348a712";
/// A contract that it does not know.
pub(crate) const UNKNOWN: &str = "0x00000000000000000000000000000000000000aa";
pub(crate) const ACCOUNT: &str = "0x00000000000000000000000000000000000000c1";

pub(crate) fn key(contract: &str) -> CollectionKey {
    CollectionKey { chain: ChainId(137), address: contract.parse().unwrap() }
}

/// A token that has every member, and one that has none.
pub(crate) async fn relics(store: &Store) {
    let full = json!({
        "tokenId": "1", "name": "Bronze relic", "description": "An old thing", "image": "https://a.example/1.png",
        "video": "https://a.example/1.mp4", "audio": "https://a.example/1.mp3",
        "properties": { "power": 7, "weight": 1.50, "huge": 123_456_789_012_345_678_u64, "nested": { "a": [null, true] } },
        "attributes": [{ "rarity": "rare" }, { "trait_type": "metal", "value": "bronze" }],
        "imageData": "<svg/>", "externalUrl": "https://a.example/1", "backgroundColor": "ff0000",
        "animationUrl": "https://a.example/1.glb", "decimals": 2, "updatedAt": "2024-11-01T08:18:33.514523974Z",
    });
    let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let plain = json!({ "tokenId": largest, "name": "Plain relic" });
    let contract = contract_info(RELICS, "Relics").to_string();
    let changes = vec![Change::Contract(contract), token_of(full), token_of(plain)];
    store.commit(batch(key(RELICS), changes)).await.unwrap();
}

/// Tokens with these ids, all with this name.
pub(crate) async fn tokens(store: &Store, contract: &str, ids: impl Iterator<Item = u64>, name: &str) {
    let changes = ids.map(|id| token_of(json!({ "tokenId": id.to_string(), "name": name }))).collect();
    store.commit(batch(key(contract), changes)).await.unwrap();
}

pub(crate) fn token_of(members: Value) -> Change {
    let token: TokenMetadata = serde_json::from_value(members).unwrap();
    Change::Token { token_id: token.token_id, metadata: token.to_json().unwrap() }
}

pub(crate) fn contract_info(address: &str, name: &str) -> Value {
    let info = json!({
        "chainId": 137, "address": address, "name": name, "type": "ERC1155", "symbol": "RLC",
        "logoURI": "https://a.example/logo.png", "deployed": true, "bytecodeHash": "0xabcd",
        "extensions": {
            "link": "https://a.example", "description": "Old things", "ogImage": "https://a.example/og.png",
            "ogName": "Relics", "originChainId": 0, "originAddress": address, "verified": true,
            "verifiedBy": "bourse",
        },
        "updatedAt": "2024-11-01T08:18:33.514523974Z",
    });
    let info: bourse_wire::ContractInfo = serde_json::from_value(info).unwrap();
    serde_json::to_value(info).unwrap()
}

/// One of everything that a project can have: collection, token and asset, link, audience, contact, task, webhook. Every text in
/// it says `mark`.
pub(crate) async fn belongings(store: &Store, project: &Project, mark: &str, private: bool) -> Belongings {
    let call = async |operation: &str, body: Value| project.call(operation, body).await.ok();
    let metadata = json!({ "name": mark, "description": mark });
    let made = call(
        "Collections/CreateCollection",
        json!({ "collection": { "metadata": metadata, "private": private } }),
    );
    let collection = made.await["collection"]["id"].as_u64().unwrap();
    let token = json!({ "tokenId": "1", "name": mark });
    call("Collections/CreateToken", json!({ "collectionId": collection, "token": token })).await;
    let asset =
        json!({ "collectionId": collection, "tokenId": "1", "metadataField": "image", "filename": mark });
    let made = call("Collections/CreateAsset", json!({ "asset": asset })).await;
    let asset = made["asset"]["id"].as_u64().unwrap();
    let path = format!("/projects/{}/collections/{collection}/assets/{asset}/upload", project.id);
    assert_eq!(project.token.send(upload(&path, "file", mark, SVG)).await.status, StatusCode::OK);
    let link = json!({ "chainId": "polygon", "contractAddress": RELICS, "collectionId": collection });
    call("Collections/CreateContractCollection", json!({ "contractCollection": link })).await;
    let made = call("Builder/CreateAudience", json!({ "name": mark })).await;
    let audience = made["audience"]["id"].as_u64().unwrap();
    let contact = json!({ "name": mark, "address": ACCOUNT, "email": "somebody@mail.example" });
    call("Builder/AddAudienceContacts", json!({ "audienceId": audience, "contacts": [contact] })).await;
    let view = store.audience(project.scope, audience.try_into().unwrap()).await.unwrap();
    tokens(store, ASKED_FOR, 1..2, mark).await;
    let asked =
        store.refresh(project.scope, key(ASKED_FOR), Refresh::Contract, Timestamp::ZERO).await.unwrap();
    let contract_addresses = vec![key(ASKED_FOR).address];
    let new = NewWebhook {
        chain: key(ASKED_FOR).chain,
        url: "https://hooks.example/".to_owned(),
        filters: EventFilter { contract_addresses, ..EventFilter::default() },
        name: mark.to_owned(),
        secret: mark.to_owned(),
    };
    let webhook = store.add_webhook(project.scope, new, 10, operator()).await.unwrap().id.get();
    let (contact, task) = (view.contacts[0].id.get(), asked.task.id.get());
    Belongings { collection, asset, audience, contact, task, webhook }
}

/// A contract that every project has asked for.
pub(crate) const ASKED_FOR: &str = "0x00000000000000000000000000000000000000ad";

/// The ids of what a project has; its token is 1, its linked contract [`RELICS`].
#[derive(Clone, Copy)]
pub(crate) struct Belongings {
    pub(crate) collection: u64,
    pub(crate) asset: u64,
    pub(crate) audience: u64,
    pub(crate) contact: u64,
    pub(crate) task: u64,
    pub(crate) webhook: u64,
}
