//! Looking at orders beside a follower.

use std::sync::Arc;
use std::time::Duration;

use bourse_store::Store;

use super::{FollowedChain, Offers};
use crate::node::Node;
use crate::pace::Pace;
use crate::standings::Standings;
use crate::status::{Phase, Snapshot, Status};

/// Nodes that keep no archive know the state of about twice as many blocks. Further behind there is nobody to ask, and
/// what they would say is of no interest.
const LAG_MAX: u64 = 64;

/// Looks at signed orders that are new, and at the funds behind offers at each new block, beside a follower of the same chain and while that one follows.
pub struct OfferWatch<N, P> {
    /// Whom to ask.
    pub node: Arc<N>,
    /// Where offers are.
    pub store: Arc<Store>,
    /// The time.
    pub pace: Arc<P>,
    /// Asks what became of signed orders.
    pub standings: Standings,
    /// How the follower is doing.
    pub status: Status,
    /// How long to wait between two looks at it.
    pub interval: Duration,
}

impl<N: Node, P: Pace> OfferWatch<N, P> {
    /// Looks until whoever waits for this stops waiting.
    pub async fn run(self, mut offers: Offers) {
        let mut looked = None;
        loop {
            self.store.until_reached().await;
            let snapshot = self.status.get();
            let at = followed(&snapshot);
            if let Some(at) = &at {
                self.settle(at, &mut offers).await;
            }
            match at {
                Some(at) if looked != Some(at.block.hash) || offers.has_more() => {
                    let follower = || followed(&self.status.get());
                    match offers.look(&*self.node, &self.store, follower, self.pace.now()).await {
                        Ok(_) => looked = Some(at.block.hash),
                        Err(error) => {
                            tracing::warn!(chain = %snapshot.chain, %error, "funds could not be looked at");
                        }
                    }
                }
                Some(_) => {}
                None => offers.forget(),
            }
            self.pace.sleep(self.interval).await;
        }
    }

    /// Has signed orders asked about that are new, and the funds behind offers among them looked at.
    async fn settle(&self, at: &FollowedChain, offers: &mut Offers) {
        match self.standings.look(&*self.node, &self.store, at.chain).await {
            Ok(payers) => payers.into_iter().for_each(|payer| offers.touch(payer)),
            Err(error) => tracing::warn!(chain = %at.chain, %error, "signed orders could not be asked about"),
        }
    }
}

/// How far the chain is followed, when this process does it and is near its end.
fn followed(snapshot: &Snapshot) -> Option<FollowedChain> {
    let is_following = matches!(snapshot.phase, Phase::CatchingUp | Phase::Live);
    let is_near = snapshot.lag().is_some_and(|lag| lag <= LAG_MAX);
    let block = snapshot.checkpoint.filter(|_| is_following && is_near)?;
    let live = snapshot.collections.iter().filter(|collection| collection.live);
    let live = live.map(|collection| collection.address).collect();
    Some(FollowedChain { chain: snapshot.chain, block, reorgs: snapshot.reorgs, live })
}
