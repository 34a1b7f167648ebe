//! The order of the checks, and what every answer has.

use axum::body::Body;
use axum::http::{Method, Request};
use bourse_server::{Credential, router};
use serde_json::json;

use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::seed;

fn request(method: Method, path: &str, content_type: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header("content-type", content_type);
    request.body(Body::from("not JSON")).unwrap()
}

/// Each check is seen to come before the next one: everything after it is wrong as well.
#[tokio::test]
async fn route_then_method_then_content_type_then_credential_then_body() {
    let app = TestApp::start().await;
    let (nobody, a) = (&app.anonymous, &app.project_a.key);
    let path = "/rpc/Metadata/GetContractInfo";
    let answer = nobody.send(request(Method::GET, "/rpc/Metadata/Nothing", "text/plain")).await;
    assert_eq!(answer.refusal(), (404, -2));
    let answer = nobody.send(request(Method::GET, path, "text/plain")).await;
    assert_eq!(answer.refusal(), (405, -3));
    assert_eq!(answer.header("allow"), "POST");
    let answer = nobody.send(request(Method::POST, path, "text/plain")).await;
    assert_eq!(answer.refusal(), (400, -4));
    assert!(answer.json["message"].as_str().unwrap().contains("Content-Type"), "{}", answer.json);
    let answer = nobody.send(request(Method::POST, path, "application/json")).await;
    assert_eq!(answer.refusal(), (401, 1000));
    let answer = a.send(request(Method::POST, path, "application/json")).await;
    assert_eq!(answer.refusal(), (400, -4));
}

#[tokio::test]
async fn every_method_but_post_is_refused_on_every_operation() {
    let app = TestApp::start().await;
    for route in router::operations() {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
            let answer = app.anonymous.request(method.clone(), &route.path()).await;
            // The CORS layer answers what may be a preflight.
            if method != Method::OPTIONS {
                assert_eq!(
                    (answer.refusal(), answer.header("allow")),
                    ((405, -3), "POST"),
                    "{}",
                    route.path()
                );
            }
        }
    }
}

#[tokio::test]
async fn content_type_in_any_case_and_with_parameters() {
    let app = TestApp::start().await;
    for content_type in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json ;x=\"y\"",
    ] {
        let request = Request::post("/rpc/Metadata/Ping").header("content-type", content_type);
        assert_eq!(
            app.anonymous.send(request.body(Body::empty()).unwrap()).await.status,
            200,
            "{content_type}"
        );
    }
}

#[tokio::test]
async fn every_operation_asks_for_its_credential() {
    let app = TestApp::start().await;
    for route in router::operations() {
        let operation = route.path().replace("/rpc/", "");
        let nobody = app.anonymous.call(&operation, json!({})).await;
        let key = app.project_a.key.call(&operation, json!({})).await;
        match route.credential {
            Credential::None => assert_eq!((nobody.status, key.status), (200, 200), "{operation}"),
            Credential::AccessKey | Credential::ServiceKey => {
                assert_eq!(nobody.refusal(), (401, 1000), "{operation}");
                assert!(!matches!(key.status, 401 | 403), "{operation} {}", key.json);
            }
            Credential::SecretToken => {
                assert_eq!(nobody.refusal(), (401, 1000), "{operation}");
                assert_eq!(key.refusal(), (403, 1001), "{operation}");
            }
        }
        assert_ne!(key.status, 501, "{operation}");
    }
}

/// What every answer has, whatever it is about.
fn check_common(what: &str, answer: &Answer) {
    let id = answer.header("x-request-id");
    let well_formed =
        id.split_once('-').is_some_and(|(process, count)| process.len() == 8 && !count.is_empty());
    assert!(well_formed, "{what}: {id}");
    assert!(answer.header("webrpc").starts_with("webrpc@v"), "{what}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff", "{what}");
}

#[tokio::test]
async fn every_answer_has_an_id_of_its_own() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let mut ids = std::collections::HashSet::new();
    let gets = [
        "/",
        "/health",
        "/ready",
        "/metrics",
        "/docs",
        "/docs/style.css",
        "/openapi.json",
        "/projects/1/collections/1",
        "/projects/1/collections/1/tokens/1",
        "/projects/1/collections/1/assets/1",
        "/projects/1/collections/404",
        "/rpc/Metadata/Ping",
    ];
    for path in gets {
        let answer = app.anonymous.get(path).await;
        check_common(path, &answer);
        assert!(ids.insert(answer.header("x-request-id").to_owned()), "{path}");
    }
    for route in router::operations() {
        let operation = route.path().replace("/rpc/", "");
        for answer in
            [app.anonymous.call(&operation, json!({})).await, app.project_a.call(&operation, json!({})).await]
        {
            check_common(&operation, &answer);
            assert_eq!(answer.header("content-type"), "application/json", "{operation}");
            assert!(ids.insert(answer.header("x-request-id").to_owned()), "{operation}");
        }
    }
}
