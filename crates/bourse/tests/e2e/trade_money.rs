//! The money of those who offer and buy: what they let the market take of it, and what they lack.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{alloy_address, approveCall, mintCall};
use crate::market::{Market, order, order_data};

const WORD: &str = "bourse_marketplace_v2";
const COIN: u64 = 1_000_000;

/// What it takes to offer for a token.
fn offering(maker: Address, collection: Address, offer: &Value) -> Value {
    json!({ "collectionAddress": collection, "maker": maker, "contractType": "ERC721", "orderbook": WORD,
        "offer": offer, "walletType": "unknown" })
}

/// The steps to offer so many coins for a token.
fn offer_steps(market: &Market, collection: Address, token: &str, coins: u64) -> Value {
    let offer = order(token, "1", market.currency, &(coins * COIN).to_string());
    market.steps("GenerateOfferTransaction", &offering(market.buyer(), collection, &offer))
}

/// The seller takes an offer, and gets what it says.
fn sell(market: &Market, collection: Address, offer: &Value) {
    let body = json!({ "collectionAddress": collection, "seller": market.seller(), "marketplace": WORD,
        "ordersData": order_data(offer, "1"), "walletType": "unknown" });
    let steps = market.steps("GenerateSellTransaction", &body);
    let before = market.anvil.balance(market.currency, market.seller());
    market.anvil.perform(market.seller(), &steps);
    let price: U256 = offer["priceAmount"].as_str().unwrap().parse().unwrap();
    assert_eq!(market.anvil.balance(market.currency, market.seller()) - before, price);
}

/// What approvals among steps let be taken, in their order.
fn allowed(steps: &Value) -> Vec<u64> {
    let approvals = steps.as_array().unwrap().iter().filter(|step| step["id"] == "tokenApproval");
    let amount = |step: &Value| {
        let data = step["data"].as_str().unwrap();
        u64::from_str_radix(&data[data.len() - 16..], 16).unwrap()
    };
    approvals.map(amount).collect()
}

/// A collection of the seller with tokens 1 and 2, of which 5 % of every price go to its artist.
fn two_tokens(market: &Market) -> Address {
    let collection = market.singles(market.seller());
    let mint = mintCall { to: alloy_address(market.seller()), tokenId: U256::from(2) };
    market.anvil.send(market.seller(), collection, &mint);
    market.wait_followed(collection);
    collection
}

#[test]
fn an_offer_that_is_taken_leaves_the_next_one_covered() {
    let market = Market::open();
    let collection = two_tokens(&market);
    market.fund(market.buyer(), 1_000 * COIN);
    let first = offer_steps(&market, collection, "1", 10);
    assert_eq!(allowed(&first), [10 * COIN + COIN / 2], "with the royalty");
    assert!(first[0].get("note").is_none(), "{first}");
    market.anvil.perform(market.buyer(), &first);
    let first = market.wait_offers(collection, "1", 1).remove(0);
    let second = offer_steps(&market, collection, "2", 10);
    assert_eq!(allowed(&second), [21 * COIN], "for both");
    let note = second[0]["note"].as_str().unwrap();
    assert!(note.contains("take 10500000 of") && note.contains("and 10500000 for an open offer"), "{note}");
    market.anvil.perform(market.buyer(), &second);
    let second = market.wait_offers(collection, "2", 1).remove(0);

    sell(&market, collection, &first);
    market.wait_offers(collection, "1", 0);
    sell(&market, collection, &second);
    market.wait_offers(collection, "2", 0);
    assert_eq!(market.anvil.balance(market.currency, market.buyer()), U256::from(979 * COIN));
}

#[test]
fn a_purchase_leaves_open_offers_covered() {
    let market = Market::open();
    let collection = two_tokens(&market);
    let (seller, buyer) = (market.seller(), market.buyer());
    market.fund(buyer, 1_000 * COIN);
    market.anvil.perform(buyer, &offer_steps(&market, collection, "1", 5));
    let offer = market.wait_offers(collection, "1", 1).remove(0);
    market.list(seller, collection, "ERC721", &order("2", "1", market.currency, &(4 * COIN).to_string()));
    let listing = market.wait_listings(collection, "2", 1).remove(0);

    let body = market.purchase(buyer, collection, &order_data(&listing, "1"), &Value::Null);
    let steps = market.steps("GenerateBuyTransaction", &body);
    assert_eq!(allowed(&steps), [4 * COIN + 5 * COIN + COIN / 4], "for the purchase and for the offer");
    market.anvil.perform(buyer, &steps);
    market.wait_listings(collection, "2", 0);
    sell(&market, collection, &offer);
    market.wait_offers(collection, "1", 0);
    // An offer that is over needs nothing any more.
    assert_eq!(allowed(&offer_steps(&market, collection, "2", 1)), [COIN + COIN / 20]);
}

#[test]
fn an_offer_without_the_money_is_refused_with_what_is_missing() {
    let market = Market::open();
    let collection = two_tokens(&market);
    let buyer = market.buyer();
    market.fund(buyer, 4 * COIN);
    let offer = order("1", "1", market.currency, &(10 * COIN).to_string());
    let refused = market.marketplace_answer("GenerateOfferTransaction", &offering(buyer, collection, &offer));
    assert_eq!(refused.status, 409, "{refused:?}");
    let expected =
        format!("maker: {buyer} has 4.0 COIN where this offer takes 10.5 COIN: 6.5 COIN are missing");
    assert!(refused.body.contains(&expected), "{refused:?}");
    market.fund(buyer, 6 * COIN + COIN / 2);
    market.anvil.perform(buyer, &offer_steps(&market, collection, "1", 10));
    market.wait_offers(collection, "1", 1);
}

#[test]
fn what_is_left_of_an_allowance_is_taken_back_first_where_a_currency_wants_it() {
    let mut market = Market::open();
    let collection = two_tokens(&market);
    market.currency = market.anvil.deploy("TestTether", &[]);
    let currencies = json!({ "chainId": 31337, "currencies": [{ "chainId": 31337, "name": "Tether",
        "contractAddress": market.currency, "symbol": "USDT", "decimals": 6, "exchangeRate": 1 }] });
    market.server().call("Ingest/PutCurrencies", market.secret(), &currencies).ok();
    let buyer = market.buyer();
    market.fund(buyer, 100 * COIN);
    assert_eq!(
        allowed(&offer_steps(&market, collection, "1", 10)),
        [10 * COIN + COIN / 2],
        "nothing is left"
    );
    market.allow(buyer, 1);
    let steps = offer_steps(&market, collection, "1", 10);
    assert_eq!(allowed(&steps), [0, 10 * COIN + COIN / 2]);
    market.anvil.perform(buyer, &steps);
    market.wait_offers(collection, "1", 1);
    // Another spender's allowance is none of the market's.
    let other = approveCall { spender: alloy_address(market.platform()), amount: U256::from(5) };
    market.anvil.send(buyer, market.currency, &other);
    let steps = offer_steps(&market, collection, "2", 1);
    assert_eq!(allowed(&steps), [0, 11 * COIN + COIN / 2 + COIN / 20]);
    market.anvil.perform(buyer, &steps);
    market.wait_offers(collection, "2", 1);
}
