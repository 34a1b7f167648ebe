//! What is not finished: nobody does it twice, and nothing is forgotten that may have been sent.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::meanwhile::{one_for_sale, plans_to_buy, sent};
use super::person::{Person, SENDING, open_shop};
use super::{ETHER, is_owner};
use crate::anvil::{Multi, alloy_address};
use crate::market::{Market, order, wait};

/// How many jobs a page offers to go on with, once it has shown all that it is about to show.
fn offered(person: &Person<'_>, page: &str) -> Value {
    person.browser.run_async(&format!(
        "const done = arguments[0], page = {page}; \
         page.navigator.locks.query().then(() => setTimeout(() => done(page.document.querySelectorAll('[data-resume]').length)))"
    ))
}

/// Buys one unit up to the question of the wallet, and has the page go away before that is answered. Tells what was asked.
fn is_asked_and_goes_away(person: &Person<'_>, collection: Address) -> Value {
    person.opens(collection, "/1");
    person.clicks("[data-act=buy]");
    person.clicks("dialog form button");
    person.clicks("[data-confirm]");
    let asked = person.hesitates(SENDING);
    person.opens(collection, "/1");
    person.decides();
    asked
}

fn units(market: &Market, collection: Address, owner: Address) -> U256 {
    market
        .anvil
        .ask(collection, &Multi::balanceOfCall { owner: alloy_address(owner), tokenId: U256::from(1) })
}

/// A market with ten units of a token for sale, and a shop.
fn ten_for_sale() -> (Market, Address) {
    let market = Market::open();
    let collection = market.multiples(market.seller(), 1, 10);
    market.wait_followed(collection);
    market.list(market.seller(), collection, "ERC1155", &order("1", "10", Address::ZERO, ETHER));
    market.wait_listings(collection, "1", 1);
    open_shop(&market, &json!({}));
    (market, collection)
}

#[test]
fn what_is_under_way_is_offered_to_nobody() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let buyer = Person::new(&market, market.buyer());
    plans_to_buy(&buyer, collection);
    buyer.clicks("[data-confirm]");
    buyer.hesitates(SENDING);
    buyer.browser.run("document.querySelector('dialog').close()");
    assert_eq!(offered(&buyer, "window"), 0, "the wallet still asks");
    let other_tab = "window.__tab ??= window.open(location.href)";
    buyer.browser.run(other_tab);
    let is_there = "return Boolean(window.__tab.document.querySelector('.corner [data-connect], .corner [data-account]'))";
    wait("the other tab is there", || buyer.browser.run(is_there), |seen| *seen == json!(true));
    assert_eq!(offered(&buyer, "window.__tab"), 0, "the wallet asks in the first tab");
    // Nothing else is begun beside it.
    buyer.clicks("[data-act=buy]");
    assert!(buyer.is_told().contains("Another trade is under way"));
    buyer.decides();
    buyer.until("[data-status=done]");
    is_owner(&market, collection, 1, buyer.account);
    assert_eq!((offered(&buyer, "window.__tab"), sent(&market, buyer.account)), (json!(0), json!("0x1")));
}

#[test]
fn what_the_wallet_sent_after_the_page_went_away_is_not_sent_again() {
    let (market, collection) = ten_for_sale();
    let mut buyer = Person::new(&market, market.buyer());
    let asked = is_asked_and_goes_away(&buyer, collection);
    market.anvil.rpc(SENDING, &asked);
    // Whoever is on another account, or refuses the network, loses nothing by it.
    buyer.account = market.platform();
    buyer.clicks("[data-resume]");
    assert!(buyer.is_told().contains("This was begun with"));
    buyer.clicks("dialog [data-close]");
    buyer.account = market.buyer();
    buyer.clicks("[data-resume]");
    buyer.until("[data-status=done]");
    assert_eq!(
        (units(&market, collection, buyer.account), sent(&market, buyer.account)),
        (U256::from(1), json!("0x1"))
    );
    buyer.opens(collection, "/1");
    buyer.until("[data-account]");
    assert_eq!(offered(&buyer, "window"), 0);
}

#[test]
fn something_else_that_was_sent_meanwhile_is_not_taken_for_the_purchase() {
    let (market, collection) = ten_for_sale();
    let buyer = Person::new(&market, market.buyer());
    is_asked_and_goes_away(&buyer, collection);
    let other = json!([{ "from": buyer.account, "to": market.platform(), "value": "0x1" }]);
    market.anvil.rpc(SENDING, &other);
    buyer.clicks("[data-resume]");
    // All of it is shown once more before anything is sent.
    buyer.until("[data-confirm]");
    let warned = buyer.browser.text_of("dialog");
    assert!(warned.contains("It is not known whether your wallet has sent this"), "{warned}");
    assert_eq!(sent(&market, buyer.account), "0x1");
    buyer.confirms();
    assert_eq!(
        (units(&market, collection, buyer.account), sent(&market, buyer.account)),
        (U256::from(1), json!("0x2"))
    );
}

