//! New listings and offers.

use std::sync::Arc;

use bourse_store::Change;
use serde_json::{Value, json};

use super::trading::kept_by_contract::{LISTING, UNTIL};
use super::trading::{
    CLEO, Sent, V1, V2, address, ask, buy, check_approval, check_token_approval, market, market_with, number,
    refusal, sold, steps,
};
use crate::marketplace::{COIN, DOLLAR, commit, with};
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;
use crate::support::seed::{RELICS, contract_info};

/// 2025-04-01.
const APRIL: u64 = 1_743_465_600;

async fn list(app: &TestApp, order: Value, members: Value) -> Answer {
    make(app, ("Listing", "listing", "owner"), order, members).await
}

async fn offer(app: &TestApp, order: Value, members: Value) -> Answer {
    make(app, ("Offer", "offer", "maker"), order, members).await
}

async fn make(app: &TestApp, (name, side, who): (&str, &str, &str), order: Value, members: Value) -> Answer {
    let usual = json!({ "tokenId": "1", "quantity": "7", "expiry": APRIL.to_string(), "currencyAddress": DOLLAR,
        "pricePerToken": "11" });
    let body = json!({ who: CLEO, "contractType": "ERC1155", "orderbook": "service_marketplace_v2",
        side: with(usual, order) });
    ask(app, &format!("Generate{name}Transaction"), with(body, members)).await
}

/// What `createRequest` says, apart from the collection, which is always the same.
fn made(step: &Sent) -> (bool, bool, u128, u128, u128, String, u128) {
    let words = &step.words;
    assert_eq!((step.selector.as_str(), words.len()), ("dd0de6ec", 8));
    assert_eq!(address(&words[2]), RELICS);
    let flag = |word: &str| number(word) == 1;
    (
        flag(&words[0]),
        flag(&words[1]),
        number(&words[3]),
        number(&words[4]),
        number(&words[5]),
        address(&words[6]),
        number(&words[7]),
    )
}

#[tokio::test]
async fn a_listing() {
    let app = market([]).await;
    let all = steps(list(&app, json!({}), json!({})).await);
    let [approval, listing] = all.as_slice() else { panic!("{all:?}") };
    check_token_approval(approval, V2);
    assert_eq!((listing.id.as_str(), listing.to.as_str()), ("createListing", V2));
    assert_eq!((listing.value, listing.price), (0, 77));
    assert_eq!(made(listing), (true, true, 1, 7, APRIL.into(), DOLLAR.to_owned(), 11));
    let coin =
        steps(list(&app, json!({ "currencyAddress": COIN }), json!({ "walletType": "sequence" })).await);
    assert_eq!(coin.len(), 1, "such a wallet approves by itself");
    assert_eq!((made(&coin[0]).5, coin[0].value), (COIN.to_owned(), 0));
    let chain = FakeChain { is_operator: Some(true), ..FakeChain::default() };
    let app = market_with(&[], Some(Arc::new(chain)), []).await;
    let v1 = json!({ "orderbook": "service_marketplace_v1", "contractType": null });
    let all = steps(list(&app, json!({}), v1).await);
    assert_eq!((all.len(), all[0].to.as_str()), (1, V1));
}

#[tokio::test]
async fn an_offer() {
    // Without anybody to ask, the approval covers the largest royalty that there can be.
    for (royalty, allowance, approved) in [
        (None, None, Some(154)),
        (Some(3), None, Some(80)),
        (Some(3), Some(79), Some(80)),
        (Some(3), Some(80), None),
    ] {
        let chain = Arc::new(FakeChain { allowance, royalty, ..FakeChain::default() });
        let app = market_with(&[], Some(chain), []).await;
        let all = steps(offer(&app, json!({}), json!({})).await);
        match approved {
            Some(amount) => check_approval(&all[0], DOLLAR, V2, amount),
            None => assert_eq!(all.len(), 1),
        }
        let last = all.last().unwrap();
        assert_eq!((last.id.as_str(), last.to.as_str(), last.value, last.price), ("createOffer", V2, 0, 77));
        assert_eq!(made(last), (false, true, 1, 7, APRIL.into(), DOLLAR.to_owned(), 11));
    }
    let app = market([]).await;
    assert_eq!(steps(offer(&app, json!({}), json!({ "walletType": "sequence" })).await).len(), 1);
}

#[tokio::test]
async fn nothing_is_made_where_no_contract_answers() {
    let chain = FakeChain { royalty: Some(3), is_deserted: true, ..FakeChain::default() };
    let app = market_with(&[], Some(Arc::new(chain)), []).await;
    for refused in [list(&app, json!({}), json!({})).await, offer(&app, json!({}), json!({})).await] {
        let (status, said) = refusal(&refused);
        let expected = format!("no contract of the marketplace answers at {V2}");
        assert!(status == 409 && said.starts_with(&expected), "{said}");
    }
}

/// The contract that is deployed would burn it, or fail.
#[tokio::test]
async fn a_royalty_for_nobody_is_refused() {
    let chain = Arc::new(FakeChain::default());
    chain.says(V2, "getRoyaltyInfo(address,uint256,uint256)", &[0, 3]);
    let order = with(sold("77", 1000), json!({ "validUntil": UNTIL }));
    let app = market_with(&[], Some(Arc::clone(&chain)), [order]).await;
    LISTING.said_by(&chain, V2);
    let bought = buy(&app, &[("77", 1)], json!({})).await;
    for refused in [list(&app, json!({}), json!({})).await, offer(&app, json!({}), json!({})).await, bought] {
        let (status, said) = refusal(&refused);
        assert!(status == 409 && said.contains("the royalty of 3 would go to the zero address"), "{said}");
    }
}

