//! What goes on beside requests: following the store and chains, counting what happens in markets, and flushing what
//! was metered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bourse_chain::fetch::{Caller, Fetcher, SystemLookup};
use bourse_chain::{RateSource, RealPace, follow_rates};
use bourse_counting::MarketCounter;
use bourse_store::{InMemory, Store, StoreError};
use bourse_wire::Timestamp;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::app::App;
use crate::chains::NetworkNodes;
use crate::entropy;
use crate::webhooks::Courier;
use crate::{streams, unused_files};

/// How long to wait before watching the store again after it failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// How long to wait between two looks at the markets: counting a few activities costs as much as counting many.
const MARKET_INTERVAL: Duration = Duration::from_millis(300);

/// How long to wait between two looks at what links of contracts changed, when there was nothing.
const LINKS_INTERVAL: Duration = Duration::from_millis(500);

/// How long to wait before those who listen are told again: what came meanwhile is told together.
const STREAMS_INTERVAL: Duration = Duration::from_millis(100);

/// How long to wait before it is looked again what webhooks are to be told: what came meanwhile is read together.
const WEBHOOKS_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait for something to happen before what failed is tried again, and other servers are told that this one delivers.
const WEBHOOKS_PAUSE: Duration = Duration::from_secs(1);

/// How long to wait before other servers are told again what was used of limits.
const SHARE_INTERVAL: Duration = Duration::from_secs(1);

/// How long to wait between two times of forgetting what was kept for its time, and of adding what older servers left out.
const TIDY_INTERVAL: Duration = Duration::from_hours(1);
const NANOS_PER_DAY: i128 = 24 * 3_600 * 1_000_000_000;
/// How long to wait between two looks through all uploaded files.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// How long may be waited at the end for what was begun, and for the database each time.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
const LAST_WORD_TIMEOUT: Duration = Duration::from_secs(5);

/// The background tasks of a running service.
pub struct Background {
    app: Arc<App>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Background {
    /// Starts them.
    pub fn start(app: &Arc<App>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let signals = Arc::new(Signals::default());
        tasks.spawn(watch_store(Arc::clone(app), Arc::clone(&signals), Stop(stopped.clone())));
        tasks.spawn(follow_credentials(Arc::clone(app), Arc::clone(&signals), Stop(stopped.clone())));
        tasks.spawn(follow(Arc::clone(app), Arc::clone(&signals), Stop(stopped.clone())));
        tasks.spawn(follow_counts(Arc::clone(app), Arc::clone(&signals), Stop(stopped.clone())));
        tasks.spawn(tell_streams(Arc::clone(app), Arc::clone(&signals), Stop(stopped.clone())));
        tasks.spawn(tell_webhooks(Arc::clone(app), Arc::clone(&signals), Stop(stopped.clone())));
        tasks.spawn(count_markets(Arc::clone(app), signals, Stop(stopped.clone())));
        tasks.spawn(follow_links(Arc::clone(app), Stop(stopped.clone())));
        start_chains(app, &stopped, &mut tasks);
        for network in &app.settings.networks {
            let sources = network.rate_sources();
            if !sources.is_empty() {
                tasks.spawn(tell_rates(Arc::clone(app), sources, Stop(stopped.clone())));
            }
        }
        tasks.spawn(tidy(Arc::clone(app), Stop(stopped.clone())));
        tasks.spawn(sweep_files(Arc::clone(app), Stop(stopped.clone())));
        let (resident, mut until) = (app.resident.clone(), Stop(stopped.clone()));
        tasks.spawn(async move { until.or(resident.bring_in()).await.unwrap_or_default() });
        if app.store.is_for_several() {
            tasks.spawn(share_limits(Arc::clone(app), Stop(stopped.clone())));
        }
        if let Some(peers) = app.peers.clone() {
            let (store, stop) = (app.store.clone(), Stop(stopped.clone()));
            tasks.spawn(async move { peers.keep(&store, stop.wait()).await });
        }
        tasks.spawn(check_memory(Arc::clone(app), Stop(stopped.clone())));
        tasks.spawn(flush(Arc::clone(app), Stop(stopped)));
        Self { app: Arc::clone(app), stop, tasks }
    }

    /// Stops them, and stores what is still only in memory. Whoever waits for a node of a cluster that is silent is left after a
    /// while, so that the service has ended before it is killed.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // Before anybody is waited for.
        self.store_metered().await;
        let joining = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, joining).await.is_err() {
            tracing::warn!("what goes on beside requests does not end, and is left");
            self.tasks.abort_all();
        }
        self.store_metered().await;
        self.app.resident.keep_all().await;
        if tokio::time::timeout(LAST_WORD_TIMEOUT, self.app.store.close()).await.is_err() {
            tracing::warn!("connections to the database do not end, and are left");
        }
    }

    async fn store_metered(&self) {
        if let Ok(stored) = tokio::time::timeout(LAST_WORD_TIMEOUT, flush_once(&self.app)).await {
            log_failure("storing what was metered", stored);
        } else {
            tracing::warn!("what was metered last cannot be stored: the database does not answer");
        }
    }
}

