//! `bourse demo --node`: what it deploys and shows can be traded, and an interrupted start does nothing twice.

use std::path::Path;

use alloy_primitives::U256;
use bourse_store::CollectionKey;
use bourse_store::testing::load_all;
use bourse_wire::{Address, ChainId};
use serde_json::{Value, json};

use crate::anvil::{Anvil, Multi, alloy_address, mintCall, ownerOfCall};
use crate::demo::FILL_LIMIT;
use crate::http::{Answer, Credential};
use crate::instance::{Instance, Server, free_port, seen_within, within};

/// The key of the first account of every anvil, which everybody knows.
const KEY: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const PAGE: u64 = 100;

/// A demo on a chain, as its visitors call it.
pub(crate) struct Visit<'a> {
    instance: &'a Instance,
    anvil: &'a Anvil,
    pub(crate) server: Server,
    journal: Value,
}

/// Starts one, with variables.
pub(crate) fn start(instance: &Instance, anvil: &Anvil, variables: &[(&str, &str)]) -> Server {
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let mut command = instance.command(&["demo", "--node", &anvil.url(), "--listen", &listen]);
    command.env("BOURSE_STORAGE__DATABASE_TIMEOUT_MS", "60000").envs(variables.iter().copied());
    Server { process: instance.start(command), port }
}

fn journal(instance: &Instance) -> Option<Value> {
    let text = std::fs::read_to_string(instance.data().join("chain-demo.json")).ok()?;
    serde_json::from_str(&text).ok()
}

impl<'a> Visit<'a> {
    /// Waits until everything is there.
    pub(crate) fn wait(instance: &'a Instance, anvil: &'a Anvil, mut server: Server) -> Self {
        within(FILL_LIMIT, "the demo is on the chain", || {
            let ended = server.process.ended();
            assert!(ended.is_none(), "it ended: {ended:?} {}", server.process.stderr());
            server.process.stdout().contains("The demo is on chain 31337")
        });
        Self { instance, anvil, server, journal: journal(instance).unwrap() }
    }

    /// The address of one of its contracts.
    pub(crate) fn contract(&self, number: usize) -> Address {
        self.journal["contracts"][number].as_str().unwrap().parse().unwrap()
    }

    /// The collection of single tokens.
    pub(crate) fn relics(&self) -> Address {
        self.contract(3)
    }

    fn provisions(&self) -> Address {
        self.contract(4)
    }

    fn answer(&self, operation: &str, body: &Value) -> Answer {
        let key = self.journal["project"]["accessKey"].as_str().unwrap();
        let mut body = body.clone();
        body["chainId"] = json!("31337");
        self.server.call(&format!("Marketplace/{operation}"), Credential::Key(key), &body)
    }

    fn call(&self, operation: &str, body: &Value) -> Value {
        self.answer(operation, body).ok()
    }

    /// All open orders of a collection on a side.
    fn orders(&self, collection: Address, side: &str) -> Vec<Value> {
        let (operation, member) = match side {
            "listing" => ("ListListingsForCollectible", "listings"),
            _ => ("ListOffersForCollectible", "offers"),
        };
        let body = json!({ "contractAddress": collection, "side": side, "page": { "pageSize": PAGE } });
        let tokens = self.call("ListCollectibles", &body)["collectibles"].clone();
        let of_token = |row: &Value| {
            let body = json!({ "contractAddress": collection, "tokenId": row["metadata"]["tokenId"], "page": { "pageSize": PAGE } });
            self.call(operation, &body)[member].as_array().unwrap().clone()
        };
        tokens.as_array().unwrap().iter().flat_map(of_token).collect()
    }

    fn buying(buyer: Address, listing: &Value) -> Value {
        json!({
            "collectionAddress": listing["collectionContractAddress"], "buyer": buyer, "additionalFees": [],
            "marketplace": listing["marketplace"], "walletType": "unknown",
            "ordersData": [{ "orderId": listing["orderId"], "quantity": "1", "tokenId": listing["tokenId"] }],
        })
    }

