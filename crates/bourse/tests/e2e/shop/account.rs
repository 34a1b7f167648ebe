//! Trading from the page of an account: what it has is sold there, offers are accepted, and its own orders are taken back.

use std::time::Instant;

use bourse_wire::Address;
use serde_json::json;

use super::person::{Person, open_shop};
use super::{ETHER, is_owner};
use crate::market::{Market, order, wait};

/// A shop with one token, which the seller has.
fn open() -> (Market, Address) {
    let market = Market::open();
    let collection = market.singles(market.seller());
    market.wait_followed(collection);
    open_shop(&market, &json!({}));
    (market, collection)
}

/// Opens the page of an account, with a wallet that is connected.
fn opens(person: &Person<'_>, account: Address) {
    person.goes(&format!("/a/{account}"));
    if person.browser.run("return Object.keys(localStorage).some((key) => key.endsWith(':wallet'))")
        == json!(true)
    {
        person.until("[data-account]");
    } else {
        person.connects();
    }
}

/// The lists of the page, as they come.
const HAS: &str = "main section:nth-of-type(1)";
const SELLS: &str = "main section:nth-of-type(2)";
const OFFERED: &str = "main section:nth-of-type(3)";
const WANTS: &str = "main section:nth-of-type(4)";

/// Says yes, and has the page shown anew once that is done: it is as the chain is right then. How long that took is printed only.
fn confirms(person: &Person<'_>, what: &str) {
    person.clicks("[data-confirm]");
    let started = Instant::now();
    person.until("[data-status=done]");
    person.browser.run("window.__isOld = true");
    person.clicks("[data-reload]");
    let is_new = || person.browser.run("return document.readyState === 'complete' && !window.__isOld");
    wait("the page is shown anew", is_new, |is_new| *is_new == json!(true));
    println!("{what}: {:?}", started.elapsed());
}

#[test]
fn what_it_has_is_put_up_for_sale_and_taken_back() {
    let (market, collection) = open();
    let seller = Person::new(&market, market.seller());
    opens(&seller, seller.account);
    seller.clicks(&format!("{HAS} [data-act=list]"));
    seller.types("price", "1.5");
    seller.clicks("dialog form button");
    seller.until("[data-confirm]");
    confirms(&seller, "listed");
    assert!(seller.browser.text_of(SELLS).contains("1.5 ETH"), "{}", seller.browser.text());
    assert!(seller.browser.text_of(HAS).contains("1.5 ETH"), "{}", seller.browser.text());
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    assert_eq!(
        (&listing["createdBy"], &listing["priceAmount"]),
        (&json!(market.seller()), &json!("1500000000000000000"))
    );

    // Nobody else can do that there: they can buy.
    let visitor = seller.beside(market.platform());
    opens(&visitor, market.seller());
    visitor.until(&format!("{SELLS} [data-act=buy]"));
    let theirs = "return [...document.querySelectorAll('main [data-act]')].filter((one) => one.getClientRects().length) \
        .map((one) => one.dataset.act).filter((act) => act !== 'buy' && act !== 'basket')";
    assert_eq!(visitor.browser.run(theirs), json!([]));

    opens(&seller, seller.account);
    assert_eq!(
        seller.browser.run(&theirs.replace("act !== 'buy' && act !== 'basket'", "act === 'buy'")),
        json!([])
    );
    seller.clicks(&format!("{SELLS} [data-act=cancel]"));
    seller.until("[data-confirm]");
    confirms(&seller, "taken back");
    assert!(seller.browser.text_of(SELLS).contains("Nothing here."), "{}", seller.browser.text());
    assert!(seller.browser.text_of(HAS).contains("Not for sale"), "{}", seller.browser.text());
    assert_eq!(market.listings(collection, "1"), Vec::<serde_json::Value>::new());
}

#[test]
fn an_offer_is_accepted_and_another_taken_back() {
    let (market, collection) = open();
    let (ana, ben) = (market.buyer(), market.platform());
    market.list(market.seller(), collection, "ERC721", &order("1", "1", Address::ZERO, ETHER));
    market.wait_listings(collection, "1", 1);
    for (account, price, count) in [(ana, "2000000", 1), (ben, "3000000", 2)] {
        market.fund(account, 10_000_000);
        market.offer(account, collection, "ERC721", &order("1", "1", market.currency, price));
        market.wait_offers(collection, "1", count);
    }
    let mut person = Person::new(&market, ben);
    opens(&person, ben);
    let wanted = person.browser.text_of(WANTS);
    assert!(wanted.contains("3 COIN") && !wanted.contains("Not for sale"), "it is for sale: {wanted}");
    person.clicks(&format!("{WANTS} [data-act=cancel]"));
    person.until("[data-confirm]");
    confirms(&person, "offer taken back");
    assert!(person.browser.text_of(WANTS).contains("Nothing here."), "{}", person.browser.text());
    let left = market.wait_offers(collection, "1", 1);
    assert_eq!(left[0]["createdBy"], json!(ana));

    person.becomes(market.seller());
    opens(&person, market.seller());
    person.clicks(&format!("{OFFERED} [data-act=accept]"));
    person.until("[data-confirm]");
    let plan = person.browser.text_of("dialog");
    assert!(plan.contains("Price\n2 COIN") && plan.contains("You get"), "{plan}");
    confirms(&person, "offer accepted");
    is_owner(&market, collection, 1, ana);
    for list in [HAS, OFFERED] {
        assert!(person.browser.text_of(list).contains("Nothing here."), "{}", person.browser.text());
    }
    market.wait_offers(collection, "1", 0);
    opens(&person, ana);
    assert_eq!(person.browser.count(&format!("{HAS} .token")), 1);
}
