//! Marketplaces of others: their own contracts on a chain, orders signed by their makers, and every step that the service
//! tells sent as it is.

mod blur;
mod collection_offers;
mod contract_makers;
mod cosigned;
mod follow;
pub(crate) mod looks_rare;
mod payment_processor;
mod payment_processor_v1;
pub(crate) mod seaport;
mod seaport_orders;
mod seaport_whole;
mod service;
mod typed;
mod x2y2;
pub(crate) mod zerox;

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use self::typed::{DOMAIN, digest, struct_hash};
use crate::anvil::{Anvil, Multi, alloy_address, mintCall, ownerOfCall};
use crate::http::Answer;
use crate::import::counts;
use crate::market::{Market, V2, node_setting, order_data, wait};

const ETHER: i128 = 1_000_000_000_000_000_000;
/// What one coin of the tests' currency is in its base units.
const COIN: i128 = 1_000_000;

/// A marketplace that orders are signed for.
#[derive(Clone)]
pub(crate) struct Venue {
    /// What it is called in requests.
    pub(crate) word: &'static str,
    /// The contract that orders are filled at.
    pub(crate) contract: Address,
    /// Who moves the tokens of those who sell.
    pub(crate) mover: Address,
    /// What the settings say of it after its contract.
    setting: String,
}

impl Venue {
    /// One whose contract moves everything.
    pub(crate) fn new(word: &'static str, contract: Address) -> Self {
        Self { word, contract, mover: contract, setting: String::new() }
    }
}

/// A market with marketplaces of others beside its own.
pub(crate) struct Stage {
    pub(crate) market: Market,
    pub(crate) venues: Vec<Venue>,
}

impl Stage {
    /// A server that follows a chain with these marketplaces on it.
    pub(crate) fn open(deploy: impl FnOnce(&Anvil) -> Vec<Venue>) -> Self {
        Self::open_with("", deploy)
    }

    /// The same with settings of more than the network.
    fn open_with(settings: &str, deploy: impl FnOnce(&Anvil) -> Vec<Venue>) -> Self {
        let mut venues = Vec::new();
        let market = Market::open_at(&V2, |anvil| {
            venues = deploy(anvil);
            let contracts: Vec<String> = venues
                .iter()
                .map(|venue| format!("\"{} {} {}\"", venue.word, venue.contract, venue.setting))
                .collect();
            format!("{}contracts = [{}]\n{settings}", node_setting(anvil), contracts.join(", "))
        });
        Self { market, venues }
    }

    /// The same chain with a server that knows nothing of it yet, and follows a collection of it.
    fn anew(&self, collection: Address) -> Self {
        let market = self.market.anew();
        market.put_currencies();
        market.follow(collection);
        market.wait_followed(collection);
        let stage = Self { market, venues: self.venues.clone() };
        stage.catch_up();
        stage
    }

    /// Those who trade: the buyer, the seller, and who else gets a share.
    fn people(&self) -> [Address; 4] {
        [self.market.buyer(), self.market.seller(), self.market.artist(), self.market.platform()]
    }

    /// A followed collection with single tokens of the seller.
    fn singles(&self, tokens: u64) -> Address {
        let (market, seller) = (&self.market, self.market.seller());
        let collection = market.singles(seller);
        for token in 2..=tokens {
            let mint = mintCall { to: alloy_address(seller), tokenId: U256::from(token) };
            market.anvil.send(seller, collection, &mint);
        }
        market.wait_followed(collection);
        collection
    }

    /// A followed collection with ten units of some tokens of the seller.
    fn multiples(&self, tokens: u64) -> Address {
        let collection = self.market.multiples(self.market.seller(), tokens, 10);
        self.market.wait_followed(collection);
        collection
    }

    /// Whose a single token is.
    fn owner(&self, collection: Address, token: u64) -> Address {
        let owner = self.market.anvil.ask(collection, &ownerOfCall { tokenId: U256::from(token) });
        Address::from_bytes(owner.into_array())
    }

