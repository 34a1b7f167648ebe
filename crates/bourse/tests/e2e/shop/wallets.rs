//! Wallets as they are: several of them, on another network or account than before, without enough money, and signing orders.

use bourse_wire::Address;
use serde_json::json;

use super::meanwhile::{one_for_sale, plans_to_buy, sent};
use super::person::{BEFORE_SENDING, Person, SENDING, open_shop_with};
use super::{ETHER, is_owner, list};
use crate::venues::{Stage, seaport};

const SIGNING: &str = "eth_signTypedData_v4";

#[test]
fn nothing_is_sent_on_another_network() {
    let (market, collection) = one_for_sale(|market| market.currency, "5000000");
    let buyer = Person::new(&market, market.buyer());
    market.fund(buyer.account, 10_000_000);
    plans_to_buy(&buyer, collection);
    buyer.clicks("[data-confirm]");
    buyer.hesitates(SENDING);
    buyer.decides();
    // What allows the money to be taken is sent, and then the wallet goes elsewhere.
    buyer.chain.set(1);
    buyer.switches.set(false);
    buyer.until("[data-status=away]");
    assert_eq!(sent(&market, buyer.account), "0x2", "the money of the test, and the approval");
    buyer.chain.set(31_337);
    buyer.hesitates(BEFORE_SENDING);
    buyer.chain.set(1);
    buyer.decides();
    let told = buyer.is_told();
    assert!(told.contains("another network"), "{told}");
    assert_eq!(sent(&market, buyer.account), "0x2");
    is_owner(&market, collection, 1, market.seller());
}

#[test]
fn another_account_than_the_one_that_said_yes_signs_nothing() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let mut buyer = Person::new(&market, market.buyer());
    plans_to_buy(&buyer, collection);
    buyer.clicks("[data-confirm]");
    buyer.hesitates(BEFORE_SENDING);
    buyer.account = market.platform();
    buyer.decides();
    let told = buyer.is_told();
    assert!(told.contains("This was begun with"), "{told}");
    assert_eq!((sent(&market, market.buyer()), sent(&market, buyer.account)), (json!("0x0"), json!("0x0")));
    // The next purchase is theirs.
    plans_to_buy(&buyer, collection);
    buyer.confirms();
    is_owner(&market, collection, 1, buyer.account);
}

#[test]
fn one_of_two_wallets_is_chosen_and_one_that_announces_nothing_is_found() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let mut buyer = Person::new(&market, market.buyer());
    buyer.wallets.set(&["Left", "Right"]);
    buyer.opens(collection, "/1");
    buyer.clicks("[data-connect]");
    buyer.until("dialog .choices");
    assert_eq!(buyer.browser.count("dialog .choices button"), 2);
    buyer.clicks("dialog .choices button:nth-child(2)");
    buyer.until("[data-account]");
    assert_eq!(*buyer.asked.borrow(), "Right");
    // It is asked for nothing but its account when it is found again.
    buyer.opens(collection, "/1");
    buyer.until("[data-account]");
    assert_eq!(*buyer.asked.borrow(), "Right");

    buyer.becomes(market.platform());
    buyer.wallets.set(&[]);
    plans_to_buy(&buyer, collection);
    buyer.confirms();
    assert_eq!(*buyer.asked.borrow(), "injected");
    is_owner(&market, collection, 1, market.platform());
}

#[test]
fn who_lacks_the_networks_fee_is_told_and_goes_on_once_there_is_enough() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let buyer = Person::new(&market, market.buyer());
    let has = |amount: &str| market.anvil.rpc("anvil_setBalance", &json!([buyer.account, amount]));
    plans_to_buy(&buyer, collection);
    buyer.clicks("[data-confirm]");
    buyer.hesitates(SENDING);
    has("0x1");
    buyer.decides();
    let told = buyer.is_told();
    assert!(told.contains("too little money"), "{told}");
    assert_eq!(sent(&market, buyer.account), "0x0");

    // Only a no says for sure that nothing was sent, so that it is asked once more.
    has("0x56bc75e2d63100000");
    buyer.clicks("dialog [data-close]");
    buyer.clicks("[data-resume]");
    buyer.until("[data-confirm]");
    let warned = buyer.browser.text_of("dialog");
    assert!(warned.contains("what is sent twice is paid twice"), "{warned}");
    buyer.confirms();
    is_owner(&market, collection, 1, buyer.account);
    assert_eq!(sent(&market, buyer.account), "0x1");
}

#[test]
fn an_order_is_signed_or_not() {
    let stage = Stage::open(|anvil| seaport::deploy(anvil).into_iter().take(1).collect());
    let market = &stage.market;
    let collection = market.singles(market.seller());
    market.wait_followed(collection);
    let elsewhere = json!({ "marketCollections": [{ "chainId": 31_337, "itemsAddress": collection,
        "destinationMarketplace": stage.venues[0].word }] });
    open_shop_with(market, &json!({}), elsewhere);
    let seller = Person::new(market, market.seller());
    seller.opens(collection, "/1");
    seller.clicks("[data-act=list]");
    seller.types("price", "1.5");
    seller.clicks("dialog form button");
    seller.until("[data-confirm]");
    let plan = seller.browser.text_of("dialog");
    assert!(plan.contains("You get") && plan.contains("all that you have of it"), "{plan}");
    seller.clicks("[data-confirm]");
    seller.hesitates(SIGNING);
    seller.refuses.set(true);
    seller.decides();
    let told = seller.is_told();
    assert!(told.contains("You said no"), "{told}");
    seller.refuses.set(false);
    list(&seller, collection, "1.5");
    let listing = market.wait_listings(collection, "1", 1).remove(0);
    assert_eq!(
        (&listing["marketplace"], &listing["priceAmount"]),
        (&json!("opensea"), &json!("1500000000000000000"))
    );
}
