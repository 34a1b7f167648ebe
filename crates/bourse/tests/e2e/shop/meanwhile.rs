//! What happens while somebody makes up their mind: others are faster, prices change, and the chain takes back what it said.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::person::{BEFORE_SENDING, Person, SENDING, open_shop};
use super::{ETHER, is_owner};
use crate::http::Credential;
use crate::market::{Market, order, order_data, wait};
use crate::market_killed::counted;
use crate::reorganisation::settle;

const TWO_ETHER: &str = "2000000000000000000";

/// A market whose first token is for sale, with a shop.
pub(super) fn one_for_sale(currency: impl FnOnce(&Market) -> Address, price: &str) -> (Market, Address) {
    let market = Market::open();
    let collection = market.singles(market.seller());
    market.wait_followed(collection);
    let currency = currency(&market);
    market.list(market.seller(), collection, "ERC721", &order("1", "1", currency, price));
    market.wait_listings(collection, "1", 1);
    open_shop(&market, &json!({}));
    (market, collection)
}

/// Opens the page of a token and goes up to the plan of buying it.
pub(super) fn plans_to_buy(person: &Person<'_>, collection: Address) {
    person.opens(collection, "/1");
    person.clicks("[data-act=buy]");
    person.until("[data-confirm]");
}

/// How many transactions an account has sent.
pub(super) fn sent(market: &Market, account: Address) -> Value {
    market.anvil.rpc("eth_getTransactionCount", &json!([account, "latest"]))
}

#[test]
fn whoever_presses_later_is_told_that_it_is_sold() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let ana = Person::new(&market, market.buyer());
    let (ben, eve) = (ana.beside(market.platform()), ana.beside(market.artist()));
    plans_to_buy(&ben, collection);
    eve.opens(collection, "/1");
    eve.clicks("[data-act=basket]");
    eve.goes("/basket");
    eve.until("[data-checkout]");
    plans_to_buy(&ana, collection);
    ana.confirms();

    ben.clicks("[data-confirm]");
    let told = ben.is_told();
    assert!(told.contains("Sold to someone else meanwhile"), "{told}");
    eve.clicks("[data-checkout]");
    let told = eve.is_told();
    assert!(told.contains("Sold to someone else meanwhile"), "{told}");
    is_owner(&market, collection, 1, ana.account);
    assert_eq!((sent(&market, ben.account), sent(&market, eve.account)), (json!("0x0"), json!("0x0")));
}

#[test]
fn what_is_sold_between_pressing_and_signing_is_not_signed() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let ana = Person::new(&market, market.buyer());
    let ben = ana.beside(market.platform());
    plans_to_buy(&ben, collection);
    plans_to_buy(&ana, collection);
    ben.clicks("[data-confirm]");
    ben.hesitates(BEFORE_SENDING);
    ana.confirms();
    ben.decides();
    let told = ben.is_told();
    assert!(told.contains("Sold to someone else meanwhile"), "{told}");
    is_owner(&market, collection, 1, ana.account);
    assert_eq!(sent(&market, ben.account), "0x0");
    // Nothing is left to go on with.
    ben.opens(collection, "/1");
    ben.until("[data-connect], [data-account]");
    assert_eq!(ben.browser.count("[data-resume]"), 0);
}

#[test]
fn what_is_sold_between_two_steps_is_not_paid() {
    let (market, collection) = one_for_sale(|market| market.currency, "5000000");
    let ana = Person::new(&market, market.buyer());
    let ben = ana.beside(market.platform());
    for person in [&ana, &ben] {
        market.fund(person.account, 10_000_000);
        plans_to_buy(person, collection);
    }
    let before = sent(&market, ben.account);
    ben.clicks("[data-confirm]");
    // The permission for the marketplace to take the money.
    ben.hesitates(SENDING);
    ana.confirms();
    ben.decides();
    let told = ben.is_told();
    assert!(told.contains("Sold to someone else meanwhile"), "{told}");
    is_owner(&market, collection, 1, ana.account);
    assert_eq!((before, sent(&market, ben.account)), (json!("0x1"), json!("0x2")), "that alone was sent");
    assert_eq!(market.anvil.balance(market.currency, ben.account), U256::from(10_000_000));
}

