//! The worker beside hosted collections: what one speaks for is asked of nobody.

use bourse_store::NewHostedToken;
use bourse_store::testing::operator_at;
use bourse_wire::{CollectionInput, MetadataStatus, TokenInput};
use serde_json::{Value, json};

use crate::web::{Server, ok};
use crate::worker::{World, contract, now};

const AVAILABLE: Option<MetadataStatus> = Some(MetadataStatus::Available);

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    bourse_wire::from_slice(value.to_string().as_bytes(), 16).unwrap()
}

#[tokio::test]
async fn a_hosted_collection_answers_in_the_place_of_the_chain_until_it_is_unlinked() {
    let server = Server::start(|path, _| ok(&format!(r#"{{"name":"chain {path}"}}"#))).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.links(1..=3, |id| format!("http://good.example:{}/{id}", server.port));
    let (scope, store) = (world.project().await, &world.store);
    let input: CollectionInput = read(&json!({ "metadata": { "name": "Maps" }, "private": false }));
    let collection = store.create_hosted_collection(scope, input, now()).await.unwrap().id;
    for (token, private) in [(1, false), (2, false), (3, true)] {
        let input: TokenInput = read(&json!({ "name": format!("hosted {token}") }));
        let token = NewHostedToken { token_id: token.into(), input, private };
        store.create_hosted_token(scope, collection, token, now()).await.unwrap();
    }
    store.create_contract_collection(scope, contract(), collection, operator_at(now())).await.unwrap();
    world.mint(3).await;
    let worker = world.start();
    world.wait_until(3, |token| token.status == AVAILABLE).await;
    let names = async || world.tokens().await.into_iter().map(|token| token.name).collect::<Vec<_>>();
    assert_eq!(names().await, ["hosted 1", "hosted 2", "chain /3"]);
    assert_eq!(server.asked(), 1, "nothing is fetched of what a hosted collection says");

    store.delete_contract_collection(scope, contract(), now()).await.unwrap();
    while store.follow_links(now()).await.unwrap() {}
    world.wait_until(3, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    assert_eq!(names().await, ["chain /1", "chain /2", "chain /3"]);
}
