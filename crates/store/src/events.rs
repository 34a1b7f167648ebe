//! What wallets did, as it was reported.

use std::collections::BTreeMap;

use bourse_wire::{Address, Timestamp};
use serde::Deserialize;

use crate::args::args;
use crate::backend::Store;
use crate::{ProjectScope, StoreError, projects};

/// One thing a wallet did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name within the project: the same event, reported again, counts once.
    pub id: String,
    /// Who.
    pub wallet: Address,
    /// What.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
}

/// What a wallet did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum EventKind {
    /// It was there.
    Session = 1,
    /// It sent a transaction.
    Transaction = 2,
    /// It bought or sold.
    Market = 3,
}

impl Store {
    /// Stores events; tells how many were new.
    pub async fn put_events(&self, scope: ProjectScope, events: Vec<Event>) -> Result<u64, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                let unique: BTreeMap<String, Event> =
                    events.into_iter().map(|event| (event.id.clone(), event)).collect();
                let rows = unique
                    .into_values()
                    .map(|event| args![scope.project(), event.id, event.wallet, event.kind as u8, event.at])
                    .collect();
                let head = "INSERT INTO events (project_id, event_id, wallet, kind, at)";
                let tail = "ON CONFLICT (project_id, event_id) DO NOTHING RETURNING 1";
                Ok(session.insert(head, tail, rows).await?.len() as u64)
            })
        })
        .await
    }

    /// How many events a project has.
    pub async fn event_count(&self, scope: ProjectScope) -> Result<u64, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) FROM events WHERE project_id = $1";
                session
                    .first(sql, args![scope.project()])
                    .await?
                    .map_or(Ok(0), |row| row.u64(0, "event count"))
            })
        })
        .await
    }
}
