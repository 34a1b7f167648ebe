//! Hosted collections: updates at once, and what goes with what is deleted.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod hosted;
    pub(crate) mod projects;
    pub(crate) mod refused;
}

use bourse_store::testing::operator;
use bourse_store::{AssetFile, CollectionKey, HostedTokenEdit, ProjectScope, Store, Upload, Visibility};
use bourse_wire::{
    Address, AssetInput, ChainId, Code, CollectionInput, Page, PageInput, RecordId, Timestamp, TokenId,
    TokenInput,
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
    store.create_contract_collection(scope, CONTRACT, id, operator()).await.unwrap();

    store.delete_hosted_token(scope, id, 1.into(), NOW).await.unwrap();
    assert_eq!(code(store.asset(scope, of_first).await), Code::NotFound);
    assert!(store.asset(scope, of_second).await.is_ok() && store.asset(scope, of_collection).await.is_ok());
    assert_eq!(store.hosted_collection(scope, id).await.unwrap().token_count, 1);

    store.delete_hosted_collection(scope, id, NOW).await.unwrap();
    for asset in [of_second, of_collection] {
        assert_eq!(code(store.asset(scope, asset).await), Code::NotFound);
    }
    assert_eq!(code(store.hosted_token(scope, id, 2.into()).await), Code::NotFound);
    assert_eq!(store.contract_collections(scope, None, &everything()).await.unwrap(), []);
}

/// A file of a content and a size.
fn upload(content: &str, filesize: u64, project_bytes_max: Option<u64>) -> Upload {
    let file =
        AssetFile { content_hash: content.to_owned(), filesize, mime_type: String::new(), dimensions: None };
    Upload { file, filename: String::new(), project_bytes_max }
}

/// A collection with a token, and an asset of each.
async fn assets(store: &Store, scope: ProjectScope) -> (RecordId, [RecordId; 2]) {
    let id = store.create_hosted_collection(scope, CollectionInput::default(), NOW).await.unwrap().id;
    let token = new_token(1.into(), TokenInput::default(), true);
    store.create_hosted_token(scope, id, token, NOW).await.unwrap();
    let asset = async |token_id| {
        let input = AssetInput { collection_id: Some(id), token_id, ..AssetInput::default() };
        store.create_asset(scope, input, NOW).await.unwrap().id
    };
    (id, [asset(None).await, asset(Some(1.into())).await])
}

#[tokio::test]
async fn files_are_counted_with_their_assets_and_refused_beyond_the_limit() {
    let (_database, store) = open().await;
    let (scope, other) = (project(&store).await, project(&store).await);
    let (collection, [first, second]) = assets(&store, scope).await;
    let put = |asset, upload| store.set_asset_file(scope, asset, upload, NOW);
    let bytes = async || store.project_files_bytes(scope).await.unwrap();
    assert_eq!(bytes().await, 0);
    assert_eq!(put(first, upload("a", 60, Some(100))).await.unwrap().replaced, None);
    assert_eq!(code(put(second, upload("b", 41, Some(100))).await), Code::BodyTooLarge);
    assert_eq!(bytes().await, 60, "what was refused counts nothing");
    assert!(store.asset(scope, second).await.unwrap().file.is_none());
    put(second, upload("b", 40, Some(100))).await.unwrap();
    // In the place of another only the difference counts, and what becomes less is taken whatever the limit is by now.
    assert_eq!(code(put(first, upload("c", 61, Some(100))).await), Code::BodyTooLarge);
    assert_eq!(put(first, upload("c", 50, Some(10))).await.unwrap().replaced.as_deref(), Some("a"));
    assert_eq!(put(first, upload("c", 50, Some(10))).await.unwrap().replaced, None);
    assert_eq!(bytes().await, 90);
    assert_eq!(store.project_files_bytes(other).await.unwrap(), 0);

    let used = async |contents: &[&str]| {
        let used = store.contents_in_use(contents.iter().map(ToString::to_string).collect()).await.unwrap();
        used.into_iter().collect::<String>()
    };
    assert_eq!(used(&["a", "b", "c"]).await, "bc");
    assert_eq!(used(&[]).await, "");
    assert_eq!(store.delete_hosted_token(scope, collection, 1.into(), NOW).await.unwrap(), ["b"]);
    assert_eq!((bytes().await, used(&["a", "b", "c"]).await.as_str()), (50, "c"));
    assert_eq!(store.delete_asset(scope, first, NOW).await.unwrap(), ["c"]);
    assert_eq!(bytes().await, 0);
    let (collection, [first, second]) = assets(&store, scope).await;
    for asset in [first, second] {
        put(asset, upload("d", 7, None)).await.unwrap();
    }
    assert_eq!(bytes().await, 14, "content that two assets have counts for each");
    assert_eq!(store.delete_hosted_collection(scope, collection, NOW).await.unwrap(), ["d"]);
    assert_eq!((bytes().await, used(&["d"]).await.as_str()), (0, ""));
    store.recount_files().await.unwrap();
    assert_eq!(bytes().await, 0);
}

/// However many come at once, to whichever collections, the limit holds.
#[tokio::test(flavor = "multi_thread")]
async fn uploads_at_once_keep_to_the_limit() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.extend(assets(&store, scope).await.1);
    }
    let put = |asset| store.set_asset_file(scope, asset, upload("a", 10, Some(35)), NOW);
    let results = futures_util::future::join_all(all.iter().map(|asset| put(*asset))).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
    assert_eq!(store.project_files_bytes(scope).await.unwrap(), 30);
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
