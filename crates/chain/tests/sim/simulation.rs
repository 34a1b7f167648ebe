//! One simulation: a chain, a follower of it, and what happens to them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bourse_chain::{Books, FollowError, FollowOptions, Follower, Pace, Status, Turn};
use bourse_store::CollectionKey;
use bourse_wire::{Address, Timestamp};

use crate::memory_store::Faulty;
use bourse_simulation::{CHAIN, COLLECTIONS, Dice, Shared, SimPace, Weather, World, WorldNode, protocols};

/// How many blocks the follower keeps.
pub(crate) const WINDOW: u64 = 24;

/// A simulation over some store.
pub(crate) struct Sim<B> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) books: Arc<B>,
    pub(crate) discover: bool,
    pace: Arc<SimPace>,
    follower: Option<Follower<WorldNode, Faulty<B>, SimPace>>,
    pub(crate) status: Status,
    pub(crate) added: Vec<Address>,
}

impl<B: Books> Sim<B> {
    pub(crate) fn new(seed: u64, books: Arc<B>) -> Self {
        let mut dice = Dice::new(seed);
        let world = World::new(Dice::new(seed ^ 0xc4a1));
        let shared = Shared {
            world: Mutex::new(world),
            weather: Mutex::new(Weather::default()),
            death: tokio::sync::Notify::new(),
            window: WINDOW,
            range_max: 1 + dice.below(60),
            logs_max: 5 + usize::try_from(dice.below(60)).unwrap(),
            tells_times: dice.happens(500),
            dice: Mutex::new(dice),
        };
        Self::over(Arc::new(shared), books)
    }

    /// Another follower, with a store of its own, of a chain that is there.
    pub(crate) fn over(shared: Arc<Shared>, books: Arc<B>) -> Self {
        let status = Status::new(CHAIN, Arc::default());
        let pace = Arc::new(SimPace::default());
        Self { shared, books, discover: false, pace, follower: None, status, added: Vec::new() }
    }

    pub(crate) fn set(&self, weather: Weather) {
        *self.shared.weather.lock().unwrap() = weather;
    }

    pub(crate) async fn add(&mut self, address: Address) {
        self.books.discover(CollectionKey { chain: CHAIN, address }, 0, Timestamp::ZERO).await.unwrap();
        self.added.push(address);
    }

    pub(crate) async fn add_all(&mut self) {
        for address in COLLECTIONS {
            self.add(address).await;
        }
    }

    fn follower(&self) -> Follower<WorldNode, Faulty<B>, SimPace> {
        let books = Faulty { books: Arc::clone(&self.books), shared: Arc::clone(&self.shared) };
        Follower::new(
            options(self.discover),
            Arc::new(WorldNode(Arc::clone(&self.shared))),
            Arc::new(books),
            Arc::clone(&self.pace),
            self.status.clone(),
        )
    }

    /// Forgets everything that is not in the store.
    pub(crate) fn restart(&mut self) {
        self.follower = None;
    }

    /// One turn, or as much of it as the process lives.
    pub(crate) async fn turn(&mut self) -> Result<Turn, FollowError> {
        let mut follower = self.follower.take().unwrap_or_else(|| self.follower());
        let turn = tokio::select! {
            biased;
            turn = follower.turn() => turn,
            () = self.shared.death.notified() => return Ok(Turn::Busy),
        };
        self.pace.sleep(Duration::from_secs(1)).await;
        self.follower = Some(follower);
        turn
    }

    /// Turns until there is nothing left to do.
    pub(crate) async fn settle(&mut self) {
        self.set(Weather::default());
        let mut quiet = 0;
        let mut last = String::new();
        for _ in 0..3000 {
            let turn = self.turn().await;
            last = format!("{turn:?}");
            match turn {
                Ok(Turn::Idle) if self.is_done() => quiet += 1,
                Err(FollowError::Stopped { message }) => panic!("stopped: {message}"),
                Err(FollowError::Store(error)) => panic!("the store refused: {error}"),
                Ok(_) | Err(FollowError::Node(_)) => quiet = 0,
            }
            if quiet >= 4 {
                return;
            }
        }
        panic!("it does not settle: {last}, {:?}", self.status.get());
    }

    fn is_done(&self) -> bool {
        let snapshot = self.status.get();
        let head = self.shared.world().head().block;
        snapshot.checkpoint == Some(head)
            && snapshot.collections.len() >= self.added.len()
            && snapshot.collections.iter().all(|one| one.live)
    }

    /// Makes things happen, and follows, so many times.
    pub(crate) async fn storm(&mut self, steps: u32) {
        for _ in 0..steps {
            let roll = |sides| self.shared.dice.lock().unwrap().below(sides);
            match roll(20) {
                0 => self.shared.reorganise(),
                1 => self.restart(),
                2 => {
                    let absent = COLLECTIONS.iter().find(|one| !self.added.contains(one)).copied();
                    if let Some(address) = absent {
                        self.add(address).await;
                    }
                }
                3..=12 => {
                    let blocks = 1 + roll(6);
                    self.shared.world().mine(blocks);
                }
                _ => {}
            }
            match self.turn().await {
                Err(FollowError::Stopped { message }) => panic!("stopped: {message}"),
                Err(FollowError::Store(error)) if !error.to_string().contains("made up") => {
                    panic!("the store refused: {error}")
                }
                _ => {}
            }
        }
        self.add_rest().await;
    }

    async fn add_rest(&mut self) {
        for address in COLLECTIONS {
            if !self.added.contains(&address) {
                self.add(address).await;
            }
        }
    }
}

/// How chains are followed here: in small pieces, so that much happens.
pub(crate) fn options(discover: bool) -> FollowOptions {
    FollowOptions {
        window: WINDOW,
        poll: Duration::from_millis(30),
        protocols: protocols(),
        range_blocks_first: 16,
        range_blocks_max: 64,
        range_logs_max: 40,
        ranges_at_once: 3,
        collections_at_once: 2,
        live_blocks_max: 7,
        multicall: None,
        discover_from: discover.then_some(0),
        ..FollowOptions::new(CHAIN, "simulation")
    }
}

/// Weather that follows from a seed: some seeds are calm, some are not.
pub(crate) fn weather_of(seed: u64) -> Weather {
    let mut dice = Dice::new(seed ^ 0xabcd);
    let mut often = |max: u64| if dice.happens(600) { dice.below(max) } else { 0 };
    Weather {
        failure: often(120),
        block: often(80),
        reorganisation: often(40),
        behind: often(200),
        forgotten: often(700),
        confused: often(700),
        death: often(25),
        store: often(50),
    }
}
