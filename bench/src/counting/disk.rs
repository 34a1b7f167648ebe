//! How much of the disk the counts take.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Context, Error};
use crate::process::{Running, isolated};
use crate::report::Disk;

const LIMIT: Duration = Duration::from_mins(5);

/// Looks into the SQLite file of a server that has stopped.
pub(super) async fn measure(database: &Path, wallet_days: u64) -> Result<Disk, Error> {
    let parent = database.parent().unwrap_or(Path::new("."));
    let mut command = isolated(Path::new("python3"), parent);
    command.args(["-c", include_str!("disk.py")]).arg(database);
    let running = Running::spawn(&mut command, "python3-sqlite", Some(parent))?;
    let (printed, _) = running.finish(LIMIT).await?;
    let kinds: Value = serde_json::from_str(&printed).context(|| "reading the sizes".to_owned())?;
    let bytes = |kind: &str| kinds[kind].as_u64().unwrap_or_default();
    let metadata = std::fs::metadata(database).context(|| format!("looking at {}", database.display()))?;
    Ok(Disk {
        file_bytes: metadata.len(),
        address_bytes: bytes("0"),
        set_bytes: bytes("1"),
        counter_bytes: bytes("2"),
        wallet_days,
    })
}
