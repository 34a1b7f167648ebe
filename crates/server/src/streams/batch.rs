//! What is told in one go, written once for everybody who is told the same.

use std::sync::OnceLock;

use alloy_primitives::B256;
use bourse_store::{Happened, Place};
use bourse_wire::{Error, EventFilter, TokenId};
use bytes::Bytes;
use indexmap::IndexSet;

use crate::event_log::is_wanted;

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
    pub(super) transaction: Option<B256>,
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

/// What is told in one go.
pub(super) struct Batch {
    /// Grows from batch to batch of all collections.
    pub(super) number: u64,
    /// The place behind all of it.
    pub(super) place: Place,
    pub(super) events: Vec<Event>,
    pub(super) rows: Rows,
    /// What accounts hold of what changed, one in each line; nothing where that is more than is told one by one.
    pub(super) balances: Option<Bytes>,
    all_lines: OnceLock<Bytes>,
    all_frames: OnceLock<Bytes>,
}

impl Batch {
    pub(super) fn new(place: Place, events: Vec<Event>, rows: Rows) -> Self {
        let (all_lines, all_frames) = Default::default();
        Self { number: 0, place, events, rows, balances: Some(Bytes::new()), all_lines, all_frames }
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
    pub(super) fn lines(&self, after: Place, token: Option<TokenId>) -> Bytes {
        let write = || Bytes::from(self.write(after, token, Event::write_line));
        if self.is_all(after, token) { self.all_lines.get_or_init(write).clone() } else { write() }
    }

    /// Its frames for pages behind a place, of one token or of all.
    pub(super) fn frames(&self, after: Place, token: Option<TokenId>) -> Bytes {
        let write = || {
            let mut out = self.write(after, token, Event::write_frame);
            self.write_rows(&mut out, token);
            Bytes::from(out)
        };
        if self.is_all(after, token) { self.all_frames.get_or_init(write).clone() } else { write() }
    }

    /// Its logs behind a place, those that a filter lets through, one in each line.
    pub(super) fn logs(&self, after: Place, filter: &EventFilter) -> Bytes {
        let mut out = Vec::new();
        for event in self.events.iter().filter(|event| self.is_anew() || event.place > after) {
            if let Some(logged) = event.logged.as_ref().filter(|logged| is_wanted(filter, &logged.what)) {
                out.extend_from_slice(br#"{"log":"#);
                out.extend_from_slice(&logged.json);
                out.extend_from_slice(b"}\n");
            }
        }
        out.into()
    }

    /// The transactions in which something happened behind a place, each once, in their order.
    pub(super) fn transactions(&self, after: Place) -> Vec<B256> {
        let happened = self.events.iter().filter(|event| event.turn == Turn::Added && event.place > after);
        let transactions: IndexSet<B256> = happened.filter_map(|event| event.transaction).collect();
        transactions.into_iter().collect()
    }

    /// Whether whoever kept anything had better ask again, so that no place that they had means anything.
    pub(super) fn is_anew(&self) -> bool {
        self.events.iter().any(|event| event.turn == Turn::Anew)
    }

    fn is_all(&self, after: Place, token: Option<TokenId>) -> bool {
        let is_whole = || self.is_anew() || self.events.first().is_none_or(|first| first.place > after);
        token.is_none() && is_whole()
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
    use super::*;

    fn event(place: &str, resume: &str, turn: Turn) -> Event {
        let [place, resume] = [place, resume].map(|text| cursor(text).unwrap());
        let (token, transaction) = (Some(resume.activity.into()), Some(B256::repeat_byte(3)));
        Event { place, resume, turn, token, transaction, activity: b"{}".to_vec(), logged: None }
    }

    fn added(place: &str) -> Event {
        event(place, place, Turn::Added)
    }

    fn lines(batch: &Batch, after: &str, token: Option<u64>) -> Vec<String> {
        let bytes = batch.lines(cursor(after).unwrap(), token.map(TokenId::from));
        String::from_utf8(bytes.to_vec()).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_what_is_behind_a_place_is_told() {
        let events = vec![added("0.4"), added("0.5"), added("0.6")];
        let batch = Batch::new(cursor("0.6").unwrap(), events, Rows::Of(Vec::new()));
        assert_eq!(lines(&batch, "0.3", None).len(), 3);
        assert_eq!(lines(&batch, "0.5", None), [r#"{"type":"added","activity":{},"cursor":"0.6"}"#]);
        assert_eq!(lines(&batch, "0.6", None), [] as [&str; 0]);
        assert_eq!(lines(&batch, "0.3", Some(5)), [r#"{"type":"added","activity":{},"cursor":"0.5"}"#]);
    }

    #[test]
    fn what_is_taken_back_together_is_told_again_as_a_whole() {
        let taken_back = |resume| event("1.4", resume, Turn::Removed);
        let events = vec![taken_back("0.6"), taken_back("1.4"), added("1.5")];
        let batch = Batch::new(cursor("1.5").unwrap(), events, Rows::Any);
        // Whoever was cut off in the middle of them has the place before them.
        for before in ["0.6", "0.5"] {
            assert_eq!(lines(&batch, before, None).len(), 3, "{before}");
        }
        assert_eq!(lines(&batch, "1.4", None), [r#"{"type":"added","activity":{},"cursor":"1.5"}"#]);
    }

    #[test]
    fn transactions_are_told_once_and_only_of_what_happened() {
        let mut events = vec![added("1.4"), added("1.5"), added("1.6"), event("1.7", "1.7", Turn::Removed)];
        events[1].transaction = Some(B256::ZERO);
        let batch = Batch::new(cursor("1.7").unwrap(), events, Rows::Any);
        assert_eq!(batch.transactions(cursor("1.3").unwrap()), [B256::repeat_byte(3), B256::ZERO]);
        assert_eq!(batch.transactions(cursor("1.5").unwrap()), [B256::repeat_byte(3)]);
    }

    #[test]
    fn what_is_anew_is_told_wherever_somebody_was() {
        let events = vec![event("0.2", "0.2", Turn::Anew)];
        let batch = Batch::new(cursor("0.2").unwrap(), events, Rows::Any);
        assert_eq!(lines(&batch, "7.9", Some(3)).len(), 1);
    }

    #[test]
    fn a_cursor_is_one_that_was_told() {
        for text in ["", "1", "1.", ".1", "1.2.3", "-1.2", "a.b", "1.99999999999999999999"] {
            assert!(cursor(text).is_err(), "{text}");
        }
        assert_eq!(written(cursor("3.12").unwrap()), "3.12");
    }
}
