//! Requests that are not possible, with good credentials.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::body::{SVG, upload};
use crate::support::seed::{self, ACCOUNT, RELICS, UNKNOWN};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn routes_and_bodies() {
    let app = TestApp::with(&[("limits.body_bytes_max", "300"), ("limits.json_depth_max", "5")]).await;
    let a = &app.project_a.key;
    let mut said = Transcript::default();
    for path in
        ["/", "/rpc/Metadata/Nothing", "/rpc/Nothing/Ping", "/rpc/metadata/ping", "/a/b/rpc/Metadata/Ping"]
    {
        said.note(&format!("POST {path}"), &a.post(path, "{}").await);
    }
    said.note("POST /atlantis/rpc/Metadata/Ping", &a.post("/atlantis/rpc/Metadata/Ping", "{}").await);
    for path in ["/rpc/Metadata/Ping", "/health"] {
        said.note(&format!("DELETE {path}"), &a.request(Method::DELETE, path).await);
    }
    let path = "/rpc/Metadata/GetContractInfo";
    for content_type in ["text/plain", "application/json-patch", ""] {
        let request =
            Request::post(path).header("content-type", content_type).body(Body::from("{}")).unwrap();
        said.note(&format!("content type `{content_type}`"), &a.send(request).await);
    }
    said.note("no content type", &a.send(Request::post(path).body(Body::from("{}")).unwrap()).await);
    let deep = format!(r#"{{"chainID":{}1{}}}"#, "[".repeat(5), "]".repeat(5));
    let long = format!(r#"{{"chainID":"{}"}}"#, "1".repeat(300));
    for body in ["{", "[]", "null", "\"{}\"", "{} {}", "\u{feff}{}", r#"{"chainID":01}"#, &deep, &long] {
        said.note(&format!("body {body:.80}"), &a.post(path, body.to_owned()).await);
    }
    said.note("body that is not UTF-8", &a.post(path, b"{\"chainID\":\"\xff\"}".to_vec()).await);
    insta::assert_snapshot!(said.text());
}

/// Calls each operation, which must find fault with the body.
async fn refuse_all(app: &TestApp, calls: Vec<(&str, Value)>) -> String {
    let mut said = Transcript::default();
    for (operation, body) in calls {
        let answer = said.call(&app.project_a, operation, body.clone()).await;
        assert_eq!(answer["status"], 400, "{operation} {body:.200} {answer}");
    }
    said.text()
}

fn addresses(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("0x{number:040x}")).collect()
}

#[tokio::test]
async fn arguments_of_metadata() {
    let app = TestApp::start().await;
    let ids: Vec<String> = (0..51).map(|id| id.to_string()).collect();
    let many: Value = addresses(51)
        .into_iter()
        .map(|address| (address, json!([])))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let batch =
        |map: Value| ("Metadata/GetTokenMetadataBatch", json!({ "chainID": 137, "contractTokenMap": map }));
    let infos =
        |list: Value| ("Metadata/GetContractInfoBatch", json!({ "chainID": 137, "contractAddresses": list }));
    let tokens = |list: Value| {
        ("Metadata/GetTokenMetadata", json!({ "chainID": 137, "contractAddress": RELICS, "tokenIDs": list }))
    };
    let info =
        |chain: Value| ("Metadata/GetContractInfo", json!({ "chainID": chain, "contractAddress": RELICS }));
    let calls = vec![
        batch(many),
        batch(json!({ RELICS: ids })),
        batch(json!({ "0x12": [] })),
        batch(json!({ RELICS: ["-1"] })),
        batch(json!({ RELICS: "1" })),
        batch(json!(null)),
        infos(json!(addresses(51))),
        infos(json!(["relics", RELICS])),
        tokens(json!(ids)),
        tokens(json!([1.5])),
        info(json!(null)),
        info(json!("atlantis")),
        info(json!(0)),
        info(json!(true)),
        ("Metadata/GetContractInfo", json!({ "chainID": "137" })),
    ];
    insta::assert_snapshot!(refuse_all(&app, calls).await);
}

#[tokio::test]
async fn arguments_of_records() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", true).await;
    let contacts: Vec<Value> =
        addresses(1001).into_iter().map(|address| json!({ "address": address })).collect();
    let numbers: Vec<u64> = (1..1002).collect();
    let create =
        |metadata: Value| ("Collections/CreateCollection", json!({ "collection": { "metadata": metadata } }));
    let token = |token: Value| ("Collections/CreateToken", json!({ "collectionId": 1, "token": token }));
    let list = |page: Value| ("Collections/ListCollections", json!({ "page": page }));
    let add =
        |contacts: Value| ("Builder/AddAudienceContacts", json!({ "audienceId": 1, "contacts": contacts }));
    let calls = vec![
        create(json!(null)),
        create(json!({ "name": "a\u{0}b" })),
        create(json!({ "name": "x".repeat(2049) })),
        ("Collections/UpdateCollection", json!({ "collection": { "metadata": { "name": "x" } } })),
        ("Collections/GetCollection", json!({ "collectionId": 0 })),
        ("Collections/GetCollection", json!({ "collectionId": 9_223_372_036_854_775_808_u64 })),
        list(json!({ "page": 9_223_372_036_854_775_807_u64 })),
        list(json!({ "after": "next" })),
        token(json!({ "name": "x" })),
        token(json!({ "tokenId": "2", "decimals": 256 })),
        token(json!({ "tokenId": "2", "attributes": ["x"] })),
        ("Collections/CreateAsset", json!({ "asset": {} })),
        ("Collections/UpdateAsset", json!({ "asset": { "filename": "x" } })),
        ("Builder/CreateAudience", json!({ "name": " " })),
        ("Builder/CreateAudience", json!({ "name": 7 })),
        add(json!(contacts)),
        add(json!([{ "address": ACCOUNT, "email": "nobody" }])),
        ("Builder/RemoveAudienceContacts", json!({ "audienceId": 1, "contactIds": numbers })),
    ];
    insta::assert_snapshot!(refuse_all(&app, calls).await);
}

