//! Copies a SQLite database into one in PostgreSQL.

use std::path::{Path, PathBuf};
use std::time::Instant;

use bourse_server::Clock;
use bourse_server::settings::Database;
use bourse_store::{Digest, Move};
use serde_json::json;

use crate::cli::{self, Common, Listen};
use crate::context::{CommandError, load_settings};
use crate::data_lock::DataLock;
use crate::output::print;
use crate::progress::Progress;

pub(super) async fn run(common: &Common, command: cli::Move) -> Result<(), CommandError> {
    let (from, to) = ends(command)?;
    let settings = load_settings(common, &Listen::default())?.settings;
    let _locks = lock(&settings.storage.data, &from)?;
    let started = Instant::now();
    let begun = Move::begin(&from, &to, Clock::system().now()).await?;
    let moved = copy_and_check(&begun).await;
    begun.close().await;
    let (copied, digests) = moved?;
    let rows: u64 = digests.iter().map(|(_, digest)| digest.rows()).sum();
    let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
    let table = |(name, digest): &(&str, Digest)| json!({ "table": name, "rows": digest.rows(), "digest": digest.to_string() });
    let value = json!({
        "rows": rows,
        "copied": copied,
        "seconds": seconds,
        "tables": digests.iter().map(table).collect::<Vec<_>>(),
    });
    print(common.json, &value, || {
        format!(
            "{rows} rows of {} tables are the same in both databases ({copied} were copied now, in {seconds} s).\n\
             Start the service with storage.database set to the new one, and the same data directory. Uploaded files stay where \
             they are, in {}; `bourse copy-files` copies them to another place. {} is as it was: keep \
             it until you are content.",
            digests.len(),
            settings.storage.files_shown(),
            from.display()
        )
    })
}

/// Where from and where to.
fn ends(command: cli::Move) -> Result<(PathBuf, String), CommandError> {
    let read = |flag: &str, text: String| {
        Database::try_from(text).map_err(|reason| CommandError::Other(format!("{flag} {reason}")))
    };
    match (read("--from", command.from)?, read("--to", command.to.clone())?) {
        (Database::Sqlite(from), Database::Postgres(_)) => Ok((from, command.to)),
        _ => Err(CommandError::Other(
            "an installation is moved --from sqlite:PATH --to postgres://USER:PASSWORD@HOST/NAME".to_owned(),
        )),
    }
}

/// Keeps everybody else from the data directory, and from the one that the database is in.
fn lock(data: &Path, from: &Path) -> Result<Vec<DataLock>, CommandError> {
    let mut locks = Vec::new();
    let beside = from.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if beside.exists() {
        locks.push(DataLock::exclusive(beside)?);
    }
    let is_same = || Some(beside.canonicalize().ok()? == data.canonicalize().ok()?);
    if data.exists() && is_same() != Some(true) {
        locks.push(DataLock::exclusive(data)?);
    }
    Ok(locks)
}

async fn copy_and_check(begun: &Move) -> Result<(u64, Vec<(&'static str, Digest)>), CommandError> {
    let rows = begun.rows().await?;
    let mut progress = Progress::start("copying", Some(rows));
    let copied = begun.copy(&mut |copied| progress.at(copied, || format!("{copied} of {rows} rows"))).await?;
    drop(progress);
    let mut progress = Progress::start("checking", Some(rows));
    let digests = begun.finish(&mut |seen| progress.at(seen, || format!("{seen} of {rows} rows"))).await?;
    Ok((copied, digests))
}
