//! Hosted collections: updates at once, and what goes with what is deleted.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod hosted;
    pub(crate) mod projects;
    pub(crate) mod refused;
}

use bourse_store::{CollectionKey, HostedTokenEdit, ProjectScope, Visibility};
use bourse_wire::{
    Address, AssetInput, ChainId, Code, CollectionInput, Page, PageInput, Timestamp, TokenId, TokenInput,
};
use serde::de::DeserializeOwned;
use support::database::open;
use support::hosted::new_token;
use support::projects::project;
use support::refused::code;

const NOW: Timestamp = Timestamp::ZERO;
const CONTRACT: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

fn read<T: DeserializeOwned>(json: &str) -> T {
    bourse_wire::from_slice(json.as_bytes(), 16).unwrap()
}

fn everything() -> Page {
    PageInput::default().resolve(100, 100).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_at_once_of_different_members_all_stay() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    for round in 0..20 {
        let id = store.create_hosted_collection(scope, CollectionInput::default(), NOW).await.unwrap().id;
        let change = |json| store.update_hosted_collection(scope, id, read(json), NOW);
        let (one, two, three) = tokio::join!(
            change(r#"{"metadata":{"name":"n"}}"#),
            change(r#"{"metadata":{"description":"d"}}"#),
            change(r#"{"private":false}"#)
        );
        let _ = (one.unwrap(), two.unwrap(), three.unwrap());
        let hosted = store.hosted_collection(scope, id).await.unwrap();
        let seen = (hosted.metadata.name.as_str(), hosted.metadata.description.as_str(), hosted.private);
        assert_eq!(seen, ("n", "d", false), "round {round}");

        store
            .create_hosted_token(scope, id, new_token(TokenId::ZERO, TokenInput::default(), true), NOW)
            .await
            .unwrap();
        let change = |json, private| {
            store.update_hosted_token(
                scope,
                id,
                HostedTokenEdit { token_id: TokenId::ZERO, input: read(json), private },
                NOW,
            )
        };
        let (one, two, three) = tokio::join!(
            change(r#"{"name":"n"}"#, None),
            change(r#"{"image":"i"}"#, None),
            change("{}", Some(false))
        );
        let _ = (one.unwrap(), two.unwrap(), three.unwrap());
        let token = store.hosted_token(scope, id, TokenId::ZERO).await.unwrap();
        let seen = (token.metadata.name.as_str(), token.metadata.image.as_str(), token.private);
        assert_eq!(seen, ("n", "i", false), "round {round}");

        let asset = AssetInput { collection_id: Some(id), ..AssetInput::default() };
        let asset = store.create_asset(scope, asset, NOW).await.unwrap().id;
        let change = |json| store.update_asset(scope, asset, read(json), NOW);
        let (one, two) = tokio::join!(change(r#"{"metadataField":"video"}"#), change(r#"{"filename":"f"}"#));
        let _ = (one.unwrap(), two.unwrap());
        let asset = store.asset(scope, asset).await.unwrap();
        assert_eq!((asset.metadata_field.as_str(), asset.filename.as_str()), ("video", "f"), "round {round}");
    }
}

#[tokio::test]
async fn what_is_in_a_deleted_thing_goes_with_it() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let id = store.create_hosted_collection(scope, CollectionInput::default(), NOW).await.unwrap().id;
    for token in [1, 2] {
        store
            .create_hosted_token(scope, id, new_token(token.into(), TokenInput::default(), true), NOW)
            .await
            .unwrap();
    }
    let asset = |token: Option<u64>| AssetInput {
        collection_id: Some(id),
        token_id: token.map(TokenId::from),
        ..AssetInput::default()
    };
    let of_collection = store.create_asset(scope, asset(None), NOW).await.unwrap().id;
    let of_first = store.create_asset(scope, asset(Some(1)), NOW).await.unwrap().id;
    let of_second = store.create_asset(scope, asset(Some(2)), NOW).await.unwrap().id;
    store.create_contract_collection(scope, CONTRACT, id).await.unwrap();

    store.delete_hosted_token(scope, id, 1.into(), NOW).await.unwrap();
    assert_eq!(code(store.asset(scope, of_first).await), Code::NotFound);
    assert!(store.asset(scope, of_second).await.is_ok() && store.asset(scope, of_collection).await.is_ok());
    assert_eq!(store.hosted_collection(scope, id).await.unwrap().token_count, 1);

    store.delete_hosted_collection(scope, id).await.unwrap();
    for asset in [of_second, of_collection] {
        assert_eq!(code(store.asset(scope, asset).await), Code::NotFound);
    }
    assert_eq!(code(store.hosted_token(scope, id, 2.into()).await), Code::NotFound);
    assert_eq!(store.contract_collections(scope, None, &everything()).await.unwrap(), []);
}

#[tokio::test]
async fn publishing_takes_the_tokens_along_when_asked() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let id = store.create_hosted_collection(scope, CollectionInput::default(), NOW).await.unwrap().id;
    store
        .create_hosted_token(scope, id, new_token(TokenId::ZERO, TokenInput::default(), true), NOW)
        .await
        .unwrap();
    for (visibility, private, token_private) in [
        (Visibility::Public, false, true),
        (Visibility::PublicWithTokens, false, false),
        (Visibility::Private, true, false),
    ] {
        let hosted = store.publish_hosted_collection(scope, id, visibility, NOW).await.unwrap();
        let token = store.hosted_token(scope, id, TokenId::ZERO).await.unwrap();
        assert_eq!((hosted.private, token.private), (private, token_private));
    }
}

#[tokio::test]
async fn an_unknown_project_hosts_nothing() {
    let (_database, store) = open().await;
    let scope = ProjectScope::of_operator(77.try_into().unwrap());
    let made = store.create_hosted_collection(scope, CollectionInput::default(), NOW).await;
    assert_eq!(code(made), Code::ProjectNotFound);
    assert_eq!(
        code(store.create_audience(scope, "people".parse().unwrap(), NOW).await),
        Code::ProjectNotFound
    );
}
