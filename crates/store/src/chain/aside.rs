//! Collections on a node of a cluster that is away, while their chain goes on.
//!
//! A collection that a block concerns and that cannot be reached is set aside: it is live no more, and the first block that it
//! lacks is noted, both on the coordinator and along with the checkpoint. Blocks that come are those of the others. Once its node
//! is back it is brought up to date like a collection that is added: its history is read from that block on, until it is live.
//! Blocks that were taken back meanwhile are undone first. They are known by themselves: what is kept to undo blocks that are yet
//! to be read is there for no other reason. A collection that no block concerns stays live, and lacks nothing.
//!
//! What blocks state of no collection in particular (that a maker revoked orders, or that an order was cancelled) concerns
//! whoever has such orders, which only the node of a collection knows: so it concerns every collection that is out of reach.
//!
//! Whoever is told what happens in a collection is told in its own order, and so belatedly: its activities are numbered for itself.
//! Signed orders on a collection that is not live are not asked about; they wait in the queue, which is on its node, until it is
//! live. The queue and the offers of makers are read of all nodes at once, so that nobody is asked about either while one is away.

use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

use bourse_wire::{Address, ChainId};

use super::{BlockFacts, Blocks, BlocksCommitted, Followed};
use crate::args::{Arg, args};
use crate::collections::{CollectionId, CollectionKey};
use crate::columns::selection;
use crate::session::{Session, list};
use crate::versions::{IDS_PER_READ, NODES_TIMEOUT};
use crate::{Pending, Store, StoreError};

selection! {
    /// How far a collection is that is not live.
    struct Behind {
        id: CollectionId = "followed.collection_id",
        next_block: u64 = "followed.next_block",
    }
}

/// Followed collections that cannot be reached, where a node of the cluster is away: also where none of them is on it, what asks all
/// nodes fails. Nothing where no node is known to be away.
pub(super) type Lost = Option<BTreeSet<CollectionId>>;

impl Store {
    /// The followed collections of all chains that wait for a node of the cluster, and the first block that each of them lacks.
    pub fn waiting(&self) -> Pending<'_, Vec<(CollectionKey, u64)>> {
        let behind = self.read(|mut session| {
            Box::pin(async move {
                let sql = "FROM followed_collections followed
                    JOIN collections ON collections.collection_id = followed.collection_id
                    WHERE followed.live = $1 ORDER BY followed.collection_id";
                let found: Vec<(CollectionKey, Behind)> = session.select(sql, args![false]).await?;
                Ok(found)
            })
        });
        Box::pin(async move {
            let behind = behind.await?;
            let lost = self.out_of_reach(behind.iter().map(|(_, behind)| behind.id).collect()).await?;
            let waiting = behind.into_iter().filter(|(_, behind)| lost.contains(&behind.id));
            Ok(waiting.map(|(key, behind)| (key, behind.next_block)).collect())
        })
    }

    /// Those of some collections that are out of reach, as the node of the cluster that they are on is away.
    pub fn out_of_reach(&self, ids: Vec<CollectionId>) -> Pending<'_, BTreeSet<CollectionId>> {
        Box::pin(async move {
            if ids.is_empty() {
                return Ok(BTreeSet::new());
            }
            Ok(self.out_of_reach_since(ids, None).await?.unwrap_or_default())
        })
    }

    /// Those of some collections that are out of reach, by a look at the nodes that began after a moment, where one is given. Nothing
    /// where every node can be reached.
    async fn out_of_reach_since(
        &self,
        ids: Vec<CollectionId>,
        moment: Option<Instant>,
    ) -> Result<Lost, StoreError> {
        if !self.may_be_distributed() {
            return Ok(None);
        }
        let workers = match moment {
            None => self.workers().await?,
            Some(moment) => self.workers_since(moment).await?,
        };
        let away = workers.iter().filter(|worker| !worker.answers);
        let away: HashSet<u64> = away.map(|worker| worker.group).collect();
        if away.is_empty() {
            return Ok(None);
        }
        let mut lost = BTreeSet::new();
        for ids in ids.chunks(IDS_PER_READ) {
            let nodes = self.nodes_of("collection_versions", ids.iter().map(|id| id.0).collect()).await?;
            let is_away = |id: &&CollectionId| nodes.get(&id.0).is_some_and(|node| away.contains(node));
            lost.extend(ids.iter().filter(is_away));
        }
        Ok(Some(lost))
    }

    /// Takes the next blocks of a chain, without what cannot be reached. Where nothing is known to be away, it is found out by
    /// what fails. A batch that was committed although it failed is refused the next time, as its checkpoint is another.
    pub(super) async fn commit_within_reach(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        if !self.is_distributed() {
            return self.commit_blocks_without(batch, None).await;
        }
        let mut lost = None;
        if self.was_one_away().await {
            lost = self.lost_to(&batch, None).await.unwrap_or_default();
        }
        loop {
            let began = Instant::now();
            let committing = self.commit_blocks_without(batch.clone(), lost.clone());
            let are_more_lost = || async {
                self.lost_to(&batch, None).await.is_ok_and(|found| is_more(found.as_ref(), &lost))
            };
            let error = match self.unless(are_more_lost, committing).await {
                Err(error @ StoreError::Unavailable(_)) => error,
                done => return done,
            };
            let found = self.lost_to(&batch, Some(began)).await.unwrap_or_default();
            if !is_more(found.as_ref(), &lost) {
                return Err(error);
            }
            lost.get_or_insert_default().extend(found.unwrap_or_default());
        }
    }

    /// The followed collections of the chain of a batch that cannot be reached.
    async fn lost_to(&self, batch: &Blocks, moment: Option<Instant>) -> Result<Lost, StoreError> {
        let followed = self.followed(batch.chain).await?;
        self.out_of_reach_since(followed.into_iter().map(|collection| collection.id).collect(), moment).await
    }

    /// Waits for something that nodes of a cluster do, however long it takes, unless a node is lost that it needs: one that is
    /// silent would be waited for as long as the system takes its connection to be alive.
    pub(super) async fn unless<T, L>(
        &self,
        is_lost: impl Fn() -> L + Send,
        mut work: Pending<'_, T>,
    ) -> Result<T, StoreError>
    where
        L: Future<Output = bool> + Send,
    {
        if !self.is_distributed() {
            return work.await;
        }
        loop {
            if let Ok(done) = tokio::time::timeout(NODES_TIMEOUT, &mut work).await {
                return done;
            }
            if is_lost().await {
                return Err(StoreError::Unavailable("a node of the cluster does not answer".into()));
            }
        }
    }
}

