//! The whole benchmark, from an empty directory to the report.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::binary;
use crate::client::{Connection, post};
use crate::data;
use crate::error::{Context, Error};
use crate::load::Target;
use crate::options::Options;
use crate::process::{Running, isolated};
use crate::report::{Import, Outcome, Report, Round};
use crate::scenario::{self, Scenario};

/// Everything but the build, together. Steps have shorter limits where they can say what went wrong.
const MEASURE_LIMIT: Duration = Duration::from_mins(20);
const IMPORT_LIMIT: Duration = Duration::from_mins(10);
const COMMAND_LIMIT: Duration = Duration::from_mins(1);
const READY_LIMIT: Duration = Duration::from_mins(1);
const CHECK_LIMIT: Duration = Duration::from_mins(1);

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
    let bench = Bench { options, bourse, directory: directory.path() };
    let import = bench.import().await?;
    import.print();
    let access_key = bench.create_project().await?;
    let server = bench.serve().await?;
    let mut outcomes = Vec::with_capacity(scenario::ALL.len());
    for scenario in scenario::ALL {
        outcomes.push(bench.measure(scenario, &server, &access_key).await?);
    }
    Ok(Report { connections: options.connections, quick: options.quick, import, outcomes })
}

/// What every step needs to know.
#[derive(Debug)]
struct Bench<'a> {
    options: &'a Options,
    bourse: &'a Path,
    directory: &'a Path,
}

/// A server that has said that it is healthy.
#[derive(Debug)]
struct Server {
    process: Running,
    address: SocketAddr,
}

impl Bench<'_> {
    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    async fn import(&self) -> Result<Import, Error> {
        let file = self.directory.join("tokens.jsonl");
        let bytes = data::write(&file)?;
        let mut command = isolated(self.bourse, self.directory);
        command.arg("import").arg(&file).arg("--data").arg(self.data());
        let running = Running::spawn(&mut command, "bourse-import", Some(self.directory))?;
        let (_, took) = running.finish(IMPORT_LIMIT).await?;
        Ok(Import { lines: data::TOKENS, bytes, took })
    }

    async fn create_project(&self) -> Result<String, Error> {
        let mut command = isolated(self.bourse, self.directory);
        command.args(["project", "create", "bench", "--json", "--data"]).arg(self.data());
        let running = Running::spawn(&mut command, "bourse-project", Some(self.directory))?;
        let (printed, _) = running.finish(COMMAND_LIMIT).await?;
        let project: Value = serde_json::from_str(&printed)
            .context(|| "reading what `bourse project create` printed".to_owned())?;
        let access_key = project["accessKey"].as_str().map(ToOwned::to_owned);
        access_key.ok_or_else(|| Error::new("`bourse project create` printed no accessKey"))
    }

    async fn serve(&self) -> Result<Server, Error> {
        let address = free_address()?;
        let mut command = isolated(self.bourse, self.directory);
        command.arg("serve").arg("--data").arg(self.data()).arg("--listen").arg(address.to_string());
        let mut process = Running::spawn(&mut command, "bourse-serve", Some(self.directory))?;
        process.ready(address, READY_LIMIT).await?;
        Ok(Server { process, address })
    }

    /// Starts this very binary as the bare server.
    async fn serve_bare(&self, path: &str, body: &[u8]) -> Result<Server, Error> {
        let file = self.directory.join("bare-body.json");
        std::fs::write(&file, body).context(|| format!("writing {}", file.display()))?;
        let program = std::env::current_exe().context(|| "finding this program".to_owned())?;
        let address = free_address()?;
        let mut command = isolated(&program, self.directory);
        command.args(["bare", "--path", path, "--listen", &address.to_string(), "--body"]).arg(&file);
        // Our end of this pipe closes with us, which tells the bare server to end.
        command.stdin(Stdio::piped());
        let mut process = Running::spawn(&mut command, "bare-server", Some(self.directory))?;
        process.ready(address, READY_LIMIT).await?;
        Ok(Server { process, address })
    }

    async fn measure(&self, scenario: &Scenario, server: &Server, key: &str) -> Result<Outcome, Error> {
        let bodies = (scenario.bodies)();
        let requests = |address| -> Arc<[Vec<u8>]> {
            bodies.iter().map(|body| post(address, scenario.path, &[("X-Access-Key", key)], body)).collect()
        };
        let bourse =
            Target { process: &server.process, address: server.address, requests: requests(server.address) };
        let checked = timeout(CHECK_LIMIT, check_all(scenario, &bodies, &bourse)).await;
        let checked = checked.context(|| "checking the answers".to_owned()).flatten();
        let first = checked.map_err(|error| server.process.failure(&format!("is not right: {error}")))?;

        let bare_server = self.serve_bare(scenario.path, &first).await?;
        let address = bare_server.address;
        let bare = Target { process: &bare_server.process, address, requests: requests(address) };
        check_bare(&bare, &first).await?;
        self.measure_rounds(scenario, &bourse, &bare).await
    }

    async fn measure_rounds(
        &self,
        scenario: &Scenario,
        bourse: &Target<'_>,
        bare: &Target<'_>,
    ) -> Result<Outcome, Error> {
        let plan = self.options.plan();
        let connections = self.options.connections;
        bourse.load(connections, plan.warm_up).await?;
        bare.load(connections, plan.warm_up).await?;
        let mut outcome = Outcome::begin(scenario, connections);
        for index in 0..plan.rounds {
            // The order changes each time, so that a machine that slows down or speeds up favours neither.
            let (bourse, bare) = if index % 2 == 0 {
                let first = bourse.load(connections, plan.round).await?;
                (first, bare.load(connections, plan.round).await?)
            } else {
                let first = bare.load(connections, plan.round).await?;
                (bourse.load(connections, plan.round).await?, first)
            };
            outcome.add(Round { bourse, bare });
        }
        outcome.print_end();
        Ok(outcome)
    }
}

/// Sends each request once, checks its answer, and returns the first of the answers.
async fn check_all(scenario: &Scenario, bodies: &[String], target: &Target<'_>) -> Result<Vec<u8>, Error> {
    let mut connection = Connection::open(target.address).await?;
    let mut first = Vec::new();
    for (index, (body, request)) in bodies.iter().zip(target.requests.iter()).enumerate() {
        let response = connection.exchange(request).await.context(|| format!("request {index}"))?;
        (scenario.check)(body, response).context(|| format!("request {index}"))?;
        if first.is_empty() {
            first = response.to_owned();
        }
    }
    Ok(first)
}

/// The comparison stands only if the bare server answers the very bytes of the real one.
async fn check_bare(bare: &Target<'_>, expected: &[u8]) -> Result<(), Error> {
    let mut connection = Connection::open(bare.address).await?;
    let Some(request) = bare.requests.first() else { return Err(Error::new("the scenario has no requests")) };
    if connection.exchange(request).await? == expected {
        return Ok(());
    }
    Err(bare.process.failure("does not answer the bytes it was given"))
}

/// An address that nobody listens on. Another process could take it before we do; the server then says so.
fn free_address() -> Result<SocketAddr, Error> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound.context(|| "finding a free port".to_owned())
}
