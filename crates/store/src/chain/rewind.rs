//! Undoing blocks.

use std::collections::BTreeMap;

use bourse_wire::ChainId;

use super::state::{Checkpoint, blocks_from, oldest_kept};
use super::undo::{Undo, Undone};
use super::write::{Work, write_approvals, write_balances, write_token_approvals};
use super::{ChainError, orders, standing};
use crate::args::{Arg, args};
use crate::collections::CollectionId;
use crate::columns::selection;
use crate::session::Session;
use crate::{StoreError, activities, feed};

/// Undoes the blocks of a chain after one, and returns that one. What it takes for each collection is noted in `works`.
pub(super) async fn rewind(
    session: &mut Session<'_>,
    chain: ChainId,
    to: u64,
    works: &mut BTreeMap<CollectionId, Work>,
) -> Result<Checkpoint, StoreError> {
    let kept = blocks_from(session, chain, to).await?;
    let Some(block) = kept.first().filter(|block| block.number == to) else {
        let oldest = oldest_kept(session, chain).await?;
        return Err(ChainError::BeyondWindow { to, oldest }.into());
    };
    for (id, undone) in read_undone(session, chain, to).await? {
        let work = works.entry(id).or_insert_with(|| Work::on(chain));
        work.note_block(block);
        undo(session, id, undone, work).await?;
    }
    let sql = "DELETE FROM chain_undo WHERE number > $2
        AND collection_id IN (SELECT collection_id FROM followed_collections WHERE chain_id = $1)";
    session.execute(sql, args![chain, to]).await?;
    let sql = "DELETE FROM chain_blocks WHERE chain_id = $1 AND number > $2";
    session.execute(sql, args![chain, to]).await?;
    set_back(session, chain, to + 1).await?;
    Ok(block.into())
}

/// Collections that are not live are read again from a block on. A live one that begins after it waits for its beginning.
async fn set_back(session: &mut Session<'_>, chain: ChainId, next: u64) -> Result<(), StoreError> {
    let sql =
        "UPDATE followed_collections SET next_block = CASE WHEN from_block > $2 THEN from_block ELSE $3 END
        WHERE chain_id = $1 AND live = $4 AND next_block > $5";
    session.execute(sql, args![chain, next, next, false, next]).await?;
    let sql = "UPDATE followed_collections SET next_block = from_block, live = $3
        WHERE chain_id = $1 AND live = $4 AND from_block > $2";
    session.execute(sql, args![chain, next, false, true]).await.map(drop)
}

async fn read_undone(
    session: &mut Session<'_>,
    chain: ChainId,
    to: u64,
) -> Result<BTreeMap<CollectionId, Undone>, StoreError> {
    selection! {
        struct UndoOf {
            collection_id: CollectionId,
            before: Undo,
        }
    }
    let sql = "FROM chain_undo WHERE number > $2
        AND collection_id IN (SELECT collection_id FROM followed_collections WHERE chain_id = $1)
        ORDER BY number DESC";
    let mut undone: BTreeMap<CollectionId, Undone> = BTreeMap::new();
    let rows: Vec<UndoOf> = session.select(sql, args![chain, to]).await?;
    for UndoOf { collection_id, before } in rows {
        undone.entry(collection_id).or_default().add(before)?;
    }
    Ok(undone)
}

/// Makes the records of a collection what they were. Tokens wait: the blocks that follow may make them again.
async fn undo(
    session: &mut Session<'_>,
    id: CollectionId,
    undone: Undone,
    work: &mut Work,
) -> Result<(), StoreError> {
    work.hold(session, id).await?;
    let mut taken_back = Vec::new();
    for (first, last) in undone.activities {
        let which = "activity_id BETWEEN $2 AND $3";
        taken_back.extend(activities::remove(session, id, which, args![first, last]).await?);
    }
    for name in undone.happened {
        taken_back.extend(activities::remove(session, id, "unique_hash = $2", args![name]).await?);
    }
    work.changed.activities += taken_back.len() as u64;
    feed::retract(session, id, Some(taken_back)).await?;
    work.unmade.extend(undone.tokens);

    work.changed.balances = undone.balances.keys().copied().collect();
    let (gone, kept) = apart(undone.balances);
    work.orphans.extend(gone.iter().map(|(token, _)| *token));
    work.balances_gone |= !gone.is_empty();
    let keys = gone.into_iter().map(|(token, account)| args![id.0, token, account]);
    delete(session, "balances WHERE collection_id = $1 AND token_id = $2 AND account = $3", keys).await?;
    write_balances(session, id, kept).await?;

    work.changed.orders = undone.orders.keys().cloned().collect();
    work.orphans.extend(orders::take_back(session, id, undone.orders).await?);
    standing::enqueue(session, id, undone.asked.iter()).await?;

    let (gone, kept) = apart(undone.approvals);
    let keys = gone.into_iter().map(|(owner, operator)| args![id.0, owner, operator]);
    delete(session, "approvals WHERE collection_id = $1 AND owner = $2 AND operator = $3", keys).await?;
    write_approvals(session, id, kept).await?;

    let (gone, kept) = apart(undone.token_approvals);
    let keys = gone.into_iter().map(|token| args![id.0, token]);
    delete(session, "token_approvals WHERE collection_id = $1 AND token_id = $2", keys).await?;
    write_token_approvals(session, id, kept).await
}

/// What was not before, and what was something else.
fn apart<K, V>(before: BTreeMap<K, Option<V>>) -> (Vec<K>, Vec<(K, V)>) {
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for (key, value) in before {
        match value {
            None => gone.push(key),
            Some(value) => kept.push((key, value)),
        }
    }
    (gone, kept)
}

/// Deletes rows one by one: a rewind has few.
async fn delete(
    session: &mut Session<'_>,
    what: &str,
    keys: impl IntoIterator<Item = Vec<Arg>>,
) -> Result<(), StoreError> {
    for key in keys {
        session.execute(format!("DELETE FROM {what}"), key).await?;
    }
    Ok(())
}