#[test]
fn another_price_is_told_and_not_paid_unasked() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let (seller, buyer) = (market.seller(), Person::new(&market, market.buyer()));
    plans_to_buy(&buyer, collection);
    let first = market.wait_listings(collection, "1", 1).remove(0);
    let cancel = json!({ "collectionAddress": collection, "maker": seller,
        "marketplace": first["marketplace"], "orderId": first["orderId"] });
    market.anvil.perform(seller, &market.steps("GenerateCancelTransaction", &cancel));
    market.wait_listings(collection, "1", 0);
    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, TWO_ETHER));
    market.wait_listings(collection, "1", 1);
    buyer.clicks("[data-confirm]");
    let told = buyer.is_told();
    assert!(told.contains("The price is now 2 ETH"), "{told}");
    assert_eq!(sent(&market, buyer.account), "0x0");

    // A second listing changes nothing of the first, which was said yes to.
    plans_to_buy(&buyer, collection);
    market.list(seller, collection, "ERC721", &order("1", "1", Address::ZERO, "3000000000000000000"));
    market.wait_listings(collection, "1", 2);
    let before = market.anvil.native_balance(seller);
    buyer.confirms();
    is_owner(&market, collection, 1, buyer.account);
    let paid = market.anvil.native_balance(seller) - before;
    assert_eq!(paid, U256::from(1_900_000_000_000_000_000_u64), "two coins without the royalty");
}

#[test]
fn a_basket_is_told_apart_from_what_others_took_of_it() {
    let market = Market::open();
    let collection = market.multiples(market.seller(), 3, 5);
    market.wait_followed(collection);
    for token in ["1", "2", "3"] {
        market.list(market.seller(), collection, "ERC1155", &order(token, "5", market.currency, "1000000"));
        market.wait_listings(collection, token, 1);
    }
    open_shop(&market, &json!({ "feeBps": 250, "feeReceiver": market.platform() }));
    let buyer = Person::new(&market, market.buyer());
    market.fund(buyer.account, 100_000_000);
    for token in 1..=2 {
        buyer.opens(collection, &format!("/{token}"));
        buyer.clicks("[data-act=basket]");
        buyer.types("quantity", "5");
        buyer.clicks("dialog form button");
        buyer.until(&format!("[data-basket='{token}']"));
    }
    let checks_out = || {
        buyer.goes("/basket");
        buyer.clicks("[data-checkout]");
        buyer.until("[data-confirm]");
    };
    // Somebody takes some of the second while the plan is shown.
    checks_out();
    let second = market.wait_listings(collection, "2", 1).remove(0);
    let some = market.purchase(market.artist(), collection, &order_data(&second, "2"), &Value::Null);
    market.fund(market.artist(), 2_000_000);
    market.anvil.perform(market.artist(), &market.steps("GenerateBuyTransaction", &some));
    wait("three remain", || market.listings(collection, "2"), |all| all[0]["quantityRemaining"] == "3");
    buyer.clicks("[data-confirm]");
    let told = buyer.is_told();
    assert!(told.starts_with("#2: Only 3 are left"), "{told}");

    // What the basket's own first step takes is nobody else's: with a fee, two orders are two steps.
    buyer.goes("/basket");
    buyer.clicks("#basket li:nth-child(2) button");
    buyer.opens(collection, "/3");
    buyer.clicks("[data-act=basket]");
    buyer.types("quantity", "2");
    buyer.clicks("dialog form button");
    buyer.until("[data-basket='2']");
    checks_out();
    assert_eq!(buyer.browser.count("[data-step=buy]"), 2);
    buyer.clicks("[data-confirm]");
    for has_bought in [false, false, true] {
        buyer.hesitates(BEFORE_SENDING);
        market.wait_listings(collection, "1", usize::from(!has_bought));
        buyer.decides();
    }
    buyer.until("[data-status=done]");
}

