//! What happened in a collection as one sequence that only grows, for those who are told of it: activities, and that some
//! were taken back. Numbers of activities are given again once those that had them are gone, so that a place in the sequence
//! names both, the last activity and the last time that any were taken back. Nothing is written for it but when blocks are
//! undone, which is rare.

use std::collections::BTreeSet;

use bourse_market::facts::BlockHash;
use bourse_wire::{ActivityFacts, ChainId, TokenId};
use serde_json::Value;

use crate::activities::{self, Activity};
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::chain::{is_live, read_checkpoint};
use crate::changes::{changed_between, present_balances};
use crate::collections::{CollectionId, Mark, read_version};
use crate::columns::{Insert, record};
use crate::commit::Changed;
use crate::load::Balance;
use crate::orders::read_orders;
use crate::row_values::{from_values, to_values};
use crate::session::Session;
use crate::{StoreError, market_projects};

/// Activities that are kept of one time that some were taken back. Of more it is only known that there were.
const KEPT_MAX: usize = 1_000;
/// Times that are kept of each collection.
const RETRACTIONS_KEPT: u64 = 1_000;
/// Times that are read in one go.
const RETRACTIONS_READ: u64 = 16;
/// Records of which it is looked up whose token they are.
const TOUCHED_MAX: u64 = 500;
/// Balances that are read of what changed.
const BALANCES_MAX: usize = 1_000;

/// A place in what happened in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// How often activities had been taken back.
    pub retractions: u64,
    /// The last activity.
    pub activity: u64,
}

/// From where on to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Since {
    /// The place in what happened.
    pub place: Place,
    /// The version, for whoever wants to know which records changed.
    pub mark: Option<Mark>,
    /// Whether the balances among them are read, of a collection of this chain.
    pub balances_of: Option<ChainId>,
    /// Whether what was taken back is told too that is behind the place: whoever did not say that it arrived may have it.
    pub unconfirmed: bool,
}

/// What happened, or what of it did not.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// This.
    Added(Activity),
    /// This did not: its block no longer counts.
    Removed(Activity),
    /// Much of it did not, or all of the chain is read anew: whoever kept any of it had better ask for it again.
    Anew,
}

/// Something of the sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// The place behind it and whatever was taken back with it.
    pub place: Place,
    /// The place from which to ask on after it. Of what was taken back together only the last is behind all of it.
    pub resume: Place,
    /// What it is.
    pub what: Happened,
}

/// Tokens of which something is another than it was: their metadata, holders or orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// These.
    Tokens(BTreeSet<TokenId>),
    /// All of them may be: there are too many, something is about any token, or nobody knows any more.
    Any,
}

impl Default for Touched {
    fn default() -> Self {
        Self::Tokens(BTreeSet::new())
    }
}

/// What accounts hold by now of what changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedBalances {
    /// This.
    Of(Vec<Balance>),
    /// More than is read, or nobody knows any more.
    Any,
}

impl Default for ChangedBalances {
    fn default() -> Self {
        Self::Of(Vec::new())
    }
}

/// What is new in a collection.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// The version as of which it was read.
    pub mark: Mark,
    /// The place up to which it goes.
    pub place: Place,
    /// What happened, in its order.
    pub happened: Vec<Happening>,
    /// The tokens of which a record changed since a version, when somebody asked.
    pub touched: Touched,
    /// The balances that changed since a version, when somebody asked.
    pub balances: ChangedBalances,
    /// The height and the name of the block as of which they were read, where the collection moves on with its chain.
    pub block: Option<(u64, BlockHash)>,
    /// Whether there is more.
    pub more: bool,
}

record! {
    struct Retraction: "retractions" ("collection_id, retraction_id") {
        retraction_id: u64,
        left_to: u64,
        taken_back: Option<String>,
    }
}

/// Number of an activity, and the values of its columns.
type KeptActivity = (u64, Vec<Value>);

impl Store {
    /// Where a collection is now: its version, and the end of what happened in it.
    pub fn news_end(&self, id: CollectionId) -> Pending<'_, (Mark, Place)> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let mark = read_version(&mut session, id).await?;
                Ok((mark, end(&mut session, id).await?))
            })
        })
    }

    /// What is new since a place, so many activities at most; `None` where nobody knows any more what was taken back since.
    pub fn news(&self, id: CollectionId, since: Since, limit: u64) -> Pending<'_, Option<News>> {
        self.snapshot(move |mut session| Box::pin(async move { news(&mut session, id, since, limit).await }))
    }
}

/// The end of what happened in a collection.
pub(crate) async fn end(session: &mut Session<'_>, id: CollectionId) -> Result<Place, StoreError> {
    let retractions = last_retraction(session, id).await?;
    let activity = activities::next_number(session, id).await? - 1;
    Ok(Place { retractions, activity })
}

async fn news(
    session: &mut Session<'_>,
    id: CollectionId,
    since: Since,
    limit: u64,
) -> Result<Option<News>, StoreError> {
    let mark = read_version(session, id).await?;
    let Since { place, mark: since, balances_of, unconfirmed } = since;
    let mut news = News { mark, place, ..News::default() };
    if let Some(since) = since {
        let changed = changed_between(session, id, since, mark).await?;
        if let Some(chain) = balances_of {
            news.balances = balances(session, id, changed.as_ref()).await?;
            if is_live(session, id).await? {
                let block = read_checkpoint(session, chain).await?;
                news.block = block.map(|block| (block.number, block.hash));
            }
        }
        news.touched = touched(session, id, changed).await?;
    }
    if !read_retractions(session, id, &mut news, unconfirmed).await? {
        return Ok(None);
    }
    if news.more {
        return Ok(Some(news));
    }
    // A database that was set back has less than somebody was told of.
    let last = activities::next_number(session, id).await? - 1;
    news.place.activity = news.place.activity.min(last);
    let sql = format!(
        "FROM activities WHERE collection_id = $1 AND activity_id > $2 AND {} ORDER BY activity_id LIMIT $3",
        activities::is_known()
    );
    let found = activities::select(session, sql, args![id.0, news.place.activity, limit]).await?;
    news.more = found.len() as u64 >= limit;
    for activity in found {
        news.place.activity = activity.id;
        let place = news.place;
        news.happened.push(Happening { place, resume: place, what: Happened::Added(activity) });
    }
    Ok(Some(news))
}

