//! History from a chain: a node replays recorded logs, Bourse reads them into its stores, and so does Ponder.

mod books;
mod bourse;
mod ceiling;
mod chain;
mod event;
mod hex;
mod node;
mod ponder;
mod world;

use std::path::Path;

pub(crate) use node::serve;

use crate::error::{Context, Error};
use crate::options::Options;
use crate::postgres::Postgres;
use crate::report::{PonderReport, ReplayReport, SyncReport};
use crate::stage::{Server, Stage, serve_self};
use chain::Chain;
use ponder::Ponder;

/// What `--only` picks it by.
pub(crate) const NAME: &str = "replay";

/// Replays a chain to Bourse on both stores and to Ponder, and compares.
pub(crate) async fn measure(options: &Options, bourse: &Path, parent: &Path) -> Result<ReplayReport, Error> {
    let directory = parent.join(NAME);
    std::fs::create_dir(&directory).context(|| format!("making {}", directory.display()))?;
    let asked = if options.quick { 30_000 } else { 300_000 };
    let chain = Chain::new(asked);
    println!("\nreplay of {} logs in {} blocks", chain.logs.len(), chain.blocks.len());
    let arguments = ["node".into(), "--logs".into(), asked.to_string().into()];
    let node = serve_self(&arguments, "replay-node", &directory).await?;
    let ceiling = ceiling::measure(node.address, &chain).await?;
    ceiling.print();

    let replay = Replay { options, bourse, directory: &directory, node: &node, chain: &chain };
    let mut synced = replay.on_sqlite().await?;
    synced.extend(replay.on_postgres().await?);
    let ponder = replay.to_ponder().await?;
    let report = ReplayReport {
        logs: u64::try_from(chain.logs.len()).unwrap_or(u64::MAX),
        blocks: u64::try_from(chain.blocks.len()).unwrap_or(u64::MAX),
        lines: chain.books.len(),
        ceiling,
        synced,
        ponder,
    };
    report.print();
    std::fs::remove_dir_all(&directory).context(|| format!("removing {}", directory.display()))?;
    Ok(report)
}

/// What all that read the chain share.
#[derive(Debug)]
struct Replay<'a> {
    options: &'a Options,
    bourse: &'a Path,
    directory: &'a Path,
    node: &'a Server,
    chain: &'a Chain,
}

impl Replay<'_> {
    fn rounds(&self) -> usize {
        if self.options.quick { 1 } else { 3 }
    }

    async fn on_sqlite(&self) -> Result<Vec<SyncReport>, Error> {
        let mut synced = Vec::new();
        for round in 0..self.rounds() {
            let stage = Stage::new(self.bourse, self.directory, &format!("sqlite-{round}"))?;
            synced.push(bourse::sync(&stage, "SQLite", self.node.address, self.chain).await?);
        }
        Ok(synced)
    }

    async fn on_postgres(&self) -> Result<Vec<SyncReport>, Error> {
        let mut synced = Vec::new();
        for round in 0..self.rounds() {
            let Some(postgres) =
                Postgres::start(self.directory, &format!("postgres-data-{round}"), &[]).await?
            else {
                println!("PostgreSQL is not installed (initdb, postgres, pg_isready), so it is not measured");
                return Ok(synced);
            };
            let stage = Stage::new(self.bourse, self.directory, &format!("postgres-{round}"))?;
            let stage = stage.with_database(postgres.url());
            synced.push(bourse::sync(&stage, "PostgreSQL", self.node.address, self.chain).await?);
        }
        Ok(synced)
    }

    async fn to_ponder(&self) -> Result<Option<PonderReport>, Error> {
        let ponder = match Ponder::install(self.directory, self.options.ponder.as_deref()).await {
            Ok(ponder) => ponder,
            Err(error) => {
                println!("Ponder could not be installed, so nothing is compared with it. {error}");
                return Ok(None);
            }
        };
        ponder.measure(self.node.address, self.chain).await.map(Some)
    }
}
