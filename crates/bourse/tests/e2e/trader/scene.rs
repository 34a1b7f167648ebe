//! Where the trader trades: a marketplace on a chain of its own, a server that follows it, tokens, money and people.

use std::collections::BTreeMap;

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::sol;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::orders::{Order, Ours};
use super::rules::Question;
use crate::anvil::{Multi, alloy_address, mintCall};
use crate::venues::{Stage, Venue};

sol! {
    struct Call3 { address target; bool allowFailure; bytes callData; }
    struct Answered { bool success; bytes returnData; }
    function aggregate3(Call3[] calls) payable returns (Answered[] returnData);
}

/// What everybody has of each currency at first: 1,000 coins.
const MONEY: u64 = 1_000_000_000;
/// How many single tokens there are at first.
pub(super) const SINGLES: u64 = 6;
/// How many tokens there are many of.
const MULTIPLES: u64 = 3;
/// How many units of each of those everybody has at first.
const UNITS: u64 = 12;
/// More blocks than the chain ever takes back.
const BLOCKS: u64 = 40;
/// So many questions fit into what a node lets one call cost.
const QUESTIONS_MAX: usize = 150;
/// So many orders fit into one request.
const ORDERS_MAX: usize = 200;

pub(super) struct Scene {
    pub(super) stage: Stage,
    pub(super) venue: Venue,
    /// Who takes the money of those who offer and buy.
    pub(super) spender: Address,
    pub(super) traders: [Address; 4],
    pub(super) singles: Address,
    pub(super) multiples: Address,
    pub(super) coin: Address,
    pub(super) tether: Address,
    multicall: Address,
}

impl Scene {
    pub(super) fn open(stage: Stage, venue: Venue, spender: Address) -> Self {
        let market = &stage.market;
        let anvil = &market.anvil;
        let traders = [1, 2, 5, 6].map(|number| anvil.account(number));
        let (multicall, tether) = (anvil.deploy("Multicall3", &[]), anvil.deploy("TestTether", &[]));
        let (singles, multiples) = (anvil.deploy_singles(), anvil.deploy_multiples());
        let coin = market.currency;
        for collection in [singles, multiples] {
            market.set_royalty(collection);
        }
        for (token, holder) in (1..=SINGLES).zip(traders.iter().cycle()) {
            let to = alloy_address(*holder);
            anvil.send(*holder, singles, &mintCall { to, tokenId: U256::from(token) });
        }
        for who in traders {
            let to = alloy_address(who);
            for token in 1..=MULTIPLES {
                let amount = U256::from(UNITS);
                anvil.send(who, multiples, &Multi::mintCall { to, tokenId: U256::from(token), amount });
            }
            for currency in [coin, tether] {
                anvil.send(who, currency, &mintCall { to, tokenId: U256::from(MONEY) });
            }
        }
        let scene = Self { stage, venue, spender, traders, singles, multiples, coin, tether, multicall };
        scene.settle();
        scene.follow();
        scene
    }

    /// What happened so far stays, however often the chain takes blocks back.
    pub(super) fn settle(&self) {
        self.stage.market.anvil.mine(BLOCKS);
    }

    /// The same chain with a server that knows nothing of it yet.
    pub(super) fn anew(&self) -> Self {
        let market = self.stage.market.anew();
        market.put_currencies();
        let stage = Stage { market, venues: self.stage.venues.clone() };
        let scene = Self { stage, venue: self.venue.clone(), ..*self };
        scene.follow();
        scene
    }

    fn follow(&self) {
        let market = &self.stage.market;
        let tether = json!({ "chainId": 31337, "currencies": [{ "chainId": 31337, "name": "Tether",
            "contractAddress": self.tether, "symbol": "USDT", "decimals": 6, "exchangeRate": 1 }] });
        market.server().call("Ingest/PutCurrencies", market.secret(), &tether).ok();
        for collection in [self.singles, self.multiples] {
            market.follow(collection);
        }
        for collection in [self.singles, self.multiples] {
            market.wait_followed(collection);
        }
    }

    pub(super) fn is_many(&self, collection: Address) -> bool {
        collection == self.multiples
    }

    /// The collections, and what there may be of them.
    pub(super) fn tokens(&self, singles: u64) -> Vec<(Address, u64)> {
        let singles = (1..=singles).map(|token| (self.singles, token));
        singles.chain((1..=MULTIPLES).map(|token| (self.multiples, token))).collect()
    }

    /// What contracts answer as of the newest block; nothing where a call fails.
    pub(super) fn ask(&self, questions: &[Question]) -> Vec<Option<Bytes>> {
        let ask = |questions: &[Question]| {
            let calls = questions.iter().map(|question| Call3 {
                target: alloy_address(question.to),
                allowFailure: true,
                callData: question.data.clone().into(),
            });
            self.stage.market.anvil.ask(self.multicall, &aggregate3Call { calls: calls.collect() })
        };
        let answers = questions.chunks(QUESTIONS_MAX).flat_map(ask);
        answers.map(|answer| answer.success.then_some(answer.returnData)).collect()
    }

    /// The newest block's number and time.
    pub(super) fn head(&self) -> (u64, u64) {
        let block = self.stage.market.anvil.rpc("eth_getBlockByNumber", &json!(["latest", false]));
        let number = |member: &str| block[member].as_str().unwrap().parse::<U256>().unwrap().to();
        (number("number"), number("timestamp"))
    }

    /// What the service tells of orders, by their names. Those that it does not know are left out.
    pub(super) fn ours(&self, orders: &[Order]) -> BTreeMap<String, Ours> {
        let name = |order: &Order| json!({ "contractAddress": order.collection, "orderId": order.id, "marketplace": self.venue.word });
        let mut told = BTreeMap::new();
        for some in orders.chunks(ORDERS_MAX) {
            let input: Vec<Value> = some.iter().map(name).collect();
            let answer = self.stage.market.marketplace("GetOrders", &json!({ "input": input }));
            let known = answer["orders"].as_array().unwrap().iter();
            told.extend(
                known.map(|order| (order["orderId"].as_str().unwrap().to_owned(), Ours::read(order))),
            );
        }
        told
    }

    /// The lists of a token: its active listings and offers.
    pub(super) fn lists(&self, (collection, token): (Address, u64)) -> Vec<Value> {
        let body = json!({ "contractAddress": collection, "tokenId": token.to_string(),
            "page": { "pageSize": ORDERS_MAX } });
        let list = |(operation, member): (&str, &str)| {
            let answer = self.stage.market.marketplace(operation, &body);
            assert_eq!(answer["page"]["more"], json!(false), "{operation}");
            answer[member].as_array().unwrap().clone()
        };
        let lists = [("ListListingsForCollectible", "listings"), ("ListOffersForCollectible", "offers")];
        lists.into_iter().flat_map(list).collect()
    }

    /// The tokens of a collection that somebody has, as the service tells.
    pub(super) fn held(&self, collection: Address, who: Address) -> Vec<u64> {
        let body = json!({ "contractAddress": collection, "side": "unknown", "page": { "pageSize": ORDERS_MAX },
            "filter": { "includeEmpty": true, "inAccounts": [who] } });
        let answer = self.stage.market.marketplace("ListCollectibles", &body);
        let tokens = answer["collectibles"].as_array().unwrap().iter();
        let mut held: Vec<u64> =
            tokens.map(|token| token["metadata"]["tokenId"].as_str().unwrap().parse().unwrap()).collect();
        held.sort_unstable();
        held
    }
}
