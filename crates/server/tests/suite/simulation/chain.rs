//! The made-up chain, and a follower of it that writes into the store of the servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bourse_chain::{FollowError, FollowOptions, Follower, Status, Turn};
use bourse_simulation::{
    CHAIN, COLLECTIONS, Dice, Facts, Shared, SimPace, Weather, World, WorldNode, protocols,
};
use bourse_store::{Actor, CollectionKey, Store};
use bourse_wire::Timestamp;
use tokio::sync::Notify;

const WINDOW: u64 = 24;

pub(super) struct SimChain {
    shared: Arc<Shared>,
    follower: Option<Follower<WorldNode, Store, SimPace>>,
    pace: Arc<SimPace>,
    status: Status,
    is_asked_for: bool,
}

impl SimChain {
    pub(super) fn new(seed: u64) -> Self {
        let mut world = World::new(Dice::new(seed ^ 0xc4a1));
        world.mine(12);
        let shared = Shared {
            world: Mutex::new(world),
            weather: Mutex::new(Weather::default()),
            dice: Mutex::new(Dice::new(seed)),
            death: Notify::new(),
            window: WINDOW,
            range_max: 40,
            logs_max: 60,
            tells_times: true,
        };
        let status = Status::new(CHAIN, Arc::default());
        Self { shared: Arc::new(shared), follower: None, pace: Arc::default(), status, is_asked_for: false }
    }

    pub(super) fn mine(&self, blocks: u64) {
        self.shared.world().mine(blocks);
    }

    pub(super) fn reorganise(&self) {
        self.shared.reorganise();
    }

    /// Forgets everything that is not in the store.
    pub(super) fn restart(&mut self) {
        self.follower = None;
    }

    /// What is so on the chain.
    pub(super) fn facts(&self) -> Facts {
        self.shared.world().head().facts.clone()
    }

    /// Follows for so many turns, while so many of a thousand requests fail.
    pub(super) async fn follow(&mut self, store: &Store, turns: u32, failures: u64) {
        self.shared.weather.lock().unwrap().failure = failures;
        for _ in 0..turns {
            match self.turn(store).await {
                Ok(_) | Err(FollowError::Node(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    async fn turn(&mut self, store: &Store) -> Result<Turn, FollowError> {
        if !self.is_asked_for {
            for address in COLLECTIONS {
                let key = CollectionKey { chain: CHAIN, address };
                store.follow(key, 0, Actor::command_line(Timestamp::ZERO)).await.unwrap();
            }
            self.is_asked_for = true;
        }
        let mut follower = self.follower.take().unwrap_or_else(|| self.begin(store));
        let turn = follower.turn().await;
        self.follower = Some(follower);
        turn
    }

    fn begin(&self, store: &Store) -> Follower<WorldNode, Store, SimPace> {
        let options = FollowOptions {
            window: WINDOW,
            poll: Duration::from_millis(30),
            protocols: protocols(),
            multicall: None,
            ..FollowOptions::new(CHAIN, "simulation")
        };
        Follower::new(
            options,
            Arc::new(WorldNode(Arc::clone(&self.shared))),
            Arc::new(store.clone()),
            Arc::clone(&self.pace),
            self.status.clone(),
        )
    }

    /// Follows until it knows the newest block.
    pub(super) async fn settle(&mut self, store: &Store) {
        *self.shared.weather.lock().unwrap() = Weather::default();
        let mut last = String::new();
        for _ in 0..1000 {
            last = format!("{:?}", self.turn(store).await);
            let snapshot = self.status.get();
            let head = self.shared.world().head().block;
            if snapshot.checkpoint == Some(head) && snapshot.collections.iter().all(|one| one.live) {
                return;
            }
        }
        panic!("it does not settle: {last}");
    }
}
