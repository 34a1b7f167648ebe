//! The queue of tokens and contracts whose metadata is to be fetched.
//!
//! Whoever takes something from it puts off when it is due next, and that instant is the lease: who dies with it leaves
//! it to be taken again, and who asks for it anew in the meantime moves it, so that the old lease ends nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use bourse_wire::{ChainId, ContractInfo, MetadataStatus, Timestamp, TokenId, TokenMetadata};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::attributions::Author;
use crate::backend::{Pending, Store};
use crate::collections::hold;
use crate::collections::{CollectionId, CollectionKey, read_tokens};
use crate::columns::{Insert, Record as _, or_nothing, record, selection};
use crate::commit::{Batch, Change, commit_within};
use crate::grants::Subject;
use crate::hosted;
use crate::session::{Keys, Session, list};

/// Not tried since it was put there.
pub(crate) const FRESH: u8 = 0;
/// Tried in vain, and soon to be tried again.
const TRIED: u8 = 1;
/// Tried in vain so often that it is left alone for long.
pub(crate) const GIVEN_UP: u8 = 2;

/// The share of what is taken that those tried in vain, and those given up, may be: bad ones never crowd out others.
const SHARES: [(u8, u64); 3] = [(TRIED, 4), (GIVEN_UP, 8), (FRESH, 1)];

const NANOS_PER_MILLI: i128 = 1_000_000;

/// Milliseconds since 1970.
pub(crate) fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.unix_nanos().div_euclid(NANOS_PER_MILLI)).unwrap_or(i64::MAX)
}

/// The instant this many milliseconds after 1970.
pub(crate) fn instant(millis: i64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(millis) * NANOS_PER_MILLI)
}

/// What of the queue is wanted.
#[derive(Clone, Debug)]
pub struct Due {
    /// Chains that can be asked.
    pub chains: Vec<ChainId>,
    /// Hosts that are not to be bothered now.
    pub busy_hosts: Vec<String>,
    /// How many, at most.
    pub limit: u64,
    /// What time it is.
    pub now: Timestamp,
    /// Until when they are the taker's alone.
    pub until: Timestamp,
}

/// One thing whose metadata is to be fetched, taken from the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The contract.
    pub collection: CollectionKey,
    /// The token, or nothing for the contract itself.
    pub token: Option<TokenId>,
    /// How often it was tried in vain.
    pub attempts: u64,
    id: CollectionId,
    lease: i64,
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq)]
pub enum Fetched {
    /// A token's metadata.
    Token(Box<TokenMetadata>),
    /// A contract's information.
    Contract(Box<ContractInfo>),
}

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is here.
    Fetched(Fetched),
    /// It could not be had.
    Failed {
        /// Why, for people.
        reason: String,
        /// The host it would have come from, empty when that is not known.
        host: String,
        /// When to try again.
        again_at: Timestamp,
        /// Whether that is so late that it counts as not available.
        given_up: bool,
    },
    /// Nobody was asked, as a hosted collection that the contract is linked with says what there is to say.
    Linked,
    /// It was not tried, as its host has enough to do.
    PutOff {
        /// The host.
        host: String,
        /// When to look again.
        again_at: Timestamp,
    },
}

/// The name in the queue; contracts have none.
pub(crate) fn item_id(token: Option<TokenId>) -> String {
    token.map(|token| token.to_string()).unwrap_or_default()
}

/// Puts tokens of a collection into the queue, `None` being the contract itself. What is in it already stays as it is.
pub(crate) async fn enqueue(
    session: &mut Session<'_>,
    id: CollectionId,
    items: &[Option<TokenId>],
    due_at: Timestamp,
) -> Result<(), StoreError> {
    insert(session, id, items, due_at, &or_nothing::<QueueRow>()).await
}

/// What asking anew makes of something that waits already. It is due at once; since when it waits only changes when it
/// had been given up.
pub(crate) fn or_ask_anew() -> String {
    format!(
        "ON CONFLICT ({}) DO UPDATE SET attempts = 0, due_at = excluded.due_at, reason = '', queued_at =
        CASE WHEN metadata_queue.state = {GIVEN_UP} THEN excluded.queued_at ELSE metadata_queue.queued_at END,
        state = {FRESH}",
        QueueRow::KEY
    )
}

record! {
    /// Something that waits.
    struct QueueRow: "metadata_queue" ("collection_id, token_id") {
        token_id: String,
        state: u8,
        attempts: u64,
        due_at: i64,
        queued_at: i64,
        host: String,
        reason: String,
    }
}

