//! Ninety days of life: wallets that arrive, return or stay away, and the calls they cause.

use serde_json::{Value, json};

use super::DemoContext;
use super::clock::{DAY_SECONDS, date, timestamp, weekday};
use super::people::wallet;
use super::rng::Rng;

/// Length of the story in days, today included.
pub(super) const DAYS: u64 = 90;
/// Wallets that appear in it.
const VISITORS: u64 = 250;

/// Per mille of an ordinary day, Monday first: people collect at weekends.
const WEEK: [u64; 7] = [840, 860, 900, 950, 1080, 1240, 1130];

/// One event, before it becomes a record.
struct Event {
    at: u64,
    visitor: u64,
    kind: &'static str,
}

/// The import lines of all events, oldest first.
pub(super) fn events(context: &DemoContext) -> impl Iterator<Item = Value> + use<> {
    let today = context.now_unix / DAY_SECONDS;
    let mut events: Vec<Event> = (0..VISITORS).flat_map(|visitor| visits(visitor, today)).collect();
    // The demo is made in the middle of today; nothing has happened after that.
    events.retain(|event| event.at <= context.now_unix);
    events.sort_by_key(|event| (event.at, event.visitor));
    let project_id = context.project_id;
    events.into_iter().enumerate().map(move |(number, event)| {
        json!({
            "type": "event",
            "projectId": project_id,
            "wallet": wallet(event.visitor),
            "kind": event.kind,
            "at": timestamp(event.at),
            "id": format!("demo-event-{:05}", number + 1),
        })
    })
}

/// The import lines of daily usage of each service.
pub(super) fn usage(context: &DemoContext) -> impl Iterator<Item = Value> + use<> {
    let first = context.now_unix / DAY_SECONDS + 1 - DAYS;
    let project_id = context.project_id;
    let services = [
        ("metadata", 5_200),
        ("marketplace", 3_100),
        ("builder", 140),
        ("analytics", 310),
        ("collections", 420),
    ];
    (first..first + DAYS).flat_map(move |day| {
        services.into_iter().map(move |(service, base)| {
            let mut rng = Rng::keyed(service, day);
            let growth = 400 + (day - first) * 14;
            let units = base * growth / 1000 * WEEK[weekday(day)] / 1000 * rng.range(880, 1120) / 1000;
            json!({
                "type": "usage",
                "projectId": project_id,
                "service": service,
                "day": date(day),
                "units": units,
                "id": format!("demo-usage-{service}-{}", date(day)),
            })
        })
    })
}

/// Everything one wallet does, from its first day on.
fn visits(visitor: u64, today: u64) -> Vec<Event> {
    let mut rng = Rng::keyed("visitor", visitor);
    let first_day = today + 1 - DAYS;
    // A handful was there when the doors opened, so that the story has a first day.
    let joined = if visitor < 12 { first_day + visitor / 4 } else { join_day(first_day, &mut rng) };
    let mut events = Vec::new();
    for day in joined..=today {
        let age = day - joined;
        // Those who came first were looking for exactly this, and come back more often.
        let loyalty = if visitor < 30 { 1900 } else { 1000 };
        let likely = retention(age) * loyalty / 1000 * WEEK[weekday(day)] / 1000;
        if age == 0 || rng.chance(likely.min(950)) {
            visit(visitor, day, &mut rng, &mut events);
        }
    }
    events
}

/// Later days draw more newcomers, and weekends more than weekdays.
fn join_day(first_day: u64, rng: &mut Rng) -> u64 {
    loop {
        let day = first_day + rng.below(DAYS);
        let growth = 350 + (day - first_day) * 7;
        // Ends: every day is taken with a chance of at least a fifth.
        if rng.chance(growth * WEEK[weekday(day)] / 1300) {
            return day;
        }
    }
}

/// Per mille of wallets seen again after so many days.
fn retention(age: u64) -> u64 {
    match age {
        0 => 1000,
        1 => 370,
        2 => 310,
        3 => 270,
        4 => 240,
        5 => 215,
        6 => 195,
        7 => 180,
        8..=13 => 165,
        14..=20 => 145,
        21..=29 => 128,
        30..=59 => 112,
        _ => 96,
    }
}

/// One day of one wallet: a few sessions, and what was done in them.
fn visit(visitor: u64, day: u64, rng: &mut Rng, events: &mut Vec<Event>) {
    for _ in 0..rng.range(1, 3) {
        // The mean of two draws: quiet nights, busy afternoons (in UTC).
        let start = day * DAY_SECONDS + u64::midpoint(rng.below(72_000), rng.below(72_000)) + 10_800;
        events.push(Event { at: start, visitor, kind: "session" });
        let mut at = start;
        for _ in 0..rng.below(6) {
            at += rng.range(20, 360);
            let kind = *rng.weighted(&[("transaction", 45), ("market", 55)]);
            events.push(Event { at, visitor, kind });
        }
    }
}
