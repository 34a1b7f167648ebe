//! What happened to the tokens and orders of collections.

use bourse_wire::{ActivityAction, ActivityFacts, Marketplace, TokenId};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::Store;
use crate::collections::CollectionId;
use crate::row::Row;
use crate::session::Session;

/// Something that happened, and its place in the collection's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Number within the collection; what was committed later has a higher one.
    pub id: u64,
    /// What happened.
    pub facts: ActivityFacts,
}

pub(crate) const COLUMNS: &str =
    "activity_id, action, marketplace, token_id, tx_hash, from_account, to_account, quantity,
    quantity_decimals, price_amount, currency_address, at, log_index, unique_hash, created_at";

impl Store {
    /// What happened in a collection, or to one of its tokens, newest first: those before a number, or the newest.
    pub async fn activities(
        &self,
        id: CollectionId,
        token: Option<TokenId>,
        before: Option<u64>,
        limit: u64,
    ) -> Result<Vec<Activity>, StoreError> {
        let mut args = args![id.0, before.unwrap_or(u64::MAX), limit];
        let of_token = if token.is_some() { "AND token_id = $4" } else { "" };
        args.extend(token.map(Arg::from));
        let sql = format!(
            "SELECT {COLUMNS} FROM activities WHERE collection_id = $1 AND activity_id < $2 {of_token}
            ORDER BY activity_id DESC LIMIT $3"
        );
        self.read(move |mut session| {
            Box::pin(async move { session.all(sql, args).await?.iter().map(activity).collect() })
        })
        .await
    }

    /// The number of the activity in a collection, or of one of its tokens, that so many newer ones come before.
    pub async fn activity_number(
        &self,
        id: CollectionId,
        token: Option<TokenId>,
        newer: u64,
    ) -> Result<Option<u64>, StoreError> {
        let mut args = args![id.0, newer];
        let of_token = if token.is_some() { "AND token_id = $3" } else { "" };
        args.extend(token.map(Arg::from));
        let sql = format!(
            "SELECT activity_id FROM activities WHERE collection_id = $1 {of_token}
            ORDER BY activity_id DESC LIMIT 1 OFFSET $2"
        );
        self.read(move |mut session| {
            Box::pin(async move {
                session.first(sql, args).await?.map(|row| row.u64(0, "activity id")).transpose()
            })
        })
        .await
    }
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
    let next = next_number(session, id).await?;
    let rows = (next..).zip(activities).map(|(number, facts)| activity_row(id, number, facts)).collect();
    let tail = "ON CONFLICT (collection_id, unique_hash) DO NOTHING RETURNING 1";
    Ok(session.insert(&insert_head(), tail, rows).await?.len() as u64)
}

/// The number of the next activity of a collection that is held.
pub(crate) async fn next_number(session: &mut Session<'_>, id: CollectionId) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MAX(activity_id), 0) FROM activities WHERE collection_id = $1";
    let last = session.first(sql, args![id.0]).await?.map_or(Ok(0), |row| row.u64(0, "activity id"))?;
    Ok(last + 1)
}

/// What comes before the values of activities.
pub(crate) fn insert_head() -> String {
    format!("INSERT INTO activities (collection_id, {COLUMNS})")
}

/// An activity as it is stored.
pub(crate) fn activity_row(id: CollectionId, number: u64, facts: ActivityFacts) -> Vec<Arg> {
    args![
        id.0,
        number,
        facts.action.number(),
        facts.marketplace.number(),
        facts.token_id,
        facts.tx_hash,
        facts.from,
        facts.to,
        facts.quantity,
        facts.quantity_decimals,
        facts.price_amount,
        facts.currency,
        facts.at,
        facts.log_index,
        facts.unique_hash,
        facts.created_at,
    ]
}

pub(crate) fn activity(row: &Row) -> Result<Activity, StoreError> {
    let facts = ActivityFacts {
        action: row.number(1, "action", ActivityAction::from_number)?,
        marketplace: row.number(2, "marketplace", Marketplace::from_number)?,
        token_id: row.opt_parse(3, "token id")?,
        tx_hash: row.text(4)?,
        from: row.parse(5, "account")?,
        to: row.opt_parse(6, "account")?,
        quantity: row.parse(7, "quantity")?,
        quantity_decimals: row.u8(8, "decimals")?,
        price_amount: row.opt_parse(9, "price")?,
        currency: row.opt_parse(10, "currency")?,
        at: row.parse(11, "activity time")?,
        log_index: row.u64(12, "log index")?,
        unique_hash: row.text(13)?,
        created_at: row.parse(14, "activity time")?,
    };
    Ok(Activity { id: row.u64(0, "activity id")?, facts })
}
