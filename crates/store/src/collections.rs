//! Reading collections.

use bourse_wire::{Address, Amount, ChainId, TokenId};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::{Sequence, Store};
use crate::commit::Changed;
use crate::session::{Session, list};

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

/// One stored token: its id and its metadata as served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// Token id.
    pub token_id: TokenId,
    /// Metadata as JSON text.
    pub metadata: String,
}

/// What a follower of a collection takes over: its whole state, or what changed since the version it had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedCollection {
    /// The version this is the state of.
    pub version: u64,
    /// Whether this is everything, to start from, rather than what changed.
    pub whole: bool,
    /// Contract information as JSON text.
    pub contract: Option<String>,
    /// Tokens.
    pub tokens: Vec<StoredToken>,
}

/// Tokens read by one statement.
const TOKENS_PER_READ: usize = 500;

impl Store {
    /// Finds a collection.
    pub async fn collection(&self, key: CollectionKey) -> Result<Option<CollectionId>, StoreError> {
        self.read(move |mut session| Box::pin(async move { find(&mut session, key).await })).await
    }

    /// Bytes of metadata that a collection's tokens have together.
    pub async fn collection_bytes(&self, id: CollectionId) -> Result<u64, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                // Both engines' `LENGTH` counts characters.
                let sql = "SELECT CAST(COALESCE(SUM(OCTET_LENGTH(metadata)), 0) AS BIGINT) FROM tokens
                    WHERE collection_id = $1";
                let row = session.first(sql, args![id.0]).await?;
                row.map_or(Ok(0), |row| row.u64(0, "metadata size"))
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

    /// Everything of a collection, or only what changed after `since`. Read from one state of the database, so that
    /// what comes back is exactly the state of its version. A follower too far behind the change log gets everything.
    pub async fn load(&self, id: CollectionId, since: Option<u64>) -> Result<LoadedCollection, StoreError> {
        self.snapshot(move |mut session| Box::pin(async move { load(&mut session, id, since).await })).await
    }

    /// The metadata of some tokens of a collection.
    pub async fn tokens(
        &self,
        id: CollectionId,
        tokens: Vec<TokenId>,
    ) -> Result<Vec<StoredToken>, StoreError> {
        self.read(move |mut session| Box::pin(async move { read_tokens(&mut session, id, &tokens).await }))
            .await
    }

    /// Who holds how much of which token of a collection.
    pub async fn balances(&self, id: CollectionId) -> Result<Vec<(TokenId, Address, Amount)>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT token_id, account, balance FROM balances WHERE collection_id = $1";
                let rows = session.all(sql, args![id.0]).await?;
                let balance = |row: &crate::row::Row| {
                    Ok((row.parse(0, "token id")?, row.parse(1, "account")?, row.parse(2, "balance")?))
                };
                rows.iter().map(balance).collect()
            })
        })
        .await
    }

    /// The contract information of a collection, as JSON text.
    pub async fn contract(&self, id: CollectionId) -> Result<Option<String>, StoreError> {
        self.read(move |mut session| Box::pin(async move { read_contract(&mut session, id).await })).await
    }
}

async fn find(session: &mut Session<'_>, key: CollectionKey) -> Result<Option<CollectionId>, StoreError> {
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
    Ok(CollectionId(id))
}

async fn load(
    session: &mut Session<'_>,
    id: CollectionId,
    since: Option<u64>,
) -> Result<LoadedCollection, StoreError> {
    let sql = "SELECT version FROM collection_versions WHERE collection_id = $1";
    let version = session.first(sql, args![id.0]).await?.map_or(Ok(0), |row| row.u64(0, "version"))?;
    if let Some(since) = since
        && let Some(changed) = changed_between(session, id, since, version).await?
    {
        let contract = if changed.contract { read_contract(session, id).await? } else { None };
        let tokens = read_tokens(session, id, &changed.tokens).await?;
        return Ok(LoadedCollection { version, whole: false, contract, tokens });
    }
    let contract = read_contract(session, id).await?;
    let sql = "SELECT token_id, metadata FROM tokens WHERE collection_id = $1";
    let rows = session.all(sql, args![id.0]).await?;
    let tokens = rows.iter().map(stored_token).collect::<Result<_, _>>()?;
    Ok(LoadedCollection { version, whole: true, contract, tokens })
}

/// What changed after one version and up to another, or `None` when the log no longer has all of it.
async fn changed_between(
    session: &mut Session<'_>,
    id: CollectionId,
    since: u64,
    version: u64,
) -> Result<Option<Changed>, StoreError> {
    let sql =
        "SELECT changed FROM collection_changes WHERE collection_id = $1 AND version > $2 ORDER BY version";
    let rows = session.all(sql, args![id.0, since]).await?;
    if rows.len() as u64 != version.saturating_sub(since) {
        return Ok(None);
    }
    let mut all = Changed::default();
    for row in &rows {
        all.merge(row.json(0, "change")?);
    }
    Ok(Some(all))
}

async fn read_contract(session: &mut Session<'_>, id: CollectionId) -> Result<Option<String>, StoreError> {
    let row = session.first("SELECT info FROM contracts WHERE collection_id = $1", args![id.0]).await?;
    row.map(|row| row.text(0)).transpose()
}

async fn read_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: &[TokenId],
) -> Result<Vec<StoredToken>, StoreError> {
    let mut found = Vec::with_capacity(tokens.len());
    for chunk in tokens.chunks(TOKENS_PER_READ) {
        let sql = format!(
            "SELECT token_id, metadata FROM tokens WHERE collection_id = $1 AND token_id IN ({})",
            list(chunk.len(), 1)
        );
        let mut args = args![id.0];
        args.extend(chunk.iter().map(|token| Arg::from(*token)));
        for row in &session.all(sql, args).await? {
            found.push(stored_token(row)?);
        }
    }
    Ok(found)
}

fn stored_token(row: &crate::row::Row) -> Result<StoredToken, StoreError> {
    Ok(StoredToken { token_id: row.parse(0, "token id")?, metadata: row.text(1)? })
}