    /// How many units of a token somebody has.
    fn units(&self, collection: Address, owner: Address, token: u64) -> u64 {
        let held = Multi::balanceOfCall { owner: alloy_address(owner), tokenId: U256::from(token) };
        self.market.anvil.ask(collection, &held).to()
    }

    /// Makes a listing as a wallet does; tells its name.
    fn list(&self, venue: &Venue, collection: Address, kind: &str, listing: &Value) -> String {
        let seller = self.market.seller();
        let body = json!({ "collectionAddress": collection, "owner": seller, "contractType": kind,
            "orderbook": venue.word, "listing": listing, "walletType": "unknown" });
        let steps = self.market.steps("GenerateListingTransaction", &body);
        self.carry_out(seller, &steps).unwrap()
    }

    /// Makes an offer as a wallet does; tells its name.
    fn offer(&self, venue: &Venue, collection: Address, kind: &str, offer: &Value) -> String {
        let buyer = self.market.buyer();
        let body = json!({ "collectionAddress": collection, "maker": buyer, "contractType": kind,
            "orderbook": venue.word, "offer": offer, "walletType": "unknown" });
        let steps = self.market.steps("GenerateOfferTransaction", &body);
        self.carry_out(buyer, &steps).unwrap()
    }

    /// Does what steps say, as a wallet does; tells the order that a signature made.
    fn carry_out(&self, who: Address, steps: &Value) -> Option<String> {
        let mut made = None;
        for step in steps.as_array().unwrap() {
            let signature = match step["id"].as_str().unwrap() {
                "signEIP712" => self.sign(who, &step["signature"]),
                "signEIP191" => self.sign_text(who, step["data"].as_str().unwrap()),
                _ => {
                    self.market.anvil.perform(who, &json!([step]));
                    continue;
                }
            };
            let answer = self.execute(step, &signature).ok();
            made = Some(answer["orderId"].as_str().unwrap().to_owned());
        }
        made
    }

    /// What the service says to the signature that a step asks for.
    pub(crate) fn execute(&self, step: &Value, signature: &str) -> Answer {
        self.catch_up();
        let params = executed(step, signature);
        self.market.marketplace_answer("Execute", &json!({ "params": params }))
    }

    /// Waits until the server is where the chain is.
    pub(crate) fn catch_up(&self) {
        let newest = self.market.anvil.rpc("eth_blockNumber", &json!([]));
        let newest: U256 = newest.as_str().unwrap().parse().unwrap();
        let followed = || {
            let metrics = crate::http::get(self.market.server().port, "/metrics").unwrap().body;
            let line = metrics.lines().find(|line| line.starts_with("bourse_chain_checkpoint{"));
            line.and_then(|line| line.rsplit(' ').next()?.parse::<U256>().ok())
        };
        wait("the newest block is followed", followed, |followed| *followed == Some(newest));
    }

    /// Has the node sign typed data with somebody's key, which hashes it by itself.
    pub(crate) fn sign(&self, who: Address, typed: &Value) -> String {
        let mut types = typed["types"].clone();
        if types[DOMAIN].is_null() {
            types[DOMAIN] = json!([{ "name": "name", "type": "string" }, { "name": "version", "type": "string" },
                { "name": "chainId", "type": "uint256" }, { "name": "verifyingContract", "type": "address" }]);
        }
        let data = json!({ "domain": typed["domain"], "types": types, "primaryType": typed["primaryType"],
            "message": typed["value"] });
        self.market.anvil.rpc("eth_signTypedData_v4", &json!([who, data])).as_str().unwrap().to_owned()
    }

    /// Has the node sign a text with somebody's key.
    fn sign_text(&self, who: Address, text: &str) -> String {
        let bytes = alloy_primitives::hex::encode_prefixed(text);
        self.market.anvil.rpc("personal_sign", &json!([bytes, who])).as_str().unwrap().to_owned()
    }

