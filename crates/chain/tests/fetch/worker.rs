//! A store, a contract and a worker between them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use alloy_primitives::U256;
use alloy_sol_types::SolValue as _;
use bourse_chain::fetch::{CallFailed, Caller, ContractCall, FetchSettings, Fetcher, Gateways, Pace, Rules};
use bourse_store::testing::{TestDatabase, batch, enqueue_metadata};
use bourse_store::{Actor, Change, CollectionKey, Due, ProjectScope, Queued, Store};
use bourse_wire::{Address, ChainId, MetadataStatus, Timestamp, TokenId, TokenMetadata};
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::web::{EveryNameIsHere, Server};

/// How long something may take that must come to be: only a test that would wait forever ends by it.
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(2);
pub(crate) const CHAIN: ChainId = ChainId(137);

pub(crate) fn contract() -> CollectionKey {
    CollectionKey { chain: CHAIN, address: Address::from_bytes([7; 20]) }
}

pub(crate) fn name_of() -> &'static str {
    "Relics"
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap())
}

/// The machine's clock, which a test can put forward.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn now(&self) -> Timestamp {
        let ahead = i128::from(self.0.load(Ordering::Relaxed));
        Timestamp::from_unix_nanos(now().unix_nanos() + ahead)
    }
}

/// The contract: says where its tokens are, unless it is told to fail.
#[derive(Default)]
struct Contract {
    links: HashMap<TokenId, String>,
    own_link: String,
    failing: Option<CallFailed>,
    calls: usize,
}

#[derive(Clone, Default)]
struct Node(Arc<Mutex<Contract>>);

impl Caller for Node {
    fn call(&self, calls: Vec<ContractCall>) -> BoxFuture<'_, Vec<Result<Vec<u8>, CallFailed>>> {
        let answers = calls.iter().map(|call| self.answer(&call.data)).collect();
        Box::pin(async { answers })
    }

    fn code(&self, _: Address) -> BoxFuture<'_, Result<Vec<u8>, CallFailed>> {
        let failing = self.0.lock().unwrap().failing.clone();
        Box::pin(async { failing.map_or(Ok(CODE.to_vec()), Err) })
    }
}

/// The code of every contract.
pub(crate) const CODE: [u8; 3] = [0x60, 0x80, 0x40];

impl Node {
    fn answer(&self, data: &[u8]) -> Result<Vec<u8>, CallFailed> {
        let mut contract = self.0.lock().unwrap();
        contract.calls += 1;
        if let Some(failing) = &contract.failing {
            return Err(failing.clone());
        }
        let text = |text: &str| Ok(text.to_owned().abi_encode());
        match data[..4] {
            [0xc8, 0x7b, 0x56, 0xdd] => {
                let token = TokenId::from(U256::from_be_slice(&data[4..]));
                contract.links.get(&token).map_or(Err(CallFailed::Reverted), |link| text(link))
            }
            [0x06, 0xfd, 0xde, 0x03] => text(name_of()),
            [0x95, 0xd8, 0x9b, 0x41] => text("RLC"),
            [0xe8, 0xa3, 0xd4, 0x85] => text(&contract.own_link),
            [0x8d, 0xa5, 0xcb, 0x5b] => Ok(alloy_primitives::Address::from([8; 20]).abi_encode()),
            [0x01, 0xff, 0xc9, 0xa7] => Ok((data[4] == 0x80).abi_encode()),
            _ => Err(CallFailed::Reverted),
        }
    }
}

pub(crate) struct World {
    pub(crate) store: Store,
    _database: TestDatabase,
    node: Node,
    clock: Clock,
    pub(crate) settings: FetchSettings,
}

/// A worker at work.
pub(crate) struct Worker {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Worker {
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }

    /// As if the machine had lost its power: nothing is given back.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

impl World {
    pub(crate) fn pace() -> Pace {
        Pace {
            concurrent_max: 8,
            per_host_max: 4,
            attempts_max: 3,
            retry_min: Duration::from_millis(30),
            retry_max: Duration::from_millis(200),
            given_up_retry: Duration::from_hours(1),
            lease: Duration::from_mins(5),
            poll: Duration::from_millis(20),
        }
    }

    pub(crate) async fn new(hosts: &[(&str, &Server)]) -> Self {
        Self::with_pace(hosts, Self::pace()).await
    }