    /// Whom each relic belongs to, and who has how much of each provision: as the service has it, and as contracts say.
    fn check_balances(&self) {
        let differences = || self.differences();
        seen_within(FILL_LIMIT, "numbers agree", differences, Vec::is_empty);
    }

    fn differences(&self) -> Vec<String> {
        let mut differences = Vec::new();
        for collection in [self.relics(), self.provisions()] {
            let key = CollectionKey { chain: ChainId(31337), address: collection };
            let balances = self.instance.with_store(async |store| {
                let id = store.collection(key).await.unwrap().unwrap();
                load_all(store, id).await.unwrap().balances
            });
            assert!(balances.len() >= 24, "{}", balances.len());
            for balance in balances {
                let token: U256 = balance.token_id.to_string().parse().unwrap();
                let held: U256 = balance.balance.to_string().parse().unwrap();
                let owner = alloy_address(balance.account);
                let said = if collection == self.relics() {
                    let holder = self.anvil.ask(collection, &ownerOfCall { tokenId: token });
                    U256::from(u8::from(holder == owner))
                } else {
                    self.anvil.ask(collection, &Multi::balanceOfCall { owner, tokenId: token })
                };
                if said != held {
                    differences.push(format!("{owner} has {said} of {token}, and {held} here"));
                }
            }
        }
        differences
    }

    /// What everybody has by the contracts: whatever was done twice, or not at all, shows in it.
    fn held(&self) -> Vec<U256> {
        let people: Vec<Address> = (0..7).map(|number| self.anvil.account(number)).collect();
        let mut held = Vec::new();
        for person in people {
            let owner = alloy_address(person);
            held.push(self.anvil.balance(self.contract(5), person));
            held.push(self.anvil.balance(self.relics(), person));
            for token in 1..=12 {
                let call = Multi::balanceOfCall { owner, tokenId: U256::from(token) };
                held.push(self.anvil.ask(self.provisions(), &call));
            }
        }
        held
    }

    /// Each listing is bought by steps that the service tried on the chain; the first one to the end.
    fn check_listings(&self) {
        let (buyer, currency) = (self.anvil.account(9), self.contract(5));
        let mint = mintCall { to: alloy_address(buyer), tokenId: U256::from(10_u64.pow(12)) };
        self.anvil.send(buyer, currency, &mint);
        let listings =
            [self.relics(), self.provisions()].map(|collection| self.orders(collection, "listing"));
        assert_eq!(listings.each_ref().map(Vec::len), [12, 24]);
        for listing in listings.iter().flatten() {
            let answer = self.answer("GenerateBuyTransaction", &Self::buying(buyer, listing));
            assert_eq!(answer.status, 200, "{listing} {answer:?}");
        }
        let listing = &listings[0][0];
        let steps = self.call("GenerateBuyTransaction", &Self::buying(buyer, listing))["steps"].clone();
        self.anvil.perform(buyer, &steps);
        let token: U256 = listing["tokenId"].as_str().unwrap().parse().unwrap();
        let owner = self.anvil.ask(self.relics(), &ownerOfCall { tokenId: token });
        assert_eq!(owner, alloy_address(buyer));
        let sold = || self.orders(self.relics(), "listing").len();
        seen_within(FILL_LIMIT, "what was bought is not for sale", sold, |count| *count == 11);
    }
}

/// How many transactions each account of the node has sent.
fn sent(anvil: &Anvil) -> Vec<Value> {
    (0..7)
        .map(|number| anvil.rpc("eth_getTransactionCount", &json!([anvil.account(number), "latest"])))
        .collect()
}

