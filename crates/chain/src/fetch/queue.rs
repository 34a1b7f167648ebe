//! The worker: takes what is due from the queue, fetches it, and writes down how it went.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bourse_store::{CollectionKey, Due, Fetched, Outcome, Queued, Store, StoreError};
use bourse_wire::{ChainId, ContractInfo, ContractInfoExtensions, Timestamp, TokenId};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::ask::{self, CallFailed, Caller};
use super::get::Getter;
use super::guard::{GetError, Lookup, Rules};
use super::hosts::Hosts;
use super::link::{Gateways, Link};
use super::metadata;
use crate::pace::later;

/// Things taken from the queue for each one that is fetched at once: those whose host is busy must not keep others waiting.
const TAKEN_PER_FETCH: usize = 4;
/// Results that are written down together.
const RESULTS_AT_ONCE: usize = 64;
/// Tokens that a node is asked about at once.
const QUESTIONS_AT_ONCE: usize = 50;
/// Characters of a reason that are kept.
const REASON_CHARS_MAX: usize = 300;

/// Asks for the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How fast, and how often.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Fetches at once.
    pub concurrent_max: usize,
    /// Fetches at once from one host.
    pub per_host_max: usize,
    /// Failures after which something is left alone for long.
    pub attempts_max: u64,
    /// Time before something, or a host, that failed once is tried again; it doubles.
    pub retry_min: Duration,
    /// What it doubles up to.
    pub retry_max: Duration,
    /// Time before something is tried again that was left alone.
    pub given_up_retry: Duration,
    /// Time after which something is taken over from a worker that has not been heard of.
    pub lease: Duration,
    /// Time between two looks at an empty queue.
    pub poll: Duration,
}

/// How to fetch.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// Where the contents of IPFS and Arweave are.
    pub gateways: Gateways,
    /// What may be fetched.
    pub rules: Rules,
    /// How fast, and how often.
    pub pace: Pace,
}

/// The worker.
pub struct Fetcher {
    store: Store,
    callers: HashMap<ChainId, Arc<dyn Caller>>,
    getter: Getter,
    gateways: Gateways,
    body_bytes_max: usize,
    pace: Pace,
    clock: Clock,
    hosts: Hosts,
    permits: Semaphore,
}

/// Why something was not fetched.
enum Problem {
    /// It was tried, in vain.
    Failed { reason: String, lasting: bool, retry_after: Option<Duration> },
    /// It was not tried.
    PutOff(Timestamp),
}

impl Problem {
    fn passing(reason: impl std::fmt::Display) -> Self {
        Self::Failed { reason: reason.to_string(), lasting: false, retry_after: None }
    }

    fn lasting(reason: impl std::fmt::Display) -> Self {
        Self::Failed { reason: reason.to_string(), lasting: true, retry_after: None }
    }
}

type Results = mpsc::UnboundedSender<(Queued, Outcome)>;

impl Fetcher {
    /// A worker for the chains that somebody can ask.
    pub fn new(
        store: Store,
        callers: HashMap<ChainId, Arc<dyn Caller>>,
        lookup: Arc<dyn Lookup>,
        settings: FetchSettings,
        clock: Clock,
    ) -> Result<Self, GetError> {
        let FetchSettings { gateways, rules, pace } = settings;
        let body_bytes_max = rules.body_bytes_max;
        Ok(Self {
            getter: Getter::new(rules, lookup)?,
            hosts: Hosts::new(pace.per_host_max, pace.retry_min, pace.retry_max),
            permits: Semaphore::new(pace.concurrent_max),
            store,
            callers,
            gateways,
            body_bytes_max,
            pace,
            clock,
        })
    }

