//! Several servers with one store, of which whoever follows is killed or put to sleep again and again: another one goes on
//! within seconds, no block is followed twice, and the store ends as with one server that nothing happened to.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::Bytes;
use bourse_chain::{
    Books, Call, CallResults, Failure, FollowError, FollowOptions, Follower, Header, LogFilter, Node,
    Pace as _, Span, SpanLogs, Status, TimedLog, Turn,
};
use bourse_market::facts::{Block, BlockHash};
use bourse_simulation::{CHAIN, COLLECTIONS, Shared, SimPace, WorldNode, run, seeds};
use bourse_store::testing::{TestDatabase, facts_rows};
use bourse_store::{
    Blocks, BlocksCommitted, ChainState, CollectionKey, Followed, History, HistoryCommitted, Store,
    StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};
use tokio::sync::Notify;

use crate::simulation::{Sim, options};

/// For how long nobody else follows after a server was killed, as in the service.
const LEASE: Duration = Duration::from_secs(5);
/// How long it may take until another one follows.
const HANDOVER_MAX: Duration = Duration::from_secs(10);
/// How often each server looks whether there is something to do.
const POLL: Duration = Duration::from_millis(500);

/// What becomes of a server: it stops after so many more steps, and does not know it.
#[derive(Default)]
struct Fate {
    steps_left: AtomicI64,
    stopped: Notify,
    resumed: Notify,
}

impl Fate {
    /// Before and after everything that others see.
    async fn step(&self) {
        if self.steps_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stopped.notify_one();
            self.resumed.notified().await;
        }
    }
}

/// The node, as a server with a fate asks it.
struct FatedNode(WorldNode, Arc<Fate>);

impl Node for FatedNode {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        self.0.chain_id().await
    }

    async fn head(&self) -> Result<Block, Failure> {
        self.1.step().await;
        self.0.head().await
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        self.0.blocks(numbers).await
    }

    async fn headers(&self, numbers: &[u64]) -> Result<Vec<Option<Header>>, Failure> {
        self.1.step().await;
        self.0.headers(numbers).await
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        // Ranges are read in tasks of their own, beside a transaction perhaps, which nobody is to sleep in.
        if matches!(span, Span::Block(_)) {
            self.1.step().await;
        }
        self.0.logs(span, filters).await
    }

    async fn receipt_logs(&self, block: BlockHash) -> Result<Vec<TimedLog>, Failure> {
        self.0.receipt_logs(block).await
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.0.call(calls, at).await
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        self.0.code(addresses).await
    }
}

/// What all servers did.
#[derive(Default)]
struct Done {
    /// Every block that anybody followed.
    followed: HashSet<BlockHash>,
    /// Who got the lease last.
    holder: String,
}

/// The store, as a server with a fate writes into it.
struct FatedBooks {
    store: Arc<Store>,
    fate: Arc<Fate>,
    done: Arc<Mutex<Done>>,
}

impl Books for FatedBooks {
    async fn chain_state(&self, chain: ChainId) -> Result<Option<ChainState>, StoreError> {
        self.store.chain_state(chain).await
    }

    async fn start_chain(&self, chain: ChainId, at: Block) -> Result<(), StoreError> {
        self.store.start_chain(chain, at).await
    }

    async fn followed(&self, chain: ChainId) -> Result<Vec<Followed>, StoreError> {
        self.store.followed(chain).await
    }

    async fn left(&self, chain: ChainId) -> Result<Vec<Address>, StoreError> {
        Books::left(&*self.store, chain).await
    }

    async fn discover(&self, key: CollectionKey, from: u64, now: Timestamp) -> Result<(), StoreError> {
        self.store.discover(key, from, now).await
    }

    async fn looked_back(&self, chain: ChainId, from: u64) -> Result<Option<u64>, StoreError> {
        self.store.looked_back(chain, from).await
    }

    async fn set_looked_back(&self, chain: ChainId, from: u64, next: u64) -> Result<(), StoreError> {
        self.store.set_looked_back(chain, from, next).await
    }

    async fn commit_blocks(&self, batch: Blocks) -> Result<BlocksCommitted, StoreError> {
        let hashes: Vec<BlockHash> = batch.blocks.iter().map(|entry| entry.block.hash).collect();
        self.fate.step().await;
        let committed = self.store.commit_blocks(batch).await?;
        if matches!(committed, BlocksCommitted::Done { .. }) {
            let mut done = self.done.lock().unwrap();
            for hash in hashes {
                assert!(done.followed.insert(hash), "block {hash} was followed twice");
            }
        }
        self.fate.step().await;
        Ok(committed)
    }

