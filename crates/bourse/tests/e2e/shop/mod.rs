//! The shop in a real browser, with a wallet in it that signs with the keys of a chain: page, chain and service agree.

mod account;
#[path = "../../../../console/tests/browser/browser.rs"]
#[expect(dead_code, reason = "the console's tests need more of it")]
mod browser;
mod demonstration;
mod every_page;
mod live;
#[path = "../../../../console/tests/browser/looks.rs"]
mod looks;
mod meanwhile;
mod person;
mod pictures;
mod prices;
mod resumed;
mod sale;
mod shown;
mod sorted;
mod wallets;
mod without_scripts;

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use self::person::{Person, open_shop};
use crate::anvil::{Multi, alloy_address, mintCall, ownerOfCall};
use crate::market::{Market, order, wait};

/// One whole coin of the chain, as people and as contracts write it.
const ETHER: &str = "1000000000000000000";

fn is_owner(market: &Market, collection: Address, token: u64, account: Address) {
    let owner = market.anvil.ask(collection, &ownerOfCall { tokenId: U256::from(token) });
    assert_eq!(owner, alloy_address(account));
}

/// Lists a token for a price by the pages of the shop.
fn list(person: &Person<'_>, collection: Address, price: &str) {
    person.opens(collection, "/1");
    person.clicks("[data-act=list]");
    person.types("price", price);
    person.clicks("dialog form button");
    person.confirms();
}

#[test]
fn a_token_is_listed_and_bought() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    open_shop(&market, &json!({ "feeBps": 250, "feeReceiver": market.platform() }));
    let mut person = Person::new(&market, seller);
    list(&person, collection, "1.5");
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    assert_eq!(
        (&listing["createdBy"], &listing["priceAmount"]),
        (&json!(seller), &json!("1500000000000000000"))
    );

    let before = market.anvil.native_balance(market.platform());
    person.becomes(buyer);
    person.opens(collection, "");
    person.clicks("[data-act=buy]");
    person.until("[data-confirm]");
    let plan = person.browser.text_of("dialog");
    assert!(plan.contains("1.5375 ETH") && plan.contains("2.5 %"), "{plan}");
    person.confirms();
    is_owner(&market, collection, 1, buyer);
    let fee = market.anvil.native_balance(market.platform()) - before;
    assert_eq!(fee, U256::from(37_500_000_000_000_000_u64));
    person.clicks("[data-reload]");
    person.browser.wait_for("Not for sale");
}

#[test]
fn an_offer_is_made_accepted_and_another_taken_back() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.fund(buyer, 10_000_000);
    open_shop(&market, &json!({}));
    let mut person = Person::new(&market, buyer);
    let offer = |person: &Person<'_>, price: &str| {
        person.opens(collection, "/1");
        person.clicks("[data-act=offer]");
        person.types("price", price);
        person.clicks("dialog form button");
        person.confirms();
    };
    offer(&person, "2");
    market.wait_offers(collection, "1", 1);
    offer(&person, "3");
    market.wait_offers(collection, "1", 2);
    // The dearest comes first; it is taken back.
    person.opens(collection, "/1");
    person.connects();
    person.clicks("#offers [data-act=cancel]");
    person.confirms();
    let left = market.wait_offers(collection, "1", 1);
    assert_eq!(left[0]["priceAmount"], "2000000");

    person.becomes(seller);
    person.opens(collection, "/1");
    person.clicks("#offers [data-act=accept]");
    person.confirms();
    is_owner(&market, collection, 1, buyer);
}

#[test]
fn a_basket_of_three_and_a_part_of_a_stack() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.multiples(seller, 3, 10);
    market.wait_followed(collection);
    for token in ["1", "2", "3"] {
        market.list(seller, collection, "ERC1155", &order(token, "10", Address::ZERO, ETHER));
        market.wait_listings(collection, token, 1);
    }
    open_shop(&market, &json!({}));
    let person = Person::new(&market, buyer);
    for token in 1..=3 {
        person.opens(collection, &format!("/{token}"));
        person.clicks("[data-act=basket]");
        person.types("quantity", &token.to_string());
        person.clicks("dialog form button");
        person.until(&format!("[data-basket='{token}']"));
    }
    person.goes("/basket");
    person.until("[data-total]");
    assert!(person.browser.text_of("[data-total]").contains("6 ETH"));
    person.clicks("[data-checkout]");
    person.confirms();
    for token in 1_u64..=3 {
        let held = Multi::balanceOfCall { owner: alloy_address(buyer), tokenId: U256::from(token) };
        assert_eq!(market.anvil.ask(collection, &held), U256::from(token));
    }
    let remaining = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("7");
    wait("seven remain", || market.listings(collection, "3"), remaining);
    person.clicks("[data-reload]");
    person.until("[data-basket='0']");
}

