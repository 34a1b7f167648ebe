//! Steps are tried before they are handed out, and what would fail is refused in words.

use std::sync::Arc;

use alloy_primitives::{Bytes, U256, hex};
use bourse_chain::{Outcome, Played, Unplayed};
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::{CLEO, V2, buy, check_approval, market_with, refusal, sell, sold, steps, wanted};
use crate::marketplace::{ANA, DOLLAR, with};
use crate::support::TestApp;
use crate::support::chain::FakeChain;

const ETHER: u64 = 1_000_000_000_000_000_000;
const NATIVE: &str = "0x0000000000000000000000000000000000000000";

/// A node that says this of steps, of a wallet that has a hundred of the chain's own currency.
fn saying(outcomes: &[Outcome]) -> Arc<FakeChain> {
    answering(Ok(Played {
        funds: U256::from(100),
        outcomes: outcomes.to_vec(),
        answers: Vec::new(),
        block: 1,
    }))
}

fn answering(played: Result<Played, Unplayed>) -> Arc<FakeChain> {
    let chain = FakeChain { allowance: Some(0), is_operator: Some(false), ..FakeChain::default() };
    *chain.played.lock().unwrap() = Some(played);
    Arc::new(chain)
}

fn reverted(data: &str) -> Outcome {
    Outcome::Reverted(hex::decode(data).unwrap().into())
}

/// `Error(string)`.
fn texted(text: &str) -> Outcome {
    let padded = hex::encode(text);
    let width = padded.len().div_ceil(64) * 64;
    reverted(&format!("08c379a0{:064x}{:064x}{padded:0<width$}", 32, text.len()))
}

async fn trading(chain: &Arc<FakeChain>) -> TestApp {
    let orders = [sold("5", 1000), sold("6", 2000), wanted("7", 500)];
    market_with(&[], Some(Arc::clone(chain)), orders).await
}

#[tokio::test]
async fn steps_are_tried_in_their_order_after_what_they_approve() {
    let chain = saying(&[Outcome::Done, Outcome::Done]);
    let app = trading(&chain).await;
    let answer = buy(&app, &[("5", 2)], json!({})).await;
    assert_eq!(answer.json["simulation"], json!({ "steps": 2 }));
    let steps = steps(answer);
    check_approval(&steps[0], DOLLAR, V2, 2000);
    let rehearsals = chain.rehearsals.lock().unwrap();
    let [rehearsal] = rehearsals.as_slice() else { panic!("{rehearsals:?}") };
    assert_eq!((rehearsal.wallet.to_string().as_str(), rehearsal.approvals), (CLEO, 1));
    let sent = |step: &super::Sent| (step.to.clone(), format!("{}{}", step.selector, step.words.concat()));
    let played = rehearsal.calls.iter().map(|call| (call.to.to_string(), hex::encode(&call.data)));
    assert_eq!(played.collect::<Vec<_>>(), steps.iter().map(sent).collect::<Vec<_>>());
    assert_eq!(rehearsal.asked, []);
}

