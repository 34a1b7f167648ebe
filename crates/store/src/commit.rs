//! The one way to change a collection.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bourse_wire::{ActivityFacts, Address, Amount, OrderFacts, OrderKey, OrderStatus, Timestamp, TokenId};
use serde::{Deserialize, Serialize};

use crate::args::args;
use crate::attributions::{self, Author, Authorship};
use crate::backend::{Pending, Store};
use crate::collections::{
    CollectionId, CollectionKey, Mark, StoredToken, are_some_gone, find_or_create, hold,
};
use crate::columns::{Insert, or_replace_different, selection};
use crate::load::Balance;
use crate::orders::SignedOrder;
use crate::put_orders::{self, Ending, NewOrder, PutOrders};
use crate::recent::OwnVersion;
use crate::session::Session;
use crate::together::{DRAWN, Statement};
use crate::undated::Undated;
use crate::{StoreError, activities, chain};

/// One thing that is now so.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The contract's information, as JSON text.
    Contract(String),
    /// A token's metadata, as JSON text.
    Token {
        /// Token id.
        token_id: TokenId,
        /// Metadata as it is served.
        metadata: String,
    },
    /// The contract's information, as JSON text with the time of the commit: that counts where anything else is
    /// different, as nobody said when it changed.
    UndatedContract(String),
    /// A token's metadata, in the same way.
    UndatedToken {
        /// Token id.
        token_id: TokenId,
        /// Metadata as it is served.
        metadata: String,
    },
    /// What an account holds of a token.
    Balance {
        /// Token id.
        token_id: TokenId,
        /// The holder.
        account: Address,
        /// How much; zero for nothing.
        balance: Amount,
    },
    /// An order. What its change says about what happened is added to the activities.
    Order(Box<OrderFacts>),
    /// An order that is signed and kept outside of chains, with what was signed.
    SignedOrder(Box<SignedOrder>),
    /// An order ends otherwise than by being filled, unless it is over by then. One that is not known is left alone.
    OrderEnded {
        /// Which order.
        key: OrderKey,
        /// The status that it has from now on.
        status: OrderStatus,
    },
    /// Something that happened, and that no order tells of.
    Activity(Box<ActivityFacts>),
}

/// Changes of one collection that stand or fall together.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The collection, made when it is new.
    pub collection: CollectionKey,
    /// What is now so; of two changes to one thing the later counts.
    pub changes: Vec<Change>,
    /// A name by which the same batch, sent again, is recognised and not applied again.
    pub key: Option<String>,
    /// Who states it.
    pub author: Author,
    /// When.
    pub at: Timestamp,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The collection's version after it.
    pub version: u64,
    /// The number that was drawn with it.
    pub stamp: u64,
    /// How many records are different now. Zero leaves the version alone.
    pub changed: u64,
    /// Whether the batch had been applied before.
    pub replayed: bool,
    /// Orders of which something was stated that only what their makers signed can say. They are as they were.
    pub refused: Vec<OrderKey>,
}

impl Committed {
    /// The collection's version after it.
    pub fn mark(&self) -> Mark {
        Mark { version: self.version, stamp: self.stamp }
    }
}

/// Which records of a collection one version changed. Followers read their state along with the version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changed {
    /// The contract information.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub contract: bool,
    /// Tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenId>,
    /// Balances: token and account.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub balances: Vec<(TokenId, Address)>,
    /// Orders.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "order_keys")]
    pub orders: Vec<OrderKey>,
    /// How many activities no order told of. They are read by page, not followed.
    #[serde(skip_serializing_if = "is_zero")]
    pub activities: u64,
}

