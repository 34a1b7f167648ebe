//! What is shown before anything is signed: all that is paid and allowed, and nothing that others could make look like it.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::meanwhile::{one_for_sale, sent};
use super::person::{Person, open_shop};
use super::{ETHER, is_owner};
use crate::anvil::{Multi, alloy_address};
use crate::market::{Market, order, wait};

/// What is written on a plan.
fn plan(person: &Person<'_>) -> String {
    person.until("[data-confirm]");
    person.browser.text_of("dialog")
}

#[track_caller]
fn says(text: &str, all: &[&str]) {
    for part in all {
        assert!(text.contains(part), "no “{part}” in {text}");
    }
}

#[test]
fn plans_say_what_is_paid_what_comes_of_it_and_who_may_take_what() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.multiples(seller, 1, 10);
    market.wait_followed(collection);
    market.fund(buyer, 10_000_000);
    open_shop(&market, &json!({ "feeBps": 250, "feeReceiver": market.platform() }));
    let mut person = Person::new(&market, buyer);
    let proposes = |person: &Person<'_>, act: &str, price: &str| {
        person.opens(collection, "/1");
        person.clicks(&format!("[data-act={act}]"));
        person.types("quantity", "4");
        person.types("price", price);
        person.clicks("dialog form button");
    };
    // Someone who means a thousand is not made to offer one.
    proposes(&person, "offer", "1,500");
    assert!(person.is_told().contains("A comma"));
    proposes(&person, "offer", "1");
    let offer = plan(&person);
    says(&offer, &["Token\nNo. 1 #1 · ", "Units\n4", "Price of one\n1 COIN", "Price\n4 COIN"]);
    says(
        &offer,
        &[
            "Share of the artist\n0.2 COIN",
            "You pay at most\n4.2 COIN",
            "Let the marketplace take the money: up to 4.2 COIN → ",
        ],
    );
    let spender = "return document.querySelector('[data-approval=money] [title]').title";
    assert_eq!(person.browser.run(spender), json!(market.contract));
    person.confirms();
    market.wait_offers(collection, "1", 1);

    person.opens(collection, "/1");
    person.clicks("#offers [data-act=cancel]");
    let cancel = plan(&person);
    says(&cancel, &["Take back: #1", "Units\n4", "Price\n4 COIN"]);
    assert!(!cancel.contains("Buyer") && !cancel.contains("Price\n0 "), "{cancel}");

    person.becomes(seller);
    person.opens(collection, "/1");
    person.clicks("#offers [data-act=accept]");
    person.types("quantity", "2");
    person.clicks("dialog form button");
    // The artist's share comes on top of an offer, and the shop's out of it.
    says(
        &plan(&person),
        &[
            "Units\n2",
            "Price\n2 COIN",
            "Fee of this shop\n2.5 % → ",
            "You get\n1.95 COIN",
            "all that you have of it",
        ],
    );
    let before = market.anvil.balance(market.currency, seller);
    person.confirms();
    assert_eq!(market.anvil.balance(market.currency, seller) - before, U256::from(1_950_000));

    proposes(&person, "list", "1.5");
    says(&plan(&person), &["Units\n4", "Price\n6 ETH", "Share of the artist\n0.3 ETH", "You get\n5.7 ETH"]);
}

/// Has the service answer something else than it does, once, when it is asked for steps.
fn answers_once(person: &Person<'_>, steps: &Value) {
    let script = "const real = window.fetch, steps = STEPS; let isOver = false; window.fetch = (address, options) => { \
        if (String(address).endsWith('/Execute')) return Promise.resolve(new Response('{\"orderId\":\"\"}')); \
        if (isOver || !String(address).endsWith('/GenerateBuyTransaction')) return real(address, options); \
        isOver = true; return Promise.resolve(new Response(JSON.stringify({ steps }))); };";
    person.browser.run(&script.replace("STEPS", &steps.to_string()));
}

