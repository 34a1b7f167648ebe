//! Bourse, reading the history of two collections from the node.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::sleep;

use super::books::Books;
use super::chain::{CHAIN_ID, Chain};
use super::event::{MARKET, POTIONS, RELICS};
use super::hex::data;
use crate::error::{Context, Error};
use crate::memory::Peak;
use crate::process::{Running, isolated};
use crate::report::SyncReport;
use crate::stage::Stage;

/// What the settings call the network.
const NETWORK: &str = "hardhat";

/// Everything that the chain holds must be read within this time.
const SYNC_LIMIT: Duration = Duration::from_mins(20);

/// How often Bourse is asked how far it is. Asking costs it something too.
const POLL: Duration = Duration::from_millis(200);

/// How long it may be until a server that has read all has nothing left to do.
const SETTLE: Duration = Duration::from_secs(3);

const DUMP_LIMIT: Duration = Duration::from_mins(2);

/// The contents of all tables that a chain fills, as lines, in the SQL that both stores speak.
const BOOKS_SQL: &str = "\
    SELECT 'balance ' || contract_address || ' ' || token_id || ' ' || account || ' ' || balance \
    FROM balances JOIN collections USING (collection_id) WHERE balance <> '0' \
    UNION ALL SELECT 'order ' || order_id || CASE status WHEN 4 THEN ' cancelled ' ELSE ' open ' END \
    || quantity_remaining FROM orders \
    UNION ALL SELECT 'activities ' || action || ' ' || count(*) FROM activities GROUP BY action";

/// A new stage reads everything from the node, and its books are compared with what the logs say.
pub(super) async fn sync(
    stage: &Stage<'_>,
    store: &'static str,
    node: SocketAddr,
    chain: &Chain,
) -> Result<SyncReport, Error> {
    stage.write_settings(&settings(node))?;
    for contract in [RELICS, POTIONS] {
        stage.run(&["collection", "add", NETWORK, &data(&contract), "--from", "0"]).await?;
    }
    let started = Instant::now();
    let mut server = stage.serve().await?;
    let mut peak = Peak::of(server.process.id());
    let took = loop {
        peak.look();
        let status = stage.run(&["status", "--json"]).await?;
        let status: Value =
            serde_json::from_str(&status).context(|| "reading what `bourse status` printed".to_owned())?;
        if is_complete(&status, chain.head()) {
            break started.elapsed();
        }
        server.process.check_running()?;
        if started.elapsed() > SYNC_LIMIT {
            return Err(server.process.failure(&format!("did not read the whole chain: {status}")));
        }
        sleep(POLL).await;
    };
    sleep(SETTLE).await;
    let memory = server.process.memory_bytes();
    server.stop().await?;
    chain.books.check(&Books::read(&dump(stage).await?), store)?;
    Ok(SyncReport { store, took, peak: peak.bytes(), memory })
}

/// What the stopped server has left in its tables.
async fn dump(stage: &Stage<'_>) -> Result<String, Error> {
    let mut command = if let Some(url) = stage.database() {
        let mut command = isolated(Path::new("psql"), stage.directory());
        command.args(["--no-psqlrc", "--tuples-only", "--no-align", "--command", BOOKS_SQL, url]);
        command
    } else {
        let mut command = isolated(Path::new("python3"), stage.directory());
        command.args(["-c", include_str!("dump.py")]).arg(stage.database_file()).arg(BOOKS_SQL);
        command
    };
    let running = Running::spawn(&mut command, "dump", Some(stage.directory()))?;
    running.finish(DUMP_LIMIT).await.map(|(printed, _)| printed)
}

fn settings(node: SocketAddr) -> String {
    format!(
        "[networks.{NETWORK}]\nid = {CHAIN_ID}\nrpc_url = \"http://{node}\"\nown_v2 = \"{}\"\n",
        data(&MARKET)
    )
}

/// Whether all collections are live, and the network is where the chain ends.
fn is_complete(status: &Value, head: u64) -> bool {
    let networks = status["networks"].as_array().into_iter().flatten();
    let Some(network) = networks.into_iter().find(|network| network["name"] == NETWORK) else { return false };
    let collections = network["collections"].as_array().map(Vec::as_slice).unwrap_or_default();
    network["checkpoint"].as_u64() == Some(head)
        && collections.len() == 2
        && collections.iter().all(|collection| collection["live"] == true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{NETWORK, is_complete};

    #[test]
    fn complete_is_all_collections_at_the_end() {
        let status = |checkpoint: u64, live: &[bool]| {
            let collections: Vec<_> = live.iter().map(|live| json!({ "live": live })).collect();
            let network = json!({ "name": NETWORK, "checkpoint": checkpoint, "collections": collections });
            json!({ "networks": [{ "name": "other", "checkpoint": 7, "collections": [] }, network] })
        };
        assert!(is_complete(&status(7, &[true, true]), 7));
        assert!(!is_complete(&status(6, &[true, true]), 7));
        assert!(!is_complete(&status(7, &[true, false]), 7));
        assert!(!is_complete(&status(7, &[true]), 7));
        assert!(!is_complete(&json!({ "networks": [] }), 7));
    }
}
