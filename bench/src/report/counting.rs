//! What was measured in the counting house.

use std::time::Duration;

use serde_json::{Value, json};

use super::import::Import;
use super::verdict;
use crate::counting::{Chart, Dataset};
use crate::stats::float;

/// The time that a chart may take at most, warm at the median, and on a server that was just started.
const WARM_GOAL: Duration = Duration::from_millis(2);
const COLD_GOAL: Duration = Duration::from_millis(100);

/// How many times longer `DuckDB` should take at least.
const RATIO_GOAL: f64 = 50.0;

/// Events in a second that should be taken in at least, on SQLite.
const IMPORT_GOAL: f64 = 300_000.0;
const SENT_GOAL: f64 = 100_000.0;

/// Bytes on disk for each day on which a wallet was active, that we want at most.
const DISK_GOAL: f64 = 2.0;

/// How many charts are named that missed a goal; the table has all.
const MISSED_SHOWN: usize = 5;

/// The store that the goals for events are about.
const GOAL_STORE: &str = "SQLite";

/// Everything about one data set.
#[derive(Debug)]
pub(crate) struct CountingReport {
    /// The events.
    pub(crate) dataset: Dataset,
    /// Different pairs of a wallet and a day on which it did something.
    pub(crate) wallet_days: u64,
    /// How fast events came in, for each store.
    pub(crate) ingest: Vec<Ingest>,
    /// The version of `DuckDB`, if it was there.
    pub(crate) duckdb: Option<String>,
    /// One for each chart.
    pub(crate) charts: Vec<ChartReport>,
    /// The SQLite file.
    pub(crate) disk: Disk,
    /// Resident memory of the server in bytes after all charts, where the system tells.
    pub(crate) memory: Option<u64>,
}

/// How fast events came in.
#[derive(Debug)]
pub(crate) struct Ingest {
    /// Where they are kept.
    pub(crate) store: &'static str,
    /// From a file.
    pub(crate) import: Import,
    /// Over HTTP.
    pub(crate) sent: Vec<SendReport>,
}

/// Events sent over HTTP.
#[derive(Debug)]
pub(crate) struct SendReport {
    /// Whether every event had an id, by which it would not count again.
    pub(crate) with_ids: bool,
    /// How fast.
    pub(crate) rate: Rate,
}

/// Events in a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    /// How many.
    pub(crate) events: u64,
    /// In what time.
    pub(crate) took: Duration,
}

/// A chart.
#[derive(Debug)]
pub(crate) struct ChartReport {
    /// Which.
    pub(crate) chart: &'static Chart,
    /// Values in its answer.
    pub(crate) points: usize,
    /// How long Bourse took.
    pub(crate) times: ChartTimes,
    /// How long `DuckDB` took, if it was there. Its values are the same, or there would be no report.
    pub(crate) comparison: Option<Comparison>,
}

/// How long a chart took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChartTimes {
    /// The first request to a server that was just started.
    pub(crate) cold: Duration,
    /// The first request for this chart to a server that had loaded the project.
    pub(crate) first: Duration,
    /// Further requests.
    pub(crate) warm: Percentiles,
}

/// Of many times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Percentiles {
    /// Half of them are no longer.
    pub(crate) p50: Duration,
    /// 99 of 100 are no longer.
    pub(crate) p99: Duration,
}

/// The median of `DuckDB`'s times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    /// From wallets as they are in the events, which are addresses.
    pub(crate) seconds: f64,
    /// From wallets that were replaced by numbers before.
    pub(crate) numbered_seconds: f64,
}

/// Bytes in the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    /// The whole file.
    pub(crate) file_bytes: u64,
    /// Of them, addresses of wallets.
    pub(crate) address_bytes: u64,
    /// Of them, sets of wallets.
    pub(crate) set_bytes: u64,
    /// Of them, numbers of events.
    pub(crate) counter_bytes: u64,
    /// Different pairs of a wallet and a day on which it did something.
    pub(crate) wallet_days: u64,
}

