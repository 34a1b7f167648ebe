//! What a receiver is sent: one record of what happened, in the form of the published indexer's clients.

use bourse_store::{Happened, LineKey, Sent};

use crate::app::App;
use crate::event_log::{EventLog, LogSource};

/// What is sent.
pub(super) struct Message {
    /// Its name, the same each time that it is sent.
    pub(super) name: String,
    pub(super) body: String,
}

impl Message {
    pub(super) fn new(app: &App, (line, source): (LineKey, LogSource), what: Happened, after: Sent) -> Self {
        let Sent { place, told } = after;
        let count = if told > 0 { format!("+{told}") } else { String::new() };
        let (listener, collection) = (line.listener, line.collection.number());
        let name = format!("{listener}-{collection}-{}.{}{count}", place.retractions, place.activity);
        let log = EventLog::new(app, source, what, &name);
        // A plain record of texts and numbers; writing it cannot fail.
        let body = serde_json::to_string(&log).unwrap_or_default();
        Self { name, body }
    }
}
