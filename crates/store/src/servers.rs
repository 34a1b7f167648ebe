//! The servers that share collections, and that they are alive.

use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace, record};

/// A server that shares collections with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRow {
    /// What it drew when it started.
    pub id: String,
    /// Host and port where others reach it.
    pub address: String,
    /// A counter that it raises for as long as it is alive.
    pub beat: u64,
    /// The version of the program.
    pub version: String,
}

record! { ServerRow: "servers" ("id") { id, address, beat, version } }

impl Store {
    /// Tells that a server is alive, forgets those that are not, if their counters still are what they were, and learns of
    /// all.
    pub fn beat(&self, server: ServerRow, gone: Vec<(String, u64)>) -> Pending<'_, Vec<ServerRow>> {
        self.write(move |mut session| {
            Box::pin(async move {
                for (id, beat) in gone {
                    session
                        .execute("DELETE FROM servers WHERE id = $1 AND beat = $2", args![id, beat])
                        .await?;
                }
                session.insert(Insert::of([server])?, &or_replace::<ServerRow>(&[])).await?;
                session.select("FROM servers", args![]).await
            })
        })
    }

    /// All servers, for one that tells nothing of itself any more.
    pub fn servers(&self) -> Pending<'_, Vec<ServerRow>> {
        self.read(move |mut session| Box::pin(async move { session.select("FROM servers", args![]).await }))
    }

    /// Tells that a server is there no more.
    pub fn remove_server(&self, id: String) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                session.execute("DELETE FROM servers WHERE id = $1", args![id]).await?;
                Ok(())
            })
        })
    }
}
