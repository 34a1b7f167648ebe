//! The way of records into their collections: settled against what is stored, then committed, each collection by itself.

use std::collections::BTreeMap;

use bourse_store::{Author, Batch, Change, CollectionKey, Committed, Subject};
use bourse_wire::{OrderKey, Timestamp};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::types::{Answer, IdempotencyKey, ReadRecords, Rejected};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::Rejection;

/// Collections that are committed at the same time, so that they share their way to the disk.
const COMMITS_AT_ONCE: usize = 8;

/// A kind of record that collections consist of.
pub(super) trait Record: Sized + Send {
    /// What the project must be a steward of to state this; nothing where somebody else vouches for it.
    fn subject(&self) -> Option<Subject>;

    /// What the records change. Others may change the collection meanwhile: what depends on what is stored at the moment
    /// of the commit is for the commit to find out.
    fn settle(
        app: &App,
        collection: CollectionKey,
        records: Vec<(usize, Self)>,
        now: Timestamp,
    ) -> impl Future<Output = Result<Settled, Failure>> + Send;
}

/// What records of one collection change.
#[derive(Default)]
pub(super) struct Settled {
    changes: Vec<Change>,
    /// The places of orders that nobody shows a signature of.
    stated_orders: Vec<(OrderKey, usize)>,
    rejected: Vec<Rejected>,
}

impl Settled {
    pub(super) fn add(&mut self, index: usize, change: Result<Change, Rejection>) {
        match change {
            Ok(change) => {
                if let Change::Order(order) = &change {
                    self.stated_orders.push((order.key(), index));
                }
                self.changes.push(change);
            }
            Err(rejection) => self.rejected.push(Rejected::new(index, rejection)),
        }
    }
}

/// Records that the store did not take, as their makers signed otherwise since they were settled.
fn refused(committed: &Committed, stated_orders: &[(OrderKey, usize)]) -> impl Iterator<Item = Rejected> {
    let is_refused = |(key, _): &&(OrderKey, usize)| committed.refused.contains(key);
    let rejected =
        |(key, index): &(OrderKey, usize)| Rejected::new(*index, Rejection::signed_by_maker(&key.order_id));
    stated_orders.iter().filter(is_refused).map(rejected)
}

/// Commits the records that could be read.
pub(super) async fn commit<R: Record>(
    call: &Call,
    operation: &str,
    key: Option<IdempotencyKey>,
    read: ReadRecords<(CollectionKey, R)>,
) -> Result<Answer, Failure> {
    let count = read.accepted.len() + read.rejected.len();
    // Operations and projects never see each other's keys. An empty one is none, as some clients write it.
    let key = key.filter(|key| !key.as_str().is_empty());
    let key = key.map(|key| format!("{operation}:{}:{}", call.caller.project(), key.as_str()));
    let mut collections: BTreeMap<CollectionKey, Vec<(usize, R)>> = BTreeMap::new();
    let mut rejected = read.rejected;
    for (index, (collection, record)) in read.accepted {
        match record.subject().map_or(Ok(()), |subject| call.check_grant(subject, collection)) {
            Ok(()) => collections.entry(collection).or_default().push((index, record)),
            Err(rejection) => rejected.push(Rejected::new(index, rejection)),
        }
    }
    let commits: Vec<_> = collections
        .into_iter()
        .map(|(collection, records)| commit_collection(call, collection, records, key.clone()))
        .collect();
    let done: Vec<(Option<Committed>, Vec<Rejected>)> =
        stream::iter(commits).buffer_unordered(COMMITS_AT_ONCE).try_collect().await?;
    let mut committed = Vec::with_capacity(done.len());
    for (commit, refused) in done {
        committed.extend(commit);
        rejected.extend(refused);
    }
    rejected.sort_by_key(|rejected| rejected.index);
    Ok(Answer {
        accepted: count - rejected.len(),
        changed: committed.iter().map(|committed| committed.changed).sum(),
        replayed: !committed.is_empty() && committed.iter().all(|committed| committed.replayed),
        rejected,
    })
}

async fn commit_collection<R: Record>(
    call: &Call,
    collection: CollectionKey,
    records: Vec<(usize, R)>,
    key: Option<String>,
) -> Result<(Option<Committed>, Vec<Rejected>), Failure> {
    let app = &call.app;
    let Settled { changes, stated_orders, mut rejected } =
        R::settle(app, collection, records, call.now).await?;
    if changes.is_empty() {
        // A commit would make the collection, of which nothing is known.
        return Ok((None, rejected));
    }
    let author = author(call, &changes);
    let committed = call.commit(Batch { collection, changes, key, author, at: call.now }).await?;
    rejected.extend(refused(&committed, &stated_orders));
    app.markets.join(&app.store, call.scope(), collection, || call.actor()).await?;
    Ok((Some(committed), rejected))
}

/// Who states changes: whoever signed them, where all of them are signed, and else the steward who sends them.
fn author(call: &Call, changes: &[Change]) -> Author {
    let sender = call.caller.sender();
    let mut signers = changes.iter().map(|change| match change {
        Change::SignedOrder(order) => Some(order.facts.maker),
        Change::Contract(_)
        | Change::UndatedContract(_)
        | Change::Token { .. }
        | Change::UndatedToken { .. }
        | Change::Balance { .. }
        | Change::Order(_)
        | Change::OrderEnded { .. }
        | Change::Activity(_) => None,
    });
    match signers.next().flatten() {
        None => Author::Steward(sender),
        Some(first) => {
            let is_one = signers.all(|signer| signer == Some(first));
            Author::Wallet { wallet: is_one.then_some(first), sender }
        }
    }
}
