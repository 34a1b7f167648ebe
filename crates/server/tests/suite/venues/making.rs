//! Listings and offers are made with a signature: a step says what to sign and where the signature goes.

use std::sync::Arc;

use alloy_primitives::{Bytes, U256, hex};
use bourse_chain::{Outcome, Played};
use serde_json::{Value, json};

use super::wallet::Wallet;
use super::{
    COLLECTION, DOLLAR, SEAPORT, TAKER, ZERO, ask, check_step, data, listed, refusal, text, venues_with,
};
use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::actor::Answer;
use crate::support::chain::FakeChain;

const LOOKS_RARE: &str = "0x0000000000e655fae4d56241588680f86e3b2377";
const MANAGER: &str = "0x000000000060c4ca14cfc4325359062ace33fe3d";
const ZEROX: &str = "0xdef1c0ded9bec7f1a1670819833240f027b25eff";
const PROCESSOR: &str = "0x9a1d00828912f81f3fa34ca47c0bdb9c016856bf";
const MINTIFY: &str = "0x00000003cf2c206e1fda7fd032b2f9bde12ec6cc";
const ALIENSWAP: &str = "0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a";
const CONDUIT: &str = "0x1e0049783f008a0085193e00003d00cd54003c71";

/// A marketplace: the contract that orders are signed for, under which name, and who moves tokens, when that is known.
const MARKETPLACES: [(&str, &str, &str, &str); 7] = [
    ("opensea", SEAPORT, "Seaport 1.6", CONDUIT),
    ("magic_eden", SEAPORT, "Seaport 1.6", "0x2052f8a2ff46283b30084e5d84c89a2fdbe7f74b"),
    ("mintify", MINTIFY, "MintifyExchange 1.6", MINTIFY),
    ("alienswap", ALIENSWAP, "Alienswap 1.4", ""),
    ("looks_rare", LOOKS_RARE, "LooksRareProtocol 2", MANAGER),
    ("zerox", ZEROX, "ZeroEx 1.0.0", ZEROX),
    ("payment_processor", PROCESSOR, "PaymentProcessor 2.1", PROCESSOR),
];

/// A chain that knows how often makers took back everything.
pub(crate) fn counting() -> FakeChain {
    let chain = FakeChain::default();
    for contract in [SEAPORT, MINTIFY, ALIENSWAP] {
        chain.says(contract, "getCounter(address)", &[4]);
    }
    chain.says(LOOKS_RARE, "userBidAskNonces(address)", &[5, 6]);
    chain.says(PROCESSOR, "masterNonces(address)", &[7]);
    able(&chain);
    chain
}

/// Has everybody hold the tokens and the money that they sell and offer, and let marketplaces take them.
pub(crate) fn able(chain: &FakeChain) {
    chain.says(COLLECTION, "isApprovedForAll(address,address)", &[1]);
    chain.says(COLLECTION, "balanceOf(address,uint256)", &[1000]);
    for money in [DOLLAR, ZERO] {
        chain.says(money, "balanceOf(address)", &[1000]);
        chain.says(money, "allowance(address,address)", &[1000]);
    }
}

/// A service that knows the collection.
pub(crate) async fn trading(chain: Arc<FakeChain>) -> TestApp {
    let app = venues_with(&[], Some(chain)).await;
    let token = json!({ "chainId": 1, "contractAddress": COLLECTION, "tokenId": "5" });
    let answer = app.project_a.call("Ingest/PutTokens", json!({ "tokens": [token] })).await.ok();
    assert_eq!(answer["rejected"], json!([]));
    app
}

/// The steps by which somebody makes an order: three units for six each, or one.
pub(crate) async fn make(
    app: &TestApp,
    maker: &Wallet,
    side: &str,
    marketplace: &str,
    change: Value,
) -> Answer {
    let (operation, who) = match side {
        "listing" => ("GenerateListingTransaction", "owner"),
        _ => ("GenerateOfferTransaction", "maker"),
    };
    let order = json!({ "tokenId": "5", "quantity": "1", "expiry": "1893456000", "currencyAddress": DOLLAR,
        "pricePerToken": "6" });
    let order = with(order, change);
    let kind = if order["quantity"] == "1" { "ERC721" } else { "ERC1155" };
    let body = json!({ who: maker.address(), "orderbook": marketplace, "contractType": kind, side: order });
    ask(app, operation, body).await
}

