//! Several services on one database, and what is left after a wallet is forgotten.

use std::time::{Duration, Instant};

use bourse_server::counting::{
    CountingError, CountingHouse, EventBatch, Retention, Tracked, TrackedEvent, surroundings,
};
use bourse_store::EventKind;
use bourse_store::testing::operator_at;
use serde_json::{Value, json};

use super::{accepted, ask, expected, operations, points, scenario, session, track, wallet};
use crate::support::actor::Actor;
use crate::support::{TestApp, wait_until};

const RANGE: [&str; 2] = ["2025-01-01", "2025-03-14"];

async fn all_charts(actor: &Actor) -> Vec<(&'static str, Value)> {
    let mut charts = Vec::new();
    for operation in operations() {
        charts.push((operation, ask(actor, operation, RANGE, json!({ "fill": true })).await));
    }
    charts
}

/// Waits until a chart of the whole range says so.
async fn noticed(actor: &Actor, operation: &str, value: f64) {
    let is_so = async || (points(actor, operation, RANGE, json!({})).await[0].1 - value).abs() < 1e-9;
    wait_until(&format!("{operation} is {value}"), is_so).await;
}

/// Counters are loaded without sets. When sets are asked for, both are of the same events.
#[tokio::test]
async fn counters_that_are_loaded_first_and_sets_that_are_loaded_later_fit() {
    let app = scenario().await;
    let other = app.another().await;
    noticed(&other.token, "WalletsTxnSentTotal", 5.0).await;
    let transaction = |number: u64| json!({ "wallet": wallet(number), "kind": "transaction", "at": "2025-03-14T00:00:00Z" });
    track(&app.project_a.token, "later", vec![transaction(7)]).await;
    let background = other.background();
    noticed(&other.token, "WalletsTxnSentTotal", 6.0).await;
    assert_eq!(all_charts(&other.token).await, all_charts(&app.project_a.token).await);
    // Whoever only had counters counts on with all that is known.
    let third = app.another().await;
    noticed(&third.token, "WalletsTxnSentTotal", 6.0).await;
    assert_eq!(track(&third.token, "last", vec![transaction(1), transaction(8)]).await, accepted(2));
    noticed(&other.token, "WalletsTxnSentTotal", 8.0).await;
    assert_eq!(all_charts(&third.token).await, all_charts(&other.token).await);
    background.stop().await;
}

#[tokio::test]
async fn what_is_loaded_from_the_store_answers_the_same() {
    let app = scenario().await;
    let other = app.another().await;
    let (counted, loaded) = (all_charts(&app.project_a.token).await, all_charts(&other.token).await);
    for (counted, loaded) in counted.into_iter().zip(loaded) {
        assert_eq!(counted, loaded);
    }
    // It also goes on counting from there: known ids, names of batches and wallets.
    assert_eq!(
        track(&other.token, "2025-03-14", vec![session(9, "2025-03-14T00:00:00Z")]).await["replayed"],
        true
    );
    assert_eq!(track(&other.token, "more", vec![session(1, "2025-03-14T00:00:00Z")]).await, accepted(1));
    let wallets = points(&other.token, "WalletsTotal", RANGE, json!({})).await;
    assert_eq!(wallets, expected(&[("2025-01-01", 6.0)]));
}

#[tokio::test]
async fn what_one_service_counts_the_other_sees() {
    let app = scenario().await;
    let other = app.another().await;
    let (here, there) = (app.background(), other.background());
    noticed(&other.token, "WalletsTotal", 6.0).await;
    let id =
        json!({ "wallet": wallet(7), "kind": "transaction", "at": "2025-02-01T00:00:00Z", "id": "seven" });
    assert_eq!(track(&app.project_a.token, "late", vec![id.clone()]).await, accepted(1));
    noticed(&other.token, "WalletsTotal", 7.0).await;
    assert_eq!(
        points(&other.token, "MonthlyNewWallets", RANGE, json!({})).await[1].1.to_bits(),
        3.0_f64.to_bits()
    );
    // And back, with an id that only the first has seen.
    assert_eq!(track(&other.token, "again", vec![id]).await["known"], 1);
    assert_eq!(track(&other.token, "new", vec![session(8, "2025-03-14T00:00:00Z")]).await, accepted(1));
    noticed(&app.project_a.token, "WalletsTotal", 8.0).await;
    assert_eq!(all_charts(&app.project_a.token).await, all_charts(&other.token).await);
    here.stop().await;
    there.stop().await;
}

/// Prints how long it takes until events that one service was told are in charts of the other: `announced.rs` of the store
/// tests that nobody has to look for them.
#[tokio::test]
async fn events_are_told_to_other_services() {
    let app = TestApp::start().await;
    let other = app.another().await;
    let (here, there) = (app.background(), other.background());
    noticed(&other.token, "WalletsTotal", 0.0).await;
    let mut took = Vec::new();
    for number in 1..=15 {
        track(
            &app.project_a.token,
            &format!("batch {number}"),
            vec![session(number, "2025-03-14T00:00:00Z")],
        )
        .await;
        let since = Instant::now();
        noticed(&other.token, "WalletsTotal", f64::from(u32::try_from(number).unwrap())).await;
        took.push(since.elapsed().as_millis());
    }
    took.sort_unstable();
    println!("others had events after {} ms, as the median of {took:?}", took[took.len() / 2]);
    here.stop().await;
    there.stop().await;
}

