//! Large collections are kept in files from one start to the next. Such a file is as good as what is stored, or thrown away.

use std::fs;
use std::path::PathBuf;

use bourse_store::testing::batch;
use bourse_store::{OpenOptions, Store};
use serde_json::{Value, json};

use crate::support::actor::Actor;
use crate::support::orders::{self, ANA, balance, listing, offer};
use crate::support::seed::{RELICS, UNKNOWN, key, token_of};
use crate::support::{Beside, TestApp, wait_until};

const READ: &str = "bourse_resident_kept_files_total{outcome=\"read\"}";
const THROWN_AWAY: &str = "bourse_resident_kept_files_total{outcome=\"thrown_away\"}";
const WRITTEN: &str = "bourse_resident_kept_files_total{outcome=\"written\"}";
const NOT_WRITTEN: &str = "bourse_resident_kept_files_total{outcome=\"not_written\"}";
const EQUAL: &str = "bourse_self_check_outcomes_total{outcome=\"equal\"}";
const DIFFERENCES: &str = "bourse_self_check_differences_total";

/// A market whose collection is kept in a directory, and was asked for once.
struct Trial {
    directory: tempfile::TempDir,
    app: TestApp,
}

impl Trial {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut changes: Vec<_> = (1..50).map(|id| token(id, "Axe")).collect();
        changes.extend((1..40).map(|id| balance(id, ANA, 1)));
        changes.extend(orders::orders((1..20).map(|id| listing(&format!("l{id}"), id, 100 - id))));
        changes.extend(orders::orders((1..9).map(|id| offer(&format!("o{id}"), id, id))));
        let prepare = async move |store: &Store, _: &_, _: &_| orders::put(store, changes).await;
        let path = directory.path().display().to_string();
        let app = TestApp::prepared(&settings(&path, "86400000"), prepare).await.0;
        let trial = Self { directory, app };
        assert_eq!(listed(&trial.app.project_a.key).await["collectibles"].as_array().unwrap().len(), 19);
        trial
    }

    /// One that was stopped as it should be, with the file that it left.
    async fn stopped() -> (Self, PathBuf) {
        let trial = Self::start().await;
        trial.app.background().stop().await;
        assert_eq!(counted(&trial.app.anonymous, WRITTEN).await, 1);
        let file = trial.file();
        assert!(file.exists());
        (trial, file)
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join(format!("137-{RELICS}.kept"))
    }

    /// The next start, which compares what is in memory with the store again and again.
    async fn next(&self) -> Beside {
        let path = self.directory.path().display().to_string();
        self.app.another_asking(&settings(&path, "1"), None).await
    }

    /// The next start says what is stored, and whether it read a file or threw one away.
    async fn check_next(&self, what: &str) -> (u64, u64) {
        let fresh = self.app.another().await;
        let next = self.next().await;
        let background = next.background();
        wait_until("ready", async || next.key.get("/ready").await.status == 200).await;
        assert_eq!(listed(&next.key).await, listed(&fresh.key).await, "{what}");
        wait_until("compared", async || counted(&next.key, EQUAL).await > 0).await;
        assert_eq!(counted(&next.key, DIFFERENCES).await, 0, "{what}");
        let outcome = (counted(&next.key, READ).await, counted(&next.key, THROWN_AWAY).await);
        background.stop().await;
        outcome
    }
}

fn settings<'a>(directory: &'a str, self_check_interval_ms: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("storage.kept_directory", directory),
        ("storage.kept_bytes_min", "1"),
        ("storage.self_check_interval_ms", self_check_interval_ms),
    ]
}

fn token(id: u64, name: &str) -> bourse_store::Change {
    let kind = if id.is_multiple_of(3) { "old" } else { "new" };
    token_of(json!({ "tokenId": id.to_string(), "name": name, "properties": { "power": id, "kind": kind } }))
}

/// Everything that is listed, by price.
async fn listed(actor: &Actor) -> Value {
    let body = json!({ "chainId": "polygon", "contractAddress": RELICS, "side": "listing", "page": { "pageSize": 100 } });
    actor.call("Marketplace/ListCollectibles", body).await.ok()
}