/// The balances among what changed.
async fn balances(
    session: &mut Session<'_>,
    id: CollectionId,
    changed: Option<&Changed>,
) -> Result<ChangedBalances, StoreError> {
    match changed {
        Some(changed) if changed.balances.len() <= BALANCES_MAX => {
            present_balances(session, id, changed.balances.clone()).await.map(ChangedBalances::Of)
        }
        _ => Ok(ChangedBalances::Any),
    }
}

/// The tokens that records are of.
async fn touched(
    session: &mut Session<'_>,
    id: CollectionId,
    changed: Option<Changed>,
) -> Result<Touched, StoreError> {
    let Some(changed) = changed else { return Ok(Touched::Any) };
    if changed.contract || changed.len() - changed.activities > TOUCHED_MAX {
        return Ok(Touched::Any);
    }
    let mut tokens: BTreeSet<TokenId> = changed.tokens.into_iter().collect();
    tokens.extend(changed.balances.iter().map(|(token, _)| *token));
    let count = changed.orders.len();
    let orders = read_orders(session, id, changed.orders).await?;
    if orders.len() < count {
        return Ok(Touched::Any);
    }
    for order in orders {
        let Some(token) = order.token_id else { return Ok(Touched::Any) };
        tokens.insert(token);
    }
    Ok(Touched::Tokens(tokens))
}

/// Reads what was taken back since a place. Of that only what is before the place had been told; what is behind it may have been.
/// False where it is not known.
async fn read_retractions(
    session: &mut Session<'_>,
    id: CollectionId,
    news: &mut News,
    unconfirmed: bool,
) -> Result<bool, StoreError> {
    let sql =
        "FROM retractions WHERE collection_id = $1 AND retraction_id > $2 ORDER BY retraction_id LIMIT $3";
    let args = args![id.0, news.place.retractions, RETRACTIONS_READ];
    let found: Vec<Retraction> = session.select(sql, args).await?;
    if found.first().is_some_and(|first| first.retraction_id != news.place.retractions + 1) {
        return Ok(false);
    }
    if found.is_empty() && last_retraction(session, id).await? < news.place.retractions {
        return Ok(false);
    }
    news.more = found.len() as u64 == RETRACTIONS_READ;
    for Retraction { retraction_id, left_to, taken_back } in found {
        let (before, told) = (news.place, news.place.activity);
        news.place = Place { retractions: retraction_id, activity: told.min(left_to) };
        let (place, what) = (news.place, Happened::Anew);
        let Some(taken_back) = taken_back else {
            news.happened.push(Happening { place, resume: place, what });
            continue;
        };
        let taken_back: Vec<KeptActivity> =
            serde_json::from_str(&taken_back).map_err(|error| StoreError::corrupt("retraction", error))?;
        let first = news.happened.len();
        for (number, values) in taken_back.into_iter().filter(|(number, _)| unconfirmed || *number <= told) {
            let facts: ActivityFacts = from_values("retraction", values)?;
            let what = Happened::Removed(Activity { id: number, facts });
            news.happened.push(Happening { place, resume: before, what });
        }
        if let Some(last) = news.happened.get_mut(first..).and_then(<[_]>::last_mut) {
            last.resume = place;
        }
    }
    Ok(true)
}

async fn last_retraction(session: &mut Session<'_>, id: CollectionId) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MAX(retraction_id), 0) FROM retractions WHERE collection_id = $1";
    Ok(session.value(sql, args![id.0]).await?.unwrap_or(0))
}

/// Has everybody told of what was taken back who was told of it before, and what is counted begin before it: activities that
/// are gone by now, or `None` where nobody lists them. Whoever calls this holds the collection.
pub(crate) async fn retract(
    session: &mut Session<'_>,
    id: CollectionId,
    gone: Option<Vec<Activity>>,
) -> Result<(), StoreError> {
    let left_to = market_projects::uncount(session, id).await?;
    if gone.as_ref().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    let retraction_id = last_retraction(session, id).await? + 1;
    let taken_back = gone.filter(|gone| gone.len() <= KEPT_MAX).map(kept).transpose()?;
    let row = Retraction { retraction_id, left_to, taken_back };
    session.insert(Insert::owned(id, [row])?, "").await?;
    let sql = "DELETE FROM retractions WHERE collection_id = $1 AND retraction_id <= $2";
    let forgotten = retraction_id.saturating_sub(RETRACTIONS_KEPT);
    session.execute(sql, args![id.0, forgotten]).await.map(drop)
}

fn kept(gone: Vec<Activity>) -> Result<String, StoreError> {
    let values = gone.into_iter().map(|Activity { id, facts }| Ok((id, to_values(&facts)?)));
    let values = values.collect::<Result<Vec<KeptActivity>, StoreError>>()?;
    serde_json::to_string(&values).map_err(|error| StoreError::corrupt("retraction", error))
}