impl Rate {
    fn per_second(self) -> f64 {
        float(self.events) / self.took.as_secs_f64()
    }

    fn to_json(self) -> Value {
        json!({
            "events": self.events,
            "seconds": self.took.as_secs_f64(),
            "eventsPerSecond": self.per_second(),
        })
    }
}

impl Ingest {
    fn import_rate(&self) -> Rate {
        Rate { events: self.import.file.lines, took: self.import.took }
    }

    fn print(&self) {
        let line = |what: &str, rate: Rate, goal: f64| {
            let (per_second, seconds) = (rate.per_second(), rate.took.as_secs_f64());
            let verdict = match self.store {
                GOAL_STORE => format!(", goal {goal} or more: {}", verdict(per_second >= goal)),
                _ => String::new(),
            };
            let Self { store, .. } = self;
            let events = rate.events;
            println!(
                "{what} into {store}: {events} events in {seconds:.2} s: {per_second:.0} events/s{verdict}"
            );
        };
        line("import", self.import_rate(), IMPORT_GOAL);
        for sent in &self.sent {
            let what = if sent.with_ids { "HTTP, with ids," } else { "HTTP" };
            line(what, sent.rate, SENT_GOAL);
        }
    }

    fn to_json(&self) -> Value {
        let sent = |sent: &SendReport| {
            let mut value = sent.rate.to_json();
            value["withIds"] = json!(sent.with_ids);
            value
        };
        json!({
            "store": self.store,
            "import": self.import_rate().to_json(),
            "http": self.sent.iter().map(sent).collect::<Vec<_>>(),
        })
    }
}

impl ChartReport {
    fn p50(&self) -> f64 {
        self.times.warm.p50.as_secs_f64()
    }

    fn ratio(&self) -> Option<f64> {
        Some(self.comparison?.seconds / self.p50())
    }

    fn first_ratio(&self) -> Option<f64> {
        Some(self.comparison?.seconds / self.times.first.as_secs_f64())
    }

    fn numbered_ratio(&self) -> Option<f64> {
        Some(self.comparison?.numbered_seconds / self.p50())
    }

    fn print(&self) {
        let ChartTimes { cold, first, warm } = self.times;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let times =
            format!("{:>9.2} {:>9.3} {:>9.3} {:>9.3}", ms(cold), ms(first), ms(warm.p50), ms(warm.p99));
        let known = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let duckdb = known(self.comparison.map(|comparison| comparison.seconds * 1e3), 1);
        let (ratio, first) = (known(self.ratio(), 0), known(self.first_ratio(), 0));
        let numbered = known(self.numbered_ratio(), 0);
        let (name, points) = (self.chart.name(), self.points);
        println!("{name:<35} {points:>6} {times} {duckdb:>10} {ratio:>7} {numbered:>8} {first:>7}");
    }

    fn to_json(&self) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        json!({
            "name": self.chart.name(),
            "points": self.points,
            "coldMs": ms(self.times.cold),
            "firstMs": ms(self.times.first),
            "p50Ms": ms(self.times.warm.p50),
            "p99Ms": ms(self.times.warm.p99),
            "duckdbMs": self.comparison.map(|comparison| comparison.seconds * 1e3),
            "duckdbNumberedMs": self.comparison.map(|comparison| comparison.numbered_seconds * 1e3),
            "ratio": self.ratio(),
            "ratioNumbered": self.numbered_ratio(),
            "ratioFirst": self.first_ratio(),
        })
    }
}

impl Disk {
    fn per_wallet_day(&self, bytes: u64) -> f64 {
        float(bytes) / float(self.wallet_days)
    }

    fn print(&self) {
        let each = |bytes| self.per_wallet_day(bytes);
        let (file, sets, addresses) = (each(self.file_bytes), each(self.set_bytes), each(self.address_bytes));
        println!(
            "disk: {:.1} MB, {file:.2} bytes for each of {} active wallet-days, of which sets {sets:.2} and addresses \
             {addresses:.2}, goal {DISK_GOAL} or less: {}",
            float(self.file_bytes) / 1e6,
            self.wallet_days,
            verdict(file <= DISK_GOAL)
        );
    }

