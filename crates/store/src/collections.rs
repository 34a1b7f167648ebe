//! Reading collections.

use std::fmt;

use std::collections::BTreeSet;

use bourse_wire::{Address, ChainId, TokenId};

use crate::args::args;
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Column, Columns, Reader, record, selection};
use crate::load::Balance;
use crate::session::{Keys, Session};
use crate::{StoreError, market_projects};

/// A collection as the world knows it: a contract on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionKey {
    /// Chain.
    pub chain: ChainId,
    /// Contract address.
    pub address: Address,
}

/// As people read it: `0x… on chain 137`.
impl fmt::Display for CollectionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on chain {}", self.address, self.chain)
    }
}

/// A collection as the database knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub(crate) u64);

selection! { CollectionKey {
    chain = "collections.chain_id",
    address = "collections.contract_address",
} }

impl Columns for CollectionId {
    fn columns(list: &mut Vec<Column>) {
        list.push(Column { table: Some("collections"), name: "collection_id" });
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, StoreError> {
        reader.value("collection_id")
    }
}

impl CollectionId {
    /// The number itself.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// One stored token: its id and its metadata as served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// Token id.
    pub token_id: TokenId,
    /// Metadata as JSON text.
    pub metadata: String,
}

record! { StoredToken: "tokens" ("collection_id, token_id") { token_id, metadata } }

record! { Balance: "balances" ("collection_id, token_id, account") { token_id, account, balance } }

/// Who holds a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holders {
    /// How many accounts hold some of it.
    pub count: u64,
    /// Those with the most, the largest first.
    pub largest: Vec<Balance>,
}

/// A version of something, and the number that was drawn with it. A database that was set back gives out the same versions
/// again, but not the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The version.
    pub version: u64,
    /// The number drawn with it; 0 for versions of before any was.
    pub stamp: u64,
}

selection! { Mark { version, stamp } }

impl Store {
    /// Finds a collection.
    pub fn collection(&self, key: CollectionKey) -> Pending<'_, Option<CollectionId>> {
        self.read(move |mut session| Box::pin(async move { find(&mut session, key).await }))
    }

    /// Collections of a chain in the order of their numbers, from the one after a number on.
    pub fn collections_of(
        &self,
        chain: ChainId,
        after: u64,
        limit: u64,
    ) -> Pending<'_, Vec<(CollectionId, CollectionKey)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM collections WHERE chain_id = $1 AND collection_id > $2
                    ORDER BY collection_id LIMIT $3";
                session.select(sql, args![chain, after, limit]).await
            })
        })
    }

    /// The metadata of some tokens of a collection.
    pub fn tokens(&self, id: CollectionId, tokens: Vec<TokenId>) -> Pending<'_, Vec<StoredToken>> {
        let tokens: BTreeSet<TokenId> = tokens.into_iter().collect();
        self.read(move |mut session| Box::pin(async move { read_tokens(&mut session, id, tokens).await }))
    }

    /// Who holds a token: how many, and so many of those with the most.
    pub fn holders(&self, id: CollectionId, token: TokenId, limit: u64) -> Pending<'_, Holders> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) FROM balances
                    WHERE collection_id = $1 AND token_id = $2 AND balance <> '0'";
                let count = session.value(sql, args![id.0, token]).await?.unwrap_or(0);
                // Of two numbers without leading zeros the longer one is the larger.
                let sql = "FROM balances WHERE collection_id = $1 AND token_id = $2 AND balance <> '0'
                    ORDER BY LENGTH(balance) DESC, balance DESC, account LIMIT $3";
                let largest = session.select(sql, args![id.0, token, limit]).await?;
                Ok(Holders { count, largest })
            })
        })
    }

    /// How many tokens, balances and orders there are of a collection: what [`Store::load`] sends, about.
    pub fn rows(&self, id: CollectionId) -> Pending<'_, u64> {
        self.read(move |mut session| {
            Box::pin(async move {
                let mut rows = 0;
                for table in ["tokens", "balances", "orders"] {
                    let sql = format!("SELECT COUNT(*) FROM {table} WHERE collection_id = $1");
                    let counted: Option<u64> = session.value(sql, args![id.0]).await?;
                    rows += counted.unwrap_or_default();
                }
                Ok(rows)
            })
        })
    }

    /// The contract information of a collection, as JSON text.
    pub fn contract(&self, id: CollectionId) -> Pending<'_, Option<String>> {
        self.read(move |mut session| Box::pin(async move { read_contract(&mut session, id).await }))
    }
}

pub(crate) async fn find(
    session: &mut Session<'_>,
    key: CollectionKey,
) -> Result<Option<CollectionId>, StoreError> {
    let sql = "SELECT collection_id FROM collections WHERE chain_id = $1 AND contract_address = $2";
    session.value(sql, args![key.chain, key.address]).await
}

