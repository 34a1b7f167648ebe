//! The counting house: events in, charts out, beside `DuckDB` computing the same charts from the same events.

mod answer;
mod calendar;
mod charts;
mod disk;
mod duckdb;
mod events;
mod records;
mod sql;
mod timing;
mod track;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) use charts::Chart;
pub(crate) use events::Dataset;

use crate::client::{Connection, get};
use crate::error::{Context, Error};
use crate::jsonl;
use crate::options::Options;
use crate::postgres::Postgres;
use crate::report::{ChartReport, Comparison, CountingReport, Import, Ingest, SendReport};
use crate::stage::Stage;
use answer::Points;
use charts::CHARTS;
use duckdb::{DuckDb, DuckDbCharts, Task};
use records::{DatasetFiles, usage, write_events};
use timing::{ChartTiming, Timing};
use track::Batches;

/// What `--only` picks all of it by.
pub(crate) const NAME: &str = "counting";

/// Whether any of it is to be measured.
pub(crate) fn is_selected(options: &Options) -> bool {
    options.selects_counting(track::PATH) || !selected(options).is_empty()
}

/// The data sets to measure, the smallest first.
pub(crate) fn datasets(options: &Options) -> Vec<Dataset> {
    let small = if options.quick { events::TINY } else { events::SMALL };
    if options.counting_large { vec![small, events::LARGE] } else { vec![small] }
}

fn selected(options: &Options) -> Vec<&'static Chart> {
    CHARTS.iter().filter(|chart| options.selects_counting(chart.path)).collect()
}

/// What all data sets share.
#[derive(Debug)]
pub(crate) struct House<'a> {
    options: &'a Options,
    bourse: &'a Path,
    directory: &'a Path,
    duckdb: Option<DuckDb>,
}

impl<'a> House<'a> {
    /// A house in the directory of the benchmark, with `DuckDB` installed there if that is possible.
    pub(crate) async fn open(options: &'a Options, bourse: &'a Path, directory: &'a Path) -> Self {
        let duckdb = match DuckDb::install(directory).await {
            Ok(duckdb) => Some(duckdb),
            Err(error) => {
                println!("\nDuckDB could not be installed, so no chart is compared with it. {error}");
                None
            }
        };
        Self { options, bourse, directory, duckdb }
    }

    /// Measures one data set.
    pub(crate) async fn measure(&self, dataset: Dataset) -> Result<CountingReport, Error> {
        let directory = self.directory.join(format!("{NAME}-{}", dataset.name));
        std::fs::create_dir(&directory).context(|| format!("making {}", directory.display()))?;
        let stage = Stage::new(self.bourse, &directory, "sqlite")?;
        let project = stage.create_project().await?;
        let lines = Lines::write(&directory, dataset, project.id)?;
        println!("\ncounting house of {dataset}, {} events", lines.counted.file.lines);

        let import = lines.import(&stage).await?;
        let disk = disk::measure(&stage.database_file(), lines.counted.wallet_days).await?;
        let charts = selected(self.options);
        check_operations(&stage).await?;
        let requests = if self.options.quick { 50 } else { 200 };
        let timing = Timing { stage: &stage, project: &project, dataset, requests };
        let (timed, memory) = timing.measure(&charts).await?;
        let computed = self.compute(dataset, &charts, &lines).await?;

        let mut report = CountingReport {
            dataset,
            wallet_days: lines.counted.wallet_days,
            ingest: vec![Ingest { store: "SQLite", import, sent: Vec::new() }],
            duckdb: computed.as_ref().map(|computed| computed.version.clone()),
            charts: compare(&charts, &timed, computed)?,
            disk,
            memory,
        };
        report.print_charts();
        if self.options.selects_counting(track::PATH) {
            let stage = Stage::new(self.bourse, &directory, "sqlite-http")?;
            for ingest in &mut report.ingest {
                ingest.sent = self.send(&stage, dataset).await?;
            }
            report.ingest.extend(self.on_postgres(&directory, &lines, dataset).await?);
        }
        report.print_ingest();
        // It is as large as the events, and no longer needed.
        std::fs::remove_dir_all(&directory).context(|| format!("removing {}", directory.display()))?;
        Ok(report)
    }

    async fn compute(
        &self,
        dataset: Dataset,
        charts: &[&Chart],
        lines: &Lines,
    ) -> Result<Option<DuckDbCharts>, Error> {
        let Some(duckdb) = &self.duckdb else { return Ok(None) };
        let runs = if self.options.quick { 1 } else { 3 };
        let task = Task { dataset, charts, events: &lines.events, usage: &lines.usage, runs };
        duckdb.compute(&task).await.map(Some)
    }

    /// Sends events to projects of their own, without ids and with them.
    async fn send(&self, stage: &Stage<'_>, dataset: Dataset) -> Result<Vec<SendReport>, Error> {
        let events = if self.options.quick { 100_000 } else { 1_000_000 };
        let mut sent = Vec::new();
        for with_ids in [false, true] {
            let batches = Batches::new(dataset, events, with_ids);
            let project = stage.create_project().await?;
            let server = stage.serve().await?;
            let rate = batches.send(&server, &project).await?;
            // It is killed, and another one asked: what was acknowledged must be on disk.
            drop(server);
            let server = stage.serve().await?;
            batches.check(&server, &project).await?;
            server.stop().await?;
            sent.push(SendReport { with_ids, rate });
        }
        Ok(sent)
    }

