//! What happens in a market is counted once, whatever happened to the services that count it.

use serde_json::{Value, json};

use crate::durability_writers::{Merged, Writers};
use crate::http::{Credential, call};
use crate::instance::{Instance, Project, Server, within};
use crate::process::WAIT_MAX;
use crate::random::Random;

const KILLS: usize = 5;
const WRITERS: usize = 3;
const CONTRACT: &str = "0x2222222222222222222222222222222222222222";
/// How many answers every client has at most, after something was counted, before the service is killed.
const ANSWERS_MAX: u64 = 20;

/// A listing of its own.
fn listing(number: u64) -> Value {
    json!({ "chainId": 137, "orders": [{
        "collectionContractAddress": CONTRACT, "marketplace": "opensea", "orderId": number.to_string(),
        "side": "listing", "tokenId": "1", "createdBy": format!("0x{:040x}", number % 50 + 1),
        "priceAmount": "5", "priceCurrencyAddress": "0x0000000000000000000000000000000000000000",
        "validUntil": "2099-01-01T00:00:00Z",
    }] })
}

fn put(port: u16, project: &Project, number: u64) -> std::io::Result<crate::http::Answer> {
    call(port, "Ingest/PutOrders", Credential::Token(&project.token), &listing(number))
}

/// Puts listings from several clients until the service is gone, which counts some and then gives every client so many
/// answers.
fn put_until_killed(server: &mut Server, project: &Project, next: &mut u64, answers: u64) -> Merged {
    let (writers, port) = (Writers::numbering_from(*next), server.port);
    let before = counted(server, project);
    let logs = writers.run(
        WRITERS,
        |number| put(port, project, number),
        || {
            within(WAIT_MAX, "some listings are counted", || counted(server, project) > before);
            writers.wait_for_each(answers);
            server.process.kill();
        },
    );
    *next = writers.next();
    logs
}

/// How many market events are counted.
pub(crate) fn counted(server: &Server, project: &Project) -> u64 {
    let body = json!({ "filter": { "startDate": "2024-01-01", "endDate": "2028-12-31" } });
    let answer = server.call("Analytics/MarketTxnEventTotal", Credential::Token(&project.token), &body).ok();
    answer["marketStats"][0]["value"].as_u64().unwrap()
}

#[test]
fn a_market_is_counted_exactly_once_after_kill_9() {
    let mut random = Random::new();
    let instance = Instance::new();
    let project = instance.create_project("market");
    let mut next = 0;
    let mut sent = Vec::new();
    let mut server = instance.serve();
    // It counts as well, and lives through the kills of the other.
    let beside = instance.serve();
    for _ in 0..KILLS {
        let logs = put_until_killed(&mut server, &project, &mut next, random.range(0..ANSWERS_MAX));
        sent.extend(logs.acknowledged);
        sent.extend(logs.in_doubt);
        server = instance.serve();
    }
    // Whatever was in doubt is there now.
    for number in &sent {
        put(server.port, &project, *number).unwrap().ok();
    }
    let all = sent.len() as u64;
    println!("{all} listings");
    assert!(all > KILLS as u64 * 2, "a test that kills an idle server proves nothing");
    for server in [&server, &beside] {
        within(WAIT_MAX, "all listings are counted", || counted(server, &project) >= all);
    }
    // Counting once more shows whether anything before is counted again.
    put(server.port, &project, next).unwrap().ok();
    for server in [&server, &beside] {
        within(WAIT_MAX, "the last listing is counted", || counted(server, &project) > all);
    }
    assert_eq!([counted(&server, &project), counted(&beside, &project)], [all + 1, all + 1]);
}