/// Tells a task to end. Tasks listen only while they wait: work that was begun is finished, so that what was taken
/// out of memory to be stored is stored.
#[derive(Clone)]
struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Returns when told to end.
    async fn wait(mut self) {
        // An error means that the sender is gone, which is a stop as well.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }

    /// Waits for something; `None` when told to end first.
    async fn or<T>(&mut self, something: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            happened = something => Some(happened),
            // An error means that the sender is gone, which is a stop as well.
            _ = self.0.wait_for(|stopped| *stopped) => None,
        }
    }
}

/// Follows the chains of networks that have nodes, asks their contracts, and fetches metadata. Without a node there is
/// nothing to do, and no time is spent on preparing for it.
///
/// Offers are looked at again and again: a look that is left in the middle loses nothing.
fn start_chains(app: &Arc<App>, stopped: &watch::Receiver<bool>, tasks: &mut JoinSet<()>) {
    let stop = || Stop(stopped.clone());
    for nodes in app.nodes.iter() {
        tasks.spawn(nodes.follower(&app.store, &app.clock).run(stop().wait()));
        let (offers, mut until) = (nodes.watch_offers(&app.store, &app.clock), stop());
        tasks.spawn(async move { until.or(offers).await.unwrap_or_default() });
        if let Some(subscription) = nodes.subscription(&app.clock) {
            let mut until = stop();
            tasks.spawn(async move { until.or(subscription.run()).await.unwrap_or_default() });
        }
    }
    if app.nodes.is_empty() {
        return;
    }
    match fetcher(app) {
        Ok(fetcher) => drop(tasks.spawn(fetcher.run(stop().wait()))),
        Err(error) => tracing::error!(%error, "metadata cannot be fetched"),
    }
}

/// Asks for the rates of a network again and again; asking that is left in the middle loses nothing.
async fn tell_rates(app: Arc<App>, sources: Vec<RateSource>, mut stop: Stop) {
    let clock = app.clock.clone();
    let pace = RealPace::new(move || clock.now());
    stop.or(follow_rates(&sources, &app.store, &pace)).await.unwrap_or_default();
}

fn fetcher(app: &App) -> Result<Fetcher, Box<dyn std::error::Error>> {
    let callers = app.nodes.iter().map(|nodes| {
        let caller: Arc<dyn Caller> = Arc::<NetworkNodes>::clone(nodes);
        (nodes.chain(), caller)
    });
    let clock = app.clock.clone();
    let clock = Arc::new(move || clock.now());
    let settings = app.settings.metadata.fetch()?;
    Ok(Fetcher::new(app.store.clone(), callers.collect(), Arc::new(SystemLookup), settings, clock)?)
}

/// Wakes whoever takes over what anyone changes in the store. Each has a task of its own, so that none waits until another
/// has read all that is new to it: credentials least of all.
#[derive(Default)]
struct Signals {
    credentials: Notify,
    records: Notify,
    /// Beside the records: a node of a cluster that is silent keeps nobody from following what is elsewhere.
    counts: Notify,
    /// Beside the records: those take as long as the largest collection does that is read anew.
    streams: Notify,
    /// After the records.
    markets: Notify,
    /// After the records as well.
    webhooks: Notify,
}

/// Wakes them whenever the store may have changed, until told to end.
async fn watch_store(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    loop {
        log_failure("watching the store", watch_until_failure(&app, &signals, &mut stop).await);
        if stop.or(pause(&app.store)).await.is_none() {
            return;
        }
    }
}

/// Waits before something that failed is tried again: for a while, or until the database is there again.
async fn pause(store: &Store) {
    match store.away_for() {
        Some(_) => store.until_reached().await,
        None => tokio::time::sleep(RETRY_INTERVAL).await,
    }
}

/// Returns `Ok` when told to end.
async fn watch_until_failure(app: &App, signals: &Signals, stop: &mut Stop) -> Result<(), StoreError> {
    let mut watcher = app.store.watch().await?;
    loop {
        // Also before the first wait: something may have changed since it was loaded.
        signals.credentials.notify_one();
        signals.records.notify_one();
        signals.counts.notify_one();
        signals.streams.notify_one();
        match stop.or(watcher.changed()).await {
            Some(changed) => changed?,
            None => return Ok(()),
        }
    }
}