    async fn on_postgres(
        &self,
        directory: &Path,
        lines: &Lines,
        dataset: Dataset,
    ) -> Result<Option<Ingest>, Error> {
        let name = format!("postgres-{}", dataset.name);
        let Some(postgres) = Postgres::start(self.directory, &name, &[]).await? else {
            println!("PostgreSQL is not installed (initdb, postgres, pg_isready), so it is not measured");
            return Ok(None);
        };
        let stage = Stage::new(self.bourse, directory, "postgres")?.with_database(postgres.url());
        let project = stage.create_project().await?;
        if project.id != lines.project {
            return Err(Error::new(format!("the first project is {}, not {}", project.id, lines.project)));
        }
        let import = stage.import_file(&lines.events, lines.counted.file).await?;
        let sent = self.send(&stage, dataset).await?;
        Ok(Some(Ingest { store: "PostgreSQL", import, sent }))
    }
}

/// The files to import, and what is in them.
#[derive(Debug)]
struct Lines {
    project: u64,
    events: PathBuf,
    usage: PathBuf,
    counted: DatasetFiles,
    usage_written: jsonl::WrittenFile,
}

impl Lines {
    fn write(directory: &Path, dataset: Dataset, project: u64) -> Result<Self, Error> {
        let (events, usage_path) = (directory.join("events.jsonl"), directory.join("usage.jsonl"));
        let counted = write_events(&events, dataset, project)?;
        let usage_written = jsonl::write(&usage_path, usage(dataset, project))?;
        Ok(Self { project, events, usage: usage_path, counted, usage_written })
    }

    /// Imports everything, and returns the time of the events.
    async fn import(&self, stage: &Stage<'_>) -> Result<Import, Error> {
        let import = stage.import_file(&self.events, self.counted.file).await?;
        stage.import_file(&self.usage, self.usage_written).await?;
        Ok(import)
    }
}

/// The comparison stands for the whole service only if no operation is left out.
async fn check_operations(stage: &Stage<'_>) -> Result<(), Error> {
    let server = stage.serve().await?;
    let mut connection = Connection::open(server.address).await?;
    let document = connection.exchange(&get(server.address, "/openapi.json")).await?;
    let document: Value = serde_json::from_slice(document).context(|| "reading /openapi.json".to_owned())?;
    let paths = document["paths"].as_object().into_iter().flat_map(|paths| paths.keys());
    // Every service has a Ping.
    let is_chart = |path: &&str| path.starts_with("/rpc/Analytics/") && !path.ends_with("/Ping");
    let served: BTreeSet<&str> = paths.map(String::as_str).filter(is_chart).collect();
    let known: BTreeSet<&str> = CHARTS.iter().map(|chart| chart.path).collect();
    let different: Vec<&str> = served.symmetric_difference(&known).copied().collect();
    server.stop().await?;
    if different.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("served or measured, but not both: {}", different.join(", "))))
}

/// Puts the figures of both together. A point that differs is an error.
fn compare(
    charts: &[&'static Chart],
    timed: &[ChartTiming],
    computed: Option<DuckDbCharts>,
) -> Result<Vec<ChartReport>, Error> {
    let mut computed = computed.map(|computed| computed.charts.into_iter());
    let (mut reports, mut differences) = (Vec::new(), Vec::new());
    for (chart, timed) in charts.iter().zip(timed) {
        let points = Points::of_answer(&timed.answer).context(|| chart.name().to_owned())?;
        let other = computed.as_mut().and_then(Iterator::next);
        let different = other.as_ref().and_then(|other| points.differences(&other.points));
        differences.extend(different.map(|text| format!("\n  {}: {text}", chart.name())));
        let comparison = other
            .map(|other| Comparison { seconds: other.seconds, numbered_seconds: other.numbered_seconds });
        reports.push(ChartReport { chart, points: points.len(), times: timed.times, comparison });
    }
    if differences.is_empty() {
        return Ok(reports);
    }
    Err(Error::new(format!("Bourse's answers are not those of DuckDB:{}", differences.concat())))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{CHARTS, datasets, is_selected, selected};
    use crate::options::Options;

    fn options(arguments: &[&str]) -> Options {
        Options::parse_from(["bourse-bench"].iter().chain(arguments))
    }

    #[test]
    fn all_charts_or_some() {
        assert_eq!(selected(&options(&["--only", "counting"])).len(), CHARTS.len());
        assert_eq!(selected(&options(&[])).len(), CHARTS.len());
        let names: Vec<&str> =
            selected(&options(&["--only", "marketwallets"])).iter().map(|chart| chart.name()).collect();
        assert_eq!(names, ["MarketWalletsTotal", "MarketWalletsDaily", "MarketWalletsMonthly"]);
    }

    #[test]
    fn the_count_of_trading_is_not_counting() {
        assert!(!is_selected(&options(&["--only", "count"])));
        assert!(is_selected(&options(&["--only", "TrackEvents"])));
    }

    #[test]
    fn the_large_data_is_asked_for() {
        let wallets = |arguments: &[&str]| -> Vec<u32> {
            datasets(&options(arguments)).iter().map(|dataset| dataset.wallets).collect()
        };
        assert_eq!(wallets(&[]), [200_000]);
        assert_eq!(wallets(&["--quick"]), [20_000]);
        assert_eq!(wallets(&["--counting-large"]), [200_000, 5_000_000]);
    }
}