/// Keys of orders as the change log has them: number of the marketplace, and order id. Those of marketplaces that only a newer
/// version of the program knows are read over: their orders are not in memory here.
mod order_keys {
    use bourse_wire::{Marketplace, OrderKey};
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(keys: &[OrderKey], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(keys.iter().map(|key| (key.marketplace.number(), &key.order_id)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OrderKey>, D::Error> {
        let key =
            |(number, order_id)| Some(OrderKey { marketplace: Marketplace::from_number(number)?, order_id });
        Ok(Vec::<(u8, String)>::deserialize(deserializer)?.into_iter().filter_map(key).collect())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Changed {
    /// Adds what a later version changed.
    pub fn merge(&mut self, later: Self) {
        self.contract |= later.contract;
        merge_keys(&mut self.tokens, later.tokens);
        merge_keys(&mut self.balances, later.balances);
        merge_keys(&mut self.orders, later.orders);
        self.activities += later.activities;
    }

    pub(crate) fn len(&self) -> u64 {
        let keys = self.tokens.len() + self.balances.len() + self.orders.len();
        u64::from(self.contract) + keys as u64 + self.activities
    }
}

fn merge_keys<K: Ord>(keys: &mut Vec<K>, later: Vec<K>) {
    if keys.is_empty() {
        *keys = later;
    } else if !later.is_empty() {
        let all: BTreeSet<K> = keys.drain(..).chain(later).collect();
        keys.extend(all);
    }
}

impl Store {
    /// Commits changes, their idempotency key and the collection's next version in one transaction.
    pub fn commit(&self, batch: Batch) -> Pending<'_, Committed> {
        let (changes_kept, recent) = (self.options.changes_kept, Arc::clone(&self.recent));
        let done = self.write_then(
            move |mut session| Box::pin(async move { commit(&mut session, batch, changes_kept).await }),
            move |done: &mut Done| {
                if let Some(own) = done.own.take() {
                    recent.put(own);
                }
            },
        );
        Box::pin(async { Ok(done.await?.committed) })
    }
}

/// A commit that is about to be on disk.
struct Done {
    committed: Committed,
    /// What it changed, when that is orders and nothing else that followers take over.
    own: Option<OwnVersion>,
}

impl Done {
    fn unchanged(mark: Mark, replayed: bool, refused: Vec<OrderKey>) -> Self {
        let Mark { version, stamp } = mark;
        Self { committed: Committed { version, stamp, changed: 0, replayed, refused }, own: None }
    }
}

/// Commits within a transaction that changes nothing but this collection, and something beside it.
pub(crate) async fn commit_within(
    session: &mut Session<'_>,
    batch: Batch,
    changes_kept: u64,
) -> Result<Committed, StoreError> {
    Ok(commit(session, batch, changes_kept).await?.committed)
}

async fn commit(session: &mut Session<'_>, batch: Batch, changes_kept: u64) -> Result<Done, StoreError> {
    let id = find_or_create(session, batch.collection).await?;
    let before = hold(session, id).await?;
    if let Some(key) = &batch.key {
        let sql = "INSERT INTO applied_batches (collection_id, batch_key, version) VALUES ($1, $2, $3)
            ON CONFLICT (collection_id, batch_key) DO NOTHING";
        if session.execute(sql, args![id.0, key.as_str(), before.version + 1]).await? == 0 {
            return Ok(Done::unchanged(before, true, Vec::new()));
        }
    }
    let latest = Latest::of(batch.changes, batch.at);
    let said_tokens = match batch.author {
        Author::Chain { .. } | Author::Fetcher => Vec::new(),
        Author::Operator | Author::Steward(_) | Author::Wallet { .. } | Author::Unknown(_) => {
            latest.tokens.keys().copied().collect()
        }
    };
    let (changed, orders) = latest.write(session, id).await?;
    chain::keep_said(session, id, said_tokens).await?;
    if changed.len() == 0 {
        return Ok(Done::unchanged(before, false, orders.refused));
    }
    let authorship = Authorship::new(batch.author, batch.at);
    let next = NextVersion { before, changed: &changed, authorship: &authorship, changes_kept };
    let mark = raise_version(session, id, next).await?;
    let leaves_less = are_some_gone(session, id, &orders.left).await?;
    if leaves_less {
        forget_changes(session, id).await?;
    }
    let refused = orders.refused;
    let committed = Committed {
        version: mark.version,
        stamp: mark.stamp,
        changed: changed.len(),
        replayed: false,
        refused,
    };
    let is_all = !changed.contract && changed.tokens.is_empty() && changed.balances.is_empty();
    let own = || OwnVersion { id, before, mark, orders: orders.changed.into_values().collect() };
    Ok(Done { committed, own: (is_all && !leaves_less).then(own) })
}

/// A version that a collection is about to have.
pub(crate) struct NextVersion<'a> {
    /// The version before it.
    pub(crate) before: Mark,
    pub(crate) changed: &'a Changed,
    /// Who makes it.
    pub(crate) authorship: &'a Authorship,
    pub(crate) changes_kept: u64,
}

/// Raises the version of a collection that is held, and writes down what it changed and who said so; the version.
pub(crate) async fn raise_version(
    session: &mut Session<'_>,
    id: CollectionId,
    next: NextVersion<'_>,
) -> Result<Mark, StoreError> {
    let NextVersion { before, changed, authorship, changes_kept } = next;
    let version = before.version + 1;
    let keys = serde_json::to_string(changed).map_err(|error| StoreError::corrupt("change", error))?;
    let raise =
        format!("UPDATE collection_versions SET version = $2, stamp = {DRAWN} WHERE collection_id = $1");
    let mut statements = vec![Statement::new(raise, args![id.0, version])];
    // What is not kept is not noted either: of statements that go together none forgets what another writes.
    if changes_kept > 0 {
        let note = "INSERT INTO collection_changes (collection_id, version, changed, follows) VALUES ($1, $2, $3, $4)";
        statements.push(Statement::new(note, args![id.0, version, keys, before.stamp]));
    }
    if version > changes_kept {
        let forget = "DELETE FROM collection_changes WHERE collection_id = $1 AND version <= $2";
        statements.push(Statement::new(forget, args![id.0, version - changes_kept]));
    }
    statements.extend(attributions::statement(id, version, changed, authorship)?);
    let stamp = session.write_drawing(statements).await?;
    session.notify_soon();
    Ok(Mark { version, stamp })
}

/// Forgets what the versions of a collection changed, so that all who follow it load everything.
pub(crate) async fn forget_changes(session: &mut Session<'_>, id: CollectionId) -> Result<(), StoreError> {
    let sql = "DELETE FROM collection_changes WHERE collection_id = $1";
    session.execute(sql, args![id.0]).await.map(drop)
}

/// The last change to each thing, sorted, so that statements touch every row once.
#[derive(Default)]
struct Latest {
    contract: Option<String>,
    tokens: BTreeMap<TokenId, String>,
    /// Which of the two above came without a time.
    undated: Undated,
    balances: BTreeMap<(TokenId, Address), Amount>,
    orders: BTreeMap<OrderKey, NewOrder>,
    /// Orders that were stated beside what their makers signed.
    refused: Vec<OrderKey>,
    endings: BTreeMap<OrderKey, Ending>,
    activities: Vec<ActivityFacts>,
}

impl Latest {
    fn of(changes: Vec<Change>, at: Timestamp) -> Self {
        let mut latest = Self::default();
        for change in changes {
            match change {
                Change::Contract(info) => {
                    latest.contract = Some(info);
                    latest.undated.contract = false;
                }
                Change::UndatedContract(info) => {
                    latest.contract = Some(info);
                    latest.undated.contract = true;
                }
                Change::Token { token_id, metadata } => {
                    latest.tokens.insert(token_id, metadata);
                    latest.undated.tokens.remove(&token_id);
                }
                Change::UndatedToken { token_id, metadata } => {
                    latest.tokens.insert(token_id, metadata);
                    latest.undated.tokens.insert(token_id);
                }
                Change::Balance { token_id, account, balance } => {
                    latest.balances.insert((token_id, account), balance);
                }
                Change::Order(facts) => latest.add_stated(*facts),
                Change::SignedOrder(order) => latest.add_signed(*order),
                Change::OrderEnded { key, status } => latest.end_order(key, Ending { status, at }),
                Change::Activity(activity) => latest.activities.push(*activity),
            }
        }
        latest
    }

    /// Takes an order that somebody states. Beside one that was signed it says nothing.
    fn add_stated(&mut self, facts: OrderFacts) {
        let key = facts.key();
        self.endings.remove(&key);
        match self.orders.get(&key) {
            Some(NewOrder { facts: known, signed: Some(_) }) => {
                if !is_same(&facts, known) {
                    self.refused.push(key);
                }
            }
            Some(_) | None => {
                self.orders.insert(key, NewOrder { facts, signed: None });
            }
        }
    }

    fn add_signed(&mut self, SignedOrder { facts, native, nonces }: SignedOrder) {
        let key = facts.key();
        self.endings.remove(&key);
        let stated = self.orders.get(&key).filter(|known| known.signed.is_none());
        if stated.is_some_and(|stated| !is_same(&stated.facts, &facts)) {
            self.refused.push(key.clone());
        }
        self.orders.insert(key, NewOrder { facts, signed: Some((native, nonces)) });
    }

    fn end_order(&mut self, key: OrderKey, ending: Ending) {
        match self.orders.get_mut(&key) {
            Some(order) => ending.end(&mut order.facts),
            None => _ = self.endings.insert(key, ending),
        }
    }

    /// Writes everything and tells what is different now, with what became of the orders.
    async fn write(
        mut self,
        session: &mut Session<'_>,
        id: CollectionId,
    ) -> Result<(Changed, PutOrders), StoreError> {
        let mut changed = Changed::default();
        self.undated.drop_unchanged(session, id, &mut self.contract, &mut self.tokens).await?;
        if let Some(info) = self.contract {
            let sql = "INSERT INTO contracts (collection_id, info) VALUES ($1, $2)
                ON CONFLICT (collection_id) DO UPDATE SET info = excluded.info WHERE contracts.info <> excluded.info";
            changed.contract = session.execute(sql, args![id.0, info]).await? > 0;
        }
        let tokens = self.tokens.into_iter();
        let tokens = tokens.map(|(token_id, metadata)| StoredToken { token_id, metadata });
        let replace = or_replace_different::<StoredToken>(&[], &[]);
        let written = session
            .insert_returning(Insert::owned(id, tokens)?.held_in_a_row::<StoredToken>(), &replace)
            .await?;
        changed.tokens = written.into_iter().map(|WrittenToken { token_id }| token_id).collect();
        let balances = self.balances.into_iter();
        let balances = balances.map(|((token_id, account), balance)| Balance { token_id, account, balance });
        let replace = or_replace_different::<Balance>(&[], &[]);
        let written = session
            .insert_returning(Insert::owned(id, balances)?.held_in_a_row::<Balance>(), &replace)
            .await?;
        changed.balances =
            written.into_iter().map(|WrittenBalance { token_id, account }| (token_id, account)).collect();
        let mut orders = put_orders::put(session, id, self.orders).await?;
        orders.changed.extend(put_orders::end(session, id, self.endings).await?.changed);
        orders.refused.extend(self.refused);
        changed.orders = orders.changed.keys().cloned().collect();
        changed.activities = activities::put(session, id, self.activities).await?;
        Ok((changed, orders))
    }
}

/// Whether an order that somebody states is what was signed, as far as anybody can state it.
fn is_same(stated: &OrderFacts, signed: &OrderFacts) -> bool {
    let OrderFacts { operator, backing, updated_at, is_whole, .. } = *signed;
    OrderFacts { operator, backing, updated_at, is_whole, ..stated.clone() } == *signed
}

selection! {
    struct WrittenToken {
        token_id: TokenId,
    }
}

selection! {
    struct WrittenBalance {
        token_id: TokenId,
        account: Address,
    }
}
