//! Checks what the service stands on. Each line is ok, or says what to do.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use bourse_server::settings::{FilesPlace, Settings};
use bourse_server::{Clock, Files, entropy, make_private_directory};
use bourse_shop::Languages;
use bourse_store::{CollectionKey, MigrationState, Store, StoreError, Upgrade};
use serde_json::json;

use super::{deep, held, recount, sharing, shop};
use crate::cli::{Common, Doctor};
use crate::context::{CommandError, load_settings};
use crate::data_lock::DataLock;
use crate::output::print;

/// Free space below which the disk is reported, in bytes.
const FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;
/// No machine's clock shows an earlier time than this program's making.
const CLOCK_EARLIEST: &str = "2025-01-01T00:00:00Z";
/// The most differences of a kind that are told.
const DIFFERENCES_TOLD: usize = 5;

/// Something that was looked at.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// What was found, or what to do.
    pub(super) result: Result<String, String>,
}

pub(super) async fn run(common: &Common, command: &Doctor) -> Result<ExitCode, CommandError> {
    let mut checks = Vec::new();
    match load_settings(common, &command.listen) {
        Err(error) => checks.push(Check { name: "configuration", result: Err(error.to_string()) }),
        Ok(loaded) => {
            let changed =
                loaded.effective.iter().filter(|setting| setting.source.to_string() != "default").count();
            let found = format!("{} settings, {changed} changed from their default", loaded.effective.len());
            let spoken = Languages::read(&loaded.settings.shop.languages);
            let result = spoken.map(|_| found).map_err(|error| error.to_string());
            checks.push(Check { name: "configuration", result });
            checks.push(Check { name: "data directory", result: check_data(&loaded.settings.storage.data) });
            checks.push(Check { name: "disk", result: check_disk(&loaded.settings.storage.data) });
            checks.push(Check { name: "uploaded files", result: check_files(&loaded.settings).await });
            checks.push(Check { name: "signing secret", result: check_secret(&loaded.settings) });
            checks.extend(check_database(&loaded.settings).await);
            let shared = sharing::check(&loaded.settings);
            checks.extend(shared.map(|result| Check { name: "servers", result }));
            checks.push(Check { name: "clock", result: check_clock() });
            if command.shop {
                checks.extend(shop::checks(&loaded.settings).await);
            }
            if command.deep {
                let result = deep::check_memory(&loaded.settings, command.whole);
                checks.push(Check { name: "memory", result });
                let result = held::check(&loaded.settings, command.whole).await;
                checks.push(Check { name: "chains", result });
                checks.push(Check { name: "charts", result: recount::check(&loaded.settings).await });
            }
        }
    }
    let healthy = checks.iter().all(|check| check.result.is_ok());
    let records: Vec<_> = checks
        .iter()
        .map(|check| {
            let (Ok(text) | Err(text)) = &check.result;
            json!({ "check": check.name, "ok": check.result.is_ok(), "detail": text })
        })
        .collect();
    print(common.json, &json!(records), || {
        let mut text = String::new();
        for check in &checks {
            let (mark, detail) = match &check.result {
                Ok(found) => ("ok  ", found),
                Err(action) => ("FAIL", action),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{mark}  {:<15} {detail}", check.name);
        }
        text
    })?;
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first of the differences that were found, in words.
pub(super) fn first_of(differences: &[String]) -> String {
    differences[..differences.len().min(DIFFERENCES_TOLD)].join("; ")
}

fn check_data(data: &Path) -> Result<String, String> {
    let shown = data.display();
    make_private_directory(data).map_err(|error| format!("{shown} cannot be made: {error}"))?;
    let probe = data.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"probe").and_then(|()| std::fs::remove_file(&probe)).map_err(|error| {
        format!("{shown} cannot be written to ({error}): give its owner write permission")
    })?;
    DataLock::shared(data).map_err(|error| error.to_string())?;
    Ok(format!("{shown} is writable"))
}

async fn check_files(settings: &Settings) -> Result<String, String> {
    let tried = match Files::connect(&settings.storage, &settings.s3, entropy::word) {
        Ok(files) => files.try_out().await,
        Err(error) => Err(error),
    };
    let shown = settings.storage.files_shown();
    let action = match settings.storage.files {
        FilesPlace::Bucket { .. } => {
            "check storage.files and section s3, and that the key may put, get, list and delete objects there"
        }
        FilesPlace::InData | FilesPlace::Directory(_) => "give its owner write permission",
    };
    tried
        .map(|()| format!("{shown} is writable"))
        .map_err(|error| format!("{shown} cannot be used ({error}): {action}"))
}

fn check_disk(data: &Path) -> Result<String, String> {
    let stat = rustix::fs::statvfs(data).map_err(|error| format!("free space cannot be read: {error}"))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let mebibytes = free / (1024 * 1024);
    if free < FREE_BYTES_MIN {
        return Err(format!("only {mebibytes} MiB free: make room, or move the data directory"));
    }
    Ok(format!("{mebibytes} MiB free"))
}

fn check_secret(settings: &Settings) -> Result<String, String> {
    if settings.auth.has_secret() {
        return Ok("configured".to_owned());
    }
    bourse_server::auth::TokenSigner::open(&settings.auth.jwt_secret, &settings.storage.data)
        .map(|_| {
            "in the data directory; configure auth.jwt_secret when several servers share one database"
                .to_owned()
        })
        .map_err(|error| error.to_string())
}

async fn check_database(settings: &Settings) -> Vec<Check> {
    // Before the store is open, as looking ends the locks that this process has of the file.
    let upgrade = Upgrade::look(&settings.database_url()).await;
    let opened = Store::connect(&settings.database_url(), settings.open_options()).await;
    let store = match opened {
        Ok(store) => store,
        Err(error) => {
            let action = format!("{error}: check storage.database, and that the server runs and lets you in");
            return vec![Check { name: "database", result: Err(action) }];
        }
    };
    let mut checks = vec![
        Check { name: "database", result: Ok(format!("{} answers", store.engine_name())) },
        Check { name: "migrations", result: check_migrations(upgrade) },
    ];
    checks.extend(check_workers(&store).await.map(|result| Check { name: "nodes", result }));
    checks.extend(check_settling(&store).await.map(|result| Check { name: "commits", result }));
    checks
}

/// Whether all nodes of a cluster can be reached; nothing where there is none.
async fn check_workers(store: &Store) -> Option<Result<String, String>> {
    let workers = match store.workers().await {
        Ok(workers) if workers.is_empty() => return None,
        Ok(workers) => workers,
        Err(error) => return Some(Err(format!("{error}: look at the log of the coordinator"))),
    };
    let away = workers.iter().filter(|worker| !worker.answers);
    let away: Vec<&str> = away.map(|worker| worker.name.as_str()).collect();
    if away.is_empty() {
        return Some(Ok(format!("all {} of the cluster answer", workers.len())));
    }
    let waiting = match store.waiting().await {
        Ok(waiting) => waiting,
        Err(error) => return Some(Err(format!("{error}: look at the log of the coordinator"))),
    };
    Some(Err(no_answer(&away.join(", "), &waiting)))
}

/// What it means that nodes do not answer, with the followed collections that wait for them and the first block that each lacks.
fn no_answer(nodes: &str, waiting: &[(CollectionKey, u64)]) -> String {
    let mut text = format!("no answer from {nodes}: what is stored there can be neither read nor written; ");
    if !waiting.is_empty() {
        let lacks: Vec<String> =
            waiting.iter().map(|(key, next)| format!("{key} from block {next} on")).collect();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "chains go on without {} followed collections there, which lack what happened since ({}{}); ",
            waiting.len(),
            first_of(&lacks),
            if lacks.len() > DIFFERENCES_TOLD { "; …" } else { "" }
        );
    }
    text + "start it again"
}

