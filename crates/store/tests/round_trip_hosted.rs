//! Whatever a project can host comes back as it was, on either engine.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod hosted;
    pub(crate) mod projects;
    pub(crate) mod random;
    pub(crate) mod refused;
    pub(crate) mod tokens;
    pub(crate) mod values;
}

use bourse_store::testing::operator;
use bourse_store::{AssetFile, CollectionKey, HostedToken, HostedTokenEdit, Upload};
use bourse_wire::{
    AssetInput, Code, CollectionInput, CollectionMetadata, Page, PageInput, Text, TokenId, TokenInput,
    TokenMetadata,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use support::hosted::new_token;
use support::projects::project;
use support::refused::code;
use support::tokens::{object, token_id};
use support::values::{address, chain, check, text, time};

/// As deep as the free-form values here ever get, and more than the server allows.
const DEPTH_MAX: usize = 32;

/// Reads a record as requests are read.
fn read<T: DeserializeOwned>(value: &Value) -> T {
    bourse_wire::from_slice(value.to_string().as_bytes(), DEPTH_MAX).unwrap()
}

fn everything() -> Page {
    PageInput::default().resolve(1000, 1000).unwrap()
}

fn collection_input() -> impl Strategy<Value = CollectionInput> {
    let texts = vec(option::of(text()), 4);
    let free = (option::of(object()), option::of(vec(object(), 0..3)));
    (texts, free, option::of(any::<bool>())).prop_map(|(texts, (properties, attributes), private)| {
        let [name, description, image, link]: [Option<String>; 4] = texts.try_into().unwrap();
        let metadata = json!({"name": name, "description": description, "image": image, "externalLink": link,
            "properties": properties, "attributes": attributes});
        read(&json!({"metadata": metadata, "private": private}))
    })
}

#[test]
fn hosted_collections_come_back() {
    let inputs = (collection_input(), collection_input(), time(), time());
    check(64, &inputs, &async |store, (first, second, made_at, changed_at)| {
        let scope = project(store).await;
        let mut metadata = CollectionMetadata::default();
        first.metadata.clone().unwrap().apply(&mut metadata);
        let private = first.private.unwrap_or(true);
        let made = store.create_hosted_collection(scope, first, made_at).await.unwrap();
        let back = store.hosted_collection(scope, made.id).await.unwrap();
        assert_eq!((&back.metadata, back.private), (&metadata, private));
        assert_eq!(serde_json::to_string(&back.metadata).unwrap(), serde_json::to_string(&metadata).unwrap());
        assert_eq!((back.created_at, back.updated_at, back.token_count), (made_at, made_at, 0));
        assert_eq!(back, made);

        second.metadata.clone().unwrap().apply(&mut metadata);
        let private = second.private.unwrap_or(private);
        let changed = store.update_hosted_collection(scope, made.id, second, changed_at).await.unwrap();
        assert_eq!((&changed.metadata, changed.private), (&metadata, private));
        assert_eq!((changed.created_at, changed.updated_at), (made_at, changed_at));
        assert_eq!(store.hosted_collections(scope, &everything()).await.unwrap(), [changed]);
    });
}

fn token_input() -> impl Strategy<Value = TokenInput> {
    let texts = vec(option::of(text()), 8);
    let free = (option::of(object()), option::of(vec(object(), 0..3)));
    let color = option::of(text().prop_map(|text| text.chars().take(16).collect::<String>()));
    (texts, color, free, option::of(any::<u8>())).prop_map(|(texts, color, (properties, attributes), decimals)| {
        let names = ["name", "description", "image", "video", "audio", "imageData", "externalUrl", "animationUrl"];
        let mut input = json!({"backgroundColor": color, "properties": properties, "attributes": attributes,
            "decimals": decimals});
        for (name, text) in names.into_iter().zip(texts) {
            input[name] = json!(text);
        }
        read(&input)
    })
}

#[test]
fn hosted_tokens_come_back() {
    let inputs = (
        token_id(),
        [token_input(), token_input()],
        any::<bool>(),
        option::of(any::<bool>()),
        [time(), time()],
    );
    check(
        64,
        &inputs,
        &async |store, (token_id, [first, second], private, change, [made_at, changed_at])| {
            let scope = project(store).await;
            let collection =
                store.create_hosted_collection(scope, read(&json!({})), made_at).await.unwrap().id;
            let mut metadata = TokenMetadata { token_id, updated_at: made_at, ..TokenMetadata::default() };
            first.clone().apply(&mut metadata);
            let made = store
                .create_hosted_token(scope, collection, new_token(token_id, first.clone(), private), made_at)
                .await;
            assert_eq!(made.unwrap(), HostedToken { metadata: metadata.clone(), private });
            let back = store.hosted_token(scope, collection, token_id).await.unwrap();
            assert_eq!(back, HostedToken { metadata: metadata.clone(), private });
            assert_eq!(back.metadata.to_json().unwrap(), metadata.to_json().unwrap());
            let again = store
                .create_hosted_token(scope, collection, new_token(token_id, first, private), made_at)
                .await;
            assert_eq!(code(again), Code::RequestConflict);

            second.clone().apply(&mut metadata);
            metadata.updated_at = changed_at;
            let expected = HostedToken { metadata, private: change.unwrap_or(private) };
            let changed = store
                .update_hosted_token(
                    scope,
                    collection,
                    HostedTokenEdit { token_id, input: second, private: change },
                    changed_at,
                )
                .await;
            assert_eq!(changed.unwrap(), expected);
            assert_eq!(store.hosted_tokens(scope, collection, &everything()).await.unwrap(), [expected]);
            let hosted = store.hosted_collection(scope, collection).await.unwrap();
            assert_eq!((hosted.token_count, hosted.updated_at), (1, changed_at));
        },
    );
}

#[test]
fn hosted_tokens_are_sorted_as_numbers() {
    check(16, &vec(token_id(), 0..12), &async |store, mut ids| {
        let scope = project(store).await;
        ids.sort_unstable();
        ids.dedup();
        let collection =
            store.create_hosted_collection(scope, read(&json!({})), "2024-01-01T00:00:00Z".parse().unwrap());
        let collection = collection.await.unwrap().id;
        for id in ids.iter().rev() {
            let token = new_token(*id, TokenInput::default(), true);
            store
                .create_hosted_token(scope, collection, token, "2024-01-01T00:00:00Z".parse().unwrap())
                .await
                .unwrap();
        }
        let tokens = store.hosted_tokens(scope, collection, &everything()).await.unwrap();
        assert_eq!(tokens.iter().map(|token| token.metadata.token_id).collect::<Vec<TokenId>>(), ids);
    });
}

fn asset_input() -> impl Strategy<Value = AssetInput> {
    let short = text().prop_map(|text| text.chars().take(16).collect::<String>().parse().unwrap());
    let name = || option::of(text().prop_map(|text| text.parse().unwrap()));
    (option::of(short), name(), name()).prop_map(|(metadata_field, filename, name)| AssetInput {
        metadata_field,
        filename,
        name,
        ..AssetInput::default()
    })
}

fn asset_file() -> impl Strategy<Value = AssetFile> {
    let number = || 0..=i64::MAX as u64;
    (text(), number(), text(), option::of((number(), number()))).prop_map(
        |(content_hash, filesize, mime_type, dimensions)| AssetFile {
            content_hash,
            filesize,
            mime_type,
            dimensions,
        },
    )
}

#[test]
fn assets_and_their_files_come_back() {
    let inputs = (option::of(token_id()), [asset_input(), asset_input()], asset_file(), text(), time());
    check(64, &inputs, &async |store, (token_id, [first, second], file, uploaded, now)| {
        let scope = project(store).await;
        let collection = store.create_hosted_collection(scope, read(&json!({})), now).await.unwrap().id;
        if let Some(token) = token_id {
            let token = new_token(token, TokenInput::default(), true);
            store.create_hosted_token(scope, collection, token, now).await.unwrap();
        }
        let input = AssetInput { collection_id: Some(collection), token_id, ..first.clone() };
        let mut expected = store.create_asset(scope, input, now).await.unwrap();
        let field = first.metadata_field.map_or("image".to_owned(), Text::into_string);
        let name = first.filename.or(first.name).unwrap_or_default().into_string();
        assert_eq!((&expected.metadata_field, &expected.filename, &expected.file), (&field, &name, &None));
        assert_eq!(
            (expected.collection, expected.token_id, expected.updated_at),
            (collection, token_id, now)
        );

        expected.file = Some(file.clone());
        expected.filename = if name.is_empty() { uploaded.clone() } else { name };
        let upload = Upload { file, filename: uploaded, project_bytes_max: None };
        let with_file = store.set_asset_file(scope, expected.id, upload, now).await.unwrap();
        assert_eq!((with_file.asset, with_file.replaced), (expected.clone(), None));

        expected.metadata_field = second.metadata_field.clone().map_or(field, Text::into_string);
        let renamed = second.filename.clone().or(second.name.clone());
        expected.filename = renamed.map_or(expected.filename, Text::into_string);
        store.update_asset(scope, expected.id, second, now).await.unwrap();
        assert_eq!(store.asset(scope, expected.id).await.unwrap(), expected);
        assert_eq!(store.assets_of(scope, collection, token_id).await.unwrap(), [expected.clone()]);
        if let Some(token) = token_id {
            let (found, assets) = store.hosted_token_with_assets(scope, collection, token).await.unwrap();
            assert_eq!(found, store.hosted_token(scope, collection, token).await.unwrap());
            assert_eq!(assets, [expected.clone()]);
        }
        store.delete_asset(scope, expected.id, now).await.unwrap();
        assert_eq!(code(store.asset(scope, expected.id).await), Code::NotFound);
        if let Some(token) = token_id {
            let (_, assets) = store.hosted_token_with_assets(scope, collection, token).await.unwrap();
            assert_eq!(assets, []);
        }
    });
}

#[test]
fn contract_links_come_back() {
    check(64, &(chain(), address()), &async |store, (chain, address)| {
        let scope = project(store).await;
        let now = "2024-01-01T00:00:00.000000001Z".parse().unwrap();
        let first = store.create_hosted_collection(scope, read(&json!({})), now).await.unwrap().id;
        let second = store.create_hosted_collection(scope, read(&json!({})), now).await.unwrap().id;
        let key = CollectionKey { chain, address };
        let link = store.create_contract_collection(scope, key, first, operator()).await.unwrap();
        assert_eq!((link.chain_id, link.contract_address, link.collection_id), (chain, address, first));
        assert_eq!(store.contract_collection(scope, key).await.unwrap(), link);
        assert_eq!(
            code(store.create_contract_collection(scope, key, second, operator()).await),
            Code::RequestConflict
        );
        store.update_contract_collection(scope, key, second, now).await.unwrap();
        let moved = store.contract_collections(scope, Some(second), &everything()).await.unwrap();
        assert_eq!(moved.iter().map(|link| link.collection_id).collect::<Vec<_>>(), [second]);
        assert_eq!(store.contract_collections(scope, Some(first), &everything()).await.unwrap(), []);
        store.delete_contract_collection(scope, key, now).await.unwrap();
        assert_eq!(code(store.contract_collection(scope, key).await), Code::NotFound);
    });
}
