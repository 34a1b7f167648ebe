//! A market on a chain of its own: the contracts, a server that follows them, and people who trade through it.

use std::fmt::Debug;
use std::rc::Rc;

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Anvil, Multi, alloy_address, approveCall, mintCall, setDefaultRoyaltyCall};
use crate::http::Credential;
use crate::instance::{Instance, Project, Server, seen_within};
use crate::process::WAIT_MAX;

/// Shares of the price, in basis points, that the tests' collections pay to `Market::artist`.
pub(crate) const ROYALTY_BPS: u64 = 500;

/// A version of the service's own marketplace.
pub(crate) struct Venue {
    artifact: &'static str,
    setting: &'static str,
    pub(crate) word: &'static str,
}

pub(crate) const V1: Venue = Venue { artifact: "MarketV1", setting: "own_v1", word: "bourse_marketplace_v1" };
pub(crate) const V2: Venue = Venue { artifact: "Market", setting: "own_v2", word: "bourse_marketplace_v2" };
/// One that charges royalties as contracts do that others deployed.
pub(crate) const DEPLOYED: Venue =
    Venue { artifact: "TestDeployedMarket", setting: "own_v2", word: "bourse_marketplace_v2" };

impl Venue {
    /// Whether it charges the royalty that holds when an order is filled.
    pub(crate) fn is_deployed(&self) -> bool {
        self.artifact == DEPLOYED.artifact
    }
}

/// Everything that trading takes.
pub(crate) struct Market {
    pub(crate) instance: Instance,
    pub(crate) anvil: Rc<Anvil>,
    /// The marketplace that is traded on.
    pub(crate) contract: Address,
    pub(crate) currency: Address,
    pub(crate) project: Project,
    /// What it is called in requests.
    word: &'static str,
    /// The network's settings.
    settings: String,
    server: Option<Server>,
}

impl Market {
    /// The contracts, and a server that follows their chain.
    pub(crate) fn open() -> Self {
        Self::open_at(&V2, node_setting)
    }

    /// The same with a version of the marketplace, and with settings of the network, which name its node.
    pub(crate) fn open_at(venue: &Venue, settings: impl FnOnce(&Anvil) -> String) -> Self {
        let instance = Instance::new();
        let anvil = Anvil::start(instance.directory());
        let (contract, currency) = (anvil.deploy_market(venue.artifact), anvil.deploy_currency());
        let settings = format!(
            "[networks.hardhat]\nid = 31337\npoll_ms = 50\n{} = \"{contract}\"\n{}",
            venue.setting,
            settings(&anvil)
        );
        let project = instance.create_project("market");
        let anvil = Rc::new(anvil);
        let word = venue.word;
        let mut market = Self { instance, anvil, contract, currency, project, word, settings, server: None };
        market.configure();
        market.put_currencies();
        market
    }

    /// Makes the chain's own currency and the tests' known.
    pub(crate) fn put_currencies(&self) {
        let currencies = json!({ "chainId": 31337, "currencies": [
            { "chainId": 31337, "contractAddress": Address::ZERO, "name": "Ether", "symbol": "ETH", "decimals": 18,
              "exchangeRate": 2000, "nativeCurrency": true },
            { "chainId": 31337, "contractAddress": self.currency, "name": "Coin", "symbol": "COIN", "decimals": 6,
              "exchangeRate": 1 },
        ] });
        self.server().call("Ingest/PutCurrencies", self.secret(), &currencies).ok();
    }

    /// The same chain, followed by an installation that knows nothing of it yet.
    pub(crate) fn anew(&self) -> Self {
        let instance = Instance::new();
        let project = instance.create_project("market");
        let (anvil, settings) = (Rc::clone(&self.anvil), self.settings.clone());
        let mut market = Self { instance, anvil, project, settings, server: None, ..*self };
        market.configure();
        market
    }

    fn configure(&mut self) {
        std::fs::write(self.instance.directory().join("bourse.toml"), &self.settings).unwrap();
        self.start();
    }

    /// Starts the server.
    pub(crate) fn start(&mut self) {
        self.server = Some(self.instance.serve());
    }

