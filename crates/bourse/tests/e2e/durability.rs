//! What the service acknowledged is there after it was killed, and nothing is there by half.
//!
//! A killed process loses nothing that it gave to the system, so this does not tell whether the disk was waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use bourse_store::ProjectScope;
use serde_json::{Value, json};

use crate::durability_market::kills;
use crate::durability_writers::{GROUP_SIZE, Logs, Merged, Targets, group_of, write_until};
use crate::http::Credential;
use crate::instance::{Instance, Project, Server};
use crate::random::Random;

const KILLS_SQLITE: u64 = 24;
const KILLS_POSTGRES: u64 = 16;
/// How many answers every client has at most before the service is killed.
const ANSWERS_MAX: u64 = 30;

#[test]
fn acknowledged_writes_survive_kill_9_and_no_write_is_there_by_half() {
    let mut random = Random::new();
    let started = Instant::now();
    let instance = Instance::new();
    let project = instance.create_project("durable");
    let mut server = instance.serve();
    let kills = kills(if instance.is_postgres() { KILLS_POSTGRES } else { KILLS_SQLITE });
    let kills = usize::try_from(kills).unwrap();
    let mut rounds = Vec::new();
    for round in 0..kills {
        let targets = make_targets(&server, &project, round);
        // Every fourth is killed before anybody has an answer.
        let answers = if round % 4 == 3 { 0 } else { random.range(1..ANSWERS_MAX) };
        let logs = write_until(server.port, &project.token, targets, |writers| {
            writers.wait_for_each(answers);
            server.process.kill();
        });
        if round % 3 == 2 {
            // A server that is killed again while it starts must not make it worse.
            let mut starting = instance.serve_unready("serve", &[]);
            std::thread::sleep(Duration::from_millis(random.range(0..120)));
            starting.process.kill();
        }
        server = instance.serve();
        check_over_http(&server, &project, targets, &logs);
        rounds.push((targets, logs));
    }
    drop(server);
    for (targets, logs) in &rounds {
        check_in_store(&instance, &project, *targets, logs);
    }
    let acknowledged: Vec<usize> = rounds.iter().map(|(_, logs)| logs.acknowledged()).collect();
    let in_doubt: usize = rounds.iter().map(|(_, logs)| logs.in_doubt()).sum();
    println!("{kills} kills in {:?}: acknowledged {acknowledged:?}, in doubt {in_doubt}", started.elapsed());
    // A test that killed an idle server would prove nothing.
    assert!(acknowledged.iter().filter(|count| **count > 0).count() > kills / 2, "{acknowledged:?}");
    assert!(in_doubt > kills, "{in_doubt} writes were under way at {kills} kills");
}

pub(crate) fn make_targets(server: &Server, project: &Project, round: usize) -> Targets {
    let token = Credential::Token(&project.token);
    let audience =
        server.call("Builder/CreateAudience", token, &json!({ "name": format!("round {round}") })).ok();
    let collection = || {
        let body = json!({ "collection": { "metadata": { "name": "name 0", "description": "text 0" } } });
        server.call("Collections/CreateCollection", token, &body).ok()["collection"]["id"].as_u64().unwrap()
    };
    Targets {
        audience: audience["audience"]["id"].as_u64().unwrap(),
        collection: collection(),
        updated: collection(),
    }
}

/// What the restarted service tells its clients.
pub(crate) fn check_over_http(server: &Server, project: &Project, targets: Targets, logs: &Logs) {
    let token = Credential::Token(&project.token);
    let view = server.call("Builder/GetAudience", token, &json!({ "audienceId": targets.audience })).ok();
    let contacts = view["contacts"].as_array().unwrap();
    assert_eq!(view["audience"]["contactCount"], json!(contacts.len()));
    check_groups(contacts.iter().map(|contact| contact["address"].as_str().unwrap()), &logs.contacts);
    let body = json!({ "collectionId": targets.updated });
    let updated = server.call("Collections/GetCollection", token, &body).ok();
    check_update(&updated["collection"]["metadata"], logs);
    let collection =
        server.call("Collections/GetCollection", token, &json!({ "collectionId": targets.collection }));
    let numbers = list_tokens(server, token, targets.collection);
    assert_eq!(collection.ok()["collection"]["tokenCount"], json!(numbers.len()));
    check_tokens(&numbers, &logs.tokens);
}

pub(crate) fn list_tokens(server: &Server, token: Credential<'_>, collection: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for page in 1.. {
        let body = json!({ "collectionId": collection, "page": { "page": page, "pageSize": 200 } });
        let answer = server.call("Collections/ListTokens", token, &body).ok();
        for token in answer["tokens"].as_array().unwrap() {
            let number = token["tokenId"].as_str().unwrap();
            assert_eq!(token["name"], json!(format!("token {number}")));
            numbers.push(number.parse().unwrap());
        }
        if answer["page"]["more"] != json!(true) {
            break;
        }
    }
    numbers
}

/// What the database holds at the very end: later crashes took nothing away from earlier rounds.
fn check_in_store(instance: &Instance, project: &Project, targets: Targets, logs: &Logs) {
    let scope = ProjectScope::of_operator(project.wire_id());
    let (view, updated, collection) = instance.with_store(async |store| {
        let id = |number: u64| number.try_into().unwrap();
        let view = store.audience(scope, id(targets.audience)).await.unwrap();
        let updated = store.hosted_collection(scope, id(targets.updated)).await.unwrap();
        (view, updated, store.hosted_collection(scope, id(targets.collection)).await.unwrap())
    });
    assert_eq!(view.audience.contact_count, view.contacts.len() as u64);
    let addresses: Vec<String> = view.contacts.iter().map(|contact| contact.address.to_string()).collect();
    check_groups(addresses.iter().map(String::as_str), &logs.contacts);
    check_update(&serde_json::to_value(&updated.metadata).unwrap(), logs);
    let acknowledged = logs.tokens.acknowledged.len() as u64;
    let sent = acknowledged + logs.tokens.in_doubt.len() as u64;
    assert!((acknowledged..=sent).contains(&collection.token_count), "{}", collection.token_count);
}

/// Tells how many groups are there.
pub(crate) fn check_groups<'a>(addresses: impl Iterator<Item = &'a str>, log: &Merged) -> usize {
    let mut groups: BTreeMap<u64, usize> = BTreeMap::new();
    for address in addresses {
        *groups.entry(group_of(address)).or_default() += 1;
    }
    for (group, size) in &groups {
        assert_eq!(*size, GROUP_SIZE, "group {group} is there by half");
        assert!(log.sent(*group), "nobody sent group {group}");
    }
    for group in &log.acknowledged {
        assert!(groups.contains_key(group), "group {group} was acknowledged and is gone");
    }
    groups.len()
}

pub(crate) fn check_tokens(numbers: &[u64], log: &Merged) {
    let there: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(there.len(), numbers.len(), "a token is listed twice");
    for number in &there {
        assert!(log.sent(*number), "nobody sent token {number}");
    }
    for number in &log.acknowledged {
        assert!(there.contains(number), "token {number} was acknowledged and is gone");
    }
}

/// One client changes the collection, so it is as the last acknowledged change left it, or the one in doubt.
fn check_update(metadata: &Value, logs: &Logs) {
    let name = metadata["name"].as_str().unwrap();
    let number: u64 = name.strip_prefix("name ").unwrap().parse().unwrap();
    assert_eq!(metadata["description"], json!(format!("text {number}")), "a change is there by half");
    let last = logs.updates.acknowledged.last().copied().unwrap_or(0);
    assert!(number == last || logs.updates.in_doubt == Some(number), "change {last} is gone: {name}");
}
