//! The nodes of configured networks: whom contracts are asked through, and who follows their chains.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256};
use bourse_chain::rpc::{
    HttpNode, HttpOptions, NodeUrl, Pool, PoolOptions, SocketUrl, SocketUrlError, Subscription,
    SubscriptionOptions,
};
use bourse_chain::{
    Call, Caller, Failure, FollowOptions, Follower, HeldReport, Node as _, OfferOptions, OfferWatch, Offers,
    Played, RealPace, Receipt, Rehearsal, Reverted, RoyaltyWatch, Snapshot, Standings, Status, Unplayed,
    Word, compare_held, fetch,
};
use bourse_market::facts::Block;
use bourse_protocols::native::Inquiry;
use bourse_protocols::venues::{Registry, Venue};
use bourse_store::{HeldSample, Store};
use bourse_wire::{Address, ChainId};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use secrecy::ExposeSecret as _;
use tokio::sync::watch;

use super::{Chains, Unanswered};
use crate::clock::Clock;
use crate::entropy;
use crate::settings::{Network, Networks};

/// For how long whoever follows may be silent before another takes it for dead: with the time between two looks, that is within
/// five seconds. Two that follow at once only get in each other's way.
const LEASE: Duration = Duration::from_secs(4);

/// The nodes of one network behind one name.
pub(crate) type ChainNode = Pool<HttpNode, RealPace>;

/// Every network that has nodes.
#[derive(Default)]
pub struct Nodes(BTreeMap<ChainId, Arc<NetworkNodes>>);

/// The nodes of one network.
pub struct NetworkNodes {
    network: Network,
    venues: Vec<Arc<Venue>>,
    node: Arc<ChainNode>,
    caller: Caller,
    status: Status,
    /// Where new blocks are told of, and to whom.
    sockets: Vec<SocketUrl>,
    word: watch::Sender<Word>,
}

/// A network whose nodes cannot be asked.
#[derive(Debug, thiserror::Error)]
#[error("the nodes of networks.{network}: {reason}")]
pub struct NodesError {
    network: String,
    reason: String,
}

impl Nodes {
    /// The nodes that the settings name. None is asked anything yet.
    pub fn open(networks: &Networks, registry: &Registry, clock: &Clock) -> Result<Self, NodesError> {
        let with_nodes = networks.iter().filter(|network| !network.rpc_urls.is_empty());
        let opened = with_nodes.map(|network| {
            let nodes = NetworkNodes::open(network, registry, clock)
                .map_err(|reason| NodesError { network: network.name.clone(), reason })?;
            Ok((ChainId(network.id), Arc::new(nodes)))
        });
        opened.collect::<Result<_, _>>().map(Self)
    }

    /// Whether no network has nodes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every network that has nodes, by chain id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<NetworkNodes>> {
        self.0.values()
    }

    /// The nodes of a chain.
    pub fn get(&self, chain: ChainId) -> Option<&Arc<NetworkNodes>> {
        self.0.get(&chain)
    }
}

impl NetworkNodes {
    fn open(network: &Network, registry: &Registry, clock: &Clock) -> Result<Self, String> {
        let requests = Arc::new(AtomicU64::new(0));
        let options = HttpOptions { timeout: network.following.rpc_timeout, ..HttpOptions::default() };
        let nodes = network.rpc_urls.iter().map(|url| {
            let url: NodeUrl = url.expose_secret().parse().map_err(|error| format!("{error}"))?;
            let label = url.to_string();
            let node = HttpNode::new(url, options, Arc::clone(&requests));
            Ok((label, node.map_err(|error| error.to_string())?))
        });
        let nodes = nodes.collect::<Result<Vec<_>, String>>()?;
        let sockets = network
            .ws_urls
            .iter()
            .map(|url| url.expose_secret().parse().map_err(|error: SocketUrlError| error.to_string()));
        let pool = PoolOptions {
            requests_per_second: network.following.rpc_requests_per_second,
            ..PoolOptions::default()
        };
        let chain = ChainId(network.id);
        Ok(Self {
            network: network.clone(),
            venues: registry.venues(chain).to_vec(),
            node: Arc::new(Pool::new(chain, nodes, pool, pace(clock))),
            caller: Caller::new(Some(network.following.multicall)),
            status: Status::new(chain, requests),
            sockets: sockets.collect::<Result<_, _>>()?,
            word: watch::Sender::default(),
        })
    }

