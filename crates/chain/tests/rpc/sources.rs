//! The own services of marketplaces, asked over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use bourse_chain::{Source, SourceError, SourceOptions};
use bourse_protocols::native::SourceRequest;
use serde_json::{Value, json};

use crate::server::{Reply, Server};

fn options(url: &str) -> SourceOptions {
    SourceOptions {
        url: url.parse().unwrap(),
        key: Some(("x-api-key", "KEY".to_owned())),
        timeout: Duration::from_mins(1),
        attempts_max: 2,
    }
}

fn question() -> SourceRequest {
    SourceRequest {
        path: "/orders/sign".to_owned(),
        headers: vec![("authToken", "TOKEN".to_owned())],
        body: json!({ "a": 1 }),
    }
}

async fn ask(server: &Server) -> Result<Value, SourceError> {
    let url = format!("http://{}/SECRET/", server.address);
    Source::new(options(&url)).unwrap().ask(&question()).await
}

fn reply(status: u16, text: &str) -> Reply {
    (StatusCode::from_u16(status).unwrap(), None, text.to_owned())
}

/// A server that gives these answers one after another, the last of them for ever.
async fn answering(replies: Vec<Reply>) -> Server {
    let next = Arc::new(AtomicUsize::new(0));
    Server::raw(move |_| {
        let place = next.fetch_add(1, Ordering::Relaxed).min(replies.len() - 1);
        replies[place].clone()
    })
    .await
}

fn times(server: &Server) -> usize {
    server.asked.lock().unwrap().len()
}

#[tokio::test]
async fn what_is_asked_goes_below_the_address_with_the_key() {
    type Seen = (String, HeaderMap, Bytes);
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let log = Arc::clone(&seen);
    let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap, body: Bytes| {
        log.lock().unwrap().push((uri.path().to_owned(), headers, body));
        async { r#"{"good":true}"# }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    for base in ["/base", "/base/", ""] {
        let source = Source::new(options(&format!("http://{address}{base}"))).unwrap();
        assert_eq!(source.ask(&question()).await, Ok(json!({ "good": true })));
    }
    task.abort();
    let seen = seen.lock().unwrap();
    let paths: Vec<&str> = seen.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(paths, ["/base/orders/sign", "/base/orders/sign", "/orders/sign"]);
    for (_, headers, body) in seen.iter() {
        assert_eq!(
            (&headers["x-api-key"], &headers["authtoken"]),
            (&"KEY".parse().unwrap(), &"TOKEN".parse().unwrap())
        );
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(body, r#"{"a":1}"#);
    }
}

#[tokio::test]
async fn a_service_that_is_busy_is_asked_again_after_a_while() {
    for status in [429, 500, 502, 503, 504] {
        let server = answering(vec![reply(status, "later"), reply(200, "7")]).await;
        let begin = Instant::now();
        assert_eq!(ask(&server).await, Ok(json!(7)), "{status}");
        assert_eq!(times(&server), 2);
        assert!(begin.elapsed() >= Duration::from_millis(200), "{:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn it_is_asked_no_more_often_than_allowed() {
    let server = answering(vec![reply(503, r#"{"message":"later"}"#)]).await;
    assert_eq!(ask(&server).await, Err(SourceError::Unreachable("503 later".to_owned())));
    assert_eq!(times(&server), 2);
    let url = format!("http://{}", server.address);
    let once = Source::new(SourceOptions { attempts_max: 1, ..options(&url) }).unwrap();
    assert!(once.ask(&question()).await.is_err());
    assert_eq!(times(&server), 3);
}

#[tokio::test]
async fn a_service_that_refuses_is_asked_once() {
    for (status, text, expected) in [
        (400, r#"{"errors":["no such order"]}"#, SourceError::Refused("400 no such order".to_owned())),
        (403, r#"{"error":"no"}"#, SourceError::Refused("403 no".to_owned())),
        (404, r#"{"error":{"message":"none"}}"#, SourceError::Refused("404 none".to_owned())),
        (422, r#"{"detail":"strange"}"#, SourceError::Refused("422 strange".to_owned())),
        (400, "<html>", SourceError::Refused("400".to_owned())),
        (400, r#"{"message":5}"#, SourceError::Refused("400".to_owned())),
        (401, r#"{"message":"who?"}"#, SourceError::Unauthorized("401 who?".to_owned())),
    ] {
        let server = answering(vec![reply(status, text)]).await;
        assert_eq!(ask(&server).await, Err(expected));
        assert_eq!(times(&server), 1);
    }
    let server = answering(vec![reply(400, &json!({ "message": "x".repeat(5000) }).to_string())]).await;
    let Err(SourceError::Refused(message)) = ask(&server).await else { panic!("it refused") };
    assert_eq!(message.len(), 204);
}

#[tokio::test]
async fn answers_that_cannot_be_read_are_not_asked_for_again() {
    let large = format!("\"{}\"", "x".repeat(4 << 20));
    for text in ["", "<html>", "{\"a\":", "1 2", large.as_str()] {
        let server = answering(vec![reply(200, text)]).await;
        let answer = ask(&server).await;
        assert!(matches!(answer, Err(SourceError::Unreadable(_))), "{text:.40}: {answer:?}");
        assert_eq!(times(&server), 1);
    }
}

#[tokio::test]
async fn nobody_is_sent_elsewhere() {
    let elsewhere = answering(vec![reply(200, "7")]).await;
    let to: &'static str = format!("http://{}/x", elsewhere.address).leak();
    for status in [301, 302, 307, 308] {
        let (status, text) = (StatusCode::from_u16(status).unwrap(), String::new());
        let server = answering(vec![(status, Some(("location", to)), text)]).await;
        assert!(matches!(ask(&server).await, Err(SourceError::Refused(_))), "{status}");
    }
    assert_eq!(times(&elsewhere), 0, "the key stays here");
}

#[tokio::test]
async fn whoever_is_silent_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&accepted);
    let task = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            held.push(stream);
        }
    });
    let url = format!("http://{address}/SECRET");
    let source = Source::new(SourceOptions { timeout: Duration::from_millis(100), ..options(&url) }).unwrap();
    let Err(error) = source.ask(&question()).await else { panic!("nobody answers") };
    assert_eq!(accepted.load(Ordering::Relaxed), 2);
    assert!(matches!(error, SourceError::Unreachable(_)), "{error}");
    assert!(!error.to_string().contains("SECRET"), "{error}");
    task.abort();
    // Nobody is there at all.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/SECRET", listener.local_addr().unwrap());
    drop(listener);
    let Err(error) = Source::new(options(&url)).unwrap().ask(&question()).await else {
        panic!("nobody answers")
    };
    assert!(matches!(error, SourceError::Unreachable(_)), "{error}");
    assert!(!error.to_string().contains("SECRET"), "{error}");
}
