//! `Ingest/TrackEvents`.

use bourse_store::testing::keep_uncounted;
use bourse_store::{Event, EventKind};
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::analytics::{accepted, events_of, expected, points, scenario, session, track, wallet};
use crate::support::TestApp;

const DAY: [&str; 2] = ["2025-03-14", "2025-03-14"];
const NOON: &str = "2025-03-14T12:00:00Z";
/// All that tests here track.
const ALWAYS: [&str; 2] = ["2021-01-01", "2025-12-31"];

/// Sessions of today's wallets, each with an id.
fn with_ids(numbers: std::ops::Range<u64>) -> Vec<Value> {
    let event = |number| json!({ "wallet": wallet(number), "kind": "transaction", "at": NOON, "id": format!("id {number}") });
    numbers.map(event).collect()
}

/// How many transactions are counted, and of how many wallets.
async fn counted(app: &TestApp) -> (f64, f64) {
    let sent = points(&app.project_a.token, "WalletsTxnSentTotal", ALWAYS, json!({})).await;
    let wallets = points(&app.project_a.token, "WalletsTotal", ALWAYS, json!({})).await;
    (sent[0].1, wallets[0].1)
}

#[tokio::test]
async fn the_same_batch_counts_once_and_its_name_is_the_projects_own() {
    let app = TestApp::start().await;
    let (a, b) = (&app.project_a.token, &app.project_b.token);
    let transactions =
        || (1..4).map(|number| json!({ "wallet": wallet(number), "kind": "transaction" })).collect();
    assert_eq!(track(a, "x", transactions()).await, accepted(3));
    let replay = json!({ "accepted": 0, "known": 0, "rejected": [], "replayed": true });
    assert_eq!(track(a, "x", transactions()).await, replay);
    // The name counts, not what is in it.
    assert_eq!(track(a, "x", vec![session(9, NOON)]).await, replay);
    assert_eq!(counted(&app).await, (3.0, 3.0));
    assert_eq!(track(b, "x", transactions()).await, accepted(3));
    // Without ids the same events under another name are more events.
    assert_eq!(track(a, "y", transactions()).await, accepted(3));
    assert_eq!(counted(&app).await, (6.0, 3.0));
}

/// A clock that is months ahead for a while makes nothing count twice: neither by the name of its batch nor by its id.
#[tokio::test]
async fn a_clock_that_jumps_forgets_nothing() {
    let app = TestApp::start().await;
    let a = &app.project_a.token;
    assert_eq!(track(a, "x", with_ids(1..4)).await, accepted(3));
    let months = 100 * 24 * 3_600;
    for round in 0..5 {
        app.clock.step(months);
        // However much is counted meanwhile, and whoever does it.
        for number in 0..3 {
            let name = format!("ahead {round} {number}");
            assert_eq!(track(a, &name, vec![session(9, NOON)]).await, accepted(1));
        }
        let another = app.another().await;
        assert_eq!(track(&another.token, &format!("{round}"), vec![session(9, NOON)]).await, accepted(1));
        assert_eq!(track(a, "x", vec![session(1, NOON)]).await["replayed"], true);
        app.clock.step(-months);
        assert_eq!(track(a, "x", vec![session(1, NOON)]).await["replayed"], true);
    }
    let answer = track(&app.another().await.token, "ids", with_ids(1..4)).await;
    assert_eq!((&answer["accepted"], &answer["known"]), (&json!(0), &json!(3)), "{answer}");
}

#[tokio::test]
async fn a_batch_is_remembered_for_thirty_days() {
    let app = TestApp::start().await;
    let a = &app.project_a.token;
    assert_eq!(track(a, "x", vec![session(1, NOON)]).await, accepted(1));
    app.clock.set("2025-04-12T23:59:59Z");
    assert_eq!(track(a, "other", vec![session(1, NOON)]).await, accepted(1));
    assert_eq!(track(a, "x", vec![session(1, NOON)]).await["replayed"], true);
    app.clock.set("2025-04-13T00:00:00Z");
    assert_eq!(track(a, "another", vec![session(1, NOON)]).await, accepted(1));
    assert_eq!(track(a, "x", vec![session(1, NOON)]).await, accepted(1));
}

