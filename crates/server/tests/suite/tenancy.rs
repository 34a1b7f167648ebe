//! One project cannot reach what is another's. Every operation on a project's records has its case here.

use axum::http::Method;
use bourse_server::{Credential, Service, router};
use bourse_store::testing::operator;
use serde_json::{Value, json};

use crate::builder::proof;
use crate::support::TestApp;
use crate::support::body::{PNG, upload};
use crate::support::project::Project;
use crate::support::seed::{self, Belongings, RELICS};

/// Written into everything that A has.
const MARK: &str = "belongs to A";

/// What B must get when it names what A has.
enum Expected {
    /// There is no such thing, for B.
    Missing,
    /// An answer about B alone.
    Own,
}
use Expected::{Missing, Own};

/// Everything of a project, as it sees it itself.
async fn state_of(project: &Project, has: Belongings) -> Vec<Value> {
    let mut state = Vec::new();
    for (operation, body) in [
        ("Collections/ListCollections", json!({})),
        ("Collections/GetCollection", json!({ "collectionId": has.collection })),
        ("Collections/ListTokens", json!({ "collectionId": has.collection })),
        ("Collections/GetToken", json!({ "collectionId": has.collection, "tokenId": "1" })),
        ("Collections/GetAsset", json!({ "assetId": has.asset })),
        ("Collections/ListContractCollections", json!({})),
        ("Builder/ListAudiences", json!({})),
        ("Builder/GetAudience", json!({ "audienceId": has.audience })),
        ("Admin/GetStorefront", json!({})),
        ("Indexer/GetAllWebhookListeners", json!({})),
    ] {
        state.push(project.call(operation, body).await.ok());
    }
    state
}

/// Lets wallets sign themselves up, and one of them do so.
async fn open_audience(project: &Project, has: Belongings) {
    let body = json!({ "audienceId": has.audience, "registrationOpen": true });
    project.call("Builder/UpdateAudience", body).await.ok();
    project.call("Builder/RegisterAudienceContact", sign_up(has)).await.ok();
}

/// What a wallet signs up to the audience of A with.
fn sign_up(has: Belongings) -> Value {
    json!({ "audienceId": has.audience, "contact": {}, "walletProof": proof((7, 1, has.audience), "sign up", "") })
}

async fn check(operation: &str, expected: Expected, body: impl Fn(Belongings) -> Value) {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a, &app.project_b);
    let has = seed::belongings(&app.store, a, MARK, false).await;
    seed::belongings(&app.store, b, "belongs to B", false).await;
    let storefront = json!({ "storefront": { "domain": "shop.example", "settings": { "title": MARK } } });
    a.call("Admin/PutStorefront", storefront).await.ok();
    open_audience(a, has).await;
    let before = state_of(a, has).await;
    app.clock.advance(60);
    let mut body = body(has);
    let answer = b.call(operation, body.clone()).await;
    match expected {
        // The client of the indexer knows the error by another status.
        Missing if operation.starts_with("Indexer/") => {
            assert_eq!(answer.refusal(), (400, 3000), "{}", answer.json);
        }
        Missing => assert_eq!(answer.refusal(), (404, 3000), "{}", answer.json),
        Own => assert_eq!(answer.status, 200, "{}", answer.json),
    }
    assert!(!answer.text().contains(MARK), "{}", answer.json);
    body["projectId"] = json!(a.id);
    let answer = b.call(operation, body.clone()).await;
    assert_eq!(answer.refusal(), (403, 1001), "{}", answer.json);
    assert!(!answer.text().contains(MARK), "{}", answer.json);
    assert_eq!(state_of(a, has).await, before);
    // The request was one that works for whom it belongs to.
    if matches!(expected, Missing) {
        a.call(operation, body).await.ok();
    }
}

macro_rules! cases {
    ($($name:ident: $operation:literal, $expected:expr, $body:expr;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                check($operation, $expected, $body).await;
            }
        )*

        /// The operations that have a case.
        const CASES: &[&str] = &[$($operation),*];
    };
}