/// Whether more is out of reach than was known: a node, or collections.
fn is_more(found: Option<&BTreeSet<CollectionId>>, known: &Lost) -> bool {
    found.is_some_and(|found| known.as_ref().is_none_or(|known| !found.is_subset(known)))
}

/// The collections that blocks state something of.
fn stated(blocks: &[BlockFacts]) -> HashSet<Address> {
    blocks.iter().flat_map(|block| &block.facts).map(|stated| stated.collection).collect()
}

/// The live collections that are lost and that these blocks concern: those of which they state something, and all where blocks
/// are taken back, as only their node knows whether those concerned them.
pub(super) fn concerned(
    live: &[Followed],
    blocks: &[BlockFacts],
    is_rewind: bool,
    lost: &Lost,
) -> BTreeSet<CollectionId> {
    let Some(lost) = lost.as_ref().filter(|lost| !lost.is_empty()) else { return BTreeSet::new() };
    let stated = stated(blocks);
    let is_concerned = |collection: &&Followed| is_rewind || stated.contains(&collection.key.address);
    let concerned = live.iter().filter(is_concerned).map(|collection| collection.id);
    concerned.filter(|id| lost.contains(id)).collect()
}

/// Sets live collections aside: they are read from a block on.
pub(super) async fn set_aside(
    session: &mut Session<'_>,
    ids: &BTreeSet<CollectionId>,
    next: u64,
) -> Result<(), StoreError> {
    let ids: Vec<CollectionId> = ids.iter().copied().collect();
    for ids in ids.chunks(IDS_PER_READ) {
        let sql = format!(
            "UPDATE followed_collections SET next_block = $1, live = $2 WHERE collection_id IN ({})",
            list(ids.len(), 2)
        );
        let args = args![next, false].into_iter().chain(ids.iter().map(|id| Arg::from(id.0))).collect();
        session.execute(sql, args).await?;
    }
    Ok(())
}

/// Which followed collections can be asked about.
pub(super) enum Reach {
    /// All.
    All,
    /// Only these.
    Of(Vec<CollectionId>),
}

/// A condition that follows on others, and its arguments.
pub(super) struct Within {
    pub(super) sql: String,
    pub(super) args: Vec<Arg>,
}

impl Reach {
    /// All followed collections of a chain but those that are lost: one by one where a node is away, as to ask for all of them asks it
    /// as well.
    pub(super) async fn without(
        session: &mut Session<'_>,
        chain: ChainId,
        lost: &Lost,
    ) -> Result<Self, StoreError> {
        let Some(lost) = lost else { return Ok(Self::All) };
        let sql = "SELECT collection_id FROM followed_collections WHERE chain_id = $1 ORDER BY collection_id";
        let followed = session.values::<u64>(sql, args![chain]).await?.into_iter().map(CollectionId);
        Ok(Self::Of(followed.filter(|id| !lost.contains(id)).collect()))
    }

    /// The conditions by which these are asked about one after the other, behind so many arguments. A statement takes only so
    /// many.
    pub(super) fn parts(&self, arguments: usize) -> Vec<Within> {
        let Self::Of(ids) = self else { return vec![Within { sql: String::new(), args: Vec::new() }] };
        let part = |ids: &[CollectionId]| Within {
            sql: format!("AND collection_id IN ({})", list(ids.len(), arguments)),
            args: ids.iter().map(|id| Arg::from(id.0)).collect(),
        };
        ids.chunks(IDS_PER_READ).map(part).collect()
    }
}
