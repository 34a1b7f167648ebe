//! What was acknowledged of a market is there after the service was killed, nothing is there by half, and nothing is
//! counted twice.
//!
//! `BOURSE_KILLS` says how often it is killed. Every round is a collection of its own, so that the thousandth takes no
//! longer than the first.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use bourse_store::testing::load_all;
use bourse_store::{Changes, CollectionKey};
use bourse_wire::{Amount, ChainId, OrderStatus};
use serde_json::{Value, json};

use crate::durability_writers::{Log, Writers};
use crate::http::{Answer, Credential, call};
use crate::instance::{Instance, Project, Server};
use crate::random::Random;

const KILLS: u64 = 12;
/// How many answers every client has at most before the service is killed.
const ANSWERS_MAX: u64 = 6;
/// Records of one call, which are there together or not at all.
const GROUP_SIZE: u64 = 4;
/// Tokens that one call may ask for.
const TOKENS_ASKED_MAX: usize = 50;
const SELLER: &str = "0x00000000000000000000000000000000000000a1";
/// The day on which everything happens that is counted.
const DAY: &str = "2025-01-31";

/// The kinds of writes, by what their records are called.
#[derive(Clone, Copy)]
enum Kind {
    Orders,
    Tokens,
    Balances,
    /// An order that is put and then taken back.
    Cancelled,
    Events,
}

const KINDS: [Kind; 5] = [Kind::Orders, Kind::Tokens, Kind::Balances, Kind::Cancelled, Kind::Events];

/// One round: its collection, and what each kind of client did.
struct Round {
    number: u64,
    logs: [Log; KINDS.len()],
}

/// How often to kill.
pub(crate) fn kills(unless_said: u64) -> u64 {
    std::env::var("BOURSE_KILLS").map_or(unless_said, |text| text.parse().unwrap())
}

fn contract(round: u64) -> String {
    format!("0x{:040x}", 0xc0_0000 + round)
}

fn order(round: u64, id: &str, token: u64) -> Value {
    json!({
        "chainId": 137, "collectionContractAddress": contract(round), "marketplace": "opensea", "orderId": id,
        "side": "listing", "tokenId": token.to_string(), "createdBy": SELLER, "priceAmount": "5",
        "priceCurrencyAddress": "0x0000000000000000000000000000000000000000", "validUntil": "2099-01-01T00:00:00Z",
    })
}

/// The number of one of the records of a call.
fn member(number: u64, index: u64) -> u64 {
    number * GROUP_SIZE + index
}

fn group(record: impl Fn(u64) -> Value) -> Vec<Value> {
    (0..GROUP_SIZE).map(record).collect()
}

/// What is sent one after the other, as one write.
fn requests(kind: Kind, round: u64, number: u64) -> Vec<(&'static str, Value)> {
    let token = |index| json!({ "chainId": 137, "contractAddress": contract(round), "tokenId": member(number, index).to_string(), "name": "Axe" });
    let balance = |index| json!({ "chainId": 137, "contractAddress": contract(round), "tokenId": member(number, index).to_string(), "account": SELLER, "balance": "7" });
    let listing = |index| order(round, &format!("o{}", member(number, index)), member(number, index));
    let event = |index| json!({ "wallet": format!("0x{:040x}", member(number, index) + 1), "kind": "transaction", "at": format!("{DAY}T12:00:00Z") });
    match kind {
        Kind::Orders => vec![("Ingest/PutOrders", json!({ "orders": group(listing) }))],
        Kind::Tokens => vec![("Ingest/PutTokens", json!({ "tokens": group(token) }))],
        Kind::Balances => vec![("Ingest/PutBalances", json!({ "balances": group(balance) }))],
        Kind::Cancelled => {
            let order = order(round, &format!("c{number}"), number);
            let put = ("Ingest/PutOrders", json!({ "orders": [&order] }));
            vec![put, ("Ingest/CancelOrders", json!({ "orders": [order] }))]
        }
        Kind::Events => {
            let batch = format!("round {round} batch {number}");
            vec![("Ingest/TrackEvents", json!({ "batchId": batch, "events": group(event) }))]
        }
    }
}

/// Sends a write; the last answer.
fn send(port: u16, token: &str, kind: Kind, (round, number): (u64, u64)) -> io::Result<Answer> {
    let mut last = Err(io::ErrorKind::InvalidInput.into());
    for (operation, body) in requests(kind, round, number) {
        last = Ok(call(port, operation, Credential::Token(token), &body)?);
    }
    last
}

