//! The database goes away, is restarted, is only read or has no connection left: what is in memory is answered all the
//! same, writes are refused by name, nothing that was acknowledged is missing, and everything works again once it is back,
//! without a restart of the service. On PostgreSQL only; `storage.rs` has the disks of SQLite.

use std::time::{Duration, Instant};

use bourse_server::router;
use bourse_store::Change;
use bourse_store::testing::{HeldWrite, Outage, Relay, administer, batch, load_all};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};

use crate::hostile::values::valid_body;
use crate::support::actor::Answer;
use crate::support::project::create_key;
use crate::support::seed::{self, RELICS, key};
use crate::support::{TestApp, wait_until};

/// A collection that nobody writes to.
const QUIET: &str = "0x00000000000000000000000000000000000000bb";

async fn put_token(app: &TestApp, token: u64, name: &str) -> Answer {
    let token =
        json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token.to_string(), "name": name });
    app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await
}

async fn put(app: &TestApp, name: &str) -> Answer {
    put_token(app, 1, name).await
}

async fn served_token(app: &TestApp, contract: &str, token: u64) -> Value {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [token] });
    app.project_a.call("Metadata/GetTokenMetadata", body).await.ok()["tokenMetadata"][0]["name"].clone()
}

async fn served(app: &TestApp) -> Value {
    served_token(app, RELICS, 1).await
}

/// The names that the database has, asked past the relay.
async fn stored(app: &TestApp) -> Vec<Value> {
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let tokens = load_all(&app.store, id).await.unwrap().tokens;
    let name = |metadata: &str| serde_json::from_str::<Value>(metadata).unwrap()["name"].clone();
    tokens.iter().map(|token| name(&token.metadata)).collect()
}

fn assert_unavailable(answer: &Answer) {
    assert_eq!(
        (answer.refusal(), &answer.json["error"]),
        ((503, 1903), &json!("StorageUnavailable")),
        "{}",
        answer.json
    );
    assert_ne!(answer.header("retry-after"), "");
}

