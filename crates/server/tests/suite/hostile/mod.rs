//! Anything anybody might send: never a failure of ours, always an answer of the one shape.

pub(crate) mod values;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use bourse_server::{Credential, Service, router};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

use crate::marketplace::{commit, listing, offer, order, with};
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::market::put;
use crate::support::random::check;
use crate::support::seed::{self, RELICS};
use values::{HARD, any_body, bytes_of, known_members, places, valid_body};

/// Fails unless an answer is a success or an error of the one shape that is not our fault.
fn check_answer(answer: &Answer) {
    // What was compressed was JSON or a page before; only the bodies of errors are small enough to be left alone.
    if !answer.header("content-encoding").is_empty() {
        return assert_eq!(answer.status, 200);
    }
    let shown = format!("{} {:.300}", answer.status, answer.text());
    if matches!(answer.status, 200 | 304) {
        let json = answer.header("content-type") == "application/json" && !answer.body.is_empty();
        assert!(!json || answer.json.is_object(), "{shown}");
        return;
    }
    let text = |name: &str| answer.json[name].as_str().unwrap_or_else(|| panic!("{name}: {shown}"));
    assert!(!text("error").is_empty() && !text("msg").is_empty(), "{shown}");
    assert_eq!(text("msg"), text("message"), "{shown}");
    assert_eq!(answer.json["status"], answer.status, "{shown}");
    let members: Vec<&String> = answer.json.as_object().unwrap().keys().collect();
    let known = ["error", "code", "msg", "message", "cause", "status"];
    assert!(members.iter().all(|member| known.contains(&member.as_str())), "{shown}");
    assert!(answer.status < 500, "{shown}");
}

/// A service with some data in it, and a runtime to call it from.
fn service() -> (tokio::runtime::Runtime, TestApp) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let app = runtime.block_on(async {
        let node = [
            ("networks.polygon.id", "137"),
            ("networks.polygon.rpc_url", "http://127.0.0.1:1"),
            ("limits.wallet_proofs_per_minute", "1000000"),
        ];
        let app = TestApp::with(&node).await;
        seed::relics(&app.store).await;
        seed::belongings(&app.store, &app.project_a, "Relics", false).await;
        let open = json!({ "audienceId": 1, "registrationOpen": true });
        app.project_a.call("Builder/UpdateAudience", open).await.ok();
        // Something to trade, for what the bodies say.
        let money =
            json!({ "contractAddress": RELICS, "name": "n", "symbol": "s", "decimals": 18, "exchangeRate": "1" });
        put(&app, "PutCurrencies", json!({ "chainId": 137, "currencies": [money] })).await;
        let own = json!({ "marketplace": "service_marketplace_v2", "priceCurrencyAddress": RELICS });
        let orders = [with(listing("1", 1, 100_000), own.clone()), with(offer("2", 1, 100_000), own)];
        commit(&app.store, orders.into_iter().map(order).collect()).await;
        app
    });
    (runtime, app)
}

#[test]
fn the_bodies_that_are_mutated_are_valid_ones() {
    let (runtime, app) = service();
    for route in &router::operations() {
        let operation = route.path().replace("/rpc/", "");
        let answer = runtime.block_on(app.project_a.call(&operation, valid_body(&operation)));
        // What is there already, was deleted by the operation before, or would be known by a node is fine: the body was
        // understood.
        let is_understood =
            ["NotFound", "Unavailable"].contains(&answer.json["error"].as_str().unwrap_or_default());
        assert!(is_understood || matches!(answer.status, 200 | 409), "{operation}: {}", answer.json);
    }
}

/// Every hard value in every place of every body that a service reads.
fn check_every_member(of: Service) {
    let (runtime, app) = service();
    let mut routes = router::operations();
    routes.retain(|route| route.service == of && route.credential != Credential::None);
    // What deletes comes last, so that there is something for the others.
    routes.sort_by_key(|route| route.name.starts_with("Delete"));
    for route in &routes {
        let operation = route.path().replace("/rpc/", "");
        let valid = known_members(&operation);
        for place in places(&valid) {
            for hard in HARD.iter() {
                let mut body = valid.clone();
                let pointer = place.iter().fold(String::new(), |pointer, name| pointer + "/" + name);
                *body.pointer_mut(&pointer).unwrap() = hard.clone();
                let answer = runtime.block_on(app.project_a.call(&operation, body));
                let shown = format!("{operation} with {hard:.60} at {pointer}");
                assert!(answer.status < 500, "{shown}: {}", answer.text());
                check_answer(&answer);
            }
        }
    }
}

/// A test for each service, so that they run beside each other.
macro_rules! every_member_may_have_any_value {
    ($($test:ident: $service:ident,)*) => {
        $(#[test]
        fn $test() {
            check_every_member(Service::$service);
        })*

        #[test]
        fn every_service_is_tested_member_by_member() {
            assert_eq!(Service::ALL, [$(Service::$service),*]);
        }
    };
}

every_member_may_have_any_value! {
    members_of_metadata_may_have_any_value: Metadata,
    members_of_collections_may_have_any_value: Collections,
    members_of_marketplace_may_have_any_value: Marketplace,
    members_of_builder_may_have_any_value: Builder,
    members_of_analytics_may_have_any_value: Analytics,
    members_of_indexer_may_have_any_value: Indexer,
    members_of_indexer_gateway_may_have_any_value: IndexerGateway,
    members_of_ingest_may_have_any_value: Ingest,
    members_of_admin_may_have_any_value: Admin,
    members_of_storefront_may_have_any_value: Storefront,
}

