//! The whole benchmark, from an empty directory to the report.

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::binary;
use crate::calls;
use crate::compare::Bench;
use crate::counting::{self, House};
use crate::error::{Context, Error};
use crate::first_touch;
use crate::options::Options;
use crate::process::Running;
use crate::relics::Relics;
use crate::replay;
use crate::report::{
    Contest, Import, Memory, RelicsReport, Report, TradingReport, TunedContest, print_growth,
};
use crate::scenario::{DEEP_PAGES, ON_RELICS, ON_TRADING, Paging, Scenario};
use crate::stage::Stage;
use crate::trading::TradedCollection;
use crate::tuned::{Tabled, Tuned};
use crate::write_load;
use crate::writer::{self, Writer};

/// Everything but the build, together. Steps have shorter limits where they can say what went wrong.
const MEASURE_LIMIT: Duration = Duration::from_hours(3);

/// The time without requests after which a server is at rest.
const SETTLE: Duration = Duration::from_secs(3);

/// So many tokens fit in the memory that a server takes by default; more need a setting, of so many bytes for each.
const TOKENS_BY_DEFAULT: usize = 1_000_000;
const RESIDENT_BYTES_PER_TOKEN: usize = 2_000;

/// Runs the benchmark, prints its report and writes it where `options` say.
pub(crate) async fn run(options: &Options) -> Result<(), Error> {
    let bourse = binary::find(options.bourse.as_deref()).await?;
    let measured = timeout(MEASURE_LIMIT, measure(options, &bourse)).await;
    let report = measured.context(|| format!("measuring for more than {} s", MEASURE_LIMIT.as_secs()))??;
    match &options.json {
        Some(path) => report.write_json(path),
        None => Ok(()),
    }
}

async fn measure(options: &Options, bourse: &Path) -> Result<Report, Error> {
    // Declared first, so that it is removed last, when no process writes to it any more.
    let directory = TempDir::with_prefix("bourse-bench-").context(|| "making a directory".to_owned())?;
    let mut report = Report {
        connections: options.connections,
        quick: options.quick,
        relics: None,
        trading: Vec::new(),
        countings: Vec::new(),
        replay: None,
        calls: None,
    };
    if !options.calls.is_empty() {
        report.calls = Some(calls::measure(options, bourse, directory.path()).await?);
        return Ok(report);
    }
    if ON_RELICS.iter().any(|scenario| options.selects(scenario.name, scenario.path)) {
        let mut stage = Stage::new(bourse, directory.path(), "relics")?;
        report.relics = Some(measure_relics(options, &mut stage).await?);
    }
    if selects_trading(options) {
        for tokens in options.trading_sizes() {
            let mut stage = Stage::new(bourse, directory.path(), &format!("trading-{tokens}"))?;
            report.trading.extend(measure_trading(options, &mut stage, tokens).await?);
        }
    }
    if counting::is_selected(options) {
        let house = House::open(options, bourse, directory.path()).await;
        for dataset in counting::datasets(options) {
            report.countings.push(house.measure(dataset).await?);
        }
    }
    if options.selects(replay::NAME, "") {
        report.replay = Some(replay::measure(options, bourse, directory.path()).await?);
    }
    if report.is_empty() {
        return Err(Error::new(format!("nothing is named {}", options.only.join(" or "))));
    }
    if options.growth {
        print_growth(&report.trading);
    }
    Ok(report)
}

fn selects_trading(options: &Options) -> bool {
    ON_TRADING.iter().any(|scenario| options.selects(scenario.name, scenario.path))
        || DEEP_PAGES.iter().any(|paging| options.selects(paging.name, Paging::PATH))
        || options.selects(write_load::NAME, writer::PATH)
}