#[tokio::test]
async fn an_event_with_a_known_id_counts_once() {
    let app = TestApp::start().await;
    let a = &app.project_a.token;
    assert_eq!(track(a, "1", with_ids(1..4)).await, accepted(3));
    let answer = track(a, "2", with_ids(3..6)).await;
    assert_eq!(answer, json!({ "accepted": 2, "known": 1, "rejected": [], "replayed": false }));
    // Twice in one batch is once as well; without an id each counts, and an empty one is none.
    let mut twice = with_ids(6..7);
    twice.extend(with_ids(6..7));
    let nameless = json!({ "wallet": wallet(6), "kind": "transaction", "at": NOON, "id": "" });
    twice.extend([nameless.clone(), nameless]);
    let answer = track(a, "3", twice).await;
    assert_eq!(answer, json!({ "accepted": 3, "known": 1, "rejected": [], "replayed": false }));
    assert_eq!(counted(&app).await, (8.0, 6.0));
    // Ids are each project's own.
    assert_eq!(track(&app.project_b.token, "1", with_ids(1..4)).await, accepted(3));
}

#[tokio::test]
async fn ids_are_remembered_for_three_days() {
    let app = TestApp::start().await;
    let a = &app.project_a.token;
    assert_eq!(track(a, "1", with_ids(1..2)).await, accepted(1));
    app.clock.set("2025-03-16T23:59:59Z");
    assert_eq!(track(a, "2", with_ids(1..2)).await["known"], 1);
    // Seen again does not mean remembered for longer.
    app.clock.set("2025-03-17T00:00:00Z");
    assert_eq!(track(a, "3", with_ids(1..2)).await, accepted(1));
}

#[tokio::test]
async fn each_bad_event_is_rejected_by_itself() {
    let app = TestApp::start().await;
    let at = |at: &str| session(1, at);
    let long = json!({ "wallet": wallet(1), "kind": "session", "id": "x".repeat(257) });
    let action = json!({ "wallet": wallet(1), "kind": "market", "properties": { "action": "x".repeat(33) } });
    let events = vec![
        at(NOON),
        at("2025-03-14T12:10:00Z"),
        at("2025-03-14T12:10:01Z"),
        at("2014-12-31T23:59:59Z"),
        at("2015-01-01T00:00:00Z"),
        session(0, NOON),
        json!({ "wallet": wallet(1), "kind": "login" }),
        json!({ "wallet": "0x12", "kind": "session" }),
        json!({ "kind": "session" }),
        json!({ "wallet": wallet(1) }),
        at("yesterday"),
        json!("nothing"),
        long,
        action,
        json!({ "wallet": wallet(2), "kind": "session", "properties": { "level": 7, "action": "won" } }),
    ];
    let answer = track(&app.project_a.token, "mixed", events.clone()).await;
    let rejected = answer["rejected"].as_array().unwrap();
    let said: Vec<(u64, &str, &str)> = rejected
        .iter()
        .map(|event| {
            let text = |member: &str| event[member].as_str().unwrap();
            (event["index"].as_u64().unwrap(), text("reason"), text("message"))
        })
        .collect();
    let expected = [
        (2, "at: 2025-03-14T12:10:01Z has not come yet"),
        (3, "at: 2014-12-31T23:59:59Z is before 2015"),
        (5, "wallet: the zero address is not a wallet"),
        (6, "kind: `login` is none of session, transaction, market"),
        (7, "wallet: "),
        (8, "wallet: is required"),
        (9, "kind: is required"),
        (10, "at: "),
        (11, ""),
        (12, "id: "),
        (13, "properties.action: "),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, (index, message)) in said.iter().zip(expected) {
        assert_eq!((said.0, said.1), (index, "invalid-format"), "{said:?}");
        assert!(said.2.starts_with(message) && said.2.len() > "id: ".len(), "{said:?} {message}");
    }
    assert_eq!((&answer["accepted"], &answer["replayed"]), (&json!(4), &json!(false)));
    // Sent again, what is wrong is said again, and nothing counts twice.
    let again = track(&app.project_a.token, "mixed", events).await;
    assert_eq!((&again["accepted"], &again["replayed"]), (&json!(0), &json!(true)));
    assert_eq!(again["rejected"], answer["rejected"]);
}

