//! What must not become a transaction: each with its own reason, and none with a step.

use serde_json::{Value, json};

use super::{CLEO, SHOP, buy, market, refusal, sell, sold, wanted};
use crate::marketplace::{ANA, BEN, COIN, DOLLAR, balance, commit, listing, with};
use crate::support::TestApp;
use crate::support::market::put;
use crate::support::seed::{RELICS, UNKNOWN};

const MOST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

async fn refused(app: &TestApp, orders: &[(&str, u64)], members: Value, expected: (u16, &str)) {
    let answer = buy(app, orders, members).await;
    let (status, text) = refusal(&answer);
    assert_eq!((status, text.as_str()), expected);
}

#[tokio::test]
async fn orders_that_are_not_what_is_asked_for() {
    let token = json!([{ "orderId": "1", "quantity": "1", "tokenId": "2" }]);
    let app = market([
        sold("1", 10),
        wanted("2", 10),
        listing("3", 1, 10),
        with(sold("abc", 10), json!({})),
        with(wanted("any", 10), json!({ "tokenId": null })),
    ])
    .await;
    let missing = |id: &str, contract: &str| {
        format!("order {id} of bourse_marketplace_v2 in collection {contract} on chain 137 not found")
    };
    refused(&app, &[("1", 1), ("9", 1)], json!({}), (400, &missing("9", RELICS))).await;
    // The same name in another collection is another order.
    put(
        &app,
        "PutTokens",
        json!({ "chainId": 137, "tokens": [{ "contractAddress": UNKNOWN, "tokenId": "1", "name": "n" }] }),
    )
    .await;
    let elsewhere = json!({ "collectionAddress": UNKNOWN });
    refused(&app, &[("1", 1)], elsewhere, (400, &missing("1", UNKNOWN))).await;
    let nowhere = json!({ "collectionAddress": CLEO });
    let expected = format!("collection {CLEO} on chain 137 not found");
    refused(&app, &[("1", 1)], nowhere, (400, &expected)).await;
    let expected = "ordersData[0].orderId: order 3 is on opensea, not on bourse_marketplace_v2";
    refused(&app, &[("3", 1)], json!({}), (400, expected)).await;
    let expected = "ordersData[1].orderId: order 2 is an offer: use GenerateSellTransaction";
    refused(&app, &[("1", 1), ("2", 1)], json!({}), (400, expected)).await;
    let expected = "ordersData[0].tokenId: order 1 is for token 1, not 2";
    refused(&app, &[], json!({ "ordersData": token }), (400, expected)).await;
    let expected = "ordersData: `abc` is no number, as the names of orders are on this marketplace";
    refused(&app, &[("abc", 1)], json!({}), (400, expected)).await;
    let answer = sell(&app, &[("any", 1)], json!({})).await;
    let expected = "ordersData[0].orderId: order any is for any token, which cannot be filled here";
    assert_eq!(refusal(&answer), (400, expected.to_owned()));
    let answer = sell(&app, &[("1", 1)], json!({})).await;
    let expected = "ordersData[0].orderId: order 1 is a listing: use GenerateBuyTransaction";
    assert_eq!(refusal(&answer), (400, expected.to_owned()));
}

#[tokio::test]
async fn marketplaces_that_cannot_be_spoken_with() {
    let app = market([sold("1", 10)]).await;
    for kind in ["blur", "looks_rare", "x2y2", "alienswap", "mintify"] {
        let expected = format!("marketplace: {kind} has no contract on chain 137");
        refused(&app, &[("1", 1)], json!({ "marketplace": kind }), (400, &expected)).await;
    }
    for kind in ["zerox", "opensea", "payment_processor", "magic_eden"] {
        let expected = format!("ordersData[0].orderId: order 1 is on bourse_marketplace_v2, not on {kind}");
        refused(&app, &[("1", 1)], json!({ "marketplace": kind }), (400, &expected)).await;
    }
    let unknown = json!({ "marketplace": "unknown" });
    refused(&app, &[("1", 1)], unknown, (400, "marketplace: must name a marketplace")).await;
    let nothing = json!({ "marketplace": "nowhere" });
    refused(&app, &[("1", 1)], nothing, (400, "marketplace: `nowhere` is not known")).await;
    let wrong = json!({ "marketplace": "bourse_marketplace_v1" });
    let expected = "ordersData[0].orderId: order 1 is on bourse_marketplace_v2, not on bourse_marketplace_v1";
    refused(&app, &[("1", 1)], wrong, (400, expected)).await;
}

