//! Streams: what happens, told to whoever listens.

use std::hash::{DefaultHasher, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use bourse_server::{Backstage, Entrance, service};
use bourse_store::Change;
use bourse_store::testing::{happened, operator_at, take_back};
use bourse_wire::{ActivityAction, ActivityFacts, Marketplace};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::actor::Actor;
use crate::support::market::put;
use crate::support::orders::{ANA, balance, commit, listing, market, offer, orders, with};
use crate::support::project::{Project, create_key};
use crate::support::seed::{RELICS, UNKNOWN, contract_info, key};
use crate::support::transcript::pretty;
use crate::support::{TestApp, WAIT_MAX};

const SUBSCRIBE: &str = "/rpc/Marketplace/SubscribeActivities";
const OTHER: &str = "0x00000000000000000000000000000000000000e7";

fn body(members: Value) -> Value {
    with(json!({ "chainId": 137, "contractAddress": RELICS }), members)
}

/// A stream that is open.
pub(crate) struct Stream {
    body: Body,
    text: String,
}

impl Stream {
    /// Subscribes to what happens, with a project's key.
    async fn open(entrance: &Entrance, project: &Project, members: Value) -> Self {
        Self::subscribe(entrance, project, SUBSCRIBE, body(members)).await
    }

    /// Calls an operation that is a stream, with a project's key.
    pub(crate) async fn subscribe(
        entrance: &Entrance,
        project: &Project,
        path: &str,
        members: Value,
    ) -> Self {
        let request = Request::post(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-access-key", &project.key_text);
        let request = request.body(Body::from(members.to_string())).unwrap();
        Self::of(entrance, request, "application/x-ndjson").await
    }

    /// Opens a page's address.
    async fn page(entrance: &Entrance, path: String) -> Self {
        let request = Request::get(path).header(header::ACCEPT_ENCODING, "gzip, br");
        Self::of(entrance, request.body(Body::empty()).unwrap(), "text/event-stream").await
    }

    async fn of(entrance: &Entrance, request: Request<Body>, kind: &str) -> Self {
        let response = entrance.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CONTENT_TYPE], kind);
        assert!(!response.headers().contains_key(header::CONTENT_ENCODING));
        let mut stream = Self { body: response.into_body(), text: String::new() };
        // It is listening from here on.
        assert!(stream.grow().await);
        stream
    }

    /// What came, and was not read as lines.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) async fn grow(&mut self) -> bool {
        let Some(frame) = self.body.frame().await else { return false };
        self.text.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
        true
    }

    /// The next lines that are not empty, of those with this beginning.
    async fn next(&mut self, beginning: &str, count: usize) -> Vec<Value> {
        let mut found = Vec::new();
        while found.len() < count {
            let Some((line, rest)) = self.text.split_once('\n') else {
                assert!(self.grow().await, "it ended: {found:?}");
                continue;
            };
            found.extend(line.strip_prefix(beginning).filter(|line| !line.is_empty()).map(parsed));
            let rest = rest.to_owned();
            self.text = rest;
        }
        found
    }

    pub(crate) async fn lines(&mut self, count: usize) -> Vec<Value> {
        self.next("", count).await
    }

    /// Everything up to the end.
    pub(crate) async fn rest(mut self) -> String {
        while self.grow().await {}
        self.text
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// What was asked for, and a line that came, for a snapshot.
pub(crate) fn said(path: &str, asked: &Value, line: &Value) -> String {
    format!("POST {path} {asked}\n200 {}", pretty(line.clone()))
}

/// What a line tells: what became of what, and its cursor.
fn told(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let activity = &line["activity"];
    [&line["type"], &activity["action"], &activity["uniqueHash"], &line["cursor"]].map(text).join(" ")
}

/// A sale that a chain states.
pub(crate) fn sale(tx: &str, token: u64) -> Change {
    let sale = happened(ActivityAction::Sale, token, tx);
    Change::Activity(Box::new(ActivityFacts { marketplace: Marketplace::OwnV2, ..sale }))
}

#[tokio::test]
async fn what_happens_is_told_as_it_happens() {
    let app = market(orders([listing("before", 1, 5)])).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let mut all = Stream::open(&entrance, &app.project_a, json!({})).await;
    let mut one = Stream::open(&entrance, &app.project_b, json!({ "tokenId": "2" })).await;
    commit(&app.store, orders([listing("a", 1, 5), offer("b", 2, 3)])).await;
    let lines = all.lines(2).await;
    let hashes: Vec<&Value> = lines.iter().map(|line| &line["activity"]["uniqueHash"]).collect();
    assert_eq!(hashes, ["order:5:a:listing", "order:5:b:offer"]);
    assert_eq!(one.lines(1).await, lines[1..]);
    insta::assert_snapshot!(said(SUBSCRIBE, &body(json!({})), &lines[0]));
    // The same as in a list.
    let listed = app.project_a.call("Marketplace/ListCollectionActivities", body(json!({}))).await.ok();
    assert_eq!(listed["activities"][1], lines[0]["activity"]);
    background.stop().await;
}

#[tokio::test]
async fn who_comes_back_is_told_what_was_missed() {
    let app = market(orders([listing("1", 1, 5)])).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let first = Stream::open(&entrance, &app.project_a, json!({ "cursor": "0.0" })).await.lines(1).await;
    assert_eq!(told(&first[0]), "added listing order:5:1:listing 0.1");
    commit(&app.store, (2..=600).flat_map(|id| orders([listing(&id.to_string(), id, 5)])).collect()).await;
    let mut again = Stream::open(&entrance, &app.project_a, json!({ "cursor": "0.1" })).await;
    let missed = again.lines(599).await;
    assert_eq!(missed.last().unwrap()["cursor"], "0.600");
    commit(&app.store, orders([listing("last", 1, 5)])).await;
    assert_eq!(told(&again.lines(1).await[0]), "added listing order:5:last:listing 0.601");
    // Of more than there is, as where the database was set back, nobody knows what did not happen.
    let mut ahead = Stream::open(&entrance, &app.project_a, json!({ "cursor": "0.999999" })).await;
    assert_eq!(told(&ahead.lines(1).await[0]), "anew - - 0.601");
    commit(&app.store, orders([listing("one more", 1, 5)])).await;
    assert_eq!(ahead.lines(1).await[0]["cursor"], "0.602");
    background.stop().await;
}

#[tokio::test]
async fn what_a_chain_takes_back_is_taken_back() {
    let app = market(vec![sale("0xa", 1), sale("0xb", 2), sale("0xc", 1)]).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let mut stream = Stream::open(&entrance, &app.project_a, json!({})).await;
    take_back(&app.store, id, "0xc", false).await.unwrap();
    take_back(&app.store, id, "0xa", false).await.unwrap();
    commit(&app.store, vec![sale("0xd", 1)]).await;
    let lines: Vec<String> = stream.lines(3).await.iter().map(told).collect();
    let expected = ["removed sale 0xc 1.2", "removed sale 0xa 2.2", "added sale 0xd 2.3"];
    assert_eq!(lines, expected);
    // Who was told of less has less taken back.
    let mut late = Stream::open(&entrance, &app.project_a, json!({ "cursor": "0.1" })).await;
    let lines: Vec<String> = late.lines(3).await.iter().map(told).collect();
    assert_eq!(lines, ["removed sale 0xa 2.1", "added sale 0xb 2.2", "added sale 0xd 2.3"]);
    // All of the chain is read again.
    take_back(&app.store, id, "0x", true).await.unwrap();
    commit(&app.store, vec![sale("0xa", 1)]).await;
    let lines: Vec<String> = stream.lines(2).await.iter().map(told).collect();
    assert_eq!(lines, ["anew - - 3.0", "added sale 0xa 3.1"]);
    background.stop().await;
}

/// Who reads what was missed may be told of more than others were by then.
#[tokio::test]
async fn who_has_read_further_than_others_has_that_taken_back_too() {
    let app = market(vec![sale("0xa", 1), sale("0xb", 2)]).await;
    let entrance = service(app.app.clone());
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    // Nobody is told of anything before something goes on in the background.
    let mut first = Stream::open(&entrance, &app.project_a, json!({})).await;
    commit(&app.store, vec![sale("0xc", 1)]).await;
    let mut further = Stream::open(&entrance, &app.project_a, json!({ "cursor": "0.1" })).await;
    let lines: Vec<String> = further.lines(2).await.iter().map(told).collect();
    assert_eq!(lines, ["added sale 0xb 0.2", "added sale 0xc 0.3"]);
    take_back(&app.store, id, "0xc", false).await.unwrap();
    // Of those who were not told of it, nobody is told that anything happened.
    commit(&app.store, vec![balance(1, ANA, 1)]).await;
    let background = app.background();
    assert_eq!(told(&further.lines(1).await[0]), "removed sale 0xc 1.2");
    commit(&app.store, vec![sale("0xd", 1)]).await;
    for stream in [&mut first, &mut further] {
        assert_eq!(told(&stream.lines(1).await[0]), "added sale 0xd 1.3");
    }
    background.stop().await;
}

/// What comes at once is told in several parts, each once.
#[tokio::test]
async fn much_that_happens_at_once_is_told_whole() {
    const COUNT: u64 = 2_600;
    let app = market(vec![sale("0xa", 1)]).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let mut stream = Stream::open(&entrance, &app.project_a, json!({})).await;
    commit(&app.store, (0..COUNT).map(|number| sale(&format!("0x1{number:04}"), 1)).collect()).await;
    let lines = stream.lines(2_600).await;
    let cursors: Vec<String> = lines.iter().map(|line| line["cursor"].as_str().unwrap().to_owned()).collect();
    assert_eq!(cursors, (2..COUNT + 2).map(|number| format!("0.{number}")).collect::<Vec<_>>());
    background.stop().await;
}

/// In the form of the published indexer's clients, of several contracts in one stream.
#[tokio::test]
async fn what_a_filter_lets_through_is_told_as_logs() {
    let app = market(vec![sale("0xa", 1)]).await;
    let other = contract_info(OTHER, "Others");
    put(&app, "PutContracts", json!({ "chainId": 137, "contracts": [other] })).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let subscribe = async |members: Value| {
        let filter = with(json!({ "contractAddresses": [RELICS, OTHER, RELICS] }), members);
        let body = json!({ "chainId": 137, "filter": filter });
        Stream::subscribe(&entrance, &app.project_a, "/rpc/Indexer/SubscribeEvents", body).await
    };
    let mut sales = subscribe(json!({ "events": ["sale"] })).await;
    let mut second = subscribe(json!({ "tokenIDs": ["2"] })).await;
    commit(&app.store, [orders([listing("a", 1, 5), listing("b", 2, 5)]), vec![sale("0xc", 1)]].concat())
        .await;
    let told = |lines: Vec<Value>| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |line: &Value| format!("{} {}", text(&line["log"]["type"]), text(&line["log"]["uid"]));
        lines.iter().map(of).collect::<Vec<_>>()
    };
    let mut lines = sales.lines(1).await;
    // Only what was told is taken back.
    take_back(&app.store, id, "0xc", false).await.unwrap();
    commit(&app.store, orders([listing("c", 1, 5)])).await;
    lines.extend(sales.lines(1).await);
    let asked = json!({ "chainId": 137, "filter": { "contractAddresses": [RELICS, OTHER, RELICS], "events": ["sale"] } });
    insta::assert_snapshot!(said("/rpc/Indexer/SubscribeEvents", &asked, &lines[0]));
    assert_eq!(told(lines), ["BLOCK_ADDED 0xc", "BLOCK_REMOVED 0xc"]);
    assert_eq!(told(second.lines(1).await), ["BLOCK_ADDED order:5:b:listing"]);
    let change = bourse_store::testing::batch(key(OTHER), vec![sale("0xd", 7)]);
    app.store.commit(change).await.unwrap();
    assert_eq!(told(sales.lines(1).await), ["BLOCK_ADDED 0xd"]);
    // All of the chain is read again.
    take_back(&app.store, id, "0x", true).await.unwrap();
    commit(&app.store, vec![sale("0xe", 2)]).await;
    assert_eq!(second.lines(1).await[0]["log"]["type"], "UNKNOWN");
    assert_eq!(told(second.lines(1).await), ["BLOCK_ADDED 0xe"]);
    let call = async |filter: Value| {
        let body = json!({ "chainId": 137, "filter": filter });
        app.project_a.call("Indexer/SubscribeEvents", body).await.refusal()
    };
    assert_eq!(call(json!({})).await, (400, 2001));
    assert_eq!(call(json!({ "contractAddresses": [RELICS], "events": ["nothing"] })).await, (400, 2001));
    assert_eq!(call(json!({ "contractAddresses": [RELICS, UNKNOWN] })).await, (400, 3000));
    // Nobody is listening any more.
    drop((sales, second));
    background.stop().await;
}

