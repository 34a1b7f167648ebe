//! Every shared write keeps who said it.

use bourse_server::{Effect, router};
use bourse_store::{
    Act, Attribution, AttributionPage, AuditPage, AuditRecord, Author, CredentialId, Extent, Identity, Sender,
};
use serde_json::{Value, json};

use crate::authority::case;
use crate::support::project::Project;
use crate::support::seed::{self, RELICS, key};
use crate::support::{TestApp, wait_until};
use crate::venues::first_of;

/// What an operation that writes leaves behind.
enum Trace {
    /// Who stated it is kept with the version of the collection.
    Steward,
    /// It only has metadata fetched, and says that it waits.
    Fetcher,
    /// It is in the audit log.
    Audit(Act),
    /// It is the project's own, or has a test of its own.
    Elsewhere,
}

/// Every operation that writes has a case, so that a new one without fails.
fn trace(operation: &str) -> (Trace, Value) {
    let relics = |more: Value| {
        let mut body = json!({ "chainID": "137", "contractAddress": RELICS });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let (service, name) = operation.split_once('/').unwrap();
    match (service, name) {
        (
            "Ingest",
            "PutOrders" | "CancelOrders" | "InvalidateOrders" | "PutTokens" | "PutBalances" | "PutContracts",
        ) => (Trace::Steward, case(operation).0),
        ("Ingest", "PutCurrencies") => (Trace::Audit(Act::CurrenciesStated), case(operation).0),
        ("Admin", "CreateCollection") => (Trace::Audit(Act::CollectionFollowed), case(operation).0),
        ("Admin", "DeleteCollection") => (Trace::Audit(Act::CollectionLeft), case(operation).0),
        ("Admin", "PutStorefront") => (Trace::Audit(Act::StorefrontChanged), json!({ "storefront": {} })),
        ("Indexer", "AddWebhookListener") => {
            let told =
                json!({ "url": "https://hooks.example/", "filters": { "contractAddresses": [RELICS] } });
            (Trace::Audit(Act::WebhookAdded), relics(told))
        }
        ("Metadata", "RefreshTokenMetadata" | "RefreshContractTokens" | "EnqueueTokensForRefresh") => {
            (Trace::Fetcher, relics(json!({ "tokenIDs": ["1"] })))
        }
        ("Metadata", "RefreshContractInfo") => (Trace::Fetcher, relics(json!({}))),
        ("Metadata", "RefreshContractInfoBatch") => {
            (Trace::Fetcher, json!({ "chainID": "137", "contractAddresses": [RELICS] }))
        }
        // Of all tokens of a collection the metadata says nothing, and the others of the indexer are of a webhook that is there.
        ("Metadata", "RefreshAllContractTokens")
        | ("Builder" | "Collections" | "Indexer", _)
        | ("Ingest", "TrackEvents")
        | ("Marketplace", "SyncOrder" | "SyncOrders" | "Execute") => (Trace::Elsewhere, Value::Null),
        _ => panic!("what does {operation} leave behind?"),
    }
}

async fn attributions(app: &TestApp) -> Vec<Attribution> {
    app.store.attributions(key(RELICS), AttributionPage::newest(100)).await.unwrap()
}

async fn audit(app: &TestApp) -> Vec<AuditRecord> {
    app.store.audit(Extent::Everything, AuditPage { before: None, limit: 500 }).await.unwrap()
}

fn by_token(project: &Project) -> Sender {
    Sender { project: project.id, credential: CredentialId::SecretToken(project.token_id.as_str().into()) }
}

#[tokio::test]
async fn every_operation_that_writes_leaves_its_author() {
    let node = [("networks.polygon.id", "137"), ("networks.polygon.rpc_url", "https://node.example")];
    let mut tried = 0;
    for route in router::operations() {
        if route.effect != Effect::Writes {
            continue;
        }
        let operation = format!("{}/{}", route.service.name(), route.name);
        let (trace, body) = trace(&operation);
        if matches!(trace, Trace::Elsewhere) {
            continue;
        }
        let (app, ()) = TestApp::prepared(&node, async |store, _, _| seed::relics(store).await).await;
        if operation.ends_with("CancelOrders") || operation.ends_with("InvalidateOrders") {
            app.project_b.call("Ingest/PutOrders", case("Ingest/PutOrders").0).await.ok();
        }
        if operation == "Admin/DeleteCollection" {
            app.project_a.call("Admin/CreateCollection", case("Admin/CreateCollection").0).await.ok();
        }
        let (before, audited) = (attributions(&app).await.len(), audit(&app).await.len());
        let caller = app.project_a.token.from([192, 0, 2, 9]);
        caller.call(&operation, body).await.ok();
        tried += 1;
        let (after, log) = (attributions(&app).await, audit(&app).await);
        let added = (after.len() - before, log.len() - audited);
        match trace {
            Trace::Steward => {
                // Whoever is the first of a project to state something of a collection puts it into the project's market.
                let others = log[..added.1].iter().filter(|entry| entry.act != Some(Act::MarketJoined));
                assert_eq!((added.0, others.count()), (1, 0), "{operation}");
                assert_eq!(after[0].author, Author::Steward(by_token(&app.project_a)), "{operation}");
                assert_eq!(after[0].at, app.now(), "{operation}");
            }
            Trace::Fetcher => {
                assert_eq!(added, (1, 0), "{operation}");
                assert_eq!(after[0].author, Author::Fetcher, "{operation}");
            }
            Trace::Audit(act) => {
                assert_eq!(added, (0, 1), "{operation}");
                assert_eq!((log[0].act, log[0].project), (Some(act), Some(app.project_a.id)), "{operation}");
                assert_eq!(log[0].actor.identity, Identity::Program(by_token(&app.project_a)), "{operation}");
                assert_eq!(log[0].actor.address, Some([192, 0, 2, 9].into()), "{operation}");
            }
            Trace::Elsewhere => {}
        }
    }
    assert!(tried >= 12, "only {tried} were tried");
}

#[tokio::test]
async fn what_was_signed_is_said_by_who_signed_it() {
    let app = TestApp::start().await;
    let order = first_of("seaport", "a token for the chain's own currency");
    let answer = app.project_a.token.call("Ingest/PutOrders", json!({ "orders": [order] })).await.ok();
    assert_eq!(answer["accepted"], 1, "{answer}");
    let collection =
        bourse_store::CollectionKey { chain: bourse_wire::ChainId(1), ..key(crate::venues::COLLECTION) };
    let found = app.store.attributions(collection, AttributionPage::newest(10)).await.unwrap();
    let Author::Wallet { wallet: Some(_), sender } = &found[0].author else { panic!("{found:?}") };
    assert_eq!(*sender, by_token(&app.project_a));
    assert_eq!((found[0].orders, found[0].order_keys.len()), (1, 1));
}

#[tokio::test]
async fn who_said_what_is_forgotten_after_so_many_days() {
    for (days, expected) in [(11, (true, false)), (21, (true, true))] {
        let app = TestApp::with(&[("storage.attributions_days", "10"), ("storage.audit_days", "20")]).await;
        app.project_a.call("Ingest/PutTokens", case("Ingest/PutTokens").0).await.ok();
        assert!(!attributions(&app).await.is_empty() && !audit(&app).await.is_empty());
        app.clock.advance(days * 24 * 3_600);
        let background = app.background();
        wait_until("it is forgotten", async || {
            (attributions(&app).await.is_empty(), audit(&app).await.is_empty()) == expected
        })
        .await;
        background.stop().await;
    }
}
