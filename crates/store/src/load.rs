//! Reading a whole collection.

use bourse_wire::{Address, Amount, OrderFacts, TokenId};
use tokio::sync::mpsc::Sender;

use crate::StoreError;
use crate::backend::{Engine, Pending, Store};
use crate::collections::{CollectionId, Mark, StoredToken};
use crate::columns::{self, Columns, Record};
use crate::orders::is_known;
use crate::row::Row;

/// One piece of a collection's whole state, in the order they come: `Begin` first, then the rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Everything that follows is of this version.
    Begin {
        /// The collection's version.
        mark: Mark,
    },
    /// The contract's information, as JSON text.
    Contract(String),
    /// Some of the tokens.
    Tokens(Vec<StoredToken>),
    /// Some of the balances.
    Balances(Vec<Balance>),
    /// Some of the orders.
    Orders(Vec<OrderFacts>),
}

/// What an account holds of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Token id.
    pub token_id: TokenId,
    /// The holder.
    pub account: Address,
    /// How much; zero for nothing.
    pub balance: Amount,
}

impl Store {
    /// Everything of a collection, read from one state of the database and sent piece by piece, so that a million
    /// tokens never lie in memory twice. Ends early without error when the receiver is gone.
    pub fn load(&self, id: CollectionId, parts: Sender<Part>) -> Pending<'_, ()> {
        Box::pin(async move {
            match &self.engine {
                Engine::Sqlite(engine) => engine.load(id, parts).await.or_else(LoadEnd::into_result),
                Engine::Postgres(engine) => engine.load(id, parts).await,
            }
        })
    }
}

/// Why sending ended early.
pub(crate) enum LoadEnd {
    ReceiverGone,
    Failed(StoreError),
}

impl LoadEnd {
    /// A receiver that is gone is no failure.
    pub(crate) fn into_result(self) -> Result<(), StoreError> {
        match self {
            Self::ReceiverGone => Ok(()),
            Self::Failed(error) => Err(error),
        }
    }
}

impl<E: Into<StoreError>> From<E> for LoadEnd {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Records of which a collection has many, and the parts that they make.
pub(crate) trait Loaded: Columns + Record {
    fn part(records: Vec<Self>) -> Part;

    /// Which of them can be read, where not all can.
    fn known() -> Option<String> {
        None
    }
}

impl Loaded for StoredToken {
    fn part(tokens: Vec<Self>) -> Part {
        Part::Tokens(tokens)
    }
}

impl Loaded for Balance {
    fn part(balances: Vec<Self>) -> Part {
        Part::Balances(balances)
    }
}

impl Loaded for OrderFacts {
    fn part(orders: Vec<Self>) -> Part {
        Part::Orders(orders)
    }

    fn known() -> Option<String> {
        Some(is_known())
    }
}

/// Records in one part.
const PART_RECORDS: usize = 1_000;

/// The statement that reads all records of a collection.
pub(crate) fn select_all<T: Loaded>() -> String {
    let known = T::known().map_or_else(String::new, |known| format!(" AND {known}"));
    format!("SELECT {} FROM {} WHERE collection_id = $1{known}", columns::list::<T>(), T::TABLE)
}

/// Gathers records into parts.
pub(crate) struct Gatherer<T> {
    records: Vec<T>,
}

impl<T: Loaded> Gatherer<T> {
    pub(crate) fn new() -> Self {
        Self { records: Vec::with_capacity(PART_RECORDS) }
    }

    /// Takes a row, and gives a part when it is full.
    pub(crate) fn add(&mut self, row: &Row) -> Result<Option<Part>, StoreError> {
        self.records.push(columns::read(row)?);
        if self.records.len() < PART_RECORDS {
            return Ok(None);
        }
        let full = std::mem::replace(&mut self.records, Vec::with_capacity(PART_RECORDS));
        Ok(Some(T::part(full)))
    }

    /// What is left.
    pub(crate) fn finish(self) -> Option<Part> {
        (!self.records.is_empty()).then(|| T::part(self.records))
    }
}
