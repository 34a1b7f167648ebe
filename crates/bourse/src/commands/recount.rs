//! `bourse doctor --deep`: counts the events that are kept as they came once more, and compares that with what charts are made
//! of.

use bourse_analytics::{Chunk, Corrupt, Event, EventDetail, Key, Project, Recount, Shortfall, Wallets};
use bourse_server::settings::Settings;
use bourse_store::{CountsCursor, EventKind, MigrationState, ProjectScope, Store};
use bourse_wire::{Address, Day, ProjectId};

use super::doctor::first_of;
use crate::context::CommandError;

/// Events that are in memory at once.
const EVENTS_PER_READ: u64 = 10_000;

#[derive(Default)]
struct Compared {
    projects: usize,
    events: u64,
    days: usize,
    differences: Vec<String>,
}

/// What was found, or what to do.
pub(super) async fn check(settings: &Settings) -> Result<String, String> {
    let opened = Store::connect(&settings.database_url(), settings.open_options()).await;
    let store = opened.map_err(|error| error.to_string())?;
    let compared = compare(&store).await;
    store.close().await;
    let Compared { projects, events, days, differences } = compared.map_err(|error| error.to_string())?;
    if projects == 0 {
        return Ok(
            "no events are kept as they came (analytics.raw_events_days): nothing to count again".to_owned()
        );
    }
    let found = format!("{events} events of {projects} projects, of {days} days, were counted again");
    if differences.is_empty() {
        return Ok(format!("{found}: all are in the charts"));
    }
    let told = first_of(&differences);
    Err(format!(
        "{found}; {} days differ: {told}. Keep the database as it is and report it",
        differences.len()
    ))
}

async fn compare(store: &Store) -> Result<Compared, CommandError> {
    let mut compared = Compared::default();
    if store.schema_state().await?.state() != MigrationState::UpToDate {
        return Ok(compared);
    }
    // Whoever never had anything counted is not among them.
    for (project, _) in store.counts_versions().await? {
        let scope = ProjectScope::of_operator(project);
        let mut found = recount(store, scope).await?;
        if !found.shortfalls.is_empty() {
            // A wallet may have been forgotten between two reads.
            found = recount(store, scope).await?;
        }
        compared.projects += usize::from(found.events > 0);
        compared.events += found.events;
        compared.days += found.days;
        let told = found.shortfalls.iter().map(|shortfall| format!("project {project}: {shortfall}"));
        compared.differences.extend(told);
    }
    Ok(compared)
}

/// What was found of a project.
#[derive(Default)]
struct Found {
    events: u64,
    days: usize,
    shortfalls: Vec<Shortfall>,
}

/// Counts the events of a project again.
async fn recount(store: &Store, scope: ProjectScope) -> Result<Found, CommandError> {
    let (mut found, mut recount, mut charts) = (Found::default(), Recount::default(), None);
    let mut events = store.events_after(scope, None, EVENTS_PER_READ).await?;
    while let Some(last) = events.last().map(|event| event.id.clone()) {
        found.events += events.len() as u64;
        let (charts, wallets) = match &charts {
            Some(charts) => charts,
            None => charts.insert(read_charts(store, scope).await?),
        };
        // Nobody takes the others by now, and nobody counted them.
        for event in events.iter().filter(|event| event.wallet != Address::ZERO) {
            let detail = match event.kind {
                EventKind::Session => EventDetail::Session,
                EventKind::Transaction => EventDetail::Transaction,
                EventKind::Market => EventDetail::Market(None),
            };
            let counted = Event { wallet: event.wallet, day: Day::of(event.at), detail };
            recount.add(charts, wallets, counted);
        }
        events = store.events_after(scope, Some(last), EVENTS_PER_READ).await?;
    }
    if charts.is_some() {
        // What came meanwhile is in them too: an event is kept in the transaction that counts it.
        let (charts, wallets) = read_charts(store, scope).await?;
        found.shortfalls = recount.shortfalls(&charts, &wallets);
        found.days = recount.days();
    }
    Ok(found)
}

async fn read_charts(store: &Store, scope: ProjectScope) -> Result<(Project, Wallets), CommandError> {
    let kinds = [Key::WALLETS, Key::PRESENCE, Key::COUNTERS].map(|kind| (kind, 0)).to_vec();
    let counts = store.counts(scope, CountsCursor { kinds, ..CountsCursor::default() }).await?;
    let project: ProjectId = scope.project();
    let damaged = |error: Corrupt| CommandError::Other(format!("project {project}: {error}"));
    let (mut charts, mut wallets) = (Project::default(), Wallets::default());
    for chunk in counts.chunks {
        let key = Key::from_columns(chunk.key).ok_or(Corrupt::NAME).map_err(damaged)?;
        wallets.load(key, &chunk.body).map_err(damaged)?;
        charts.load([Chunk::decode(key, &chunk.body).map_err(damaged)?]);
    }
    Ok((charts, wallets))
}