#[test]
fn steps_after_a_signature_are_shown_and_steps_that_nobody_expects_are_not_handed_out() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let buyer = Person::new(&market, market.buyer());
    let everything = format!("0xa22cb465{:0>64}{:0>64}", &market.platform().to_string()[2..], 1);
    let step = |id: &str, to: Address, data: &str, value: &str| json!({ "id": id, "to": to, "data": data, "value": value, "price": ETHER });
    for unexpected in [
        step("buy", collection, &everything, "0"),
        step("tokenApproval", collection, &everything, "0"),
        step("tokenApproval", market.contract, "0x12345678", "0"),
        // transferFrom
        step("buy", collection, "0x23b872dd", "0"),
        step("buy", market.contract, "0x12345678", "1000000000000000001"),
    ] {
        buyer.opens(collection, "/1");
        answers_once(&buyer, &json!([unexpected]));
        buyer.clicks("[data-act=buy]");
        let told = buyer.is_told();
        assert!(told.contains("not what such a trade takes"), "{unexpected}: {told}");
    }

    let consent = json!({ "id": "signEIP191", "data": "I agree", "to": Address::ZERO, "value": "0", "price": "0",
        "post": { "endpoint": "/rpc/Marketplace/Execute", "method": "POST", "body": {} }, "executeType": "order" });
    buyer.opens(collection, "/1");
    answers_once(&buyer, &json!([consent]));
    buyer.clicks("[data-act=buy]");
    says(&plan(&buyer), &["Sign a text", "I agree"]);
    buyer.clicks("[data-confirm]");
    buyer.until("[data-step=buy]");
    says(&plan(&buyer), &["Altogether\n1 ETH"]);
    assert_eq!(sent(&market, buyer.account), "0x0", "nobody said yes to that yet");
    buyer.confirms();
    is_owner(&market, collection, 1, buyer.account);
}

/// Says what a token is called.
fn call_it(market: &Market, collection: Address, name: &str) {
    let token = json!({ "chainId": 31337, "contractAddress": collection, "tokenId": "1", "name": name, "description": name });
    let put = market.server().call("Ingest/PutTokens", market.secret(), &json!({ "tokens": [token] })).ok();
    assert_eq!(put["rejected"], json!([]));
}

#[test]
fn what_others_call_a_token_stays_text() {
    let market = Market::open();
    let collection = market.multiples(market.seller(), 1, 5);
    market.wait_followed(collection);
    let name = "100 × Gold <img src=x onerror=\"window.__hit = 1\"> \u{202e}HTE 1\u{2069}";
    call_it(&market, collection, name);
    market.list(market.seller(), collection, "ERC1155", &order("1", "5", Address::ZERO, ETHER));
    market.wait_listings(collection, "1", 1);
    open_shop(&market, &json!({}));
    let buyer = Person::new(&market, market.buyer());
    buyer.opens(collection, "/1");
    buyer.browser.wait_for("100 × Gold <img src=x");
    buyer.clicks("[data-act=buy]");
    buyer.clicks("dialog form button");
    let text = plan(&buyer);
    // How many there are is told apart from what it is called, and nothing turns the writing.
    says(&text, &["<img src=x onerror=", " #1 · 0x", "Price\n1 ETH"]);
    assert!(!text.contains(['\u{202e}', '\u{2069}']), "{text:?}");
    let names = "return [...document.querySelectorAll('dialog bdi')].every((one) => one.textContent.startsWith('100 × Gold'))";
    assert_eq!(buyer.browser.run(names), json!(true));
    buyer.confirms();
    let hit =
        "return [window.__hit ?? null, document.querySelectorAll('main img[src=x], dialog img').length]";
    assert_eq!(buyer.browser.run(hit), json!([null, 0]));
    let held = Multi::balanceOfCall { owner: alloy_address(buyer.account), tokenId: U256::from(1) };
    wait("it is theirs", || market.anvil.ask(collection, &held), |held| *held == U256::from(1));
}
