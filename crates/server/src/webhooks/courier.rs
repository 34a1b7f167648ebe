//! The one who gives turns: it knows which lines are this server's, and which have something to deliver.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bourse_store::{DeliveringServer, LineKey, Mark, StoreError};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use super::alive::{Alive, BEAT_INTERVAL};
use super::board::{Board, Outcome};
use super::turn::{later, turn};
use crate::app::App;
use crate::shares::Exhausted;

/// The revision of the listeners before anybody ever had one.
const NEVER_CHANGED: u64 = 1;
/// How long to wait before a line is tried again of which the store could not be asked.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Delivers what is this server's to deliver.
pub(crate) struct Courier {
    app: Arc<App>,
    board: Board,
    alive: Alive,
    beat: u64,
    beaten: Option<Instant>,
    /// The revision of the listeners as of which the board is; none where it has to be looked at again.
    revision: Option<Mark>,
    /// Whether the store may know of this server.
    is_known: bool,
    turns: JoinSet<Result<Outcome, StoreError>>,
    keys: HashMap<Id, LineKey>,
}

impl Courier {
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self {
            app,
            board: Board::default(),
            alive: Alive::default(),
            beat: 0,
            beaten: None,
            revision: None,
            is_known: false,
            turns: JoinSet::new(),
            keys: HashMap::new(),
        }
    }

    /// Waits until a turn is over; for ever, where there is none. Nothing is lost of a wait that is given up.
    pub(crate) async fn returned(&mut self) {
        match self.turns.join_next_with_id().await {
            Some(ended) => self.note(ended),
            None => std::future::pending().await,
        }
    }

    fn note(&mut self, ended: Result<(Id, Result<Outcome, StoreError>), JoinError>) {
        let failed_at = self.app.now();
        let again = Outcome::Later { failed_at, due_at: later(failed_at, RETRY_INTERVAL) };
        let (id, outcome) = match ended {
            Ok((id, Ok(outcome))) => (id, outcome),
            Ok((id, Err(error))) => {
                error.log("delivering to a webhook");
                (id, again)
            }
            Err(error) => {
                tracing::error!(%error, "delivering to a webhook");
                (error.id(), again)
            }
        };
        if outcome == Outcome::Lost {
            self.revision = None;
        }
        if let Some(key) = self.keys.remove(&id) {
            self.board.end(key, outcome);
        }
    }

    /// Looks which lines there are and which of them have something to deliver, and gives those turns for which there is room.
    pub(crate) async fn round(&mut self) -> Result<(), StoreError> {
        while let Some(ended) = self.turns.try_join_next_with_id() {
            self.note(ended);
        }
        let revision = self.app.store.webhooks_revision().await?;
        if revision.version == NEVER_CHANGED {
            return Ok(());
        }
        self.is_known = true;
        if self.app.store.is_for_several() {
            self.beat().await?;
        }
        if self.revision != Some(revision) {
            match self.app.store.hold_webhooks(self.app.webhooks.server.clone()).await {
                Ok(lines) => {
                    self.board.take_over(lines);
                    self.revision = Some(revision);
                }
                Err(error @ (StoreError::Away | StoreError::Closed)) => return Err(error),
                // Along the lines that are known already it can be delivered all the same.
                Err(error) => error.log("looking along which lines webhooks are told"),
            }
        }
        let versions = self.app.store.versions_apart(self.board.collections()).await?;
        for (_, error) in versions.failed {
            error.log("looking for what webhooks are told");
        }
        let versions = versions.found.into_iter().collect();
        for key in self.board.ready(&versions, self.app.now()) {
            let place = match self.app.webhooks.places.take(Some(key.project), 1) {
                Ok(place) => place,
                Err(Exhausted::Owner) => continue,
                Err(Exhausted::Total) => break,
            };
            self.board.begin(key);
            let app = Arc::clone(&self.app);
            let task = self.turns.spawn(async move {
                let _place = place;
                turn(&app, key).await
            });
            self.keys.insert(task.id(), key);
        }
        Ok(())
    }

    /// Tells others that this server delivers, and takes over listeners when one of them does not any more.
    async fn beat(&mut self) -> Result<(), StoreError> {
        if self.beaten.is_some_and(|beaten| beaten.elapsed() < BEAT_INTERVAL) {
            return Ok(());
        }
        let server = DeliveringServer { name: self.app.webhooks.server.clone(), beat: self.beat };
        let servers = self.app.store.beat_webhooks(server, self.alive.gone()).await?;
        (self.beat, self.beaten) = (self.beat + 1, Some(Instant::now()));
        if self.alive.observe(servers, self.app.clock.passed()) {
            self.revision = None;
        }
        Ok(())
    }

    /// Ends what is under way, and leaves all lines to others. What was not confirmed is delivered again.
    pub(crate) async fn leave(mut self) {
        self.turns.shutdown().await;
        if !self.is_known {
            return;
        }
        if let Err(error) = self.app.store.leave_webhooks(self.app.webhooks.server.clone()).await {
            error.log("leaving webhooks to other servers");
        }
    }
}
