//! What is published in a hosted collection is what the service Metadata serves of a contract that is linked with it.

use serde_json::{Value, json};

use crate::support::actor::Actor;
use crate::support::body::{SVG, upload};
use crate::support::seed::{RELICS, UNKNOWN, relics};
use crate::support::transcript::Transcript;
use crate::support::{TestApp, wait_until};

const LINK: &str = "Collections/CreateContractCollection";
const UNLINK: &str = "Collections/DeleteContractCollection";

/// A collection with tokens 1 and 2, of which the second is private. Nobody sees it yet.
async fn collection(app: &TestApp, name: &str) -> u64 {
    let project = &app.project_a;
    let metadata = json!({ "name": name, "description": "Of paper", "externalLink": "https://maps.example" });
    let made =
        project.call("Collections/CreateCollection", json!({ "collection": { "metadata": metadata } }));
    let id = made.await.ok()["collection"]["id"].as_u64().unwrap();
    for (token, private) in [("1", false), ("2", true)] {
        let token = json!({
            "tokenId": token, "name": format!("{name} {token}"), "description": "A chart",
            "image": "https://maps.example/1.png", "animationUrl": "https://maps.example/1.mp4",
            "properties": { "scale": 7 }, "attributes": [{ "trait_type": "ink", "value": "red" }],
        });
        let body = json!({ "collectionId": id, "token": token, "private": private });
        project.call("Collections/CreateToken", body).await.ok();
    }
    id
}

fn link(contract: &str, collection: u64) -> Value {
    let link = json!({ "chainId": 137, "contractAddress": contract, "collectionId": collection });
    json!({ "contractCollection": link })
}

fn of(contract: &str) -> Value {
    json!({ "chainID": "137", "contractAddress": contract, "tokenIDs": ["1", "2"] })
}

/// The names of the first two tokens of a contract.
async fn names(actor: &Actor, contract: &str) -> Vec<String> {
    let answer = actor.call("Metadata/GetTokenMetadata", of(contract)).await.ok();
    let tokens = answer["tokenMetadata"].as_array().unwrap();
    tokens.iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect()
}

async fn wait_for(actor: &Actor, contract: &str, expected: &[&str]) {
    wait_until(&format!("{expected:?}"), async || names(actor, contract).await == expected).await;
}

#[tokio::test]
async fn a_linked_contract_is_told_by_what_is_published_without_any_node_and_by_every_server() {
    let (app, ()) = TestApp::prepared(&[], async |store, _, _| relics(store).await).await;
    let other = app.another().await;
    let tasks = [app.background(), other.background()];
    let (key, maps) = (&app.project_a.key, collection(&app, "Map").await);
    assert_eq!(names(key, RELICS).await, ["Bronze relic"]);
    app.project_a.call(LINK, link(RELICS, maps)).await.ok();
    app.project_a.call(LINK, link(UNKNOWN, maps)).await.ok();
    app.project_a.call("Collections/PublishCollection", json!({ "collectionId": maps })).await.ok();
    for actor in [key, &other.key] {
        wait_for(actor, RELICS, &["Map 1"]).await;
        wait_for(actor, UNKNOWN, &["Map 1"]).await;
    }
    let mut said = Transcript::default();
    let unknown = json!({ "chainID": "137", "contractAddress": UNKNOWN });
    said.call_as(key, "Metadata/GetTokenMetadata", of(UNKNOWN)).await;
    said.call_as(key, "Metadata/GetContractInfo", unknown).await;
    said.call_as(key, "Metadata/GetContractInfo", json!({ "chainID": "137", "contractAddress": RELICS }))
        .await;
    insta::assert_snapshot!(said.text());

    let shown =
        json!({ "collectionId": maps, "tokenId": "2", "token": { "name": "Second" }, "private": false });
    app.project_a.call("Collections/UpdateToken", shown).await.ok();
    for actor in [key, &other.key] {
        wait_for(actor, RELICS, &["Map 1", "Second"]).await;
    }
    app.project_a.call("Collections/UnpublishCollection", json!({ "collectionId": maps })).await.ok();
    for actor in [key, &other.key] {
        wait_for(actor, RELICS, &["Bronze relic", ""]).await;
    }
    app.project_a.call("Collections/PublishCollection", json!({ "collectionId": maps })).await.ok();
    wait_for(key, RELICS, &["Map 1", "Second"]).await;
    app.project_a.call(UNLINK, json!({ "chainId": 137, "contractAddress": RELICS })).await.ok();
    wait_for(&other.key, RELICS, &["Bronze relic", ""]).await;
    assert_eq!(names(key, UNKNOWN).await, ["Map 1", "Second"], "the other link stays");
    for background in tasks {
        background.stop().await;
    }
}

/// What a file stands for is its public address, and searches find what is shown.
#[tokio::test]
async fn files_and_searches_are_those_of_the_collection() {
    let app = TestApp::start().await;
    let background = app.background();
    let maps = collection(&app, "Map").await;
    let bare = json!({ "collectionId": maps, "token": { "tokenId": "3", "name": "Bare" } });
    app.project_a.call("Collections/CreateToken", bare).await.ok();
    app.project_a.call(LINK, link(UNKNOWN, maps)).await.ok();
    app.project_a.call("Collections/PublishCollection", json!({ "collectionId": maps })).await.ok();
    let path = format!("/projects/{}/collections/{maps}/tokens/3/upload/image", app.project_a.id);
    assert_eq!(app.project_a.token.send(upload(&path, "file", "bare.svg", SVG)).await.status, 200);
    let search = json!({
        "chainID": "137", "contractAddress": UNKNOWN, "filter": { "text": "bare" }, "page": {},
    });
    let expected =
        format!("https://bourse.example/projects/{}/collections/{maps}/assets/1", app.project_a.id);
    wait_until("the file is shown", async || {
        let found = app.project_a.key.call("Metadata/SearchTokenMetadata", search.clone()).await;
        found.json["tokenMetadata"][0]["image"] == expected.as_str()
    })
    .await;
    background.stop().await;
}
