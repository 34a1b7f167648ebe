//! What happens in a market is counted once, whatever happened to the services that count it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::durability_writers::{Log, Merged, write};
use crate::http::{Credential, call};
use crate::instance::{Instance, Project, Server, within};
use crate::seed::Random;

const KILLS: usize = 5;
const WRITERS: usize = 3;
const CONTRACT: &str = "0x2222222222222222222222222222222222222222";
/// How soon what happened must be in the charts.
const NOTICE_MAX: Duration = Duration::from_secs(10);

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

/// Puts listings from several clients until the service is gone.
fn put_until(server: &mut Server, project: &Project, next: &AtomicU64, moment: Duration) -> Merged {
    let (stop, port) = (AtomicBool::new(false), server.port);
    let send = |number| put(port, project, number);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(|| write(&send, &stop, next))).collect();
        std::thread::sleep(moment);
        server.process.kill();
        stop.store(true, Ordering::Relaxed);
        Log::merge(writers.into_iter().map(|writer| writer.join().unwrap()).collect())
    })
}

/// How many market events are counted.
fn counted(server: &Server, project: &Project) -> u64 {
    let body = json!({ "filter": { "startDate": "2024-01-01", "endDate": "2028-12-31" } });
    let answer = server.call("Analytics/MarketTxnEventTotal", Credential::Token(&project.token), &body).ok();
    answer["marketStats"][0]["value"].as_u64().unwrap()
}

#[test]
fn a_market_is_counted_exactly_once_after_kill_9() {
    let mut random = Random::new();
    let instance = Instance::new();
    let project = instance.create_project("market");
    let next = AtomicU64::new(0);
    let mut sent = Vec::new();
    let mut server = instance.serve();
    // It counts as well, and lives through the kills of the other.
    let beside = instance.serve();
    for _ in 0..KILLS {
        let moment = Duration::from_millis(random.range(200..900));
        let logs = put_until(&mut server, &project, &next, moment);
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
        within(NOTICE_MAX, "all listings are counted", || counted(server, &project) >= all);
    }
    // Once more than counting takes.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!([counted(&server, &project), counted(&beside, &project)], [all, all]);
}