/// Takes over credentials that anyone changes, until told to end.
async fn follow_credentials(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    while stop.or(signals.credentials.notified()).await.is_some() {
        if let Err(error) = app.credentials.refresh(&app.store).await {
            log_failure("following credentials", Err(error));
            // Told to end, it notices at its next wait.
            let _ = stop.or(pause(&app.store)).await;
            signals.credentials.notify_one();
        }
    }
}

/// Takes over what anyone changes in collections and currencies, until told to end.
async fn follow(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    let mut is_whole = true;
    while stop.or(woken(&app.store, &signals.records, is_whole)).await.is_some() {
        let round = app.store.begin_round();
        is_whole = follow_once(&app).await;
        if is_whole {
            app.store.end_round(InMemory::Records, round);
        }
        signals.webhooks.notify_one();
        signals.markets.notify_one();
    }
}

/// Takes over what others counted, until told to end.
async fn follow_counts(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    let mut is_whole = true;
    while stop.or(woken(&app.store, &signals.counts, is_whole)).await.is_some() {
        let round = app.store.begin_round();
        is_whole = is_done("following what is counted", app.counting.refresh(app.clock.now()).await);
        if is_whole {
            app.store.end_round(InMemory::Counts, round);
        }
    }
}

/// Waits until something changed, and for a while only when there is something to be tried again: others need not wait for it.
async fn woken(store: &Store, signal: &Notify, is_whole: bool) {
    tokio::select! {
        () = signal.notified() => {}
        () = pause(store), if !is_whole => {}
    }
}

/// Takes over what changed of currencies and collections, each by itself: what cannot be read keeps nothing else from being
/// followed. Tells whether all of it could be taken over.
async fn follow_once(app: &App) -> bool {
    let currencies = app.resident.refresh_currencies().await.map(|()| true);
    let currencies = is_done("following currencies", currencies);
    is_done("following collections", app.resident.refresh().await) && currencies
}

/// Whether something could be done whole; the log has why it could not.
fn is_done(what: &'static str, result: Result<bool, StoreError>) -> bool {
    result.unwrap_or_else(|error| {
        error.log(what);
        false
    })
}

/// Tells those who listen what happened whenever the store changed, until told to end.
async fn tell_streams(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    let mut again = None;
    loop {
        let woken = async {
            tokio::select! {
                () = signals.streams.notified() => {}
                () = streams::due(&app, again) => {}
            }
        };
        if stop.or(woken).await.is_none() {
            return;
        }
        // What was begun may be left: streams end with the service.
        let Some(round) = stop.or(streams::round(&app)).await else { return };
        again = match round {
            Ok(again) => again,
            Err(error) => {
                error.log("telling streams what happened");
                let _ = stop.or(pause(&app.store)).await;
                Some(Instant::now())
            }
        };
        if stop.or(tokio::time::sleep(STREAMS_INTERVAL)).await.is_none() {
            return;
        }
    }
}

/// Delivers what happened to addresses of projects, until told to end: what is left in the middle is delivered again.
async fn tell_webhooks(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    let mut courier = Courier::new(Arc::clone(&app));
    loop {
        let Some(round) = stop.or(courier.round()).await else { break };
        let is_done = round.is_ok();
        log_failure("looking for what webhooks are told", round);
        if !is_done && stop.or(pause(&app.store)).await.is_none() {
            break;
        }
        if stop.or(tokio::time::sleep(WEBHOOKS_INTERVAL)).await.is_none() {
            break;
        }
        let something = async {
            tokio::select! {
                () = signals.webhooks.notified() => {}
                () = courier.returned() => {}
                () = tokio::time::sleep(WEBHOOKS_PAUSE) => {}
            }
        };
        if stop.or(something).await.is_none() {
            break;
        }
    }
    courier.leave().await;
}

/// Counts what happens in markets whenever the store changed, until told to end.
async fn count_markets(app: Arc<App>, signals: Arc<Signals>, mut stop: Stop) {
    let mut counter = MarketCounter::default();
    while stop.or(signals.markets.notified()).await.is_some() {
        // What was begun may be left: each step is counted in one transaction or not at all.
        let round = counter.round(&app.counting, &app.markets, app.clock.now());
        let Some(round) = stop.or(round).await else { return };
        let is_done = matches!(round, Ok(0));
        log_failure("counting what happens in markets", round.map(drop));
        if !is_done {
            signals.markets.notify_one();
        }
        if stop.or(tokio::time::sleep(MARKET_INTERVAL)).await.is_none() {
            return;
        }
    }
}