    /// Ends it, and starts it again as one that asks for blocks so often.
    pub(crate) fn restart_polling(&mut self, milliseconds: u64) {
        let process = self.server.take().unwrap().process;
        process.terminate();
        assert!(process.wait(WAIT_MAX).status.success());
        self.settings = self.settings.replace("poll_ms = 50\n", &format!("poll_ms = {milliseconds}\n"));
        self.configure();
    }

    /// Ends the server as nothing can prepare for.
    pub(crate) fn kill(&mut self) {
        self.server.take().unwrap().process.kill();
    }

    /// Ends the server as it should end, and starts it with variables beside its settings.
    pub(crate) fn restart_with(&mut self, variables: &[(&str, &str)]) {
        let Server { process, .. } = self.server.take().unwrap();
        process.terminate();
        process.wait(WAIT_MAX);
        let mut server = self.instance.serve_unready("serve", variables);
        server.wait_ready(WAIT_MAX);
        self.server = Some(server);
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn secret(&self) -> Credential<'_> {
        Credential::Token(&self.project.token)
    }

    /// Follows a collection from the first block on, in the project's market.
    pub(crate) fn follow(&self, collection: Address) {
        let (collection, project) = (collection.to_string(), self.project.id.to_string());
        self.instance.json(&[
            "collection",
            "add",
            "31337",
            &collection,
            "--from",
            "0",
            "--project",
            &project,
        ]);
    }

    /// A followed collection of single tokens that pays the artist, with its first token in somebody's hands.
    pub(crate) fn singles(&self, holder: Address) -> Address {
        let collection = self.anvil.deploy_singles();
        self.set_royalty(collection);
        self.anvil.send(holder, collection, &mintCall { to: alloy_address(holder), tokenId: U256::from(1) });
        self.follow(collection);
        collection
    }

    /// A followed collection that pays the artist, with some units of its tokens from 1 on in somebody's hands.
    pub(crate) fn multiples(&self, holder: Address, tokens: u64, units: u64) -> Address {
        let collection = self.anvil.deploy_multiples();
        self.set_royalty(collection);
        for token in 1..=tokens {
            let (to, amount) = (alloy_address(holder), U256::from(units));
            self.anvil.send(holder, collection, &Multi::mintCall { to, tokenId: U256::from(token), amount });
        }
        self.follow(collection);
        collection
    }

    pub(crate) fn set_royalty(&self, collection: Address) {
        let fee = alloy_primitives::Uint::from(ROYALTY_BPS);
        let call = setDefaultRoyaltyCall { recipient: alloy_address(self.artist()), fee };
        self.anvil.send(self.anvil.account(0), collection, &call);
    }

    pub(crate) fn seller(&self) -> Address {
        self.anvil.account(1)
    }

    pub(crate) fn buyer(&self) -> Address {
        self.anvil.account(2)
    }

    pub(crate) fn artist(&self) -> Address {
        self.anvil.account(3)
    }

    pub(crate) fn platform(&self) -> Address {
        self.anvil.account(4)
    }

    /// Gives somebody some of the currency.
    pub(crate) fn fund(&self, account: Address, amount: u64) {
        let call = mintCall { to: alloy_address(account), tokenId: U256::from(amount) };
        self.anvil.send(account, self.currency, &call);
    }

    /// Lets the market take an amount of the currency from somebody.
    pub(crate) fn allow(&self, account: Address, amount: u64) {
        let call = approveCall { spender: alloy_address(self.contract), amount: U256::from(amount) };
        self.anvil.send(account, self.currency, &call);
    }

    /// The steps that an operation of the marketplace answers with.
    pub(crate) fn steps(&self, operation: &str, body: &Value) -> Value {
        let answer = self.marketplace(operation, body);
        let steps = answer["steps"].clone();
        assert!(steps.as_array().is_some_and(|steps| !steps.is_empty()), "{operation}: {answer}");
        steps
    }

    /// The answer of an operation of the marketplace that must succeed.
    pub(crate) fn marketplace(&self, operation: &str, body: &Value) -> Value {
        self.marketplace_answer(operation, body).ok()
    }

    pub(crate) fn marketplace_answer(&self, operation: &str, body: &Value) -> crate::http::Answer {
        let mut body = body.clone();
        body["chainId"] = json!("31337");
        let operation = format!("Marketplace/{operation}");
        self.server().call(&operation, Credential::Key(&self.project.key), &body)
    }

