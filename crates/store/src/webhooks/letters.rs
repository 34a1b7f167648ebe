//! What could not be delivered.

use bourse_wire::{Error, ProjectId, RecordId, Timestamp};

use super::listeners;
use crate::args::args;
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Insert, record};
use crate::metadata_queue::{instant, millis};
use crate::session::Session;
use crate::{ProjectScope, StoreError};

/// Something that was tried as often as it is tried, in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Number of the letter.
    pub id: RecordId,
    /// To whom.
    pub listener: RecordId,
    /// The name of the message, which is the same each time that it is sent.
    pub message: String,
    /// The message.
    pub body: String,
    /// What went wrong last.
    pub failure: String,
    /// When that was.
    pub failed_at: Timestamp,
}

/// The same before it is kept.
#[derive(Clone, Debug)]
pub struct NewLetter {
    /// The name of the message.
    pub message: String,
    /// The message.
    pub body: String,
    /// What went wrong last.
    pub failure: String,
    /// When that was.
    pub failed_at: Timestamp,
    /// How many are kept of a listener. The oldest go.
    pub most: u64,
}

record! {
    struct LetterRow: "webhook_letters" ("project_id, letter_id") {
        project_id: ProjectId,
        letter_id: RecordId,
        listener_id: RecordId,
        message: String,
        body: String,
        failure: String,
        failed_at: i64,
    }
}

impl LetterRow {
    fn letter(self) -> DeadLetter {
        DeadLetter {
            id: self.letter_id,
            listener: self.listener_id,
            message: self.message,
            body: self.body,
            failure: self.failure,
            failed_at: instant(self.failed_at),
        }
    }
}

impl Store {
    /// What could not be delivered to a listener, oldest first.
    pub fn dead_letters(&self, scope: ProjectScope, listener: RecordId) -> Pending<'_, Vec<DeadLetter>> {
        self.read(move |mut session| {
            Box::pin(async move {
                listeners::require(&mut session, scope, listener).await?;
                let sql =
                    "FROM webhook_letters WHERE project_id = $1 AND listener_id = $2 ORDER BY letter_id";
                let rows: Vec<LetterRow> = session.select(sql, args![scope.project(), listener]).await?;
                Ok(rows.into_iter().map(LetterRow::letter).collect())
            })
        })
    }

    /// Something that could not be delivered.
    pub fn dead_letter(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, DeadLetter> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM webhook_letters WHERE project_id = $1 AND letter_id = $2";
                let row: Option<LetterRow> = session.select_first(sql, args![scope.project(), id]).await?;
                row.map(LetterRow::letter).ok_or_else(|| missing(id))
            })
        })
    }

    /// Notes that it could not be delivered this time either.
    pub fn note_dead_letter(
        &self,
        scope: ProjectScope,
        id: RecordId,
        failure: String,
        at: Timestamp,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE webhook_letters SET failure = $3, failed_at = $4
                    WHERE project_id = $1 AND letter_id = $2";
                session.execute(sql, args![scope.project(), id, failure, millis(at)]).await.map(drop)
            })
        })
    }

    /// Forgets it.
    pub fn forget_dead_letter(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "DELETE FROM webhook_letters WHERE project_id = $1 AND letter_id = $2";
                let removed = session.execute(sql, args![scope.project(), id]).await?;
                if removed > 0 { Ok(()) } else { Err(missing(id)) }
            })
        })
    }
}

fn missing(id: RecordId) -> StoreError {
    Error::not_found(format_args!("undelivered message {id}")).into()
}

pub(super) async fn put(
    session: &mut Session<'_>,
    (project_id, listener_id): (ProjectId, RecordId),
    new: NewLetter,
) -> Result<(), StoreError> {
    let letter_id = session.next_id(Sequence::Webhook).await?;
    let row = LetterRow {
        project_id,
        letter_id: letter_id.try_into().map_err(|error| StoreError::corrupt("webhook letter id", error))?,
        listener_id,
        message: new.message,
        body: new.body,
        failure: new.failure,
        failed_at: millis(new.failed_at),
    };
    session.insert(Insert::of([row])?, "").await?;
    let sql = "DELETE FROM webhook_letters WHERE project_id = $1 AND listener_id = $2 AND letter_id <=
        (SELECT letter_id FROM webhook_letters WHERE project_id = $1 AND listener_id = $2
        ORDER BY letter_id DESC LIMIT 1 OFFSET $3)";
    session.execute(sql, args![project_id, listener_id, new.most]).await.map(drop)
}