#[tokio::test]
async fn pages_are_told_of_the_best_orders_of_a_token() {
    let app = market([vec![balance(1, ANA, 1)], orders([listing("a", 1, 5)])].concat()).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    // In memory, as it is where a page shows it.
    let best = body(json!({ "tokenId": "1" }));
    app.project_a.call("Marketplace/GetLowestPriceListingForCollectible", best).await.ok();
    let path = |rest: &str| format!("/live/137/{RELICS}{rest}");
    let keyed = |rest: &str| format!("{}?key={}", path(rest), app.project_a.key_text);
    let mut whole = Stream::page(&entrance, keyed("")).await;
    let mut token = Stream::page(&entrance, keyed("/2")).await;
    commit(&app.store, orders([listing("b", 1, 4)])).await;
    let frames = whole.next("data: ", 2).await;
    assert_eq!(frames[0]["activity"]["uniqueHash"], "order:5:b:listing");
    assert_eq!((&frames[1]["tokenId"], &frames[1]["listing"]["orderId"]), (&json!("1"), &json!("b")));
    assert_eq!(frames[1]["offer"], Value::Null);
    commit(&app.store, vec![balance(1, ANA, 0)]).await;
    assert_eq!(whole.next("data: ", 1).await[0], json!({ "tokenId": "1", "listing": null, "offer": null }));
    // An offer for any token changes what is best of all.
    let any = with(offer("any", 1, 9), json!({ "tokenId": null }));
    commit(&app.store, orders([any])).await;
    assert_eq!(whole.next("data: ", 2).await[1], json!({}));
    assert_eq!(token.next("data: ", 1).await[0], json!({}));
    // A browser that lost its connection names the last event that it was told.
    let request = Request::get(keyed("")).header("last-event-id", "0.2").body(Body::empty()).unwrap();
    let mut again = Stream::of(&entrance, request, "text/event-stream").await;
    assert_eq!(again.next("id: 0.", 2).await, [json!(2), json!(3)]);
    background.stop().await;
}