/// Finds a collection or makes it.
pub(crate) async fn find_or_create(
    session: &mut Session<'_>,
    key: CollectionKey,
) -> Result<CollectionId, StoreError> {
    if let Some(id) = find(session, key).await? {
        return Ok(id);
    }
    hold_contract(session, key).await?;
    let id = session.next_id(Sequence::Collection).await?;
    let sql = "INSERT INTO collections (collection_id, chain_id, contract_address) VALUES ($1, $2, $3)
        ON CONFLICT (chain_id, contract_address) DO NOTHING";
    if session.execute(sql, args![id, key.chain, key.address]).await? == 0 {
        // Somebody else made it first; the conflict waited for their commit, so it is there now.
        return find(session, key).await?.ok_or_else(|| StoreError::corrupt("collection", "made and gone"));
    }
    let sql = "INSERT INTO collection_versions (collection_id, version) VALUES ($1, 0)";
    session.execute(sql, args![id]).await?;
    market_projects::join_all_linked(session, key, CollectionId(id)).await?;
    Ok(CollectionId(id))
}

/// Holds a contract until the transaction ends, whether there is a collection of it or not. Who makes the collection and then
/// looks for links of the contract, and who links the contract and then looks for its collection, both hold it before they look:
/// else neither sees what the other has not committed yet.
pub(crate) async fn hold_contract(session: &mut Session<'_>, key: CollectionKey) -> Result<(), StoreError> {
    // Addresses are hashes. Two that share a number wait for each other, and nothing worse.
    let last = key.address.bytes().last_chunk().copied().unwrap_or_default();
    session.hold_number((u64::from_be_bytes(last) ^ key.chain.0).cast_signed()).await
}

/// Holds a collection until the transaction ends, so that its versions follow each other, whoever commits; its version.
pub(crate) async fn hold(session: &mut Session<'_>, id: CollectionId) -> Result<Mark, StoreError> {
    let sql = "UPDATE collection_versions SET version = version WHERE collection_id = $1";
    let mark = session.returning(sql, args![id.0]).await?;
    mark.ok_or_else(|| hidden(id))
}

/// The collection's version, 0 when it has none.
pub(crate) async fn read_version(session: &mut Session<'_>, id: CollectionId) -> Result<Mark, StoreError> {
    Ok(find_version(session, id).await?.unwrap_or_default())
}

/// The version of a collection that is known to have been made.
pub(crate) async fn require_version(session: &mut Session<'_>, id: CollectionId) -> Result<Mark, StoreError> {
    find_version(session, id).await?.ok_or_else(|| hidden(id))
}

async fn find_version(session: &mut Session<'_>, id: CollectionId) -> Result<Option<Mark>, StoreError> {
    session.select_first("FROM collection_versions WHERE collection_id = $1", args![id.0]).await
}

/// A collection is made with its version, which on a cluster is on another node. One without was made in a transaction that its
/// node does not know the end of yet: what there is of it cannot be seen.
fn hidden(CollectionId(number): CollectionId) -> StoreError {
    let reason = format!("collection {number} is not seen yet by the node of the cluster that it is on");
    StoreError::Unavailable(reason.into())
}

pub(crate) async fn read_contract(
    session: &mut Session<'_>,
    id: CollectionId,
) -> Result<Option<String>, StoreError> {
    session.value("SELECT info FROM contracts WHERE collection_id = $1", args![id.0]).await
}

/// Those of these tokens that there are.
pub(crate) async fn read_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: impl IntoIterator<Item = TokenId>,
) -> Result<Vec<StoredToken>, StoreError> {
    let keys = tokens.into_iter().map(|token| args![token]).collect();
    session.keyed(id, Keys { from: "tokens", columns: "token_id", keys }).await
}

/// Those of these balances that there are.
pub(crate) async fn read_balances(
    session: &mut Session<'_>,
    id: CollectionId,
    balances: impl IntoIterator<Item = (TokenId, Address)>,
) -> Result<Vec<Balance>, StoreError> {
    let keys = balances.into_iter().map(|(token, account)| args![token, account]).collect();
    session.keyed(id, Keys { from: "balances", columns: "token_id, account", keys }).await
}

/// Whether there are some of these tokens no more, so that followers would not find out from the changes.
pub(crate) async fn are_some_gone(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: &BTreeSet<TokenId>,
) -> Result<bool, StoreError> {
    Ok(known_tokens(session, id, tokens.iter().copied()).await?.len() < tokens.len())
}

/// Those of these tokens that there are, without what is known of them.
pub(crate) async fn known_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: impl IntoIterator<Item = TokenId>,
) -> Result<Vec<TokenId>, StoreError> {
    selection! {
        struct Found {
            token_id: TokenId,
        }
    }
    let keys = tokens.into_iter().map(|token| args![token]).collect();
    let found: Vec<Found> = session.keyed(id, Keys { from: "tokens", columns: "token_id", keys }).await?;
    Ok(found.into_iter().map(|Found { token_id }| token_id).collect())
}