#[tokio::test]
async fn a_batch_of_which_nothing_counts_leaves_no_mark() {
    let app = TestApp::start().await;
    let answer = track(&app.project_a.token, "x", vec![session(0, NOON)]).await;
    assert_eq!((&answer["accepted"], &answer["rejected"][0]["index"]), (&json!(0), &json!(0)));
    assert_eq!(track(&app.project_a.token, "x", Vec::new()).await, accepted(0));
    assert_eq!(track(&app.project_a.token, "x", vec![session(1, NOON)]).await, accepted(1));
}

#[tokio::test]
async fn an_event_without_a_time_is_of_now_and_one_from_a_fast_clock_of_its_own_day() {
    let app = TestApp::start().await;
    app.clock.set("2025-03-14T23:55:00Z");
    let now = json!({ "wallet": wallet(1), "kind": "session" });
    assert_eq!(
        track(&app.project_a.token, "x", vec![now, session(2, "2025-03-15T00:05:00Z")]).await,
        accepted(2)
    );
    let daily = points(&app.project_a.token, "WalletsDaily", ["2025-03-14", "2025-03-15"], json!({})).await;
    assert_eq!(daily, expected(&[("2025-03-14", 1.0), ("2025-03-15", 1.0)]));
}

#[tokio::test]
async fn the_letter_case_of_a_wallet_does_not_make_it_another() {
    let app = TestApp::start().await;
    let spelled = |wallet: &str| json!({ "wallet": wallet, "kind": "session", "at": NOON });
    let events = ["0xfdb42a198a932c8d3b506ffa5e855bc4b348a712", "0xfdB42A198a932C8D3B506Ffa5e855bC4b348a712"];
    track(&app.project_a.token, "x", events.map(spelled).to_vec()).await;
    assert_eq!(
        points(&app.project_a.token, "WalletsTotal", DAY, json!({})).await[0].1.to_bits(),
        1.0_f64.to_bits()
    );
}

/// A body that is spelled in another way is read by another way, and counts the same.
#[tokio::test]
async fn events_may_be_spelled_leniently() {
    let app = TestApp::start().await;
    let wallet = wallet(1);
    let lenient = json!({ "Wallet": wallet, "KIND": "market", "AT": NOON, "ID": "1", "unknown": [{}],
        "Properties": { "Action": "buy" } });
    let exact = json!({ "wallet": wallet, "kind": "market", "at": NOON, "id": "1", "properties": { "action": "buy" } });
    let body = json!({ "batchID": "1", "Events": [lenient], "projectID": app.project_a.id });
    assert_eq!(app.project_a.call("Ingest/TrackEvents", body).await.ok(), accepted(1));
    assert_eq!(track(&app.project_a.token, "2", vec![exact]).await["known"], 1);
    let answer = crate::analytics::ask(&app.project_a.token, "MarketTxnEventDaily", DAY, json!({})).await;
    assert_eq!(answer["marketStats"][0]["value"], json!({ "buy": 1 }));
}

