//! Memory is compared with the store while the service runs: what differs is told and put right.

use bourse_store::Store;
use bourse_store::testing::change_unnoticed;
use serde_json::{Value, json};

use crate::support::actor::{Actor, Answer};
use crate::support::seed::{self, RELICS, key};
use crate::support::{TestApp, log, wait_until};

/// A contract that no other test of this process has, so that the log can be asked for it.
const FORGED: &str = "0x00000000000000000000000000000000000f0c3d";
const QUICKLY: (&str, &str) = ("storage.self_check_interval_ms", "1");
/// How often a collection is compared while somebody writes to it.
const CHECKS: u64 = 40;

async fn names(asker: &Actor, contract: &str) -> Vec<Value> {
    let body = json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [1, 2] });
    let answer = asker.call("Metadata/GetTokenMetadata", body).await.ok();
    answer["tokenMetadata"].as_array().unwrap().iter().map(|token| token["name"].clone()).collect()
}

/// The sum of a counter over all its labels.
async fn counted(asker: &Actor, counter: &str) -> u64 {
    let metrics = asker.get("/metrics").await.text();
    let of_counter = metrics.lines().filter(|line| line.starts_with(counter));
    of_counter.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

/// Names in the store what nobody was told of.
async fn forge(store: &Store, contract: &str) {
    let id = store.collection(key(contract)).await.unwrap().unwrap();
    let sql = "UPDATE tokens SET metadata = REPLACE(metadata, 'Axe', 'Sword') WHERE collection_id = $1";
    assert_eq!(change_unnoticed(store, id, sql).await.unwrap(), 2);
}

#[tokio::test]
async fn what_memory_says_otherwise_is_found_told_and_put_right() {
    log::start();
    let app = TestApp::with(&[QUICKLY]).await;
    for contract in [FORGED, RELICS] {
        seed::tokens(&app.store, contract, 1..3, "Axe").await;
        assert_eq!(names(&app.project_a.key, contract).await, ["Axe", "Axe"]);
    }
    forge(&app.store, FORGED).await;
    assert_eq!(names(&app.project_a.key, FORGED).await, ["Axe", "Axe"], "nobody knows yet");
    let background = app.background();
    wait_until("memory is put right", async || names(&app.project_a.key, FORGED).await == ["Sword", "Sword"])
        .await;
    assert_eq!(names(&app.project_a.key, RELICS).await, ["Axe", "Axe"]);
    wait_until("both are compared", async || {
        counted(&app.anonymous, "bourse_self_check_outcomes_total").await > 4
    })
    .await;
    for part in ["tokens", "names"] {
        let counter = format!("bourse_self_check_differences_total{{part=\"{part}\"}}");
        assert_eq!(counted(&app.anonymous, &counter).await, 1, "{part}");
    }
    let different = "bourse_self_check_outcomes_total{outcome=\"different\"}";
    assert_eq!(counted(&app.anonymous, different).await, 1, "once is enough");
    let line = log::line_with(FORGED);
    assert!(line.contains("tokens, names") && line.contains("loaded anew"), "{line}");
    background.stop().await;
}

#[tokio::test]
async fn what_is_written_meanwhile_is_no_difference() {
    let app = TestApp::with(&[QUICKLY]).await;
    seed::tokens(&app.store, RELICS, 1..200, "Axe").await;
    assert_eq!(names(&app.project_a.key, RELICS).await, ["Axe", "Axe"]);
    let background = app.background();
    let mut round = 0;
    while counted(&app.anonymous, "bourse_self_check_outcomes_total{outcome=\"equal\"}").await < CHECKS {
        round += 1;
        seed::tokens(&app.store, RELICS, 1..3, &format!("Axe {round}")).await;
    }
    assert_eq!(counted(&app.anonymous, "bourse_self_check_differences_total").await, 0);
    background.stop().await;
}

/// What never is cannot be waited for: a service beside it compares in the same time.
#[tokio::test]
async fn an_interval_of_zero_compares_nothing_by_itself() {
    let app = TestApp::with(&[("storage.self_check_interval_ms", "0")]).await;
    let beside = app.another_asking(&[QUICKLY], None).await;
    seed::tokens(&app.store, RELICS, 1..3, "Axe").await;
    assert_eq!(names(&app.project_a.key, RELICS).await, ["Axe", "Axe"]);
    assert_eq!(names(&beside.key, RELICS).await, ["Axe", "Axe"]);
    let backgrounds = [app.background(), beside.background()];
    let equal = "bourse_self_check_outcomes_total{outcome=\"equal\"}";
    wait_until("the other compares", async || counted(&beside.key, equal).await > 4).await;
    assert_eq!(counted(&app.anonymous, "bourse_self_check_outcomes_total").await, 0);
    for background in backgrounds {
        background.stop().await;
    }
}

#[tokio::test]
async fn whoever_asks_without_a_token_is_told_that_one_is_needed() {
    let app = TestApp::start().await;
    let message = |answer: Answer| {
        assert_eq!(answer.refusal(), (401, 1000), "{}", answer.json);
        answer.json["message"].as_str().unwrap().to_owned()
    };
    for answer in [app.anonymous.get("/self-check").await, app.project_a.key.get("/self-check").await] {
        assert!(message(answer).starts_with("a token is needed"));
    }
    let check = format!("/self-check/137/{RELICS}");
    assert!(message(app.anonymous.post(&check, "").await).starts_with("a token is needed"));
    // One that was presented and is none of the operator's is another matter.
    assert!(message(app.project_a.token.get("/self-check").await).contains("malformed"));
}
