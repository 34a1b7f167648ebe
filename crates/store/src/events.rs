//! What wallets did, as it was reported.

use std::collections::BTreeMap;

use bourse_wire::{Address, Timestamp};

use crate::args::args;
use crate::backend::Store;
use crate::row::Row;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Every event of a project, in no order.
    pub async fn events(&self, scope: ProjectScope) -> Result<Vec<Event>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT event_id, wallet, kind, at FROM events WHERE project_id = $1";
                session.all(sql, args![scope.project()]).await?.iter().map(event).collect()
            })
        })
        .await
    }
}

fn event(row: &Row) -> Result<Event, StoreError> {
    let kind = match row.i64(2)? {
        1 => EventKind::Session,
        2 => EventKind::Transaction,
        3 => EventKind::Market,
        other => return Err(StoreError::corrupt("event kind", other)),
    };
    Ok(Event { id: row.text(0)?, wallet: row.parse(1, "wallet")?, kind, at: row.parse(3, "event time")? })
}
