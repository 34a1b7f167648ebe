//! Brings the tables of the database up to date, or tells what that would take.

use std::fmt::Write as _;
use std::process::ExitCode;

use bourse_server::settings::Settings;
use bourse_store::{Migration, MigrationState, Upgrade};
use serde_json::{Value, json};

use crate::cli::{self, Common, Listen};
use crate::context::{CommandError, Context, load_settings};
use crate::data_lock::DataLock;
use crate::output::print;

/// What `--check` exits with when there is something to do, and it can be done.
const TO_BE_DONE: u8 = 3;

pub(super) async fn run(common: &Common, command: &cli::Upgrade) -> Result<ExitCode, CommandError> {
    let settings = load_settings(common, &Listen::default())?.settings;
    let upgrade = look(&settings).await?;
    let is_possible = upgrade.obstacle.is_none();
    let is_done = !command.check && is_possible && upgrade.schema.state() == MigrationState::Behind;
    if is_done {
        // Whoever opens the database brings its tables up to date.
        Context::with(settings).await?.store.close().await;
    }
    print(common.json, &record(&upgrade, is_done), || text(&upgrade, is_done))?;
    Ok(match upgrade.schema.state() {
        _ if !is_possible => ExitCode::FAILURE,
        MigrationState::Behind if command.check => ExitCode::from(TO_BE_DONE),
        _ => ExitCode::SUCCESS,
    })
}

async fn look(settings: &Settings) -> Result<Upgrade, CommandError> {
    let data = &settings.storage.data;
    // A directory that is being restored has no database yet. One that is not there is not made.
    let _lock = if data.exists() { Some(DataLock::shared(data)?) } else { None };
    Ok(Upgrade::look(&settings.database_url()).await?)
}

/// What becomes, or would become, of the database.
fn word(upgrade: &Upgrade, is_done: bool) -> &'static str {
    match upgrade.schema.state() {
        _ if upgrade.obstacle.is_some() => "refused",
        MigrationState::Behind if is_done => "upgraded",
        MigrationState::Behind => "behind",
        MigrationState::UpToDate | MigrationState::Ahead => "upToDate",
    }
}

fn record(upgrade: &Upgrade, is_done: bool) -> Value {
    let step = |step: &Migration| json!({ "version": step.version, "name": step.name });
    json!({
        "state": word(upgrade, is_done),
        "schema": upgrade.schema.applied,
        "needed": upgrade.schema.known,
        "steps": upgrade.steps().iter().map(step).collect::<Vec<_>>(),
        "obstacle": upgrade.obstacle,
    })
}

fn text(upgrade: &Upgrade, is_done: bool) -> String {
    let schema = &upgrade.schema;
    let was = if is_done { "had" } else { "has" };
    let mut text = format!(
        "The database {was} schema {}; this program needs schema {}.\n",
        schema.applied, schema.known
    );
    for step in upgrade.steps() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:>4}  {}", step.version, step.name);
    }
    let end = match (&upgrade.obstacle, upgrade.steps().len(), is_done) {
        (Some(obstacle), ..) => format!("It cannot be used: {obstacle}. Nothing was changed."),
        (None, 0, _) => "There is nothing to do.".to_owned(),
        (None, steps, true) => format!("{steps} migrations were applied."),
        (None, steps, false) => format!(
            "{steps} migrations are to be applied, each whole or not at all. Nothing was changed: make a backup, then run \
             `bourse upgrade` or start the service."
        ),
    };
    text + &end
}
