//! Reading a whole collection.

use bourse_wire::{Address, Amount, OrderFacts, TokenId};
use tokio::sync::mpsc::Sender;

use crate::StoreError;
use crate::backend::{Engine, Store};
use crate::collections::{CollectionId, SELECT_BALANCES, SELECT_TOKENS, StoredToken, balance, stored_token};
use crate::orders::{SELECT_ORDERS, order};
use crate::row::Row;

/// One piece of a collection's whole state, in the order they come: `Begin` first, then the rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Everything that follows is of this version.
    Begin {
        /// The collection's version.
        version: u64,
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
    pub async fn load(&self, id: CollectionId, parts: Sender<Part>) -> Result<(), StoreError> {
        let sent = match &self.engine {
            Engine::Sqlite(engine) => engine.load(id, parts).await,
            Engine::Postgres(engine) => engine.load(id, parts).await,
        };
        match sent {
            Ok(()) | Err(Stop::ReceiverGone) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}

/// Why sending ended early.
pub(crate) enum Stop {
    ReceiverGone,
    Failed(StoreError),
}

impl<E: Into<StoreError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// How the records of one kind are read, and which parts they make.
pub(crate) struct Kind<T> {
    pub(crate) select: &'static str,
    read: fn(&Row) -> Result<T, StoreError>,
    part: fn(Vec<T>) -> Part,
}

pub(crate) const TOKENS: Kind<StoredToken> =
    Kind { select: SELECT_TOKENS, read: stored_token, part: Part::Tokens };
pub(crate) const BALANCES: Kind<Balance> =
    Kind { select: SELECT_BALANCES, read: balance, part: Part::Balances };
pub(crate) const ORDERS: Kind<OrderFacts> = Kind { select: SELECT_ORDERS, read: order, part: Part::Orders };

/// Records in one part.
const PART_RECORDS: usize = 1_000;

/// Gathers records into parts.
pub(crate) struct Gatherer<T> {
    kind: Kind<T>,
    records: Vec<T>,
}

impl<T> Gatherer<T> {
    pub(crate) fn new(kind: Kind<T>) -> Self {
        Self { kind, records: Vec::with_capacity(PART_RECORDS) }
    }

    /// Takes a row, and gives a part when it is full.
    pub(crate) fn add(&mut self, row: &Row) -> Result<Option<Part>, StoreError> {
        self.records.push((self.kind.read)(row)?);
        if self.records.len() < PART_RECORDS {
            return Ok(None);
        }
        let full = std::mem::replace(&mut self.records, Vec::with_capacity(PART_RECORDS));
        Ok(Some((self.kind.part)(full)))
    }

    /// What is left.
    pub(crate) fn finish(self) -> Option<Part> {
        (!self.records.is_empty()).then(|| (self.kind.part)(self.records))
    }
}
