//! An import that is killed leaves whole batches, and can be started again.

use std::io::{BufWriter, Write as _};
use std::process::{ChildStdin, Stdio};
use std::time::Duration;

use bourse_store::{Changes, CollectionKey, Mark};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use crate::instance::Instance;
use crate::random::Random;

const TOKENS: u64 = 32_000;
/// Records that an import commits together.
const BATCH: u64 = 4_000;
const KILLS: u64 = 8;
const IMPORT_LIMIT: Duration = Duration::from_mins(5);

/// The contract of one import.
fn contract(import: u64) -> String {
    format!("0x{import:040x}")
}

#[test]
fn an_import_killed_at_any_moment_leaves_whole_batches_and_can_be_repeated() {
    let mut random = Random::new();
    let instance = Instance::new();
    let mut counts = Vec::new();
    for import in 1..=KILLS {
        // Further and further, so that some are killed early and some late.
        let lines = random.range(TOKENS * (import - 1) / KILLS..TOKENS * import / KILLS);
        let mut process = instance.start(piped(&instance));
        let open_pipe = write_tokens(process.take_stdin(), import, lines).unwrap();
        process.kill();
        drop(open_pipe);
        let count = check_whole_batches(&instance, import);
        assert!(count <= lines, "{count} tokens out of {lines} lines");
        counts.push((lines, count));
    }
    println!("lines and tokens at each kill: {counts:?}");
    assert!(counts.iter().any(|(_, count)| *count > 0), "none was killed midway: {counts:?}");
    check_repeated(&instance, KILLS);
}

/// The import that was killed, started again.
fn check_repeated(instance: &Instance, import: u64) {
    let there = check_whole_batches(instance, import);
    let first = import_all(instance, import);
    assert_eq!((&first["read"], &first["changed"]), (&json!(TOKENS), &json!(TOKENS - there)));
    assert_eq!(check_whole_batches(instance, import), TOKENS);
    let loaded = load(instance, import).unwrap();
    let mut numbers: Vec<u64> = Vec::new();
    for stored in &loaded.tokens {
        let metadata: Value = serde_json::from_str(&stored.metadata).unwrap();
        assert_eq!(metadata["name"], json!(format!("Token {}", stored.token_id)));
        numbers.push(stored.token_id.to_string().parse().unwrap());
    }
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=TOKENS));
    let second = import_all(instance, import);
    assert_eq!((&second["read"], &second["changed"]), (&json!(TOKENS), &json!(0)));
    assert_eq!(load(instance, import).unwrap().version, loaded.version);
}

fn piped(instance: &Instance) -> std::process::Command {
    let mut command = instance.command(&["import", "-", "--json"]);
    command.stdin(Stdio::piped());
    command
}

fn import_all(instance: &Instance, import: u64) -> Value {
    let mut process = instance.start(piped(instance));
    drop(write_tokens(process.take_stdin(), import, TOKENS).unwrap());
    let done = process.wait(IMPORT_LIMIT);
    assert!(done.status.success(), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

/// Writes the first lines of an import, and leaves the pipe open: for its reader there may be more to come.
fn write_tokens(stdin: ChildStdin, import: u64, lines: u64) -> std::io::Result<BufWriter<ChildStdin>> {
    let (mut pipe, contract) = (BufWriter::new(stdin), contract(import));
    for number in 1..=lines {
        writeln!(
            pipe,
            r#"{{"type":"token","chainId":137,"contractAddress":"{contract}","tokenId":"{number}","name":"Token {number}"}}"#
        )?;
    }
    pipe.flush()?;
    Ok(pipe)
}

/// How many tokens there are, which must be those of whole batches, each with its entry in the change log.
fn check_whole_batches(instance: &Instance, import: u64) -> u64 {
    let Some(loaded) = load(instance, import) else { return 0 };
    let count = loaded.tokens.len() as u64;
    assert_eq!(count % BATCH, 0, "a batch is there by half: {count} tokens");
    assert_eq!(loaded.version, count / BATCH, "one version for each batch");
    count
}

/// The collection by way of its change log, which must be complete.
fn load(instance: &Instance, import: u64) -> Option<Changes> {
    let key = CollectionKey { chain: ChainId(137), address: contract(import).parse().unwrap() };
    instance.with_store(async |store| {
        let id = store.collection(key).await.unwrap()?;
        let changes = store.changes(id, Mark::default()).await.unwrap();
        assert!(changes.is_some(), "the version and the change log do not agree");
        changes
    })
}
