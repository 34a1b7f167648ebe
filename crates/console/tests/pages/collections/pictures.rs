//! Pictures come from the service, whoever hosts them, and nothing else does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bourse_store::Change;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::super::browser::Page;
use super::{Room, token};
use crate::support::body::{PNG, SVG};
use crate::support::seed;

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";
const CID: &str = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";

/// A host of pictures on this machine. It stops when this is dropped.
struct Host {
    port: u16,
    asked: Arc<AtomicUsize>,
    /// Whoever asks for what is held waits until there is a permit.
    held: Arc<Semaphore>,
    task: JoinHandle<()>,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Host {
    async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let held = Arc::new(Semaphore::new(0));
        let (counter, holding) = (Arc::clone(&asked), Arc::clone(&held));
        let answer = move |uri: Uri| {
            counter.fetch_add(1, Ordering::SeqCst);
            let holding = Arc::clone(&holding);
            async move {
                if uri.path().starts_with("/held") {
                    holding.acquire().await.unwrap().forget();
                    return PNG.into_response();
                }
                answer(uri, port).await
            }
        };
        let task =
            tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await.unwrap() });
        Self { port, asked, held, task }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn link(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// The setting without which nothing on this machine is ever asked.
    fn allowed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

async fn answer(uri: Uri, port: u16) -> Response {
    let html = [(header::CONTENT_TYPE, "text/html")];
    match uri.path() {
        "/slow" => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            PNG.into_response()
        }
        "/png" | "/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG/1.png" => (html, PNG).into_response(),
        "/svg" => (html, SVG).into_response(),
        "/page" => {
            ([(header::CONTENT_TYPE, "image/png")], "<html><script>alert(1)</script></html>").into_response()
        }
        "/large" => Body::from(vec![b' '; 200_000]).into_response(),
        "/round-about" => {
            (StatusCode::FOUND, [(header::LOCATION, format!("http://localhost:{port}/png"))]).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn pictured(id: u64, image: &str) -> Change {
    token(id, "Relic", json!({ "image": image }))
}

impl Room {
    async fn picture(&self, id: u64) -> Page {
        self.owner.get(&format!("{}/{id}/image", self.path)).await
    }
}

impl Page {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// It is a picture, and can do nothing but be looked at.
    #[track_caller]
    fn is_picture(&self, media_type: &str) {
        assert_eq!((self.status, self.header("content-type")), (200, media_type), "{}", self.html);
        assert_eq!(self.header("content-security-policy"), POLICY);
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        // At an address that does not say of which link it is.
        assert_eq!(self.header("cache-control"), "private, max-age=60");
    }

    /// A sign is shown in its place, which says nothing of why.
    #[track_caller]
    fn is_missing(&self) {
        assert_eq!((self.status, self.header("content-type")), (404, "image/svg+xml"), "{}", self.html);
        assert!(self.html.starts_with("<svg") && self.html.len() < 1_000);
        assert_eq!(self.header("content-security-policy"), POLICY);
        assert_eq!(self.header("cache-control"), "private, max-age=60");
    }
}

#[tokio::test]
async fn pictures_in_the_metadata_itself_are_shown() {
    let svg = String::from_utf8_lossy(SVG);
    let room = Room::of(vec![
        pictured(1, &format!("data:image/png;base64,{}", STANDARD.encode(PNG))),
        pictured(2, "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E"),
        token(3, "Relic", json!({ "imageData": svg })),
        pictured(4, ""),
        pictured(5, "data:text/html,<script>alert(1)</script>"),
        pictured(6, "javascript:alert(1)"),
        pictured(7, "data:image/png;base64,????"),
    ])
    .await;
    room.picture(1).await.is_picture("image/png");
    let drawing = room.picture(2).await;
    drawing.is_picture("image/svg+xml");
    assert_eq!(drawing.html, "<svg xmlns='http://www.w3.org/2000/svg'/>");
    // Whatever is in it, it cannot run: it is sandboxed, and a picture in a page never runs.
    room.picture(3).await.is_picture("image/svg+xml");
    for nothing in 4..=7 {
        room.picture(nothing).await.is_missing();
    }
    // The pages name only this service, and not what has no picture.
    let page = room.page("").await;
    for id in [1, 2, 3, 5, 6, 7] {
        assert!(page.html.contains(&format!("src=\"{}/{id}/image?", room.path)), "{id}");
    }
    assert!(!page.html.contains("/4/image") && page.html.matches("src=\"").count() == 6 + 2, "{}", page.html);
    assert!(page.header("content-security-policy").contains("img-src 'self' data:;"));
    // What pages name is of the link that is in the address, and stays there.
    let address = page.html.split("src=\"").find(|rest| rest.contains("/1/image?")).unwrap();
    let address = address.split('"').next().unwrap().replace("&amp;", "&");
    let kept = room.owner.get(&address).await;
    assert_eq!(kept.header("cache-control"), "private, max-age=31536000, immutable");
}

#[tokio::test]
async fn what_others_host_is_fetched_once_and_believed_only_when_looked_at() {
    let host = Host::start().await;
    let gateway = format!("[\"{}\"]", host.link("ipfs/"));
    let settings = [("metadata.allowed_hosts", host.allowed()), ("metadata.ipfs_gateways", gateway)];
    let settings = settings.each_ref().map(|(key, value)| (*key, value.as_str()));
    let room = Room::with(
        &settings,
        vec![
            pictured(1, &host.link("png")),
            pictured(2, &host.link("png")),
            pictured(3, &host.link("svg")),
            pictured(4, &format!("ipfs://{CID}/1.png")),
            pictured(5, &host.link("page")),
            pictured(6, &host.link("nowhere")),
        ],
    )
    .await;
    let all = futures_util::future::join_all((0..20).map(|number| room.picture(1 + number % 2))).await;
    for picture in all {
        picture.is_picture("image/png");
    }
    assert_eq!(host.asked(), 1, "twenty visitors, two tokens, one link");
    room.picture(3).await.is_picture("image/svg+xml");
    room.picture(4).await.is_picture("image/png");
    room.picture(5).await.is_missing();
    room.picture(6).await.is_missing();
    assert_eq!(host.asked(), 5);
    // That there is none is remembered for a moment, and the picture for an hour.
    for _ in 0..3 {
        room.picture(6).await.is_missing();
    }
    assert_eq!(host.asked(), 5);
    room.app.clock.advance(60);
    room.picture(6).await.is_missing();
    room.picture(1).await.is_picture("image/png");
    assert_eq!(host.asked(), 6);
}

#[tokio::test]
async fn nothing_inside_is_ever_asked() {
    let host = Host::start().await;
    let links = [
        host.link("png"),
        format!("http://localhost:{}/png", host.port),
        format!("http://[::ffff:127.0.0.1]:{}/png", host.port),
        format!("http://2130706433:{}/png", host.port),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        format!("http://user:word@localhost:{}/png", host.port),
        "file:///etc/passwd".to_owned(),
        "gopher://localhost/".to_owned(),
    ];
    let changes = (1..).zip(&links).map(|(id, link)| pictured(id, link)).collect();
    let room = Room::with(&[("metadata.plain_http", "true")], changes).await;
    for id in 1..=links.len() as u64 {
        room.picture(id).await.is_missing();
    }
    assert_eq!(host.asked(), 0);
    // Nor by way of a host that may be asked.
    let allowed = host.allowed();
    let settings = [("metadata.plain_http", "true"), ("metadata.allowed_hosts", allowed.as_str())];
    let room = Room::with(&settings, vec![pictured(1, &host.link("round-about"))]).await;
    room.picture(1).await.is_missing();
    assert_eq!(host.asked(), 1, "where it leads to was not asked");
}

#[tokio::test]
async fn what_is_too_large_or_too_slow_is_left() {
    let host = Host::start().await;
    let allowed = host.allowed();
    let settings = [
        ("metadata.allowed_hosts", allowed.as_str()),
        ("console.image_bytes_max", "100000"),
        ("console.image_timeout_ms", "300"),
    ];
    let inline = format!("data:image/svg+xml,<svg>{}</svg>", " ".repeat(100_000));
    let changes =
        vec![pictured(1, &host.link("large")), pictured(2, &host.link("slow")), pictured(3, &inline)];
    let room = Room::with(&settings, changes).await;
    for id in 1..=3 {
        room.picture(id).await.is_missing();
    }
    assert_eq!(host.asked(), 2);
}

#[tokio::test]
async fn one_visitor_does_not_keep_the_service_busy() {
    // Refused before anybody is asked, which counts all the same.
    let changes = (1..=601).map(|id| pictured(id, &format!("http://127.0.0.1/{id}"))).collect();
    let room = Room::of(changes).await;
    for id in 1..=600 {
        assert_eq!(room.picture(id).await.status, 404);
    }
    let refused = room.picture(601).await;
    assert_eq!((refused.status, refused.header("content-type")), (429, "image/svg+xml"));
    assert_eq!(room.picture(1).await.status, 404, "what is known needs nothing");
    room.app.clock.advance(60);
    assert_eq!(room.picture(601).await.status, 404);
}

/// Of those who wait for one picture some are turned away at once, so that requests for pages have their places.
#[tokio::test]
async fn only_so_many_wait_for_pictures() {
    let host = Host::start().await;
    let allowed = host.allowed();
    let settings = [("metadata.allowed_hosts", allowed.as_str()), ("console.image_timeout_ms", "600000")];
    let room = Room::with(&settings, vec![pictured(1, &host.link("held"))]).await;
    let mut all: FuturesUnordered<_> = (0..41).map(|_| room.picture(1)).collect();
    assert_eq!(all.next().await.unwrap().status, 429, "while forty wait");
    assert_eq!(room.page("").await.status, 200);
    host.held.add_permits(1);
    while let Some(picture) = all.next().await {
        picture.is_picture("image/png");
    }
    assert_eq!(host.asked(), 1);
}

/// Whoever takes all places of the console leaves those of plain addresses, which contracts name.
#[tokio::test]
async fn a_crowd_at_one_side_leaves_the_others_their_places() {
    let host = Host::start().await;
    let allowed = host.allowed();
    let settings = [
        ("metadata.allowed_hosts", allowed.as_str()),
        ("console.image_timeout_ms", "600000"),
        ("limits.project_requests_max", "2"),
    ];
    let room = Room::with(&settings, vec![pictured(1, &host.link("held"))]).await;
    let mut crowd: FuturesUnordered<_> = (0..2).map(|_| room.picture(1)).collect();
    assert_eq!(crowd.next().await.unwrap().status, 503, "the console has one place");
    assert_eq!(room.owner.get("/projects/1/collections/99").await.status, 404);
    host.held.add_permits(1);
    crowd.next().await.unwrap().is_picture("image/png");
}

#[tokio::test]
async fn a_slow_host_keeps_nobody_from_the_pictures_of_others() {
    let (slow, other) = (Host::start().await, Host::start().await);
    let there = format!("http://localhost:{}/png", other.port);
    let allowed = format!("[\"{}\", \"localhost:{}\"]", slow.allowed(), other.port);
    let settings = [("metadata.allowed_hosts", allowed.as_str()), ("console.image_timeout_ms", "600000")];
    let mut changes: Vec<_> = (1..=30).map(|id| pictured(id, &slow.link(&format!("held/{id}")))).collect();
    changes.push(pictured(31, &there));
    let room = Room::with(&settings, changes).await;
    let mut waiting: FuturesUnordered<_> = (1..=30).map(|id| room.picture(id)).collect();
    let quick = async { room.picture(31).await };
    let quick = tokio::select! {
        _ = waiting.next() => panic!("it is held"),
        quick = quick => quick,
    };
    quick.is_picture("image/png");
    assert!(slow.asked() <= 4, "{} at once", slow.asked());
}

#[tokio::test]
async fn files_of_the_service_itself_are_read_here_while_anybody_may_have_them() {
    let own = "https://bourse.example/projects/1/collections/1/assets/1";
    let elsewhere = [
        "http://bourse.example/console/account",
        "https://bourse.example/console/sign-out",
        "https://bourse.example/projects/../console/sign-out",
        "https://bourse.example/projects/1/collections/1/assets/1/../../../../../console/people",
        "//bourse.example/console/account",
        "/console/account",
        "javascript:alert(1)",
    ];
    let mut changes = vec![pictured(1, own)];
    changes.extend((2..).zip(elsewhere).map(|(id, link)| pictured(id, link)));
    let room = Room::with(&[("console.image_timeout_ms", "300")], changes).await;
    let made = seed::belongings(&room.app.store, &room.app.project_a, "Relics", false).await;
    assert_eq!((made.collection, made.asset), (1, 1));
    let page = room.picture(1).await;
    assert_eq!((page.status, page.header("content-type")), (200, "image/svg+xml"));
    assert_eq!(page.header("cache-control"), "private, no-cache");
    room.app.project_a.call("Collections/UnpublishCollection", json!({ "collectionId": 1 })).await.ok();
    assert_eq!(room.picture(1).await.status, 404);
    // Nothing else of the service is anywhere that a link leads to.
    for (id, link) in (2..).zip(elsewhere) {
        let page = room.picture(id).await;
        assert_eq!((page.status, page.headers.get("location")), (404, None), "{link}");
    }
    room.owner.get(&format!("{}/logo", room.path)).await.is_picture("image/svg+xml");
}