/// Whoever is told of a version finds it in memory, whichever server wrote it.
#[tokio::test]
async fn the_best_order_that_is_told_is_the_newest() {
    let app = market([vec![balance(1, ANA, 1)], orders([listing("a", 1, 1_000)])].concat()).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let best = body(json!({ "tokenId": "1" }));
    app.project_a.call("Marketplace/GetLowestPriceListingForCollectible", best).await.ok();
    let mut page =
        Stream::page(&entrance, format!("/live/137/{RELICS}/1?key={}", app.project_a.key_text)).await;
    for round in 1..=40 {
        let newest = format!("{round}");
        commit(&app.store, orders([listing(&newest, 1, 1_000 - round)])).await;
        let is_told =
            async { while page.next("data: ", 1).await[0]["listing"]["orderId"] != newest.as_str() {} };
        tokio::time::timeout(WAIT_MAX, is_told).await.expect("the newest order is told");
    }
    background.stop().await;
}

/// A page of one token, of which nothing is told for long.
#[tokio::test]
async fn a_page_that_is_told_nothing_knows_where_to_go_on() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let path = format!("/live/137/{RELICS}/2?key={}", app.project_a.key_text);
    let mut page = Stream::page(&entrance, path.clone()).await;
    assert!(page.text.ends_with("\nid: 0.1\n\n"), "{}", page.text);
    let retry = page.text.strip_prefix("retry: ").and_then(|text| text.lines().next()).unwrap();
    assert!((2_000..8_000).contains(&retry.parse::<u32>().unwrap()), "{retry}");
    commit(&app.store, (0..5_100).map(|number| sale(&format!("0x1{number:04}"), 1)).collect()).await;
    // A sign of life says how far it is.
    while !page.text.contains("id: 0.5101\n\n") {
        assert!(page.grow().await);
    }
    assert!(!page.text.contains("data:"), "{}", page.text);
    for (too_old, cursor) in [("0.1", "0.5101"), ("7.1", "0.5102")] {
        let request = Request::get(&path).header("last-event-id", too_old).body(Body::empty()).unwrap();
        let mut again = Stream::of(&entrance, request, "text/event-stream").await;
        let told = again.next("data: ", 1).await;
        assert_eq!((&told[0]["type"], &told[0]["cursor"]), (&json!("anew"), &json!(cursor)));
        commit(&app.store, vec![sale(&format!("0x2{too_old}"), 2)]).await;
        let it_goes_on = async { while again.next("data: ", 1).await[0]["type"] != "added" {} };
        tokio::time::timeout(WAIT_MAX, it_goes_on).await.expect("what happens then is told");
    }
    background.stop().await;
}

