//! What accounts hold, whatever collections it is of.

use bourse_wire::{Address, Amount, TokenId};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::collections::{CollectionId, CollectionKey, read_balances};
use crate::columns::selection;
use crate::load::Balance;
use crate::session::{Session, list};

/// What an account holds from a place on.
const HELD: &str =
    "FROM balances WHERE account = $1 AND balance <> '0' AND (collection_id, token_id) > ($2, $3)
    ORDER BY collection_id, token_id LIMIT $4";

/// The same in one collection.
const HELD_IN: &str =
    "FROM balances WHERE account = $1 AND balance <> '0' AND collection_id = $2 AND token_id > $3
    ORDER BY token_id LIMIT $4";

/// Who holds a token.
const HOLDERS: &str =
    "FROM balances WHERE collection_id = $1 AND token_id = $2 AND account > $3 AND balance <> '0'
    ORDER BY account LIMIT $4";

/// Something that an account holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The collection it is of.
    pub collection: CollectionId,
    /// The token.
    pub token_id: TokenId,
    /// How much of it.
    pub balance: Amount,
}

/// What an account holds from a place on, with the collections that it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// In order.
    pub held: Vec<Holding>,
    /// Each once.
    pub collections: Vec<KnownCollection>,
}

/// A collection by its number, with what its contract says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCollection {
    /// Its number.
    pub id: CollectionId,
    /// Chain and address.
    pub key: CollectionKey,
    /// Contract information as JSON text, when anything is known.
    pub info: Option<String>,
}

impl Store {
    /// What an account holds, by collection and in it by the text of the token's id: from a collection on, and there after a
    /// token; so much at most. An index has it in this order, so that it costs what it answers, however much is held.
    pub fn holdings(
        &self,
        account: Address,
        from: u64,
        after: Option<TokenId>,
        limit: u64,
    ) -> Pending<'_, Holdings> {
        // No id is the empty text, which comes before all of them.
        let after = after.map_or_else(String::new, |token| token.to_string());
        let args = args![account, from, after, limit];
        self.read(move |mut session| {
            Box::pin(async move {
                let found: Vec<HeldRow> = session.select(HELD, args).await?;
                let held: Vec<Holding> = found.into_iter().map(Holding::from).collect();
                let mut ids: Vec<CollectionId> = held.iter().map(|held| held.collection).collect();
                ids.dedup();
                let collections = known(&mut session, &ids).await?;
                Ok(Holdings { held, collections })
            })
        })
    }

    /// What an account holds of one collection, by the text of the token's id: after a token, and so much at most.
    pub fn holdings_in(
        &self,
        id: CollectionId,
        account: Address,
        after: Option<TokenId>,
        limit: u64,
    ) -> Pending<'_, Vec<Holding>> {
        let after = after.map_or_else(String::new, |token| token.to_string());
        let args = args![account, id.0, after, limit];
        self.read(move |mut session| {
            Box::pin(async move {
                let found: Vec<HeldRow> = session.select(HELD_IN, args).await?;
                Ok(found.into_iter().map(Holding::from).collect())
            })
        })
    }

    /// What an account holds of some tokens of a collection, as far as it is something.
    pub fn held_tokens(
        &self,
        id: CollectionId,
        account: Address,
        tokens: Vec<TokenId>,
    ) -> Pending<'_, Vec<Holding>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let keys = tokens.into_iter().map(|token| (token, account));
                let held = read_balances(&mut session, id, keys).await?;
                let holding = |held: Balance| Holding {
                    collection: id,
                    token_id: held.token_id,
                    balance: held.balance,
                };
                Ok(held.into_iter().map(holding).filter(|held| held.balance != Amount::ZERO).collect())
            })
        })
    }

    /// Who holds a token of a collection, by the texts of accounts: after one of them, and so many at most. [`Store::holders`] tells who
    /// holds most.
    pub fn holders_after(
        &self,
        id: CollectionId,
        token: TokenId,
        after: Option<Address>,
        limit: u64,
    ) -> Pending<'_, Vec<Balance>> {
        // No account is the empty text, which comes before all of them.
        let after = after.map_or_else(String::new, |account| account.to_string());
        let args = args![id.0, token, after, limit];
        self.read(move |mut session| Box::pin(async move { session.select(HOLDERS, args).await }))
    }

    /// Collections by their numbers, those that there are.
    pub fn known_collections(&self, ids: &[CollectionId]) -> Pending<'_, Vec<KnownCollection>> {
        let ids = ids.to_vec();
        self.read(move |mut session| Box::pin(async move { known(&mut session, &ids).await }))
    }
}

async fn known(session: &mut Session<'_>, ids: &[CollectionId]) -> Result<Vec<KnownCollection>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<Arg> = ids.iter().map(|id| Arg::from(id.number())).collect();
    let among = list(numbers.len(), 0);
    let sql = format!("FROM collections WHERE collection_id IN ({among})");
    let keys: Vec<(CollectionId, CollectionKey)> = session.select(sql, numbers.clone()).await?;
    // Contracts lie with their collections, where tables are distributed.
    let sql = format!("FROM contracts WHERE collection_id IN ({among})");
    let mut infos: Vec<InfoRow> = session.select(sql, numbers).await?;
    let known = |(id, key): (CollectionId, CollectionKey)| {
        let info = infos.iter_mut().find(|row| row.collection_id == id.number());
        KnownCollection { id, key, info: info.map(|row| std::mem::take(&mut row.info)) }
    };
    Ok(keys.into_iter().map(known).collect())
}

selection! {
    struct HeldRow {
        collection_id: u64,
        token_id: TokenId,
        balance: Amount,
    }
}

selection! {
    struct InfoRow {
        collection_id: u64,
        info: String,
    }
}

impl From<HeldRow> for Holding {
    fn from(HeldRow { collection_id, token_id, balance }: HeldRow) -> Self {
        Self { collection: CollectionId(collection_id), token_id, balance }
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::Timestamp;

    use super::*;
    use crate::{DatabaseUrl, OpenOptions};

    /// Whoever holds a million tokens is asked for a page of them, and nobody sorts.
    #[tokio::test]
    async fn what_is_held_is_found_in_its_order_by_an_index() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let url = DatabaseUrl::Sqlite(path.clone());
        let store = Store::open(&url, OpenOptions::default(), Timestamp::ZERO).await.unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN SELECT collection_id, token_id, balance {HELD}");
        let mut explained = connection.prepare(&sql).unwrap();
        let detail = |row: &rusqlite::Row<'_>| row.get::<_, String>("detail");
        let plan: Vec<String> =
            explained.query_map((0, 0, 0, 0), detail).unwrap().collect::<Result<_, _>>().unwrap();
        let by_index =
            "SEARCH balances USING INDEX balances_of_account (account=? AND (collection_id,token_id)>(?,?))";
        assert_eq!(plan, [by_index]);
        store.close().await;
    }
}
