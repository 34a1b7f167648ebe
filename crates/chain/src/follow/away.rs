//! Collections that live on a node of the store's cluster that is away. Their chain goes on without them, and nothing is read of
//! their history until the node is back: nobody could take it.

use std::collections::BTreeSet;

use bourse_store::{CollectionId, Followed, History, HistoryCommitted, StoreError};
use bourse_wire::Address;

use super::{Books, FollowError, FollowState, Follower};
use crate::node::Node;
use crate::pace::Pace;

/// What is out of reach, as far as that is known.
#[derive(Default)]
pub(super) struct Away {
    /// Collections that are not live and cannot be reached.
    pub(super) lost: BTreeSet<CollectionId>,
    /// Whether there was no look yet since something may have been lost.
    pub(super) is_suspected: bool,
    /// Contracts that were not followed yet when something happened to them, and could not be since.
    pub(super) missed: BTreeSet<Address>,
}

impl Away {
    /// Before anybody looked.
    pub(super) fn unknown() -> Self {
        Self { is_suspected: true, ..Self::default() }
    }

    /// Whether something may be out of reach.
    pub(super) fn is_any(&self) -> bool {
        self.is_suspected || !self.lost.is_empty()
    }
}

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// Looks which collections that are not live are out of reach.
    pub(super) async fn look_for_lost(&self, known: &mut FollowState) -> Result<(), FollowError> {
        let behind = known.followed.iter().filter(|followed| !followed.live).map(|followed| followed.id);
        let lost = match self.books.out_of_reach(behind.collect()).await {
            // Whoever cannot be asked keeps no block from being taken.
            Err(StoreError::Unavailable(_)) => {
                known.away.is_suspected = true;
                return Ok(());
            }
            lost => lost?,
        };
        let (chain, before) = (self.options.chain, known.away.lost.len());
        if before == 0 && !lost.is_empty() {
            let collections = lost.len();
            tracing::warn!(%chain, collections, "collections are on a node that is away; they are read on when it is back");
        } else if before > 0 && lost.is_empty() {
            tracing::info!(%chain, collections = before, "collections can be reached again, and are read on");
        }
        (known.away.lost, known.away.is_suspected) = (lost, false);
        Ok(())
    }

    /// Has the store take what older blocks state of a collection; nothing where that turns out to be out of reach.
    pub(super) async fn commit_history(
        &self,
        known: &mut FollowState,
        followed: &Followed,
        history: History,
    ) -> Result<Option<HistoryCommitted>, FollowError> {
        let error = match self.books.commit_history(history).await {
            Err(error @ StoreError::Unavailable(_)) => error,
            done => return Ok(Some(done?)),
        };
        self.look_for_lost(known).await?;
        if known.away.lost.contains(&followed.id) { Ok(None) } else { Err(error.into()) }
    }

    /// Follows what could not be followed when something happened to it; tells whether nothing is left of that.
    pub(super) async fn discover_missed(&self, known: &mut FollowState) -> Result<bool, FollowError> {
        for address in std::mem::take(&mut known.away.missed) {
            // Where one cannot be reached, each further one may have to be waited for.
            if known.away.missed.is_empty() {
                self.discover_one(known, address).await?;
            } else {
                known.away.missed.insert(address);
            }
        }
        Ok(known.away.missed.is_empty())
    }
}