/// Lets a client of every kind write until the service is killed, which is after each has so many answers.
fn write_until_killed(server: &mut Server, project: &Project, number: u64, answers: u64) -> Round {
    let (writers, port, token) = (Writers::numbering_from(1), server.port, project.token.as_str());
    let logs = std::thread::scope(|scope| {
        let start = |kind: Kind| {
            let (writers, client) = (&writers, writers.add());
            scope.spawn(move || writers.write(client, |write| send(port, token, kind, (number, write))))
        };
        let handles: [ScopedJoinHandle<'_, Log>; KINDS.len()] = KINDS.map(start);
        writers.wait_for_each(answers);
        server.process.kill();
        handles.map(|handle| handle.join().unwrap())
    });
    Round { number, logs }
}

impl Round {
    fn log(&self, kind: Kind) -> &Log {
        &self.logs[kind as usize]
    }

    /// What the database has of the round.
    fn check_stored(&self, stored: &Changes) {
        let ids = |prefix: char| {
            let orders = stored.orders.iter().filter(move |order| order.order_id.starts_with(prefix));
            orders.map(|order| (order.order_id[1..].parse::<u64>().unwrap(), order.status))
        };
        let parse = |token: &bourse_wire::TokenId| token.to_string().parse::<u64>().unwrap();
        self.check_groups(Kind::Orders, &ids('o').map(|(id, _)| id).collect());
        self.check_groups(Kind::Tokens, &stored.tokens.iter().map(|token| parse(&token.token_id)).collect());
        self.check_groups(
            Kind::Balances,
            &stored.balances.iter().map(|held| parse(&held.token_id)).collect(),
        );
        assert!(stored.balances.iter().all(|held| held.balance == Amount::from(7_u64)));
        let cancelled: BTreeMap<u64, OrderStatus> = ids('c').collect();
        let log = self.log(Kind::Cancelled);
        for number in &log.acknowledged {
            assert_eq!(cancelled.get(number), Some(&OrderStatus::Cancelled), "order c{number}");
        }
        let is_sent = |number: &u64| log.acknowledged.contains(number) || log.in_doubt == Some(*number);
        assert!(cancelled.keys().all(is_sent), "nobody sent one of {cancelled:?}");
    }

    fn check_groups(&self, kind: Kind, there: &BTreeSet<u64>) {
        let log = self.log(kind);
        for number in &log.acknowledged {
            let is_whole = (0..GROUP_SIZE).all(|index| there.contains(&member(*number, index)));
            assert!(is_whole, "group {number} of round {} was acknowledged: {there:?}", self.number);
        }
        let acknowledged = log.acknowledged.len() as u64 * GROUP_SIZE;
        let in_doubt = there.len() as u64 - acknowledged;
        assert!([0, GROUP_SIZE].contains(&in_doubt), "there by half in round {}: {there:?}", self.number);
        assert!(in_doubt == 0 || log.in_doubt.is_some(), "nobody sent something of {there:?}");
    }

    /// Sends the batches again that got no answer, and the last one that did; how many there are.
    fn send_events_again(&self, server: &Server, project: &Project) -> u64 {
        let log = self.log(Kind::Events);
        for number in log.in_doubt.iter().chain(log.acknowledged.last()) {
            let answer =
                send(server.port, &project.token, Kind::Events, (self.number, *number)).unwrap().ok();
            let is_known = log.in_doubt != Some(*number);
            assert!(!is_known || answer["replayed"] == true, "batch {number} was acknowledged: {answer}");
        }
        (log.acknowledged.len() + usize::from(log.in_doubt.is_some())) as u64
    }

    /// What the restarted service tells of the tokens is what the database has.
    fn check_served(&self, server: &Server, project: &Project, stored: &Changes) {
        let ids: Vec<String> = stored.tokens.iter().map(|token| token.token_id.to_string()).collect();
        for ids in ids.chunks(TOKENS_ASKED_MAX) {
            let body = json!({ "chainID": 137, "contractAddress": contract(self.number), "tokenIDs": ids });
            let token = Credential::Token(&project.token);
            let answer = server.call("Metadata/GetTokenMetadata", token, &body).ok();
            assert_eq!(answer["tokenMetadata"].as_array().unwrap().len(), ids.len(), "{answer}");
        }
    }
}

/// Transactions that are counted.
fn counted(server: &Server, project: &Project) -> u64 {
    let body = json!({ "filter": { "startDate": DAY, "endDate": DAY } });
    let answer = server.call("Analytics/WalletsTxnSentDaily", Credential::Token(&project.token), &body).ok();
    answer["walletStats"][0]["value"].as_u64().unwrap_or_default()
}

/// What the database has of rounds.
fn stored(instance: &Instance, rounds: &[Round]) -> Vec<Changes> {
    instance.with_store(async |store| {
        let mut all = Vec::new();
        for round in rounds {
            let key = CollectionKey { chain: ChainId(137), address: contract(round.number).parse().unwrap() };
            all.push(match store.collection(key).await.unwrap() {
                Some(id) => load_all(store, id).await.unwrap(),
                None => Changes::default(),
            });
        }
        all
    })
}

#[test]
fn a_market_survives_kill_9_whole_and_counted_once() {
    let (mut random, started, kills) = (Random::new(), Instant::now(), kills(KILLS));
    let instance = Instance::new();
    let project = instance.create_project("market");
    let mut server = instance.serve();
    let (mut rounds, mut batches) = (Vec::new(), 0);
    for number in 0..kills {
        // Every fourth is killed before anybody needs to have an answer.
        let answers = if number % 4 == 3 { 0 } else { random.range(1..ANSWERS_MAX) };
        rounds.push(write_until_killed(&mut server, &project, number, answers));
        server = instance.serve();
        let round = &rounds[rounds.len() - 1..];
        let there = &stored(&instance, round)[0];
        round[0].check_stored(there);
        round[0].check_served(&server, &project, there);
        batches += round[0].send_events_again(&server, &project);
        assert_eq!(counted(&server, &project), batches * GROUP_SIZE, "round {number}");
    }
    // Later kills took nothing away.
    for (round, there) in rounds.iter().zip(stored(&instance, &rounds)) {
        round.check_stored(&there);
    }
    let logs = || rounds.iter().flat_map(|round| &round.logs);
    let acknowledged: usize = logs().map(|log| log.acknowledged.len()).sum();
    let in_doubt = logs().filter(|log| log.in_doubt.is_some()).count();
    println!("{kills} kills in {:?}: acknowledged {acknowledged}, in doubt {in_doubt}", started.elapsed());
    assert!(
        acknowledged as u64 > kills && in_doubt as u64 > kills,
        "a test that kills an idle server proves nothing"
    );
}