    /// The network's name.
    pub fn name(&self) -> &str {
        &self.network.name
    }

    /// The network's chain.
    pub fn chain(&self) -> ChainId {
        ChainId(self.network.id)
    }

    /// How following it goes in this process.
    pub fn status(&self) -> Snapshot {
        Snapshot { nodes: self.node.troubles(), ..self.status.get() }
    }

    /// The newest block.
    pub async fn head(&self) -> Result<Block, String> {
        self.node.head().await.map_err(|error| error.to_string())
    }

    /// Asks a contract whether what was followed of who holds its tokens is so.
    pub async fn compare_held(&self, collection: Address, sample: &HeldSample) -> Result<HeldReport, String> {
        compare_held(&*self.node, &self.caller, collection, sample).await.map_err(|error| error.to_string())
    }

    /// Looks at signed orders, royalties and the funds behind offers, beside the follower, until whoever waits for this stops waiting.
    pub(crate) fn watch_offers(&self, store: &Store, clock: &Clock) -> impl Future<Output = ()> + use<> {
        let watch = OfferWatch {
            node: Arc::clone(&self.node),
            store: Arc::new(store.clone()),
            pace: Arc::new(pace(clock)),
            standings: Standings::new(self.calls(), self.venues.clone()),
            royalties: RoyaltyWatch::new(self.calls(), self.network.following.royalties_interval),
            status: self.status.clone(),
            interval: self.network.following.poll,
        };
        watch.run(Offers::new(self.calls(), OfferOptions::default()))
    }

    /// Whether a node can be subscribed to that is to tell of new blocks; nothing where none is.
    pub async fn try_subscription(&self, clock: &Clock) -> Option<Result<(), String>> {
        Some(self.subscription(clock)?.try_out().await)
    }

    /// Listens to what nodes tell of new blocks; nothing where none is to tell.
    pub(crate) fn subscription(&self, clock: &Clock) -> Option<Subscription<RealPace>> {
        let timeout = self.network.following.rpc_timeout;
        (!self.sockets.is_empty()).then(|| Subscription {
            chain: self.chain(),
            urls: self.sockets.clone(),
            options: SubscriptionOptions { timeout, ..SubscriptionOptions::default() },
            pace: pace(clock),
            status: self.status.clone(),
            word: self.word.clone(),
            chance: entropy::bytes,
        })
    }

    /// Another way to ask contracts.
    fn calls(&self) -> Caller {
        Caller::new(Some(self.network.following.multicall))
    }

    /// Whoever follows the chain into a store.
    pub(crate) fn follower(&self, store: &Store, clock: &Clock) -> Follower<ChainNode, Store, RealPace> {
        let options = FollowOptions {
            window: self.network.following.reorg_window_blocks,
            poll: self.network.following.poll,
            protocols: self.venues.iter().flat_map(|venue| venue.protocols()).cloned().collect(),
            lease: LEASE,
            discover_from: self.network.following.discover_from,
            multicall: Some(self.network.following.multicall),
            ..FollowOptions::new(self.chain(), entropy::word())
        };
        let (node, books) = (Arc::clone(&self.node), Arc::new(store.clone()));
        let follower = Follower::new(options, node, books, Arc::new(pace(clock)), self.status.clone());
        follower.hearing(self.word.subscribe())
    }
}

fn pace(clock: &Clock) -> RealPace {
    let clock = clock.clone();
    RealPace::new(move || clock.now())
}