cases! {
    create_collection_does_not_reach_other_project: "Collections/CreateCollection", Own,
        |has| json!({ "collection": { "id": has.collection, "metadata": { "name": "mine" } } });
    get_collection_does_not_reach_other_project: "Collections/GetCollection", Missing,
        |has| json!({ "collectionId": has.collection });
    list_collections_does_not_reach_other_project: "Collections/ListCollections", Own, |_| json!({});
    update_collection_does_not_reach_other_project: "Collections/UpdateCollection", Missing,
        |has| json!({ "collection": { "id": has.collection, "metadata": { "name": "taken" }, "private": true } });
    delete_collection_does_not_reach_other_project: "Collections/DeleteCollection", Missing,
        |has| json!({ "collectionId": has.collection });
    publish_collection_does_not_reach_other_project: "Collections/PublishCollection", Missing,
        |has| json!({ "collectionId": has.collection, "recursive": true });
    unpublish_collection_does_not_reach_other_project: "Collections/UnpublishCollection", Missing,
        |has| json!({ "collectionId": has.collection });
    create_contract_collection_does_not_reach_other_project: "Collections/CreateContractCollection", Missing,
        |has| json!({ "contractCollection": { "chainId": 1, "contractAddress": RELICS, "collectionId": has.collection } });
    get_contract_collection_does_not_reach_other_project: "Collections/GetContractCollection", Own,
        |_| json!({ "chainId": 137, "contractAddress": RELICS });
    list_contract_collections_does_not_reach_other_project: "Collections/ListContractCollections", Missing,
        |has| json!({ "collectionId": has.collection });
    update_contract_collection_does_not_reach_other_project: "Collections/UpdateContractCollection", Missing,
        |has| json!({ "contractCollection": { "chainId": 137, "contractAddress": RELICS, "collectionId": has.collection } });
    delete_contract_collection_does_not_reach_other_project: "Collections/DeleteContractCollection", Own,
        |_| json!({ "chainId": 137, "contractAddress": RELICS });
    create_token_does_not_reach_other_project: "Collections/CreateToken", Missing,
        |has| json!({ "collectionId": has.collection, "token": { "tokenId": "2", "name": "planted" } });
    get_token_does_not_reach_other_project: "Collections/GetToken", Missing,
        |has| json!({ "collectionId": has.collection, "tokenId": "1" });
    list_tokens_does_not_reach_other_project: "Collections/ListTokens", Missing,
        |has| json!({ "collectionId": has.collection });
    update_token_does_not_reach_other_project: "Collections/UpdateToken", Missing,
        |has| json!({ "collectionId": has.collection, "tokenId": "1", "token": { "name": "taken" }, "private": true });
    delete_token_does_not_reach_other_project: "Collections/DeleteToken", Missing,
        |has| json!({ "collectionId": has.collection, "tokenId": "1" });
    create_asset_does_not_reach_other_project: "Collections/CreateAsset", Missing,
        |has| json!({ "asset": { "collectionId": has.collection, "tokenId": "1", "metadataField": "image" } });
    get_asset_does_not_reach_other_project: "Collections/GetAsset", Missing, |has| json!({ "assetId": has.asset });
    update_asset_does_not_reach_other_project: "Collections/UpdateAsset", Missing,
        |has| json!({ "asset": { "id": has.asset, "metadataField": "video", "filename": "taken" } });
    delete_asset_does_not_reach_other_project: "Collections/DeleteAsset", Missing,
        |has| json!({ "assetId": has.asset });
    get_audience_does_not_reach_other_project: "Builder/GetAudience", Missing,
        |has| json!({ "audienceId": has.audience });
    list_audiences_does_not_reach_other_project: "Builder/ListAudiences", Own, |_| json!({});
    create_audience_does_not_reach_other_project: "Builder/CreateAudience", Own, |_| json!({ "name": "mine" });
    update_audience_does_not_reach_other_project: "Builder/UpdateAudience", Missing,
        |has| json!({ "audienceId": has.audience, "name": "taken" });
    delete_audience_does_not_reach_other_project: "Builder/DeleteAudience", Missing,
        |has| json!({ "audienceId": has.audience });
    add_audience_contacts_does_not_reach_other_project: "Builder/AddAudienceContacts", Missing,
        |has| json!({ "audienceId": has.audience, "contacts": [{ "address": RELICS, "name": "planted" }] });
    remove_audience_contacts_does_not_reach_other_project: "Builder/RemoveAudienceContacts", Missing,
        |has| json!({ "audienceId": has.audience, "contactIds": [has.contact] });
    lookup_marketplace_does_not_reach_other_project: "MarketplaceService/LookupMarketplace", Own, |_| json!({});
    get_storefront_does_not_reach_other_project: "Admin/GetStorefront", Own, |_| json!({});
    put_storefront_does_not_reach_other_project: "Admin/PutStorefront", Own,
        |_| json!({ "storefront": { "settings": { "title": "mine" } } });
    register_audience_contact_does_not_reach_other_project: "Builder/RegisterAudienceContact", Missing, sign_up;
    get_registered_audience_contact_does_not_reach_other_project: "Builder/GetRegisteredAudienceContact", Missing,
        |has| json!({ "audienceId": has.audience, "walletProof": proof((7, 1, has.audience), "read my entry", "") });
    is_audience_contact_registered_does_not_reach_other_project: "Builder/IsAudienceContactRegistered", Missing,
        |has| json!({ "audienceId": has.audience, "walletAddress": RELICS });
    get_audience_registration_public_status_does_not_reach_other_project:
        "Builder/GetAudienceRegistrationPublicStatus", Missing, |has| json!({ "audienceId": has.audience });
    add_webhook_listener_does_not_reach_other_project: "Indexer/AddWebhookListener", Own,
        |_| json!({ "chainId": 137, "url": "https://hooks.example/b", "filters": { "contractAddresses": [seed::ASKED_FOR] } });
    update_webhook_listener_does_not_reach_other_project: "Indexer/UpdateWebhookListener", Missing,
        |has| json!({ "listener": { "id": has.webhook, "url": "https://hooks.example/b", "active": false } });
    get_webhook_listener_does_not_reach_other_project: "Indexer/GetWebhookListener", Missing,
        |has| json!({ "id": has.webhook });
    toggle_webhook_listener_does_not_reach_other_project: "Indexer/ToggleWebhookListener", Missing,
        |has| json!({ "id": has.webhook });
    remove_webhook_listener_does_not_reach_other_project: "Indexer/RemoveWebhookListener", Missing,
        |has| json!({ "id": has.webhook });
    get_all_webhook_listeners_does_not_reach_other_project: "Indexer/GetAllWebhookListeners", Own, |_| json!({});
    pause_all_webhook_listeners_does_not_reach_other_project: "Indexer/PauseAllWebhookListeners", Own, |_| json!({});
    resume_all_webhook_listeners_does_not_reach_other_project: "Indexer/ResumeAllWebhookListeners", Own, |_| json!({});
    remove_all_webhook_listeners_does_not_reach_other_project: "Indexer/RemoveAllWebhookListeners", Own, |_| json!({});
    get_task_does_not_reach_other_project: "Metadata/GetTask", Missing, |has| json!({ "taskId": has.task });
    get_task_status_does_not_reach_other_project: "Metadata/GetTaskStatus", Missing,
        |has| json!({ "taskId": has.task });
}