/// Puts tokens of a collection into the queue, and first, even when they are in it already.
pub(crate) async fn ask_anew(
    session: &mut Session<'_>,
    id: CollectionId,
    items: &[Option<TokenId>],
    now: Timestamp,
) -> Result<(), StoreError> {
    insert(session, id, items, now, &or_ask_anew()).await
}

async fn insert(
    session: &mut Session<'_>,
    id: CollectionId,
    items: &[Option<TokenId>],
    due_at: Timestamp,
    conflict: &str,
) -> Result<(), StoreError> {
    let at = millis(due_at);
    let rows = items.iter().map(|item| QueueRow {
        token_id: item_id(*item),
        state: FRESH,
        attempts: 0,
        due_at: at,
        queued_at: at,
        host: String::new(),
        reason: String::new(),
    });
    session.insert(Insert::owned(id, rows)?, conflict).await
}

/// Takes tokens out of the queue, as there are no such tokens any more. What is being fetched for them is dropped.
pub(crate) async fn dequeue(
    session: &mut Session<'_>,
    id: CollectionId,
    items: &[Option<TokenId>],
) -> Result<(), StoreError> {
    for item in items {
        let sql = "DELETE FROM metadata_queue WHERE collection_id = $1 AND token_id = $2";
        session.execute(sql, args![id.0, item_id(*item)]).await?;
    }
    Ok(())
}

impl Store {
    /// Takes what is due. Nobody else gets it before `until`.
    pub fn take_due(&self, due: Due) -> Pending<'_, Vec<Queued>> {
        Box::pin(async move {
            let candidates = self.due(due.clone()).await?;
            if candidates.is_empty() { Ok(candidates) } else { self.take(candidates, due.until).await }
        })
    }

    /// Takes those that nobody else took meanwhile.
    fn take(&self, candidates: Vec<Queued>, until: Timestamp) -> Pending<'_, Vec<Queued>> {
        let until = millis(until);
        self.write(move |mut session| {
            Box::pin(async move {
                let mut taken = Vec::with_capacity(candidates.len());
                for mut item in candidates {
                    // Of two who saw it due, one finds it unchanged.
                    let sql = "UPDATE metadata_queue SET due_at = $4
                        WHERE collection_id = $1 AND token_id = $2 AND due_at = $3";
                    let args = args![item.id.0, item_id(item.token), item.lease, until];
                    if session.execute(sql, args).await? > 0 {
                        item.lease = until;
                        taken.push(item);
                    }
                }
                Ok(taken)
            })
        })
    }

    /// What is due, from each state its share.
    fn due(&self, due: Due) -> Pending<'_, Vec<Queued>> {
        let (chains, hosts) = (due.chains.len(), due.busy_hosts.len());
        let sql = format!(
            "FROM metadata_queue JOIN collections ON collections.collection_id = metadata_queue.collection_id
            WHERE state = $1 AND due_at <= $2 AND chain_id IN ({}) AND (host = '' OR host NOT IN ({}))
            ORDER BY due_at LIMIT $3",
            list(chains, 3),
            // Nothing is unequal to NULL either: an empty list names a host that there is not.
            if hosts == 0 { "' '".to_owned() } else { list(hosts, 3 + chains) },
        );
        self.read(move |mut session| {
            Box::pin(async move {
                let mut found: Vec<Queued> = Vec::new();
                for (state, share) in SHARES {
                    let room = due.limit.saturating_sub(found.len() as u64).min(due.limit.div_ceil(share));
                    let mut args = args![state, millis(due.now), room];
                    args.extend(due.chains.iter().map(|chain| Arg::from(*chain)));
                    args.extend(due.busy_hosts.iter().map(|host| Arg::from(host.as_str())));
                    let rows: Vec<(CollectionId, CollectionKey, Waiting)> =
                        session.select(&sql, args).await?;
                    for (id, key, waiting) in rows {
                        found.push(waiting.queued(id, key)?);
                    }
                }
                Ok(found)
            })
        })
    }

    /// Writes down how it went with things of one collection. What was fetched for a token that is no more, or that
    /// nobody waits for, is dropped, and so is what was fetched for a token that a hosted collection speaks for by now.
    /// Tells the collection's version when it changed.
    pub fn finish_fetches(
        &self,
        results: Vec<(Queued, Outcome)>,
        now: Timestamp,
    ) -> Pending<'_, Option<u64>> {
        let (changes_kept, public_url) = (self.options.changes_kept, self.public_url.clone());
        let Some((first, _)) = results.first() else { return Box::pin(async { Ok(None) }) };
        let (collection, id) = (first.collection, first.id);
        self.write(move |mut session| {
            Box::pin(async move {
                hold(&mut session, id).await?;
                let mut results = still_wanted(&mut session, id, results).await?;
                let mut changes =
                    linked_changes(&mut session, (id, collection), &mut results, (&public_url, now)).await?;
                changes.extend(
                    other_changes(&mut session, (id, collection), &results, (&public_url, now)).await?,
                );
                for (item, outcome) in &results {
                    end(&mut session, item, outcome).await?;
                }
                if changes.is_empty() {
                    return Ok(None);
                }
                let batch = Batch { collection, changes, key: None, author: Author::Fetcher, at: now };
                let committed = commit_within(&mut session, batch, changes_kept).await?;
                Ok((committed.changed > 0).then_some(committed.version))
            })
        })
    }
}

