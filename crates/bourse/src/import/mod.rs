//! Reading JSON Lines into the store.

mod lines;
mod pending;
mod record;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;
use tokio::sync::mpsc;

pub(crate) use pending::Pending;
pub(crate) use record::Reader;

use crate::cli::{Common, Import};
use crate::context::{CommandError, Context};
use crate::output::print;
use crate::progress::Progress;

/// Batches that may wait for the store; more would only be memory.
const BATCHES_WAITING: usize = 2;

/// What an import did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// Lines with a record.
    pub(crate) read: u64,
    /// Records that are different now.
    pub(crate) changed: u64,
    /// Bad lines passed over.
    pub(crate) skipped: u64,
}

/// What the reading thread sends.
enum Message {
    Batch(Box<Pending>, Position),
    /// A bad line that was passed over.
    Skipped(String),
    /// A bad line, or a file that cannot be read: the end.
    Stop(String),
}

/// How far the reading thread is.
#[derive(Clone, Copy, Default)]
struct Position {
    bytes: u64,
    lines: u64,
}

pub(crate) async fn run(common: &Common, import: Import) -> Result<ExitCode, CommandError> {
    let context = Context::open(common).await?;
    let reader = Reader::new(
        &context.settings,
        context.store.projects().await?.into_iter().map(|project| project.id).collect(),
        context.clock.clone(),
    )
    .beside(context.store.followed_everywhere().await?.into_iter().collect());
    let started = Instant::now();
    let (total, skips_bad) = (total_bytes(&import.files), import.skip_bad);
    let (sender, receiver) = mpsc::channel(BATCHES_WAITING);
    let reading =
        std::thread::spawn(move || lines::read_files(&import.files, import.skip_bad, &reader, &sender));
    let result = commit_all(&context, receiver, total, skips_bad).await;
    // The thread ends with its channel; a panic in it would have ended the import without a message.
    let finished = reading.join().is_ok();
    context.store.close().await;
    let (summary, stopped) = result?;
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = summary.read as f64 / seconds.max(1e-9);
    let value = json!({
        "read": summary.read,
        "changed": summary.changed,
        "skipped": summary.skipped,
        "seconds": (seconds * 1000.0).round() / 1000.0,
        "linesPerSecond": rate.round(),
        "stopped": stopped,
    });
    print(common.json, &value, || {
        format!(
            "{} records read, {} changed, {} bad lines skipped, in {seconds:.1} s ({rate:.0} lines/s)",
            summary.read, summary.changed, summary.skipped
        )
    })?;
    match stopped {
        Some(reason) => Err(CommandError::Other(format!(
            "{reason}\nEverything before it is imported; --skip-bad goes on past bad lines."
        ))),
        None if !finished => Err(CommandError::Other("reading the files failed".to_owned())),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Commits what the reading thread sends; tells what was done and why it ended early, if it did.
async fn commit_all(
    context: &Context,
    mut messages: mpsc::Receiver<Message>,
    total: Option<u64>,
    skips_bad: bool,
) -> Result<(Summary, Option<String>), CommandError> {
    let house = context.counting_house();
    let mut progress = Progress::start("importing", total);
    let mut summary = Summary::default();
    while let Some(message) = messages.recv().await {
        match message {
            Message::Batch(mut pending, position) => {
                let mut refused = pending.refuse_signed(&context.store).await?;
                summary.read += pending.len();
                let imported = pending.commit(&context.store, &house, context.clock.now()).await?;
                summary.changed += imported.changed;
                summary.read -= imported.refused.len() as u64;
                refused.extend(imported.refused);
                let at = if total.is_some() { position.bytes } else { position.lines };
                progress.at(at, || format!("{} lines, {} changed", position.lines, summary.changed));
                for reason in refused {
                    if !skips_bad {
                        return Ok((summary, Some(reason)));
                    }
                    summary.skipped += 1;
                    eprintln!("bourse: skipped {reason}");
                }
            }
            Message::Skipped(reason) => {
                summary.skipped += 1;
                eprintln!("bourse: skipped {reason}");
            }
            Message::Stop(reason) => return Ok((summary, Some(reason))),
        }
    }
    Ok((summary, None))
}

/// The size of all files together, unless one is not a plain file.
fn total_bytes(files: &[PathBuf]) -> Option<u64> {
    let size =
        |file: &Path| std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len());
    files.iter().map(|file| size(file)).sum()
}