/// Whichever server follows the chain: all know by the database how far.
#[tokio::test]
async fn steps_are_played_by_a_node_that_has_what_is_known() {
    let chain = saying(&[Outcome::Done, Outcome::Done]);
    let app = trading(&chain).await;
    buy(&app, &[("5", 2)], json!({})).await.ok();
    let head = Block {
        number: 12,
        hash: BlockHash::from([12; 32]),
        parent: BlockHash::from([11; 32]),
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    app.store.start_chain(ChainId(137), head).await.unwrap();
    buy(&app, &[("5", 2)], json!({})).await.ok();
    let rehearsals = chain.rehearsals.lock().unwrap();
    assert_eq!(rehearsals.iter().map(|one| one.known).collect::<Vec<_>>(), [None, Some(12)]);
}

#[tokio::test]
async fn a_step_that_would_fail_is_refused_in_words() {
    let gone = format!("c969e0f2{:064x}", 5);
    let lacking = format!("fb8f41b2{:0>64}{:064x}{:064x}", &V2[2..], 3, 2000);
    for (outcomes, expected) in [
        (
            [Outcome::Done, reverted(&gone)],
            "buyer: step 2 of 2 (buy of order 5) would fail right now: order 5 is no longer there: it was filled or \
             cancelled (InvalidRequestId)"
                .to_owned(),
        ),
        (
            [Outcome::Done, reverted(&lacking)],
            format!(
                "buyer: step 2 of 2 (buy of order 5) would fail right now: {V2} may take 3 of the buyer's money where it \
                 takes 2000: the buyer must approve it first (ERC20InsufficientAllowance)"
            ),
        ),
        (
            [texted("Pausable: paused"), Outcome::Untried],
            "buyer: step 1 of 2 (tokenApproval) would fail right now: the contract is paused: nothing moves until its \
             owner resumes it (the contract says \"Pausable: paused\")"
                .to_owned(),
        ),
        (
            [Outcome::Done, texted("go\u{7} to\u{202e} evil.example\n")],
            "buyer: step 2 of 2 (buy of order 5) would fail right now: the contract says \"go to evil.example\""
                .to_owned(),
        ),
        (
            [Outcome::Done, Outcome::Reverted(Bytes::new())],
            "buyer: step 2 of 2 (buy of order 5) would fail right now: the contract refused without a word: what it \
             was asked for is not allowed as things are"
                .to_owned(),
        ),
    ] {
        let app = trading(&saying(&outcomes)).await;
        let answer = buy(&app, &[("5", 2)], json!({})).await;
        assert_eq!(refusal(&answer), (409, expected));
        assert_eq!(answer.json["code"], 1004);
    }
    let app = trading(&saying(&[Outcome::Done, reverted("12345678")])).await;
    let answer = buy(&app, &[("5", 1), ("6", 1)], json!({})).await;
    let (_, said) = refusal(&answer);
    assert!(said.contains("(buy of orders 5, 6)") && said.contains("0x12345678"), "{said}");
}

/// Nothing that a node cannot tell refuses anything.
#[tokio::test]
async fn what_is_not_tried_is_handed_out_and_said() {
    for why in [Unplayed::NoNode, Unplayed::Off, Unplayed::Busy, Unplayed::Silent, Unplayed::Behind] {
        let app = trading(&answering(Err(why))).await;
        let answer = buy(&app, &[("5", 2)], json!({})).await;
        assert_eq!(answer.json["simulation"], json!({ "steps": 0, "note": why.to_string() }));
        assert_eq!(steps(answer).len(), 2);
    }
    let note = "the node does not tell what comes of a step after those before it";
    for (outcomes, tried) in [
        ([Outcome::Done, Outcome::Untried], 1),
        ([Outcome::Untried, Outcome::Untried], 0),
        // What would fail may have been repaired by what nobody tried.
        ([Outcome::Untried, reverted("12345678")], 0),
    ] {
        let app = trading(&saying(&outcomes)).await;
        let answer = buy(&app, &[("5", 2)], json!({})).await;
        assert_eq!(answer.json["simulation"], json!({ "steps": tried, "note": note }));
    }
}

#[tokio::test]
async fn steps_for_another_service_are_not_tried() {
    let chain = saying(&[Outcome::Done, reverted("12345678")]);
    let app = trading(&chain).await;
    let trails = json!({ "useWithTrails": true });
    for answer in
        [buy(&app, &[("5", 2)], trails.clone()).await, sell(&app, &[("7", 1)], trails.clone()).await]
    {
        let simulation = answer.ok()["simulation"].clone();
        let note = "the steps go to another service, which may first give the wallet what it lacks";
        assert_eq!(simulation, json!({ "steps": 0, "note": note }));
    }
    assert_eq!(chain.rehearsals.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_wallet_that_lacks_the_chains_own_money_is_told_how_much() {
    let chain = saying(&[Outcome::Untried]);
    let native = with(sold("5", ETHER), json!({ "priceCurrencyAddress": NATIVE }));
    let app = market_with(&[], Some(Arc::clone(&chain)), [native]).await;
    chain.played.lock().unwrap().as_mut().unwrap().as_mut().unwrap().funds = U256::from(ETHER / 10 * 3);
    let (status, said) = refusal(&buy(&app, &[("5", 1)], json!({})).await);
    let expected = format!(
        "buyer: {CLEO} has 0.3 M where these steps take 1.0 M: 0.7 M are missing, beside what the network takes for itself"
    );
    assert_eq!((status, said), (409, expected));
    // All that it takes is enough; what the network takes is not known.
    chain.played.lock().unwrap().as_mut().unwrap().as_mut().unwrap().funds = U256::from(ETHER);
    buy(&app, &[("5", 1)], json!({})).await.ok();
}

#[tokio::test]
async fn what_a_wallet_approves_by_itself_is_tried_and_no_step() {
    let chain = saying(&[Outcome::Done, Outcome::Done]);
    let app = trading(&chain).await;
    let sequence = json!({ "walletType": "sequence" });
    let answer = sell(&app, &[("7", 1)], sequence.clone()).await;
    assert_eq!(answer.json["simulation"], json!({ "steps": 1 }));
    assert_eq!(steps(answer).len(), 1);
    assert_eq!(chain.rehearsals.lock().unwrap()[0].calls.len(), 2);
    for (outcomes, step) in [
        ([reverted("12345678"), Outcome::Untried], "the approval that the wallet makes by itself"),
        ([Outcome::Done, reverted("12345678")], "step 1 of 1 (sell of order 7)"),
    ] {
        let app = trading(&saying(&outcomes)).await;
        let (status, said) = refusal(&sell(&app, &[("7", 1)], sequence.clone()).await);
        assert!(status == 409 && said.starts_with(&format!("seller: {step} would fail right now")), "{said}");
    }
}

#[tokio::test]
async fn orders_are_made_and_taken_back_in_steps_that_were_tried() {
    let body = |who: &str, member: &str, side: &str| {
        json!({ who: member, "contractType": "ERC1155", "orderbook": "service_marketplace_v2", side: {
            "tokenId": "1", "quantity": "2", "expiry": "4102444800", "currencyAddress": DOLLAR,
            "pricePerToken": "7" } })
    };
    let cancel = json!({ "maker": ANA, "orderId": "5" });
    let all: [(&str, &str, Value); 3] = [
        ("GenerateListingTransaction", "owner: step 1 of 1 (createListing)", body("owner", ANA, "listing")),
        ("GenerateOfferTransaction", "maker: step 1 of 1 (createOffer)", body("maker", ANA, "offer")),
        ("GenerateCancelTransaction", "maker: step 1 of 1 (cancel of order 5)", cancel),
    ];
    for (operation, step, body) in all {
        let body = with(body, json!({ "walletType": "service" }));
        let count = usize::from(operation != "GenerateCancelTransaction");
        let chain = saying(&vec![Outcome::Done; count + 1]);
        let app = trading(&chain).await;
        let answer = super::ask(&app, operation, body.clone()).await;
        assert_eq!(answer.json["simulation"], json!({ "steps": 1 }), "{operation}: {}", answer.json);
        assert_eq!(chain.rehearsals.lock().unwrap()[0].calls.len(), count + 1);
        let mut outcomes = vec![Outcome::Done; count];
        outcomes.push(reverted("f5993428"));
        let app = trading(&saying(&outcomes)).await;
        let (status, said) = refusal(&super::ask(&app, operation, body).await);
        let expected =
            format!("{step} would fail right now: the marketplace does not take this currency here");
        assert!(status == 409 && said.starts_with(&expected), "{said}");
    }
}
