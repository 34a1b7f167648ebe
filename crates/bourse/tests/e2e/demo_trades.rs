//! What `bourse demo` shows can be bought, and its offers taken.

use std::collections::BTreeMap;

use bourse_store::CollectionKey;
use bourse_store::testing::load_all;
use bourse_wire::{ChainId, TokenId};
use serde_json::{Value, json};

use crate::http::{Answer, Credential};
use crate::instance::{Instance, Server};

/// Somebody who made no order of the demo.
const BUYER: &str = "0x1111111111111111111111111111111111111111";
const PAGE_SIZE: u64 = 100;

/// A running demo, as its visitors call it.
struct Visit {
    instance: Instance,
    server: Server,
    credentials: Value,
}

impl Visit {
    fn start() -> Self {
        let instance = Instance::new();
        let mut server = instance.serve_unready("demo", &[]);
        server.wait_ready(crate::demo::FILL_LIMIT);
        let path = instance.data().join("credentials.json");
        let credentials = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        Self { instance, server, credentials }
    }

    fn call(&self, operation: &str, body: &Value) -> Answer {
        let key = Credential::Key(self.credentials["accessKey"].as_str().unwrap());
        self.server.call(&format!("Marketplace/{operation}"), key, body)
    }

    fn contracts(&self) -> Vec<&str> {
        let contracts = self.credentials["contracts"].as_array().unwrap();
        contracts.iter().map(|contract| contract["address"].as_str().unwrap()).collect()
    }

    /// Tokens that are shown with an order on this side.
    fn shown(&self, contract: &str, side: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        for page in 1.. {
            let answer = self.call(
                "ListCollectibles",
                &json!({
                    "chainId": "amoy", "contractAddress": contract, "side": side,
                    "page": { "page": page, "pageSize": PAGE_SIZE },
                }),
            );
            let answer = answer.ok();
            let collectibles = answer["collectibles"].as_array().unwrap();
            tokens.extend(
                collectibles.iter().map(|row| row["metadata"]["tokenId"].as_str().unwrap().to_owned()),
            );
            if answer["page"]["more"] != json!(true) {
                break;
            }
        }
        tokens
    }

    /// All open orders of a token on a side, `ListListingsForCollectible` or `ListOffersForCollectible`.
    fn orders(&self, contract: &str, side: &str, token: &str) -> Vec<Value> {
        let (operation, member) = match side {
            "listing" => ("ListListingsForCollectible", "listings"),
            _ => ("ListOffersForCollectible", "offers"),
        };
        let body = json!({
            "chainId": "amoy", "contractAddress": contract, "tokenId": token, "page": { "pageSize": PAGE_SIZE },
        });
        self.call(operation, &body).ok()[member].as_array().unwrap().clone()
    }

    /// Somebody who holds each token.
    fn holders(&self, contract: &str) -> BTreeMap<TokenId, Vec<String>> {
        let key = CollectionKey {
            chain: ChainId(self.credentials["chainId"].as_u64().unwrap()),
            address: contract.parse().unwrap(),
        };
        let balances = self.instance.with_store(async |store| {
            let id = store.collection(key).await.unwrap().unwrap();
            load_all(store, id).await.unwrap().balances
        });
        let mut holders: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for balance in balances {
            holders.entry(balance.token_id).or_default().push(balance.account.to_string());
        }
        holders
    }
}

/// Why no steps come, for each marketplace and reason: nothing, where all is well.
#[derive(Debug, Default, PartialEq)]
struct Refused(BTreeMap<String, Vec<String>>);

impl Refused {
    fn note(&mut self, order: &Value, answer: &Answer) {
        let steps = (answer.status == 200).then(|| answer.ok()["steps"].as_array().map_or(0, Vec::len));
        if steps.is_none_or(|steps| steps == 0) {
            let orders = self.0.entry(format!("{}: {}", order["marketplace"], answer.body)).or_default();
            orders.push(order["orderId"].to_string());
        }
    }
}

#[test]
fn every_listing_that_it_shows_can_be_bought() {
    let visit = Visit::start();
    let (mut count, mut refused) = (BTreeMap::<String, usize>::new(), Refused::default());
    for contract in visit.contracts() {
        for token in visit.shown(contract, "listing") {
            for order in visit.orders(contract, "listing", &token) {
                let body = json!({
                    "chainId": "amoy", "collectionAddress": contract, "buyer": BUYER,
                    "marketplace": order["marketplace"],
                    "ordersData": [{ "orderId": order["orderId"], "quantity": "1", "tokenId": token }],
                    "additionalFees": [], "walletType": "unknown",
                });
                refused.note(&order, &visit.call("GenerateBuyTransaction", &body));
                *count.entry(order["marketplace"].to_string()).or_default() += 1;
            }
        }
    }
    println!("listings: {count:?}");
    assert_eq!(refused, Refused::default());
    assert_eq!(count.len(), 4, "{count:?}");
    assert!(count.values().sum::<usize>() > 600, "{count:?}");
    check_offers(&visit);
}

/// The same of offers, of which each is taken by somebody who has the token.
fn check_offers(visit: &Visit) {
    let (mut count, mut refused) = (0, Refused::default());
    for contract in visit.contracts() {
        let holders = visit.holders(contract);
        for token in visit.shown(contract, "offer") {
            for order in visit.orders(contract, "offer", &token) {
                let of_token = &holders[&token.parse::<TokenId>().unwrap()];
                let Some(seller) = of_token.iter().find(|holder| order["createdBy"] != **holder) else {
                    continue;
                };
                let body = json!({
                    "chainId": "amoy", "collectionAddress": contract, "seller": seller,
                    "marketplace": order["marketplace"],
                    "ordersData": [{ "orderId": order["orderId"], "quantity": "1", "tokenId": token }],
                    "additionalFees": [], "walletType": "unknown",
                });
                refused.note(&order, &visit.call("GenerateSellTransaction", &body));
                count += 1;
            }
        }
    }
    println!("offers: {count}");
    assert_eq!(refused, Refused::default());
    assert!(count > 300, "{count} offers");
}