/// Two services count into one project at once, each with several callers; some batches and ids are sent to both.
#[tokio::test(flavor = "multi_thread")]
async fn two_services_at_once_count_everything_exactly_once() {
    const BATCHES: u64 = 24;
    const EVENTS: u64 = 20;
    let app = TestApp::start().await;
    let other = app.another().await;
    let (here, there) = (app.background(), other.background());
    let event = |batch: u64, number: u64| {
        let day = 1 + (batch + number) % 14;
        // Half of the wallets of a batch are those of the one before.
        let mut event = json!({ "wallet": wallet(1 + batch * EVENTS / 2 + number), "kind": "transaction",
            "at": format!("2025-03-{day:02}T00:00:00Z") });
        if number == 0 {
            // One event of each batch has an id, which two batches share. Whichever comes first is of the same wallet.
            event["id"] = json!(format!("id {}", batch / 2));
            event["wallet"] = json!(wallet(1));
        }
        event
    };
    let mut sent = Vec::new();
    for batch in 0..BATCHES {
        let events: Vec<Value> = (0..EVENTS).map(|number| event(batch, number)).collect();
        // Every third batch is sent to both.
        let [first, second] = if batch % 2 == 0 {
            [&app.project_a.token, &other.token]
        } else {
            [&other.token, &app.project_a.token]
        };
        let times = if batch % 3 == 0 { 2 } else { 1 };
        for actor in [first, second].into_iter().take(times) {
            let (actor, events) = (actor.clone(), events.clone());
            sent.push(tokio::spawn(async move { track(&actor, &format!("batch {batch}"), events).await }));
        }
    }
    let (mut taken, mut known, mut replayed) = (0, 0, 0);
    for send in sent {
        let answer = send.await.unwrap();
        taken += answer["accepted"].as_u64().unwrap();
        known += answer["known"].as_u64().unwrap();
        replayed += u64::from(answer["replayed"].as_bool().unwrap());
    }
    assert_eq!((taken + known, known, replayed), (BATCHES * EVENTS, BATCHES / 2, BATCHES / 3));
    for actor in [&app.project_a.token, &other.token] {
        noticed(actor, "WalletsTxnSentTotal", f64::from(u32::try_from(taken).unwrap())).await;
        // The last batch ends with wallet 23 * 10 + 20.
        noticed(actor, "WalletsTotal", 250.0).await;
    }
    assert_eq!(all_charts(&app.project_a.token).await, all_charts(&other.token).await);
    assert_eq!(all_charts(&app.another().await.token).await, all_charts(&other.token).await);
    here.stop().await;
    there.stop().await;
}

/// What nobody else can know of a clock that was ahead is not remembered either.
#[tokio::test]
async fn ids_are_known_beside_a_service_whose_clock_was_ahead() {
    let app = TestApp::start().await;
    let retention = Retention { batches_days: 30, event_ids_days: 3, raw_events_days: 0 };
    let house = CountingHouse::new(surroundings(app.store.clone(), retention, app.clock.clock()));
    let track_as_file = async |wallet_number: u64, id: Option<&str>| {
        let (wallet, at) = (wallet(wallet_number).parse().unwrap(), "2025-03-14T00:00:00Z".parse().unwrap());
        let id = id.map(Box::from);
        let event = TrackedEvent { wallet, at, id, kind: EventKind::Session, action: None };
        house.track(app.project_a.scope, EventBatch::of_content(vec![event]), app.now()).await.unwrap()
    };
    app.clock.step(7 * 86_400);
    // A file is known for good, which needs no day.
    assert_eq!(track_as_file(1, None).await.counted, 1);
    app.clock.step(-7 * 86_400);
    let with_id =
        json!({ "wallet": wallet(2), "kind": "session", "at": "2025-03-14T00:00:00Z", "id": "once" });
    assert_eq!(track(&app.project_a.token, "here", vec![with_id]).await, accepted(1));
    assert_eq!(track_as_file(3, Some("once")).await, Tracked { known: 1, ..Tracked::default() });
}

