//! A batch of events that was acknowledged is counted once, whatever happened to the service.

use bourse_wire::Day;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::durability_writers::{Merged, Writers};
use crate::http::{Credential, call};
use crate::instance::{Instance, Project, Server};
use crate::random::Random;

const KILLS: usize = 8;
const WRITERS: usize = 4;
/// Events in a batch. All are on a day that tells which batch they are of.
const EVENTS: u64 = 10;
/// How many answers every client has at most before the service is killed.
const ANSWERS_MAX: u64 = 30;
/// The days that batches are spread over: no more than a chart shows at once.
const DAYS: u64 = 1_800;

fn day(batch: u64) -> Day {
    let first: Day = "2020-01-01".parse().unwrap();
    Day::from_number(first.number() + i32::try_from(batch % DAYS).unwrap())
}

fn batch(number: u64) -> Value {
    let event = |index: u64| {
        let wallet = number * EVENTS / 2 + index + 1;
        json!({ "wallet": format!("0x{wallet:040x}"), "kind": "transaction", "at": format!("{}T12:00:00Z", day(number)) })
    };
    let events: Vec<Value> = (0..EVENTS).map(event).collect();
    json!({ "batchId": format!("batch {number}"), "events": events })
}

/// Sends batches from several clients, each of which gets so many answers, until the service is gone.
fn send_until_killed(server: &mut Server, project: &Project, next: &mut u64, answers: u64) -> Merged {
    let (writers, port) = (Writers::numbering_from(*next), server.port);
    let send = |number| call(port, "Ingest/TrackEvents", Credential::Token(&project.token), &batch(number));
    let logs = writers.run(WRITERS, send, || {
        writers.wait_for_each(answers);
        server.process.kill();
    });
    *next = writers.next();
    logs
}

/// Transactions by day.
fn counted(server: &Server, project: &Project) -> BTreeMap<String, u64> {
    let body = json!({ "filter": { "startDate": day(0), "endDate": day(DAYS - 1) } });
    let answer = server.call("Analytics/WalletsTxnSentDaily", Credential::Token(&project.token), &body).ok();
    let points = answer["walletStats"].as_array().unwrap().iter();
    points
        .map(|point| (point["label"].as_str().unwrap().to_owned(), point["value"].as_u64().unwrap()))
        .collect()
}

/// Batches by day.
fn by_day<'b>(batches: impl Iterator<Item = &'b u64>) -> BTreeMap<String, u64> {
    let mut days = BTreeMap::new();
    batches.for_each(|number| *days.entry(day(*number).to_string()).or_default() += 1);
    days
}

#[test]
fn acknowledged_batches_are_counted_exactly_once_after_kill_9() {
    let mut random = Random::new();
    let instance = Instance::new();
    let project = instance.create_project("counted");
    let mut next = 0;
    let (mut acknowledged, mut in_doubt) = (Vec::new(), Vec::new());
    let mut server = instance.serve();
    for _ in 0..KILLS {
        let logs = send_until_killed(&mut server, &project, &mut next, random.range(1..ANSWERS_MAX));
        acknowledged.extend(logs.acknowledged);
        in_doubt.extend(logs.in_doubt);
        server = instance.serve();
        let (sure, maybe) = (by_day(acknowledged.iter()), by_day(in_doubt.iter()));
        let found = counted(&server, &project);
        for (day, events) in &found {
            let (sure, maybe) = (sure.get(day).unwrap_or(&0), maybe.get(day).unwrap_or(&0));
            assert_eq!(events % EVENTS, 0, "a batch is there by half on {day}");
            assert!(
                (*sure..=sure + maybe).contains(&(events / EVENTS)),
                "{events} events on {day}: {sure} {maybe}"
            );
        }
        assert!(sure.keys().all(|day| found.contains_key(day)), "a batch was acknowledged and is gone");
    }
    println!("{} acknowledged, {} in doubt", acknowledged.len(), in_doubt.len());
    assert!(
        acknowledged.len() > KILLS && in_doubt.len() > KILLS,
        "a test that kills an idle server proves nothing"
    );
    check_sent_again(&server, &project, &acknowledged, &in_doubt);
}

/// Everything is sent again: what was acknowledged is known, and then everything is counted once.
fn check_sent_again(server: &Server, project: &Project, acknowledged: &[u64], in_doubt: &[u64]) {
    let send = |number: &u64| {
        let answer =
            server.call("Ingest/TrackEvents", Credential::Token(&project.token), &batch(*number)).ok();
        (answer["replayed"].as_bool().unwrap(), answer["accepted"].as_u64().unwrap())
    };
    let before = counted(server, project);
    for number in acknowledged {
        assert_eq!(send(number), (true, 0), "batch {number}");
    }
    assert_eq!(counted(server, project), before, "what was sent again changed something");
    for number in in_doubt {
        assert!([(true, 0), (false, EVENTS)].contains(&send(number)), "batch {number}");
    }
    let mut all = by_day(acknowledged.iter().chain(in_doubt));
    for batches in all.values_mut() {
        *batches *= EVENTS;
    }
    assert_eq!(counted(server, project), all);
}
