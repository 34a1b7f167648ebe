//! Somebody before a shop, with a wallet that signs with the keys of the chain's node.

use std::cell::Cell;
use std::time::Instant;

use bourse_wire::Address;
use serde_json::{Value, json};

use super::browser::{Browser, Colours, Screen};
use crate::market::Market;
use crate::process::{POLL_INTERVAL, WAIT_MAX};

const WALLET: &str = include_str!("wallet.js");
/// What wallets answer when somebody says no.
const REFUSED: i64 = 4001;

/// A visitor of a shop.
pub(super) struct Person<'m> {
    pub(super) browser: Browser,
    market: &'m Market,
    pub(super) account: Address,
    /// The chain that the wallet is on, and whether it changes it when asked to.
    pub(super) chain: Cell<u64>,
    pub(super) switches: Cell<bool>,
    /// Whether they say no to whatever is to be sent.
    pub(super) refuses: Cell<bool>,
    /// What they leave unanswered for now.
    hesitates_at: Cell<Option<&'static str>>,
}

/// Switches on the shop of a market's project.
pub(super) fn open_shop(market: &Market, site: &Value) {
    let mut said = site.clone();
    said["enabled"] = json!(true);
    let storefront = json!({ "settings": { "accessKey": market.project.key }, "site": said });
    market.server().call("Admin/PutStorefront", market.secret(), &json!({ "storefront": storefront })).ok();
}

impl<'m> Person<'m> {
    pub(super) fn new(market: &'m Market, account: Address) -> Self {
        Self::before(Browser::open(), market, account)
    }

    /// Somebody before a screen of a kind, who prefers some colours.
    pub(super) fn with(market: &'m Market, account: Address, (screen, colours): (Screen, Colours)) -> Self {
        Self::before(Browser::with(screen, colours), market, account)
    }

    /// Somebody else, with a browser and a wallet of their own.
    pub(super) fn beside(&self, account: Address) -> Self {
        Self::before(Browser::start(Screen::Wide, Colours::Light, None), self.market, account)
    }

    fn before(browser: Browser, market: &'m Market, account: Address) -> Self {
        let (switches, refuses) = (Cell::new(true), Cell::new(false));
        let (chain, hesitates_at) = (Cell::new(31_337), Cell::new(None));
        Self { browser, market, account, chain, switches, refuses, hesitates_at }
    }

    /// The same browser, with another wallet in it that knows nothing of the first.
    pub(super) fn becomes(&mut self, account: Address) {
        self.browser.run("localStorage.clear()");
        self.account = account;
    }

    /// Opens a page of a collection, and has a wallet in it.
    pub(super) fn opens(&self, collection: Address, rest: &str) {
        self.goes(&format!("/c/31337/{collection}{rest}"));
    }

    /// Opens a page of the shop.
    pub(super) fn goes(&self, path: &str) {
        let (port, project) = (self.market.server().port, self.market.project.id);
        self.browser.go(&format!("http://127.0.0.1:{port}/shop/{project}{path}"));
        self.browser.run(WALLET);
    }

    /// Connects the wallet.
    pub(super) fn connects(&self) {
        self.clicks("[data-connect]");
        self.until("[data-account]");
    }

    /// Clicks what is there or will be.
    pub(super) fn clicks(&self, css: &str) {
        self.until(css);
        self.browser.run(&format!("document.querySelector({}).click()", json!(css)));
    }

    pub(super) fn types(&self, name: &str, text: &str) {
        self.until(&format!("dialog [name={name}]"));
        let field = json!(format!("dialog [name={name}]"));
        self.browser.run(&format!("document.querySelector({field}).value = {}", json!(text)));
    }

    /// Says yes to a plan, and waits until all of it is done and shown.
    pub(super) fn confirms(&self) {
        self.clicks("[data-confirm]");
        self.until("[data-status=done]");
    }

    /// Answers the page until it asks the wallet for something, and leaves that unanswered.
    pub(super) fn hesitates(&self, method: &'static str) {
        self.hesitates_at.set(Some(method));
        let asked = format!("return (window.__asked ?? []).some((one) => one.method === {})", json!(method));
        let started = Instant::now();
        while self.browser.run(&asked) != json!(true) {
            assert!(started.elapsed() < WAIT_MAX, "{method} is not asked: {}", self.browser.text());
            self.answers();
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Has the wallet answer what it left, and answer again.
    pub(super) fn decides(&self) {
        self.hesitates_at.set(None);
        self.answers();
    }

    /// Why it did not go.
    pub(super) fn is_told(&self) -> String {
        self.until("dialog [data-trouble]");
        self.browser
            .run("return document.querySelector('dialog [data-trouble]').innerText")
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Answers what the page asks the wallet until something that can be seen is on the page.
    pub(super) fn until(&self, css: &str) {
        let started = Instant::now();
        let seen = format!(
            "const found = document.querySelector({}); return Boolean(found && found.getClientRects().length)",
            json!(css)
        );
        while self.browser.run(&seen) != json!(true) {
            let shown = || {
                self.browser
                    .run("return document.querySelector('dialog')?.innerText ?? document.body.innerText")
            };
            assert!(started.elapsed() < WAIT_MAX, "no {css}: {}", shown());
            self.answers();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    fn answers(&self) {
        let take = format!(
            "const all = window.__asked ?? [], left = {}; window.__asked = all.filter((one) => one.method === left); \
             return all.filter((one) => one.method !== left)",
            json!(self.hesitates_at.get())
        );
        let asked = self.browser.run(&take);
        for one in asked.as_array().unwrap() {
            let (result, error) = match self.answer(one["method"].as_str().unwrap(), &one["params"]) {
                Ok(result) => (result, Value::Null),
                Err(error) => (Value::Null, error),
            };
            self.browser.run(&format!("window.__answer({}, {result}, {error})", one["id"]));
        }
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, Value> {
        let no = |code: i64, message: &str| Err(json!({ "code": code, "message": message }));
        match method {
            "eth_accounts" | "eth_requestAccounts" => Ok(json!([self.account])),
            "eth_chainId" => Ok(json!(format!("{:#x}", self.chain.get()))),
            "wallet_switchEthereumChain" if self.switches.get() => {
                self.chain.set(31_337);
                Ok(Value::Null)
            }
            "wallet_switchEthereumChain" => no(4902, "Unrecognized chain ID"),
            "eth_sendTransaction" | "eth_signTypedData_v4" if self.refuses.get() => {
                no(REFUSED, "User rejected the request.")
            }
            _ => {
                let answer = self.market.anvil.try_rpc(method, params).unwrap();
                match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                }
            }
        }
    }
}