/// Whether nodes of a cluster can be told how transactions ended; nothing where there is none.
async fn check_settling(store: &Store) -> Option<Result<String, String>> {
    match store.may_settle().await {
        Ok(None) => None,
        Ok(Some(true)) => {
            Some(Ok("nodes that went away in the middle of one are told how it ended".to_owned()))
        }
        Ok(Some(false)) => Some(Err(
            "a node that goes away in the middle of a commit hides what was written there for as long as \
             citus.recover_2pc_interval after its return: let the role of this service tell it at once, by \
             GRANT EXECUTE ON FUNCTION recover_prepared_transactions() TO it"
                .to_owned(),
        )),
        Err(error) => Some(Err(format!("{error}: look at the log of the coordinator"))),
    }
}

fn check_migrations(upgrade: Result<Upgrade, StoreError>) -> Result<String, String> {
    let Upgrade { schema, obstacle } = upgrade.map_err(|error| error.to_string())?;
    match (obstacle, schema.state()) {
        (Some(obstacle), _) => Err(obstacle),
        (None, MigrationState::UpToDate) => Ok(format!("at version {}", schema.applied)),
        (None, MigrationState::Behind | MigrationState::Ahead) => {
            Ok(format!("at version {} of {}: the next start migrates", schema.applied, schema.known))
        }
    }
}

fn check_clock() -> Result<String, String> {
    let now = Clock::system().now();
    if CLOCK_EARLIEST.parse().is_ok_and(|earliest| now < earliest) {
        return Err(format!("shows {now}: set it, tokens and analytics depend on it"));
    }
    Ok(format!("{now} UTC"))
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Address, ChainId};

    use super::*;

    #[test]
    fn who_waits_for_a_node_is_named_with_what_it_lacks() {
        let key = |byte| CollectionKey { chain: ChainId(137), address: Address::from_bytes([byte; 20]) };
        assert!(!no_answer("w1:5432", &[]).contains("lack"));
        let waiting: Vec<_> = (1..=7).map(|byte| (key(byte), 100 + u64::from(byte))).collect();
        let text = no_answer("w1:5432", &waiting[..2]);
        let named = format!(
            "without 2 followed collections there, which lack what happened since ({} from block 101 on; {} from block 102 on); start",
            key(1),
            key(2)
        );
        assert!(text.contains(&named), "{text}");
        assert!(no_answer("w1:5432", &waiting).contains("from block 105 on; …);"));
    }
}
