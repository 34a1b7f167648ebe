//! `DuckDB`, which computes the same charts from the same events.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::Points;
use super::charts::Chart;
use super::events::Dataset;
use crate::error::{Context, Error};
use crate::process::{Running, isolated};
use crate::stats::median;

const INSTALL_LIMIT: Duration = Duration::from_mins(10);
const RUN_LIMIT: Duration = Duration::from_hours(2);

/// Threads that `DuckDB` may use.
const THREADS: usize = 2;

/// An installed `DuckDB`.
#[derive(Debug)]
pub(super) struct DuckDb {
    directory: PathBuf,
    python: PathBuf,
}

/// What `DuckDB` is to compute.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) dataset: Dataset,
    pub(super) charts: &'a [&'a Chart],
    /// The files of lines that were imported.
    pub(super) events: &'a Path,
    pub(super) usage: &'a Path,
    /// How often each chart is computed.
    pub(super) runs: usize,
}

/// What it computed, in the order of the task.
#[derive(Debug)]
pub(super) struct DuckDbCharts {
    pub(super) version: String,
    pub(super) charts: Vec<ComputedChart>,
}

/// A chart, and the median of the times.
#[derive(Debug)]
pub(super) struct ComputedChart {
    pub(super) points: Points,
    /// From wallets as they are in the events, which are addresses.
    pub(super) seconds: f64,
    /// From wallets that were replaced by numbers before.
    pub(super) numbered_seconds: f64,
}

impl DuckDb {
    /// Installs it from `PyPI` into a virtual environment in this directory.
    pub(super) async fn install(parent: &Path) -> Result<Self, Error> {
        let directory = parent.join("duckdb");
        std::fs::create_dir(&directory).context(|| format!("making {}", directory.display()))?;
        let environment = directory.join("venv");
        let python = environment.join("bin").join("python");
        let mut command = isolated(Path::new("python3"), &directory);
        command.args(["-m", "venv"]).arg(&environment);
        run(&mut command, "python3-venv", &directory, INSTALL_LIMIT).await?;
        let mut command = isolated(&python, &directory);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "duckdb"]);
        run(&mut command, "pip-install", &directory, INSTALL_LIMIT).await?;
        Ok(Self { directory, python })
    }

    /// Loads the events into an empty database, and computes the charts.
    pub(super) async fn compute(&self, task: &Task<'_>) -> Result<DuckDbCharts, Error> {
        let path = |what: &str| self.directory.join(format!("{}-{what}", task.dataset.name));
        let (script, settings, results) = (path("duckdb.py"), path("settings.json"), path("results.json"));
        let (first, last) = (task.dataset.first_label(), task.dataset.last_label());
        let charts: Vec<Value> = task
            .charts
            .iter()
            .map(|chart| json!({ "name": chart.name(), "sql": chart.sql(&first, &last) }))
            .collect();
        let content = json!({
            "database": path("events.duckdb"),
            "events": task.events,
            "usage": task.usage,
            "threads": THREADS,
            "runs": task.runs,
            "charts": charts,
        });
        let write = |path: &Path, text: &str| {
            std::fs::write(path, text).context(|| format!("writing {}", path.display()))
        };
        write(&script, include_str!("duckdb.py"))?;
        write(&settings, &content.to_string())?;
        let mut command = isolated(&self.python, &self.directory);
        command.arg(&script).arg(&settings).arg(&results);
        run(&mut command, "duckdb", &self.directory, RUN_LIMIT).await?;
        let text = std::fs::read_to_string(&results).context(|| format!("reading {}", results.display()))?;
        let read: Value = serde_json::from_str(&text).context(|| "reading DuckDB's results".to_owned())?;
        computed(&read)
    }
}

fn computed(results: &Value) -> Result<DuckDbCharts, Error> {
    let times = |times: &Value| {
        let seconds = times.as_array().into_iter().flatten().filter_map(Value::as_f64);
        median(seconds).ok_or_else(|| Error::new("DuckDB told no times"))
    };
    let chart = |chart: &Value| {
        Ok(ComputedChart {
            points: Points::of_rows(&chart["rows"])?,
            seconds: times(&chart["seconds"])?,
            numbered_seconds: times(&chart["numberedSeconds"])?,
        })
    };
    let charts = results["charts"].as_array().into_iter().flatten().map(chart);
    let version = results["version"].as_str().unwrap_or("unknown").to_owned();
    Ok(DuckDbCharts { version, charts: charts.collect::<Result<_, Error>>()? })
}

async fn run(
    command: &mut Command,
    name: &'static str,
    directory: &Path,
    limit: Duration,
) -> Result<(), Error> {
    Running::spawn(command, name, Some(directory))?.finish(limit).await.map(drop)
}