/// Has contracts say what hosted collections say of them, whenever links or those change, until told to end. It needs no node, and
/// what waits is found in the store alone: any server may have put it there.
async fn follow_links(app: Arc<App>, mut stop: Stop) {
    loop {
        let wait = match app.store.follow_links(app.clock.now()).await {
            Ok(true) => Duration::ZERO,
            Ok(false) => LINKS_INTERVAL,
            Err(error) => {
                error.log("following links of contracts to hosted collections");
                RETRY_INTERVAL
            }
        };
        if stop.or(tokio::time::sleep(wait)).await.is_none() {
            return;
        }
    }
}

/// Stores what was metered from time to time, until told to end.
async fn flush(app: Arc<App>, mut stop: Stop) {
    let interval = Duration::from_millis(app.settings.limits.metering_flush_ms);
    while stop.or(tokio::time::sleep(interval)).await.is_some() {
        log_failure("storing what was metered", flush_once(&app).await);
    }
}

/// Looks for files that no asset has any more, at the start and then from time to time. What is left in the middle the next
/// look finds.
async fn sweep_files(app: Arc<App>, mut stop: Stop) {
    loop {
        match stop.or(unused_files::sweep(&app)).await {
            None => return,
            Some(Ok(0)) => {}
            Some(Ok(removed)) => tracing::info!(removed, "removed files that no asset has"),
            Some(Err(error)) => tracing::warn!(%error, "looking for files that no asset has"),
        }
        if stop.or(tokio::time::sleep(SWEEP_INTERVAL)).await.is_none() {
            return;
        }
    }
}

/// Compares what is in memory with the store, one collection each time, until told to end. What is left in the middle is
/// compared another time.
async fn check_memory(app: Arc<App>, mut stop: Stop) {
    let interval = Duration::from_millis(app.settings.storage.self_check_interval_ms);
    let mut checked = None;
    while !interval.is_zero() && stop.or(tokio::time::sleep(interval)).await.is_some() {
        checked = app.resident.next_key(checked);
        let Some(key) = checked else { continue };
        match stop.or(app.resident.check(key)).await {
            None => return,
            Some(result) => log_failure("comparing memory with the store", result.map(drop)),
        }
    }
}

/// Tells other servers what was used of limits, and counts what they tell, until told to end.
async fn share_limits(app: Arc<App>, mut stop: Stop) {
    let server = entropy::word();
    while stop.or(tokio::time::sleep(SHARE_INTERVAL)).await.is_some() {
        for (limiter, name) in
            [(&app.limiter, "requests"), (&app.stranger_orders, "orders"), (&app.wallet_proofs, "proofs")]
        {
            let shared = limiter.share(&app.store, (&server, name), &app.clock).await;
            log_failure("sharing what was used of limits", shared);
        }
    }
}

/// Forgets what was kept for its time, until told to end.
async fn tidy(app: Arc<App>, mut stop: Stop) {
    // Once more after a while: servers of the version before may go on for some minutes.
    let mut asks = 2_u32;
    loop {
        if asks > 0 {
            asks -= 1;
            let asked = app.store.ask_all_links(app.clock.now()).await;
            log_failure("asking what hosted collections say of contracts", asked);
        }
        // What was begun may be left: the rest is done another time.
        let Some(result) = stop.or(app.store.complete_links(app.clock.now())).await else { return };
        log_failure("adding links that an older server made", result.map(drop));
        let Some(result) = stop.or(forget_once(&app)).await else { return };
        log_failure("forgetting who stated what", result);
        if stop.or(tokio::time::sleep(TIDY_INTERVAL)).await.is_none() {
            return;
        }
    }
}

async fn forget_once(app: &App) -> Result<(), StoreError> {
    let (storage, now) = (&app.settings.storage, app.clock.now());
    app.store.prune_audit(earlier(now, storage.audit_days)).await?;
    let before = earlier(now, storage.attributions_days);
    for collection in app.store.attributed_before(before).await? {
        while app.store.prune_attributions(collection, before).await? > 0 {}
    }
    Ok(())
}

/// So many days before a time.
fn earlier(now: Timestamp, days: u32) -> Timestamp {
    Timestamp::from_unix_nanos(now.unix_nanos() - i128::from(days) * NANOS_PER_DAY)
}

/// Neither keeps the other from being stored.
async fn flush_once(app: &App) -> Result<(), StoreError> {
    let metered = app.meter.flush(&app.store, app.clock.now()).await;
    let noting = app.credentials.flush_last_use(&app.store);
    let noted = tokio::time::timeout(LAST_WORD_TIMEOUT, noting).await;
    if noted.is_err() {
        tracing::warn!("when credentials were last used cannot be stored: the database does not answer");
    }
    metered.and(noted.unwrap_or(Ok(())))
}

/// These tasks go on whatever happens: the next round tries again.
fn log_failure(what: &'static str, result: Result<(), StoreError>) {
    if let Err(error) = result {
        error.log(what);
    }
}
