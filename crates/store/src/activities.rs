//! What happened to the tokens and orders of collections.

use bourse_wire::{ActivityAction, ActivityFacts, ChainId, Marketplace, TokenId};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::collections::CollectionId;
use crate::columns::{Insert, or_nothing, record};
use crate::session::Session;

/// Something that happened, and its place in the collection's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Number within the collection; what was committed later has a higher one.
    pub id: u64,
    /// What happened.
    pub facts: ActivityFacts,
}

record! {
    #[derive(Clone, Copy)]
    pub(crate) struct ActivityNumber: "activities" ("collection_id, activity_id") {
        activity_id: u64,
        chain_id: Option<ChainId>,
    }
}

record! { ActivityFacts: "activities" ("collection_id, unique_hash") {
    action,
    marketplace,
    token_id,
    tx_hash,
    from = "from_account",
    to = "to_account",
    quantity,
    quantity_decimals,
    price_amount,
    currency = "currency_address",
    at,
    log_index,
    block_number,
    block_hash,
    unique_hash,
    created_at,
} }

/// Which activities this version of the program can read: a newer one may know more kinds and marketplaces.
pub(crate) fn is_known() -> String {
    format!("action < {} AND marketplace < {}", ActivityAction::ALL.len(), Marketplace::ALL.len())
}

/// Activities that a statement selects.
pub(crate) async fn select(
    session: &mut Session<'_>,
    rest: impl AsRef<str>,
    args: Vec<Arg>,
) -> Result<Vec<Activity>, StoreError> {
    let found: Vec<(ActivityNumber, ActivityFacts)> = session.select(rest, args).await?;
    Ok(found.into_iter().map(|(number, facts)| Activity { id: number.activity_id, facts }).collect())
}

impl Store {
    /// What happened in a collection, or to one of its tokens, newest first: those before a number, or the newest.
    pub fn activities(
        &self,
        id: CollectionId,
        token: Option<TokenId>,
        before: Option<u64>,
        limit: u64,
    ) -> Pending<'_, Vec<Activity>> {
        let mut args = args![id.0, before.unwrap_or(u64::MAX), limit];
        let of_token = if token.is_some() { "AND token_id = $4" } else { "" };
        args.extend(token.map(Arg::from));
        let sql = format!(
            "FROM activities WHERE collection_id = $1 AND activity_id < $2 {of_token} AND {}
            ORDER BY activity_id DESC LIMIT $3",
            is_known()
        );
        self.read(move |mut session| Box::pin(async move { select(&mut session, sql, args).await }))
    }

    /// The number of the activity in a collection, or of one of its tokens, that so many newer ones come before.
    pub fn activity_number(
        &self,
        id: CollectionId,
        token: Option<TokenId>,
        newer: u64,
    ) -> Pending<'_, Option<u64>> {
        let mut args = args![id.0, newer];
        let of_token = if token.is_some() { "AND token_id = $3" } else { "" };
        args.extend(token.map(Arg::from));
        let sql = format!(
            "SELECT activity_id FROM activities WHERE collection_id = $1 {of_token} AND {}
            ORDER BY activity_id DESC LIMIT 1 OFFSET $2",
            is_known()
        );
        self.read(move |mut session| Box::pin(async move { session.value(sql, args).await }))
    }
}

/// Removes activities, and returns them, oldest first. Those that only a newer version of the program can read go as well.
pub(crate) async fn remove(
    session: &mut Session<'_>,
    id: CollectionId,
    which: &str,
    named: Vec<Arg>,
) -> Result<Vec<Activity>, StoreError> {
    let args: Vec<Arg> = args![id.0].into_iter().chain(named).collect();
    let known = is_known();
    let rest =
        format!("FROM activities WHERE collection_id = $1 AND {which} AND {known} ORDER BY activity_id");
    let found = select(session, rest, args.clone()).await?;
    session.execute(format!("DELETE FROM activities WHERE collection_id = $1 AND {which}"), args).await?;
    Ok(found)
}

/// Adds activities, except those that are there already, and tells how many. Whoever calls this holds the collection,
/// so that numbers follow each other.
pub(crate) async fn put(
    session: &mut Session<'_>,
    id: CollectionId,
    activities: Vec<ActivityFacts>,
) -> Result<u64, StoreError> {
    if activities.is_empty() {
        return Ok(0);
    }
    let first = next_number(session, id).await?;
    session.insert_counting(numbered((id, None), first, activities)?, &or_nothing::<ActivityFacts>()).await
}

/// The same where nobody asks how many.
pub(crate) async fn add(
    session: &mut Session<'_>,
    id: CollectionId,
    activities: Vec<ActivityFacts>,
) -> Result<(), StoreError> {
    if activities.is_empty() {
        return Ok(());
    }
    let first = next_number(session, id).await?;
    session.insert(numbered((id, None), first, activities)?, &or_nothing::<ActivityFacts>()).await
}

/// The number of the next activity of a collection that is held.
pub(crate) async fn next_number(session: &mut Session<'_>, id: CollectionId) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MAX(activity_id), 0) FROM activities WHERE collection_id = $1";
    Ok(session.value(sql, args![id.0]).await?.unwrap_or(0_u64) + 1)
}

/// Activities to be inserted, numbered from one on; of those that a block of a chain told of, the chain is kept with them.
pub(crate) fn numbered(
    (id, chain): (CollectionId, Option<ChainId>),
    first: u64,
    activities: Vec<ActivityFacts>,
) -> Result<Insert, StoreError> {
    let place = |(activity_id, facts): (u64, ActivityFacts)| {
        (ActivityNumber { activity_id, chain_id: chain.filter(|_| facts.block_number.is_some()) }, facts)
    };
    Ok(Insert::owned(id, (first..).zip(activities).map(place))?.held::<ActivityFacts>())
}
