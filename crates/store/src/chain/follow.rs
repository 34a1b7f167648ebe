//! Which collections are followed, and how far.

use bourse_market::facts::Block;
use bourse_wire::ChainId;

use super::state::{blocks_from, keep_blocks, read_checkpoint, read_followed, read_following, text};
use super::{ChainError, ChainState, Followed};
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry, Identity};
use crate::collections::{find, find_or_create, read_contract};
use crate::metadata_queue::enqueue;
use crate::session::Session;
use crate::{CollectionId, CollectionKey, Pending, Store, StoreError};

impl Store {
    /// Follows a collection from a block on. Again, or from a later block, changes nothing; an earlier one is refused
    /// once something was read.
    pub fn follow(&self, key: CollectionKey, from: u64, actor: Actor) -> Pending<'_, CollectionId> {
        self.write(move |mut session| Box::pin(async move { follow(&mut session, key, from, actor).await }))
    }

    /// The collections of a chain that are followed, in the order of their ids.
    pub fn followed(&self, chain: ChainId) -> Pending<'_, Vec<Followed>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let checkpoint = read_checkpoint(&mut session, chain).await?;
                read_followed(&mut session, chain, checkpoint).await
            })
        })
    }

    /// The collections of all chains that are followed.
    pub fn followed_everywhere(&self) -> Pending<'_, Vec<CollectionKey>> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql = "FROM followed_collections followed
                    JOIN collections ON collections.collection_id = followed.collection_id";
                session.select(sql, args![]).await
            })
        })
    }

    /// How far one collection is followed; `None` when it is not.
    pub fn following(&self, key: CollectionKey) -> Pending<'_, Option<Followed>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let Some(id) = find(&mut session, key).await? else { return Ok(None) };
                let checkpoint = read_checkpoint(&mut session, key.chain).await?;
                read_following(&mut session, id, checkpoint).await
            })
        })
    }

    /// How far a chain is followed; `None` before it is started.
    pub fn chain_state(&self, chain: ChainId) -> Pending<'_, Option<ChainState>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let window = blocks_from(&mut session, chain, 0).await?;
                Ok(window.last().copied().map(|checkpoint| ChainState { checkpoint, window }))
            })
        })
    }

    /// Starts to follow a chain at a block, unless that was done before.
    pub fn start_chain(&self, chain: ChainId, at: Block) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql =
                    "INSERT INTO chains (chain_id, checkpoint_number, checkpoint_hash) VALUES ($1, $2, $3)
                    ON CONFLICT (chain_id) DO NOTHING";
                if session.execute(sql, args![chain, at.number, text(at.hash)]).await? == 0 {
                    return Ok(());
                }
                keep_blocks(&mut session, chain, vec![at]).await
            })
        })
    }
}

async fn follow(
    session: &mut Session<'_>,
    key: CollectionKey,
    from: u64,
    actor: Actor,
) -> Result<CollectionId, StoreError> {
    let (id, now) = (find_or_create(session, key).await?, actor.at);
    let sql = "INSERT INTO followed_collections (collection_id, chain_id, from_block, next_block, live, followed_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (collection_id) DO NOTHING";
    if session.execute(sql, args![id.0, key.chain, from, from, false, now]).await? > 0 {
        // What somebody else told of the contract is not replaced by what it says of itself.
        if read_contract(session, id).await?.is_none() {
            enqueue(session, id, &[None], now).await?;
        }
        // Collections that a chain brings by itself may be many, and nobody administers them.
        if actor.identity != Identity::Service {
            let contract = format!("{} on chain {}", key.address, key.chain);
            let entry = Entry::new(Act::CollectionFollowed, contract).with(format_args!("from block {from}"));
            audit::put(session, &actor, entry).await?;
        }
        return Ok(id);
    }
    // What is read was applied in the order of blocks, so that nothing can be put before it.
    let sql = "UPDATE followed_collections SET from_block = $2, next_block = $3
        WHERE collection_id = $1 AND from_block > $4 AND next_block = from_block AND live = $5";
    session.execute(sql, args![id.0, from, from, from, false]).await?;
    let sql = "SELECT from_block FROM followed_collections WHERE collection_id = $1";
    let followed = session.value(sql, args![id.0]).await?.unwrap_or(from);
    if followed > from {
        return Err(ChainError::FollowedFrom { from: followed, asked: from }.into());
    }
    Ok(id)
}