selection! {
    struct Waiting {
        token_id: String,
        attempts: u64,
        due_at: i64,
    }
}

impl Waiting {
    fn queued(self, id: CollectionId, collection: CollectionKey) -> Result<Queued, StoreError> {
        let token = token_of(&self.token_id)?;
        Ok(Queued { collection, token, attempts: self.attempts, id, lease: self.due_at })
    }
}

selection! {
    struct ItemId {
        token_id: String,
    }
}

/// The token of a name in the queue.
pub(crate) fn token_of(item: &str) -> Result<Option<TokenId>, StoreError> {
    if item.is_empty() {
        return Ok(None);
    }
    item.parse().map(Some).map_err(|error| StoreError::corrupt("token_id", error))
}

/// The results for what is still in the queue.
async fn still_wanted(
    session: &mut Session<'_>,
    id: CollectionId,
    mut results: Vec<(Queued, Outcome)>,
) -> Result<Vec<(Queued, Outcome)>, StoreError> {
    let keys = results.iter().map(|(item, _)| args![item_id(item.token)]).collect();
    let keys = Keys { from: "metadata_queue", columns: "token_id", keys };
    let rows: Vec<ItemId> = session.keyed(id, keys).await?;
    let names: HashSet<String> = rows.into_iter().map(|item| item.token_id).collect();
    results.retain(|(item, _)| names.contains(&item_id(item.token)));
    Ok(results)
}

/// What changes of the tokens that a hosted collection speaks for, whatever was fetched for them. What was left to one that
/// says nothing of it by now is asked for again.
async fn linked_changes(
    session: &mut Session<'_>,
    (id, collection): (CollectionId, CollectionKey),
    results: &mut [(Queued, Outcome)],
    (public_url, now): (&str, Timestamp),
) -> Result<Vec<Change>, StoreError> {
    let tokens: Vec<TokenId> = results.iter().filter_map(|(item, _)| item.token).collect();
    let speaker = hosted::speaker(session, collection, Subject::Collections).await?;
    let mut said = match speaker {
        Some(speaker) => hosted::tokens_said(session, speaker, &tokens, public_url).await?,
        None => BTreeMap::new(),
    };
    for (item, outcome) in results {
        if item.token.is_some_and(|token| said.contains_key(&token)) {
            *outcome = Outcome::Linked;
        } else if *outcome == Outcome::Linked {
            *outcome = Outcome::PutOff { host: String::new(), again_at: now };
        }
    }
    let stored = read_tokens(session, id, said.keys().copied()).await?;
    // What is no more is not made again.
    let known: HashSet<TokenId> = stored.iter().map(|token| token.token_id).collect();
    said.retain(|token, _| known.contains(token));
    hosted::token_changes(session, id, stored, said, now).await
}

/// What the other results change about the collection. Tokens that are no more leave the queue.
async fn other_changes(
    session: &mut Session<'_>,
    (id, collection): (CollectionId, CollectionKey),
    results: &[(Queued, Outcome)],
    (public_url, now): (&str, Timestamp),
) -> Result<Vec<Change>, StoreError> {
    let tokens = results.iter().filter_map(|(item, _)| item.token);
    let stored = read_tokens(session, id, tokens.collect::<Vec<_>>()).await?;
    let stored: HashMap<TokenId, String> =
        stored.into_iter().map(|token| (token.token_id, token.metadata)).collect();
    let mut changes = Vec::new();
    for (item, outcome) in results {
        let Some(token) = item.token else {
            let own = hosted::own_contract(session, (id, collection)).await?;
            if let Some(own) = contract_info(own.as_deref(), outcome, now)? {
                let key = (id, collection);
                changes.extend(hosted::contract_change(session, key, Some(own), (public_url, now)).await?);
            }
            continue;
        };
        match stored.get(&token) {
            Some(text) => changes.extend(token_change(text, outcome, now)?),
            None => dequeue(session, id, &[Some(token)]).await?,
        }
    }
    Ok(changes)
}

