//! What the chain says of signed orders: whether a contract signed them, and what became of them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::wallet::Wallet;
use super::{
    COLLECTION, MAKER, SEAPORT, TAKER, ask, buy, case, data, first_of, listed, put, refusal, signed, taken,
    text, vectors, venues_with,
};
use crate::marketplace::with;
use crate::support::TestApp;
use crate::support::chain::FakeChain;

const LOOKS_RARE: &str = "0x0000000000e655fae4d56241588680f86e3b2377";
const MANAGER: &str = "0x000000000060c4ca14cfc4325359062ace33fe3d";
const ZEROX: &str = "0xdef1c0ded9bec7f1a1670819833240f027b25eff";
const PROCESSOR: &str = "0x9a1d00bed7cd04bcda516d721a596eb22aac6834";
const BLUR: &str = "0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5";
const X2Y2: &str = "0x74312363e45dcaba76c59ec49a7aa8a65a67eed3";

const STATUS: &str = "getOrderStatus(bytes32)";
const COUNTER: &str = "getCounter(address)";
/// What a contract answers that agrees to a signature, as EIP-1271 has it.
const MAGIC: &str = "1626ba7e";

async fn on(chain: &Arc<FakeChain>) -> TestApp {
    venues_with(&[], Some(Arc::clone(chain))).await
}

fn seaport() -> Value {
    first_of("seaport", "a token for the chain's own currency")
}

/// Lets Seaport say of every order: validated, cancelled, filled, of how much; and of every maker how often they took all
/// of theirs back.
fn seaport_says(chain: &FakeChain, status: [u64; 4], counter: u64) {
    chain.says(SEAPORT, STATUS, &status);
    chain.says(SEAPORT, COUNTER, &[counter]);
}

/// The reason and the message of the only rejected order.
#[track_caller]
fn rejected(answer: &Value) -> (&str, &str) {
    let rejected = answer["rejected"].as_array().unwrap();
    assert_eq!(rejected.len(), 1, "{answer}");
    (text(&rejected[0]["reason"]), text(&rejected[0]["message"]))
}

#[tokio::test]
async fn a_contract_may_sign_by_saying_so() {
    let by_other = with(seaport(), json!({ "signature": Wallet::of(9).sign_text("anything") }));
    let chain = Arc::new(FakeChain::default());
    let app = on(&chain).await;
    // Nobody can be asked.
    let answer = put(&app, [by_other.clone()]).await;
    let (reason, message) = rejected(&answer);
    assert_eq!(reason, "invalid-signature");
    assert!(message.ends_with("only a node of the network can tell"), "{message}");
    let refused = ("invalid-signature", "signature: was not made by the maker");
    // The call fails, as it does where there is no contract.
    chain.awake();
    assert_eq!(rejected(&put(&app, [by_other.clone()]).await), refused);
    // The contract says something else than yes.
    for said in [
        "",
        "00",
        &"0".repeat(64),
        &format!("{}{MAGIC}", "0".repeat(56)),
        &format!("{MAGIC}{}", "1".repeat(56)),
        &format!("{MAGIC}{}", "0".repeat(120)),
    ] {
        chain.says_data(MAKER, MAGIC, said);
        assert_eq!(rejected(&put(&app, [by_other.clone()]).await), refused, "{said}");
    }
    assert!(app.store.collection(key()).await.unwrap().is_none());
    chain.says_data(MAKER, MAGIC, &format!("{MAGIC}{}", "0".repeat(56)));
    taken(&put(&app, [by_other]).await);
    assert_eq!(listed(&app, "listing", "5").await.len(), 1);
}

fn key() -> bourse_store::CollectionKey {
    bourse_store::CollectionKey { chain: bourse_wire::ChainId(1), address: COLLECTION.parse().unwrap() }
}