/// What real clients send: they copy what the step's `post` says.
pub(crate) fn execution(step: &Value, signature: &str) -> Value {
    let post = &step["post"];
    json!({ "params": { "chainId": "1", "signature": signature, "method": post["method"],
        "endpoint": post["endpoint"], "executeType": "order", "body": post["body"] } })
}

pub(crate) async fn execute(app: &TestApp, body: Value) -> Answer {
    app.project_a.key.call("Marketplace/Execute", body).await
}

/// The last step, which asks for a signature and is complete.
#[track_caller]
pub(crate) fn signing(answer: &Value) -> Value {
    let step = answer["steps"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(step["id"], "signEIP712", "{step}");
    let members: Vec<&str> = step.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["id", "data", "to", "value", "price", "signature", "post", "executeType"]);
    let asked: Vec<&str> = step["signature"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(asked, ["domain", "types", "primaryType", "value"]);
    assert_eq!((&step["value"], &step["data"]), (&json!("0"), &json!("")));
    step
}

#[tokio::test]
async fn orders_are_signed_stored_and_can_be_filled() {
    let maker = Wallet::of(9);
    let app = trading(Arc::new(counting())).await;
    for (place, (marketplace, contract, name, operator)) in MARKETPLACES.into_iter().enumerate() {
        for (side, quantity) in [("listing", "1"), ("listing", "3"), ("offer", "1"), ("offer", "3")] {
            // A token for each order.
            let token = format!("{place}{quantity}");
            let change = json!({ "quantity": quantity, "tokenId": token });
            let answer = make(&app, &maker, side, marketplace, change).await.ok();
            let step = signing(&answer);
            let domain = &step["signature"]["domain"];
            let shown = format!("{} {}", text(&domain["name"]), text(&domain["version"]));
            assert_eq!((shown.as_str(), &domain["verifyingContract"]), (name, &json!(contract)));
            assert_eq!(domain["chainId"], 1);
            let total = if quantity == "1" { "6" } else { "18" };
            assert_eq!(step["price"], total);
            let kind = if side == "listing" { "createListing" } else { "createItemOffer" };
            assert_eq!(step["executeType"], kind);
            // The offer of before is still open, and needs its money too.
            let allowed = if quantity == "1" { total } else { "24" };
            check_approvals(&answer, side, (contract, operator), allowed);
            let signature = maker.sign_typed(&step["signature"]);
            let made = execute(&app, execution(&step, &signature)).await.ok();
            let id = text(&made["orderId"]).to_owned();
            check_stored(&app, side, (&token, quantity), &id).await;
            check_filled(&app, marketplace, side, (&id, quantity), contract).await;
            let body = json!({ "maker": maker.address(), "marketplace": marketplace, "orderId": id });
            let cancel = ask(&app, "GenerateCancelTransaction", body).await.ok();
            assert_eq!(cancel["steps"][0]["to"], contract);
            let again = execute(&app, execution(&step, &signature)).await.ok();
            assert_eq!(again["orderId"], id, "the same signature makes the same order");
        }
    }
}

/// Such a wallet approves by itself with what it sends, and it sends no signature.
#[tokio::test]
async fn what_is_signed_is_approved_by_a_step_whatever_the_wallet() {
    let maker = Wallet::of(9);
    let app = trading(Arc::new(counting())).await;
    for wallet in ["unknown", "sequence"] {
        let order = json!({ "tokenId": "5", "quantity": "1", "expiry": "1893456000", "currencyAddress": DOLLAR,
            "pricePerToken": "6" });
        let body = json!({ "owner": maker.address(), "orderbook": "opensea", "contractType": "ERC721",
            "listing": order, "walletType": wallet });
        let answer = ask(&app, "GenerateListingTransaction", body).await.ok();
        let ids: Vec<&Value> = answer["steps"].as_array().unwrap().iter().map(|step| &step["id"]).collect();
        assert_eq!(ids, ["tokenApproval", "signEIP712"], "{wallet}");
    }
}

/// Before the signature, whoever makes the order lets the right contract move what they give.
#[track_caller]
fn check_approvals(answer: &Value, side: &str, (contract, operator): (&str, &str), total: &str) {
    let steps = answer["steps"].as_array().unwrap();
    let first = &steps[0];
    if side == "listing" {
        let count = if operator == MANAGER { 3 } else { 2 };
        assert_eq!(steps.len(), count, "{answer}");
        assert!(text(&first["data"]).starts_with("0xa22cb465"), "{first}");
        assert!(text(&first["data"])[34..].starts_with(operator.trim_start_matches("0x")), "{first}");
        assert_eq!((&first["id"], &first["to"]), (&json!("tokenApproval"), &json!(COLLECTION)));
        return;
    }
    assert_eq!(steps.len(), 2, "{answer}");
    let spender = match operator {
        MANAGER => contract.to_owned(),
        "" => format!("0x{}", &text(&first["data"])[34..74]),
        operator => operator.to_owned(),
    };
    let amount: u64 = total.parse().unwrap();
    let data = format!("0x095ea7b3{:0>64}{amount:064x}", &spender[2..]);
    let mut first = first.clone();
    let is_told = first.as_object_mut().unwrap().remove("note").is_some();
    assert_eq!(is_told, total == "24", "what more than one order needs is told");
    check_step(&first, "tokenApproval", &json!({ "to": DOLLAR, "data": data, "value": "0", "price": "0" }));
}

async fn check_stored(app: &TestApp, side: &str, (token, quantity): (&str, &str), id: &str) {
    let found = listed(app, side, token).await;
    assert_eq!(found.len(), 1);
    let order = &found[0];
    for (member, expected) in [
        ("orderId", id),
        ("side", side),
        ("status", "active"),
        ("createdBy", &Wallet::of(9).address()),
        ("priceAmount", "6"),
        ("quantityInitial", quantity),
        ("quantityRemaining", quantity),
        ("priceCurrencyAddress", DOLLAR),
        ("validUntil", "2030-01-01T00:00:00Z"),
    ] {
        assert_eq!(order[member], expected, "{member} of {order}");
    }
}

async fn check_filled(app: &TestApp, marketplace: &str, side: &str, order: (&str, &str), contract: &str) {
    let (operation, who, id) = match side {
        "listing" => ("GenerateBuyTransaction", "buyer", "buy"),
        _ => ("GenerateSellTransaction", "seller", "sell"),
    };
    let body = json!({ who: TAKER, "marketplace": marketplace, "ordersData": data(&[order]) });
    let answer = ask(app, operation, body).await.ok();
    let last = answer["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["id"], &last["to"]), (&json!(id), &json!(contract)), "{answer}");
}

#[tokio::test]
async fn what_is_allowed_already_is_not_asked_for() {
    let maker = Wallet::of(9);
    let mut chain = counting();
    (chain.allowance, chain.is_operator) = (Some(6), Some(true));
    chain.says(MANAGER, "hasUserApprovedOperator(address,address)", &[1]);
    let app = trading(Arc::new(chain)).await;
    for (marketplace, ..) in MARKETPLACES {
        for side in ["listing", "offer"] {
            let answer = make(&app, &maker, side, marketplace, json!({})).await.ok();
            assert_eq!(answer["steps"].as_array().unwrap().len(), 1, "{marketplace} {side}");
        }
    }
    let answer = make(&app, &maker, "offer", "opensea", json!({ "pricePerToken": "7" })).await.ok();
    assert_eq!(answer["steps"].as_array().unwrap().len(), 2, "a unit too little is allowed");
}

#[tokio::test]
async fn every_order_is_another() {
    let app = trading(Arc::new(counting())).await;
    let maker = Wallet::of(9);
    for (marketplace, ..) in MARKETPLACES {
        let first = signing(&make(&app, &maker, "listing", marketplace, json!({})).await.ok());
        let second = signing(&make(&app, &maker, "listing", marketplace, json!({})).await.ok());
        assert_ne!(
            maker.sign_typed(&first["signature"]),
            maker.sign_typed(&second["signature"]),
            "{marketplace}"
        );
    }
}

#[tokio::test]
async fn the_chains_own_currency_is_for_listings() {
    let app = trading(Arc::new(counting())).await;
    let maker = Wallet::of(9);
    for (marketplace, ..) in MARKETPLACES {
        let coin = json!({ "currencyAddress": ZERO });
        let step = signing(&make(&app, &maker, "listing", marketplace, coin.clone()).await.ok());
        execute(&app, execution(&step, &maker.sign_typed(&step["signature"]))).await.ok();
        let answer = make(&app, &maker, "offer", marketplace, coin).await;
        let reason = "offer.currencyAddress: the contract takes no native currency for this";
        assert_eq!(refusal(&answer), (400, reason), "{marketplace}");
    }
}

#[tokio::test]
async fn what_cannot_be_made_is_told() {
    let app = trading(Arc::new(FakeChain::default())).await;
    let maker = Wallet::of(9);
    for (marketplace, what) in [
        ("opensea", "the counter of the maker"),
        ("looks_rare", "the nonces of the maker"),
        ("payment_processor", "the master nonce of the maker"),
    ] {
        let answer = make(&app, &maker, "listing", marketplace, json!({})).await;
        let reason = format!("a node of the network must tell {what} before an order can be signed");
        assert_eq!(refusal(&answer), (409, reason.as_str()));
    }
    // 0x needs nobody to tell anything.
    make(&app, &maker, "listing", "zerox", json!({})).await.ok();
    for (marketplace, name) in [("blur", "Blur"), ("x2y2", "X2Y2")] {
        let answer = make(&app, &maker, "listing", marketplace, json!({})).await;
        let reason = format!("orderbook: {name} takes new orders only through its own service");
        assert_eq!(refusal(&answer), (400, reason.as_str()));
    }
    let large = json!({ "quantity": "340282366920938463463374607431768211456" });
    let answer = make(&app, &maker, "listing", "zerox", large).await;
    assert!(refusal(&answer).1.starts_with("listing.quantity: "), "{}", answer.json);
}

/// Nobody refuses a signature: what whoever fills the order would meet is asked, once everything is approved.
#[tokio::test]
async fn what_is_signed_is_of_use_by_the_word_of_contracts() {
    let maker = Wallet::of(9);
    let word = |digits: &str| Some(Bytes::from(hex::decode(format!("{digits:0>64}")).unwrap()));
    let (yes, no) = (word("1"), word("0"));
    let (own, other) = (word(&maker.address()[2..]), word(&TAKER[2..]));
    let holds = |units: &str| format!("owner: {} holds {units} of token 5, not ", maker.address());
    let move_it = format!("owner: {} cannot let {CONDUIT} move tokens of collection", maker.address());
    let spend = format!("maker: {} cannot let {CONDUIT} take 6 of currency {DOLLAR}", maker.address());
    for (side, quantity, answers, refused) in [
        ("listing", "1", vec![yes.clone(), own.clone(), None], None),
        ("listing", "1", vec![yes.clone(), other.clone(), None], Some(holds("0"))),
        ("listing", "3", vec![yes.clone(), None, word("2")], Some(holds("2"))),
        ("listing", "3", vec![yes.clone(), None, word("3")], None),
        ("listing", "1", vec![no.clone(), own.clone(), None], Some(move_it)),
        // Whoever says nothing refuses nothing.
        ("listing", "1", vec![None, None, None], None),
        ("listing", "1", Vec::new(), None),
        ("offer", "1", vec![word("6")], None),
        ("offer", "1", vec![word("5")], Some(spend)),
        ("offer", "1", vec![None], None),
    ] {
        let chain = Arc::new(FakeChain { allowance: Some(0), is_operator: Some(false), ..counting() });
        let (funds, outcomes) = (U256::ZERO, vec![Outcome::Done]);
        *chain.played.lock().unwrap() = Some(Ok(Played { funds, outcomes, answers, block: 1 }));
        let app = trading(Arc::clone(&chain)).await;
        let answer = make(&app, &maker, side, "opensea", json!({ "quantity": quantity })).await;
        if let Some(expected) = refused {
            let (status, said) = refusal(&answer);
            assert!(status == 409 && said.starts_with(&expected), "{said}");
            continue;
        }
        let answer = answer.ok();
        signing(&answer);
        assert_eq!(answer["simulation"], json!({ "steps": 1 }), "the approval was tried: {answer}");
    }
}