/// What becomes of a token's metadata.
fn token_change(stored: &str, outcome: &Outcome, now: Timestamp) -> Result<Option<Change>, StoreError> {
    let before: TokenMetadata = read_json("token metadata", stored)?;
    let mut token = match outcome {
        Outcome::Fetched(Fetched::Token(fetched)) => TokenMetadata {
            token_id: before.token_id,
            assets: before.assets.clone(),
            updated_at: before.updated_at,
            last_fetched: before.last_fetched,
            ..(**fetched).clone()
        },
        Outcome::Failed { given_up: true, .. } => before.clone(),
        Outcome::Fetched(Fetched::Contract(_))
        | Outcome::Failed { .. }
        | Outcome::Linked
        | Outcome::PutOff { .. } => return Ok(None),
    };
    token.queued_at = None;
    token.status = before.status;
    if matches!(outcome, Outcome::Fetched(_)) {
        let is_same = token == TokenMetadata { queued_at: None, ..before };
        token.updated_at = if is_same { token.updated_at } else { now };
        token.last_fetched = Some(now);
        token.status = Some(MetadataStatus::Available);
    } else if token.status == Some(MetadataStatus::Refreshing) {
        // What was there before is as good as it was.
        token.status = Some(MetadataStatus::Available);
    }
    Ok(Some(Change::Token { token_id: token.token_id, metadata: token.to_json()? }))
}

/// What a contract says by itself after it was asked, if that ended somehow.
fn contract_info(
    stored: Option<&str>,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<Option<ContractInfo>, StoreError> {
    let before: Option<ContractInfo> =
        stored.map(|text| read_json("contract information", text)).transpose()?;
    let mut info = match (outcome, before.clone()) {
        (Outcome::Fetched(Fetched::Contract(fetched)), None) => (**fetched).clone(),
        (Outcome::Fetched(Fetched::Contract(fetched)), Some(before)) => kept((**fetched).clone(), before),
        (Outcome::Failed { given_up: true, .. }, Some(before)) => before,
        _ => return Ok(None),
    };
    info.queued_at = None;
    if let Outcome::Fetched(_) = outcome {
        info.status = before.as_ref().and_then(|before| before.status);
        info.updated_at = before.as_ref().map_or(now, |before| before.updated_at);
        let is_same = before.is_some_and(|before| info == ContractInfo { queued_at: None, ..before });
        info.updated_at = if is_same { info.updated_at } else { now };
        info.status = Some(MetadataStatus::Available);
    } else if info.status == Some(MetadataStatus::Refreshing) {
        info.status = Some(MetadataStatus::Available);
    }
    Ok(Some(info))
}

/// What was fetched, with what only others can say of a contract.
fn kept(mut fetched: ContractInfo, before: ContractInfo) -> ContractInfo {
    let (extensions, others) = (&mut fetched.extensions, before.extensions);
    extensions.origin_chain_id = others.origin_chain_id;
    extensions.origin_address = others.origin_address;
    extensions.verified = others.verified;
    extensions.verified_by = others.verified_by;
    extensions.featured = others.featured;
    extensions.blacklist = others.blacklist;
    if fetched.bytecode_hash.is_empty() {
        fetched.bytecode_hash = before.bytecode_hash;
    }
    fetched
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::corrupt(what, error))
}

/// Ends a lease, unless it ended otherwise.
async fn end(session: &mut Session<'_>, item: &Queued, outcome: &Outcome) -> Result<(), StoreError> {
    let lease = args![item.id.0, item_id(item.token), item.lease];
    let (sql, more) = match outcome {
        Outcome::Fetched(_) | Outcome::Linked => ("DELETE FROM metadata_queue", args![]),
        Outcome::Failed { reason, host, again_at, given_up } => {
            let state = if *given_up { GIVEN_UP } else { TRIED };
            let sql = "UPDATE metadata_queue SET state = $4, reason = $5, host = $6, due_at = $7,
                attempts = attempts + 1";
            (sql, args![state, reason.as_str(), host.as_str(), millis(*again_at)])
        }
        Outcome::PutOff { host, again_at } => {
            ("UPDATE metadata_queue SET host = $4, due_at = $5", args![host.as_str(), millis(*again_at)])
        }
    };
    let sql = format!("{sql} WHERE collection_id = $1 AND token_id = $2 AND due_at = $3");
    session.execute(sql, lease.into_iter().chain(more).collect()).await.map(drop)
}