#[tokio::test]
async fn what_is_no_stream_is_refused() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let refused = async |members: Value| {
        app.project_a.call("Marketplace/SubscribeActivities", body(members)).await.refusal()
    };
    assert_eq!(refused(json!({ "contractAddress": UNKNOWN })).await, (400, 2000));
    assert_eq!(refused(json!({ "cursor": "yesterday" })).await.0, 400);
    let page = async |actor: &Actor, rest: &str| actor.get(&format!("/live/{rest}")).await.refusal();
    assert_eq!(page(&app.anonymous, &format!("137/{RELICS}")).await, (401, 1000));
    assert_eq!(page(&app.anonymous, &format!("137/{RELICS}?key=nonsense")).await, (401, 1000));
    for wrong in [format!("nowhere/{RELICS}"), "137/0x1".to_owned(), format!("137/{RELICS}/-1")] {
        assert!(matches!(page(&app.project_a.key, &wrong).await.0, 400 | 404), "{wrong}");
    }
    assert_eq!(page(&app.project_a.key, &format!("137/{UNKNOWN}")).await.0, 404);
}

#[tokio::test]
async fn there_are_only_so_many() {
    let limits = [("limits.streams_max", "3"), ("limits.project_streams_max", "2")];
    let app = TestApp::with(&[limits.as_slice(), &[("limits.address_streams_max", "1")]].concat()).await;
    commit(&app.store, orders([listing("a", 1, 5)])).await;
    let entrance = service(app.app.clone());
    let open = async |project: &Project| Stream::open(&entrance, project, json!({})).await;
    let status = async |actor: &Actor| {
        let answer = actor.call("Marketplace/SubscribeActivities", body(json!({}))).await;
        (answer.status, answer.text())
    };
    let first = open(&app.project_a).await;
    let second = open(&app.project_a).await;
    let refused = status(&app.project_a.key).await;
    assert!(refused.0 == 503 && refused.1.contains("as many streams"), "{refused:?}");
    let _third = open(&app.project_b).await;
    assert_eq!(status(&app.project_b.key).await.0, 503);
    drop((first, second));
    let here = app.project_a.key.from([192, 0, 2, 1]);
    let request = Request::get(format!("/live/137/{RELICS}?key={}", app.project_a.key_text));
    let mut request = request.body(Body::empty()).unwrap();
    request.extensions_mut().insert(bourse_server::Peer([192, 0, 2, 1].into()));
    let held = Stream::of(&entrance, request, "text/event-stream").await;
    assert_eq!(status(&here).await.0, 503);
    assert_eq!(status(&app.project_a.key.from([192, 0, 2, 2])).await.0, 200);
    drop(held);
    assert_eq!(status(&here).await.0, 200);
}