/// Each order gets its own answers, whatever is asked about those beside it.
#[tokio::test]
async fn answers_go_to_the_orders_that_they_are_about() {
    let chain = Arc::new(FakeChain::default());
    seaport_says(&chain, [0, 0, 0, 0], 0);
    chain.says(LOOKS_RARE, "userBidAskNonces(address)", &[99, 99]);
    let app = on(&chain).await;
    let by_other = with(seaport(), json!({ "signature": Wallet::of(9).sign_text("anything") }));
    let looks_rare = first_of("looks_rare", "a token for the chain's own currency");
    let zerox = first_of("zerox", "a token for the chain's own currency");
    chain.says(LOOKS_RARE, "userSubsetNonce(address,uint256)", &[0]);
    chain.says(LOOKS_RARE, "userOrderNonce(address,uint256)", &[0]);
    chain.says_data(ZEROX, "fbc4a518", &format!("{:064x}", 1));
    let answer = put(&app, [zerox, by_other, looks_rare, seaport()]).await;
    let reasons: Vec<_> =
        answer["rejected"].as_array().unwrap().iter().map(|one| (&one["index"], &one["reason"])).collect();
    let expected = [(&json!(1), &json!("invalid-signature")), (&json!(2), &json!("not-fillable"))];
    assert_eq!(reasons, expected, "{answer}");
    assert_eq!(answer["changed"], 2);
}

const CANCELLED: &str = "the maker took the order back, or filled another in its place";
const UNCOVERED: &str = "the maker of the order does not let the marketplace move the token";
const FILLED: &str = "the order is filled: nothing of it remains";

/// Makes a chain say something.
type Says = fn(&FakeChain);

/// An order, its name, what a chain says of it, and what follows; nothing where it can be filled.
type Case = (&'static str, Value, String, Says, &'static str);

fn looks_rare_says(chain: &FakeChain, ask_nonce: u64, subset: u64, order: u64, granted: u64) {
    chain.says(LOOKS_RARE, "userBidAskNonces(address)", &[0, ask_nonce]);
    chain.says(LOOKS_RARE, "userSubsetNonce(address,uint256)", &[subset]);
    chain.says(LOOKS_RARE, "userOrderNonce(address,uint256)", &[order]);
    chain.says(MANAGER, "hasUserApprovedOperator(address,address)", &[granted]);
}

fn zerox_says(chain: &FakeChain, status: u64) {
    chain.says_data(ZEROX, "fbc4a518", &format!("{status:064x}"));
}

fn processor_says(chain: &FakeChain, master: u64, is_used: u64) {
    chain.says(PROCESSOR, "masterNonces(address)", &[master]);
    chain.says(PROCESSOR, "isNonceUsed(address,uint256)", &[is_used]);
}

fn blur_says(chain: &FakeChain, taken: u64, nonce: u64) {
    chain.says(BLUR, "amountTaken(address,bytes32,uint256)", &[taken]);
    chain.says(BLUR, "nonces(address)", &[nonce]);
}

fn x2y2_says(chain: &FakeChain, status: u64) {
    chain.says(X2Y2, "inventoryStatus(bytes32)", &[status]);
}

fn cases() -> Vec<Case> {
    let families: [(&'static str, &[(Says, &'static str)]); 6] = [
        (
            "opensea",
            &[
                (|chain| seaport_says(chain, [0, 1, 0, 0], 0), CANCELLED),
                (|chain| seaport_says(chain, [0, 0, 0, 0], 7), CANCELLED),
                (|chain| seaport_says(chain, [1, 0, 1, 1], 0), FILLED),
                (|chain| seaport_says(chain, [0, 0, 0, 0], 0), ""),
            ],
        ),
        (
            "looks_rare",
            &[
                (|chain| looks_rare_says(chain, 7, 0, 0, 1), CANCELLED),
                (|chain| looks_rare_says(chain, 3, 1, 0, 1), CANCELLED),
                (|chain| looks_rare_says(chain, 3, 0, 9, 1), CANCELLED),
                (|chain| looks_rare_says(chain, 3, 0, 0, 0), UNCOVERED),
                (|chain| looks_rare_says(chain, 3, 0, 0, 1), ""),
            ],
        ),
        ("zerox", &[(|chain| zerox_says(chain, 2), CANCELLED), (|chain| zerox_says(chain, 1), "")]),
        (
            "payment_processor",
            &[
                (|chain| processor_says(chain, 3, 0), CANCELLED),
                (|chain| processor_says(chain, 2, 1), CANCELLED),
                (|chain| processor_says(chain, 2, 0), ""),
            ],
        ),
        (
            "blur",
            &[
                (|chain| blur_says(chain, 1, 3), CANCELLED),
                (|chain| blur_says(chain, 0, 4), CANCELLED),
                (|chain| blur_says(chain, 0, 3), ""),
            ],
        ),
        (
            "x2y2",
            &[
                (|chain| x2y2_says(chain, 2), FILLED),
                (|chain| x2y2_says(chain, 3), CANCELLED),
                (|chain| x2y2_says(chain, 0), ""),
            ],
        ),
    ];
    let of = |(marketplace, said): (&'static str, &[(Says, &'static str)])| {
        let (order, id) = order_on(marketplace);
        said.iter()
            .map(|(says, over)| (marketplace, order.clone(), id.clone(), *says, *over))
            .collect::<Vec<_>>()
    };
    families.into_iter().flat_map(of).collect()
}

