//! Anything anybody might send: never a failure of ours, always an answer of the one shape.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, Uri};
use bourse_server::{State, router};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::random::check;
use crate::support::seed::{self, ACCOUNT, RELICS};

/// Values that have broken something somewhere.
static HARD: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let texts = [
        "",
        "0",
        "-1",
        "1e9",
        "null",
        "\u{0}",
        "a\u{0}b",
        "\u{202e}\u{feff}",
        "👨‍👩‍👧‍👦",
        "e\u{301}",
        "'; DROP TABLE tokens; --",
        "%00",
        "../../etc/passwd",
        "$1 ?1 {}",
        "polygon",
        RELICS,
        "0x",
        "99999999999999999999",
        "9223372036854775807",
        "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        "\u{10ffff}\r\n",
    ];
    let numbers =
        ["0", "-0", "-1", "1.5", "1e400", "-1E-400", "9223372036854775808", "18446744073709551616", "1e3"];
    let mut values: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    values.extend(numbers.iter().map(|text| serde_json::from_str(text).unwrap()));
    values.extend([json!(null), json!(true), json!([]), json!({}), json!([[], {}, null]), deep]);
    values.extend([json!({ "$serde_json::private::Number": "x" }), json!("x".repeat(300_000))]);
    values
});

/// A body that each operation takes.
fn valid_body(operation: &str) -> Value {
    let link = json!({ "chainId": "137", "contractAddress": RELICS, "collectionId": 1 });
    let token = json!({
        "tokenId": "5", "name": "n", "description": "d", "image": "i", "properties": { "a": 1 },
        "attributes": [{ "b": "c" }], "decimals": 3, "updatedAt": "2024-01-01T00:00:00Z",
    });
    let metadata =
        json!({ "name": "n", "externalLink": "l", "properties": { "a": 1 }, "attributes": [{ "b": 2 }] });
    let collection = json!({ "id": 1, "metadata": metadata, "private": false });
    let asset =
        json!({ "id": 1, "collectionId": 1, "tokenId": "1", "metadataField": "image", "filename": "f" });
    let contacts = json!([{ "name": "n", "address": ACCOUNT, "email": "a@b.cd" }]);
    let page =
        json!({ "page": 1, "pageSize": 2, "after": null, "sort": [{ "column": "a", "order": "DESC" }] });
    json!({
        "projectId": 1, "chainID": "137", "contractAddress": RELICS, "contractAddresses": [RELICS],
        "contractTokenMap": { RELICS: ["1", "2"] }, "tokenIDs": ["1", 2], "collectionId": 1, "tokenId": "1",
        "assetId": 1, "audienceId": 1, "name": format!("for {operation}"), "contactIds": [1, 2], "recursive": true,
        "private": true, "token": token, "collection": collection, "asset": asset, "contacts": contacts,
        "contractCollection": link, "page": page,
    })
}

fn any_json() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        4 => any::<Index>().prop_map(|index| index.get(&HARD).clone()),
        1 => any::<i64>().prop_map(|number| json!(number)),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => vec(any::<char>(), 0..12).prop_map(|letters| json!(String::from_iter(letters))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![
            select(vec!["name", "tokenId", "chainId", "", "\u{0}", "__proto__"]).prop_map(str::to_owned),
            ".{0,4}"
        ];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name, inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A change to a valid body: which members to walk down, and what to put there; nothing takes the member away.
type Mutation = (Vec<Index>, Option<Value>);

fn mutate(value: &mut Value, (path, with): &Mutation) {
    let (Some((first, rest)), false) = (path.split_first(), is_leaf(value)) else {
        *value = with.clone().unwrap_or_default();
        return;
    };
    let deeper = (rest.to_vec(), with.clone());
    match value {
        Value::Object(members) => {
            let name = members.keys().nth(first.index(members.len())).unwrap().clone();
            if rest.is_empty() && with.is_none() {
                members.remove(&name);
            } else {
                mutate(&mut members[&name], &deeper);
            }
        }
        Value::Array(items) => {
            let index = first.index(items.len());
            mutate(&mut items[index], &deeper);
        }
        _ => unreachable!("leaves were told apart"),
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

#[derive(Clone, Debug)]
enum Sent {
    Bytes(Vec<u8>),
    Json(Value),
    Mutated(Vec<Mutation>),
    /// A valid body as text, cut off and with some bytes changed.
    Torn(Index, Vec<(Index, u8)>),
}

fn any_body() -> impl Strategy<Value = Sent> {
    let mutation = (vec(any::<Index>(), 1..4), proptest::option::weighted(0.9, any_json()));
    prop_oneof![
        1 => vec(any::<u8>(), 0..200).prop_map(Sent::Bytes),
        1 => any_json().prop_map(Sent::Json),
        6 => vec(mutation, 1..4).prop_map(Sent::Mutated),
        1 => (any::<Index>(), vec((any::<Index>(), any::<u8>()), 0..4)).prop_map(|(end, changes)| Sent::Torn(end, changes)),
    ]
}

fn bytes_of(sent: &Sent, operation: &str) -> Vec<u8> {
    let mut valid = valid_body(operation);
    match sent {
        Sent::Bytes(bytes) => bytes.clone(),
        Sent::Json(value) => value.to_string().into_bytes(),
        Sent::Mutated(mutations) => {
            for mutation in mutations {
                mutate(&mut valid, mutation);
            }
            valid.to_string().into_bytes()
        }
        Sent::Torn(end, changes) => {
            let mut bytes = valid.to_string().into_bytes();
            for (index, byte) in changes {
                let index = index.index(bytes.len());
                bytes[index] = *byte;
            }
            bytes.truncate(end.index(bytes.len() + 1));
            bytes
        }
    }
}

/// Fails unless an answer is a success or an error of the one shape that is not our fault.
fn check_answer(answer: &Answer, planned: bool) {
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
    let ours = answer.status >= 500 && (answer.refusal() != (501, 9999) || !planned);
    assert!(!ours, "{shown}");
}

/// A service with some data in it, and a runtime to call it from.
fn service() -> (tokio::runtime::Runtime, TestApp) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let app = runtime.block_on(async {
        let app = TestApp::start().await;
        seed::relics(&app.store).await;
        seed::belongings(&app.store, &app.project_a, "Relics", false).await;
        app
    });
    (runtime, app)
}

#[test]
fn the_bodies_that_are_mutated_are_valid_ones() {
    let (runtime, app) = service();
    for route in router::operations().iter().filter(|route| route.state == State::Ready) {
        let operation = route.path().replace("/rpc/", "");
        let answer = runtime.block_on(app.project_a.call(&operation, valid_body(&operation)));
        // What is there already, or was deleted by the operation before, is fine: the body was understood.
        assert!(matches!(answer.status, 200 | 404 | 409), "{operation}: {}", answer.json);
    }
}

#[test]
fn any_body_gets_an_answer() {
    let (runtime, app) = service();
    let routes = router::operations();
    check(5000, &(any::<Index>(), any_body()), |(index, sent)| {
        let route = index.get(&routes);
        let operation = route.path().replace("/rpc/", "");
        let body = bytes_of(&sent, &operation);
        let answer = runtime.block_on(app.project_a.presenting(&operation).post(&route.path(), body));
        check_answer(&answer, route.state == State::Planned);
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
    let planned: Vec<String> = router::operations()
        .iter()
        .filter(|route| route.state == State::Planned)
        .map(bourse_server::Route::path)
        .collect();
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
        check_answer(&answer, planned.iter().any(|planned| path.ends_with(planned)));
    });
}
