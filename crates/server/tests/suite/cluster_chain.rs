//! A chain with collections on several nodes of a cluster, of which one is away for a while. On a cluster only.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bourse_chain::{FollowError, FollowOptions, Follower, Pace as _, Status};
use bourse_simulation::{
    CHAIN, COLLECTIONS, Dice, Shared, SimPace, Weather, World, WorldNode, protocols, seeds,
};
use bourse_store::testing::{Fate, TestDatabase, WorkerRelays, facts_rows, on_citus, operator};
use bourse_store::{CollectionKey, Store};
use tokio::sync::Notify;

use crate::cluster::shift_node_of;
use crate::support::TestApp;

/// How many blocks may be taken back.
const WINDOW: u64 = 24;
/// Ends a test that would wait forever.
const BOUND: Duration = Duration::from_mins(2);

/// Somebody who follows the made-up chain.
struct Following {
    store: Store,
    shared: Arc<Shared>,
    pace: Arc<SimPace>,
    status: Status,
    follower: Follower<WorldNode, Store, SimPace>,
    /// Whether the store may say that it, or a part of it, cannot be reached.
    may_fail: bool,
}

impl Following {
    async fn new(store: Store, shared: &Arc<Shared>) -> Self {
        for address in COLLECTIONS {
            store.follow(CollectionKey { chain: CHAIN, address }, 0, operator()).await.unwrap();
        }
        Self::go_on(store, shared)
    }

    /// Like somebody who knows nothing but what is in the store.
    fn go_on(store: Store, shared: &Arc<Shared>) -> Self {
        let options = FollowOptions {
            window: WINDOW,
            poll: Duration::from_millis(30),
            protocols: protocols(),
            range_blocks_first: 16,
            live_blocks_max: 7,
            multicall: None,
            ..FollowOptions::new(CHAIN, "cluster")
        };
        let (pace, status) = (Arc::new(SimPace::default()), Status::new(CHAIN, Arc::default()));
        let (node, books) = (WorldNode(Arc::clone(shared)), Arc::new(store.clone()));
        let follower = Follower::new(options, Arc::new(node), books, Arc::clone(&pace), status.clone());
        Self { store, shared: Arc::clone(shared), pace, status, follower, may_fail: false }
    }

    async fn turn(&mut self) {
        match self.follower.turn().await {
            Ok(_) => {}
            Err(FollowError::Store(error)) if self.may_fail && error.is_unavailable() => {}
            // What was committed all the same is another checkpoint than the one that is known.
            Err(FollowError::Node(_)) if self.may_fail => {}
            Err(error) => panic!("{error}"),
        }
        self.pace.sleep(Duration::from_secs(1)).await;
    }

    /// Follows until it knows the newest block, and all collections if that is wanted.
    async fn come_to_head(&mut self, is_all: bool) {
        let following = async {
            loop {
                self.turn().await;
                let (snapshot, head) = (self.status.get(), self.shared.world().head().block);
                let is_there = snapshot.collections.len() == COLLECTIONS.len()
                    && (!is_all || snapshot.collections.iter().all(|one| one.live));
                if snapshot.checkpoint == Some(head) && is_there {
                    return;
                }
                // Whether a node is there is looked at once a second at most.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let done = tokio::time::timeout(BOUND, following).await;
        assert!(done.is_ok(), "{:?}", self.status.get());
    }

    /// The collections that move on with the chain, and how far the others are.
    async fn live(&self) -> (usize, Vec<u64>) {
        let followed = self.store.followed(CHAIN).await.unwrap();
        let (live, behind): (Vec<_>, Vec<_>) = followed.into_iter().partition(|one| one.live);
        (live.len(), behind.into_iter().map(|one| one.next_block).collect())
    }

    /// Whether the store has what another one has that begins now.
    async fn check(&mut self) {
        self.come_to_head(true).await;
        let fresh = TestDatabase::fresh().await.unwrap();
        let mut scratch = Self::new(fresh.open().await.unwrap(), &self.shared).await;
        scratch.come_to_head(true).await;
        let found = facts_rows(&self.store, CHAIN).await.unwrap();
        let expected = facts_rows(&scratch.store, CHAIN).await.unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
        scratch.store.close().await;
    }
}

fn made_up(seed: u64) -> Arc<Shared> {
    let mut world = World::new(Dice::new(seed ^ 0xc4a1));
    world.mine(60);
    Arc::new(Shared {
        world: Mutex::new(world),
        weather: Mutex::new(Weather::default()),
        dice: Mutex::new(Dice::new(seed)),
        death: Notify::new(),
        window: WINDOW,
        range_max: 40,
        logs_max: 60,
        tells_times: true,
    })
}

/// `later` blocks come after blocks were taken back, while the node is away.
async fn away(seed: u64, later: u64) {
    let app = TestApp::start().await;
    let shared = made_up(seed);
    let mut following = Following::new(app.store.clone(), &shared).await;
    following.come_to_head(true).await;
    let lost = CollectionKey { chain: CHAIN, address: COLLECTIONS[0] };
    let before = following.status.get().checkpoint.unwrap().number;
    shift_node_of(&app, lost, 20_000).await;
    for _ in 0..4 {
        shared.world().mine(2);
        following.come_to_head(false).await;
    }
    shared.world().reorganise(12, 14);
    following.come_to_head(false).await;
    let (live, behind) = following.live().await;
    assert!(live > 0 && !behind.is_empty(), "{live} {behind:?}");
    assert!(
        behind.iter().all(|next| *next <= before),
        "they are read again from where the chain left: {behind:?}"
    );
    let waiting: Vec<u64> = app.store.waiting().await.unwrap().into_iter().map(|(_, next)| next).collect();
    assert_eq!(waiting, behind, "whoever asks is told");
    following = Following::go_on(app.store.clone(), &shared);
    for _ in 0..later {
        shared.world().mine(1);
        following.come_to_head(false).await;
    }
    assert_eq!(following.live().await, (live, behind));
    shift_node_of(&app, lost, -20_000).await;
    following.check().await;
    // What was read belatedly can be taken back like everything else.
    shared.world().reorganise(WINDOW - 2, WINDOW);
    following.check().await;
}

#[tokio::test]
async fn blocks_go_on_without_what_is_on_a_node_that_is_away_and_it_lacks_nothing_later() {
    if !on_citus() {
        return;
    }
    for seed in seeds(2) {
        away(seed, 3 + (seed % 2) * 2 * WINDOW).await;
    }
}

/// The node has a block, and does not know that it is committed, when it goes away; then the block is taken back.
#[tokio::test]
async fn a_block_that_a_node_was_not_told_is_committed_is_taken_back_all_the_same() {
    let app = TestApp::start().await;
    let Some(workers) = WorkerRelays::of(&app.database).await.unwrap() else { return };
    let shared = made_up(5);
    let mut following = Following::new(app.store.clone(), &shared).await;
    following.come_to_head(true).await;
    following.may_fail = true;
    workers.mark("COMMIT PREPARED", Fate::GoDown);
    let going = async {
        while workers.is_marked() {
            shared.world().mine(1);
            following.turn().await;
        }
    };
    tokio::time::timeout(BOUND, going).await.unwrap();
    following.come_to_head(false).await;
    shared.world().reorganise(8, 10);
    following.come_to_head(false).await;
    let (live, behind) = following.live().await;
    assert!(live > 0 && !behind.is_empty(), "{live} {behind:?}");
    workers.come_up();
    following.check().await;
    shared.world().reorganise(WINDOW - 2, WINDOW);
    following.check().await;
}
