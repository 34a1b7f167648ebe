//! Several servers with one store, of which whoever follows is killed or put to sleep again and again, while their clocks are hours
//! apart and are set: another one goes on within seconds, no block is followed twice, and the store ends as with one server that
//! nothing happened to.

use std::collections::{BTreeSet, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::Bytes;
use bourse_chain::{
    Books, Call, CallResults, Failure, FollowError, FollowOptions, Follower, Header, LogFilter, Node,
    Pace as _, Phase, Span, SpanLogs, Status, TimedLog, Turn,
};
use bourse_market::facts::{Block, BlockHash};
use bourse_simulation::{CHAIN, COLLECTIONS, Shared, SimPace, WorldNode, run, seeds};
use bourse_store::testing::{TestDatabase, facts_rows};
use bourse_store::{
    Blocks, BlocksCommitted, ChainState, CollectionId, CollectionKey, Followed, History, HistoryCommitted,
    LeaseHeld, LeaseHolder, LeaseSeen, Migration, Store, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};
use tokio::sync::Notify;

use crate::simulation::{Sim, options};

/// How long a server may be silent before another takes it for dead, as in the service.
const LEASE: Duration = Duration::from_secs(4);
/// How long it may take until another one follows that is awake.
const HANDOVER_MAX: Duration = Duration::from_secs(5);
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

    async fn out_of_reach(&self, ids: Vec<CollectionId>) -> Result<BTreeSet<CollectionId>, StoreError> {
        Books::out_of_reach(&*self.store, ids).await
    }

    async fn hold_lease(
        &self,
        chain: ChainId,
        holder: &LeaseHolder,
        until: Timestamp,
        ended: Option<LeaseSeen>,
    ) -> Result<LeaseHeld, StoreError> {
        let held = self.store.hold_lease(chain, holder, until, ended).await?;
        if held == LeaseHeld::Here {
            holder.name.clone_into(&mut self.done.lock().unwrap().holder);
        }
        self.fate.step().await;
        Ok(held)
    }

    async fn release_lease(&self, chain: ChainId, holder: &LeaseHolder) -> Result<(), StoreError> {
        self.store.release_lease(chain, holder).await
    }
}

/// Time, as a server has it whose clock is wrong by some seconds, and is set now and then.
struct Clock {
    pace: Arc<SimPace>,
    ahead: Arc<AtomicI64>,
}

impl bourse_chain::Pace for Clock {
    fn now(&self) -> Timestamp {
        let ahead = i128::from(self.ahead.load(Ordering::Relaxed)) * 1_000_000_000;
        Timestamp::from_unix_nanos(self.pace.now().unix_nanos() + ahead)
    }

