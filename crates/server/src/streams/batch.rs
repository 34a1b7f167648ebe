//! What is told in one go, written once for everybody who is told the same.

use std::sync::OnceLock;

use bourse_store::{Happened, Place};
use bourse_wire::{Error, TokenId};
use bytes::Bytes;
use indexmap::IndexMap;

use super::receipts::Transaction;
use crate::event_log::Sieve;

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It happened.
    Added,
    /// It did not: its block no longer counts.
    Removed,
    /// Whoever kept any of it had better ask for all of it again.
    Anew,
}

impl Turn {
    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Anew => "anew",
        }
    }
}

/// Something that happened.
pub(super) struct Event {
    /// The place behind it and whatever was taken back with it.
    pub(super) place: Place,
    /// The place from which to ask on after it.
    pub(super) resume: Place,
    pub(super) turn: Turn,
    pub(super) token: Option<TokenId>,
    /// The transaction in which it happened, where that is known.
    pub(super) transaction: Option<Transaction>,
    /// The activity as JSON, or `null`.
    pub(super) activity: Vec<u8>,
    /// The same as a log, where somebody wants to know it so.
    pub(super) logged: Option<Logged>,
}

/// What happened as a log.
pub(super) struct Logged {
    pub(super) what: Happened,
    /// The log as JSON.
    pub(super) json: Vec<u8>,
}

impl Event {
    /// Everybody asks again, as nobody knows what was taken back.
    pub(super) fn anew(place: Place) -> Self {
        let (token, transaction, activity, logged) = (None, None, b"null".to_vec(), None);
        Self { place, resume: place, turn: Turn::Anew, token, transaction, activity, logged }
    }

    fn concerns(&self, token: Option<TokenId>) -> bool {
        token.is_none() || self.turn == Turn::Anew || self.token == token
    }

    fn write_line(&self, out: &mut Vec<u8>) {
        let head = format!("{{\"type\":\"{}\",\"activity\":", self.turn.word());
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&self.activity);
        out.extend_from_slice(format!(",\"cursor\":\"{}\"}}\n", written(self.resume)).as_bytes());
    }

    fn write_frame(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("event: activity\nid: {}\ndata: ", written(self.resume)).as_bytes());
        self.write_line(out);
        out.push(b'\n');
    }
}

/// A token of which something changed.
pub(super) struct TokenRow {
    pub(super) token: TokenId,
    /// Its best orders as JSON.
    pub(super) json: Vec<u8>,
}

/// What changed beside what happened.
pub(super) enum Rows {
    /// These tokens.
    Of(Vec<TokenRow>),
    /// More than are told one by one.
    Any,
}

/// Something written.
pub(super) enum Text {
    /// For everybody who is told the same, once.
    Shared(Bytes),
    /// For one reader.
    Own(Vec<u8>),
}

/// What is told in one go.
pub(super) struct Batch {
    /// Grows from batch to batch of all collections; zero of one that was read for one reader.
    pub(super) number: u64,
    /// The place before all of it.
    pub(super) base: Place,
    /// The place behind all of it.
    pub(super) place: Place,
    pub(super) events: Vec<Event>,
    pub(super) rows: Rows,
    /// What accounts hold of what changed, one in each line; nothing where that is more than is told one by one.
    pub(super) balances: Option<Bytes>,
    all_lines: OnceLock<Bytes>,
    all_frames: OnceLock<Bytes>,
    all_logs: OnceLock<Bytes>,
}

impl Batch {
    /// What happened between two places.
    pub(super) fn new((base, place): (Place, Place), events: Vec<Event>, rows: Rows) -> Self {
        let (balances, (all_lines, all_frames, all_logs)) = (Some(Bytes::new()), Default::default());
        Self { number: 0, base, place, events, rows, balances, all_lines, all_frames, all_logs }
    }

    /// The same with what accounts hold.
    pub(super) fn with_balances(self, balances: Option<Bytes>) -> Self {
        Self { balances, ..self }
    }