    fn to_json(self) -> Value {
        json!({
            "fileBytes": self.file_bytes,
            "addressBytes": self.address_bytes,
            "setBytes": self.set_bytes,
            "counterBytes": self.counter_bytes,
            "bytesPerWalletDay": self.per_wallet_day(self.file_bytes),
        })
    }
}

impl CountingReport {
    /// Prints the charts, the disk and the memory, and whether their goals were reached.
    pub(crate) fn print_charts(&self) {
        println!(
            "{:<35} {:>6} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7} {:>8} {:>7}",
            "chart",
            "points",
            "cold ms",
            "first ms",
            "p50 ms",
            "p99 ms",
            "DuckDB ms",
            "ratio",
            "numbered",
            "first"
        );
        self.charts.iter().for_each(ChartReport::print);
        for goal in self.goals() {
            goal.print();
        }
        if let Some(version) = &self.duckdb {
            println!("every point is the same as DuckDB {version}'s");
        }
        self.disk.print();
        match self.memory {
            Some(bytes) => println!("memory after all charts: {:.1} MB", float(bytes) / 1e6),
            None => println!("memory: not known on this system"),
        }
    }

    /// Prints how fast events came in.
    pub(crate) fn print_ingest(&self) {
        self.ingest.iter().for_each(Ingest::print);
    }

    fn goals(&self) -> Vec<Goal> {
        let goal = |what: &'static str, reached: &dyn Fn(&ChartReport) -> Option<bool>| {
            let known = self.charts.iter().filter_map(|chart| Some((chart.chart.name(), reached(chart)?)));
            let (reached, missed): (Vec<_>, Vec<_>) = known.partition(|(_, reached)| *reached);
            Goal { what, reached: reached.len(), missed: missed.into_iter().map(|(name, _)| name).collect() }
        };
        vec![
            goal("p50 of 2 ms or less", &|chart| Some(chart.times.warm.p50 <= WARM_GOAL)),
            goal("cold 100 ms or less", &|chart| Some(chart.times.cold <= COLD_GOAL)),
            goal("50 times as fast as DuckDB", &|chart| {
                chart.ratio().filter(|_| chart.chart.is_of_events()).map(|ratio| ratio >= RATIO_GOAL)
            }),
        ]
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        let goals = self.goals();
        json!({
            "dataset": self.dataset.name,
            "wallets": self.dataset.wallets,
            "days": self.dataset.days,
            "walletDays": self.wallet_days,
            "ingest": self.ingest.iter().map(Ingest::to_json).collect::<Vec<_>>(),
            "duckdb": self.duckdb,
            "charts": self.charts.iter().map(ChartReport::to_json).collect::<Vec<_>>(),
            "goals": goals.iter().map(Goal::to_json).collect::<Vec<_>>(),
            "disk": self.disk.to_json(),
            "memoryBytes": self.memory,
        })
    }
}

/// A goal that every chart has.
#[derive(Debug)]
struct Goal {
    what: &'static str,
    reached: usize,
    missed: Vec<&'static str>,
}

impl Goal {
    fn print(&self) {
        let all = self.reached + self.missed.len();
        let missed = match self.missed.split_at_checked(MISSED_SHOWN) {
            Some((names, rest)) if !rest.is_empty() => {
                format!(", not by {} and {} more", names.join(", "), rest.len())
            }
            _ if self.missed.is_empty() => String::new(),
            _ => format!(", not by {}", self.missed.join(", ")),
        };
        let verdict = verdict(self.missed.is_empty());
        println!("goal {}: {verdict}, by {} of {all} charts{missed}", self.what, self.reached);
    }

    fn to_json(&self) -> Value {
        json!({ "goal": self.what, "reached": self.missed.is_empty(), "missedBy": self.missed })
    }
}