async fn measure_relics(options: &Options, stage: &mut Stage<'_>) -> Result<RelicsReport, Error> {
    let import = stage.import(Relics::records()).await?;
    import.print();
    let project = stage.create_project().await?;
    let (mut contests, mut tuned) = (Vec::new(), Vec::new());
    for cores in options.pins() {
        stage.pin(cores);
        let server = stage.serve().await?;
        let bench = Bench { options, stage, server: &server, access_key: &project.access_key };
        for scenario in ON_RELICS {
            if options.selects(scenario.name, scenario.path) {
                contests.push(bench.against_bare(scenario, &Relics).await?);
            }
        }
        if options.pins().last() == Some(&cores) {
            tuned = measure_tuned(&bench, ON_RELICS, &Relics).await?;
        }
    }
    Ok(RelicsReport { import, contests, tuned })
}

/// One report for each number of cores.
async fn measure_trading(
    options: &Options,
    stage: &mut Stage<'_>,
    tokens: usize,
) -> Result<Vec<TradingReport>, Error> {
    println!("\ntrading, {tokens} tokens");
    let collection = TradedCollection::new(tokens);
    if tokens > TOKENS_BY_DEFAULT {
        let bytes = tokens.saturating_mul(RESIDENT_BYTES_PER_TOKEN);
        stage.write_settings(&format!("[storage]\nresident_bytes_max = {bytes}\n"))?;
    }
    let import = stage.import(collection.records()).await?;
    import.print();
    let project = stage.create_project().await?;
    let (pins, mut reports) = (options.pins(), Vec::new());
    for (index, cores) in pins.iter().enumerate() {
        stage.pin(*cores);
        let server = stage.serve().await?;
        let bench = Bench { options, stage, server: &server, access_key: &project.access_key };
        let mut report = measure_server(&bench, &collection, import.clone()).await?;
        if index + 1 == pins.len() {
            report.tuned = measure_tuned(&bench, ON_TRADING, &collection).await?;
            // After writes what is known of answers is wrong, so that they come last.
            if options.selects(write_load::NAME, writer::PATH) {
                let writer = Writer::new(&collection, server.address, &project.secret_token);
                report.writes = write_load::measure(&bench, &collection, &writer).await?;
            }
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Operations beside PostgreSQL with the same data, if they are to be compared.
async fn measure_tuned<Data: Tabled>(
    bench: &Bench<'_>,
    scenarios: &[Scenario<Data>],
    data: &Data,
) -> Result<Vec<TunedContest>, Error> {
    let mut contests = Vec::new();
    if !bench.options.tuned {
        return Ok(contests);
    }
    let Some(tuned) = Tuned::load(bench.stage.directory(), data).await? else { return Ok(contests) };
    for scenario in scenarios {
        if bench.options.selects(scenario.name, scenario.path) {
            contests.extend(tuned.contest(bench, scenario, data).await?);
        }
    }
    Ok(contests)
}

/// The first touch, memory and reads of a server.
async fn measure_server(
    bench: &Bench<'_>,
    collection: &TradedCollection,
    import: Import,
) -> Result<TradingReport, Error> {
    let (process, tokens) = (&bench.server.process, collection.tokens.len());
    let first_touch = first_touch::measure(bench, collection).await?;
    first_touch.print(tokens);
    let mut memory = Memory { loaded: memory_at_rest(process).await, used: None };
    memory.print(tokens);
    let contests = measure_reads(bench, collection).await?;
    if !contests.is_empty() {
        memory.used = memory_at_rest(process).await;
        memory.print(tokens);
    }
    let (cores, tuned, writes) = (bench.stage.cores(), Vec::new(), Vec::new());
    Ok(TradingReport { tokens, cores, import, first_touch, memory, contests, tuned, writes })
}

async fn measure_reads(bench: &Bench<'_>, collection: &TradedCollection) -> Result<Vec<Contest>, Error> {
    let mut contests = Vec::new();
    for scenario in ON_TRADING {
        if bench.options.selects(scenario.name, scenario.path) {
            contests.push(bench.against_bare(scenario, collection).await?);
        }
    }
    for paging in DEEP_PAGES {
        if bench.options.selects(paging.name, Paging::PATH) {
            contests.push(bench.deep_against_first(paging, collection).await?);
        }
    }
    Ok(contests)
}

async fn memory_at_rest(process: &Running) -> Option<u64> {
    sleep(SETTLE).await;
    process.memory_bytes()
}
