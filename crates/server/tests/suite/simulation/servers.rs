//! Two servers on one database, and what they are asked.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bourse_server::auth::TokenSigner;
use bourse_server::{Background, Chains};
use bourse_simulation::{CHAIN, COLLECTIONS, Facts, SEAPORT};
use bourse_store::testing::given_up_after;
use serde_json::{Value, json};

use super::TOKENS;
use super::model::{Model, Traded};
use super::signed::{SIGNED, Signed, Way};
use crate::support::actor::{Actor, Answer};
use crate::support::{Beside, SECRET, TestApp};

pub(super) const SERVERS: usize = 2;

/// How long a server may take to follow. A failure is made smaller by trying again and again, so that it is not minutes.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Everything that is asked of a collection.
const READS: [(&str, &str); 6] = [
    ("ListCollectibles", "listing"),
    ("ListCollectibles", "offer"),
    ("GetFloorOrder", "listing"),
    ("GetCountOfAllCollectibles", "listing"),
    ("GetCountOfFilteredCollectibles", "listing"),
    ("GetCountOfFilteredCollectibles", "offer"),
];

struct Running {
    server: Beside,
    background: Background,
}

/// The servers.
pub(super) struct Servers {
    /// The database, the clock, and who calls.
    pub(super) app: TestApp,
    /// Whom they ask about chains.
    nodes: Arc<dyn Chains>,
    running: Vec<Option<Running>>,
}

impl Servers {
    pub(super) async fn start(nodes: Arc<dyn Chains>) -> Self {
        let mut servers = Self { app: TestApp::start().await, nodes, running: Vec::new() };
        for _ in 0..SERVERS {
            let running = servers.open().await;
            servers.running.push(Some(running));
        }
        servers
    }

    async fn open(&self) -> Running {
        let (id, contract) = (CHAIN.to_string(), format!("opensea {SEAPORT}"));
        let settings =
            [("networks.hardhat.id", id.as_str()), ("networks.hardhat.contracts", contract.as_str())];
        let server = self.app.another_asking(&settings, Some(Arc::clone(&self.nodes))).await;
        let background = server.background();
        Running { server, background }
    }

    fn server(&self, number: usize) -> &Beside {
        &self.running[number].as_ref().unwrap().server
    }

    /// Starts a server anew, after it stopped in order or in the middle of everything.
    pub(super) async fn restart(&mut self, number: usize, is_killed: bool) {
        let Running { background, .. } = self.running[number].take().unwrap();
        if is_killed {
            drop(background);
        } else {
            background.stop().await;
        }
        self.running[number] = Some(self.open().await);
    }

    /// Writes through a server. Whoever gives up after so many polls does not know what became of it, and sends it again
    /// through the other one.
    pub(super) async fn write(&self, server: usize, polls: Option<u32>, operation: &str, body: Value) {
        let operation = format!("Ingest/{operation}");
        let answer = self.send(server, polls, |server| &server.token, (&operation, body)).await.ok();
        assert_eq!(answer["rejected"], json!([]), "{operation}");
    }

    async fn send(
        &self,
        server: usize,
        polls: Option<u32>,
        actor: impl Fn(&Beside) -> &Actor,
        (operation, body): (&str, Value),
    ) -> Answer {
        let server = match polls {
            None => server,
            Some(polls) => {
                let call = actor(self.server(server)).call(operation, body.clone());
                if given_up_after(polls, call).await { server } else { SERVERS - 1 - server }
            }
        };
        actor(self.server(server)).call(operation, body).await
    }

    /// Sends a signed order; whether it was taken. What is not taken cannot be filled by the word of the chain.
    pub(super) async fn put_signed(
        &self,
        server: usize,
        polls: Option<u32>,
        signed: &Signed,
        way: Way,
    ) -> bool {
        if way == Way::Execute {
            let call = ("Marketplace/Execute", signed.execution());
            let answer = self.send(server, polls, |server| &server.key, call).await;
            assert!(answer.status == 200 || answer.refusal() == (400, 2001), "{}", answer.json);
            return answer.status == 200;
        }
        let call = ("Ingest/PutOrders", json!({ "orders": [signed.record] }));
        let answer = self.send(server, polls, |server| &server.token, call).await.ok();
        let rejected = answer["rejected"].as_array().unwrap();
        assert!(rejected.iter().all(|one| one["reason"] == "not-fillable"), "{answer}");
        rejected.is_empty()
    }

    /// Whether each server comes to say of the market what the model says.
    pub(super) async fn check_market(&self, model: &Model) {
        self.check_collection(Traded::Put, model, &Facts::default()).await;
    }

    /// The same of the collections that are followed, at the end of a chain that has these facts.
    pub(super) async fn check_followed(&self, model: &Model, chain: &Facts) {
        for number in 0..COLLECTIONS.len() {
            self.check_collection(Traded::Followed(number), model, chain).await;
        }
    }

