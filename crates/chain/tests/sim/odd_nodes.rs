//! Nodes that lie, lack, lag, or say nothing that fits together. The store ends as with a good node, or following stands and
//! what is told of it names the node; it is never silently wrong.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bourse_chain::rpc::{Pool, PoolOptions};
use bourse_chain::{FollowError, Follower, Pace as _, Status, Turn};
use bourse_simulation::{CHAIN, COLLECTIONS, OddNode, Oddity, Shared, SimPace, run, seeds};
use bourse_store::testing::{TestDatabase, facts_rows};
use bourse_store::{CollectionKey, Store};
use bourse_wire::Timestamp;

use crate::simulation::{Sim, options};

type OddPool = Pool<OddNode, Arc<SimPace>>;

/// After so many turns in which following did not arrive it stands.
const STANDING: u32 = 20;

/// A follower of a chain through odd nodes.
struct Campaign {
    shared: Arc<Shared>,
    store: Arc<Store>,
    pool: Arc<OddPool>,
    pace: Arc<SimPace>,
    follower: Follower<OddPool, Store, Arc<SimPace>>,
    status: Status,
    /// What is odd about each node, to be set right.
    oddities: Vec<Arc<Mutex<Oddity>>>,
    /// What was told of the last failure, as a follower that runs puts it into its status.
    told: String,
}

impl Campaign {
    /// A chain of some blocks, and nodes of it that are called by their places.
    async fn new(seed: u64, database: &TestDatabase, oddities: &[Oddity]) -> Self {
        let store = Arc::new(database.open().await.unwrap());
        let shared = Sim::new(seed, Arc::clone(&store)).shared;
        shared.world().mine(60);
        let pace = Arc::new(SimPace::default());
        let oddities: Vec<Arc<Mutex<Oddity>>> =
            oddities.iter().map(|oddity| Arc::new(Mutex::new(*oddity))).collect();
        let node = |(place, oddity): (u32, &Arc<Mutex<Oddity>>)| {
            (format!("node {place}"), OddNode::new(Arc::clone(&shared), Arc::clone(oddity)))
        };
        let nodes = (1..).zip(&oddities).map(node).collect();
        let pool = Arc::new(Pool::new(CHAIN, nodes, PoolOptions::default(), Arc::clone(&pace)));
        let status = Status::new(CHAIN, Arc::default());
        for address in COLLECTIONS {
            store.discover(CollectionKey { chain: CHAIN, address }, 0, Timestamp::ZERO).await.unwrap();
        }
        let (books, timing) = (Arc::clone(&store), Arc::new(Arc::clone(&pace)));
        let follower = Follower::new(options(false), Arc::clone(&pool), books, timing, status.clone());
        Self { shared, store, pool, pace, follower, status, oddities, told: String::new() }
    }

    /// One turn, unless a node fails.
    async fn turn(&mut self) -> Option<Turn> {
        let turn = self.follower.turn().await;
        self.pace.sleep(Duration::from_secs(1)).await;
        match turn {
            Ok(turn) => Some(turn),
            Err(FollowError::Store(error)) => panic!("the store refused: {error}"),
            Err(FollowError::Stopped { message }) => panic!("stopped: {message}"),
            Err(FollowError::Node(failure)) => {
                self.told = failure.to_string();
                None
            }
        }
    }

    /// Blocks are made, and now and then taken back unless following may stand meanwhile, while it is followed.
    async fn storm(&mut self, is_reorganised: bool) {
        for _ in 0..60 {
            let roll = self.shared.dice.lock().unwrap().below(20);
            match roll {
                0 if is_reorganised => self.shared.reorganise(),
                1..=10 => self.shared.world().mine(1 + roll % 3),
                _ => {}
            }
            self.turn().await;
        }
    }

    /// Turns until everything is followed; whether it comes to that.
    async fn settles(&mut self) -> bool {
        self.settles_within(400).await
    }

    async fn settles_within(&mut self, turns: u32) -> bool {
        let mut quiet = 0;
        for _ in 0..turns {
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
    campaign.storm(true).await;
    let (settles, status) = (campaign.settles().await, campaign.status.get());
    assert!(settles, "{oddities:?}: {:?}, {:?}", status.last_error, campaign.pool.troubles());
    campaign.check().await;
}

/// Following stands and names the node, or gets through. Once the node is right it goes on, and nothing is lost.
async fn stands_and_goes_on(seed: u64, oddities: &[Oddity]) {
    let database = TestDatabase::fresh().await.unwrap();
    let mut campaign = Campaign::new(seed, &database, oddities).await;
    campaign.storm(false).await;
    if !campaign.settles_within(STANDING).await {
        let told = (&campaign.told, campaign.status.get().last_error);
        assert!(campaign.told.contains("node 1"), "{oddities:?}: {told:?}");
    }
    for oddity in &campaign.oddities {
        *oddity.lock().unwrap() = Oddity::None;
    }
    campaign.storm(true).await;
    assert!(campaign.settles().await, "{oddities:?}: {:?}", campaign.status.get().last_error);
    campaign.check().await;
}

#[test]
fn a_node_whose_index_lacks_logs_is_noticed_and_its_receipts_are_read() {
    for seed in seeds(2) {
        // Alone: what is asked block by block is made whole. Its history is good.
        run(seed, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let mut campaign = Campaign::new(seed, &database, &[Oddity::Forgetful { from: 61 }]).await;
            assert!(campaign.settles().await);
            campaign.storm(true).await;
            assert!(campaign.settles().await, "{:?}", campaign.status.get().last_error);
            campaign.check().await;
            let troubles = campaign.pool.troubles();
            let is_told = |message: &str| message.contains("left out logs of block");
            assert!(troubles.iter().any(|one| is_told(&one.trouble.message)), "{troubles:?}");
        });
    }
}

/// A service that was away for longer than the window asks for the logs of many blocks at once.
#[test]
fn what_an_index_lacks_is_noticed_while_many_blocks_are_caught_up_with() {
    for seed in seeds(1) {
        run(seed, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let mut campaign =
                Campaign::new(seed, &database, &[Oddity::Forgetful { from: 61 }, Oddity::None]).await;
            assert!(campaign.settles().await);
            campaign.shared.world().mine(80);
            assert!(campaign.settles().await, "{:?}", campaign.status.get().last_error);
            campaign.check().await;
        });
    }
}