#[tokio::test]
async fn a_slow_reader_is_let_go_with_a_word_and_the_others_stay() {
    let app = TestApp::with(&[("limits.streams_bytes_max", "20000")]).await;
    commit(&app.store, orders([listing("a", 1, 5)])).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let slow = Stream::open(&entrance, &app.project_a, json!({})).await;
    let mut quick = Stream::open(&entrance, &app.project_a, json!({})).await;
    for id in 0..60 {
        commit(&app.store, orders([listing(&format!("{id}"), 1, 5)])).await;
        quick.lines(1).await;
    }
    let rest = slow.rest().await;
    let last = parsed(rest.lines().last().unwrap());
    let error = &last["webrpcError"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("subscribe again with cursor 0."), "{last}");
    commit(&app.store, orders([listing("last", 1, 5)])).await;
    quick.lines(1).await;
    let metrics = app.anonymous.get("/metrics").await.text();
    assert!(metrics.contains("bourse_streams_behind_total 1") && metrics.contains("bourse_streams 1"));
    background.stop().await;
}

#[tokio::test]
async fn all_end_with_a_word_when_the_service_stops() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let entrance = service(app.app.clone());
    let lines = Stream::open(&entrance, &app.project_a, json!({})).await;
    let path = format!("/live/137/{RELICS}?key={}", app.project_a.key_text);
    let page = Stream::page(&entrance, path).await;
    app.app.begin_to_stop().await;
    let last = lines.rest().await;
    let last = parsed(last.trim());
    assert!(last["webrpcError"]["message"].as_str().unwrap().contains("about to stop"), "{last}");
    assert!(page.rest().await.contains("event: trouble\ndata: {"));
}

