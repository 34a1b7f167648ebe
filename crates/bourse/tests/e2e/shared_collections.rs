//! Servers that share collections: together they hold what one cannot, and whoever asks is told the same through any of them,
//! whichever are killed or stand still.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http::{Answer, Credential, Exchange, call_after, get, head};
use crate::instance::{Instance, Project, Server, free_port, within};
use crate::process::WAIT_MAX;

const SERVERS: usize = 3;
const COLLECTIONS: u64 = 24;
const TOKENS: u64 = 100;

fn contract(collection: u64) -> String {
    format!("0x{:040x}", 0xc011_0000_u64 + collection)
}

/// An installation with more collections than one of its servers has memory for.
struct House {
    instance: Instance,
    project: Project,
    /// What a server that holds everything answers, by question.
    expected: BTreeMap<String, String>,
    /// Memory in which some of the collections have no room.
    bytes_max: u64,
}

/// Every question with its operation.
fn questions() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for contract in (0..COLLECTIONS).map(contract) {
        let ids: Vec<String> = (1..=TOKENS).step_by(9).map(|token| token.to_string()).collect();
        let tokens = json!({ "chainID": "137", "contractAddress": contract, "tokenIDs": ids });
        all.push(("Metadata/GetTokenMetadata", tokens));
        all.push(("Metadata/GetContractInfo", json!({ "chainID": "137", "contractAddress": contract })));
        let page = json!({ "chainId": "137", "contractAddress": contract, "side": "listing" });
        all.push(("Marketplace/ListCollectibles", page));
    }
    let every: Vec<String> = (0..=COLLECTIONS).map(contract).collect();
    let map: BTreeMap<&String, [&str; 2]> = every.iter().map(|contract| (contract, ["7", "5"])).collect();
    all.push(("Metadata/GetTokenMetadataBatch", json!({ "chainID": "137", "contractTokenMap": map })));
    all.push(("Metadata/GetContractInfoBatch", json!({ "chainID": "137", "contractAddresses": every })));
    // Nothing is known of this one.
    all.push((
        "Metadata/GetContractInfo",
        json!({ "chainID": "137", "contractAddress": contract(COLLECTIONS) }),
    ));
    all
}

impl House {
    /// `None` where there is no PostgreSQL to share.
    fn new() -> Option<Self> {
        let instance = Instance::new();
        if !instance.is_postgres() {
            println!("several servers need PostgreSQL");
            return None;
        }
        let project = instance.create_project("sharing");
        instance.json(&["grant", "add", &project.id.to_string(), "collections"]);
        let lone = instance.serve();
        let mut house = Self { instance, project, expected: BTreeMap::new(), bytes_max: 0 };
        for collection in 0..COLLECTIONS {
            house.fill(&lone, collection);
        }
        for (operation, body) in questions() {
            let answer = house.ask(lone.port, operation, &body);
            house.expected.insert(format!("{operation} {body}"), said(&answer));
        }
        house.bytes_max = metric(&lone, "bourse_resident_bytes") / 4 * 3;
        assert_eq!(metric(&lone, "bourse_resident_collections"), COLLECTIONS);
        Some(house)
    }

    fn fill(&self, server: &Server, collection: u64) {
        let contract = contract(collection);
        let token = |token: u64| {
            let name = format!("Token {token} of {collection}");
            let description = format!("{token} ").repeat(20);
            json!({ "contractAddress": contract, "tokenId": token.to_string(), "name": name, "description": description })
        };
        let tokens: Vec<Value> = (1..=TOKENS).map(token).collect();
        let credential = Credential::Token(&self.project.token);
        let put = |operation: &str, body: Value| {
            let answer = server.call(operation, credential, &body).ok();
            assert_eq!(answer["rejected"], json!([]), "{answer}");
        };
        put("Ingest/PutTokens", json!({ "chainId": 137, "tokens": tokens }));
        let info = json!({ "address": contract, "name": format!("Collection {collection}"), "contractType": "ERC721" });
        put("Ingest/PutContracts", json!({ "chainId": 137, "contracts": [info] }));
    }

