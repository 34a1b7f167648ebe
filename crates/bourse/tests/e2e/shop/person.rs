//! Somebody before a shop, with a wallet that signs with the keys of the chain's node.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bourse_wire::Address;
use serde_json::{Value, json};

use super::browser::{Browser, Colours, Screen};
use crate::anvil::Anvil;
use crate::market::Market;
use crate::process::{POLL_INTERVAL, WAIT_MAX};

const WALLET: &str = include_str!("wallet.js");
/// What wallets answer when somebody says no.
const REFUSED: i64 = 4001;
/// Where a transaction comes from the wallet.
pub(super) const SENDING: &str = "eth_sendTransaction";
/// What the wallet is asked before it is to send something: how many transactions there are, with those on their way.
pub(super) const BEFORE_SENDING: &str = "pending";

/// Where a shop is, and the chain that it trades on.
#[derive(Clone, Copy)]
pub(super) struct Place<'m> {
    pub(super) port: u16,
    pub(super) project: u64,
    pub(super) anvil: &'m Anvil,
}

impl<'m> Place<'m> {
    /// That of a market's project.
    fn of(market: &'m Market) -> Self {
        Self { port: market.server().port, project: market.project.id, anvil: &market.anvil }
    }
}

/// A visitor of a shop.
pub(super) struct Person<'m> {
    pub(super) browser: Browser,
    place: Place<'m>,
    pub(super) account: Address,
    /// The chain that the wallet is on, and whether it changes it when asked to.
    pub(super) chain: Cell<u64>,
    pub(super) switches: Cell<bool>,
    /// Whether they say no to whatever is to be sent.
    pub(super) refuses: Cell<bool>,
    /// The wallets in the browser, by their names; one that announces nothing where there are none.
    pub(super) wallets: Cell<&'static [&'static str]>,
    /// Which of them was asked last.
    pub(super) asked: RefCell<String>,
    /// What they leave unanswered for now: a method, or what is asked with it.
    hesitates_at: Cell<Option<&'static str>>,
}

/// Switches on the shop of a market's project.
pub(super) fn open_shop(market: &Market, site: &Value) {
    open_shop_with(market, site, json!({}));
}

/// The same with more of its storefront.
pub(super) fn open_shop_with(market: &Market, site: &Value, mut storefront: Value) {
    let mut said = site.clone();
    said["enabled"] = json!(true);
    storefront["settings"] = json!({ "accessKey": market.project.key });
    storefront["site"] = said;
    market.server().call("Admin/PutStorefront", market.secret(), &json!({ "storefront": storefront })).ok();
}

impl<'m> Person<'m> {
    pub(super) fn new(market: &'m Market, account: Address) -> Self {
        Self::at(Place::of(market), account)
    }

    /// Somebody before a shop that is of no test's market.
    pub(super) fn at(place: Place<'m>, account: Address) -> Self {
        Self::before(Browser::open(), place, account)
    }

    /// Somebody before a screen of a kind, who prefers some colours.
    pub(super) fn with(market: &'m Market, account: Address, (screen, colours): (Screen, Colours)) -> Self {
        Self::before(Browser::with(screen, colours), Place::of(market), account)
    }

    /// Somebody else, with a browser and a wallet of their own.
    pub(super) fn beside(&self, account: Address) -> Self {
        Self::before(Browser::start((Screen::Wide, Colours::Light), &json!({}), None), self.place, account)
    }

    fn before(browser: Browser, place: Place<'m>, account: Address) -> Self {
        let (switches, refuses) = (Cell::new(true), Cell::new(false));
        let (chain, hesitates_at) = (Cell::new(31_337), Cell::new(None));
        let wallets: Cell<&'static [&'static str]> = Cell::new(&["Test wallet"]);
        let asked = RefCell::default();
        Self { browser, place, account, chain, switches, refuses, wallets, asked, hesitates_at }
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
        let Place { port, project, .. } = self.place;
        self.browser.go(&format!("http://127.0.0.1:{port}/shop/{project}{path}"));
        self.browser.run(&format!("{WALLET} window.__bring({})", json!(self.wallets.get())));
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
    /// Tells what is asked.
    pub(super) fn hesitates(&self, at: &'static str) -> Value {
        self.hesitates_at.set(Some(at));
        let asked = format!(
            "const left = {}; return (window.__asked ?? []).find((one) => one.method === left || one.params.includes(left)) ?? null",
            json!(at)
        );
        let started = Instant::now();
        loop {
            let found = self.browser.run(&asked);
            if !found.is_null() {
                return found["params"].clone();
            }
            assert!(started.elapsed() < WAIT_MAX, "{at} is not asked: {}", self.browser.text());
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
            "const all = window.__asked ?? [], left = {}; \
             const isLeft = (one) => one.method === left || one.params.includes(left); \
             window.__asked = all.filter(isLeft); return all.filter((one) => !isLeft(one))",
            json!(self.hesitates_at.get())
        );
        let asked = self.browser.run(&take);
        for one in asked.as_array().unwrap() {
            let (method, params) = (one["method"].as_str().unwrap(), &one["params"]);
            one["wallet"].as_str().unwrap().clone_into(&mut self.asked.borrow_mut());
            let (result, error) = match self.answer(method, params) {
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
            // What another network tells is of no use.
            "eth_getTransactionReceipt" if self.chain.get() != 31_337 => Ok(Value::Null),
            "eth_getTransactionCount" if self.chain.get() != 31_337 => Ok(json!("0x63")),
            "wallet_switchEthereumChain" if self.switches.get() => {
                self.chain.set(31_337);
                Ok(Value::Null)
            }
            "wallet_switchEthereumChain" => no(4902, "Unrecognized chain ID"),
            SENDING | "eth_signTypedData_v4" if self.refuses.get() => {
                no(REFUSED, "User rejected the request.")
            }
            SENDING if params[0]["chainId"] != json!(format!("{:#x}", self.chain.get())) => {
                panic!("sent on another network: {params}")
            }
            _ => {
                let mut params = params.clone();
                if method == "eth_signTypedData_v4" {
                    // Wallets take it as text, and the node does not.
                    params[1] = serde_json::from_str(params[1].as_str().unwrap()).unwrap();
                }
                let answer = self.place.anvil.try_rpc(method, &params).unwrap();
                match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                }
            }
        }
    }
}