/// A service behind a relay, with a collection in memory.
async fn start(settings: &[(&'static str, &str)]) -> Option<(TestApp, Relay)> {
    let (app, relay) = TestApp::relayed(settings).await?;
    seed::tokens(&app.store, RELICS, 1..2, "first").await;
    assert_eq!(served(&app).await, "first");
    Some((app, relay))
}

/// Waits until the service follows what others write, and writes itself; tells how long that took.
async fn is_back(app: &TestApp, others: &str, own: &str) -> Duration {
    let since = Instant::now();
    wait_until("others are followed again", async || served(app).await == others).await;
    let took = since.elapsed();
    wait_until("writes are taken again", async || put(app, own).await.status == 200).await;
    assert_eq!((served(app).await, stored(app).await), (json!(own), vec![json!(own)]));
    took
}

/// How long it may be silent.
const PATIENCE: [(&str, &str); 1] = [("storage.database_timeout_ms", "300")];

/// How old answers say that they may be, in seconds.
async fn age(app: &TestApp) -> Option<u64> {
    let answer = app.anonymous.get("/health").await;
    answer.headers.get("data-age").map(|age| age.to_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_database_that_goes_and_comes_back_needs_no_restart() {
    for outage in Outage::ALL {
        goes_and_comes_back(outage).await;
    }
}

async fn goes_and_comes_back(outage: Outage) {
    let Some((app, relay)) = start(&PATIENCE).await else { return };
    let background = app.background();
    let mut last = json!("first");
    for round in 0..2 {
        wait_until("it is ready", async || app.anonymous.get("/ready").await.status == 200).await;
        assert_eq!(age(&app).await, None, "{outage:?}");
        let metrics = app.anonymous.get("/metrics").await.text();
        assert!(metrics.contains("\nbourse_database_away_seconds 0\n"), "{outage:?}: {metrics}");
        outage.begin(&relay);
        assert_unavailable(&put(&app, "refused").await);
        assert_eq!(served(&app).await, last, "reads go on");
        let (ready, told) = (app.anonymous.get("/ready").await, age(&app).await);
        assert_eq!((ready.status, ready.json["status"].as_str()), (503, Some("unavailable")));
        assert!(told.is_some_and(|age| age > 0), "{outage:?}: {told:?}");
        wait_until("answers grow old", async || age(&app).await > told).await;
        let metrics = app.anonymous.get("/metrics").await.text();
        assert!(!metrics.contains("\nbourse_database_away_seconds 0\n"), "{outage:?}: {metrics}");
        // A server whose database is still there for others.
        let (others, own) = (format!("by another {round}"), format!("own {round}"));
        seed::tokens(&app.store, RELICS, 1..2, &others).await;
        assert_eq!(served(&app).await, last, "nobody can know");
        outage.end(&relay);
        let took = is_back(&app, &others, &own).await;
        println!("{outage:?}: answers were those of the database {} ms after it was back", took.as_millis());
        last = json!(own);
    }
    background.stop().await;
}

/// Whatever is asked for: from memory it is answered, and without the database it is refused by name. What else could come of
/// it, such as that a record is not there, is no failure of ours.
#[tokio::test]
async fn no_operation_fails_otherwise_while_the_database_is_away() {
    for outage in Outage::ALL {
        let Some((app, relay)) = start(&PATIENCE).await else { return };
        outage.begin(&relay);
        assert_unavailable(&put(&app, "refused").await);
        let mut refused = Vec::new();
        for route in &router::operations() {
            let operation = route.path().replace("/rpc/", "");
            let answer = app.project_a.call(&operation, valid_body(&operation)).await;
            assert_ne!(answer.header("data-age"), "", "{operation}");
            assert_ne!(answer.status, 408, "{outage:?}: {operation}");
            if answer.status >= 500 {
                assert_unavailable(&answer);
                refused.push(operation);
            }
        }
        assert!(refused.len() > 60, "{}: {refused:?}", refused.len());
        for path in ["/projects/1/collections/1", "/projects/1/collections/1/tokens/1"] {
            assert_unavailable(&app.anonymous.get(path).await);
        }
        assert_eq!(app.anonymous.get("/metrics").await.status, 200);
        // Another server may just have made it.
        let (_, made) = create_key(&app.store, app.project_a.scope, |_| {}).await;
        let with_key = app.anonymous.with("x-access-key", &made);
        assert_unavailable(&with_key.call("Builder/ListAudiences", json!({})).await);
        outage.end(&relay);
        let is_known = async || with_key.call("Builder/ListAudiences", json!({})).await.status == 200;
        wait_until("it is known", is_known).await;
    }
}

/// What a restart does to those who are connected: the server ends every connection, in whatever it is.
const END_ALL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = 'NAME' AND pid <> pg_backend_pid()";

#[tokio::test]
async fn a_restarted_database_loses_nothing_that_was_acknowledged() {
    let Some((app, relay)) = start(&[]).await else { return };
    seed::tokens(&app.store, QUIET, 1..2, "quiet").await;
    assert_eq!(served_token(&app, QUIET, 1).await, "quiet");
    let background = app.background();
    let mut acknowledged = Vec::new();
    let mut next = 2;
    for _ in 0..3 {
        let mut puts: FuturesUnordered<_> = (next..next + 12)
            .map(|token| {
                let app = &app;
                async move { (token, put_token(app, token, &format!("token {token}")).await) }
            })
            .collect();
        next += 12;
        let mut seen = 0;
        while let Some((token, answer)) = puts.next().await {
            seen += 1;
            // Once the first is through, the others are on their way.
            if seen == 1 {
                administer(&app.database, END_ALL).await.unwrap();
                relay.go_down();
            }
            match answer.status {
                200 => acknowledged.push(token),
                _ => assert_unavailable(&answer),
            }
        }
        // A collection of which a write was acknowledged that could not be read back is loaded anew rather than served as
        // it was before. All others are served.
        assert_eq!(served_token(&app, QUIET, 1).await, "quiet", "reads go on");
        relay.come_up();
        wait_until("writes are taken again", async || put(&app, "first").await.status == 200).await;
    }
    assert!(acknowledged.len() >= 3 && acknowledged.len() < 36, "{acknowledged:?}");
    wait_until("it has a connection again", async || app.store.ping().await.is_ok()).await;
    let stored = stored(&app).await;
    for token in acknowledged {
        let name = json!(format!("token {token}"));
        assert!(stored.contains(&name), "{name} was acknowledged and is missing");
        assert_eq!(served_token(&app, RELICS, token).await, name);
    }
    background.stop().await;
}

/// Has every connection that is made from now on only read, or write as well; those that are there are ended.
async fn set_read_only(app: &TestApp, relay: &Relay, setting: &str) {
    let sql = format!("ALTER DATABASE NAME SET default_transaction_read_only = {setting}");
    administer(&app.database, &sql).await.unwrap();
    relay.go_down();
    relay.come_up();
    wait_until("it answers", async || app.app.store().ping().await.is_ok()).await;
}

#[tokio::test]
async fn a_database_that_is_only_read_refuses_writes_by_name() {
    let Some((app, relay)) = start(&[]).await else { return };
    let background = app.background();
    set_read_only(&app, &relay, "on").await;
    assert_unavailable(&put(&app, "refused").await);
    assert_eq!(served(&app).await, "first", "reads go on");
    // Also of what is not in memory yet.
    assert_eq!(app.project_a.call("Builder/ListAudiences", json!({})).await.status, 200);
    set_read_only(&app, &relay, "off").await;
    wait_until("writes are taken again", async || put(&app, "second").await.status == 200).await;
    assert_eq!((served(&app).await, stored(&app).await), (json!("second"), vec![json!("second")]));
    background.stop().await;
}

#[tokio::test]
async fn whoever_gets_no_connection_is_told_so() {
    let Some((app, _relay)) =
        start(&[("storage.connections_max", "2"), ("limits.request_timeout_ms", "20000")]).await
    else {
        return;
    };
    // Whoever writes waits for another process, so that the first two take all connections.
    let change = Change::Token { token_id: 1.into(), metadata: r#"{"name":"by another"}"#.to_owned() };
    let held = HeldWrite::begin(&app.store, batch(key(RELICS), vec![change])).await;
    let mut puts: FuturesUnordered<_> = (0..4).map(|_| put(&app, "second")).collect();
    for _ in 0..2 {
        assert_unavailable(&puts.next().await.unwrap());
    }
    assert_eq!(age(&app).await, None, "the database is there, and busy");
    assert_eq!(served(&app).await, "first", "reads go on");
    held.release().await.unwrap();
    while let Some(answer) = puts.next().await {
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
    assert_eq!((served(&app).await, stored(&app).await), (json!("second"), vec![json!("second")]));
}
