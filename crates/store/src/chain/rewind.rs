//! Undoing blocks.

use std::collections::BTreeMap;

use bourse_wire::ChainId;

use super::aside::{Reach, Within};
use super::state::{Checkpoint, blocks_from, oldest_kept};
use super::undo::{Undo, UndoRow, Undone};
use super::write::{Work, write_approvals, write_balances, write_token_approvals};
use super::{ChainError, orders, standing};
use crate::args::{Arg, args};
use crate::collections::CollectionId;
use crate::columns::selection;
use crate::session::Session;
use crate::{StoreError, activities, feed};

/// Undoes the blocks of a chain after one, and returns that one. What it takes for each collection is noted in `works`. What
/// cannot be reached is undone when it can, see [`undo_missed`]: all of it is read again from there, for which it is live no more.
pub(super) async fn rewind(
    session: &mut Session<'_>,
    chain: ChainId,
    (to, reach): (u64, &Reach),
    works: &mut BTreeMap<CollectionId, Work>,
) -> Result<Checkpoint, StoreError> {
    let kept = blocks_from(session, chain, to).await?;
    let Some(block) = kept.first().filter(|block| block.number == to) else {
        let oldest = oldest_kept(session, chain).await?;
        return Err(ChainError::BeyondWindow { to, oldest }.into());
    };
    for (id, undone) in read_undone(session, chain, to, reach).await? {
        let work = works.entry(id).or_insert_with(|| Work::on(chain));
        work.note_block(block);
        undo(session, id, undone, work).await?;
    }
    for (which, args) in undone_after(chain, to, reach) {
        session.execute(format!("DELETE {which}"), args).await?;
    }
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

/// What undoing the blocks after one takes, of all followed collections, or of those that can be reached.
fn undone_after(chain: ChainId, to: u64, reach: &Reach) -> Vec<(String, Vec<Arg>)> {
    if matches!(reach, Reach::All) {
        let sql = "FROM chain_undo WHERE number > $2
            AND collection_id IN (SELECT collection_id FROM followed_collections WHERE chain_id = $1)";
        return vec![(sql.to_owned(), args![chain, to])];
    }
    let part = |Within { sql, args }| {
        let sql = format!("FROM chain_undo WHERE number > $1 {sql}");
        (sql, args![to].into_iter().chain(args).collect())
    };
    reach.parts(1).into_iter().map(part).collect()
}

/// Whether anything is kept to undo blocks of a collection from one on, as far as is seen yet.
pub(super) async fn has_missed(
    session: &mut Session<'_>,
    id: CollectionId,
    next: u64,
) -> Result<bool, StoreError> {
    let sql = "SELECT number FROM chain_undo WHERE collection_id = $1 AND number >= $2 LIMIT 1";
    session.has(sql, args![id.0, next]).await
}

/// Undoes of a collection what was taken back while it could not be reached: whatever is kept of blocks from the one on that is
/// read next. Whoever calls this reads these blocks then.
pub(super) async fn undo_missed(
    session: &mut Session<'_>,
    id: CollectionId,
    (chain, next): (ChainId, u64),
    work: &mut Work,
) -> Result<(), StoreError> {
    // A commit of which its node was not told yet keeps it held: nobody sees before that what it left to undo.
    work.hold(session, id).await?;
    let sql = "FROM chain_undo WHERE collection_id = $1 AND number >= $2 ORDER BY number DESC";
    let rows: Vec<UndoRow> = session.select(sql, args![id.0, next]).await?;
    if rows.is_empty() {
        return Ok(());
    }
    let mut undone = Undone::default();
    for UndoRow { before, .. } in rows {
        undone.add(before)?;
    }
    if let Some(block) = blocks_from(session, chain, next.saturating_sub(1)).await?.first() {
        work.note_block(block);
    }
    undo(session, id, undone, work).await?;
    let sql = "DELETE FROM chain_undo WHERE collection_id = $1 AND number >= $2";
    session.execute(sql, args![id.0, next]).await.map(drop)
}

async fn read_undone(
    session: &mut Session<'_>,
    chain: ChainId,
    to: u64,
    reach: &Reach,
) -> Result<BTreeMap<CollectionId, Undone>, StoreError> {
    selection! {
        struct UndoOf {
            collection_id: CollectionId,
            before: Undo,
        }
    }
    let mut undone: BTreeMap<CollectionId, Undone> = BTreeMap::new();
    for (which, args) in undone_after(chain, to, reach) {
        let rows: Vec<UndoOf> = session.select(format!("{which} ORDER BY number DESC"), args).await?;
        for UndoOf { collection_id, before } in rows {
            undone.entry(collection_id).or_default().add(before)?;
        }
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