    /// Works until told to stop, and then gives back what it has taken. Killed, it gives back nothing: the leases end.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let this = Arc::new(self);
        let window = this.pace.concurrent_max.saturating_mul(TAKEN_PER_FETCH);
        let (sender, mut results) = mpsc::unbounded_channel();
        let mut taken: HashMap<(CollectionKey, Option<TokenId>), Queued> = HashMap::new();
        let mut work = JoinSet::new();
        tokio::pin!(shutdown);
        loop {
            let items = this.take(window.saturating_sub(taken.len())).await;
            taken.extend(items.iter().map(|item| ((item.collection, item.token), item.clone())));
            for (chain, items) in by_chain(items) {
                let (this, sender) = (Arc::clone(&this), sender.clone());
                work.spawn(async move { this.fetch_all(chain, items, &sender).await });
            }
            let mut ended = Vec::new();
            tokio::select! {
                () = &mut shutdown => break,
                _ = results.recv_many(&mut ended, RESULTS_AT_ONCE) => {}
                () = tokio::time::sleep(this.pace.poll) => {}
            }
            for (item, _) in &ended {
                taken.remove(&(item.collection, item.token));
            }
            this.write_down(ended).await;
            while work.try_join_next().is_some() {}
        }
        work.shutdown().await;
        let now = (this.clock)();
        let given_back = |item| (item, Outcome::PutOff { host: String::new(), again_at: now });
        this.write_down(taken.into_values().map(given_back).collect()).await;
    }

    async fn take(&self, limit: usize) -> Vec<Queued> {
        if limit == 0 || self.callers.is_empty() {
            return Vec::new();
        }
        let now = (self.clock)();
        let due = Due {
            chains: self.callers.keys().copied().collect(),
            busy_hosts: self.hosts.busy(now),
            limit: limit as u64,
            now,
            until: later(now, self.pace.lease),
        };
        self.store.take_due(due).await.unwrap_or_else(|error| {
            error.log("cannot read the queue of metadata");
            Vec::new()
        })
    }

    /// Writes down how it went, for each collection by itself.
    async fn write_down(&self, results: Vec<(Queued, Outcome)>) {
        let mut by_collection: BTreeMap<CollectionKey, Vec<(Queued, Outcome)>> = BTreeMap::new();
        for (item, outcome) in results {
            by_collection.entry(item.collection).or_default().push((item, outcome));
        }
        for results in by_collection.into_values() {
            match self.store.finish_fetches(results.clone(), (self.clock)()).await {
                Ok(_) => {}
                // One that cannot be stored does not take the others with it.
                Err(StoreError::Refused(_)) => self.write_down_one_by_one(results).await,
                Err(error) => error.log("cannot store metadata; it is fetched again later"),
            }
        }
    }

    async fn write_down_one_by_one(&self, results: Vec<(Queued, Outcome)>) {
        for (item, outcome) in results {
            let now = (self.clock)();
            let Err(error) = self.store.finish_fetches(vec![(item.clone(), outcome)], now).await else {
                continue;
            };
            let failed = self.failure(&item, "", Problem::lasting(error));
            if let Err(error) = self.store.finish_fetches(vec![(item, failed)], now).await {
                error.log("cannot store that metadata is not available");
            }
        }
    }

    /// Leaves to hosted collections what they speak for, asks for the links of all others, and fetches each.
    async fn fetch_all(&self, chain: ChainId, items: Vec<Queued>, results: &Results) {
        let Some(caller) = self.callers.get(&chain) else { return };
        let items = self.not_linked(items, results).await;
        let (tokens, contracts): (Vec<Queued>, Vec<Queued>) =
            items.into_iter().partition(|item| item.token.is_some());
        let of_tokens = tokens
            .chunks(QUESTIONS_AT_ONCE)
            .map(|tokens| self.fetch_tokens(caller.as_ref(), tokens, results));
        let of_contracts = contracts
            .iter()
            .map(|item| self.report(item, results, self.fetch_contract(caller.as_ref(), item)));
        tokio::join!(join_all(of_tokens), join_all(of_contracts));
    }

    /// Those for whose tokens no hosted collection speaks. Of the others nobody is asked.
    async fn not_linked(&self, items: Vec<Queued>, results: &Results) -> Vec<Queued> {
        let mut by_collection: BTreeMap<CollectionKey, Vec<TokenId>> = BTreeMap::new();
        for item in &items {
            if let Some(token) = item.token {
                by_collection.entry(item.collection).or_default().push(token);
            }
        }
        let mut linked = HashSet::new();
        for (collection, tokens) in by_collection {
            match self.store.said_by_links(collection, tokens).await {
                Ok(said) => linked.extend(said.into_iter().map(|token| (collection, Some(token)))),
                // What is fetched for nothing is dropped when it is stored.
                Err(error) => error.log("cannot read what hosted collections say"),
            }
        }
        let (linked, others): (Vec<Queued>, Vec<Queued>) =
            items.into_iter().partition(|item| linked.contains(&(item.collection, item.token)));
        for item in linked {
            // Nobody listens only when the worker has been told to stop.
            drop(results.send((item, Outcome::Linked)));
        }
        others
    }

    async fn fetch_tokens(&self, caller: &dyn Caller, items: &[Queued], results: &Results) {
        let tokens: Vec<(&Queued, TokenId)> =
            items.iter().filter_map(|item| item.token.map(|token| (item, token))).collect();
        let asked: Vec<_> = tokens.iter().map(|(item, token)| (item.collection.address, *token)).collect();
        let links = ask::token_links(caller, &asked).await;
        let fetches = tokens
            .into_iter()
            .zip(links)
            .map(|((item, token), link)| self.report(item, results, self.fetch_token(token, link)));
        join_all(fetches).await;
    }

    /// Fetches something and tells how it went. Whatever a body does to the code that reads it ends with that body.
    async fn report(
        &self,
        item: &Queued,
        results: &Results,
        fetch: impl Future<Output = (String, Result<Fetched, Problem>)>,
    ) {
        let caught = AssertUnwindSafe(fetch).catch_unwind().await;
        let (host, fetched) = caught.unwrap_or_else(|_| {
            (String::new(), Err(Problem::lasting("reading it failed; the log says more")))
        });
        let outcome = match fetched {
            Ok(fetched) => Outcome::Fetched(fetched),
            Err(problem) => self.failure(item, &host, problem),
        };
        // Nobody listens only when the worker has been told to stop.
        drop(results.send((item.clone(), outcome)));
    }

    /// What follows from a failure.
    fn failure(&self, item: &Queued, host: &str, problem: Problem) -> Outcome {
        let (now, host) = ((self.clock)(), host.to_owned());
        match problem {
            Problem::PutOff(again_at) => Outcome::PutOff { host, again_at },
            Problem::Failed { reason, lasting, retry_after } => {
                let given_up = lasting || item.attempts + 1 >= self.pace.attempts_max;
                let wait = if given_up {
                    self.pace.given_up_retry
                } else {
                    self.pace.backoff(item).max(retry_after.unwrap_or_default())
                };
                let reason = reason.chars().take(REASON_CHARS_MAX).collect();
                Outcome::Failed { reason, host, again_at: later(now, wait), given_up }
            }
        }
    }

    async fn fetch_token(
        &self,
        token: TokenId,
        link: Result<String, CallFailed>,
    ) -> (String, Result<Fetched, Problem>) {
        let link = match link
            .map_err(|failed| self.not_asked(&failed))
            .and_then(|text| Link::read(&text, Some(token), self.body_bytes_max).map_err(Problem::lasting))
        {
            Ok(link) => link,
            Err(problem) => return (String::new(), Err(problem)),
        };
        let fetched = match self.download(&link).await {
            Ok(body) => metadata::token(token, &body, &self.gateways)
                .map(|token| Fetched::Token(Box::new(token)))
                .map_err(Problem::passing),
            Err(problem) => Err(problem),
        };
        (link.host().to_owned(), fetched)
    }

    /// Without a node nothing was tried; a contract that says no may say something else later.
    fn not_asked(&self, failed: &CallFailed) -> Problem {
        match failed {
            CallFailed::Reverted => Problem::passing("the contract names no link"),
            CallFailed::Unreachable(_) => Problem::PutOff(later((self.clock)(), self.pace.retry_min)),
        }
    }

    async fn fetch_contract(&self, caller: &dyn Caller, item: &Queued) -> (String, Result<Fetched, Problem>) {
        let words = match ask::own_words(caller, item.collection.address).await {
            Ok(words) => words,
            Err(failed) => return (String::new(), Err(self.not_asked(&failed))),
        };
        let mut host = String::new();
        let mut said = metadata::ContractText::default();
        if let Ok(link) = Link::read(&words.link, None, self.body_bytes_max) {
            link.host().clone_into(&mut host);
            match self.download(&link).await {
                Ok(body) => said = metadata::contract(&body, &self.gateways).unwrap_or_default(),
                // What the contract itself says stands even when its link leads nowhere, but not too soon.
                Err(Problem::Failed { lasting: false, reason, retry_after })
                    if item.attempts + 1 < self.pace.attempts_max =>
                {
                    return (host, Err(Problem::Failed { reason, lasting: false, retry_after }));
                }
                Err(Problem::Failed { .. }) => {}
                Err(put_off @ Problem::PutOff(_)) => return (host, Err(put_off)),
            }
        }
        (host, Ok(Fetched::Contract(Box::new(contract_info(item.collection, words, said)))))
    }

    /// The body at a link: from the first of its addresses that has it.
    async fn download(&self, link: &Link) -> Result<Vec<u8>, Problem> {
        if let Link::Inline(body) = link {
            return Ok(body.clone());
        }
        let _place = self.hosts.enter(link.host(), (self.clock)()).await.map_err(Problem::PutOff)?;
        let _permit = self.permits.acquire().await.map_err(Problem::passing)?;
        // While this one waited, others may have learnt that the host wants to be left alone.
        if let Some(until) = self.hosts.quiet_until(link.host(), (self.clock)()) {
            return Err(Problem::PutOff(until));
        }
        let began = Instant::now();
        let body = self.download_first(link).await;
        self.hosts.took(link.host(), began.elapsed());
        body
    }

    async fn download_first(&self, link: &Link) -> Result<Vec<u8>, Problem> {
        let (mut urls, now) = (link.urls(&self.gateways), (self.clock)());
        // Stable: those that work come first, each in the order of the settings.
        urls.sort_by_key(|url| self.hosts.quiet_until(url.host_str().unwrap_or_default(), now).is_some());
        let mut last = None;
        for url in urls {
            let host = url.host_str().unwrap_or_default().to_owned();
            match self.getter.get(url).await {
                Ok(body) => {
                    self.hosts.succeeded(&host);
                    self.hosts.succeeded(link.host());
                    return Ok(body);
                }
                Err(error) => {
                    if error.is_of_host() {
                        self.hosts.failed(&host, (self.clock)(), error.retry_after());
                    }
                    last = Some(error);
                }
            }
        }
        let Some(error) = last else { return Err(Problem::lasting("the link leads to no address")) };
        let (lasting, retry_after) = (error.is_lasting(), error.retry_after());
        Err(Problem::Failed { reason: error.to_string(), lasting, retry_after })
    }
}

