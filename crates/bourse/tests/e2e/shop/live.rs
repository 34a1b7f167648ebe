//! Pages that somebody looks at tell by themselves what others do.

use std::time::Instant;

use bourse_wire::Address;
use serde_json::{Value, json};

use super::ETHER;
use super::meanwhile::{one_for_sale, plans_to_buy};
use super::person::Person;
use crate::http::get;
use crate::market::{Market, order, wait};

const TWO_ETHER: &str = "2000000000000000000";

/// Has the browser say that its page is hidden, or looked at again: one without a screen has no other way.
fn is_hidden(person: &Person<'_>, hidden: bool) {
    person.browser.run(&format!(
        "Object.defineProperty(document, 'hidden', {{ configurable: true, value: {hidden} }}); \
         document.dispatchEvent(new Event('visibilitychange'))"
    ));
}

/// Takes the only listing back.
fn take_back(market: &Market, collection: Address) {
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    let cancel = json!({ "collectionAddress": collection, "maker": market.seller(),
        "marketplace": listing["marketplace"], "orderId": listing["orderId"] });
    market.anvil.perform(market.seller(), &market.steps("GenerateCancelTransaction", &cancel));
    market.wait_listings(collection, "1", 0);
}

#[test]
fn what_others_do_is_shown_without_a_reload() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let ana = Person::new(&market, market.buyer());
    let ben = ana.beside(market.platform());
    ben.opens(collection, "/1");
    ben.until("[data-connect]");
    ben.browser.run("window.__same = true");
    let listings = "return document.querySelector('#listings').innerText";
    let price = || ben.browser.run(listings).as_str().unwrap().to_owned();
    assert!(price().contains("1 ETH"), "{}", price());
    take_back(&market, collection);
    market.list(market.seller(), collection, "ERC721", &order("1", "1", Address::ZERO, TWO_ETHER));
    wait("the new price", price, |shown| shown.contains("2 ETH"));

    // Nobody is told while they look elsewhere, and everything when they look again.
    is_hidden(&ben, true);
    plans_to_buy(&ana, collection);
    ana.confirms();
    assert!(price().contains("2 ETH"), "{}", price());
    is_hidden(&ben, false);
    ben.browser.wait_for("Nobody sells it right now.");
    assert_eq!(ben.browser.run("return window.__same"), json!(true));
}

/// Has the only token be for sale for so much instead.
fn sell_for(market: &Market, collection: Address, price: &str) {
    take_back(market, collection);
    market.list(market.seller(), collection, "ERC721", &order("1", "1", Address::ZERO, price));
    market.wait_listings(collection, "1", 1);
}

/// Waits until so many streams are open.
fn wait_streams(market: &Market, count: usize) {
    let open = || get(market.server().port, "/metrics").unwrap().body;
    wait("streams are open", open, |text| text.contains(&format!("\nbourse_streams {count}\n")));
}

/// Notes how long the page pauses from now on, in milliseconds; it waits for so many times less.
fn note_pauses(person: &Person<'_>, faster: u32) {
    person.browser.run(&format!(
        "window.__pauses = []; const real = window.__real ??= window.setTimeout; \
         window.setTimeout = (what, pause) => (window.__pauses.push(pause), real(what, pause / {faster}))"
    ));
}

fn pauses(person: &Person<'_>) -> Vec<f64> {
    let noted = person.browser.run("return window.__pauses");
    noted.as_array().unwrap().iter().map(|pause| pause.as_f64().unwrap()).collect()
}

/// How often the page has asked for itself.
fn asked(person: &Person<'_>) -> Value {
    person.browser.run(
        "return performance.getEntriesByType('resource').filter((one) => one.name === location.href \
         && one.initiatorType === 'fetch').length",
    )
}

fn wait_price(person: &Person<'_>, price: &str) {
    let shown = || person.browser.run("return document.querySelector('#listings').innerText");
    wait("the new price", shown, |text| text.as_str().unwrap().contains(price));
}

#[test]
fn those_who_may_not_listen_ask_and_are_shown_changes_as_soon() {
    let (mut market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    market.restart_with(&[("BOURSE_LIMITS__ADDRESS_STREAMS_MAX", "1")]);
    let listings = json!({ "contractAddress": collection, "tokenId": "1" });
    let answer = || market.marketplace_answer("ListListingsForCollectible", &listings).status;
    wait("the collection is in memory again", answer, |status| *status == 200);
    let ana = Person::new(&market, market.buyer());
    let ben = ana.beside(market.platform());
    ana.opens(collection, "/1");
    wait_streams(&market, 1);
    ben.opens(collection, "/1");
    wait("it asks by itself", || asked(&ben), |count| count.as_u64() >= Some(2));
    assert_eq!(asked(&ana), 0, "who listens asks for nothing");
    for person in [&ana, &ben] {
        note_pauses(person, 1);
    }
    sell_for(&market, collection, TWO_ETHER);
    let since = Instant::now();
    for (person, how) in [(&ana, "listens"), (&ben, "asks")] {
        wait_price(person, "2 ETH");
        println!("shown to who {how} after {:?} at most", since.elapsed());
        // Between two looks at it nobody waits for two seconds.
        let pauses = pauses(person);
        assert!(!pauses.is_empty() && pauses.iter().all(|pause| *pause < 1_800.0), "{how}: {pauses:?}");
    }
    wait_streams(&market, 1);

    // Once there is a place the other one takes it, sooner or later.
    ben.browser.run(
        "window.EventSource = class extends EventSource { constructor(to) { super(to); window.__source = this; } }",
    );
    is_hidden(&ana, true);
    note_pauses(&ben, 20);
    let is_told = || ben.browser.run("return window.__source?.readyState === EventSource.OPEN");
    wait("it listens", is_told, |is_told| *is_told == json!(true));
    sell_for(&market, collection, "3000000000000000000");
    wait_price(&ben, "3 ETH");
}

#[test]
fn not_all_who_hear_of_a_change_ask_in_the_same_moment() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let person = Person::new(&market, market.buyer());
    for (drawn, pause) in [(0.0, 500.0), (0.25, 800.0), (0.5, 1_100.0), (0.75, 1_400.0)] {
        person.opens(collection, "/1");
        person.until("[data-connect]");
        wait_streams(&market, 1);
        person.browser.run(&format!("Math.random = () => {drawn}"));
        note_pauses(&person, 1);
        is_hidden(&person, true);
        wait_streams(&market, 0);
        is_hidden(&person, false);
        wait("it waits", || pauses(&person), |noted| noted.first() == Some(&pause));
    }
}