    /// Puts an order that somebody signed elsewhere; tells its name.
    fn put(&self, venue: &Venue, maker: Address, typed: &Value) -> String {
        assert_eq!(self.submit(venue, &typed["value"], &self.sign(maker, typed)), None);
        // What each contract calls an order by.
        let is_digest = ["zerox", "payment_processor"].contains(&venue.word);
        let name = if is_digest { digest(typed) } else { struct_hash(typed) };
        name.to_string()
    }

    /// Puts an order with a signature; tells why it is not taken.
    fn submit(&self, venue: &Venue, native: &Value, signature: &str) -> Option<Value> {
        let order =
            json!({ "marketplace": venue.word, "chainId": 31337, "native": native, "signature": signature });
        let body = json!({ "orders": [order] });
        let answer = self.market.server().call("Ingest/PutOrders", self.market.secret(), &body).ok();
        let rejected = answer["rejected"].as_array().unwrap();
        assert_eq!(answer["accepted"], json!(1 - rejected.len()), "{answer}");
        rejected.first().map(|rejected| rejected["reason"].clone())
    }

    /// Imports an order with a signature, which is taken without anybody being asked about it.
    fn import(&self, venue: &Venue, native: &Value, signature: &str) {
        let order = json!({ "type": "order", "marketplace": venue.word, "chainId": 31337, "native": native,
            "signature": signature });
        std::fs::write(self.market.instance.directory().join("order.jsonl"), order.to_string()).unwrap();
        assert_eq!(counts(&self.market.instance.json(&["import", "order.jsonl"])), [1, 1, 0]);
    }

    /// What it takes to buy from orders.
    fn purchase(&self, venue: &Venue, collection: Address, orders: &Value, fees: &Value) -> Value {
        json!({ "collectionAddress": collection, "buyer": self.market.buyer(), "marketplace": venue.word,
            "ordersData": orders, "additionalFees": fees, "walletType": "unknown" })
    }

    /// The steps by which the buyer buys.
    fn buying(&self, venue: &Venue, collection: Address, orders: &Value, fees: &Value) -> Value {
        let body = self.purchase(venue, collection, orders, fees);
        self.market.steps("GenerateBuyTransaction", &body)
    }

    /// What the service says to somebody who wants to buy what cannot be bought.
    fn refused(&self, venue: &Venue, collection: Address, orders: &Value, fees: &Value) -> Answer {
        let body = self.purchase(venue, collection, orders, fees);
        let answer = self.market.marketplace_answer("GenerateBuyTransaction", &body);
        assert_ne!(answer.status, 200, "{answer:?}");
        answer
    }

    /// The steps by which the seller takes offers.
    fn selling(&self, venue: &Venue, collection: Address, orders: &Value, fees: &Value) -> Value {
        let body = json!({ "collectionAddress": collection, "seller": self.market.seller(),
            "marketplace": venue.word, "ordersData": orders, "additionalFees": fees, "walletType": "unknown" });
        self.market.steps("GenerateSellTransaction", &body)
    }

    /// Takes an order back.
    fn cancel(&self, venue: &Venue, collection: Address, maker: Address, order_id: &str) {
        let body = json!({ "collectionAddress": collection, "maker": maker, "marketplace": venue.word,
            "orderId": order_id });
        let steps = self.market.steps("GenerateCancelTransaction", &body);
        assert_eq!(ids(&steps), ["cancel"]);
        self.market.anvil.perform(maker, &steps);
    }

    /// What everybody gains in a currency when somebody performs steps that fill orders, which must be what the steps say.
    fn gains(&self, currency: Address, who: Address, steps: &Value) -> [i128; 4] {
        let moved = self.moved(currency, who, steps);
        let price = |step: &Value| step["price"].as_str().unwrap().parse::<i128>().unwrap();
        let fills = steps.as_array().unwrap().iter().filter(|step| step["id"] != json!("tokenApproval"));
        let told: i128 = fills.map(price).sum();
        if who == self.market.buyer() {
            assert_eq!(moved[0], -told, "{steps}");
        }
        moved
    }

