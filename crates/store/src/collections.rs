//! Reading collections.

use std::collections::BTreeSet;

use bourse_wire::{Address, ChainId, TokenId};

use crate::args::{Arg, args};
use crate::backend::{Sequence, Store};
use crate::load::Balance;
use crate::row::Row;
use crate::session::{Session, list};
use crate::{StoreError, market_projects};

/// A collection as the world knows it: a contract on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionKey {
    /// Chain.
    pub chain: ChainId,
    /// Contract address.
    pub address: Address,
}

/// A collection as the database knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub(crate) u64);

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

/// Who holds a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holders {
    /// How many accounts hold some of it.
    pub count: u64,
    /// Those with the most, the largest first.
    pub largest: Vec<Balance>,
}

impl Store {
    /// Finds a collection.
    pub async fn collection(&self, key: CollectionKey) -> Result<Option<CollectionId>, StoreError> {
        self.read(move |mut session| Box::pin(async move { find(&mut session, key).await })).await
    }

    /// Collections of a chain in the order of their numbers, from the one after a number on.
    pub async fn collections_of(
        &self,
        chain: ChainId,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(CollectionId, CollectionKey)>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT collection_id, contract_address FROM collections
                    WHERE chain_id = $1 AND collection_id > $2 ORDER BY collection_id LIMIT $3";
                let rows = session.all(sql, args![chain, after, limit]).await?;
                rows.iter()
                    .map(|row| {
                        let key = CollectionKey { chain, address: row.parse(1, "contract address")? };
                        Ok((CollectionId(row.u64(0, "collection id")?), key))
                    })
                    .collect()
            })
        })
        .await
    }

    /// The versions of these collections, in no order.
    pub async fn versions(&self, ids: Vec<CollectionId>) -> Result<Vec<(CollectionId, u64)>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = format!(
                    "SELECT collection_id, version FROM collection_versions WHERE collection_id IN ({})",
                    list(ids.len(), 0)
                );
                let rows = session.all(sql, ids.iter().map(|id| Arg::from(id.0)).collect()).await?;
                rows.iter()
                    .map(|row| Ok((CollectionId(row.u64(0, "collection id")?), row.u64(1, "version")?)))
                    .collect()
            })
        })
        .await
    }

    /// The metadata of some tokens of a collection.
    pub async fn tokens(
        &self,
        id: CollectionId,
        tokens: Vec<TokenId>,
    ) -> Result<Vec<StoredToken>, StoreError> {
        let tokens: BTreeSet<TokenId> = tokens.into_iter().collect();
        self.read(move |mut session| Box::pin(async move { read_tokens(&mut session, id, tokens).await }))
            .await
    }

    /// Who holds a token: how many, and so many of those with the most.
    pub async fn holders(&self, id: CollectionId, token: TokenId, limit: u64) -> Result<Holders, StoreError> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) FROM balances
                    WHERE collection_id = $1 AND token_id = $2 AND balance <> '0'";
                let count = session.first(sql, args![id.0, token]).await?;
                let count = count.map_or(Ok(0), |row| row.u64(0, "holders"))?;
                // Of two numbers without leading zeros the longer one is the larger.
                let sql = "SELECT account, balance FROM balances
                    WHERE collection_id = $1 AND token_id = $2 AND balance <> '0'
                    ORDER BY LENGTH(balance) DESC, balance DESC, account LIMIT $3";
                let rows = session.all(sql, args![id.0, token, limit]).await?;
                let held = |row: &Row| {
                    let (account, balance) = (row.parse(0, "account")?, row.parse(1, "balance")?);
                    Ok(Balance { token_id: token, account, balance })
                };
                let largest = rows.iter().map(held).collect::<Result<_, StoreError>>()?;
                Ok(Holders { count, largest })
            })
        })
        .await
    }

    /// The contract information of a collection, as JSON text.
    pub async fn contract(&self, id: CollectionId) -> Result<Option<String>, StoreError> {
        self.read(move |mut session| Box::pin(async move { read_contract(&mut session, id).await })).await
    }
}

pub(crate) async fn find(
    session: &mut Session<'_>,
    key: CollectionKey,
) -> Result<Option<CollectionId>, StoreError> {
    let sql = "SELECT collection_id FROM collections WHERE chain_id = $1 AND contract_address = $2";
    let row = session.first(sql, args![key.chain, key.address]).await?;
    row.map(|row| row.u64(0, "collection id").map(CollectionId)).transpose()
}

/// Finds a collection or makes it.
pub(crate) async fn find_or_create(
    session: &mut Session<'_>,
    key: CollectionKey,
) -> Result<CollectionId, StoreError> {
    if let Some(id) = find(session, key).await? {
        return Ok(id);
    }
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

/// Holds a collection until the transaction ends, so that its versions follow each other, whoever commits; its version.
pub(crate) async fn hold(session: &mut Session<'_>, id: CollectionId) -> Result<u64, StoreError> {
    let sql = "UPDATE collection_versions SET version = version WHERE collection_id = $1 RETURNING version";
    let row = session.first(sql, args![id.0]).await?;
    row.ok_or_else(|| StoreError::corrupt("collection version", "missing"))?.u64(0, "version")
}

/// The collection's version, 0 when it has none.
pub(crate) async fn read_version(session: &mut Session<'_>, id: CollectionId) -> Result<u64, StoreError> {
    let sql = "SELECT version FROM collection_versions WHERE collection_id = $1";
    session.first(sql, args![id.0]).await?.map_or(Ok(0), |row| row.u64(0, "version"))
}

pub(crate) async fn read_contract(
    session: &mut Session<'_>,
    id: CollectionId,
) -> Result<Option<String>, StoreError> {
    let row = session.first("SELECT info FROM contracts WHERE collection_id = $1", args![id.0]).await?;
    row.map(|row| row.text(0)).transpose()
}

pub(crate) const SELECT_TOKENS: &str = "SELECT token_id, metadata FROM tokens";
pub(crate) const SELECT_BALANCES: &str = "SELECT token_id, account, balance FROM balances";

/// Those of these tokens that there are.
pub(crate) async fn read_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: impl IntoIterator<Item = TokenId>,
) -> Result<Vec<StoredToken>, StoreError> {
    let keys = tokens.into_iter().map(|token| args![token]).collect();
    session.keyed(SELECT_TOKENS, id, "token_id", keys).await?.iter().map(stored_token).collect()
}

/// Those of these balances that there are.
pub(crate) async fn read_balances(
    session: &mut Session<'_>,
    id: CollectionId,
    balances: impl IntoIterator<Item = (TokenId, Address)>,
) -> Result<Vec<Balance>, StoreError> {
    let keys = balances.into_iter().map(|(token, account)| args![token, account]).collect();
    session.keyed(SELECT_BALANCES, id, "token_id, account", keys).await?.iter().map(balance).collect()
}

pub(crate) fn stored_token(row: &Row) -> Result<StoredToken, StoreError> {
    Ok(StoredToken { token_id: row.parse(0, "token id")?, metadata: row.text(1)? })
}

pub(crate) fn balance(row: &Row) -> Result<Balance, StoreError> {
    Ok(Balance {
        token_id: row.parse(0, "token id")?,
        account: row.parse(1, "account")?,
        balance: row.parse(2, "balance")?,
    })
}