impl fetch::Caller for NetworkNodes {
    fn call(
        &self,
        calls: Vec<fetch::ContractCall>,
    ) -> BoxFuture<'_, Vec<Result<Vec<u8>, fetch::CallFailed>>> {
        async move {
            let calls: Vec<Call> =
                calls.into_iter().map(|call| Call::new(call.to, call.data.into())).collect();
            match self.caller.call(&*self.node, &calls, None).await {
                Ok(answers) => {
                    let answer = |answer: Result<Bytes, Reverted>| {
                        answer.map(Vec::from).map_err(|Reverted| fetch::CallFailed::Reverted)
                    };
                    answers.into_iter().map(answer).collect()
                }
                Err(error) => {
                    vec![Err(fetch::CallFailed::Unreachable(error.to_string())); calls.len()]
                }
            }
        }
        .boxed()
    }

    fn code(&self, contract: Address) -> BoxFuture<'_, Result<Vec<u8>, fetch::CallFailed>> {
        async move {
            let codes = self.node.code(&[contract]).await;
            let codes = codes.map_err(|error| fetch::CallFailed::Unreachable(error.to_string()))?;
            Ok(codes.into_iter().next().map(Vec::from).unwrap_or_default())
        }
        .boxed()
    }
}

impl Chains for Nodes {
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>> {
        async move {
            let nodes = self.get(chain)?;
            let calls: Vec<Call> = asked.into_iter().map(Call::from).collect();
            match nodes.caller.call(&*nodes.node, &calls, None).await {
                Ok(answers) => Some(answers.into_iter().map(Result::ok).collect()),
                Err(error) => {
                    tracing::warn!(%chain, %error, "contracts could not be asked");
                    None
                }
            }
        }
        .boxed()
    }

    fn play(
        &self,
        chain: ChainId,
        rehearsal: Rehearsal,
        patience: Duration,
    ) -> BoxFuture<'_, Result<Played, Unplayed>> {
        async move {
            let nodes = self.get(chain).ok_or(Unplayed::NoNode)?;
            if !nodes.network.simulating.is_on {
                return Err(Unplayed::Off);
            }
            // Only the server that follows the chain has a status; the others go by what is stored.
            let followed = nodes.status.get().checkpoint.map(|checkpoint| checkpoint.number);
            let known = rehearsal.known.max(followed);
            let patience = patience.min(nodes.network.simulating.timeout);
            nodes.node.play(&Rehearsal { known, ..rehearsal }, patience).await
        }
        .boxed()
    }

    fn funds(&self, chain: ChainId, accounts: Vec<Address>) -> BoxFuture<'_, Result<Vec<U256>, Unanswered>> {
        async move {
            let nodes = self.get(chain).ok_or(Unanswered::NoNode)?;
            nodes.node.funds(&accounts).await.map_err(|error| silent(chain, &error))
        }
        .boxed()
    }

    fn head(&self, chain: ChainId) -> BoxFuture<'_, Result<u64, Unanswered>> {
        async move {
            let nodes = self.get(chain).ok_or(Unanswered::NoNode)?;
            let head = nodes.node.head().await.map_err(|error| silent(chain, &error))?;
            Ok(head.number)
        }
        .boxed()
    }

    fn receipt(
        &self,
        chain: ChainId,
        transaction: B256,
    ) -> BoxFuture<'_, Result<Option<Receipt>, Unanswered>> {
        async move {
            let nodes = self.get(chain).ok_or(Unanswered::NoNode)?;
            nodes.node.receipt(transaction).await.map_err(|error| silent(chain, &error))
        }
        .boxed()
    }
}

/// Notes why a node said nothing; nobody else is told.
fn silent(chain: ChainId, error: &Failure) -> Unanswered {
    tracing::warn!(%chain, %error, "nodes could not be asked");
    Unanswered::Silent
}
