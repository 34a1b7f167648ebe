//! Whose turn it is. Nothing here waits or asks anybody.

use std::collections::{HashMap, HashSet};

use bourse_store::{CollectionId, LineKey, Mark, WebhookLine};
use bourse_wire::Timestamp;

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All was delivered that there was as of this version.
    CaughtUp(Mark),
    /// There is more.
    More,
    /// A delivery failed, and is tried again then.
    Later(Timestamp),
    /// The line is not this server's, or not any more.
    Lost,
}

/// The lines along which this server delivers.
#[derive(Default)]
pub(super) struct Board {
    lines: HashMap<LineKey, Line>,
    /// Those that have their turn. One may be here that is no line any more.
    running: HashSet<LineKey>,
    turns: u64,
}

struct Line {
    /// The version as of which all was delivered.
    seen: Option<Mark>,
    due_at: Timestamp,
    /// Grows from turn to turn: who had the last one longest ago is next.
    turn: u64,
}

impl Board {
    /// Takes over which lines there are. Each has a turn again, as whatever it is told of may have changed.
    pub(super) fn take_over(&mut self, lines: Vec<WebhookLine>) {
        let before = std::mem::take(&mut self.lines);
        for line in lines {
            let turn = before.get(&line.key).map_or(0, |before| before.turn);
            self.lines.insert(line.key, Line { seen: None, due_at: line.due_at, turn });
        }
    }

    /// The collections of all lines, each once.
    pub(super) fn collections(&self) -> Vec<CollectionId> {
        let collections: HashSet<CollectionId> = self.lines.keys().map(|key| key.collection).collect();
        collections.into_iter().collect()
    }

    /// The lines that may have something to deliver, who waits longest first.
    pub(super) fn ready(&self, versions: &HashMap<CollectionId, Mark>, now: Timestamp) -> Vec<LineKey> {
        let is_ready = |(key, line): &(&LineKey, &Line)| {
            let version = versions.get(&key.collection);
            !self.running.contains(key)
                && line.due_at <= now
                && version.is_some_and(|version| line.seen != Some(*version))
        };
        let mut ready: Vec<(u64, LineKey)> =
            self.lines.iter().filter(is_ready).map(|(key, line)| (line.turn, *key)).collect();
        ready.sort_unstable();
        ready.into_iter().map(|(_, key)| key).collect()
    }

    /// A line has its turn from now on.
    pub(super) fn begin(&mut self, key: LineKey) {
        self.turns += 1;
        self.running.insert(key);
        if let Some(line) = self.lines.get_mut(&key) {
            line.turn = self.turns;
        }
    }

    /// A line had its turn.
    pub(super) fn end(&mut self, key: LineKey, outcome: Outcome) {
        self.running.remove(&key);
        let Some(line) = self.lines.get_mut(&key) else { return };
        match outcome {
            Outcome::CaughtUp(version) => line.seen = Some(version),
            Outcome::Later(due_at) => line.due_at = due_at,
            Outcome::More => {}
            Outcome::Lost => drop(self.lines.remove(&key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use bourse_store::Sent;
    use bourse_store::testing::collection_id;
    use bourse_wire::Address;

    use super::*;

    fn line(listener: u64, due_at: u64) -> WebhookLine {
        WebhookLine {
            key: key(listener),
            contract: Address::ZERO,
            sent: Sent::default(),
            failures: 0,
            due_at: Timestamp::from_unix_seconds(due_at),
            failure: String::new(),
            failed_at: Timestamp::ZERO,
        }
    }

    fn key(listener: u64) -> LineKey {
        let (project, listener) = (1.try_into().unwrap(), listener.try_into().unwrap());
        LineKey { project, listener, collection: collection_id(5) }
    }

    fn versions(version: u64) -> HashMap<CollectionId, Mark> {
        [(key(1).collection, Mark { version, stamp: 0 })].into()
    }

    fn ready(board: &Board, version: u64, now: u64) -> Vec<LineKey> {
        board.ready(&versions(version), Timestamp::from_unix_seconds(now))
    }

    #[test]
    fn a_line_has_its_turn_when_something_changed_and_it_is_due() {
        let mut board = Board::default();
        board.take_over(vec![line(1, 0), line(2, 10)]);
        assert_eq!(ready(&board, 1, 5), [key(1)]);
        board.begin(key(1));
        assert_eq!(ready(&board, 1, 10), [key(2)]);
        board.end(key(1), Outcome::CaughtUp(Mark { version: 1, stamp: 0 }));
        assert_eq!(ready(&board, 1, 5), []);
        assert_eq!(ready(&board, 2, 5), [key(1)]);
        board.begin(key(1));
        board.end(key(1), Outcome::Later(Timestamp::from_unix_seconds(20)));
        assert_eq!(ready(&board, 2, 19), [key(2)]);
        // Who waits longest is first.
        assert_eq!(ready(&board, 2, 20), [key(2), key(1)]);
    }

    #[test]
    fn a_line_that_comes_back_waits_until_its_turn_of_before_is_over() {
        let mut board = Board::default();
        board.take_over(vec![line(1, 0)]);
        board.begin(key(1));
        board.take_over(Vec::new());
        board.take_over(vec![line(1, 0)]);
        assert_eq!(ready(&board, 1, 5), []);
        board.end(key(1), Outcome::More);
        assert_eq!(ready(&board, 1, 5), [key(1)]);
        board.begin(key(1));
        board.end(key(1), Outcome::Lost);
        assert_eq!(board.collections(), []);
    }
}