    async fn commit_history(&self, batch: History) -> Result<HistoryCommitted, StoreError> {
        self.fate.step().await;
        let committed = self.store.commit_history(batch).await;
        self.fate.step().await;
        committed
    }

    async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let is_held = self.store.hold_lease(chain, holder, now, until).await?;
        if is_held {
            holder.clone_into(&mut self.done.lock().unwrap().holder);
        }
        self.fate.step().await;
        Ok(is_held)
    }

    async fn release_lease(&self, chain: ChainId, holder: &str) -> Result<(), StoreError> {
        self.store.release_lease(chain, holder).await
    }
}

/// Time, as a server has it whose clock is not quite right.
struct Clock {
    pace: Arc<SimPace>,
    ahead: Duration,
}

impl bourse_chain::Pace for Clock {
    fn now(&self) -> Timestamp {
        let nanos = self.pace.now().unix_nanos() + i128::try_from(self.ahead.as_nanos()).unwrap();
        Timestamp::from_unix_nanos(nanos)
    }

    async fn sleep(&self, duration: Duration) {
        self.pace.sleep(duration).await;
    }
}

type Following = Follower<FatedNode, FatedBooks, Clock>;
type Turning = Pin<Box<dyn Future<Output = (Following, Result<Turn, FollowError>)>>>;

/// One server, which may be in the middle of a turn.
struct Server {
    place: u64,
    lives: u32,
    name: String,
    store: Arc<Store>,
    status: Status,
    fate: Arc<Fate>,
    follower: Option<Following>,
    turn: Option<Turning>,
    sleeps: u64,
}

/// All servers of a chain.
struct Servers {
    shared: Arc<Shared>,
    pace: Arc<SimPace>,
    servers: Vec<Server>,
    done: Arc<Mutex<Done>>,
    /// Who had the lease at the last look, and since when that one does not follow.
    holder: String,
    gone_since: Option<Timestamp>,
    handovers: u32,
}

impl Servers {
    async fn new(seed: u64, database: &TestDatabase, count: u64) -> Self {
        let mut servers = Vec::new();
        for place in 0..count {
            let store = Arc::new(database.open().await.unwrap());
            let status = Status::new(CHAIN, Arc::default());
            let fate = Arc::default();
            let (name, follower, turn) = (String::new(), None, None);
            servers.push(Server { place, lives: 0, name, store, status, fate, follower, turn, sleeps: 0 });
        }
        let shared = Sim::new(seed, Arc::clone(&servers[0].store)).shared;
        shared.world().mine(60);
        for address in COLLECTIONS {
            let key = CollectionKey { chain: CHAIN, address };
            servers[0].store.discover(key, 0, Timestamp::ZERO).await.unwrap();
        }
        let (pace, done, holder) = (Arc::default(), Arc::default(), String::new());
        Self { shared, pace, servers, done, holder, gone_since: None, handovers: 0 }
    }

    fn roll(&self, sides: u64) -> u64 {
        self.shared.dice.lock().unwrap().below(sides)
    }

    /// A follower that begins anew, under a name that nobody had before.
    fn born(&mut self, at: usize, steps: i64) -> Following {
        let (pace, ahead) = (Arc::clone(&self.pace), Duration::from_millis(800 * self.servers[at].place));
        let server = &mut self.servers[at];
        server.lives += 1;
        server.fate = Arc::new(Fate { steps_left: AtomicI64::new(steps), ..Fate::default() });
        server.name = format!("server {} in its life {}", server.place, server.lives);
        let options = FollowOptions { lease: LEASE, holder: server.name.clone(), ..options(false) };
        let books = FatedBooks {
            store: Arc::clone(&server.store),
            fate: Arc::clone(&server.fate),
            done: Arc::clone(&self.done),
        };
        let node = FatedNode(WorldNode(Arc::clone(&self.shared)), Arc::clone(&server.fate));
        Follower::new(
            options,
            Arc::new(node),
            Arc::new(books),
            Arc::new(Clock { pace, ahead }),
            server.status.clone(),
        )
    }

