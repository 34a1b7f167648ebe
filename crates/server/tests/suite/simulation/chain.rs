//! The made-up chain, and a follower of it that writes into the store of the servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::Bytes;
use bourse_chain::{
    Call, Caller, FollowError, FollowOptions, FollowedChain, Follower, Node as _, OfferOptions, Offers,
    OffersError, Standings, Status, Turn,
};
use bourse_protocols::native::Inquiry;
use bourse_server::Chains;
use bourse_simulation::{
    CHAIN, COLLECTIONS, Dice, Facts, Shared, SimPace, Weather, World, WorldNode, protocols, seaport,
};
use bourse_store::{Actor, CollectionKey, Store};
use bourse_wire::{ChainId, Timestamp};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::signed::SIGNED;

const WINDOW: u64 = 24;

pub(super) const CALM: Weather = Weather {
    failure: 0,
    block: 0,
    reorganisation: 0,
    behind: 0,
    forgotten: 0,
    confused: 0,
    death: 0,
    store: 0,
};
/// Requests fail, and the chain goes on and back between them.
pub(super) const ROUGH: Weather = Weather {
    failure: 150,
    block: 100,
    reorganisation: 50,
    behind: 50,
    forgotten: 300,
    confused: 100,
    ..CALM
};
/// Nobody answers.
pub(super) const DOWN: Weather = Weather { failure: 1000, ..CALM };

pub(super) struct SimChain {
    shared: Arc<Shared>,
    follower: Option<Follower<WorldNode, Store, SimPace>>,
    pace: Arc<SimPace>,
    status: Status,
    standings: Standings,
    offers: Offers,
    is_asked_for: bool,
}

/// Whom servers ask about the made-up chain.
struct SimNodes(Arc<Shared>);

impl Chains for SimNodes {
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>> {
        async move {
            let calls: Vec<Call> = asked.into_iter().filter(|_| chain == CHAIN).map(Call::from).collect();
            let answers = WorldNode(Arc::clone(&self.0)).call(&calls, None).await.ok()?;
            (chain == CHAIN).then(|| answers.into_iter().map(Result::ok).collect())
        }
        .boxed()
    }
}

fn offers() -> Offers {
    Offers::new(Caller::new(None), OfferOptions::default())
}

impl SimChain {
    pub(super) fn new(seed: u64) -> Self {
        let signed = SIGNED.iter().map(|signed| signed.order.clone()).collect();
        let mut world = World::trading(Dice::new(seed ^ 0xc4a1), signed);
        world.mine(12);
        let shared = Shared {
            world: Mutex::new(world),
            weather: Mutex::new(CALM),
            dice: Mutex::new(Dice::new(seed)),
            death: Notify::new(),
            window: WINDOW,
            range_max: 40,
            logs_max: 60,
            tells_times: true,
        };
        let status = Status::new(CHAIN, Arc::default());
        Self {
            shared: Arc::new(shared),
            follower: None,
            pace: Arc::default(),
            status,
            standings: Standings::new(Caller::new(None), vec![seaport()]),
            offers: offers(),
            is_asked_for: false,
        }
    }

    /// Whom servers ask.
    pub(super) fn nodes(&self) -> Arc<dyn Chains> {
        Arc::new(SimNodes(Arc::clone(&self.shared)))
    }

    /// How nodes are from now on.
    pub(super) fn set_weather(&self, weather: Weather) {
        *self.shared.weather.lock().unwrap() = weather;
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
        self.offers = offers();
    }

    /// Whether anybody asked for collections to be followed.
    pub(super) fn is_asked_for(&self) -> bool {
        self.is_asked_for
    }

    /// What is so on the chain.
    pub(super) fn facts(&self) -> Facts {
        self.shared.world().head().facts.clone()
    }

    /// Follows for so many turns.
    pub(super) async fn follow(&mut self, store: &Store, turns: u32, weather: Weather) {
        self.set_weather(weather);
        for _ in 0..turns {
            match self.turn(store).await {
                Ok(_) | Err(FollowError::Node(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        self.set_weather(CALM);
    }

    /// Asks what became of signed orders, and what is behind offers.
    pub(super) async fn look(&mut self, store: &Store, now: Timestamp, weather: Weather) {
        self.set_weather(weather);
        match self.look_once(store, now).await {
            Ok(()) | Err(OffersError::Node(_)) => {}
            Err(error) => panic!("{error}"),
        }
        self.set_weather(CALM);
    }

    async fn look_once(&mut self, store: &Store, now: Timestamp) -> Result<(), OffersError> {
        let node = WorldNode(Arc::clone(&self.shared));
        for payer in self.standings.look(&node, store, CHAIN).await? {
            self.offers.touch(payer);
        }
        let snapshot = self.status.get();
        let Some(block) = snapshot.checkpoint else { return Ok(()) };
        let live = snapshot.collections.iter().filter(|one| one.live).map(|one| one.address).collect();
        let at = FollowedChain { chain: CHAIN, block, reorgs: snapshot.reorgs, live };
        self.offers.look(&node, store, || Some(at.clone()), now).await.map(drop)
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
            protocols: protocols().into_iter().chain(seaport().protocols().iter().cloned()).collect(),
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

    /// Follows until it knows the newest block, and what became of all orders.
    pub(super) async fn settle(&mut self, store: &Store, now: Timestamp) {
        self.follow_to_end(store).await;
        self.look_once(store, now).await.unwrap();
        assert!(!self.offers.has_more());
    }

    async fn follow_to_end(&mut self, store: &Store) {
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
