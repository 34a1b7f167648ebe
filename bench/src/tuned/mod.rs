//! The same requests to a PostgreSQL that was tuned for them by hand: tables whose rows are what answers show, an index
//! for each kind of request, statements prepared with their values, and no HTTP.

mod query;
mod tables;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::compare::Bench;
use crate::error::{Context, Error};
use crate::postgres::Postgres;
use crate::process::{Running, isolated};
use crate::report::TunedContest;
use crate::scenario::{Request, Scenario};
use query::{QUERIES, Query};
pub(crate) use tables::Tabled;

/// Everything fits in memory, and nothing is planned twice or in parallel.
const SETTINGS: &[&str] = &[
    "shared_buffers=4GB",
    "work_mem=64MB",
    "maintenance_work_mem=1GB",
    "effective_cache_size=8GB",
    "random_page_cost=1.1",
    "max_parallel_workers_per_gather=0",
    "jit=off",
];

/// As many scripts as `pgbench` takes.
const REQUESTS: usize = 128;
const CONNECTIONS: &str = "8";
const LOAD_LIMIT: Duration = Duration::from_mins(20);
const CHECK_LIMIT: Duration = Duration::from_mins(5);
const GRACE: Duration = Duration::from_mins(1);

/// What `psql` prints between two columns, and behind the rows of a statement.
const COLUMN: &str = "\u{1f}";
const END: &str = "--end--";

/// A PostgreSQL with some data.
#[derive(Debug)]
pub(crate) struct Tuned {
    postgres: Postgres,
    directory: PathBuf,
}

impl Tuned {
    /// Starts one and loads it; nothing when it is not installed.
    pub(crate) async fn load<Data: Tabled>(parent: &Path, data: &Data) -> Result<Option<Self>, Error> {
        let Some(postgres) = Postgres::start(parent, "tuned", SETTINGS).await? else {
            println!("PostgreSQL is not installed (initdb, postgres, pg_isready), so it is not compared");
            return Ok(None);
        };
        let directory = parent.join("tuned-rows");
        std::fs::create_dir(&directory).context(|| format!("making {}", directory.display()))?;
        let tuned = Self { postgres, directory };
        let mut script = Data::TABLES.to_owned();
        for table in data.write(&tuned.directory)? {
            let path = tuned.directory.join(table);
            script.extend(["\\copy ", table, " from '", &path.to_string_lossy(), "'\n"]);
        }
        script.push_str(Data::INDEXES);
        script.push_str("VACUUM (ANALYZE);\n");
        tuned.psql(&script, LOAD_LIMIT).await?;
        Ok(Some(tuned))
    }

    /// Asks both for the same, in turns; nothing when there is no statement for the scenario.
    pub(crate) async fn contest<Data>(
        &self,
        bench: &Bench<'_>,
        scenario: &Scenario<Data>,
        data: &Data,
    ) -> Result<Option<TunedContest>, Error> {
        let Some(query) = QUERIES.iter().find(|query| query.scenario == scenario.name) else {
            return Ok(None);
        };
        let mut requests = (scenario.requests)(data);
        requests.truncate(REQUESTS);
        let statements = statements(query, &requests)?;
        self.check(query, &requests, &statements).await?;
        let scripts = self.write_scripts(&statements)?;
        let target = bench.target(bench.server, scenario.path, &requests);
        let (plan, connections) = (bench.options.plan(), bench.options.connections);
        target.load(connections, plan.warm_up).await?;
        self.pgbench(&scripts, plan.warm_up).await?;
        let mut contest = TunedContest::begin(scenario.name, query.goal);
        for _ in 0..plan.rounds {
            let ours = target.load(connections, plan.round).await?.requests_per_second;
            contest.add(ours, self.pgbench(&scripts, plan.round).await?);
        }
        contest.print_end();
        Ok(Some(contest))
    }

    /// Every statement once: its rows must be the right answer to its request.
    async fn check(&self, query: &Query, requests: &[Request], statements: &[String]) -> Result<(), Error> {
        let script: String = statements.iter().flat_map(|sql| [sql, ";\n\\echo ", END, "\n"]).collect();
        let printed = self.psql(&script, CHECK_LIMIT).await?;
        let mut lines = printed.lines();
        for (request, sql) in requests.iter().zip(statements) {
            let rows = lines.by_ref().take_while(|line| *line != END).map(columns);
            let rows = rows.collect::<Result<Vec<_>, Error>>().context(|| format!("rows of {sql}"))?;
            (request.check)(&(query.answer)(&rows)).context(|| format!("rows of {sql}"))?;
        }
        Ok(())
    }

    fn write_scripts(&self, statements: &[String]) -> Result<Vec<PathBuf>, Error> {
        let write = |(index, sql): (usize, &String)| {
            let path = self.directory.join(format!("{index}.sql"));
            std::fs::write(&path, format!("{sql};\n")).context(|| format!("writing {}", path.display()))?;
            Ok(path)
        };
        statements.iter().enumerate().map(write).collect()
    }

    /// Statements answered in a second.
    async fn pgbench(&self, scripts: &[PathBuf], length: Duration) -> Result<f64, Error> {
        let mut command = isolated(&self.postgres.program("pgbench"), &self.directory);
        let seconds = length.as_secs().max(1).to_string();
        command.args(["--no-vacuum", "--protocol=prepared", "--client", CONNECTIONS, "--jobs", "2"]);
        command.args(["--time", &seconds]);
        command.args(scripts.iter().flat_map(|path| ["--file".as_ref(), path.as_os_str()]));
        let running = Running::spawn(command.arg(self.postgres.url()), "pgbench", Some(&self.directory))?;
        let (printed, _) = running.finish(length + GRACE).await?;
        tps(&printed).ok_or_else(|| Error::new(format!("pgbench printed no figure: {printed}")))
    }

    async fn psql(&self, script: &str, limit: Duration) -> Result<String, Error> {
        let path = self.directory.join("script.sql");
        std::fs::write(&path, script).context(|| format!("writing {}", path.display()))?;
        let mut command = isolated(&self.postgres.program("psql"), &self.directory);
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        command.args(["--field-separator", COLUMN, "--file"]).arg(path).arg(self.postgres.url());
        let running = Running::spawn(&mut command, "psql", Some(&self.directory))?;
        running.finish(limit).await.map(|(printed, _)| printed)
    }
}

fn statements(query: &Query, requests: &[Request]) -> Result<Vec<String>, Error> {
    let statement = |request: &Request| {
        let body = serde_json::from_str(&request.body).context(|| format!("reading {}", request.body))?;
        (query.sql)(&body)
    };
    requests.iter().map(statement).collect()
}

/// The columns of a line, each of which is JSON.
fn columns(line: &str) -> Result<Vec<Value>, Error> {
    line.split(COLUMN)
        .map(|column| serde_json::from_str(column).context(|| format!("reading {column}")))
        .collect()
}

fn tps(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{columns, tps};

    #[test]
    fn reads_the_figure_of_pgbench() {
        let printed =
            "number of failed transactions: 0\ntps = 1234.500000 (without initial connection time)\n";
        assert_eq!(tps(printed), Some(1_234.5));
        assert_eq!(tps("nothing"), None);
    }

    #[test]
    fn columns_are_json() {
        assert_eq!(columns("{\"a\":1}\u{1f}2").unwrap(), [json!({ "a": 1 }), json!(2)]);
        columns("{").unwrap_err();
    }
}
