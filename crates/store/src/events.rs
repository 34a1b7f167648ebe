//! What wallets did, as it was reported.

use std::collections::BTreeMap;

use bourse_wire::{Address, ProjectId, Timestamp};

use crate::args::args;
use crate::backend::Store;
use crate::row::Row;
use crate::session::Session;
use crate::{ProjectScope, StoreError};

/// One thing a wallet did, kept as it was reported.
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

/// Keeps events as they are. One whose id is known stays as it was.
pub(crate) async fn insert_events(
    session: &mut Session<'_>,
    project: ProjectId,
    events: Vec<Event>,
) -> Result<(), StoreError> {
    let unique: BTreeMap<String, Event> = events.into_iter().map(|event| (event.id.clone(), event)).collect();
    let rows = unique
        .into_values()
        .map(|event| args![project, event.id, event.wallet, event.kind as u8, event.at])
        .collect();
    let head = "INSERT INTO events (project_id, event_id, wallet, kind, at)";
    session.insert(head, "ON CONFLICT (project_id, event_id) DO NOTHING", rows).await.map(drop)
}

impl Store {
    /// Removes what is kept of a wallet's events; tells how many there were.
    pub async fn forget_events(&self, scope: ProjectScope, wallet: Address) -> Result<u64, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM events WHERE project_id = $1 AND wallet = $2";
                session.execute(sql, args![scope.project(), wallet]).await
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
