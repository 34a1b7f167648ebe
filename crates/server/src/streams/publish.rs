//! Reading what is new of the collections that somebody listens to, and writing it once for all of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bourse_catalog::{Collection, OrderFilter, OrdersQuery, Start};
use bourse_market::facts::BlockHash;
use bourse_store::{
    ChangedBalances, CollectionId, CollectionKey, Happened, Happening, Mark, News, Since, StoreError,
    Touched, Versions,
};
use bourse_wire::{OrderSide, TokenId};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use super::batch::{Batch, Event, Logged, Rows, TokenRow, Turn, written};
use super::hub::{Told, Watched};
use super::receipts::Transaction;
use crate::app::App;
use crate::event_log::{EventLog, LogSource};
use crate::followed::Checkpoint;
use crate::rpc::indexer::balance_lines;
use crate::rpc::marketplace::activities;

/// Activities that are read in one go.
pub(super) const ACTIVITIES_MAX: u64 = 250;
/// How often a collection is read before others have their turn.
const PAGES_MAX: u32 = 4;
/// Tokens whose best orders are told in one go; of more, pages look again themselves.
const TOKENS_MAX: usize = 100;
/// Collections that are read at once.
const READS_MAX: usize = 4;
/// How long it may take to bring what is in memory of a collection to what is told of it.
const REACH_MAX: Duration = Duration::from_secs(1);

/// What telling of a collection came to.
enum Outcome {
    /// There was no more.
    Done,
    /// There is more: others have their turn first.
    More,
    /// What is in memory of it is not that new yet.
    Later,
}

/// Tells everybody who listens what is new: some of each collection, so that one of which much is new, or that fails, keeps no other
/// waiting. Tells when to look again where nothing wakes before that.
pub(crate) async fn round(app: &Arc<App>) -> Result<Option<Instant>, StoreError> {
    let (hub, now) = (&app.streams.hub, Instant::now());
    let mut watched = hub.watched();
    watched.retain(|watched| watched.rests_until.is_none_or(|until| until <= now));
    if watched.is_empty() {
        return Ok(hub.rests_until(now));
    }
    let ids = watched.iter().map(|watched| watched.id).collect();
    let Versions { found, failed } = app.store.versions_apart(ids).await?;
    for (ids, error) in failed {
        error.log("telling streams what happened");
        for id in ids {
            hub.rest(id);
        }
    }
    let found: HashMap<_, Mark> = found.into_iter().collect();
    let is_behind = |Watched { id, told, .. }: &Watched| {
        found.get(id).is_some_and(|mark| told.more || *mark != told.mark)
    };
    watched.retain(is_behind);
    // What is told names amounts in them, and whoever follows them may not have come to it yet.
    if !watched.is_empty()
        && let Err(error) = app.resident.read_currencies().await
    {
        error.log("reading currencies for streams");
    }
    let told = stream::iter(watched).map(|watched| tell_apart(app, watched)).buffer_unordered(READS_MAX);
    let told: Vec<Result<bool, StoreError>> = told.collect().await;
    let is_more = told.into_iter().try_fold(false, |any, is_more| Ok::<_, StoreError>(any | is_more?))?;
    Ok(if is_more { Some(now) } else { hub.rests_until(now) })
}

/// Tells what is new of one collection, and leaves it alone for a while where that fails. Tells whether there is more; an error is
/// one of the whole database.
async fn tell_apart(app: &Arc<App>, watched: Watched) -> Result<bool, StoreError> {
    let id = watched.id;
    match tell(app, watched).await {
        Ok(Outcome::Done) => return Ok(false),
        Ok(Outcome::More) => return Ok(true),
        Err(error @ (StoreError::Away | StoreError::Closed)) => return Err(error),
        Ok(Outcome::Later) => {}
        Err(error) => error.log("telling streams what happened"),
    }
    app.streams.hub.rest(id);
    Ok(false)
}

/// Tells some of what is new of one collection.
async fn tell(app: &Arc<App>, mut watched: Watched) -> Result<Outcome, StoreError> {
    let hub = &app.streams.hub;
    for _ in 0..PAGES_MAX {
        let before = watched.told;
        // Which records changed is known as of the first read.
        let mark = (!before.more).then_some(before.mark);
        let balances_of = mark.filter(|_| watched.wants.balances > 0).map(|_| watched.key.chain);
        let since = Since { place: before.place, mark, balances_of, ..Since::default() };
        let news = app.store.news(watched.id, since, ACTIVITIES_MAX).await?;
        // A database that was set back has less than was told.
        let Some(news) = news.filter(|news| news.place >= before.place) else {
            return tell_anew(app, &watched).await;
        };
        if mark.is_some() && !reach(app, &watched, news.mark).await {
            return Ok(Outcome::Later);
        }
        let (mark, more) = (mark.map_or(before.mark, |_| news.mark), news.more);
        let told = Told { mark, place: news.place, more };
        let batch = batch(app, &watched, news).await?;
        if !hub.publish(&watched, told, batch) {
            // Somebody else came, or nobody is left: the next look shows it.
            return Ok(Outcome::More);
        }
        if !more {
            return Ok(Outcome::Done);
        }
        watched.told = told;
    }
    Ok(Outcome::More)
}

/// Has everybody ask again.
async fn tell_anew(app: &App, watched: &Watched) -> Result<Outcome, StoreError> {
    let (mark, place) = app.store.news_end(watched.id).await?;
    let happened = vec![Happening { place, resume: place, what: Happened::Anew }];
    let events = logged(app, watched, happened).await?;
    let batch = Batch::new((place, place), events, Rows::Any).with_balances(None);
    let is_told = app.streams.hub.publish(watched, Told { mark, place, more: false }, Some(batch));
    Ok(if is_told { Outcome::Done } else { Outcome::More })
}