/// The wallet sends something else in the place of what it was asked to send.
fn replace(person: &Person<'_>, market: &Market, with: impl FnOnce(Value) -> Value) {
    let pool = market.anvil.rpc("txpool_content", &json!([]));
    let one_of = |all: &Value| all.as_object().unwrap().values().next().unwrap().clone();
    let first = one_of(&one_of(&pool["pending"]));
    market.anvil.rpc("anvil_dropTransaction", &json!([first["hash"]]));
    let faster = json!({ "from": person.account, "to": first["to"], "data": first["input"], "value": first["value"],
        "nonce": first["nonce"], "gasPrice": "0x77359400" });
    market.anvil.rpc(SENDING, &json!([with(faster)]));
    market.anvil.rpc("evm_mine", &json!([]));
}

#[test]
fn what_is_sped_up_or_cancelled_in_the_wallet_comes_to_an_end() {
    let (market, collection) = ten_for_sale();
    let buyer = Person::new(&market, market.buyer());
    let waits_for_the_chain = || {
        buyer.opens(collection, "/1");
        buyer.clicks("[data-act=buy]");
        buyer.clicks("dialog form button");
        buyer.until("[data-confirm]");
        market.anvil.rpc("evm_setAutomine", &json!([false]));
        buyer.clicks("[data-confirm]");
        buyer.until("[data-status=chain]");
    };
    waits_for_the_chain();
    replace(&buyer, &market, |faster| faster);
    buyer.until("[data-status=done]");
    assert_eq!(units(&market, collection, buyer.account), U256::from(1));
    market.anvil.rpc("evm_setAutomine", &json!([true]));

    waits_for_the_chain();
    replace(&buyer, &market, |mut nothing| {
        nothing["to"] = json!(buyer.account);
        nothing["data"] = json!("0x");
        nothing["value"] = json!("0x0");
        nothing
    });
    let told = buyer.is_told();
    assert!(told.contains("cancelled or replaced in your wallet"), "{told}");
    assert_eq!(units(&market, collection, buyer.account), U256::from(1));
    buyer.clicks("dialog [data-close]");
    assert_eq!(offered(&buyer, "window"), 0);
}

#[test]
fn what_a_basket_bought_leaves_it_even_if_the_rest_is_refused() {
    let market = Market::open();
    let collection = market.multiples(market.seller(), 2, 5);
    market.wait_followed(collection);
    for token in ["1", "2"] {
        market.list(market.seller(), collection, "ERC1155", &order(token, "5", Address::ZERO, ETHER));
        market.wait_listings(collection, token, 1);
    }
    // With a fee each order is a step of its own.
    open_shop(&market, &json!({ "feeBps": 250, "feeReceiver": market.platform() }));
    let buyer = Person::new(&market, market.buyer());
    for token in 1..=2 {
        buyer.opens(collection, &format!("/{token}"));
        buyer.clicks("[data-act=basket]");
        buyer.clicks("dialog form button");
        buyer.until(&format!("[data-basket='{token}']"));
    }
    buyer.goes("/basket");
    buyer.clicks("[data-checkout]");
    buyer.until("[data-confirm]");
    assert_eq!(buyer.browser.count("[data-step=buy]"), 2);
    buyer.clicks("[data-confirm]");
    buyer.hesitates(SENDING);
    buyer.decides();
    buyer.hesitates(SENDING);
    buyer.refuses.set(true);
    buyer.decides();
    assert!(buyer.is_told().contains("You said no"));
    buyer.clicks("dialog [data-close]");
    buyer.until("[data-basket='1']");
    assert!(buyer.browser.text_of("#basket").contains("#2"));
    assert_eq!(sent(&market, buyer.account), "0x1");

    // A reload in the middle changes nothing about it.
    buyer.refuses.set(false);
    buyer.clicks("[data-checkout]");
    buyer.until("[data-confirm]");
    market.anvil.rpc("evm_setAutomine", &json!([false]));
    buyer.clicks("[data-confirm]");
    buyer.until("[data-status=chain]");
    buyer.goes("/basket");
    market.anvil.rpc("evm_setAutomine", &json!([true]));
    market.anvil.rpc("evm_mine", &json!([]));
    buyer.clicks("[data-resume]");
    buyer.until("[data-status=done]");
    buyer.until("[data-basket='0']");
    assert_eq!(sent(&market, buyer.account), "0x2");
}
