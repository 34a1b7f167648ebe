//! Nodes that lie, lack, lag, or say nothing that fits together, beside good ones: the store ends as with a good node alone.

use std::sync::Arc;
use std::time::Duration;

use bourse_chain::rpc::{Pool, PoolOptions};
use bourse_chain::{FollowError, Follower, Pace as _, Status, Turn};
use bourse_simulation::{CHAIN, COLLECTIONS, OddNode, Oddity, Shared, SimPace, run, seeds};
use bourse_store::testing::{TestDatabase, facts_rows};
use bourse_store::{CollectionKey, Store};
use bourse_wire::Timestamp;

use crate::simulation::{Sim, options};

type OddPool = Pool<OddNode, Arc<SimPace>>;

/// A follower of a chain through odd nodes.
struct Campaign {
    shared: Arc<Shared>,
    store: Arc<Store>,
    pool: Arc<OddPool>,
    pace: Arc<SimPace>,
    follower: Follower<OddPool, Store, Arc<SimPace>>,
    status: Status,
}

impl Campaign {
    /// A chain of some blocks, and nodes of it that are called by their places.
    async fn new(seed: u64, database: &TestDatabase, oddities: &[Oddity]) -> Self {
        let store = Arc::new(database.open().await.unwrap());
        let shared = Sim::new(seed, Arc::clone(&store)).shared;
        shared.world().mine(60);
        let pace = Arc::new(SimPace::default());
        let node = |(place, oddity): (u32, &Oddity)| {
            (format!("node {place}"), OddNode::new(Arc::clone(&shared), *oddity))
        };
        let nodes = (1..).zip(oddities).map(node).collect();
        let pool = Arc::new(Pool::new(CHAIN, nodes, PoolOptions::default(), Arc::clone(&pace)));
        let status = Status::new(CHAIN, Arc::default());
        for address in COLLECTIONS {
            store.discover(CollectionKey { chain: CHAIN, address }, 0, Timestamp::ZERO).await.unwrap();
        }
        let (books, timing) = (Arc::clone(&store), Arc::new(Arc::clone(&pace)));
        let follower = Follower::new(options(false), Arc::clone(&pool), books, timing, status.clone());
        Self { shared, store, pool, pace, follower, status }
    }

    /// One turn, unless a node fails.
    async fn turn(&mut self) -> Option<Turn> {
        let turn = self.follower.turn().await;
        self.pace.sleep(Duration::from_secs(1)).await;
        match turn {
            Ok(turn) => Some(turn),
            Err(FollowError::Store(error)) => panic!("the store refused: {error}"),
            Err(FollowError::Stopped { message }) => panic!("stopped: {message}"),
            Err(FollowError::Node(_)) => None,
        }
    }

    /// Blocks are made, and now and then taken back, while it is followed.
    async fn storm(&mut self) {
        for _ in 0..60 {
            let roll = self.shared.dice.lock().unwrap().below(20);
            match roll {
                0 => self.shared.reorganise(),
                1..=10 => self.shared.world().mine(1 + roll % 3),
                _ => {}
            }
            self.turn().await;
        }
    }

    /// Turns until everything is followed; whether it comes to that.
    async fn settles(&mut self) -> bool {
        let mut quiet = 0;
        for _ in 0..400 {
            let is_idle = self.turn().await == Some(Turn::Idle);
            let (snapshot, head) = (self.status.get(), self.shared.world().head().block);
            let is_done = is_idle
                && snapshot.checkpoint == Some(head)
                && snapshot.collections.iter().all(|collection| collection.live);
            quiet = if is_done { quiet + 1 } else { 0 };
            if quiet >= 4 {
                return true;
            }
        }
        false
    }

    /// The store holds what one that is followed through a good node holds.
    async fn check(&self) {
        let fresh = TestDatabase::fresh().await.unwrap();
        let mut good = Sim::over(Arc::clone(&self.shared), Arc::new(fresh.open().await.unwrap()));
        good.add_all().await;
        good.settle().await;
        let found = facts_rows(&self.store, CHAIN).await.unwrap();
        assert_eq!(found, facts_rows(&good.books, CHAIN).await.unwrap());
    }
}

/// The store ends as with a good node, and the odd one is named.
async fn ends_well(seed: u64, oddities: &[Oddity]) {
    let database = TestDatabase::fresh().await.unwrap();
    let mut campaign = Campaign::new(seed, &database, oddities).await;
    campaign.storm().await;
    let (settles, status) = (campaign.settles().await, campaign.status.get());
    assert!(settles, "{oddities:?}: {:?}, {:?}", status.last_error, campaign.pool.troubles());
    campaign.check().await;
}

#[test]
fn a_bad_first_node_beside_a_good_one_ends_with_the_same_store() {
    let bad = [
        Oddity::Lacking,
        Oddity::Pruned,
        Oddity::Lagging { blocks: 5 },
        Oddity::Empty,
        Oddity::Silent,
        Oddity::Broken,
        Oddity::Balanced,
    ];
    for seed in seeds(2) {
        for oddity in bad {
            run(seed, ends_well(seed, &[oddity, Oddity::None]));
        }
    }
}

#[test]
fn a_node_that_lies_is_outvoted() {
    for seed in seeds(3) {
        // From the beginning, from a block that is followed later, and beside one that is bad in another way.
        for from in [0, 30, 75] {
            let lying = Oddity::Lying { from };
            run(seed, ends_well(seed, &[lying, Oddity::None, Oddity::None]));
            run(seed, ends_well(seed, &[Oddity::None, lying, Oddity::None]));
            run(seed, ends_well(seed, &[lying, Oddity::None, Oddity::Lagging { blocks: 3 }, Oddity::None]));
        }
    }
}
