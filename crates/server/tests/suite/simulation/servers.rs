//! Two servers on one database, and what they are asked.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bourse_server::auth::TokenSigner;
use bourse_server::{Background, Chains};
use bourse_simulation::{COLLECTIONS, Facts, SEAPORT};
use bourse_store::testing::given_up_after;
use serde_json::{Value, json};

use super::TOKENS;
use super::charts::{Counted, MARKET_DAYS, TRACKED_DAYS, market_events};
use super::import::Importer;
use super::model::{Available, Model, Traded};
use super::signed::{SIGNED, Signed};
use super::step::Writer;
use crate::support::actor::{Actor, Answer};
use crate::support::{Beside, SECRET, TestApp};

pub(super) const SERVERS: usize = 2;

/// The made-up chain, by its number.
const HARDHAT: &str = "31337";

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
    /// Another process, which writes beside them.
    importer: Importer,
    running: Vec<Option<Running>>,
    counted: Counted,
}

/// What is filled on the made-up chain.
fn contract() -> String {
    format!("opensea {SEAPORT}")
}

/// Days for which ids of events and names of batches are remembered. Each process that starts believes a clock that is ahead
/// one more day, and there are fewer starts than this.
const REMEMBERED_DAYS: &str = "60";

/// The settings of a process that knows it.
fn settings(contract: &str) -> [(&'static str, &str); 4] {
    [
        ("networks.hardhat.id", HARDHAT),
        ("networks.hardhat.contracts", contract),
        ("analytics.event_ids_days", REMEMBERED_DAYS),
        ("analytics.batches_days", REMEMBERED_DAYS),
    ]
}

impl Servers {
    pub(super) async fn start(nodes: Arc<dyn Chains>) -> Self {
        let app = TestApp::start().await;
        let importer = Importer::new(app.settings(&settings(&contract())));
        let mut servers = Self { app, nodes, importer, running: Vec::new(), counted: Counted::default() };
        for _ in 0..SERVERS {
            let running = servers.open().await;
            servers.running.push(Some(running));
        }
        servers
    }

    async fn open(&self) -> Running {
        let contract = contract();
        let server = self.app.another_asking(&settings(&contract), Some(Arc::clone(&self.nodes))).await;
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

    /// Writes something that must be taken.
    pub(super) async fn write(&self, by: Writer, operation: &str, body: Value) {
        let Writer::Client { server, polls } = by else {
            return self.importer.import(&self.app, operation, &body).await;
        };
        let operation = format!("Ingest/{operation}");
        let answer = self.send((server, polls), |server| &server.token, (&operation, body)).await.ok();
        assert_eq!(answer["rejected"], json!([]), "{operation}");
    }

    /// Sends through a server. Whoever gives up after so many polls does not know what became of it, and sends it again
    /// through the other one.
    async fn send(
        &self,
        (server, polls): (usize, Option<u32>),
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
    pub(super) async fn put_signed(&self, by: Writer, signed: &Signed, is_executed: bool) -> bool {
        let orders = json!({ "orders": [signed.record] });
        let Writer::Client { server, polls } = by else {
            self.importer.import(&self.app, "PutOrders", &orders).await;
            return true;
        };
        if is_executed {
            let call = ("Marketplace/Execute", signed.execution());
            let answer = self.send((server, polls), |server| &server.key, call).await;
            assert!(answer.status == 200 || answer.refusal() == (400, 2001), "{}", answer.json);
            return answer.status == 200;
        }
        let answer =
            self.send((server, polls), |server| &server.token, ("Ingest/PutOrders", orders)).await.ok();
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
            self.check_memory(Traded::Followed(number)).await;
        }
    }

    /// Whether the memory of each server is what is stored, also where nobody asks for it.
    pub(super) async fn check_memory(&self, collection: Traded) {
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
    }

    /// Whether each server comes to say everything as one that starts now, and charts as the model has them.
    pub(super) async fn check_everything(&mut self, model: &Model) {
        let fresh = self.app.another().await;
        let expected = answers(&fresh).await;
        for (name, points) in model.tracked.charts() {
            assert_eq!(chart(&fresh.token, name, TRACKED_DAYS).await, points, "by a server that starts now");
        }
        self.check_charts(model).await;
        self.check_market_events().await;
        self.check_memory(Traded::Put).await;
        for number in 0..SERVERS {
            let server = self.server(number);
            for (question, answer) in &expected {
                comes_to(&format!("server {number}: {question}"), answer, async || {
                    ask(&server.key, question).await
                })
                .await;
            }
        }
    }

    /// Whether each server comes to have the charts that follow from what was tracked.
    pub(super) async fn check_charts(&self, model: &Model) {
        for number in 0..SERVERS {
            let token = &self.server(number).token;
            for (name, points) in model.tracked.charts() {
                let what = format!("server {number}: {name}");
                comes_to(&what, &points, async || chart(token, name, TRACKED_DAYS).await).await;
            }
        }
    }

    /// Whether each server comes to have counted what people did on the market.
    pub(super) async fn check_market_events(&mut self) {
        let counted = market_events(&self.app, &mut self.counted).await;
        for number in 0..SERVERS {
            let token = &self.server(number).token;
            let what = format!("server {number}: events of the market");
            comes_to(&what, &counted, async || chart(token, "MarketTxnEventDaily", MARKET_DAYS).await).await;
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

/// The orders of a token that were put and can be filled, with how much of each at which price.
async fn orders(key: &Actor, operation: &str, (collection, token): (Traded, u64)) -> Available {
    let body = json!({ "chainId": collection.chain(), "contractAddress": collection.address(),
        "tokenId": token.to_string(), "page": { "pageSize": 50 }, "filter": { "marketplace": ["opensea"] } });
    let answer = key.call(&format!("Marketplace/{operation}"), body).await.ok();
    let member = if operation.starts_with("ListL") { "listings" } else { "offers" };
    let text = |order: &Value, member: &str| order[member].as_str().unwrap().to_owned();
    let orders = answer[member].as_array().unwrap().iter();
    let order = |order: &Value| {
        let cents = (order["priceUSD"].as_f64().unwrap() * 100.0).round().to_string().parse().unwrap();
        (text(order, "orderId"), (text(order, "quantityAvailable"), cents))
    };
    orders.map(order).collect()
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

/// The points of a chart.
async fn chart(token: &Actor, name: &str, [first, last]: [&str; 2]) -> Value {
    let filter = json!({ "startDate": first, "endDate": last });
    let answer = token.call(&format!("Analytics/{name}"), json!({ "filter": filter })).await.ok();
    answer.as_object().unwrap().values().next().unwrap().clone()
}