/// The chain's own facts are the same for everybody, and charts, which name the project in their filter, are tried all at
/// once in `analytics::filters`; whatever else is added here needs a case above.
#[test]
fn every_operation_on_a_projects_records_has_a_case() {
    for route in router::operations() {
        let operation = route.path().replace("/rpc/", "");
        let services = [
            Service::Metadata,
            Service::Marketplace,
            Service::Indexer,
            Service::IndexerGateway,
            Service::Ingest,
            Service::Admin,
        ];
        let is_exception = route.name.starts_with("GetTask")
            || route.name.ends_with("Storefront")
            || route.name.contains("Webhook");
        let of_chain = services.contains(&route.service) && !is_exception;
        let of_project =
            !of_chain && route.service != Service::Analytics && route.credential != Credential::None;
        if of_project {
            assert!(CASES.contains(&operation.as_str()), "{operation} has no case");
        }
    }
}

#[tokio::test]
async fn contacts_of_another_projects_audience_stay() {
    let app = TestApp::start().await;
    let has = seed::belongings(&app.store, &app.project_a, MARK, false).await;
    let own = seed::belongings(&app.store, &app.project_b, "belongs to B", false).await;
    let before = state_of(&app.project_a, has).await;
    let body = json!({ "audienceId": own.audience, "contactIds": [has.contact] });
    app.project_b.call("Builder/RemoveAudienceContacts", body).await.ok();
    assert_eq!(state_of(&app.project_a, has).await, before);
}

