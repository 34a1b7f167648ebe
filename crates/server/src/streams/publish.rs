//! Reading what is new of the collections that somebody listens to, and writing it once for all of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bourse_catalog::{Collection, OrderFilter, OrdersQuery, Start};
use bourse_market::facts::BlockHash;
use bourse_store::{
    ChangedBalances, Happened, Happening, Mark, News, Place, Since, StoreError, Touched, Versions,
};
use bourse_wire::{OrderSide, TokenId};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use super::batch::{Batch, Event, Logged, Rows, TokenRow, Turn, written};
use super::hub::{Told, Watched};
use crate::app::App;
use crate::event_log::{EventLog, LogSource};
use crate::followed::Checkpoint;
use crate::rpc::indexer::balance_lines;
use crate::rpc::marketplace::activities;

/// Activities that are read in one go.
pub(super) const ACTIVITIES_MAX: u64 = 250;
/// Tokens whose best orders are told in one go; of more, pages look again themselves.
const TOKENS_MAX: usize = 100;
/// Collections that are read at once.
const READS_MAX: usize = 4;

/// Tells everybody who listens what is new. One collection that fails keeps no other waiting; tells whether none did.
pub(crate) async fn round(app: &Arc<App>) -> Result<bool, StoreError> {
    let watched = app.streams.hub.watched();
    if watched.is_empty() {
        return Ok(true);
    }
    let ids = watched.iter().map(|watched| watched.id).collect();
    let Versions { found, failed } = app.store.versions_apart(ids).await?;
    let found: HashMap<_, Mark> = found.into_iter().collect();
    let is_behind = |watched: &Watched| found.get(&watched.id).is_some_and(|mark| *mark != watched.told.mark);
    let behind: Vec<Watched> = watched.into_iter().filter(is_behind).collect();
    let told = stream::iter(behind)
        .map(|watched| async move {
            let told = tell(app, watched).await;
            if let Err(error) = &told {
                error.log("telling streams what happened");
            }
            told.is_ok()
        })
        .buffer_unordered(READS_MAX);
    let all_told = told.fold(true, |all, is_told| std::future::ready(all && is_told)).await;
    Ok(all_told && failed.is_empty())
}

/// Tells what is new of one collection.
async fn tell(app: &Arc<App>, mut watched: Watched) -> Result<(), StoreError> {
    let before = watched.told.mark;
    let balances_of = (watched.wants.balances > 0).then_some(watched.key.chain);
    let mut since = Since { place: watched.told.place, mark: Some(before), balances_of, ..Since::default() };
    let mut read = None;
    loop {
        let news = app.store.news(watched.id, since, ACTIVITIES_MAX).await?;
        // A database that was set back has less than was told.
        let Some(news) = news.filter(|news| news.place >= since.place) else {
            let (mark, place) = app.store.news_end(watched.id).await?;
            let happened = vec![Happening { place, resume: place, what: Happened::Anew }];
            let events = logged(app, &watched, happened).await?;
            let batch = Batch::new(place, events, Rows::Any).with_balances(None);
            app.streams.hub.publish(&watched, Told { mark, place }, Some(batch));
            return Ok(());
        };
        // Which records changed is known as of the first read; and before all that happened was told, the collection stays
        // behind, so that the next round goes on where this one is given up.
        let (mark, more) = (*read.get_or_insert(news.mark), news.more);
        let told = Told { mark: if more { before } else { mark }, place: news.place };
        let batch = batch(app, &watched, news).await?;
        if !app.streams.hub.publish(&watched, told, batch) || !more {
            return Ok(());
        }
        watched.told = told;
        since = Since { place: told.place, ..Since::default() };
    }
}

/// Everybody asks again, as nobody knows what was taken back.
fn all_anew(place: Place) -> Event {
    let (token, transaction, activity, logged) = (None, None, b"null".to_vec(), None);
    Event { place, resume: place, turn: Turn::Anew, token, transaction, activity, logged }
}

/// What is told of news; nothing where nobody wants to know any of it.
async fn batch(app: &Arc<App>, watched: &Watched, news: News) -> Result<Option<Batch>, StoreError> {
    let place = news.place;
    let balances = balances(app, watched, (news.balances, news.block)).await?;
    let touched = if watched.wants.orders > 0 { news.touched } else { Touched::default() };
    let events = logged(app, watched, news.happened).await?;
    let tokens = match touched {
        Touched::Tokens(tokens) if tokens.len() <= TOKENS_MAX => tokens,
        Touched::Tokens(_) | Touched::Any => {
            return Ok(Some(Batch::new(place, events, Rows::Any).with_balances(balances)));
        }
    };
    if events.is_empty() && tokens.is_empty() && balances.as_ref().is_some_and(Bytes::is_empty) {
        return Ok(None);
    }
    let rows = rows(app, watched, tokens).await;
    Ok(Some(Batch::new(place, events, Rows::Of(rows)).with_balances(balances)))
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

/// What happened, as JSON.
pub(super) fn events(app: &App, watched: &Watched, happened: Vec<Happening>) -> Vec<Event> {
    let currencies = app.resident.currencies(watched.key.chain);
    let event = |Happening { place, resume, what }| {
        let (turn, activity) = match what {
            Happened::Added(activity) => (Turn::Added, activity),
            Happened::Removed(activity) => (Turn::Removed, activity),
            Happened::Anew => return all_anew(place),
        };
        let (token, transaction) = (activity.facts.token_id, activity.facts.tx_hash.parse().ok());
        let record = activities::record(activity, (watched.key, watched.id), &currencies, &app.service_name);
        // A plain record of texts and numbers; writing it cannot fail.
        let activity = serde_json::to_vec(&record).unwrap_or_default();
        Event { place, resume, turn, token, transaction, activity, logged: None }
    };
    happened.into_iter().map(event).collect()
}

/// The same, with logs where somebody wants to know them.
async fn logged(app: &App, watched: &Watched, happened: Vec<Happening>) -> Result<Vec<Event>, StoreError> {
    if watched.wants.logs == 0 || happened.is_empty() {
        return Ok(events(app, watched, happened));
    }
    let source = LogSource::read(app, watched.key, watched.id).await?;
    let log = |Happening { resume, what, .. }: &Happening| {
        let log = EventLog::new(app, source, what.clone(), &written(*resume));
        // A plain record of texts and numbers; writing it cannot fail.
        Logged { what: what.clone(), json: serde_json::to_vec(&log).unwrap_or_default() }
    };
    let logs: Vec<Logged> = happened.iter().map(log).collect();
    let events = events(app, watched, happened).into_iter().zip(logs);
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
