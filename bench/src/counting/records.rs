//! Events as lines to import and as requests to send.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::events::{Dataset, Day, Event, Kind};
use crate::error::{Context, Error};
use crate::jsonl::WrittenFile;
use bourse_random::Random;

const USAGE_SEED: u64 = 0x05a6e;

/// Services whose compute units are imported.
const SERVICES: [&str; 4] = ["indexer", "marketplace", "metadata", "relayer"];

/// What was written of a data set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DatasetFiles {
    /// The file.
    pub(crate) file: WrittenFile,
    /// Different pairs of a wallet and a day on which it did something.
    pub(crate) wallet_days: u64,
}

/// Writes all events of a data set, one on each line.
pub(super) fn write_events(path: &Path, dataset: Dataset, project: u64) -> Result<DatasetFiles, Error> {
    write_lines(path, dataset, project).context(|| format!("writing {}", path.display()))
}

fn write_lines(path: &Path, dataset: Dataset, project: u64) -> io::Result<DatasetFiles> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let head = format!("{{\"type\":\"event\",\"projectId\":{project},");
    let (mut lines, mut wallet_days) = (0, 0);
    let mut line = String::new();
    for day in dataset.days() {
        for event in &day.events {
            line.clear();
            line.push_str(&head);
            push_members(&mut line, &day, event);
            line.push_str("}\n");
            file.write_all(line.as_bytes())?;
            lines += 1;
        }
        wallet_days += day.active;
    }
    let bytes = file.into_inner()?.metadata()?.len();
    Ok(DatasetFiles { file: WrittenFile { lines, bytes }, wallet_days })
}

/// The compute units to import: some of each service on each day.
pub(super) fn usage(dataset: Dataset, project: u64) -> impl Iterator<Item = Value> {
    let mut random = Random::new(USAGE_SEED);
    let each = dataset.labels().flat_map(|day| SERVICES.map(|service| (day.clone(), service)));
    each.map(move |(day, service)| {
        json!({
            "type": "usage",
            "projectId": project,
            "service": service,
            "day": day,
            "units": random.between(1, 1_000_000),
            "id": format!("{service}-{day}"),
        })
    })
}

/// An event as a member of `TrackEvents`, with an id of its own when there is one.
pub(super) fn tracked(day: &Day, event: &Event, id: Option<usize>) -> String {
    let mut text = String::from("{");
    push_members(&mut text, day, event);
    if let Some(id) = id {
        push(&mut text, format_args!(",\"id\":\"event-{id}\""));
    }
    text.push('}');
    text
}

/// The address of a wallet. No two have the same, since the first 64 bits are a bijection of its number.
fn push_address(text: &mut String, wallet: u32) {
    let mut random = Random::new(u64::from(wallet));
    let (high, middle, low) = (random.next(), random.next(), random.next() >> 32);
    push(text, format_args!("0x{high:016x}{middle:016x}{low:08x}"));
}

fn push_members(text: &mut String, day: &Day, event: &Event) {
    text.push_str("\"wallet\":\"");
    push_address(text, event.wallet);
    let (minute, second) = (event.second / 60, event.second % 60);
    let (hour, minute) = (minute / 60, minute % 60);
    let (kind, action) = match event.kind {
        Kind::Session => ("session", None),
        Kind::Transaction => ("transaction", None),
        Kind::Buy => ("market", Some("buy")),
        Kind::Sell => ("market", Some("sell")),
    };
    let at = format_args!("{}T{hour:02}:{minute:02}:{second:02}Z", day.label);
    push(text, format_args!("\",\"kind\":\"{kind}\",\"at\":\"{at}\""));
    if let Some(action) = action {
        push(text, format_args!(",\"properties\":{{\"action\":\"{action}\"}}"));
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _: Result<(), std::fmt::Error> = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{tracked, usage, write_events};
    use crate::counting::events::{Day, Event, FEW, Kind};

    #[test]
    fn every_event_is_a_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("events.jsonl");
        let counted = write_events(&path, FEW, 7).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            (counted.file.bytes, counted.file.lines),
            (text.len() as u64, text.lines().count() as u64)
        );
        assert!(counted.wallet_days > 1_000 && counted.wallet_days < counted.file.lines);
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&event["type"], &event["projectId"]), (&json!("event"), &json!(7)));
            assert_eq!(event["wallet"].as_str().unwrap().len(), 42);
        }
    }

    #[test]
    fn a_trade_says_what_it_was() {
        let day = Day { label: "2025-12-31".to_owned(), events: Vec::new(), active: 0 };
        let event = Event { wallet: 3, second: 86_399, kind: Kind::Sell };
        let mut text: Value = serde_json::from_str(&tracked(&day, &event, Some(5))).unwrap();
        text["wallet"].take();
        let expected = json!({
            "wallet": null, "kind": "market", "at": "2025-12-31T23:59:59Z", "id": "event-5",
            "properties": { "action": "sell" },
        });
        assert_eq!(text, expected);
    }

    #[test]
    fn every_service_is_used_every_day() {
        assert_eq!(usage(FEW, 1).count(), 4 * 180);
    }
}