#[test]
fn what_it_shows_can_be_bought_and_numbers_agree() {
    let instance = Instance::new();
    let anvil = Anvil::start(instance.directory());
    let visit = Visit::wait(&instance, &anvil, start(&instance, &anvil, &[]));
    assert_eq!(visit.orders(visit.relics(), "offer").len(), 9);
    visit.check_balances();
    let printed = visit.server.process.stdout();
    let pages = crate::http::get(visit.server.port, "/shop/1").unwrap();
    assert!(pages.status == 200 && pages.body.contains("Harbour market"), "{pages:?}");
    assert!(
        printed.contains("/shop") && printed.contains("/console") && printed.matches("curl ").count() == 3,
        "{printed}"
    );
    let body = json!({ "primarySaleContractAddress": visit.contract(6) });
    let items = visit.call("ListPrimarySaleItems", &body)["primarySaleItems"].clone();
    let left: Vec<&Value> =
        items.as_array().unwrap().iter().map(|item| &item["primarySaleItem"]["supply"]).collect();
    assert_eq!(left, ["47", "50", "47", "50"], "{items}");
    let named = json!({ "contractAddress": visit.relics(), "side": "listing" });
    let name = || visit.call("ListCollectibles", &named)["collectibles"][0]["metadata"]["name"].clone();
    seen_within(FILL_LIMIT, "the token has its name", name, |name| {
        name.as_str().is_some_and(|name| !name.is_empty())
    });
    visit.check_listings();

    // Started again, it finds everything and sends nothing.
    let before = sent(&anvil);
    drop(visit);
    let again = Visit::wait(&instance, &anvil, start(&instance, &anvil, &[]));
    assert_eq!(sent(&anvil), before);
    assert_eq!(again.orders(again.relics(), "listing").len(), 11);
}

#[test]
fn killed_half_way_it_goes_on_and_does_nothing_twice() {
    let (instance, undisturbed) = (Instance::new(), Instance::new());
    let (anvil, other) = (Anvil::start(instance.directory()), Anvil::start(undisturbed.directory()));
    for (contracts, done) in [(3, 0), (7, 20), (7, 70), (7, 110)] {
        let mut server = start(&instance, &anvil, &[]);
        within(FILL_LIMIT, "it is half way", || {
            let ended = server.process.ended();
            assert!(ended.is_none(), "it ended: {ended:?} {}", server.process.stderr());
            journal(&instance).is_some_and(|journal| {
                journal["contracts"].as_array().unwrap().len() >= contracts
                    && journal["done"].as_u64().unwrap() >= done
            })
        });
        server.process.kill();
        println!("killed: {}", journal(&instance).unwrap()["done"]);
    }
    let visit = Visit::wait(&instance, &anvil, start(&instance, &anvil, &[]));
    let whole = Visit::wait(&undisturbed, &other, start(&undisturbed, &other, &[]));
    assert_eq!(visit.held(), whole.held());
    assert_eq!(visit.journal["contracts"], whole.journal["contracts"]);
    assert_eq!(visit.journal["done"], whole.journal["done"]);
    let listed = |visit: &Visit<'_>| {
        [visit.relics(), visit.provisions()].map(|collection| visit.orders(collection, "listing").len())
    };
    assert_eq!(listed(&visit), listed(&whole));
    visit.check_balances();
}