/// A wallet that turns out to have been there earlier is new on the earlier day, in every chart that tells.
#[tokio::test]
async fn late_events_move_charts() {
    let app = scenario().await;
    let a = &app.project_a.token;
    let range = ["2025-02-01", "2025-03-14"];
    let chart = async |operation: &str| points(a, operation, range, json!({})).await;
    // Everything is asked for once before, so that nothing may be answered from memory.
    let new = [("2025-02-10", 2.0), ("2025-03-03", 1.0), ("2025-03-10", 1.0), ("2025-03-14", 1.0)];
    assert_eq!(chart("DailyNewWallets").await, expected(&new));
    assert_eq!(chart("D1RetentionByCohort").await.len(), 3);
    assert_eq!(chart("MonthlyNewWallets").await, expected(&[("2025-02", 2.0), ("2025-03", 3.0)]));
    assert_eq!(chart("WalletsMonthly").await, expected(&[("2025-02", 2.0), ("2025-03", 5.0)]));
    // The 4th wallet was there on the 9th and on the 10th of February already.
    let late = ["2025-02-10T00:00:00Z", "2025-02-09T23:59:59Z"].map(|at| session(4, at));
    assert_eq!(track(a, "late", late.to_vec()).await, accepted(2));
    let new = [("2025-02-09", 1.0), ("2025-02-10", 2.0), ("2025-03-03", 1.0), ("2025-03-14", 1.0)];
    assert_eq!(chart("DailyNewWallets").await, expected(&new));
    let back = [("2025-02-09", 1.0), ("2025-02-10", 0.5), ("2025-03-03", 0.0)];
    assert_eq!(chart("D1RetentionByCohort").await, expected(&back));
    assert_eq!(chart("MonthlyNewWallets").await, expected(&[("2025-02", 3.0), ("2025-03", 2.0)]));
    assert_eq!(chart("WalletsMonthly").await, expected(&[("2025-02", 3.0), ("2025-03", 5.0)]));
}

/// A batch is counted whole or not at all also when it is sent many times at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_sent_many_times_at_once_counts_once() {
    let app = TestApp::start().await;
    let day = ("2025-03-14", &["1t", "2t", "3t"][..]);
    let sends = (0..16).map(|number| {
        let actor = app.project_a.token.clone();
        let events = events_of(&day);
        tokio::spawn(async move { track(&actor, &format!("batch {}", number % 2), events).await })
    });
    let mut taken = 0;
    for send in sends.collect::<Vec<_>>() {
        taken += send.await.unwrap()["accepted"].as_u64().unwrap();
    }
    assert_eq!(taken, 6);
    assert_eq!(counted(&app).await, (6.0, 3.0));
}

#[tokio::test]
async fn events_are_kept_as_they_came_only_when_asked() {
    let events = || vec![session(1, "2025-03-13T00:00:00Z"), with_ids(2..3).remove(0)];
    let app = TestApp::start().await;
    track(&app.project_a.token, "x", events()).await;
    assert_eq!(app.store.events(app.project_a.scope).await.unwrap(), []);
    let app = TestApp::with(&[("analytics.raw_events_days", "2")]).await;
    track(&app.project_a.token, "x", events()).await;
    track(&app.project_a.token, "y", events()).await;
    let ids = async || {
        let kept = app.store.events(app.project_a.scope).await.unwrap();
        let mut ids: Vec<String> = kept.into_iter().map(|event| event.id).collect();
        ids.sort();
        ids
    };
    // What has no id gets one, and what counted once is kept once.
    assert_eq!(ids().await, ["id 2", "x#0", "y#0"]);
    app.clock.set("2025-03-15T12:00:00Z");
    track(&app.project_a.token, "z", vec![session(1, "2025-03-15T00:00:00Z")]).await;
    assert_eq!(ids().await, ["id 2", "z#0"]);
}

#[tokio::test]
async fn events_that_were_kept_before_any_was_counted_are_counted_with_the_first_batch() {
    let app = TestApp::start().await;
    let kept = |number: u64, wallet: &str| Event {
        id: format!("id {number}"),
        wallet: wallet.parse().unwrap(),
        kind: EventKind::Transaction,
        at: NOON.parse().unwrap(),
    };
    let zero = Address::ZERO.to_string();
    let events = vec![kept(1, &wallet(1)), kept(2, &wallet(2)), kept(9, &zero)];
    keep_uncounted(&app.store, app.project_a.scope, events).await.unwrap();
    // Those with ids 2 and 3: one was kept.
    let answer = track(&app.project_a.token, "first", with_ids(2..4)).await;
    assert_eq!(answer, json!({ "accepted": 1, "known": 1, "rejected": [], "replayed": false }));
    assert_eq!(counted(&app).await, (3.0, 3.0));
    assert_eq!(track(&app.project_a.token, "second", with_ids(4..5)).await, accepted(1));
    assert_eq!(counted(&app).await, (4.0, 4.0), "once");
    assert_eq!(app.store.events(app.project_a.scope).await.unwrap(), [], "not kept by default");
}