#[tokio::test]
async fn orders_that_cannot_be_filled_now() {
    let state = |id, status: &str| with(sold(id, 10), json!({ "status": status }));
    let app = market([
        with(sold("1", 10), json!({ "validUntil": "2025-03-14T12:00:00Z" })),
        state("2", "cancelled"),
        with(sold("3", 10), json!({ "quantityRemaining": "0" })),
        with(sold("4", 10), json!({ "validFrom": "2025-03-14T13:00:00Z" })),
        with(sold("5", 10), json!({ "createdBy": BEN })),
        with(sold("6", 10), json!({ "priceCurrencyAddress": SHOP })),
        state("7", "unknown"),
        state("8", "inactive"),
        state("9", "expired"),
        with(wanted("10", 10), json!({ "status": "inactive" })),
    ])
    .await;
    let lacking = |id: &str| {
        format!("order {id} is inactive: its maker lacks the token, or does not let the marketplace move it")
    };
    for (id, expected) in [
        ("1", "order 1 expired at 2025-03-14T12:00:00Z".to_owned()),
        ("2", "order 2 was cancelled by its maker".to_owned()),
        ("3", "order 3 is filled: nothing of it remains".to_owned()),
        ("4", "order 4 is not valid before 2025-03-14T13:00:00Z".to_owned()),
        ("5", lacking("5")),
        ("6", format!("order 6 asks for currency {SHOP}, which is not known here")),
        ("7", "order 7 is unknown".to_owned()),
        ("8", lacking("8")),
        ("9", "order 9 expired at 2025-03-15T12:00:00Z".to_owned()),
    ] {
        let answer = buy(&app, &[(id, 1)], json!({})).await;
        assert_eq!(answer.refusal(), (409, 1004));
        assert_eq!(refusal(&answer), (409, expected));
    }
    let expected = "order 10 is inactive: its maker lacks the money, or does not let the marketplace take it";
    assert_eq!(refusal(&sell(&app, &[("10", 1)], json!({})).await), (409, expected.to_owned()));
}

/// What another process committed a moment ago counts.
#[tokio::test]
async fn the_freshest_facts_count() {
    let app = market([sold("1", 10)]).await;
    assert_eq!(buy(&app, &[("1", 10)], json!({})).await.status, 200);
    commit(&app.store, vec![balance(1, ANA, 4)]).await;
    let expected = "10 units of order 1 where 4 can be filled right now";
    refused(&app, &[("1", 10)], json!({}), (409, expected)).await;
    commit(&app.store, vec![balance(1, ANA, 0)]).await;
    assert_eq!(buy(&app, &[("1", 1)], json!({})).await.refusal(), (409, 1004));
    commit(&app.store, vec![balance(1, ANA, 10)]).await;
    assert_eq!(buy(&app, &[("1", 10)], json!({})).await.status, 200);
    app.clock.set("2025-03-15T12:00:00Z");
    refused(&app, &[("1", 10)], json!({}), (409, "order 1 expired at 2025-03-15T12:00:00Z")).await;
}

#[tokio::test]
async fn quantities_that_cannot_be() {
    let app = market([sold("1", 10)]).await;
    refused(&app, &[("1", 0)], json!({}), (400, "ordersData[0].quantity: must not be zero")).await;
    let expected = "11 units of order 1 where 10 can be filled right now";
    refused(&app, &[("1", 11)], json!({}), (409, expected)).await;
    refused(&app, &[("1", 6), ("1", 5)], json!({}), (409, expected)).await;
    let data = json!([{ "orderId": "1", "quantity": MOST }, { "orderId": "1", "quantity": "1" }]);
    let expected = "ordersData[1].quantity: the quantities of one order add up to more than 2^256-1";
    refused(&app, &[], json!({ "ordersData": data }), (400, expected)).await;
    refused(&app, &[], json!({}), (400, "ordersData: must name an order")).await;
    let many = vec![("1", 1); 51];
    refused(&app, &many, json!({}), (400, "ordersData: 51 entries where at most 50 are allowed")).await;
}