/// Neither logs nor receipts: another node is asked, or following waits for the node to be right.
#[test]
fn a_node_without_logs_and_receipts_is_not_believed() {
    for seed in seeds(1) {
        run(seed, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let mut campaign = Campaign::new(seed, &database, &[Oddity::Hollow { from: 61 }]).await;
            assert!(campaign.settles().await);
            campaign.storm(false).await;
            assert!(!campaign.settles_within(STANDING).await);
            let told = &campaign.told;
            assert!(told.contains("node 1") && told.contains("by its bloom"), "{told}");
            *campaign.oddities[0].lock().unwrap() = Oddity::None;
            assert!(campaign.settles().await);
            campaign.check().await;
        });
        run(seed, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let oddities = [Oddity::Hollow { from: 61 }, Oddity::None];
            let mut campaign = Campaign::new(seed, &database, &oddities).await;
            assert!(campaign.settles().await);
            campaign.storm(true).await;
            assert!(campaign.settles().await, "{:?}", campaign.status.get().last_error);
            campaign.check().await;
        });
    }
}

#[test]
fn logs_in_disorder_twice_or_unasked_are_taken_rightly() {
    for seed in seeds(2) {
        run(seed, ends_well(seed, &[Oddity::Disordered]));
    }
}

#[test]
fn logs_of_one_place_or_of_other_blocks_are_refused() {
    for seed in seeds(1) {
        for oddity in [Oddity::Ambiguous, Oddity::Confused] {
            run(seed, ends_well(seed, &[oddity, Oddity::None]));
            run(seed, stands_and_goes_on(seed, &[oddity]));
        }
    }
}

#[test]
fn a_node_whose_answers_are_too_large_or_too_slow_is_asked_about_less() {
    for seed in seeds(1) {
        run(seed, ends_well(seed, &[Oddity::Heavy, Oddity::None]));
        run(seed, stands_and_goes_on(seed, &[Oddity::Heavy]));
    }
}

/// A single node whose blocks do not follow on each other did not take blocks back: following waits for it, and does not ask
/// anybody to read the chain anew.
#[test]
fn a_single_node_whose_blocks_do_not_link_is_named_and_waited_for() {
    for seed in seeds(2) {
        run(seed, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let mut campaign = Campaign::new(seed, &database, &[Oddity::Broken]).await;
            campaign.storm(false).await;
            assert!(!campaign.settles_within(STANDING).await);
            let status = campaign.status.get().last_error.unwrap().message;
            for told in [&campaign.told, &status] {
                assert!(told.contains("node 1") && told.contains("does not follow"), "{told}");
            }
            *campaign.oddities[0].lock().unwrap() = Oddity::None;
            campaign.storm(true).await;
            assert!(campaign.settles().await, "{:?}", campaign.status.get().last_error);
            campaign.check().await;
        });
    }
}

#[test]
fn nodes_of_which_none_is_known_to_be_right_are_named() {
    for seed in seeds(1) {
        for oddities in [
            &[Oddity::Lying { from: 75 }, Oddity::None][..],
            &[Oddity::Lacking],
            &[Oddity::Empty],
            &[Oddity::Silent],
            &[Oddity::Lacking, Oddity::Silent],
        ] {
            run(seed, stands_and_goes_on(seed, oddities));
        }
    }
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
    for seed in seeds(1) {
        for oddity in bad {
            run(seed, ends_well(seed, &[oddity, Oddity::None]));
        }
    }
}

#[test]
fn a_node_that_lies_is_outvoted() {
    for seed in seeds(1) {
        // From the beginning, from a block that is followed later, and beside one that is bad in another way.
        for from in [0, 30, 75] {
            let lying = Oddity::Lying { from };
            run(seed, ends_well(seed, &[lying, Oddity::None, Oddity::None]));
            run(seed, ends_well(seed, &[Oddity::None, lying, Oddity::None]));
            run(seed, ends_well(seed, &[lying, Oddity::None, Oddity::Lagging { blocks: 3 }, Oddity::None]));
        }
    }
}
