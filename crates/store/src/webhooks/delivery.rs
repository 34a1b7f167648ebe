//! How far listeners were told. Whoever delivers moves a cursor only while it holds the listener and the cursor is where it found
//! it, so that who comes late moves nothing.

use bourse_wire::{Address, ProjectId, RecordId, Timestamp};

use super::letters::{self, NewLetter};
use super::{ListenerRow, Webhook};
use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::collections::{CollectionId, CollectionKey};
use crate::columns::record;
use crate::feed::Place;
use crate::metadata_queue::{instant, millis};
use crate::session::Session;
use crate::{ProjectScope, StoreError};

/// What is delivered in order: what happens in one collection, to one listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineKey {
    /// Whose listener.
    pub project: ProjectId,
    /// The listener.
    pub listener: RecordId,
    /// The collection.
    pub collection: CollectionId,
}

/// How much was delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// All up to here.
    pub place: Place,
    /// And of what was taken back together behind it one less than this; 0 where none of that was tried yet.
    pub told: u64,
}

impl Sent {
    /// That what was taken back behind this is told next: whatever failed before was something else.
    #[must_use]
    pub fn begun(self) -> Self {
        Self { told: 1, ..self }
    }
}

/// How a listener is told of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookLine {
    /// Which.
    pub key: LineKey,
    /// The contract.
    pub contract: Address,
    /// How much was delivered.
    pub sent: Sent,
    /// How often the next was tried in vain.
    pub failures: u64,
    /// When it is tried again.
    pub due_at: Timestamp,
    /// What went wrong last; empty where nothing ever did.
    pub failure: String,
    /// When that was.
    pub failed_at: Timestamp,
}

record! {
    #[derive(Clone)]
    pub(super) struct CursorRow: "webhook_cursors" ("project_id, listener_id, collection_id") {
        project_id: ProjectId,
        listener_id: RecordId,
        collection_id: CollectionId,
        contract_address: Address,
        retractions: u64,
        activity: u64,
        told: u64,
        failures: u64,
        due_at: i64,
        failure: String,
        failed_at: i64,
    }
}

impl CursorRow {
    pub(super) fn beginning(
        (project_id, listener_id): (ProjectId, RecordId),
        (collection_id, contract_address): (CollectionId, Address),
        Place { retractions, activity }: Place,
    ) -> Self {
        let (told, failures, due_at, failed_at) = Default::default();
        Self {
            project_id,
            listener_id,
            collection_id,
            contract_address,
            retractions,
            activity,
            told,
            failures,
            due_at,
            failure: String::new(),
            failed_at,
        }
    }

    fn line(self) -> WebhookLine {
        WebhookLine {
            key: LineKey {
                project: self.project_id,
                listener: self.listener_id,
                collection: self.collection_id,
            },
            contract: self.contract_address,
            sent: Sent {
                place: Place { retractions: self.retractions, activity: self.activity },
                told: self.told,
            },
            failures: self.failures,
            due_at: instant(self.due_at),
            failure: self.failure,
            failed_at: instant(self.failed_at),
        }
    }
}

/// The cursor of a line that is where it was found, of a listener that is still delivered to from here: the arguments are those
/// of [`held`].
const HELD: &str = "project_id = $1 AND listener_id = $2 AND collection_id = $3
    AND retractions = $4 AND activity = $5 AND told = $6 AND EXISTS (SELECT 1 FROM webhook_listeners
    WHERE project_id = $1 AND listener_id = $2 AND active AND holder = $7)";

pub(super) fn held(line: &WebhookLine, holder: &str) -> Vec<Arg> {
    let LineKey { project, listener, collection } = line.key;
    let Sent { place, told } = line.sent;
    args![project, listener, collection.0, place.retractions, place.activity, told, holder]
}