/// An order on a marketplace, and its name.
fn order_on(marketplace: &str) -> (Value, String) {
    let held = vectors("held");
    let (order, id) = match marketplace {
        "blur" => (held["blur"]["orders"][0].clone(), held["blur"]["orders"][0]["id"].clone()),
        "x2y2" => (json!({ "native": held["x2y2"]["order"] }), held["x2y2"]["hash"].clone()),
        other => {
            let family = if other == "opensea" { "seaport" } else { other };
            let order = case(family, "a token for the chain's own currency")["orders"][0].clone();
            (order.clone(), order["id"].clone())
        }
    };
    (signed(marketplace, &order), text(&id).to_owned())
}

#[tokio::test]
async fn what_is_over_is_not_taken() {
    for (marketplace, order, _, says, over) in cases() {
        let chain = Arc::new(FakeChain::default());
        says(&chain);
        let answer = put(&on(&chain).await, [order]).await;
        // An approval may come yet.
        if over.is_empty() || over == UNCOVERED {
            taken(&answer);
        } else {
            assert_eq!(rejected(&answer), ("not-fillable", over), "{marketplace}");
        }
    }
}

#[tokio::test]
async fn what_became_over_is_not_bought() {
    for (marketplace, order, id, says, over) in cases() {
        let chain = Arc::new(FakeChain::default());
        let app = on(&chain).await;
        taken(&put(&app, [order]).await);
        says(&chain);
        let answer = buy(&app, marketplace, &id).await;
        if !over.is_empty() {
            let reason = format!("order {id}: {over}");
            assert_eq!(refusal(&answer), (409, reason.as_str()), "{marketplace}");
        } else if ["blur", "x2y2"].contains(&marketplace) {
            assert!(refusal(&answer).1.contains("no service of it is configured"), "{}", answer.json);
        } else {
            answer.ok();
        }
        // When nobody can be asked, what is stored decides.
        chain.asleep();
        let answer = buy(&app, marketplace, &id).await;
        assert!(answer.status == 200 || refusal(&answer).1.contains("is configured"), "{}", answer.json);
    }
}

#[tokio::test]
async fn the_chain_tells_how_much_is_left() {
    let case = case("seaport", "four of ten units");
    let (order, id) = (signed("opensea", &case["orders"][0]), text(&case["orders"][0]["id"]));
    let chain = Arc::new(FakeChain::default());
    seaport_says(&chain, [1, 0, 7, 10], 0);
    let app = on(&chain).await;
    taken(&put(&app, [order.clone()]).await);
    let token = text(&case["orders"][0]["native"]["offer"][0]["identifierOrCriteria"]);
    let found = listed(&app, "listing", token).await;
    assert_eq!((&found[0]["quantityInitial"], &found[0]["quantityRemaining"]), (&json!("10"), &json!("3")));
    // Put when nobody could be asked, and filled by somebody since.
    let chain = Arc::new(FakeChain::default());
    let app = on(&chain).await;
    taken(&put(&app, [order]).await);
    seaport_says(&chain, [1, 0, 7, 10], 0);
    let buy = async |quantity: &str| {
        let body = json!({ "buyer": TAKER, "marketplace": "opensea", "ordersData": data(&[(id, quantity)]) });
        ask(&app, "GenerateBuyTransaction", body).await
    };
    let reason = format!("4 units of order {id} where 3 can be filled right now");
    assert_eq!(refusal(&buy("4").await), (409, reason.as_str()));
    let step = buy("3").await.ok()["steps"][0].clone();
    assert!(text(&step["data"]).starts_with("0xe7acab24"), "{step}");
}