/// Brings what is in memory of a collection to a version, so that whoever is told of something and asks finds it. Where that takes
/// long, as where all of it is loaded anew, nobody waits for it but those who are told what is in memory, which is then false.
async fn reach(app: &App, Watched { key, wants, .. }: &Watched, mark: Mark) -> bool {
    let (resident, key) = (app.resident.clone(), *key);
    let following = tokio::spawn(async move { resident.follow(key, mark).await });
    tokio::time::timeout(REACH_MAX, following).await.is_ok() || wants.orders == 0
}

/// What is told of news; nothing where nobody wants to know any of it.
async fn batch(app: &Arc<App>, watched: &Watched, news: News) -> Result<Option<Batch>, StoreError> {
    let places = (watched.told.place, news.place);
    let balances = balances(app, watched, (news.balances, news.block)).await?;
    let touched = if watched.wants.orders > 0 { news.touched } else { Touched::default() };
    let events = logged(app, watched, news.happened).await?;
    let tokens = match touched {
        Touched::Tokens(tokens) if tokens.len() <= TOKENS_MAX => tokens,
        Touched::Tokens(_) | Touched::Any => {
            return Ok(Some(Batch::new(places, events, Rows::Any).with_balances(balances)));
        }
    };
    // Whoever has read further may have been told of what was taken back here.
    let is_quiet = events.is_empty() && places.0.retractions == places.1.retractions;
    if is_quiet && tokens.is_empty() && balances.as_ref().is_some_and(Bytes::is_empty) {
        return Ok(None);
    }
    let rows = rows(app, watched, tokens).await;
    Ok(Some(Batch::new(places, events, Rows::Of(rows)).with_balances(balances)))
}

/// What accounts hold of what changed, one in each line; nothing where that is more than is told one by one.
async fn balances(
    app: &App,
    watched: &Watched,
    (changed, block): (ChangedBalances, Option<(u64, BlockHash)>),
) -> Result<Option<Bytes>, StoreError> {
    match changed {
        ChangedBalances::Any => Ok(None),
        ChangedBalances::Of(balances) if balances.is_empty() => Ok(Some(Bytes::new())),
        ChangedBalances::Of(balances) => {
            let info = app.store.contract(watched.id).await?;
            let block = block.map(|(number, hash)| Checkpoint { number, hash });
            Ok(Some(balance_lines((watched.key, info, block), &balances).into()))
        }
    }
}

/// What happened in a collection, as JSON.
pub(super) fn events(
    app: &App,
    (key, id): (CollectionKey, CollectionId),
    happened: Vec<Happening>,
) -> Vec<Event> {
    let currencies = app.resident.currencies(key.chain);
    let event = |Happening { place, resume, what }| {
        let (turn, activity) = match what {
            Happened::Added(activity) => (Turn::Added, activity),
            Happened::Removed(activity) => (Turn::Removed, activity),
            Happened::Anew => return Event::anew(place),
        };
        let (token, block) = (activity.facts.token_id, activity.facts.block_hash);
        let transaction = activity.facts.tx_hash.parse().ok().map(|hash| Transaction { hash, block });
        let record = activities::record(activity, (key, id), &currencies, &app.service_name);
        // A plain record of texts and numbers; writing it cannot fail.
        let activity = serde_json::to_vec(&record).unwrap_or_default();
        Event { place, resume, turn, token, transaction, activity, logged: None }
    };
    happened.into_iter().map(event).collect()
}

/// The same, with logs where somebody wants to know them.
async fn logged(app: &App, watched: &Watched, happened: Vec<Happening>) -> Result<Vec<Event>, StoreError> {
    let collection = (watched.key, watched.id);
    if watched.wants.logs == 0 || happened.is_empty() {
        return Ok(events(app, collection, happened));
    }
    let source = LogSource::read(app, watched.key, watched.id).await?;
    let log = |Happening { resume, what, .. }: &Happening| {
        let log = EventLog::new(app, source, what.clone(), &written(*resume));
        // A plain record of texts and numbers; writing it cannot fail.
        Logged { what: what.clone(), json: serde_json::to_vec(&log).unwrap_or_default() }
    };
    let logs: Vec<Logged> = happened.iter().map(log).collect();
    let events = events(app, collection, happened).into_iter().zip(logs);
    Ok(events.map(|(event, log)| Event { logged: Some(log), ..event }).collect())
}

/// The best orders of tokens, where their collection is in memory; where it is not, only which tokens they are.
async fn rows(app: &App, watched: &Watched, tokens: BTreeSet<TokenId>) -> Vec<TokenRow> {
    let slot = app.resident.resident(watched.key);
    let Some(slot) = slot else {
        let row = |token| TokenRow { token, json: format!(r#"{{"tokenId":"{token}"}}"#).into_bytes() };
        return tokens.into_iter().map(row).collect();
    };
    let collection = slot.read_at(app.clock.now(), None).await;
    tokens.into_iter().map(|token| TokenRow { token, json: best_orders(&collection, token) }).collect()
}

fn best_orders(collection: &Collection, token: TokenId) -> Vec<u8> {
    let mut json = format!(r#"{{"tokenId":"{token}""#).into_bytes();
    for (name, side) in [("listing", OrderSide::Listing), ("offer", OrderSide::Offer)] {
        let (filter, mut list) = (OrderFilter::default(), Vec::new());
        let query = OrdersQuery { token, side, filter: &filter, sort: None, start: Start::Skip(0), limit: 1 };
        collection.write_orders(&mut list, &query);
        // An array of one order, or of none.
        let order = list.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or_default();
        json.extend_from_slice(format!(r#","{name}":"#).as_bytes());
        json.extend_from_slice(if order.is_empty() { b"null" } else { order });
    }
    json.push(b'}');
    json
}
