//! What a receiver is sent: one record of what happened, in the form of the published indexer's clients.

use bourse_store::{Happened, LineKey, Sent};
use sha2::{Digest as _, Sha256};

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
        let name = name(line, &what, after);
        let log = EventLog::new(app, source, what, &name);
        // A plain record of texts and numbers; writing it cannot fail.
        let body = serde_json::to_string(&log).unwrap_or_default();
        Self { name, body }
    }
}

/// The place of a message along its line, and what is told there: a database that was set back has something else in the same place.
fn name(line: LineKey, what: &Happened, Sent { place, told }: Sent) -> String {
    let count = if told > 0 { format!("+{told}") } else { String::new() };
    let (listener, collection) = (line.listener, line.collection.number());
    let place = format!("{listener}-{collection}-{}.{}{count}", place.retractions, place.activity);
    let (turn, activity) = match what {
        Happened::Added(activity) => ('+', activity),
        Happened::Removed(activity) => ('-', activity),
        Happened::Anew => return place,
    };
    let block = activity.facts.block_hash.map(|hash| hash.to_string()).unwrap_or_default();
    let hash = Sha256::digest(format!("{turn}{}@{block}", activity.facts.unique_hash));
    format!("{place}-{}", const_hex::encode(&hash[..4]))
}
