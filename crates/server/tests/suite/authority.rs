//! Who may state what of the market that all projects share.

use bourse_server::{Credential, Service, router};
use bourse_store::testing::{operator, operator_at};
use bourse_store::{CollectionKey, Grant, Reach, Store, Subject};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use crate::marketplace::with;
use crate::support::project::{Project, everything};
use crate::support::seed::{ACCOUNT, RELICS};
use crate::support::{START, TestApp};
use crate::venues::first_of;

const OTHER: &str = "0x00000000000000000000000000000000000000ee";

/// Operations that state something all projects share: a body, and what a project must be a steward of. Every operation of
/// these services has a case, so that a new one without fails.
pub(crate) fn case(operation: &str) -> (Value, Option<Subject>) {
    let of = |member: &str, record: Value| json!({ "chainId": 137, member: [record] });
    let order = json!({ "orderId": "1", "marketplace": "opensea", "side": "listing", "tokenId": "1", "createdBy": ACCOUNT,
        "collectionContractAddress": RELICS, "priceAmount": "1", "priceCurrencyAddress": ACCOUNT,
        "validUntil": "2030-01-01T00:00:00Z" });
    let token = json!({ "contractAddress": RELICS, "tokenId": "9", "name": "n" });
    let balance = json!({ "contractAddress": RELICS, "tokenId": "9", "account": ACCOUNT, "balance": "1" });
    let contract = json!({ "address": RELICS, "contractType": "ERC721", "name": "n" });
    let currency =
        json!({ "contractAddress": RELICS, "name": "n", "symbol": "s", "decimals": 18, "exchangeRate": "1" });
    let event = json!({ "wallet": ACCOUNT, "kind": "session" });
    match operation {
        "Ingest/PutOrders" => (of("orders", order), Some(Subject::Collections)),
        "Ingest/CancelOrders" | "Ingest/InvalidateOrders" => {
            (of("orders", order), Some(Subject::Collections))
        }
        "Ingest/PutTokens" => (of("tokens", token), Some(Subject::Collections)),
        "Ingest/PutBalances" => (of("balances", balance), Some(Subject::Collections)),
        "Ingest/PutContracts" => (of("contracts", contract), Some(Subject::Identity)),
        "Ingest/PutCurrencies" => (of("currencies", currency), Some(Subject::Currencies)),
        "Admin/CreateCollection" | "Admin/DeleteCollection" => {
            (json!({ "chainId": 137, "contractAddress": RELICS }), Some(Subject::Collections))
        }
        // A project's own events.
        "Ingest/TrackEvents" => (json!({ "batchId": "b", "events": [event] }), None),
        // A project's own storefront.
        "Admin/GetStorefront" | "Admin/PutStorefront" => (json!({ "storefront": {} }), None),
        "Ingest/Ping" | "Admin/Ping" => (json!({}), None),
        _ => panic!("who may call {operation}?"),
    }
}

fn contract(address: &str) -> CollectionKey {
    CollectionKey { chain: ChainId(137), address: address.parse().unwrap() }
}

/// Whether the operation was let state what it says, whatever else it said of it.
fn is_let(operation: &str, status: u16, answer: &Value) -> bool {
    let rejected =
        answer["rejected"].as_array().is_some_and(|all| all.iter().any(|one| one["reason"] == "not-granted"));
    assert!(status < 500, "{operation}: {answer}");
    status != 403 && !rejected
}

/// What a project may be granted, and whether that lets it state a subject of `RELICS`.
fn reaches(subject: Subject) -> [(Vec<Grant>, bool); 7] {
    let grant = |reach| vec![Grant { subject, reach }];
    [
        (vec![], false),
        (grant(Reach::Everywhere), true),
        (grant(Reach::Chain(ChainId(137))), true),
        (grant(Reach::Contract(contract(RELICS))), true),
        (grant(Reach::Chain(ChainId(1))), false),
        (grant(Reach::Contract(contract(OTHER))), false),
        (everything().into_iter().filter(|grant| grant.subject != subject).collect(), false),
    ]
}

/// A project that has these grants and no others.
async fn granted(store: &Store, grants: Vec<Grant>) -> Project {
    let project = Project::create(store, "steward").await;
    for grant in everything() {
        store.remove_grant(project.scope, grant, operator()).await.unwrap();
    }
    store.add_grants(project.scope, grants, operator_at(START.parse().unwrap())).await.unwrap();
    project
}

#[tokio::test]
async fn only_stewards_state_what_is_shared() {
    let (app, projects) = TestApp::prepared(&[], async |store, _, _| {
        let mut projects = Vec::new();
        for subject in Subject::ALL {
            for (grants, expected) in reaches(*subject) {
                projects.push((*subject, granted(store, grants.clone()).await, grants, expected));
            }
        }
        projects
    })
    .await;
    let mut tried = 0;
    for route in router::operations() {
        if !matches!(route.service, Service::Ingest | Service::Admin) {
            continue;
        }
        let operation = format!("{}/{}", route.service.name(), route.name);
        let (body, Some(subject)) = case(&operation) else { continue };
        assert_eq!(route.credential, Credential::SecretToken, "{operation}");
        assert_eq!(app.anonymous.call(&operation, body.clone()).await.status, 401, "{operation}");
        assert_eq!(app.project_a.key.call(&operation, body.clone()).await.status, 403, "{operation}");
        for (_, project, grants, expected) in projects.iter().filter(|(of, ..)| *of == subject) {
            let token = app.anonymous.with("authorization", &format!("Bearer {}", project.token_text));
            let answer = token.call(&operation, body.clone()).await;
            let is_let = is_let(&operation, answer.status, &answer.json);
            assert_eq!(is_let, *expected, "{operation} with {grants:?}: {}", answer.json);
            tried += 1;
        }
    }
    assert!(tried >= 9 * 7, "only {tried} were tried");
}