#[tokio::test]
async fn other_servers_are_heard_too() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let beside = app.another().await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let mut stream = Stream::open(&entrance, &app.project_a, json!({})).await;
    let order = listing("elsewhere", 1, 4);
    let put = beside.token.call("Ingest/PutOrders", json!({ "orders": [order] })).await.ok();
    assert_eq!(put["changed"], 1, "{put}");
    assert_eq!(told(&stream.lines(1).await[0]), "added listing order:5:elsewhere:listing 0.2");
    background.stop().await;
}

/// What one of many heard: a sum of it, and how long after each batch was begun to be written it had heard all of it.
async fn listener(mut stream: Stream, written: Written, batches: usize) -> (u64, Vec<Duration>) {
    let (mut hasher, mut lines, mut delays) = (DefaultHasher::new(), 0, Vec::new());
    while delays.len() < batches {
        assert!(stream.grow().await);
        // Where it is cut into parts makes no difference.
        hasher.write(stream.text.trim_matches('\n').as_bytes());
        lines += stream.text.matches("{\"type\":").count();
        stream.text.clear();
        let written = written.lock().unwrap();
        while delays.len() < lines / BATCH {
            let at: Instant = written[delays.len()];
            delays.push(at.elapsed());
        }
    }
    (hasher.finish(), delays)
}

type Written = Arc<Mutex<Vec<Instant>>>;

/// Orders that are committed together.
const BATCH: usize = 50;

/// Many streams and many changes: a bounded number of both. `BOURSE_SCALE=all` has 1,000 streams hear 1,000 changes a second for
/// twenty seconds, and tells how long after a change they had heard of it, and the memory of all of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_hear_the_same() {
    let is_whole = std::env::var("BOURSE_SCALE").is_ok_and(|asked| asked == "all");
    let (count, batches) = if is_whole { (1_000, 400) } else { (200, 10) };
    let app = market(orders([listing("a", 1, 5)])).await;
    let background = app.background();
    let entrance = service(app.app.clone());
    let (written, mut listeners) = (Written::default(), tokio::task::JoinSet::new());
    for _ in 0..count {
        let stream = Stream::open(&entrance, &app.project_a, json!({})).await;
        listeners.spawn(listener(stream, Arc::clone(&written), batches));
    }
    let metrics = app.anonymous.get("/metrics").await.text();
    assert!(metrics.contains(&format!("bourse_streams {count}")), "{metrics}");
    let mut pace = tokio::time::interval(Duration::from_millis(if is_whole { 50 } else { 1 }));
    for round in 0..batches {
        pace.tick().await;
        let made = (0..BATCH).map(|id| listing(&format!("{round}.{id}"), id as u64 + 1, 5));
        let made = orders(made);
        // Nobody hears of it before it is noted.
        written.lock().unwrap().push(Instant::now());
        commit(&app.store, made).await;
    }
    let heard = listeners.join_all().await;
    assert!(heard.iter().all(|(sum, _)| *sum == heard[0].0), "they did not hear the same");
    let mut delays: Vec<Duration> = heard.iter().flat_map(|(_, delays)| delays).copied().collect();
    delays.sort_unstable();
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let at = |share: usize| delays[(delays.len() - 1) * share / 100];
    println!(
        "{count} streams, {batches} batches of {BATCH}: half within {:?}, 99 of 100 within {:?}, {memory}",
        at(50),
        at(99)
    );
    background.stop().await;
}

/// A key that is taken away ends what it opened, with the next sign of life.
#[tokio::test]
async fn a_stream_ends_with_its_key() {
    let app = market(orders([listing("a", 1, 5)])).await;
    let entrance = service(app.app.clone());
    let stream = Stream::open(&entrance, &app.project_a, json!({})).await;
    // A project keeps one key at least.
    create_key(&app.store, app.project_a.scope, |_| {}).await;
    let id = app.project_a.key_record.id;
    app.store.disable_access_key(app.project_a.scope, id, operator_at(app.now())).await.unwrap();
    Backstage::new(app.app.clone()).renew_credentials().await.unwrap();
    let last = stream.rest().await;
    let last = parsed(last.trim().lines().last().unwrap());
    assert_eq!(last["webrpcError"]["status"], 401, "{last}");
}