    /// The same whatever the steps say. What the transactions cost is left out.
    fn moved(&self, currency: Address, who: Address, steps: &Value) -> [i128; 4] {
        let wealth = || self.people().map(|account| self.wealth(currency, account));
        let before = wealth();
        let gas = self.market.anvil.perform(who, steps);
        let mut after = wealth();
        if currency == Address::ZERO {
            let place = self.people().iter().position(|account| *account == who).unwrap();
            after[place] += gas;
        }
        let gained =
            |place: usize| i128::try_from(after[place]).unwrap() - i128::try_from(before[place]).unwrap();
        [0, 1, 2, 3].map(gained)
    }

    fn wealth(&self, currency: Address, account: Address) -> U256 {
        if currency == Address::ZERO {
            self.market.anvil.native_balance(account)
        } else {
            self.market.anvil.balance(currency, account)
        }
    }

    /// Waits until an order is known.
    fn wait_known(&self, venue: &Venue, collection: Address, order_id: &str) {
        let query = json!({ "input": [{ "contractAddress": collection, "orderId": order_id,
            "marketplace": venue.word }] });
        let known = || {
            let answer = self.market.marketplace_answer("GetOrders", &query);
            // A collection of which nothing is known yet has no orders.
            if answer.status == 200 { answer.ok()["orders"].as_array().unwrap().len() } else { 0 }
        };
        wait(&format!("{} {order_id} is known", venue.word), known, |count| *count == 1);
    }

    /// Waits until an order has a status.
    fn wait_status(&self, venue: &Venue, collection: Address, order_id: &str, status: &str) {
        let query = json!({ "input": [{ "contractAddress": collection, "orderId": order_id,
            "marketplace": venue.word }] });
        let now = || self.market.marketplace("GetOrders", &query)["orders"][0]["status"].clone();
        wait(&format!("{} {order_id} is {status}", venue.word), now, |now| *now == json!(status));
    }

    /// Waits until a listing is filled, and nobody can buy it any more.
    fn wait_filled(&self, venue: &Venue, collection: Address, token: &str, order_id: &str) {
        self.wait_status(venue, collection, order_id, "filled");
        self.market.wait_listings(collection, token, 0);
        self.refused(venue, collection, &units_of(order_id, "1"), &Value::Null);
    }

    /// What happened on the chain so far leaves an order as it is.
    fn assert_stands(&self, venue: &Venue, collection: Address, order_id: &str) {
        self.catch_up();
        self.buying(venue, collection, &units_of(order_id, "1"), &Value::Null);
    }

    /// The only listing of a token, once there is one.
    fn only_listing(&self, venue: &Venue, collection: Address, token: &str) -> Value {
        let listing = self.market.wait_listings(collection, token, 1).remove(0);
        assert_eq!(listing["marketplace"], json!(venue.word));
        listing
    }
}

/// So many units of an order, as requests name them.
fn units_of(order_id: &str, quantity: &str) -> Value {
    order_data(&json!({ "orderId": order_id }), quantity)
}

/// A fee of so many basis points for somebody.
fn fee(bps: u64, receiver: Address) -> Value {
    json!([{ "amount": bps.to_string(), "receiver": receiver }])
}

/// What goes to `Execute` with the signature that a step asks for.
pub(crate) fn executed(step: &Value, signature: &str) -> Value {
    let post = &step["post"];
    json!({ "chainId": "31337", "signature": signature, "method": post["method"], "endpoint": post["endpoint"],
        "body": post["body"], "executeType": step["executeType"] })
}

/// What steps are for, in their order.
pub(crate) fn ids(steps: &Value) -> Vec<&str> {
    steps.as_array().unwrap().iter().map(|step| step["id"].as_str().unwrap()).collect()
}
