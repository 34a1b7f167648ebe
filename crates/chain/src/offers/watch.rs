//! Looking at orders beside a follower.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bourse_market::facts::BlockHash;
use bourse_store::Store;
use bourse_wire::Address;

use super::{FollowedChain, Offers};
use crate::node::Node;
use crate::pace::Pace;
use crate::royalties::RoyaltyWatch;
use crate::standings::Standings;
use crate::status::{Phase, Snapshot, Status};

/// Nodes that keep no archive know the state of about twice as many blocks. Further behind there is nobody to ask, and
/// what they would say is of no interest.
const LAG_MAX: u64 = 64;

/// Looks at signed orders that are new, at royalties, and at the funds behind offers at each new block, beside a follower of
/// the same chain and while that one follows.
pub struct OfferWatch<N, P> {
    /// Whom to ask.
    pub node: Arc<N>,
    /// Where offers are.
    pub store: Arc<Store>,
    /// The time.
    pub pace: Arc<P>,
    /// Asks what became of signed orders.
    pub standings: Standings,
    /// Asks what goes to others out of prices.
    pub royalties: RoyaltyWatch,
    /// How the follower is doing.
    pub status: Status,
    /// How long to wait between two looks at it.
    pub interval: Duration,
}

impl<N: Node, P: Pace> OfferWatch<N, P> {
    /// Looks until whoever waits for this stops waiting.
    pub async fn run(mut self, mut offers: Offers) {
        // Where no block comes, collections may still arrive with their offers.
        let mut looked: Option<(BlockHash, HashSet<Address>)> = None;
        loop {
            self.store.until_reached().await;
            let snapshot = self.status.get();
            let at = followed(&snapshot);
            if let Some(at) = &at {
                self.settle(at, &mut offers).await;
                self.look_at_royalties(at, &mut offers).await;
            }
            match at {
                Some(at) if !is_looked_at(looked.as_ref(), &at) || offers.has_more() => {
                    let follower = || followed(&self.status.get());
                    match offers.look(&*self.node, &self.store, follower, self.pace.now()).await {
                        Ok(_) => looked = Some((at.block.hash, at.live)),
                        Err(error) => {
                            tracing::warn!(chain = %snapshot.chain, %error, "funds could not be looked at");
                        }
                    }
                }
                Some(_) => {}
                None => {
                    offers.forget();
                    self.royalties.forget();
                }
            }
            self.pace.sleep(self.interval).await;
        }
    }

    /// Asks for royalties that may be others, and has the funds behind offers looked at that cost something else.
    async fn look_at_royalties(&mut self, at: &FollowedChain, offers: &mut Offers) {
        let now = self.pace.now();
        for (collection, news) in self.status.take_royalties(at.block.number) {
            if news.has_changed {
                self.royalties.changed(collection, now);
            } else {
                self.royalties.order_made(collection, now);
            }
        }
        match self.royalties.look(&*self.node, &self.store, at, now).await {
            Ok(payers) => payers.into_iter().for_each(|payer| offers.touch(payer)),
            Err(error) => tracing::warn!(chain = %at.chain, %error, "royalties could not be asked for"),
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

/// Whether funds were looked at for these collections at this block.
fn is_looked_at(looked: Option<&(BlockHash, HashSet<Address>)>, at: &FollowedChain) -> bool {
    looked.is_some_and(|(block, live)| *block == at.block.hash && *live == at.live)
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