/// A counter, over all its labels where it has more than are named.
async fn counted(actor: &Actor, counter: &str) -> u64 {
    let metrics = actor.get("/metrics").await.text();
    let of_counter = metrics.lines().filter(|line| line.starts_with(counter));
    of_counter.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn a_start_reads_what_was_kept_and_follows_what_was_committed_since() {
    let (trial, file) = Trial::stopped().await;
    assert_eq!(trial.check_next("nothing changed").await, (1, 0));
    let changes = vec![token(3, "Sword"), token(77, "Bow"), balance(1, ANA, 0)];
    let cheaper = orders::orders([listing("l5", 5, 1), listing("l77", 77, 2)]);
    orders::commit(&trial.app.store, changes.into_iter().chain(cheaper).collect()).await;
    let before = fs::read(&file).unwrap();
    assert_eq!(trial.check_next("tokens, balances and orders changed").await, (1, 0));
    assert!(fs::read(&file).unwrap() != before, "the stop after that wrote what is new");
    assert_eq!(trial.check_next("it is read once more").await, (1, 0));
    // Rates change while nobody is there.
    let coins = orders::coins("3");
    trial.app.store.put_currencies(coins, bourse_store::testing::operator()).await.unwrap();
    assert_eq!(trial.check_next("rates changed").await, (1, 0));
}

#[tokio::test]
async fn a_start_is_ready_once_what_was_used_last_is_in_memory() {
    let (trial, _) = Trial::stopped().await;
    let next = trial.next().await;
    let answer = next.key.get("/ready").await;
    assert_eq!((answer.status, &answer.json["status"]), (503, &json!("starting")));
    let reason = answer.json["reason"].as_str().unwrap();
    assert!(reason.contains("1 of 1 are left"), "{reason}");
    let background = next.background();
    wait_until("ready", async || next.key.get("/ready").await.status == 200).await;
    assert_eq!(counted(&next.key, "bourse_resident_collections ").await, 1, "before anybody asked for it");
    background.stop().await;
}

#[tokio::test]
async fn a_damaged_file_is_thrown_away_whatever_is_wrong_with_it() {
    let (trial, file) = Trial::stopped().await;
    let whole = fs::read(&file).unwrap();
    // The form of the file, the frame's length and hash, the label's layout, owner and number, the stamp, and what follows.
    let places = [13, 17, 22, 30, 40, 66, 70, 80, 200, whole.len() / 2, whole.len() - 20, whole.len() - 1];
    let mut damaged: Vec<(String, Vec<u8>)> = places
        .iter()
        .map(|place| {
            let mut bytes = whole.clone();
            bytes[*place] ^= 1;
            (format!("byte {place} is another"), bytes)
        })
        .collect();
    for end in [0, 10, 16, 40, whole.len() / 2, whole.len() - 1] {
        damaged.push((format!("it ends after {end} bytes"), whole[..end].to_vec()));
    }
    damaged.push(("something is behind its end".to_owned(), [&whole[..], b"more"].concat()));
    for (what, bytes) in damaged {
        fs::write(&file, bytes).unwrap();
        assert_eq!(trial.check_next(&what).await, (0, 1), "{what}");
    }
}

#[tokio::test]
async fn a_file_of_another_database_or_collection_is_thrown_away() {
    let (trial, file) = Trial::stopped().await;
    // The same collection under the same number, and other versions.
    let (_other, others_file) = Trial::stopped().await;
    fs::copy(others_file, &file).unwrap();
    assert_eq!(trial.check_next("another database").await, (0, 1));
    trial.app.store.commit(batch(key(UNKNOWN), vec![token(1, "Bow")])).await.unwrap();
    let path = trial.directory.path().join(format!("137-{UNKNOWN}.kept"));
    fs::rename(&file, &path).unwrap();
    assert_eq!(trial.check_next("another collection").await, (0, 1));
    fs::rename(&file, trial.directory.path().join("137-0x00000000000000000000000000000000000000bb.kept"))
        .unwrap();
    assert_eq!(trial.check_next("nothing is stored of it").await, (1, 1), "the other one is good");
}

#[tokio::test]
async fn a_file_older_than_the_change_log_is_thrown_away() {
    let (trial, _) = Trial::stopped().await;
    let options = OpenOptions { changes_kept: 0, ..OpenOptions::default() };
    let store = Store::open(&trial.app.database.url, options, trial.app.now()).await.unwrap();
    for name in ["Sword", "Bow"] {
        store.commit(batch(key(RELICS), vec![token(3, name)])).await.unwrap();
    }
    assert_eq!(trial.check_next("the log has nothing").await, (0, 1));
}

#[tokio::test]
async fn what_is_compared_and_equal_is_kept_while_the_service_runs() {
    let trial = Trial::start().await;
    // What a process left that was killed while it wrote.
    let half = trial.directory.path().join(format!("137-{RELICS}.word.part"));
    fs::write(&half, b"half").unwrap();
    let next = trial.next().await;
    assert!(!half.exists(), "it is removed at the start");
    listed(&next.key).await;
    let background = next.background();
    wait_until("it is kept", async || trial.file().exists()).await;
    // As if it were killed now.
    assert_eq!(trial.check_next("nobody stopped it").await, (1, 0));
    background.stop().await;
}

#[tokio::test]
async fn a_disk_that_takes_nothing_costs_nothing_but_a_line_of_the_log() {
    let trial = Trial::start().await;
    // Nothing can be in a directory that is a file.
    let path = trial.directory.path().join("file");
    fs::write(&path, b"").unwrap();
    let path = path.display().to_string();
    let next = trial.app.another_asking(&settings(&path, "86400000"), None).await;
    let before = listed(&next.key).await;
    next.background().stop().await;
    assert_eq!(counted(&next.key, NOT_WRITTEN).await, 1);
    assert_eq!(listed(&next.key).await, before);
}

#[tokio::test]
async fn nothing_is_kept_where_the_settings_say_so() {
    let trial = Trial::start().await;
    let path = trial.directory.path().display().to_string();
    let off = [settings(&path, "1").as_slice(), &[("storage.keep_collections", "false")]].concat();
    let next = trial.app.another_asking(&off, None).await;
    listed(&next.key).await;
    let background = next.background();
    wait_until("compared", async || counted(&next.key, EQUAL).await > 1).await;
    background.stop().await;
    assert!(!trial.file().exists() && next.key.get("/metrics").await.status == 200);
}