    /// Memory that it takes, with what is written of it.
    pub(super) fn bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Of(rows) => rows.iter().map(|row| row.json.len() + 64).sum(),
            Rows::Any => 0,
        };
        let log = |event: &Event| event.logged.as_ref().map_or(0, |logged| logged.json.len() + 400);
        let events: usize = self.events.iter().map(|event| event.activity.len() + log(event) + 160).sum();
        3 * (events + rows) + self.balances.as_ref().map_or(0, Bytes::len) + 256
    }

    /// Its lines behind a place, of one token or of all.
    pub(super) fn lines(&self, after: Place, token: Option<TokenId>) -> Text {
        let write = || self.write(after, token, Event::write_line);
        self.text((after, token.is_none()), &self.all_lines, write)
    }

    /// Its frames for pages behind a place, of one token or of all.
    pub(super) fn frames(&self, after: Place, token: Option<TokenId>) -> Text {
        let write = || {
            let mut out = self.write(after, token, Event::write_frame);
            self.write_rows(&mut out, token);
            out
        };
        self.text((after, token.is_none()), &self.all_frames, write)
    }

    /// What changed beside what happened as frames for pages, of one token or of all.
    pub(super) fn row_frames(&self, token: Option<TokenId>) -> Text {
        let mut out = Vec::new();
        self.write_rows(&mut out, token);
        Text::Own(out)
    }

    /// Its logs behind a place, those that a filter lets through, one in each line.
    pub(super) fn logs(&self, after: Place, filter: &Sieve) -> Text {
        let write = || {
            let mut out = Vec::new();
            for event in self.events.iter().filter(|event| self.is_anew() || event.place > after) {
                if let Some(logged) = event.logged.as_ref().filter(|logged| filter.lets_through(&logged.what))
                {
                    out.extend_from_slice(br#"{"log":"#);
                    out.extend_from_slice(&logged.json);
                    out.extend_from_slice(b"}\n");
                }
            }
            out
        };
        self.text((after, filter.is_open()), &self.all_logs, write)
    }

    /// What is written for whoever is told all of it, once; else for this one.
    fn text(
        &self,
        (after, is_of_all): (Place, bool),
        all: &OnceLock<Bytes>,
        write: impl FnOnce() -> Vec<u8>,
    ) -> Text {
        let is_whole = || self.is_anew() || self.events.first().is_none_or(|first| first.place > after);
        if self.number > 0 && is_of_all && is_whole() {
            Text::Shared(all.get_or_init(|| write().into()).clone())
        } else {
            Text::Own(write())
        }
    }

    /// The transactions in which something happened behind a place, each once, in their order.
    pub(super) fn transactions(&self, after: Place) -> Vec<Transaction> {
        let happened = self.events.iter().filter(|event| event.turn == Turn::Added && event.place > after);
        let named = happened.filter_map(|event| event.transaction);
        let transactions: IndexMap<_, _> = named.map(|transaction| (transaction.hash, transaction)).collect();
        transactions.into_values().collect()
    }

    /// Whether it takes back something that somebody may have been told who has read beyond where it begins: it names only
    /// what came before that.
    pub(super) fn lacks_for(&self, place: Place) -> bool {
        !self.is_anew() && self.place.retractions > place.retractions && place > self.base
    }

    /// Whether whoever kept anything had better ask again, so that no place that they had means anything.
    pub(super) fn is_anew(&self) -> bool {
        self.events.iter().any(|event| event.turn == Turn::Anew)
    }

    fn write(&self, after: Place, token: Option<TokenId>, write: fn(&Event, &mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        let is_new = |event: &&Event| self.is_anew() || event.place > after;
        for event in self.events.iter().filter(is_new).filter(|event| event.concerns(token)) {
            write(event, &mut out);
        }
        out
    }

    fn write_rows(&self, out: &mut Vec<u8>, token: Option<TokenId>) {
        let Rows::Of(rows) = &self.rows else {
            return out.extend_from_slice(b"event: collection\ndata: {}\n\n");
        };
        for row in rows.iter().filter(|row| token.is_none_or(|token| token == row.token)) {
            out.extend_from_slice(b"event: token\ndata: ");
            out.extend_from_slice(&row.json);
            out.extend_from_slice(b"\n\n");
        }
    }
}

/// A place as callers are told it.
pub(super) fn written(Place { retractions, activity }: Place) -> String {
    format!("{retractions}.{activity}")
}

/// A place that a caller was told.
pub(crate) fn cursor(text: &str) -> Result<Place, Error> {
    let numbers = text.split_once('.').and_then(|(retractions, activity)| {
        Some(Place { retractions: retractions.parse().ok()?, activity: activity.parse().ok()? })
    });
    numbers.ok_or_else(|| Error::invalid("cursor", "is none that a stream told"))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use bourse_wire::EventFilter;

    use super::*;

    fn event(place: &str, resume: &str, turn: Turn) -> Event {
        let [place, resume] = [place, resume].map(|text| cursor(text).unwrap());
        let (token, transaction) = (Some(resume.activity.into()), Some(transaction(3)));
        Event { place, resume, turn, token, transaction, activity: b"{}".to_vec(), logged: None }
    }

    fn transaction(byte: u8) -> Transaction {
        Transaction { hash: B256::repeat_byte(byte), block: None }
    }

    fn batch(base: &str, place: &str, events: Vec<Event>) -> Batch {
        Batch::new((cursor(base).unwrap(), cursor(place).unwrap()), events, Rows::Any)
    }

    fn added(place: &str) -> Event {
        event(place, place, Turn::Added)
    }

    fn lines(batch: &Batch, after: &str, token: Option<u64>) -> Vec<String> {
        let text = match batch.lines(cursor(after).unwrap(), token.map(TokenId::from)) {
            Text::Shared(bytes) => bytes.to_vec(),
            Text::Own(text) => text,
        };
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_what_is_behind_a_place_is_told() {
        let events = vec![added("0.4"), added("0.5"), added("0.6")];
        let batch = batch("0.3", "0.6", events);
        assert_eq!(lines(&batch, "0.3", None).len(), 3);
        assert_eq!(lines(&batch, "0.5", None), [r#"{"type":"added","activity":{},"cursor":"0.6"}"#]);
        assert_eq!(lines(&batch, "0.6", None), [] as [&str; 0]);
        assert_eq!(lines(&batch, "0.3", Some(5)), [r#"{"type":"added","activity":{},"cursor":"0.5"}"#]);
    }

    #[test]
    fn what_is_taken_back_together_is_told_again_as_a_whole() {
        let taken_back = |resume| event("1.4", resume, Turn::Removed);
        let events = vec![taken_back("0.6"), taken_back("1.4"), added("1.5")];
        let batch = batch("0.6", "1.5", events);
        // Whoever was cut off in the middle of them has the place before them.
        for before in ["0.6", "0.5"] {
            assert_eq!(lines(&batch, before, None).len(), 3, "{before}");
        }
        assert_eq!(lines(&batch, "1.4", None), [r#"{"type":"added","activity":{},"cursor":"1.5"}"#]);
    }

    #[test]
    fn transactions_are_told_once_and_only_of_what_happened() {
        let mut events = vec![added("1.4"), added("1.5"), added("1.6"), event("1.7", "1.7", Turn::Removed)];
        events[1].transaction = Some(transaction(0));
        let batch = batch("1.3", "1.7", events);
        assert_eq!(batch.transactions(cursor("1.3").unwrap()), [transaction(3), transaction(0)]);
        assert_eq!(batch.transactions(cursor("1.5").unwrap()), [transaction(3)]);
    }

    #[test]
    fn what_is_anew_is_told_wherever_somebody_was() {
        let events = vec![event("0.2", "0.2", Turn::Anew)];
        let batch = batch("0.0", "0.2", events);
        assert_eq!(lines(&batch, "7.9", Some(3)).len(), 1);
    }

    #[test]
    fn what_all_are_told_is_written_once_and_what_one_was_read_for_is_its_own() {
        let mut batch = batch("0.3", "0.5", vec![added("0.4"), added("0.5")]);
        let is_shared = |batch: &Batch, after: &str, token: Option<u64>| {
            let text = batch.lines(cursor(after).unwrap(), token.map(TokenId::from));
            matches!(text, Text::Shared(_))
        };
        assert!(!is_shared(&batch, "0.3", None));
        batch.number = 1;
        assert!(is_shared(&batch, "0.3", None) && is_shared(&batch, "0.2", None));
        assert!(!is_shared(&batch, "0.4", None) && !is_shared(&batch, "0.3", Some(4)));
        let logs = |filter: EventFilter| batch.logs(cursor("0.3").unwrap(), &Sieve::new(filter));
        assert!(matches!(logs(EventFilter::default()), Text::Shared(_)));
        let some = EventFilter { token_ids: vec![TokenId::from(4)], ..EventFilter::default() };
        assert!(matches!(logs(some), Text::Own(_)));
    }

    #[test]
    fn who_has_read_beyond_where_something_is_taken_back_from_is_told_by_another_read() {
        let batch = batch("0.5", "1.3", vec![added("1.3")]);
        let lacks_for = |place: &str| batch.lacks_for(cursor(place).unwrap());
        assert!(lacks_for("0.6") && !lacks_for("0.5") && !lacks_for("0.4") && !lacks_for("1.2"));
    }

    #[test]
    fn a_cursor_is_one_that_was_told() {
        for text in ["", "1", "1.", ".1", "1.2.3", "-1.2", "a.b", "1.99999999999999999999"] {
            assert!(cursor(text).is_err(), "{text}");
        }
        assert_eq!(written(cursor("3.12").unwrap()), "3.12");
    }
}
