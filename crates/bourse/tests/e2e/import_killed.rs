//! An import that is killed leaves whole batches, and can be started again.

use std::io::{BufWriter, Write as _};
use std::process::{ChildStdin, Stdio};
use std::time::{Duration, Instant};

use bourse_store::{CollectionKey, LoadedCollection};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use crate::instance::Instance;
use crate::seed::Random;

const CONTRACT: &str = "0x1111111111111111111111111111111111111111";
const TOKENS: u64 = 40_000;
/// Records that an import commits together.
const BATCH: u64 = 4_000;
const KILLS: usize = 6;
const IMPORT_LIMIT: Duration = Duration::from_secs(120);

#[test]
fn an_import_killed_at_any_moment_leaves_whole_batches_and_can_be_repeated() {
    let mut random = Random::new();
    let instance = Instance::new();
    let whole = time_of_one_batch(&instance) * 10;
    let mut counts = Vec::new();
    for _ in 0..KILLS {
        let moment = u64::try_from(whole.as_millis()).unwrap();
        let moment = Duration::from_millis(random.range(10..moment.max(11)));
        let mut process = instance.start(piped(&instance));
        let stdin = process.take_stdin();
        std::thread::scope(|scope| {
            // The pipe breaks when its reader is killed.
            scope.spawn(|| drop(write_tokens(stdin, TOKENS)));
            std::thread::sleep(moment);
            process.kill();
        });
        counts.push(check_whole_batches(&instance));
    }
    println!("tokens after each kill: {counts:?}");
    assert!(counts.iter().any(|count| *count > BATCH), "{counts:?}");
    let first = import_all(&instance);
    let loaded = load(&instance).unwrap();
    assert_eq!(loaded.tokens.len() as u64, TOKENS);
    for stored in &loaded.tokens {
        let metadata: Value = serde_json::from_str(&stored.metadata).unwrap();
        assert_eq!(metadata["name"], json!(format!("Token {}", stored.token_id)));
    }
    assert!(first["changed"].as_u64().unwrap() <= TOKENS);
    let second = import_all(&instance);
    assert_eq!((&second["read"], &second["changed"]), (&json!(TOKENS), &json!(0)));
    assert_eq!(load(&instance).unwrap().version, loaded.version);
}

/// Imports another collection, to know what "midway" is on this machine.
fn time_of_one_batch(instance: &Instance) -> Duration {
    let mut text = Vec::new();
    for number in 1..=BATCH {
        let line = token_line(number).replace(CONTRACT, "0x2222222222222222222222222222222222222222");
        writeln!(text, "{line}").unwrap();
    }
    let started = Instant::now();
    let done = instance.run_with_input(&["import", "-"], &text);
    assert!(done.status.success(), "{done:?}");
    started.elapsed()
}

fn piped(instance: &Instance) -> std::process::Command {
    let mut command = instance.command(&["import", "-", "--json"]);
    command.stdin(Stdio::piped());
    command
}

fn import_all(instance: &Instance) -> Value {
    let mut process = instance.start(piped(instance));
    write_tokens(process.take_stdin(), TOKENS).unwrap();
    let done = process.wait(IMPORT_LIMIT);
    assert!(done.status.success(), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

fn write_tokens(stdin: ChildStdin, count: u64) -> std::io::Result<()> {
    let mut pipe = BufWriter::new(stdin);
    for number in 1..=count {
        writeln!(pipe, "{}", token_line(number))?;
    }
    pipe.flush()
}

fn token_line(number: u64) -> String {
    format!(
        r#"{{"type":"token","chainId":137,"contractAddress":"{CONTRACT}","tokenId":"{number}","name":"Token {number}"}}"#
    )
}

/// How many tokens there are, which must be those of whole batches, each with its entry in the change log.
fn check_whole_batches(instance: &Instance) -> u64 {
    let Some(loaded) = load(instance) else { return 0 };
    let count = loaded.tokens.len() as u64;
    assert_eq!(count % BATCH, 0, "a batch is there by half: {count} tokens");
    assert_eq!(loaded.version, count / BATCH, "one version for each batch");
    count
}

/// The collection by way of its change log, which must be complete.
fn load(instance: &Instance) -> Option<LoadedCollection> {
    let key = CollectionKey { chain: ChainId(137), address: CONTRACT.parse().unwrap() };
    instance.with_store(async |store| {
        let id = store.collection(key).await.unwrap()?;
        let loaded = store.load(id, Some(0)).await.unwrap();
        // From version 0 on, everything is read only when the log's rows are not as many as the versions.
        assert!(!loaded.whole, "version {} and the change log do not agree", loaded.version);
        Some(loaded)
    })
}