    /// A server with little memory.
    fn start(&self, is_sharing: bool) -> Server {
        let port = free_port();
        let address = if is_sharing { format!("127.0.0.1:{port}") } else { String::new() };
        self.start_with(port, &[("BOURSE_SERVER__PEER_ADDRESS", &address)])
    }

    /// The same at a port, and with variables.
    fn start_with(&self, port: u16, variables: &[(&str, &str)]) -> Server {
        let bytes_max = self.bytes_max.to_string();
        let all = [
            ("BOURSE_STORAGE__RESIDENT_BYTES_MAX", bytes_max.as_str()),
            // It would load a second copy of one collection after the other.
            ("BOURSE_STORAGE__SELF_CHECK_INTERVAL_MS", "0"),
            // However slow the machine is, requests end because of what is tested.
            ("BOURSE_LIMITS__REQUEST_TIMEOUT_MS", "60000"),
        ];
        let mut server = self.instance.serve_at(port, &[&all, variables].concat());
        server.wait_ready(WAIT_MAX);
        server
    }

    /// Servers that know of each other.
    fn start_sharing(&self) -> Vec<Server> {
        let servers: Vec<Server> = (0..SERVERS).map(|_| self.start(true)).collect();
        for server in &servers {
            wait_alive(server, SERVERS as u64);
        }
        servers
    }

    fn ask(&self, port: u16, operation: &str, body: &Value) -> Answer {
        call_after(port, operation, Credential::Key(&self.project.key), None, body).unwrap()
    }

    /// Asks everything through a server, and compares with what one answers that holds everything.
    fn check(&self, server: &Server) {
        for (operation, body) in questions() {
            let question = format!("{operation} {body}");
            let answer = self.ask(server.port, operation, &body);
            assert_eq!(said(&answer), self.expected[&question], "{question}");
        }
    }
}

/// What an answer says, without what is drawn for each.
fn said(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.body)
}

/// A series of a server; 0 while it has none.
fn metric(server: &Server, name: &str) -> u64 {
    let text = get(server.port, "/metrics").unwrap().body;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_default()
}

fn loads(servers: &[Server]) -> u64 {
    servers.iter().map(|server| metric(server, "bourse_resident_load_seconds_count")).sum()
}

fn forwarded(server: &Server, outcome: &str) -> u64 {
    metric(server, &format!("bourse_forwarded_requests_total{{outcome=\"{outcome}\"}}"))
}

fn wait_alive(server: &Server, count: u64) {
    within(WAIT_MAX, "it knows who else is alive", || metric(server, "bourse_peers_alive") == count);
}

/// What `bourse doctor` says beside a server of the servers that share with it.
fn told_of_peers(house: &House, server: &Server) -> String {
    let listen = format!("127.0.0.1:{}", server.port);
    let mut command = house.instance.command(&["doctor", "--listen", &listen]);
    command.env("BOURSE_SERVER__PEER_ADDRESS", &listen);
    let done = house.instance.start(command).wait(WAIT_MAX);
    let line = done.stdout.lines().find(|line| line.contains("  servers  "));
    line.unwrap_or_else(|| panic!("{done:?}")).to_owned()
}

fn troubled(server: &Server, trouble: &str) -> u64 {
    metric(server, &format!("bourse_peers_troubled{{trouble=\"{trouble}\"}}"))
}