#[tokio::test]
async fn buyers_and_money_that_cannot_be() {
    let coin = json!({ "priceCurrencyAddress": COIN });
    let app = market([
        sold("1", 10),
        with(sold("2", 10), coin.clone()),
        with(sold("3", 10), json!({ "priceAmount": MOST })),
        with(sold("4", 10), with(coin, json!({ "marketplace": "service_marketplace_v1" }))),
    ])
    .await;
    let expected = format!("buyer: {ANA} made order 1 and cannot fill it");
    refused(&app, &[("1", 1)], json!({ "buyer": ANA }), (400, &expected)).await;
    refused(&app, &[("1", 1)], json!({ "buyer": COIN }), (400, "buyer: must not be the zero address")).await;
    let expected = format!(
        "ordersData: the orders ask for different currencies, {DOLLAR} and {COIN}: fill those of each on their own"
    );
    refused(&app, &[("1", 1), ("2", 1)], json!({}), (400, &expected)).await;
    let overflow = "ordersData: the amounts add up to more than 2^256-1";
    refused(&app, &[("3", 2)], json!({}), (400, overflow)).await;
    refused(&app, &[("3", 1), ("1", 1)], json!({}), (400, overflow)).await;
    let v1 = json!({ "marketplace": "service_marketplace_v1" });
    let expected = "ordersData: the contract takes no native currency for this";
    refused(&app, &[("4", 1)], v1, (400, expected)).await;
}

#[tokio::test]
async fn fees_that_cannot_be() {
    let app = market([with(sold("1", 100_000), json!({ "feeBps": 500 }))]).await;
    let fees = |list: Value| json!({ "additionalFees": list });
    let fee = |amount: &str| json!({ "amount": amount, "receiver": SHOP });
    let many = fees(json!(vec![fee("1"); 11]));
    refused(&app, &[("1", 1)], many, (400, "additionalFees: 11 fees where at most 10 are allowed")).await;
    let nobody = fees(json!([fee("1"), { "amount": "1", "receiver": COIN }]));
    let expected = "additionalFees: fee 1 has the zero address as receiver";
    refused(&app, &[("1", 1)], nobody, (400, expected)).await;
    let expected = "additionalFees: the fees add up to 100000, which is more than the 95000 that the price leaves \
                    without royalties";
    refused(&app, &[("1", 1)], fees(json!([fee("10000")])), (400, expected)).await;
    let overflow = "ordersData: the amounts add up to more than 2^256-1";
    let most = json!([{ "amountInBaseUnits": MOST, "receiver": SHOP }]);
    refused(&app, &[("1", 1)], fees(most), (400, overflow)).await;
    let beyond = "additionalFees[1].amount: 10001 basis points where 10000 are the whole price: an amount of the currency \
                  goes into `amountInBaseUnits`";
    refused(&app, &[("1", 1)], fees(json!([fee("1"), fee("10001")])), (400, beyond)).await;
    let twice = json!([{ "amount": 1, "amountInBaseUnits": 1, "receiver": SHOP }]);
    let expected = "additionalFees[0].amount: cannot be together with `amountInBaseUnits`";
    refused(&app, &[("1", 1)], fees(twice), (400, expected)).await;
    let none = json!([{ "receiver": SHOP }]);
    refused(&app, &[("1", 1)], fees(none), (400, "additionalFees[0].amount: is required")).await;
    for absent in [json!(null), json!([]), json!([fee("0")])] {
        assert_eq!(buy(&app, &[("1", 1)], fees(absent)).await.status, 200);
    }
}

#[tokio::test]
async fn kinds_of_wallets_that_there_are_not() {
    let app = market([sold("1", 1000), wanted("2", 1000)]).await;
    let asked = json!({ "walletType": "whatever" });
    let expected = (400, "walletType: `whatever` is none of unknown, service, sequence, bourse".to_owned());
    assert_eq!(refusal(&buy(&app, &[("1", 1)], asked.clone()).await), expected);
    assert_eq!(refusal(&sell(&app, &[("2", 1)], asked).await), expected);
}
