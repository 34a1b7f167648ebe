//! A browser that runs no scripts: everything can be read and found in it, and pages say that only trading cannot be done.

use bourse_wire::Address;
use serde_json::json;

use super::browser::{Browser, Colours, Screen};
use super::every_page::fill;
use super::sale::open_sale;
use crate::market::{Market, wait};
use crate::primary_sale::Shop;

const NEEDS_SCRIPTS: &str = "To buy, sell and make offers, let your browser run those of this page.";

/// A shop before a browser that has scripts switched off.
struct Visit {
    browser: Browser,
    home: String,
    collection: Address,
    sale: Address,
}

impl Visit {
    fn open(market: &Market, collection: Address, sale: Address) -> Self {
        let off = json!({ "profile.managed_default_content_settings.javascript": 2 });
        let browser = Browser::with_preferences(Screen::Wide, Colours::Light, &off);
        let home = format!("http://127.0.0.1:{}/shop/{}", market.server().port, market.project.id);
        Self { browser, home, collection, sale }
    }

    fn goes(&self, path: &str) {
        self.browser.go(&format!("{}{path}", self.home));
    }

    /// The page has all of this, says what cannot be done, and has no button that does nothing.
    #[track_caller]
    fn is_readable(&self, texts: &[&str]) {
        let page = self.browser.text();
        for text in texts {
            assert!(page.contains(text), "no “{text}” on {}: {page}", self.browser.path());
        }
        assert!(page.contains(NEEDS_SCRIPTS), "{}: {page}", self.browser.path());
        let buttons = "return [...document.querySelectorAll('main button')].filter((one) => one.getClientRects().length \
            && one.type !== 'submit').map((one) => one.innerText)";
        assert_eq!(self.browser.run(buttons), json!([]), "{}", self.browser.path());
    }

    /// Clicks what no label names.
    fn clicks(&self, css: &str) {
        self.browser.run(&format!("document.querySelector({}).click()", json!(css)));
    }

    /// Follows a link that is found by what it leads to.
    fn follows(&self, css: &str) {
        let address = format!(
            "const link = document.querySelector({}); return link.pathname + link.search",
            json!(css)
        );
        let to = self.browser.run(&address).as_str().unwrap().to_owned();
        self.clicks(css);
        self.browser.wait_for_page(&to);
        let is_there = || self.browser.path();
        wait("the page that the link leads to", is_there, |path| *path == to);
    }
}

/// A market with everything that pages show, and a sale.
fn open() -> (Market, Visit) {
    let Shop { market, collection: sold, sale } = Shop::open();
    let collection = fill(&market);
    open_sale(&market, sold, sale);
    let visit = Visit::open(&market, collection, sale);
    (market, visit)
}

#[test]
fn every_page_can_be_read() {
    let (market, visit) = open();
    let is_off = "return typeof window.ethereum + document.querySelectorAll('.corner').length";
    visit.goes("");
    assert_eq!(visit.browser.run(is_off), json!("undefined0"), "no script of the page ran");
    visit.is_readable(&[
        "Relics of the harbour",
        "Found between the tides.",
        "1 ETH",
        "Provisions",
        "Sold last",
    ]);
    let collection = format!("/c/31337/{}", visit.collection);
    visit.goes(&collection);
    visit.is_readable(&[
        "Found: 40",
        "A relic of the harbour, number 1\n",
        "1 ETH ≈ $2",
        "Not for sale",
        "Silver\n20",
    ]);
    visit.goes(&format!("{collection}/1"));
    visit.is_readable(&[
        "number 1",
        "What the tide left.",
        "Owned by",
        "1 ETH",
        "2 COIN",
        "Seller",
        "Buyer",
        "Bronze 50.0 %",
        "Put up for sale",
    ]);
    visit.goes(&format!("{collection}/5"));
    visit.is_readable(&["number 5", "Nobody sells it right now.", "Nobody made an offer.", "Sold"]);
    visit.goes(&format!("/a/{}", market.seller()));
    visit.is_readable(&[
        "Has",
        "Sells",
        "number 1\n",
        "Was offered",
        "Best offer: 2 COIN",
        "More in the collection",
    ]);
    visit.goes(&format!("/a/{}", market.buyer()));
    visit.is_readable(&["number 5", "Offers for", "Best offer: 2 COIN"]);
    visit.goes(&format!("/sale/31337/{}", visit.sale));
    visit.is_readable(&["Provisions", "5 left", "ETH"]);
    visit.goes("/basket");
    visit.is_readable(&["Basket", "shown there by a script"]);
}

#[test]
fn links_filters_and_pages_work() {
    let (market, visit) = open();
    let (browser, found) = (&visit.browser, || visit.browser.text_of(".summary h2"));
    visit.goes("");
    visit.follows(&format!(".collections a[href$='{}']", visit.collection));
    // From page to page.
    let first = browser.text_of(".results .tokens");
    visit.follows("a[rel=next]");
    browser.wait_for("A relic of the harbour");
    assert_ne!(browser.text_of(".results .tokens"), first);
    visit.follows("a[rel=prev]");
    assert_eq!(browser.text_of(".results .tokens"), first);
    // A form.
    browser.fill("input[name=q]", "relic");
    visit.clicks("input[name='p.Metal'][value=Silver]");
    visit.clicks("input[name=only]");
    browser.choose("select[name=sort]", "-id");
    browser.press("Apply");
    browser.wait_for_page("p.Metal=Silver");
    assert_eq!(found(), "Found: 4");
    let order =
        "return [...document.querySelectorAll('.results [data-token]')].map((one) => one.dataset.token)";
    assert_eq!(browser.run(order), json!(["8", "6", "4", "2"]));
    // What is chosen, one by one.
    visit.follows(".chosen a[href*='only']:not([href*='Silver'])");
    assert_eq!(found(), "Found: 8");
    // A token, its collection, whose it is, and what they have more.
    visit.follows("[data-token='9'] h3 a");
    browser.wait_for("What the tide left.");
    visit.follows(".properties a[href*='Metal']");
    assert_eq!(found(), "Found: 20");
    visit.goes(&format!("/c/31337/{}/1", visit.collection));
    visit.follows(".owners a");
    assert!(browser.path().ends_with(&market.seller().to_string()));
    visit.follows(".tokens a[href*='owner=']");
    assert_eq!(found(), "Found: 39");
    visit.follows("a.brand");
    visit.follows("a[href*='/sale/']");
    visit.is_readable(&["5 left"]);
}