#[test]
fn each_server_tells_who_else_is_there_and_what_is_wrong_with_them() {
    let Some(house) = House::new() else { return };
    let mut servers = house.start_sharing();
    house.check(&servers[0]);
    let ready = |server: &Server| get(server.port, "/ready").unwrap().body;
    assert_eq!(ready(&servers[0]), r#"{"status":"ready"}"#);
    let told = told_of_peers(&house, &servers[0]);
    assert!(told.starts_with("ok    servers "), "{told}");
    let held = metric(&servers[0], "bourse_resident_collections");
    assert!(told.contains(&format!("127.0.0.1:{} has {held} collections", servers[0].port)), "{told}");
    for other in &servers[1..] {
        let address = format!("127.0.0.1:{}", other.port);
        assert!(told.contains(&format!("{address} shares them, seen ")), "{told}");
        let series = format!("bourse_peer_seen_seconds{{peer=\"{address}\"}}");
        assert!(get(servers[0].port, "/metrics").unwrap().body.contains(&series), "{series}");
    }
    // One that was killed is heard of no more, which is nothing to do anything about.
    let mut killed = servers.remove(2);
    killed.process.kill();
    within(WAIT_MAX, "it is missed", || troubled(&servers[0], "silent") == 1);
    let told = told_of_peers(&house, &servers[0]);
    assert!(told.starts_with("ok  ") && told.contains("is not heard of"), "{told}");
    // One that was told the address of another.
    let address = format!("127.0.0.1:{}", servers[1].port);
    let wrong = house.start_with(free_port(), &[("BOURSE_SERVER__PEER_ADDRESS", &address)]);
    for server in &servers {
        let expected = if server.port == servers[1].port { 1 } else { 2 };
        within(WAIT_MAX, "it is noticed", || troubled(server, "same_address") == expected);
        let told = told_of_peers(&house, server);
        assert!(told.starts_with("FAIL") && told.contains("the same server.peer_address"), "{told}");
        assert!(ready(server).contains(r#""status":"degraded""#), "{}", ready(server));
    }
    drop(wrong);
    let secret = "another secret, as long as such a secret must be at least";
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let variables = [("BOURSE_SERVER__PEER_ADDRESS", address.as_str()), ("BOURSE_AUTH__JWT_SECRET", secret)];
    let stranger = house.start_with(port, &variables);
    within(WAIT_MAX, "it is noticed", || troubled(&servers[0], "other_secret") == 1);
    let told = told_of_peers(&house, &servers[0]);
    assert!(told.starts_with("FAIL") && told.contains("has another signing secret"), "{told}");
    drop(stranger);
    within(WAIT_MAX, "all is well", || ready(&servers[0]) == r#"{"status":"ready"}"#);
}

#[test]
fn three_servers_hold_what_one_cannot() {
    let Some(house) = House::new() else { return };
    let lone = [house.start(false)];
    house.check(&lone[0]);
    let before = loads(&lone);
    house.check(&lone[0]);
    assert!(loads(&lone) >= before + COLLECTIONS / 2, "alone it loads again and again");
    drop(lone);
    let servers = house.start_sharing();
    for server in &servers {
        house.check(server);
    }
    let before = loads(&servers);
    for server in servers.iter().chain(&servers) {
        house.check(server);
    }
    assert_eq!(loads(&servers), before, "everything is held by somebody");
    let held: u64 = servers.iter().map(|server| metric(server, "bourse_resident_collections")).sum();
    assert_eq!(held, COLLECTIONS, "each is held once");
    for server in &servers {
        assert!(forwarded(server, "answered") > 0, "it asked others");
    }
}

#[test]
fn a_holder_that_is_killed_stands_still_or_leaves_is_replaced_at_once() {
    let Some(house) = House::new() else { return };
    let mut servers = house.start_sharing();
    for server in &servers {
        house.check(server);
    }
    let mut killed = servers.remove(0);
    killed.process.kill();
    house.check(&servers[0]);
    assert!(forwarded(&servers[0], "unreachable") > 0, "it asked the one that was killed");
    wait_alive(&servers[1], 2);
    // Whoever waits for it is answered once it counts as dead.
    servers[1].process.signal("STOP");
    house.check(&servers[0]);
    assert!(forwarded(&servers[0], "dead") > 0, "it waited for the one that stands still");
    servers[1].process.signal("CONT");
    wait_alive(&servers[0], 2);
    house.check(&servers[1]);
    // Whoever leaves says so.
    let leaving = servers.remove(1);
    leaving.process.terminate();
    assert!(leaving.process.wait(WAIT_MAX).status.success());
    let rows = &house.instance.tables().rows["servers"];
    assert_eq!(rows.len(), 2, "of the one that was killed, and of the one that is alive: {rows:?}");
    wait_alive(&servers[0], 1);
    house.check(&servers[0]);
}

/// One address in many spellings, so that one request asks for its collection as often as a batch may.
fn spellings(count: u32) -> Vec<String> {
    let letters = "abcdef".repeat(6);
    let spell = |number: u32| {
        let letter = |(place, letter): (usize, char)| {
            if number >> place.min(31) & 1 == 1 { letter.to_ascii_uppercase() } else { letter }
        };
        format!("0x{}0000", letters.chars().enumerate().map(letter).collect::<String>())
    };
    (0..count).map(spell).collect()
}

#[test]
fn what_is_asked_for_very_often_is_held_by_several() {
    let Some(house) = House::new() else { return };
    let servers = house.start_sharing();
    let record = json!({ "contractAddress": spellings(1)[0], "tokenId": "5", "name": "In demand" });
    let body = json!({ "chainId": 137, "tokens": [record] });
    servers[0].call("Ingest/PutTokens", Credential::Token(&house.project.token), &body).ok();
    let map: BTreeMap<String, [&str; 1]> = spellings(50).into_iter().map(|name| (name, ["5"])).collect();
    let batch = json!({ "chainID": "137", "contractTokenMap": map });
    let ask_all = || {
        for server in &servers {
            let answer = house.ask(server.port, "Metadata/GetTokenMetadataBatch", &batch).ok();
            for name in map.keys() {
                assert_eq!(answer["contractTokenMetadata"][name][0]["name"], json!("In demand"));
            }
        }
        servers.iter().map(|server| metric(server, "bourse_resident_collections")).sum::<u64>()
    };
    assert_eq!(ask_all(), 1, "what is asked for now and then is held once");
    within(WAIT_MAX, "all of them hold it", || ask_all() == SERVERS as u64);
}

#[test]
fn what_claims_to_come_from_a_server_and_does_not_is_refused() {
    let Some(house) = House::new() else { return };
    let (operation, body) = questions().swap_remove(0);
    let body = body.to_string();
    for is_sharing in [true, false] {
        let server = house.start(is_sharing);
        let empty = "A".repeat(43);
        for made_up in [String::new(), "yes".to_owned(), format!("{empty}.{empty}")] {
            let headers = [
                "Content-Type: application/json".to_owned(),
                format!("X-Access-Key: {}", house.project.key),
                format!("Bourse-Forwarded: {made_up}"),
            ];
            let mut exchange = Exchange::open(server.port).unwrap();
            exchange.send(&head("POST", &format!("/rpc/{operation}"), &headers, body.len())).unwrap();
            exchange.send(&body).unwrap();
            let answer = exchange.answer().unwrap();
            assert_eq!((answer.status, answer.error().as_str()), (403, "PermissionDenied"), "`{made_up}`");
        }
        house.check(&server);
    }
}

#[test]
fn what_was_written_through_one_server_is_read_through_any() {
    let Some(house) = House::new() else { return };
    let servers = house.start_sharing();
    for (number, writer) in (0..2 * COLLECTIONS).zip(servers.iter().cycle()) {
        let (contract, name) = (contract(number % COLLECTIONS), format!("written {number}"));
        let record = json!({ "contractAddress": contract, "tokenId": "5", "name": name });
        let body = json!({ "chainId": 137, "tokens": [record] });
        let answer = writer.call("Ingest/PutTokens", Credential::Token(&house.project.token), &body);
        assert_eq!(answer.ok()["rejected"], json!([]), "{}", answer.body);
        let version = answer.header("Data-Version");
        for reader in &servers {
            let key = Credential::Key(&house.project.key);
            let one = json!({ "chainID": "137", "contractAddress": contract, "tokenIDs": ["5"] });
            let read = call_after(reader.port, "Metadata/GetTokenMetadata", key, version, &one).unwrap();
            assert_eq!(read.ok()["tokenMetadata"][0]["name"], json!(name));
            let batch = json!({ "chainID": "137", "contractTokenMap": { contract.as_str(): ["5"] } });
            let read =
                call_after(reader.port, "Metadata/GetTokenMetadataBatch", key, version, &batch).unwrap();
            assert_eq!(read.ok()["contractTokenMetadata"][&contract][0]["name"], json!(name));
        }
    }
}
