//! A copy of the database that PostgreSQL keeps, and that whole collections are read from.

use tokio::sync::mpsc::Sender;

use crate::backend::postgres::Postgres;
use crate::{CollectionId, OpenOptions, Part, Pending, StoreError};

/// A server that follows that of the database. It may be behind, and of another history after a fail-over: which version of a
/// collection it has is told with it, and the store tells what came since, or that it does not know that version.
#[derive(Clone)]
pub struct Replica(Postgres);

impl Replica {
    /// Connects when it is first asked: nothing depends on its being there.
    pub fn open(url: &str, options: OpenOptions) -> Result<Self, StoreError> {
        Postgres::open_replica(url, options).map(Self)
    }

    /// As [`Store::load`](crate::Store::load), of a version that may be old.
    pub fn load(&self, id: CollectionId, parts: Sender<Part>) -> Pending<'_, ()> {
        Box::pin(self.0.load(id, parts))
    }
}