    /// Hosts with names; `one.example` and `two.example` are gateways to IPFS, `ar.example` to Arweave.
    pub(crate) async fn with_pace(hosts: &[(&str, &Server)], pace: Pace) -> Self {
        let database = TestDatabase::fresh().await.unwrap();
        let url = |name: &str, path: &str| {
            let server = hosts.iter().find(|(host, _)| *host == name).map(|(_, server)| server);
            server.map(|server| format!("http://{name}:{}{path}", server.port).parse().unwrap())
        };
        let settings = FetchSettings {
            gateways: Gateways {
                ipfs: [url("one.example", "/ipfs/"), url("two.example", "/ipfs/")]
                    .into_iter()
                    .flatten()
                    .collect(),
                arweave: url("ar.example", "/").into_iter().collect(),
            },
            rules: Rules {
                plain_http: true,
                accept: "application/json, */*;q=0.5",
                allowed_hosts: hosts.iter().map(|(name, server)| format!("{name}:{}", server.port)).collect(),
                body_bytes_max: 1_000_000,
                // Longer than any machine needs for an answer that comes.
                timeout: Duration::from_mins(1),
                connect_timeout: Duration::from_mins(1),
            },
            pace,
        };
        let store = database.open().await.unwrap();
        Self { store, _database: database, node: Node::default(), clock: Clock::default(), settings }
    }

    pub(crate) fn links(&self, tokens: impl IntoIterator<Item = u64>, link: impl Fn(u64) -> String) {
        let links = tokens.into_iter().map(|id| (TokenId::from(id), link(id)));
        self.node.0.lock().unwrap().links.extend(links);
    }

    pub(crate) fn contract_link(&self, link: &str) {
        link.clone_into(&mut self.node.0.lock().unwrap().own_link);
    }

    pub(crate) fn fail_calls(&self, failing: Option<CallFailed>) {
        self.node.0.lock().unwrap().failing = failing;
    }

    /// Lets time pass for the workers.
    pub(crate) fn pass(&self, time: Duration) {
        self.clock.0.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> usize {
        self.node.0.lock().unwrap().calls
    }

    /// Tokens from 1 on that are not there yet, all in the queue.
    pub(crate) async fn mint(&self, count: u64) {
        let known: Vec<TokenId> = match self.store.collection(contract()).await.unwrap() {
            Some(_) => self.tokens().await.iter().map(|token| token.token_id).collect(),
            None => Vec::new(),
        };
        let new: Vec<TokenId> = (1..=count).map(TokenId::from).filter(|id| !known.contains(id)).collect();
        let change = |token_id: TokenId| {
            let status = Some(MetadataStatus::NotAvailable);
            let token = TokenMetadata { token_id, status, ..TokenMetadata::default() };
            Change::Token { token_id, metadata: token.to_json().unwrap() }
        };
        let changes = new.iter().copied().map(change).collect();
        self.store.commit(batch(contract(), changes)).await.unwrap();
        let new = new.into_iter().map(Some).collect();
        enqueue_metadata(&self.store, contract(), new, now()).await.unwrap();
    }

    pub(crate) async fn project(&self) -> ProjectScope {
        let project =
            self.store.create_project("p".parse().unwrap(), Actor::command_line(now())).await.unwrap();
        ProjectScope::of_operator(project.id)
    }

    /// Starts a worker, as `bourse serve` does.
    pub(crate) fn start(&self) -> Worker {
        let callers = HashMap::from([(CHAIN, Arc::new(self.node.clone()) as Arc<dyn Caller>)]);
        let lookup = Arc::new(EveryNameIsHere::default());
        let (settings, clock) = (self.settings.clone(), self.clock.clone());
        let clock = Arc::new(move || clock.now());
        let fetcher = Fetcher::new(self.store.clone(), callers, lookup, settings, clock).unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(fetcher.run(async { drop(stopped.await) }));
        Worker { stop, task }
    }

    pub(crate) async fn tokens(&self) -> Vec<TokenMetadata> {
        let id = self.store.collection(contract()).await.unwrap().unwrap();
        let all = bourse_store::testing::load_all(&self.store, id).await.unwrap();
        let mut tokens: Vec<TokenMetadata> =
            all.tokens.iter().map(|token| serde_json::from_str(&token.metadata).unwrap()).collect();
        tokens.sort_by_key(|token| token.token_id);
        tokens
    }

    /// What could be taken now. It stays where it is.
    pub(crate) async fn queue(&self, now: Timestamp) -> Vec<Queued> {
        let due = Due { chains: vec![CHAIN], busy_hosts: Vec::new(), limit: 10_000, now, until: now };
        self.store.take_due(due).await.unwrap()
    }

    /// Waits until so many tokens are so.
    pub(crate) async fn wait_until(&self, count: usize, is_so: impl Fn(&TokenMetadata) -> bool) {
        let began = Instant::now();
        loop {
            let found = self.tokens().await.iter().filter(|token| is_so(token)).count();
            if found >= count {
                return;
            }
            assert!(began.elapsed() < WAIT_MAX, "{found} of {count}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