#[tokio::test]
async fn names_and_links_are_each_projects_own() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, MARK, false).await;
    // The same name, token and contract again, without a conflict.
    seed::belongings(&app.store, &app.project_b, MARK, false).await;
}

#[tokio::test]
async fn a_link_or_an_asset_cannot_point_into_another_project() {
    let app = TestApp::start().await;
    let has = seed::belongings(&app.store, &app.project_a, MARK, false).await;
    let own = seed::belongings(&app.store, &app.project_b, "belongs to B", false).await;
    let before = state_of(&app.project_a, has).await;
    let b = &app.project_b;
    let link = json!({ "chainId": 137, "contractAddress": RELICS, "collectionId": has.collection });
    let answer = b.call("Collections/UpdateContractCollection", json!({ "contractCollection": link })).await;
    assert_eq!(answer.refusal(), (404, 3000));
    let asset = json!({ "id": own.asset, "collectionId": has.collection, "tokenId": "1" });
    b.call("Collections/UpdateAsset", json!({ "asset": asset })).await;
    let asset = b.call("Collections/GetAsset", json!({ "assetId": own.asset })).await.ok();
    assert_eq!(asset["asset"]["collectionId"], own.collection);
    assert_eq!(state_of(&app.project_a, has).await, before);
}

#[tokio::test]
async fn uploads_do_not_reach_other_project() {
    let app = TestApp::start().await;
    let has = seed::belongings(&app.store, &app.project_a, MARK, false).await;
    let own = seed::belongings(&app.store, &app.project_b, "belongs to B", false).await;
    let before = state_of(&app.project_a, has).await;
    let put = async |path: String| app.project_b.token.send(upload(&path, "file", "x", PNG)).await.refusal();
    let (theirs, mine) = (has.collection, own.collection);
    assert_eq!(
        put(format!("/projects/1/collections/{theirs}/assets/{}/upload", has.asset)).await,
        (403, 1001)
    );
    assert_eq!(put(format!("/projects/1/collections/{theirs}/tokens/1/upload/image")).await, (403, 1001));
    assert_eq!(
        put(format!("/projects/2/collections/{theirs}/assets/{}/upload", has.asset)).await,
        (404, 3000)
    );
    assert_eq!(put(format!("/projects/2/collections/{mine}/assets/{}/upload", has.asset)).await, (404, 3000));
    assert_eq!(
        put(format!("/projects/2/collections/{mine}/tokens/1/upload/{}", has.asset)).await,
        (404, 3000)
    );
    assert_eq!(put(format!("/projects/2/collections/{theirs}/tokens/1/upload/image")).await, (404, 3000));
    assert_eq!(state_of(&app.project_a, has).await, before);
}

#[tokio::test]
async fn plain_addresses_do_not_mix_projects() {
    let app = TestApp::start().await;
    let has = seed::belongings(&app.store, &app.project_a, MARK, false).await;
    seed::belongings(&app.store, &app.project_b, "belongs to B", false).await;
    let (collection, asset) = (has.collection, has.asset);
    for rest in ["", "/tokens/1", "/tokens/1/asset/image", &format!("/assets/{asset}")] {
        for (project, status) in [(1, 200), (2, 404)] {
            let path = format!("/projects/{project}/collections/{collection}{rest}");
            assert_eq!(app.anonymous.request(Method::GET, &path).await.status, status, "{path}");
        }
    }
    let path = format!("/projects/2/collections/2/assets/{asset}");
    assert_eq!(app.project_b.token.get(&path).await.status, 404);
}

#[tokio::test]
async fn tokens_are_searched_in_the_projects_own_market_alone() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    seed::tokens(&app.store, seed::UNKNOWN, 8..10, "Étoile relic").await;
    app.store.join_market(app.project_a.scope, seed::key(RELICS), operator()).await.unwrap();
    app.store.join_market(app.project_b.scope, seed::key(seed::UNKNOWN), operator()).await.unwrap();
    for (project, own) in [(&app.project_a, RELICS), (&app.project_b, seed::UNKNOWN)] {
        let found = project.call("Metadata/SearchTokenMetadataByQuery", json!({ "q": "relic" })).await.ok();
        let found = found["tokenMetadata"].as_array().unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|token| token["contractAddress"] == own), "{found:?}");
    }
}
