//! Pages that somebody looks at tell by themselves what others do.

use bourse_wire::Address;
use serde_json::json;

use super::ETHER;
use super::meanwhile::{one_for_sale, plans_to_buy};
use super::person::Person;
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