/// The JSON library would parse the text of such a member in the place of its object, however deep it nests.
#[test]
fn no_operation_takes_private_names_of_the_json_library() {
    let (runtime, app) = service();
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    for route in router::operations().iter().filter(|route| route.credential != Credential::None) {
        for name in ["$serde_json::private::RawValue", r"\u0024serde_json::private::RawValue"] {
            let body = format!(r#"{{"free":{{"{name}":"{deep}"}}}}"#);
            let answer = runtime.block_on(app.project_a.token.post(&route.path(), body));
            assert_eq!(answer.refusal(), (400, -4), "{}: {}", route.path(), answer.json);
        }
    }
    let token = format!(
        r#"{{"chainId":137,"contractAddress":"{RELICS}","tokenId":"1","properties":{{"a":{{"$serde_json::private::RawValue":"{deep}"}}}}}}"#
    );
    let put = runtime
        .block_on(app.project_a.token.post("/rpc/Ingest/PutTokens", format!(r#"{{"tokens":[{token}]}}"#)));
    assert_eq!(put.refusal(), (400, -4));
    assert!(put.text().contains("is not a name that a member may have"), "{}", put.text());
}

#[test]
fn any_body_gets_an_answer() {
    let (runtime, app) = service();
    let routes = router::operations();
    check(2000, &(any::<Index>(), any_body()), |(index, sent)| {
        let route = index.get(&routes);
        let operation = route.path().replace("/rpc/", "");
        let body = bytes_of(&sent, &operation);
        let answer = runtime.block_on(app.project_a.presenting(&operation).post(&route.path(), body));
        check_answer(&answer);
    });
    // Whatever was sent, the service and the other project are as they were.
    let answer = runtime.block_on(app.project_b.call("Collections/ListCollections", json!({}))).ok();
    assert_eq!(answer["collections"], json!([]));
}

fn any_path() -> impl Strategy<Value = String> {
    let segments = vec![
        "rpc",
        "Metadata",
        "Ping",
        "RuntimeStatus",
        "Version",
        "GetContractInfo",
        "Collections",
        "CreateCollection",
        "polygon",
        "137",
        "projects",
        "1",
        "collections",
        "tokens",
        "assets",
        "asset",
        "image",
        "upload",
        "1.json",
        "404",
        "health",
        "docs",
        "..",
        "",
        "%00",
        "%2e%2e",
        "%FF",
        "%F0%9F",
        "0",
        "18446744073709551616",
        "style.css",
        "metrics",
        "openapi.json",
        "{id}",
    ];
    let segment = prop_oneof![6 => select(segments).prop_map(str::to_owned), 1 => "[!-~]{0,12}"];
    let shaped = select(vec![
        "/projects/1/collections/{}",
        "/projects/1/collections/1/tokens/{}",
        "/projects/1/collections/1/tokens/1/asset/{}",
        "/projects/1/collections/1/assets/{}",
        "/projects/1/collections/1/assets/{}/upload",
        "/projects/1/collections/1/tokens/1/upload/{}",
        "/projects/{}/collections/1",
        "/{}/rpc/Metadata/GetContractInfo",
        "/rpc/Metadata/{}",
    ]);
    prop_oneof![
        vec(segment.clone(), 0..7).prop_map(|segments| format!("/{}", segments.join("/"))),
        (shaped, segment).prop_map(|(path, segment)| path.replace("{}", &segment)),
    ]
}

fn any_headers() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let names = vec![
        "accept",
        "content-type",
        "authorization",
        "x-access-key",
        "origin",
        "accept-encoding",
        "content-length",
        "webrpc",
        "if-none-match",
        "access-control-request-method",
        "access-control-request-headers",
        "host",
        "range",
    ];
    let texts = vec![
        "application/json",
        "application/json; charset=utf-8",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "Bearer ",
        "Bearer a.b.c",
        "bearer",
        "gzip",
        "text/csv",
        "*",
        "br;q=0, gzip;q=x",
        "https://a.example",
        "null",
        "0",
        "99999999999999999999",
        "-1",
        "POST",
        "\"\"",
    ];
    let value = prop_oneof![
        3 => select(texts).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..24),
    ];
    vec((select(names), value), 0..4)
}

#[test]
fn any_request_gets_an_answer() {
    let (runtime, app) = service();
    let method = select(vec!["GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "BREW"]);
    let body = prop_oneof![
        vec(any::<u8>(), 0..64),
        Just(b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\xff\"\r\n\r\n<svg/>\r\n--x--\r\n".to_vec()),
        Just(b"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\x89PNG\r\n\x1a\n\r\n--x--\r\n".to_vec()),
    ];
    let strategy = (method, any_path(), any_headers(), body, any::<Option<bool>>());
    check(8000, &strategy, |(method, path, headers, body, credential)| {
        let Ok(uri) = path.parse::<Uri>() else { return };
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        *request.uri_mut() = uri;
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                request.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        let actor = match credential {
            None => &app.anonymous,
            Some(false) => &app.project_a.key,
            Some(true) => &app.project_a.token,
        };
        let answer = runtime.block_on(actor.send(request));
        // The answer to HEAD has no body to look at.
        if method == "HEAD" {
            return assert!(answer.status < 500 && answer.body.is_empty(), "{answer:?}");
        }
        check_answer(&answer);
    });
}