    /// One turn of a server, or what there is of it before it stops; whether it has nothing to do.
    async fn turn(&mut self, at: usize, steps: i64) -> bool {
        if self.servers[at].sleeps > 0 {
            self.servers[at].sleeps -= 1;
            if self.servers[at].sleeps > 0 {
                return false;
            }
            self.servers[at].fate.steps_left.store(steps, Ordering::Relaxed);
            self.servers[at].fate.resumed.notify_one();
            if self.holder == self.servers[at].name {
                self.gone_since = None;
            }
        }
        let mut turn = match (self.servers[at].turn.take(), self.servers[at].follower.take()) {
            (Some(turn), _) => turn,
            (None, follower) => {
                let mut follower = follower.unwrap_or_else(|| self.born(at, steps));
                Box::pin(async move {
                    let result = follower.turn().await;
                    (follower, result)
                })
            }
        };
        let fate = Arc::clone(&self.servers[at].fate);
        let ended = tokio::select! {
            biased;
            (follower, result) = &mut turn => {
                self.servers[at].follower = Some(follower);
                Some(result)
            }
            () = fate.stopped.notified() => None,
        };
        self.hand_over();
        match ended {
            None => self.stopped(at, turn),
            Some(Ok(turn)) => return turn == Turn::Idle,
            // Another one was faster, or the chain changed.
            Some(Err(FollowError::Node(_))) => {}
            Some(Err(error)) => panic!("{}: {error}", self.servers[at].name),
        }
        false
    }

    /// Killed, or asleep for some of the others' turns: a machine that stood still does not know it.
    fn stopped(&mut self, at: usize, turn: Turning) {
        if self.roll(2) == 0 {
            self.servers[at].turn = Some(turn);
            self.servers[at].sleeps = 1 + self.roll(30);
        }
        if self.holder == self.servers[at].name {
            self.gone_since.get_or_insert(self.pace.now());
        }
    }

    /// Looks who has the lease, and how long nobody followed when that is another one.
    fn hand_over(&mut self) {
        let holder = self.done.lock().unwrap().holder.clone();
        if holder == self.holder {
            return;
        }
        self.holder = holder;
        if let Some(since) = self.gone_since.take() {
            let nanos = u64::try_from(self.pace.now().unix_nanos() - since.unix_nanos()).unwrap();
            assert!(Duration::from_nanos(nanos) <= HANDOVER_MAX, "nobody followed for {nanos} ns");
            self.handovers += 1;
        }
    }

    /// Blocks are made and taken back, and servers stop, for so many polls.
    async fn storm(&mut self, polls: u32) {
        for _ in 0..polls {
            match self.roll(20) {
                0 => self.shared.reorganise(),
                roll @ 1..=10 => self.shared.world().mine(1 + roll % 3),
                _ => {}
            }
            for at in 0..self.servers.len() {
                let steps = 1 + i64::try_from(self.roll(60)).unwrap();
                self.turn(at, steps).await;
            }
            self.pace.sleep(POLL).await;
            // While all sleep there is nobody who could follow.
            if self.servers.iter().all(|server| server.sleeps > 0) {
                self.gone_since = self.gone_since.map(|_| self.pace.now());
            }
        }
    }

    /// Nobody stops any more, and those that sleep wake up, until everything is followed.
    async fn settle(&mut self) {
        for server in &mut self.servers {
            server.fate.steps_left.store(i64::MAX, Ordering::Relaxed);
            server.sleeps = server.sleeps.min(1);
        }
        let mut quiet = 0;
        for _ in 0..400 {
            for at in 0..self.servers.len() {
                let is_idle = self.turn(at, i64::MAX).await;
                let (snapshot, head) = (self.servers[at].status.get(), self.shared.world().head().block);
                let is_live = snapshot.collections.iter().all(|collection| collection.live);
                if is_idle && is_live && snapshot.checkpoint == Some(head) {
                    quiet += 1;
                }
            }
            self.pace.sleep(POLL).await;
            if quiet >= 4 {
                return;
            }
        }
        panic!("it does not settle: {:?}", self.servers[0].status.get());
    }
}

async fn servers_come_and_go(seed: u64, count: u64) {
    let database = TestDatabase::fresh().await.unwrap();
    let mut servers = Servers::new(seed, &database, count).await;
    servers.storm(120).await;
    servers.settle().await;
    assert!(servers.handovers >= 3, "{} hand-overs: nothing was tried", servers.handovers);
    let fresh = TestDatabase::fresh().await.unwrap();
    let mut alone = Sim::over(Arc::clone(&servers.shared), Arc::new(fresh.open().await.unwrap()));
    alone.add_all().await;
    alone.settle().await;
    let found = facts_rows(&servers.servers[0].store, CHAIN).await.unwrap();
    assert_eq!(found, facts_rows(&alone.books, CHAIN).await.unwrap());
}

/// `BOURSE_SIM_SEEDS` tries many more.
#[test]
fn whoever_follows_is_killed_again_and_again_and_another_goes_on() {
    for seed in seeds(2) {
        run(seed, servers_come_and_go(seed, 2 + seed % 2));
    }
}