    /// Whether the memory of each server is what is stored, also where nobody asks for it.
    async fn check_memory(&self, collection: Traded) {
        let token = TokenSigner::new(SECRET.as_bytes()).issue_operator(self.app.now()).unwrap();
        let path = format!("/self-check/{}/{}", collection.chain(), collection.address());
        for number in 0..SERVERS {
            let operator = self.server(number).key.with("authorization", &format!("Bearer {token}"));
            let verdict = operator.post(&path, "").await.ok();
            assert_ne!(verdict["outcome"], "different", "server {number}: {collection:?}: {verdict}");
        }
    }

    async fn check_collection(&self, collection: Traded, model: &Model, chain: &Facts) {
        let now = self.app.now().unix_seconds();
        let ahead = SIGNED.iter().filter(|signed| signed.is_ahead(&chain.signed));
        let ahead: Vec<String> = ahead.map(Signed::id).collect();
        let is_ahead = |id: &String| ahead.contains(id);
        for number in 0..SERVERS {
            let key = &self.server(number).key;
            for token in 1..=TOKENS {
                for (operation, is_listing) in
                    [("ListListingsForCollectible", true), ("ListOffersForCollectible", false)]
                {
                    let place = (collection, token);
                    let expected = model.active(place, is_listing, now, chain);
                    let what = format!("server {number}: {operation} of {place:?}");
                    let said = async || {
                        let mut orders = orders(key, operation, place).await;
                        orders.retain(|id, _| !is_ahead(id));
                        orders
                    };
                    comes_to(&what, &expected, said).await;
                }
            }
        }
        self.check_memory(collection).await;
    }

    /// Whether each server comes to say everything as one that starts now, and charts as the model has them.
    pub(super) async fn check_everything(&self, model: &Model) {
        let fresh = self.app.another().await;
        let expected = answers(&fresh).await;
        let transactions = model.transactions_daily();
        assert_eq!(chart(&fresh.token).await, transactions, "by a server that starts now");
        for number in 0..SERVERS {
            let server = self.server(number);
            for (question, answer) in &expected {
                comes_to(&format!("server {number}: {question}"), answer, async || {
                    ask(&server.key, question).await
                })
                .await;
            }
            comes_to("charts", &transactions, async || chart(&server.token).await).await;
        }
    }
}

/// Waits until something is said, and tells what is said instead.
async fn comes_to<T: Debug + PartialEq>(what: &str, expected: &T, said: impl AsyncFn() -> T) {
    let started = Instant::now();
    loop {
        let now = said().await;
        if now == *expected {
            return;
        }
        assert!(started.elapsed() < WAIT_MAX, "{what}\nexpected {expected:?}\nis       {now:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The orders of a token that were put and can be filled, with how much of each.
async fn orders(
    key: &Actor,
    operation: &str,
    (collection, token): (Traded, u64),
) -> BTreeMap<String, String> {
    let body = json!({ "chainId": collection.chain(), "contractAddress": collection.address(),
        "tokenId": token.to_string(), "page": { "pageSize": 50 }, "filter": { "marketplace": ["opensea"] } });
    let answer = key.call(&format!("Marketplace/{operation}"), body).await.ok();
    let member = if operation.starts_with("ListL") { "listings" } else { "offers" };
    let text = |order: &Value, member: &str| order[member].as_str().unwrap().to_owned();
    let orders = answer[member].as_array().unwrap().iter();
    orders.map(|order| (text(order, "orderId"), text(order, "quantityAvailable"))).collect()
}

/// Every question, with its answer.
async fn answers(server: &Beside) -> Vec<(String, Value)> {
    let followed = (0..COLLECTIONS.len()).map(Traded::Followed);
    let mut answers = Vec::new();
    for collection in followed.chain([Traded::Put]) {
        for (operation, side) in READS {
            let body = json!({ "chainId": collection.chain(), "contractAddress": collection.address(), "side": side,
                "page": { "pageSize": 100 }, "filter": { "includeEmpty": true } });
            let question = format!("Marketplace/{operation} {body}");
            let answer = ask(&server.key, &question).await;
            answers.push((question, answer));
        }
    }
    answers
}

async fn ask(key: &Actor, question: &str) -> Value {
    let (operation, body) = question.split_once(' ').unwrap();
    key.call(operation, serde_json::from_str(body).unwrap()).await.json
}

/// How many transactions were sent on each day.
async fn chart(token: &Actor) -> Value {
    let filter = json!({ "startDate": "2025-03-01", "endDate": "2025-03-31" });
    let answer = token.call("Analytics/WalletsTxnSentDaily", json!({ "filter": filter })).await.ok();
    let points = answer.as_object().unwrap().values().next().unwrap();
    let point = |point: &Value| {
        let value = format!("{:.0}", point["value"].as_f64().unwrap());
        json!({ "label": point["label"], "value": value })
    };
    points.as_array().unwrap().iter().map(point).collect()
}