#[tokio::test]
async fn missing_and_conflicting() {
    let app = TestApp::start().await;
    seed::belongings(&app.store, &app.project_a, "Relics", true).await;
    let mut said = Transcript::default();
    let link = |contract: &str, collection: u64| {
        let link = json!({ "chainId": "137", "contractAddress": contract, "collectionId": collection });
        json!({ "contractCollection": link })
    };
    for (operation, body) in [
        ("Metadata/GetContractInfo", json!({ "chainID": "137", "contractAddress": UNKNOWN })),
        ("Collections/GetCollection", json!({ "collectionId": 404 })),
        ("Collections/UpdateCollection", json!({ "collection": { "id": 404 } })),
        ("Collections/PublishCollection", json!({ "collectionId": 404 })),
        ("Collections/ListTokens", json!({ "collectionId": 404 })),
        ("Collections/CreateToken", json!({ "collectionId": 404, "token": { "tokenId": "1" } })),
        ("Collections/UpdateToken", json!({ "collectionId": 1, "tokenId": "404", "token": {} })),
        ("Collections/DeleteToken", json!({ "collectionId": 1, "tokenId": "404" })),
        ("Collections/CreateAsset", json!({ "asset": { "collectionId": 1, "tokenId": "404" } })),
        ("Collections/UpdateAsset", json!({ "asset": { "id": 404 } })),
        ("Collections/CreateContractCollection", link(UNKNOWN, 404)),
        ("Collections/UpdateContractCollection", link(RELICS, 404)),
        ("Collections/UpdateContractCollection", link(UNKNOWN, 1)),
        ("Builder/UpdateAudience", json!({ "audienceId": 404, "name": "x" })),
        ("Builder/DeleteAudience", json!({ "audienceId": 404 })),
        ("Builder/AddAudienceContacts", json!({ "audienceId": 404, "contacts": [] })),
        ("Builder/RemoveAudienceContacts", json!({ "audienceId": 404, "contactIds": [] })),
    ] {
        let answer = said.call(&app.project_a, operation, body).await;
        assert_eq!((&answer["status"], &answer["code"]), (&json!(404), &json!(3000)), "{operation} {answer}");
    }
    for (operation, body) in [
        ("Collections/CreateToken", json!({ "collectionId": 1, "token": { "tokenId": "1" } })),
        ("Collections/CreateContractCollection", link(RELICS, 1)),
        ("Builder/CreateAudience", json!({ "name": "Relics" })),
    ] {
        let answer = said.call(&app.project_a, operation, body).await;
        assert_eq!((&answer["status"], &answer["code"]), (&json!(409), &json!(1004)), "{operation} {answer}");
    }
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn uploads() {
    let app = TestApp::with(&[("limits.upload_bytes_max", "200")]).await;
    seed::belongings(&app.store, &app.project_a, "Relics", false).await;
    let mut said = Transcript::default();
    let (a, b) = (&app.project_a, &app.project_b);
    let path = "/projects/1/collections/1/assets/1/upload";
    let large = [SVG, &[b' '; 200]].concat();
    let larger = vec![b' '; 100_000];
    for (what, actor, field, content) in [
        ("no credential", &app.anonymous, "file", SVG),
        ("an access key", &a.key, "file", SVG),
        ("another project", &b.token, "file", SVG),
        ("another type", &a.token, "file", &b"%PDF-1.7"[..]),
        ("an empty file", &a.token, "file", &b""[..]),
        ("a large file", &a.token, "file", &large[..]),
        ("a far larger file", &a.token, "file", &larger[..]),
        ("another field", &a.token, "picture", SVG),
    ] {
        said.note(&format!("PUT {what}"), &actor.send(upload(path, field, "x.svg", content)).await);
    }
    let long = "x".repeat(257);
    said.note("PUT a long name", &a.token.send(upload(path, "file", &long, SVG)).await);
    let request =
        Request::put(path).header("content-type", "application/json").body(Body::from("{}")).unwrap();
    said.note("PUT no form", &a.token.send(request).await);
    let request = Request::put(path)
        .header("content-type", "multipart/form-data; boundary=x")
        .body(Body::from("--x\r\n"));
    said.note("PUT half a form", &a.token.send(request.unwrap()).await);
    let long = format!("/projects/1/collections/1/tokens/1/upload/{}", "x".repeat(65));
    said.note("PUT a long metadata field", &a.token.send(upload(&long, "file", "x.svg", SVG)).await);
    insta::assert_snapshot!(said.text());
}