#[test]
fn after_blocks_are_replaced_page_chain_and_service_agree_again() {
    let (market, collection) = one_for_sale(|_| Address::ZERO, ETHER);
    let (seller, buyer) = (market.seller(), Person::new(&market, market.buyer()));
    plans_to_buy(&buyer, collection);
    buyer.confirms();
    is_agreed(&market, &buyer, (collection, buyer.account, true));
    // Listed, sold, and bought.
    let charted = || counted(market.server(), &market.project);
    wait("the charts have it", charted, |events| *events == 3);

    // The purchase is in another block than before.
    market.anvil.mine(1);
    settle(&market);
    market.anvil.delay(2);
    settle(&market);
    is_agreed(&market, &buyer, (collection, buyer.account, true));
    assert_eq!(charted(), 3, "what happens once more counts once");

    // There is no purchase.
    market.anvil.reorganise(1);
    settle(&market);
    is_agreed(&market, &buyer, (collection, seller, false));
    plans_to_buy(&buyer, collection);
    buyer.confirms();
    is_agreed(&market, &buyer, (collection, buyer.account, true));
    wait("the charts have it again", charted, |events| *events > 3);
}

/// Page, service and chain tell the same of the first token: whose it is, and whether it was sold for its price.
fn is_agreed(market: &Market, person: &Person<'_>, (collection, owner, is_sold): (Address, Address, bool)) {
    is_owner(market, collection, 1, owner);
    market.wait_listings(collection, "1", usize::from(!is_sold));
    let key = Credential::Key(&market.project.key);
    let ask = |operation: &str, body: &Value| market.server().call(operation, key, body).ok();
    let of_token = json!({ "chainId": "31337", "contractAddress": collection, "tokenId": "1" });
    let balances = json!({ "chainId": "31337",
        "filter": { "contractAddresses": [collection], "accountAddresses": [market.seller(), market.buyer()] },
        "omitMetadata": true });
    let holders = || ask("Indexer/GetTokenBalancesByContract", &balances)["balances"].clone();
    let held =
        |held: &Value| held.as_array().unwrap().len() == 1 && held[0]["accountAddress"] == json!(owner);
    wait("the balances are the chain's", holders, held);
    let sales = || {
        let answer = ask("Marketplace/ListCollectibleActivities", &of_token);
        let all = answer["activities"].as_array().unwrap().clone();
        all.iter().filter(|one| one["action"] == "sale").count()
    };
    wait("the sales are the chain's", sales, |sales| *sales == usize::from(is_sold));
    let of_collection = json!({ "chainId": "31337", "contractAddress": collection });
    let count = || {
        ask(
            "Marketplace/GetCountOfAllOrders",
            &json!({ "chainId": "31337",
        "contractAddress": collection, "side": "listing" }),
        )["count"]
            .clone()
    };
    wait("the listings are counted", count, |count| *count == json!(u64::from(!is_sold)));
    let floor = market.server().call("Marketplace/GetFloorOrder", key, &of_collection);
    assert_eq!(floor.status == 200, !is_sold, "{floor:?}");

    person.opens(collection, "/1");
    person.browser.wait_for(if is_sold { "Nobody sells it right now." } else { "Seller" });
    let owners = format!("main .owners a[href$='/a/{owner}']");
    assert_eq!((person.browser.count(&owners), person.browser.count("main .owners a")), (1, 1), "{owner}");
    let page = person.browser.text();
    assert_eq!(page.matches("Sold").count(), usize::from(is_sold), "{page}");
    person.goes(&format!("/a/{owner}"));
    assert_eq!(person.browser.count("main section:first-of-type .token"), 1, "{owner} has it");
    person.goes("");
    let home = person.browser.text();
    assert_eq!((home.contains("Sold last"), home.contains("1 ETH")), (is_sold, true), "{home}");
}