    fn passed(&self) -> Duration {
        self.pace.passed()
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
    /// The newest schema that it knows.
    schema: i64,
    /// Seconds by which its clock is ahead.
    ahead: Arc<AtomicI64>,
    /// Since when it lives and is awake; for ever from now on where it does not.
    awake_since: Duration,
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
    gone_since: Option<Duration>,
    handovers: u32,
}

impl Servers {
    async fn new(seed: u64, database: &TestDatabase, count: u64) -> Self {
        let mut servers = Vec::new();
        for place in 0..count {
            let store = Arc::new(database.open().await.unwrap());
            let status = Status::new(CHAIN, Arc::default());
            servers.push(Server {
                place,
                lives: 0,
                name: String::new(),
                schema: Migration::newest(),
                ahead: Arc::default(),
                awake_since: Duration::MAX,
                store,
                status,
                fate: Arc::default(),
                follower: None,
                turn: None,
                sleeps: 0,
            });
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
        let (pace, awake_since) = (Arc::clone(&self.pace), self.pace.passed());
        let server = &mut self.servers[at];
        (server.lives, server.awake_since) = (server.lives + 1, awake_since);
        server.fate = Arc::new(Fate { steps_left: AtomicI64::new(steps), ..Fate::default() });
        server.name = format!("server {} in its life {}", server.place, server.lives);
        let holder = LeaseHolder { name: server.name.clone(), schema: server.schema };
        let ahead = Arc::clone(&server.ahead);
        let options = FollowOptions { lease: LEASE, holder, ..options(false) };
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
            self.servers[at].awake_since = self.pace.passed();
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
        self.servers[at].awake_since = Duration::MAX;
        if self.roll(2) == 0 {
            self.servers[at].turn = Some(turn);
            self.servers[at].sleeps = 1 + self.roll(30);
        }
        if self.holder == self.servers[at].name {
            self.gone_since.get_or_insert(self.pace.passed());
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
            // While all sleep there is nobody who could follow.
            let awake_since = self.servers.iter().map(|server| server.awake_since).min().unwrap();
            let waited = self.pace.passed().saturating_sub(since.max(awake_since));
            assert!(waited <= HANDOVER_MAX, "nobody followed for {waited:?}");
            self.handovers += 1;
        }
    }

    /// Blocks are made and taken back, and servers stop, for so many polls.
    async fn storm(&mut self, polls: u32) {
        for _ in 0..polls {
            match self.roll(20) {
                0 => self.shared.reorganise(),
                roll @ 1..=10 => self.shared.world().mine(1 + roll % 3),
                11..=13 => self.set_a_clock(),
                _ => {}
            }
            for at in 0..self.servers.len() {
                let steps = 1 + i64::try_from(self.roll(60)).unwrap();
                self.turn(at, steps).await;
            }
            self.pace.sleep(POLL).await;
        }
    }

    /// A clock that is hours wrong from now on, in either direction, or right again.
    fn set_a_clock(&self) {
        let at = usize::try_from(self.roll(self.servers.len() as u64)).unwrap();
        let direction = i64::try_from(self.roll(3)).unwrap() - 1;
        let hours = 1 + i64::try_from(self.roll(48)).unwrap();
        self.servers[at].ahead.store(direction * hours * 3_600, Ordering::Relaxed);
    }

    /// Whoever has the right to follow now, by its name.
    fn holder(&self) -> String {
        self.done.lock().unwrap().holder.clone()
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

#[test]
fn a_clock_that_is_set_moves_no_chain_from_one_server_to_another() {
    run(9, async {
        let database = TestDatabase::fresh().await.unwrap();
        let mut servers = Servers::new(9, &database, 3).await;
        servers.turn(0, i64::MAX).await;
        let first = servers.holder();
        for _ in 0..200 {
            servers.set_a_clock();
            servers.shared.world().mine(1);
            for at in 0..3 {
                servers.turn(at, i64::MAX).await;
            }
            assert_eq!(servers.holder(), first);
            servers.pace.sleep(POLL).await;
        }
        let (snapshot, head) = (servers.servers[0].status.get(), servers.shared.world().head().block);
        assert!(snapshot.checkpoint.unwrap().number + 3 >= head.number, "and holds up nothing: {snapshot:?}");
    });
}

/// As in an upgrade of one server after the other: what an older one follows lacks what newer ones keep.
#[test]
fn a_newer_server_follows_in_the_place_of_an_older_one_for_as_long_as_it_lives() {
    run(10, async {
        let database = TestDatabase::fresh().await.unwrap();
        let mut servers = Servers::new(10, &database, 2).await;
        servers.servers[0].schema -= 1;
        servers.turn(0, i64::MAX).await;
        let older = servers.holder();
        servers.turn(1, i64::MAX).await;
        let newer = servers.holder();
        assert_ne!(newer, older, "at once");
        for _ in 0..60 {
            servers.shared.world().mine(1);
            for at in 0..2 {
                servers.turn(at, i64::MAX).await;
            }
            assert_eq!(servers.holder(), newer);
            servers.pace.sleep(POLL).await;
        }
        assert_eq!(servers.servers[0].status.get().phase, Phase::Standby);
        // It is killed, and what is left follows.
        (servers.servers[1].follower, servers.servers[1].awake_since) = (None, Duration::MAX);
        servers.gone_since = Some(servers.pace.passed());
        for _ in 0..2 * HANDOVER_MAX.as_secs() {
            servers.pace.sleep(POLL).await;
            servers.turn(0, i64::MAX).await;
        }
        assert_eq!(servers.holder(), older);
    });
}
