//! Events into a running service and out of files, charts, and wallets that want to be forgotten.

use serde_json::{Value, json};

use crate::http::Credential;
use crate::import::{counts, file, lines};
use crate::instance::{Instance, Project, Server, within};
use crate::process::WAIT_MAX;

const WALLET: &str = "0x00000000000000000000000000000000000000a1";
const OTHER: &str = "0x00000000000000000000000000000000000000b2";

/// The points of a chart of all of 2026.
pub(crate) fn chart(server: &Server, project: &Project, operation: &str) -> Value {
    let body = json!({ "filter": { "startDate": "2026-01-01", "endDate": "2026-12-31" } });
    let answer =
        server.call(&format!("Analytics/{operation}"), Credential::Token(&project.token), &body).ok();
    answer.as_object().unwrap().values().next().unwrap().clone()
}

fn event(project: &Project, wallet: &str, kind: &str, at: &str) -> Value {
    json!({ "type": "event", "projectId": project.id, "wallet": wallet, "kind": kind, "at": at })
}

#[test]
fn event_lines_count_once_however_often_they_are_imported() {
    let instance = Instance::new();
    let (first, second) = (instance.create_project("first"), instance.create_project("second"));
    let mut trade = event(&first, OTHER, "market", "2026-01-05T00:00:00Z");
    trade["properties"] = json!({ "action": "buy", "price": 7 });
    let mut named = event(&first, WALLET, "transaction", "2026-01-05T00:00:00Z");
    named["id"] = json!("a name");
    let records = [
        event(&first, WALLET, "transaction", "2026-01-02T03:04:05Z"),
        // The same without a name is another one.
        event(&first, WALLET, "transaction", "2026-01-02T03:04:05Z"),
        trade,
        named.clone(),
        event(&second, WALLET, "session", "2026-01-02T03:04:05Z"),
    ];
    file(&instance, "events.jsonl", lines(&records));
    assert_eq!(counts(&instance.json(&["import", "events.jsonl"])), [5, 5, 0]);
    assert_eq!(counts(&instance.json(&["import", "events.jsonl"])), [5, 0, 0]);
    let server = instance.serve();
    let sent = json!([{ "value": 2, "label": "2026-01-02" }, { "value": 1, "label": "2026-01-05" }]);
    assert_eq!(chart(&server, &first, "WalletsTxnSentDaily"), sent);
    let trades = json!([{ "value": { "buy": 1 }, "label": "2026-01-05" }]);
    assert_eq!(chart(&server, &first, "MarketTxnEventDaily"), trades);
    assert_eq!(chart(&server, &second, "WalletsTotal"), json!([{ "value": 1, "label": "2026-01-01" }]));
    // Another file with the event that has a name, and a new one: only that counts, and the service shows it.
    let more = [named, event(&first, OTHER, "transaction", "2026-01-02T00:00:00Z")];
    file(&instance, "more.jsonl", lines(&more));
    assert_eq!(counts(&instance.json(&["import", "more.jsonl"])), [2, 1, 0]);
    assert_eq!(
        counts(&instance.json(&["import", "events.jsonl", "more.jsonl"])),
        [7, 0, 0],
        "each file for itself"
    );
    within(WAIT_MAX, "what was imported", || {
        chart(&server, &first, "WalletsTxnSentDaily")[0]["value"] == json!(3)
    });
}

#[test]
fn bad_event_lines_are_named() {
    let instance = Instance::new();
    let project = instance.create_project("bad");
    let stranger = Project { id: 404, key: String::new(), token: String::new() };
    let mut dateless = event(&project, WALLET, "session", "");
    dateless.as_object_mut().unwrap().remove("at");
    let zero = "0x0000000000000000000000000000000000000000";
    for (line, said) in [
        (dateless, "at: is required"),
        (event(&project, WALLET, "login", "2026-01-01T00:00:00Z"), "kind: `login` is none of"),
        (event(&project, zero, "session", "2026-01-01T00:00:00Z"), "wallet: the zero address"),
        (
            event(&project, WALLET, "session", "1970-01-21T00:00:00Z"),
            "at: 1970-01-21T00:00:00Z is before 2015",
        ),
        (
            event(&project, WALLET, "session", "2999-01-01T00:00:00Z"),
            "at: 2999-01-01T00:00:00Z has not come yet",
        ),
        (event(&stranger, WALLET, "session", "2026-01-01T00:00:00Z"), "projectId: there is no project 404"),
    ] {
        file(&instance, "bad.jsonl", lines(&[line]));
        let printed = instance.failure(&["import", "bad.jsonl"]);
        assert!(printed.contains(&format!("line 1: {said}")), "{printed}");
    }
}

fn track(server: &Server, project: &Project, batch: &str, wallets: &[(&str, &str, &str)]) {
    let event = |(wallet, kind, at): &(&str, &str, &str)| json!({ "wallet": wallet, "kind": kind, "at": at });
    let events: Vec<Value> = wallets.iter().map(event).collect();
    let body = json!({ "batchId": batch, "events": events });
    let answer = server.call("Ingest/TrackEvents", Credential::Token(&project.token), &body).ok();
    assert_eq!(answer["accepted"], json!(wallets.len()), "{answer}");
}

#[test]
fn a_wallet_is_forgotten_beside_a_running_service() {
    let instance = Instance::new();
    let project = instance.create_project("forgetful");
    let id = project.id.to_string();
    let mut server = instance.serve_unready("serve", &[("BOURSE_ANALYTICS__RAW_EVENTS_DAYS", "36500")]);
    server.wait_ready(WAIT_MAX);
    let days = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T10:00:00Z"];
    track(&server, &project, "1", &[(WALLET, "session", days[0]), (OTHER, "session", days[0])]);
    track(&server, &project, "2", &[(WALLET, "transaction", days[1]), (WALLET, "market", days[2])]);
    assert_eq!(chart(&server, &project, "WalletsTotal")[0]["value"], json!(2));
    let forget = ["analytics", "forget", "--project", &id, "--wallet"];
    let said = instance.json(&[&forget[..], &[WALLET]].concat());
    let expected = json!({
        "wallet": WALLET, "activeDays": ["2026-01-01", "2026-01-02"], "sentDays": 1, "marketDays": 1, "rawEvents": 3,
    });
    assert_eq!(said, expected);
    within(WAIT_MAX, "a forgotten wallet", || {
        chart(&server, &project, "WalletsTotal")[0]["value"] == json!(1)
    });
    assert_eq!(chart(&server, &project, "WalletsTxnSentTotal")[0]["value"], json!(1), "numbers stay");
    let unknown = instance.failure(&[&forget[..], &[WALLET]].concat());
    assert!(unknown.contains(&format!("project {id} counted nothing of wallet {WALLET}")), "{unknown}");
    let text = instance.run(&[&forget[..], &[OTHER]].concat());
    assert!(text.status.success(), "{text:?}");
    let expected = format!(
        "Wallet {OTHER} is forgotten: it is out of 1 active days, 0 with transactions and 0 with trades"
    );
    assert!(text.stdout.starts_with(&expected) && text.stdout.contains("What remains"), "{}", text.stdout);
    let nobody = instance.failure(&["analytics", "forget", "--project", "404", "--wallet", WALLET]);
    assert!(nobody.contains("project 404 not found"), "{nobody}");
    let malformed = instance.failure(&["analytics", "forget", "--project", &id, "--wallet", "0x12"]);
    assert!(malformed.contains("--wallet"), "{malformed}");
}
