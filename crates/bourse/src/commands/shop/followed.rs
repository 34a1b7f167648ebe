//! Whether what is shown is followed, up to now.

use std::collections::BTreeSet;

use bourse_chain::Node as _;
use bourse_server::settings::Settings;
use bourse_store::{Store, StoreError};
use bourse_wire::{ChainId, Timestamp};

use super::{COLLECTIONS_MAX, Shop, all, node_at};

/// How much older the last block that was read may be than the last that a node knows, in seconds (an hour): what is read waits
/// for confirmations, and nodes fall behind for a while.
const BEHIND_SECONDS_MAX: i64 = 3_600;

pub(super) async fn check(
    settings: &Settings,
    store: &Store,
    shops: &[Shop],
) -> Result<Result<String, String>, StoreError> {
    let (mut wrong, mut count, mut chains) = (Vec::new(), 0, BTreeSet::new());
    for key in shops.iter().flat_map(|shop| &shop.collections) {
        count += 1;
        chains.insert(key.chain);
        match store.following(*key).await? {
            Some(followed) if followed.live => {}
            Some(_) => wrong.push(format!("{} on chain {} is still being read", key.address, key.chain.0)),
            None => wrong.push(format!(
                "{} on chain {} is not followed: `bourse collection add {} {}`",
                key.address, key.chain.0, key.chain.0, key.address
            )),
        }
    }
    for chain in chains {
        wrong.extend(behind(settings, store, chain).await?);
    }
    let unseen = shops.iter().filter(|shop| shop.has_more).map(|shop| {
        format!(", of project {} only the first {COLLECTIONS_MAX} were looked at", shop.project.id)
    });
    Ok(all(&wrong, format!("{count} followed{}", unseen.collect::<String>())))
}

/// What is wrong where a chain was read some time ago for the last time. Nothing where no node answers, which is told of nodes.
async fn behind(settings: &Settings, store: &Store, chain: ChainId) -> Result<Option<String>, StoreError> {
    let Some(state) = store.chain_state(chain).await? else { return Ok(None) };
    let Some((number, at)) = newest(settings, chain).await else { return Ok(None) };
    let read = state.checkpoint;
    let seconds = at.unix_seconds() - read.at.unix_seconds();
    if number <= read.number || seconds <= BEHIND_SECONDS_MAX {
        return Ok(None);
    }
    Ok(Some(format!(
        "chain {} was read up to block {} of {}, and its node is at block {number} of {at}: is the service running, and what does \
        its log say?",
        chain.0, read.number, read.at
    )))
}

/// Number and time of the newest block that a node of a chain knows.
async fn newest(settings: &Settings, chain: ChainId) -> Option<(u64, Timestamp)> {
    let mut newest = None;
    for url in &settings.networks.get(chain.0)?.rpc_urls {
        let Ok(node) = node_at(url) else { continue };
        let Ok(head) = node.head().await else { continue };
        newest = newest.max(Some((head.number, head.at)));
    }
    newest
}
