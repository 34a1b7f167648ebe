//! What wallets did, as it was reported.

use std::collections::BTreeMap;

use bourse_wire::{Address, ProjectId, Timestamp};

use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::columns::{Insert, Value, or_nothing, record};
use crate::row::Cell;
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
    session.insert(Insert::owned(project, unique.into_values())?, &or_nothing::<Event>()).await
}

record! { Event: "events" ("project_id, event_id") { id = "event_id", wallet, kind, at } }

impl Value for EventKind {
    const NULL: Arg = Arg::Int(None);

    fn read(cell: Cell<'_>) -> Result<Self, StoreError> {
        match cell.i64()? {
            1 => Ok(Self::Session),
            2 => Ok(Self::Transaction),
            3 => Ok(Self::Market),
            other => Err(cell.corrupt(other)),
        }
    }

    fn arg(&self) -> Result<Arg, StoreError> {
        Ok(Arg::from(*self as u8))
    }
}

impl Store {
    /// Removes what is kept of a wallet's events; tells how many there were.
    pub fn forget_events(&self, scope: ProjectScope, wallet: Address) -> Pending<'_, u64> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM events WHERE project_id = $1 AND wallet = $2";
                session.execute(sql, args![scope.project(), wallet]).await
            })
        })
    }

    /// So many events of a project in the order of their ids, after one of them or from the first one on.
    pub fn events_after(
        &self,
        scope: ProjectScope,
        after: Option<String>,
        limit: u64,
    ) -> Pending<'_, Vec<Event>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let (is_after, id) = match after {
                    Some(id) => ("AND event_id > $3", args![id]),
                    None => ("", Vec::new()),
                };
                let sql = format!("FROM events WHERE project_id = $1 {is_after} ORDER BY event_id LIMIT $2");
                session.select(sql, [args![scope.project(), limit], id].concat()).await
            })
        })
    }

    /// Every event of a project, in no order.
    pub fn events(&self, scope: ProjectScope) -> Pending<'_, Vec<Event>> {
        self.read(move |mut session| {
            Box::pin(async move {
                session.select("FROM events WHERE project_id = $1", args![scope.project()]).await
            })
        })
    }
}