#[test]
fn a_reload_in_the_middle_goes_on_where_it_was() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, ETHER));
    market.wait_listings(collection, "1", 1);
    open_shop(&market, &json!({}));
    let person = Person::new(&market, buyer);
    person.opens(collection, "/1");
    person.clicks("[data-act=buy]");
    person.until("[data-confirm]");
    market.anvil.rpc("evm_setAutomine", &json!([false]));
    person.clicks("[data-confirm]");
    person.until("[data-status=chain]");
    person.opens(collection, "/1");
    person.until("[data-resume]");
    market.anvil.rpc("evm_setAutomine", &json!([true]));
    market.anvil.rpc("evm_mine", &json!([]));
    person.clicks("[data-resume]");
    person.until("[data-status=done]");
    is_owner(&market, collection, 1, buyer);
    let sent = market.anvil.rpc("eth_getTransactionCount", &json!([buyer, "latest"]));
    assert_eq!(sent, "0x1", "it was bought once");
}

#[test]
fn what_goes_wrong_is_told_and_moves_nothing() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.wait_followed(collection);
    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, ETHER));
    market.wait_listings(collection, "1", 1);
    open_shop(&market, &json!({}));
    let person = Person::new(&market, buyer);
    let buys = || {
        person.opens(collection, "/1");
        person.clicks("[data-act=buy]");
    };
    buys();
    person.refuses.set(true);
    person.clicks("[data-confirm]");
    assert!(person.is_told().contains("You said no"));
    person.refuses.set(false);
    person.chain.set(1);
    person.switches.set(false);
    buys();
    assert!(person.is_told().contains("another network"));
    person.switches.set(true);
    buys();
    person.until("[data-confirm]");
    assert_eq!(person.chain.get(), 31_337, "the wallet was switched");

    // Somebody else is faster than this page.
    person.opens(collection, "/1");
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    let orders = json!([{ "orderId": listing["orderId"], "quantity": "1" }]);
    let steps = market.steps(
        "GenerateBuyTransaction",
        &market.purchase(market.artist(), collection, &orders, &Value::Null),
    );
    market.anvil.perform(market.artist(), &steps);
    market.wait_listings(collection, "1", 0);
    person.clicks("[data-act=buy]");
    assert!(person.is_told().contains("Sold to someone else meanwhile"));
    is_owner(&market, collection, 1, market.artist());

    // No wallet at all.
    let path = format!("/c/31337/{collection}/1");
    let url = format!("http://127.0.0.1:{}/shop/{}{path}", market.server().port, market.project.id);
    person.browser.run("localStorage.clear()");
    person.browser.go(&url);
    person.clicks("[data-connect]");
    assert!(person.is_told().contains("no wallet in this browser"));
}

#[test]
fn who_has_too_little_is_told_before_anything_is_sent() {
    let market = Market::open();
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    market.anvil.send(seller, collection, &mintCall { to: alloy_address(seller), tokenId: U256::from(2) });
    market.wait_followed(collection);
    market.list(seller, collection, "ERC721", &order("1", "1", market.currency, "5000000"));
    market.wait_listings(collection, "1", 1);
    open_shop(&market, &json!({}));
    let person = Person::new(&market, buyer);
    person.opens(collection, "/1");
    person.clicks("[data-act=buy]");
    let told = person.is_told();
    assert!(told.contains("That is not possible"), "{told}");
    let sent = market.anvil.rpc("eth_getTransactionCount", &json!([buyer, "latest"]));
    assert_eq!(sent, "0x0");
}