/// With very many wallets a load takes longer than a request may: then it goes on without whoever asked.
#[tokio::test]
async fn a_load_goes_on_when_nobody_waits_for_it() {
    let app = scenario().await;
    let retention = Retention { batches_days: 30, event_ids_days: 3, raw_events_days: 0 };
    let (scope, now) = (app.project_a.scope, app.now());
    let is_loading = |outcome: Result<(), CountingError>| matches!(outcome, Err(CountingError::Loading));
    // A load may be over before anybody looks at the clock: then another house is asked.
    let mut houses = 0;
    let house = loop {
        let house = CountingHouse::new(surroundings(app.store.clone(), retention, app.clock.clock()));
        let is_opening = is_loading(house.open(scope, true, now, Duration::ZERO).await.map(drop));
        if is_opening && is_loading(house.prepare(scope, now, Duration::ZERO).await) {
            break house;
        }
        houses += 1;
        assert!(houses < 100, "whoever has no patience is never told that it is loading");
    };
    wait_until("all is loaded", async || house.prepare(scope, now, Duration::ZERO).await.is_ok()).await;
    house.open(scope, true, now, Duration::ZERO).await.unwrap();
    let event = |number| TrackedEvent {
        wallet: wallet(number).parse().unwrap(),
        at: "2025-03-14T00:00:00Z".parse().unwrap(),
        id: None,
        kind: EventKind::Session,
        action: None,
    };
    // One that is known, and one that is not.
    let batch = EventBatch::of_content(vec![event(1), event(700)]);
    assert_eq!(house.track(scope, batch, now).await.unwrap().counted, 2);
    noticed(&app.another().await.token, "WalletsTotal", 7.0).await;
}

/// What `bourse analytics forget` does beside a running service.
#[tokio::test]
async fn a_forgotten_wallet_is_out_of_every_set_and_its_events_are_still_numbers() {
    let app = scenario().await;
    let background = app.background();
    noticed(&app.project_a.token, "WalletsTotal", 6.0).await;
    let retention = Retention { batches_days: 30, event_ids_days: 3, raw_events_days: 0 };
    let house = CountingHouse::new(surroundings(app.store.clone(), retention, app.clock.clock()));
    let wallet = wallet(1).parse().unwrap();
    let forgotten = house.forget(app.project_a.scope, wallet, operator_at(app.now())).await.unwrap().unwrap();
    let days = ["2025-02-10", "2025-02-11", "2025-02-17", "2025-02-24", "2025-03-10"];
    assert_eq!(forgotten.active_days, days.map(|day| day.parse().unwrap()));
    assert_eq!((forgotten.sent_days, forgotten.market_days, forgotten.raw_events), (1, 1, 0));
    noticed(&app.project_a.token, "WalletsTotal", 5.0).await;
    let a = &app.project_a.token;
    let daily = points(a, "WalletsDaily", ["2025-02-10", "2025-02-28"], json!({})).await;
    assert_eq!(daily, expected(&[("2025-02-10", 1.0), ("2025-02-13", 1.0), ("2025-02-17", 1.0)]));
    let market = points(a, "MarketWalletsTotal", RANGE, json!({})).await;
    assert_eq!(market, expected(&[("2025-01-01", 2.0)]));
    let events = points(a, "WalletsTxnSentTotal", RANGE, json!({})).await;
    assert_eq!(events, expected(&[("2025-01-01", 5.0)]), "numbers of events stay");
    assert_eq!(house.forget(app.project_a.scope, wallet, operator_at(app.now())).await.unwrap(), None);
    assert_eq!(house.forget(app.project_b.scope, wallet, operator_at(app.now())).await.unwrap(), None);
    // Should it come back, it is new.
    assert_eq!(track(a, "back", vec![session(1, "2025-03-14T00:00:00Z")]).await, accepted(1));
    let new = points(a, "DailyNewWallets", ["2025-03-14", "2025-03-14"], json!({})).await;
    assert_eq!(new, expected(&[("2025-03-14", 2.0)]));
    background.stop().await;
}

/// The address itself is nowhere in the database any more.
#[tokio::test]
async fn nothing_stored_names_a_forgotten_wallet() {
    let app = TestApp::with(&[("analytics.raw_events_days", "30")]).await;
    let a = &app.project_a;
    track(&a.token, "x", vec![session(7, "2025-03-14T00:00:00Z"), session(8, "2025-03-14T00:00:00Z")]).await;
    let retention = Retention { batches_days: 30, event_ids_days: 3, raw_events_days: 30 };
    let house = CountingHouse::new(surroundings(app.store.clone(), retention, app.clock.clock()));
    let stored = async || {
        let kinds = vec![(0, 0), (1, 0), (2, 0)];
        let known = bourse_store::CountsCursor { kinds, ..Default::default() };
        let chunks = app.store.counts(a.scope, known).await.unwrap().chunks;
        let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.body).collect();
        [7_u8, 8].map(|last| {
            let mut address = [0; 20];
            address[19] = last;
            bytes.windows(20).any(|window| window == address)
        })
    };
    assert_eq!(stored().await, [true, true]);
    let forgotten =
        house.forget(a.scope, wallet(7).parse().unwrap(), operator_at(app.now())).await.unwrap().unwrap();
    assert_eq!(forgotten.raw_events, 1);
    assert_eq!(stored().await, [false, true]);
    let kept = app.store.events(a.scope).await.unwrap();
    assert_eq!(kept.iter().map(|event| event.wallet.to_string()).collect::<Vec<_>>(), [wallet(8)]);
}