impl Store {
    /// How the listeners of a project are told.
    pub fn webhook_lines(&self, scope: ProjectScope) -> Pending<'_, Vec<WebhookLine>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM webhook_cursors WHERE project_id = $1 ORDER BY listener_id, collection_id";
                let rows: Vec<CursorRow> = session.select(sql, args![scope.project()]).await?;
                Ok(rows.into_iter().map(CursorRow::line).collect())
            })
        })
    }

    /// What is to be delivered along a line, if its listener is active and this server delivers to it.
    pub fn webhook_line(
        &self,
        key: LineKey,
        holder: String,
    ) -> Pending<'_, Option<(Webhook, CollectionKey, WebhookLine)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM webhook_cursors JOIN webhook_listeners
                    ON webhook_listeners.project_id = webhook_cursors.project_id
                    AND webhook_listeners.listener_id = webhook_cursors.listener_id
                    WHERE webhook_cursors.project_id = $1 AND webhook_cursors.listener_id = $2
                    AND webhook_cursors.collection_id = $3 AND webhook_listeners.active
                    AND webhook_listeners.holder = $4";
                let args = args![key.project, key.listener, key.collection.0, holder];
                let found: Option<(ListenerRow, CursorRow)> = session.select_first(sql, args).await?;
                let Some((listener, cursor)) = found else { return Ok(None) };
                let contract = CollectionKey { chain: listener.chain_id, address: cursor.contract_address };
                Ok(Some((listener.webhook()?, contract, cursor.line())))
            })
        })
    }

    /// Notes that more was delivered, or is none that is told. False where somebody else delivers by now, or nobody is told any
    /// more.
    pub fn webhook_sent(&self, line: &WebhookLine, holder: &str, sent: Sent) -> Pending<'_, bool> {
        let args = held(line, holder);
        self.write(move |mut session| {
            Box::pin(async move { advance(&mut session, (args, None), sent).await })
        })
    }

    /// Notes that a delivery failed, and when it is tried again. False as above, and where the listener was changed meanwhile.
    pub fn webhook_failed(
        &self,
        line: &WebhookLine,
        holder: &str,
        failure: String,
        (at, due_at): (Timestamp, Timestamp),
    ) -> Pending<'_, bool> {
        let mut args = held(line, holder);
        args.extend(args![millis(due_at), failure, millis(at), line.failures]);
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = format!(
                    "UPDATE webhook_cursors SET failures = failures + 1, due_at = $8, failure = $9,
                    failed_at = $10 WHERE {HELD} AND failures = $11"
                );
                Ok(session.execute(sql, args).await? > 0)
            })
        })
    }

    /// Goes on behind a delivery that failed as often as it is tried, and keeps it. False as above.
    pub fn webhook_given_up(
        &self,
        line: &WebhookLine,
        holder: &str,
        sent: Sent,
        letter: NewLetter,
    ) -> Pending<'_, bool> {
        let (args, key, failures) = (held(line, holder), line.key, line.failures);
        self.write(move |mut session| {
            Box::pin(async move {
                if !advance(&mut session, (args, Some(failures)), sent).await? {
                    return Ok(false);
                }
                letters::put(&mut session, (key.project, key.listener), letter).await?;
                Ok(true)
            })
        })
    }
}

/// Moves a cursor that is held, and failed so often, where that matters.
async fn advance(
    session: &mut Session<'_>,
    (mut held, failures): (Vec<Arg>, Option<u64>),
    sent: Sent,
) -> Result<bool, StoreError> {
    held.extend(args![sent.place.retractions, sent.place.activity, sent.told]);
    let as_found = if failures.is_some() { "AND failures = $11" } else { "" };
    held.extend(failures.map(Arg::from));
    let sql = format!(
        "UPDATE webhook_cursors SET retractions = $8, activity = $9, told = $10, failures = 0, due_at = 0
        WHERE {HELD} {as_found}"
    );
    Ok(session.execute(sql, held).await? > 0)
}

/// Whether a line is where it was found, and its listener still delivered to from here.
pub(super) async fn is_held(session: &mut Session<'_>, held: Vec<Arg>) -> Result<bool, StoreError> {
    session.has(format!("SELECT 1 FROM webhook_cursors WHERE {HELD}"), held).await
}

/// The lines of all listeners that a server delivers to.
pub(super) async fn lines_of(
    session: &mut Session<'_>,
    holder: &str,
) -> Result<Vec<WebhookLine>, StoreError> {
    let sql = "FROM webhook_cursors JOIN webhook_listeners
        ON webhook_listeners.project_id = webhook_cursors.project_id
        AND webhook_listeners.listener_id = webhook_cursors.listener_id
        WHERE webhook_listeners.active AND webhook_listeners.holder = $1
        ORDER BY webhook_cursors.project_id, webhook_cursors.listener_id, webhook_cursors.collection_id";
    let rows: Vec<CursorRow> = session.select(sql, args![holder]).await?;
    Ok(rows.into_iter().map(CursorRow::line).collect())
}