impl Pace {
    /// How long to wait after a failure: twice as long each time, and for each token a little different, so that those
    /// that failed together do not come back together.
    fn backoff(&self, item: &Queued) -> Duration {
        let doublings = u32::try_from(item.attempts).unwrap_or(u32::MAX).min(16);
        let wait = self.retry_min.saturating_mul(1 << doublings).min(self.retry_max);
        let token = item.token.unwrap_or_default().value().to_be_bytes::<32>();
        let spread = token.iter().fold(0_u32, |sum, byte| (sum * 31 + u32::from(*byte)) % 256);
        wait + wait.mul_f64(f64::from(spread) / 1_024.0)
    }
}

fn by_chain(items: Vec<Queued>) -> BTreeMap<ChainId, Vec<Queued>> {
    let mut chains: BTreeMap<ChainId, Vec<Queued>> = BTreeMap::new();
    for item in items {
        chains.entry(item.collection.chain).or_default().push(item);
    }
    chains
}

/// What a contract says of itself, and what its link adds.
fn contract_info(
    collection: CollectionKey,
    words: ask::OwnWords,
    said: metadata::ContractText,
) -> ContractInfo {
    let or = |first: String, second: String| if first.is_empty() { second } else { first };
    let name = or(words.name, said.name);
    let unknown = ContractInfo::unknown(collection.chain, collection.address);
    ContractInfo {
        r#type: words.kind,
        symbol: or(words.symbol, said.symbol),
        decimals: words.decimals,
        owner: words.owner,
        logo_uri: said.image.clone(),
        deployed: words.code_hash.is_some(),
        bytecode_hash: words.code_hash.unwrap_or_default(),
        extensions: ContractInfoExtensions {
            link: said.link,
            description: said.description,
            og_image: or(said.banner, said.image),
            og_name: name.clone(),
            ..unknown.extensions
        },
        name,
        ..unknown
    }
}
