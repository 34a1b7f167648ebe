//! Which balances of a followed collection changed since a block.

use std::collections::BTreeSet;

use bourse_market::facts::BlockHash;
use bourse_wire::{Address, Amount, TokenId};

use super::state::{FollowedRow, blocks_from, oldest_kept, read_checkpoint, read_progress};
use super::undo::UndoRow;
use crate::args::args;
use crate::collections::{find, read_balances};
use crate::load::Balance;
use crate::session::Session;
use crate::{CollectionId, CollectionKey, Pending, Store, StoreError};

/// Since when, and which part is read.
#[derive(Clone, Copy, Debug)]
pub struct ChangesQuery {
    /// Balances that are other than at the end of this block.
    pub since: u64,
    /// Its name, where it is known to whoever asks.
    pub since_hash: Option<BlockHash>,
    /// All balances there are, whenever they changed: as an earlier part was.
    pub is_all: bool,
    /// Those after this one.
    pub after: Option<(TokenId, Address)>,
    /// So many are passed over.
    pub skip: u64,
    /// So many at most.
    pub limit: u64,
}

/// What is held now of what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalanceChanges {
    /// Height and name of the block that it is of; nothing while not all older blocks of the collection are read, as it is of none.
    pub checkpoint: (u64, BlockHash),
    /// Whether it is all that is held, since it is not known any more what changed: whatever is not in it is nothing. Otherwise it
    /// is what changed, and what is nothing by now is in it.
    pub is_all: bool,
    /// Who holds how much.
    pub balances: Vec<Balance>,
}

impl Store {
    /// The balances of a followed collection that changed since a block; all that are not nothing where the block is older than
    /// what a rewind may go back to or than the whole of what was read of it, or is no longer part of the chain. `None` where the collection is not followed.
    pub fn balance_changes(
        &self,
        key: CollectionKey,
        query: ChangesQuery,
    ) -> Pending<'_, Option<BalanceChanges>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let Some(id) = find(&mut session, key).await? else { return Ok(None) };
                let Some(progress) = read_progress(&mut session, id).await? else { return Ok(None) };
                let Some(checkpoint) = read_checkpoint(&mut session, key.chain).await? else {
                    return Ok(None);
                };
                let is_all = query.is_all || !is_kept(&mut session, (key, &progress), &query).await?;
                // A place in what changed is none in all that there is.
                let after = query.after.filter(|_| is_all == query.is_all);
                let query = ChangesQuery { after, ..query };
                let balances = if is_all {
                    all(&mut session, id, &query).await?
                } else {
                    changed(&mut session, id, &query).await?
                };
                let checkpoint =
                    if progress.live { (checkpoint.number, checkpoint.hash) } else { Default::default() };
                Ok(Some(BalanceChanges { checkpoint, is_all, balances }))
            })
        })
    }
}

/// Whether it is known what changed since a block. Older blocks change balances without it being noted, until the collection is
/// live; of the one it became live with there may be copies from before it was read anew.
async fn is_kept(
    session: &mut Session<'_>,
    (key, progress): (CollectionKey, &FollowedRow),
    query: &ChangesQuery,
) -> Result<bool, StoreError> {
    if !progress.live || query.since < progress.next_block {
        return Ok(false);
    }
    if query.since < oldest_kept(session, key.chain).await? {
        return Ok(false);
    }
    let Some(hash) = query.since_hash else { return Ok(true) };
    let known = blocks_from(session, key.chain, query.since).await?;
    Ok(known.first().is_some_and(|block| block.number == query.since && block.hash == hash))
}

async fn changed(
    session: &mut Session<'_>,
    id: CollectionId,
    query: &ChangesQuery,
) -> Result<Vec<Balance>, StoreError> {
    let sql = "FROM chain_undo WHERE collection_id = $1 AND number > $2";
    let blocks: Vec<UndoRow> = session.select(sql, args![id.0, query.since]).await?;
    let keys: BTreeSet<(TokenId, Address)> =
        blocks.iter().flat_map(|block| block.before.changed_balances()).collect();
    let wanted = keys.into_iter().filter(|key| query.after.is_none_or(|after| *key > after));
    let (skip, limit) = (count(query.skip), count(query.limit));
    let wanted: Vec<(TokenId, Address)> = wanted.skip(skip).take(limit).collect();
    let known = read_balances(session, id, wanted.iter().copied()).await?;
    let held = |(token_id, account): (TokenId, Address)| {
        let held = known.iter().find(|held| (held.token_id, held.account) == (token_id, account));
        Balance { token_id, account, balance: held.map_or(Amount::ZERO, |held| held.balance) }
    };
    Ok(wanted.into_iter().map(held).collect())
}

async fn all(
    session: &mut Session<'_>,
    id: CollectionId,
    query: &ChangesQuery,
) -> Result<Vec<Balance>, StoreError> {
    let (token, account) = query
        .after
        .map_or_else(Default::default, |(token, account)| (token.to_string(), account.to_string()));
    let sql = "FROM balances WHERE collection_id = $1 AND (token_id, account) > ($2, $3) AND balance <> '0'
        ORDER BY token_id, account LIMIT $4 OFFSET $5";
    session.select(sql, args![id.0, token, account, query.limit, query.skip]).await
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