/// Whoever uses the account beside the demo takes the number of a transaction that it was about to send.
#[test]
fn what_another_sent_with_its_number_is_not_taken_for_its_own() {
    let instance = Instance::new();
    let anvil = Anvil::start(instance.directory());
    let mut server = start(&instance, &anvil, &[]);
    within(FILL_LIMIT, "a contract is there", || {
        journal(&instance).is_some_and(|journal| !journal["contracts"].as_array().unwrap().is_empty())
    });
    server.process.kill();
    let studio = anvil.account(0);
    let number = sent(&anvil)[0].clone();
    let number = u64::from_str_radix(number.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    let nothing = json!([{ "from": studio, "to": anvil.account(9), "value": "0x1" }]);
    anvil.rpc("eth_sendTransaction", &nothing);
    let mut left = journal(&instance).unwrap();
    left["underWay"] = json!({ "from": studio, "nonce": number, "makesContract": true, "ends": true });
    std::fs::write(instance.data().join("chain-demo.json"), left.to_string()).unwrap();
    let visit = Visit::wait(&instance, &anvil, start(&instance, &anvil, &[]));
    visit.check_balances();
    let contracts = visit.journal["contracts"].as_array().unwrap();
    for contract in contracts {
        let code = anvil.rpc("eth_getCode", &json!([contract, "latest"]));
        assert!(code.as_str().unwrap().len() > 2, "{contract}");
    }
}

#[test]
fn with_a_key_it_signs_itself_and_keeps_no_key() {
    let instance = Instance::new();
    let anvil = Anvil::start(instance.directory());
    let visit = Visit::wait(&instance, &anvil, start(&instance, &anvil, &[("BOURSE_DEMO_KEY", KEY)]));
    visit.check_balances();
    visit.check_listings();
    assert_eq!(sent(&anvil)[1..], vec![json!("0x0"); 6], "nobody else's accounts were used");
    let printed = [visit.server.process.stdout(), visit.server.process.stderr()].concat();
    assert!(!printed.contains(KEY));
    let database = instance.tables();
    assert!(!format!("{database:?}").contains(KEY));
    for file in files(&instance.data()) {
        let content = std::fs::read(&file).unwrap();
        assert!(!content.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{}", file.display());
    }
}

fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn it_refuses_what_is_not_a_chain_to_try_things_on() {
    let instance = Instance::new();
    let refused = |node: &str, more: &[&str]| instance.failure(&[&["demo", "--node", node], more].concat());
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let said = refused(&nobody, &[]);
    assert!(said.contains("does not answer") && said.contains("Is it running?"), "{said}");
    assert!(refused("ftp://h", &[]).contains("begins with http"));

    let public = Anvil::start_as(1, instance.directory());
    let said = refused(&public.url(), &[]);
    assert!(said.contains("chain 1 does not look like a development chain"), "{said}");
    assert!(said.contains("--not-a-development-chain 1"), "{said}");
    let said = refused(&public.url(), &["--not-a-development-chain", "31337"]);
    assert!(said.contains("names chain 31337, and the node is of chain 1"), "{said}");
    assert_eq!(sent(&public), vec![json!("0x0"); 7]);

    // The keys of the other people would follow from what everybody may know.
    let few = Anvil::start_with(1, 3, instance.directory());
    let said = refused(&few.url(), &["--not-a-development-chain", "1"]);
    assert!(said.contains("too few accounts") && said.contains("BOURSE_DEMO_KEY"), "{said}");

    let anvil = Anvil::start(instance.directory());
    let key = instance.directory().join("key");
    std::fs::write(&key, "11".repeat(32)).unwrap();
    let said = refused(&anvil.url(), &["--key-file", key.to_str().unwrap()]);
    assert!(said.contains("has 0 thousandths") && !said.contains("1111"), "{said}");
    std::fs::write(&key, "not a key").unwrap();
    let said = refused(&anvil.url(), &["--key-file", key.to_str().unwrap()]);
    assert!(said.contains("64 hexadecimal digits") && !said.contains("not a key"), "{said}");

    let mut server = start(&instance, &anvil, &[]);
    within(FILL_LIMIT, "a contract is there", || {
        journal(&instance).is_some_and(|journal| !journal["contracts"].as_array().unwrap().is_empty())
    });
    let said = refused(&anvil.url(), &[]);
    assert!(said.contains("another `bourse demo --node` is at work"), "{said}");
    server.process.kill();
    let anew = Anvil::start(instance.directory());
    anew.mine(1);
    let said = refused(&anew.url(), &[]);
    assert!(said.contains("begun anew") && said.contains("--data"), "{said}");
    let said = refused(&anvil.url(), &["--key-file", "nowhere"]);
    assert!(said.contains("nowhere"), "{said}");
}
