//! Several servers on one database: whoever reads and writes through all of them, as behind a balancer, loses nothing and is told
//! nothing old while servers are drained, killed and started again.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::durability_writers::Writers;
use crate::http::{Answer, Credential, call_after, get};
use crate::instance::{Instance, Project, Server, free_port, within};
use crate::process::WAIT_MAX;

const SERVERS: usize = 3;
const CLIENTS: usize = 4;
/// Acknowledged writes of each client between one event and the next.
const WRITES_BETWEEN: u64 = 5;
/// Tokens that a client writes to.
const TOKENS: u64 = 7;

/// Where requests are sent, one server after the other.
#[derive(Default)]
struct Balancer {
    ports: Mutex<Vec<u16>>,
    next: AtomicU64,
    /// Requests that got no answer, and were sent to another server.
    unanswered: AtomicU64,
}

impl Balancer {
    fn add(&self, port: u16) {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).push(port);
    }

    fn remove(&self, port: u16) {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != port);
    }

    /// The server whose turn it is.
    fn port(&self) -> u16 {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        ports[usize::try_from(turn).unwrap() % ports.len()]
    }

    /// Sends a request to one server after the other until one answers.
    fn send(&self, request: impl Fn(u16) -> io::Result<Answer>) -> Answer {
        let mut tries = 0;
        loop {
            if let Ok(answer) = request(self.port()) {
                return answer;
            }
            self.unanswered.fetch_add(1, Ordering::Relaxed);
            tries += 1;
            assert!(tries < 10_000, "no server answers");
        }
    }

    fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }
}

fn contract(client: usize) -> String {
    format!("0x{:040x}", 0xabc_0000 + client)
}

/// What one client wrote last to each of its tokens, as it was acknowledged.
#[derive(Default)]
struct Written {
    names: BTreeMap<u64, String>,
    version: Option<String>,
}

/// A client that reads what it wrote, through whichever server.
struct Client<'a> {
    number: usize,
    project: &'a Project,
    balancer: &'a Balancer,
    written: Mutex<Written>,
}

impl Client<'_> {
    /// Writes once, and reads all that was ever written.
    fn write(&self, number: u64) -> Answer {
        let (token, name) = (number % TOKENS + 1, format!("of {} at {number}", self.number));
        let record =
            json!({ "contractAddress": contract(self.number), "tokenId": token.to_string(), "name": name });
        let body = json!({ "chainId": 137, "tokens": [record] });
        let credential = Credential::Token(&self.project.token);
        let put = |port| call_after(port, "Ingest/PutTokens", credential, None, &body);
        let answer = self.balancer.send(put);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(answer.ok()["rejected"], json!([]), "{}", answer.body);
        written.version = answer.header("Data-Version").map(ToOwned::to_owned);
        written.names.insert(token, name);
        assert_eq!(self.read(&written), written.names, "what was acknowledged is there");
        answer
    }

    fn read(&self, written: &Written) -> BTreeMap<u64, String> {
        let ids: Vec<String> = written.names.keys().map(ToString::to_string).collect();
        let body = json!({ "chainID": "137", "contractAddress": contract(self.number), "tokenIDs": ids });
        let (credential, version) = (Credential::Key(&self.project.key), written.version.as_deref());
        let answer = self
            .balancer
            .send(|port| call_after(port, "Metadata/GetTokenMetadata", credential, version, &body));
        let found = answer.ok();
        let of = |token: &Value| {
            let text = |member: &str| token[member].as_str().unwrap_or_default().to_owned();
            (text("tokenId").parse().unwrap(), text("name"))
        };
        found["tokenMetadata"].as_array().unwrap().iter().map(of).collect()
    }
}

/// A server that drains until it is told a second time to stop.
fn start(instance: &Instance, balancer: &Balancer, is_sharing: bool) -> Server {
    let port = free_port();
    let address = if is_sharing { format!("127.0.0.1:{port}") } else { String::new() };
    let variables = [("BOURSE_SERVER__DRAIN_MS", "3600000"), ("BOURSE_SERVER__PEER_ADDRESS", &address)];
    let mut server = instance.serve_at(port, &variables);
    server.wait_ready(WAIT_MAX);
    within(WAIT_MAX, "it is ready", || get(server.port, "/ready").unwrap().status == 200);
    balancer.add(server.port);
    server
}

#[test]
fn nothing_is_lost_or_old_while_servers_come_and_go() {
    come_and_go(false);
}

#[test]
fn nothing_is_lost_or_old_while_servers_that_share_collections_come_and_go() {
    come_and_go(true);
}

fn come_and_go(is_sharing: bool) {
    let instance = Instance::new();
    if !instance.is_postgres() {
        println!("several servers need PostgreSQL");
        return;
    }
    let project = instance.create_project("balanced");
    instance.json(&["grant", "add", &project.id.to_string(), "collections"]);
    let balancer = Balancer::default();
    let mut servers: Vec<Server> = (0..SERVERS).map(|_| start(&instance, &balancer, is_sharing)).collect();
    let client =
        |number| Client { number, project: &project, balancer: &balancer, written: Mutex::default() };
    let clients: Vec<Client<'_>> = (0..CLIENTS).map(client).collect();
    let writers = Writers::numbering_from(1);
    std::thread::scope(|scope| {
        for client in &clients {
            let (writers, number) = (&writers, writers.add());
            scope.spawn(move || writers.write(number, |write| Ok(client.write(write))));
        }
        let _together = writers.together();
        let wait = || writers.wait_for_each(WRITES_BETWEEN);
        wait();
        for index in 0..SERVERS {
            let drained = servers.remove(0);
            drained.process.terminate();
            within(WAIT_MAX, "it says that it will stop", || {
                get(drained.port, "/ready").unwrap().status == 503
            });
            // Until the balancer notices, requests go on.
            wait();
            balancer.remove(drained.port);
            // Whoever was sent there before has an answer by then.
            wait();
            drained.process.terminate();
            assert!(drained.process.wait(WAIT_MAX).status.success(), "server {index}");
            servers.push(start(&instance, &balancer, is_sharing));
            wait();
        }
        assert_eq!(balancer.unanswered(), 0, "a server that is drained leaves nobody without an answer");
        for _ in 0..SERVERS {
            let mut killed = servers.remove(0);
            killed.process.kill();
            wait();
            balancer.remove(killed.port);
            servers.push(start(&instance, &balancer, is_sharing));
            wait();
        }
        writers.stop();
    });
    assert!(balancer.unanswered() > 0, "some were killed while they were asked");
    for (server, client) in
        servers.iter().flat_map(|server| clients.iter().map(move |client| (server, client)))
    {
        let alone = Balancer::default();
        alone.add(server.port);
        let written = client.written.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Client { balancer: &alone, written: Mutex::default(), ..*client };
        assert_eq!(seen.read(&written), written.names);
    }
}
