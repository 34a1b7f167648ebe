//! Ponder, which reads the same logs into tables that hold the same.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::books::Books;
use super::chain::{CHAIN_ID, Chain};
use super::event::{MARKET, POTIONS, RELICS};
use super::hex::data;
use crate::client::fetch;
use crate::error::{Context, Error};
use crate::memory::Peak;
use crate::process::{Running, isolated};
use crate::report::{IndexingReport, PonderReport};
use crate::stage::free_address;

/// The version to compare with; `package.json` names the same.
const VERSION: &str = "0.16.10";

const INSTALL_LIMIT: Duration = Duration::from_mins(10);
const START_LIMIT: Duration = Duration::from_mins(2);
const SYNC_LIMIT: Duration = Duration::from_hours(1);
const ANSWER_LIMIT: Duration = Duration::from_mins(2);
const STOP_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(200);

/// Ponder asks an address 20 times in the first second, slowly more, and never more than 500 times. With a single
/// one this would be what is measured, so it gets the same node under many.
const ADDRESSES: usize = 16;

/// The project, by the places of its files.
const FILES: [(&str, &str); 5] = [
    ("package.json", include_str!("package.json")),
    ("ponder.config.ts", include_str!("ponder.config.ts")),
    ("ponder.schema.ts", include_str!("ponder.schema.ts")),
    ("src/index.ts", include_str!("index.ts")),
    ("src/api/index.ts", include_str!("api.ts")),
];

/// A project with Ponder installed in it.
#[derive(Debug)]
pub(super) struct Ponder {
    directory: PathBuf,
}

/// What is asked until it answers.
struct Endpoint<'a> {
    address: SocketAddr,
    path: &'a str,
}

impl Ponder {
    /// Writes the project, and installs what it needs with npm, or takes that from `installed`.
    pub(super) async fn install(parent: &Path, installed: Option<&Path>) -> Result<Self, Error> {
        let directory = parent.join("ponder");
        for (path, content) in FILES {
            let path = directory.join(path);
            let made = std::fs::create_dir_all(path.parent().unwrap_or(&directory));
            made.and_then(|()| std::fs::write(&path, content))
                .context(|| format!("writing {}", path.display()))?;
        }
        run_to_end("node", &["--version"], &directory).await?;
        let modules = directory.join("node_modules");
        if let Some(installed) = installed {
            let installed = installed.join("node_modules").canonicalize();
            let linked = installed.and_then(|installed| std::os::unix::fs::symlink(installed, &modules));
            linked.context(|| "taking the node_modules that were named".to_owned())?;
        } else {
            run_to_end("npm", &["install", "--no-audit", "--no-fund", "--no-update-notifier"], &directory)
                .await?;
        }
        let package = modules.join("ponder").join("package.json");
        let text = std::fs::read_to_string(&package).context(|| format!("reading {}", package.display()))?;
        let text: Value =
            serde_json::from_str(&text).context(|| "reading Ponder's package.json".to_owned())?;
        if text["version"] != VERSION {
            return Err(Error::new(format!("Ponder {} is installed, not {VERSION}", text["version"])));
        }
        Ok(Self { directory })
    }

    /// Lets it read everything from the node, and then again from what it has kept of the node's answers. Its books
    /// are compared both times.
    pub(super) async fn measure(&self, node: SocketAddr, chain: &Chain) -> Result<PonderReport, Error> {
        let whole = self.index(node, chain, "first").await?;
        whole.print("from the node");
        let cached = self.index(node, chain, "second").await?;
        cached.print("again, from what it had kept");
        Ok(PonderReport { version: VERSION, whole, cached })
    }

    /// Starts it with tables of their own, waits until it has read everything, and stops it.
    async fn index(&self, node: SocketAddr, chain: &Chain, schema: &str) -> Result<IndexingReport, Error> {
        let started = Instant::now();
        let address = free_address()?;
        let mut process = self.start(node, address, schema)?;
        let mut peak = Peak::of(process.id());
        self.wait(&mut process, &mut peak, Endpoint { address, path: "/health" }, START_LIMIT).await?;
        let starting = started.elapsed();
        self.wait(&mut process, &mut peak, Endpoint { address, path: "/ready" }, SYNC_LIMIT).await?;
        let took = started.elapsed().saturating_sub(starting);
        let told = timeout(ANSWER_LIMIT, fetch(address, "/books")).await;
        let (status, books) = told.context(|| "asking Ponder for its books".to_owned())??;
        if status != 200 {
            return Err(process.failure(&format!("answered {status}: {books}")));
        }
        chain.books.check(&Books::read(&books), "Ponder")?;
        process.interrupt()?;
        // What it has kept must be whole for the second time.
        process.wait_at_most(STOP_LIMIT);
        let logs = u64::try_from(chain.logs.len()).unwrap_or(u64::MAX);
        Ok(IndexingReport { logs, starting, took, peak: peak.bytes() })
    }

    fn start(&self, node: SocketAddr, address: SocketAddr, schema: &str) -> Result<Running, Error> {
        let urls: Vec<String> = (0..ADDRESSES).map(|number| format!("http://{node}/{number}")).collect();
        let settings = json!({
            "chainId": CHAIN_ID,
            "urls": urls,
            "relics": data(&RELICS),
            "potions": data(&POTIONS),
            "market": data(&MARKET),
        });
        let mut command = isolated(Path::new("node"), &self.directory);
        command.arg("node_modules/ponder/dist/esm/bin/ponder.js").args(["start", "--schema", schema]);
        command.args(["--hostname", "127.0.0.1", "--port", &address.port().to_string()]);
        command.args(["--log-format", "json"]).env("REPLAY", settings.to_string());
        // Nothing leaves this machine, and no database of somebody else's is used.
        command.env("PONDER_TELEMETRY_DISABLED", "true");
        for name in ["DATABASE_URL", "DATABASE_PRIVATE_URL", "DATABASE_SCHEMA", "PORT", "NODE_OPTIONS"] {
            command.env_remove(name);
        }
        Running::spawn(command.stdin(Stdio::null()), "ponder", Some(&self.directory))
    }

    async fn wait(
        &self,
        process: &mut Running,
        peak: &mut Peak,
        Endpoint { address, path }: Endpoint<'_>,
        limit: Duration,
    ) -> Result<(), Error> {
        let started = Instant::now();
        // It is slow to answer while it works, which must not keep us from looking at its memory.
        while !matches!(timeout(POLL * 5, fetch(address, path)).await, Ok(Ok((200, _)))) {
            peak.look();
            process.check_running()?;
            if started.elapsed() > limit {
                return Err(process.failure(&format!("did not answer {path} within {} s", limit.as_secs())));
            }
            sleep(POLL).await;
        }
        peak.look();
        Ok(())
    }
}

async fn run_to_end(program: &'static str, arguments: &[&str], directory: &Path) -> Result<(), Error> {
    let mut command = isolated(Path::new(program), directory);
    command.args(arguments);
    Running::spawn(&mut command, program, Some(directory))?.finish(INSTALL_LIMIT).await.map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{FILES, VERSION};

    #[test]
    fn the_project_names_the_version() {
        let package: Value = serde_json::from_str(FILES[0].1).unwrap();
        assert_eq!(package["dependencies"]["ponder"], VERSION);
    }
}
