//! How fast the node itself is, when nobody does anything with what it tells.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::json;

use super::chain::Chain;
use super::hex::quantity;
use crate::client::{Connection, post};
use crate::error::{Context, Error};
use crate::report::Ceiling;

/// Blocks in one request: few enough that their logs are told at once.
const BLOCKS: u64 = 500;

/// Connections that ask at the same time.
const CONNECTIONS: usize = 4;

/// Asks for all logs once, and takes the time.
pub(super) async fn measure(address: SocketAddr, chain: &Chain) -> Result<Ceiling, Error> {
    let (next, head) = (Arc::new(AtomicU64::new(0)), chain.head());
    let started = Instant::now();
    let tasks: Vec<_> = (0..CONNECTIONS).map(|_| tokio::spawn(ask(address, next.clone(), head))).collect();
    let (mut logs, mut bytes) = (0, 0);
    for task in tasks {
        let (told, length) = task.await.context(|| "asking the node".to_owned())??;
        logs += told;
        bytes += length;
    }
    let took = started.elapsed();
    if logs != chain.logs.len() {
        return Err(Error::new(format!("the node told of {logs} logs, not of {}", chain.logs.len())));
    }
    Ok(Ceiling { logs: u64::try_from(logs).unwrap_or(u64::MAX), bytes, took })
}

/// Asks for ranges that nobody else asks for, and returns how many logs and bytes came.
async fn ask(address: SocketAddr, next: Arc<AtomicU64>, head: u64) -> Result<(usize, u64), Error> {
    // Every log has this member once, and nothing else has it.
    const MEMBER: &[u8] = b"\"logIndex\"";
    let mut connection = Connection::open(address).await?;
    let (mut logs, mut bytes) = (0, 0);
    loop {
        let from = next.fetch_add(BLOCKS, Ordering::Relaxed);
        if from > head {
            return Ok((logs, bytes));
        }
        let range = json!({ "fromBlock": quantity(from), "toBlock": quantity(from + BLOCKS - 1) });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [range] });
        let answer = connection.exchange(&post(address, "/", &[], &request.to_string())).await?;
        bytes += u64::try_from(answer.len()).unwrap_or(u64::MAX);
        // Quotes are rare in it, so this is a fast way to count.
        let quotes = (0..answer.len()).filter(|place| answer[*place] == b'"');
        logs += quotes.filter(|place| answer[*place..].starts_with(MEMBER)).count();
    }
}