    /// Offers a token for sale; the steps are performed by its holder.
    pub(crate) fn list(&self, holder: Address, collection: Address, kind: &str, order: &Value) {
        let body = json!({ "collectionAddress": collection, "owner": holder, "contractType": kind,
            "orderbook": self.word, "listing": order, "walletType": "unknown" });
        let steps = self.steps("GenerateListingTransaction", &body);
        self.anvil.perform(holder, &steps);
    }

    /// Offers to buy a token; the steps are performed by the one who offers.
    pub(crate) fn offer(&self, maker: Address, collection: Address, kind: &str, order: &Value) {
        let body = json!({ "collectionAddress": collection, "maker": maker, "contractType": kind,
            "orderbook": self.word, "offer": order, "walletType": "unknown" });
        let steps = self.steps("GenerateOfferTransaction", &body);
        self.anvil.perform(maker, &steps);
    }

    /// What it takes to buy from orders.
    pub(crate) fn purchase(
        &self,
        buyer: Address,
        collection: Address,
        orders: &Value,
        fees: &Value,
    ) -> Value {
        json!({ "collectionAddress": collection, "buyer": buyer, "marketplace": self.word, "ordersData": orders,
            "additionalFees": fees, "walletType": "unknown" })
    }

    /// Active listings of a token, cheapest first.
    pub(crate) fn listings(&self, collection: Address, token: &str) -> Vec<Value> {
        self.orders("ListListingsForCollectible", "listings", collection, token)
    }

    /// Active offers for a token, dearest first.
    pub(crate) fn offers(&self, collection: Address, token: &str) -> Vec<Value> {
        self.orders("ListOffersForCollectible", "offers", collection, token)
    }

    fn orders(&self, operation: &str, member: &str, collection: Address, token: &str) -> Vec<Value> {
        let body = json!({ "contractAddress": collection, "tokenId": token });
        self.marketplace(operation, &body)[member].as_array().unwrap().clone()
    }

    /// Waits until the first token of a collection is known.
    pub(crate) fn wait_followed(&self, collection: Address) {
        wait("the token is known", || self.tokens(collection), |tokens| !tokens.is_empty());
    }

    /// The tokens of a collection that are known.
    pub(crate) fn tokens(&self, collection: Address) -> Vec<String> {
        let filter =
            json!({ "contractAddress": collection, "side": "listing", "filter": { "includeEmpty": true } });
        let answer = self.marketplace_answer("ListCollectibles", &filter);
        // A collection of which nothing is known is not there.
        let found = if answer.status == 400 { json!({ "collectibles": [] }) } else { answer.ok() };
        let tokens = found["collectibles"].as_array().unwrap().iter();
        tokens.map(|token| token["metadata"]["tokenId"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a token has so many active listings, and returns them.
    pub(crate) fn wait_listings(&self, collection: Address, token: &str, count: usize) -> Vec<Value> {
        wait(&format!("{count} listings"), || self.listings(collection, token), |all| all.len() == count)
    }

    /// Waits until a token has so many active offers, and returns them.
    pub(crate) fn wait_offers(&self, collection: Address, token: &str, count: usize) -> Vec<Value> {
        wait(&format!("{count} offers"), || self.offers(collection, token), |all| all.len() == count)
    }
}

/// The setting that has a chain followed.
pub(crate) fn node_setting(anvil: &Anvil) -> String {
    format!("rpc_url = \"{}\"\n", anvil.url())
}

/// So much of an order, as requests name it.
pub(crate) fn order_data(order: &Value, quantity: &str) -> Value {
    json!([{ "orderId": order["orderId"], "quantity": quantity }])
}

/// Waits until something that was just put on the chain is seen.
pub(crate) fn wait<T: Debug>(what: &str, look: impl Fn() -> T, is_so: impl Fn(&T) -> bool) -> T {
    seen_within(WAIT_MAX, what, look, is_so)
}

/// An order that can be filled until the next century.
pub(crate) fn order(token: &str, quantity: &str, currency: Address, price: &str) -> Value {
    json!({ "tokenId": token, "quantity": quantity, "currencyAddress": currency, "pricePerToken": price,
        "expiry": "4102444800" })
}