/// A service, and a project that may state nothing.
async fn with_stranger() -> (TestApp, Project) {
    let (app, stranger) = TestApp::prepared(&[], async |store, _, _| granted(store, vec![]).await).await;
    let stranger = stranger.calling(&app.anonymous);
    (app, stranger)
}

#[tokio::test]
async fn what_is_not_granted_changes_nothing() {
    let (app, stranger) = with_stranger().await;
    let (body, _) = case("Ingest/PutOrders");
    app.project_b.token.call("Ingest/PutOrders", body.clone()).await.ok();
    for operation in ["Ingest/PutOrders", "Ingest/CancelOrders", "Ingest/InvalidateOrders"] {
        let mut forged = body.clone();
        forged["orders"][0]["priceAmount"] = json!("7");
        let answer = stranger.token.call(operation, forged).await.ok();
        assert_eq!(
            (&answer["accepted"], &answer["changed"]),
            (&json!(0), &json!(0)),
            "{operation}: {answer}"
        );
    }
    let asked = json!({ "chainId": 137, "input": [
        { "contractAddress": RELICS, "orderId": "1", "marketplace": "opensea" }] });
    let found = app.project_a.key.call("Marketplace/GetOrders", asked).await.ok();
    assert_eq!(found["orders"][0]["priceAmount"], "1", "{found}");
}

#[tokio::test]
async fn the_maker_vouches_for_what_they_signed() {
    let (_app, stranger) = with_stranger().await;
    let order = first_of("seaport", "a token for the chain's own currency");
    let answer = stranger.token.call("Ingest/PutOrders", json!({ "orders": [order] })).await.ok();
    assert_eq!(answer["accepted"], 1, "{answer}");
}

/// What was signed and what somebody states of it, in one request, before anything of it is stored.
#[tokio::test]
async fn what_is_stated_beside_a_signed_order_is_rejected_by_name() {
    let app = TestApp::start().await;
    let signed = first_of("seaport", "a token for the chain's own currency");
    let known = TestApp::start().await;
    known.project_a.token.call("Ingest/PutOrders", json!({ "orders": [signed] })).await.ok();
    let collection = json!(crate::venues::COLLECTION);
    let money = json!({ "contractAddress": "0x0000000000000000000000000000000000000000", "name": "n", "symbol": "s", "decimals": 18 });
    let money = json!({ "chainId": 1, "currencies": [money] });
    known.project_a.token.call("Ingest/PutCurrencies", money).await.ok();
    let body = json!({ "chainId": 1, "contractAddress": collection, "side": "listing" });
    let listed = known.project_a.key.call("Marketplace/ListCollectibles", body).await.ok();
    let cheaper = with(listed["collectibles"][0]["listing"].clone(), json!({ "priceAmount": "1" }));
    for orders in [json!([cheaper, signed]), json!([signed, cheaper])] {
        let stated = orders.as_array().unwrap().iter().position(|order| order.get("native").is_none());
        let answer = app.project_a.token.call("Ingest/PutOrders", json!({ "orders": orders })).await.ok();
        assert_eq!(answer["rejected"][0]["reason"], "signed-by-maker", "{answer}");
        assert_eq!(answer["rejected"][0]["index"], json!(stated));
        assert_eq!(answer["accepted"], 1, "{answer}");
    }
}

/// Row 2: plain facts over what was signed.
#[tokio::test]
async fn nobody_says_what_a_signed_order_is_but_its_maker() {
    let app = TestApp::start().await;
    let signed = first_of("seaport", "a token for the chain's own currency");
    let put = async |order: Value| {
        app.project_a.token.call("Ingest/PutOrders", json!({ "orders": [order] })).await.ok()
    };
    let money = json!({ "contractAddress": "0x0000000000000000000000000000000000000000", "name": "n", "symbol": "s", "decimals": 18 });
    let money = json!({ "chainId": 1, "currencies": [money] });
    app.project_a.token.call("Ingest/PutCurrencies", money).await.ok();
    assert_eq!(put(signed.clone()).await["accepted"], 1);
    let collection = json!(crate::venues::COLLECTION);
    let body = json!({ "chainId": 1, "contractAddress": collection, "side": "listing" });
    let listed = app.project_a.key.call("Marketplace/ListCollectibles", body).await.ok();
    let order = listed["collectibles"][0]["listing"].clone();
    assert_eq!(order["marketplace"], signed["marketplace"], "{listed}");
    for change in [json!({ "priceAmount": "1" }), json!({ "tokenId": "1" }), json!({ "status": "filled" })] {
        let answer = put(with(order.clone(), change.clone())).await;
        assert_eq!(answer["rejected"][0]["reason"], "signed-by-maker", "{change}: {answer}");
    }
    let names = json!([{ "collectionContractAddress": collection, "chainId": 1, "orderId": order["orderId"],
        "marketplace": order["marketplace"] }]);
    let asked = json!({ "chainId": 1, "input": [{ "contractAddress": collection, "orderId": order["orderId"],
        "marketplace": order["marketplace"] }] });
    let found = app.project_a.key.call("Marketplace/GetOrders", asked.clone()).await.ok();
    assert_eq!(
        (&found["orders"][0]["priceAmount"], &found["orders"][0]["tokenId"]),
        (&order["priceAmount"], &order["tokenId"])
    );
    // That it is over can be said.
    let ended = app.project_a.token.call("Ingest/CancelOrders", json!({ "orders": names })).await.ok();
    assert_eq!(ended["changed"], 1, "{ended}");
    let found = app.project_a.key.call("Marketplace/GetOrders", asked).await.ok();
    assert_eq!(found["orders"][0]["status"], "cancelled", "{found}");
}