#[tokio::test]
async fn an_offer_takes_money_that_its_maker_has() {
    for (held, is_made) in [(0, false), (79, false), (80, true)] {
        let chain = FakeChain { royalty: Some(3), ..FakeChain::default() };
        chain.says(DOLLAR, "balanceOf(address)", &[held]);
        let app = market_with(&[], Some(Arc::new(chain)), []).await;
        let answer = offer(&app, json!({}), json!({})).await;
        assert_eq!(answer.status == 200, is_made, "{held}: {}", answer.json);
        if !is_made {
            let (status, said) = refusal(&answer);
            assert!(status == 409 && said.contains(" are missing"), "{said}");
        }
        assert_eq!(list(&app, json!({}), json!({})).await.status, 200, "whoever sells needs no money");
    }
}

#[tokio::test]
async fn orders_that_make_no_sense() {
    let app = market([]).await;
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    for (order, expected) in [
        (json!({ "quantity": "0" }), "quantity: must not be zero"),
        (json!({ "pricePerToken": "0" }), "pricePerToken: must not be zero"),
        // The test begins at this second.
        (json!({ "expiry": "1741953600" }), "expiry: must be in the future, in seconds since 1970"),
        (json!({ "expiry": most }), "expiry: the end is too late: at most 2^96-1 seconds since 1970"),
        (json!({ "currencyAddress": CLEO }), &format!("currencyAddress: currency {CLEO} is not known here")),
        (json!({ "pricePerToken": most }), "pricePerToken: the amounts add up to more than 2^256-1"),
    ] {
        let refused = list(&app, order.clone(), json!({})).await;
        assert_eq!(refusal(&refused), (400, format!("listing.{expected}")));
        let refused = offer(&app, order, json!({})).await;
        assert_eq!(refusal(&refused), (400, format!("offer.{expected}")));
    }
    assert_eq!(list(&app, json!({ "expiry": "1741953601" }), json!({})).await.status, 200);
    let native = "currencyAddress: the contract takes no native currency for this";
    let coin = json!({ "currencyAddress": COIN });
    assert_eq!(refusal(&offer(&app, coin.clone(), json!({})).await), (400, format!("offer.{native}")));
    let v1 = json!({ "orderbook": "service_marketplace_v1" });
    assert_eq!(refusal(&list(&app, coin, v1).await), (400, format!("listing.{native}")));
}

#[tokio::test]
async fn makers_and_order_books() {
    let app = market([]).await;
    let expected = format!("owner: {CLEO} holds 10 of token 1, not 11");
    assert_eq!(refusal(&list(&app, json!({ "quantity": "11" }), json!({})).await), (409, expected));
    assert_eq!(
        offer(&app, json!({ "quantity": "11" }), json!({})).await.status,
        200,
        "buyers need hold nothing"
    );
    let nobody = list(&app, json!({}), json!({ "owner": COIN })).await;
    assert_eq!(refusal(&nobody), (400, "owner: must not be the zero address".to_owned()));
    for book in ["blur", "looks_rare", "x2y2", "alienswap"] {
        let expected = format!("orderbook: {book} has no contract on chain 137");
        assert_eq!(refusal(&list(&app, json!({}), json!({ "orderbook": book })).await), (400, expected));
    }
    let unknown = offer(&app, json!({}), json!({ "orderbook": "reservoir" })).await;
    assert_eq!(refusal(&unknown), (400, "orderbook: `reservoir` is not known".to_owned()));
    let elsewhere = offer(&app, json!({}), json!({ "collectionAddress": CLEO })).await;
    assert_eq!(refusal(&elsewhere), (400, format!("collection {CLEO} on chain 137 not found")));
}

#[tokio::test]
async fn standards() {
    let app = market([]).await;
    let of_type =
        async |kind: &str| list(&app, json!({ "quantity": "1" }), json!({ "contractType": kind })).await;
    let expected = "contractType: the collection is ERC1155, not ERC721";
    assert_eq!(refusal(&of_type("ERC721").await), (400, expected.to_owned()));
    assert_eq!(of_type("UNKNOWN").await.status, 200);
    let mut info = contract_info(RELICS, "Relics");
    for (known, asked, expected) in [
        ("ERC721", "ERC721", Ok(false)),
        ("ERC721", "UNKNOWN", Ok(false)),
        ("UNKNOWN", "ERC1155", Ok(true)),
        ("UNKNOWN", "ERC721", Ok(false)),
        ("UNKNOWN", "UNKNOWN", Err("contractType: must be ERC721 or ERC1155")),
        ("ERC20", "ERC20", Err("contractType: must be ERC721 or ERC1155")),
    ] {
        info["type"] = json!(known);
        commit(&app.store, vec![Change::Contract(info.to_string())]).await;
        let answer = of_type(asked).await;
        match expected {
            Ok(is_multiple) => {
                assert_eq!(made(steps(answer).last().unwrap()).1, is_multiple, "{known} {asked}");
            }
            Err(expected) => assert_eq!(refusal(&answer), (400, expected.to_owned()), "{known} {asked}"),
        }
    }
    info["type"] = json!("ERC721");
    commit(&app.store, vec![Change::Contract(info.to_string())]).await;
    let refused = offer(&app, json!({ "quantity": "2" }), json!({ "contractType": "ERC721" })).await;
    let expected = "offer.quantity: must be 1 in a collection that has one of each token (ERC721)";
    assert_eq!(refusal(&refused), (400, expected.to_owned()));
}
