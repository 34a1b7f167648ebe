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
    /// A delivery failed, and is tried again when it is due.
    Later { failed_at: Timestamp, due_at: Timestamp },
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
    failed_at: Timestamp,
    due_at: Timestamp,
    /// Grows from turn to turn: who had the last one longest ago is next.
    turn: u64,
}

impl Line {
    /// Whether it may be tried. A failure that is still to come is one that a clock told which was put right since.
    fn is_due(&self, now: Timestamp) -> bool {
        self.due_at <= now || self.failed_at > now
    }
}

impl Board {
    /// Takes over which lines there are. Those that were here go on as they were: cursors of theirs only move on, and what happened
    /// since is told by the version of their collection.
    pub(super) fn take_over(&mut self, lines: Vec<WebhookLine>) {
        let before = std::mem::take(&mut self.lines);
        for line in lines {
            let WebhookLine { key, failed_at, due_at, .. } = line;
            let (turn, seen) = before.get(&key).map_or((0, None), |before| (before.turn, before.seen));
            self.lines.insert(key, Line { seen, failed_at, due_at, turn });
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
                && line.is_due(now)
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
            Outcome::Later { failed_at, due_at } => (line.failed_at, line.due_at) = (failed_at, due_at),
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

    fn later(failed_at: u64, due_at: u64) -> Outcome {
        let [failed_at, due_at] = [failed_at, due_at].map(Timestamp::from_unix_seconds);
        Outcome::Later { failed_at, due_at }
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
        board.end(key(1), later(2, 20));
        assert_eq!(ready(&board, 2, 19), [key(2)]);
        // Who waits longest is first.
        assert_eq!(ready(&board, 2, 20), [key(2), key(1)]);
    }

    #[test]
    fn a_line_that_was_caught_up_has_no_turn_because_others_changed() {
        let mut board = Board::default();
        board.take_over(vec![line(1, 0)]);
        board.begin(key(1));
        board.end(key(1), Outcome::CaughtUp(Mark { version: 1, stamp: 0 }));
        board.take_over(vec![line(1, 0), line(2, 0)]);
        assert_eq!(ready(&board, 1, 5), [key(2)]);
        assert_eq!(ready(&board, 2, 5), [key(2), key(1)]);
        // Who was away meanwhile has one: it may have been somebody else's.
        board.take_over(vec![line(2, 0)]);
        board.take_over(vec![line(1, 0), line(2, 0)]);
        assert_eq!(ready(&board, 1, 5), [key(1), key(2)]);
    }

    #[test]
    fn a_clock_that_was_ahead_keeps_nobody_waiting_once_it_is_put_right() {
        let mut board = Board::default();
        board.take_over(vec![line(1, 0)]);
        board.begin(key(1));
        board.end(key(1), later(1_000, 1_010));
        assert_eq!(ready(&board, 1, 1_005), []);
        assert_eq!(ready(&board, 1, 5), [key(1)]);
        // Whoever takes it over finds it so too.
        let failed_at = Timestamp::from_unix_seconds(1_000);
        board.take_over(vec![WebhookLine { failed_at, ..line(1, 1_010) }]);
        assert_eq!((ready(&board, 1, 1_005), ready(&board, 1, 5)), (vec![], vec![key(1)]));
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
