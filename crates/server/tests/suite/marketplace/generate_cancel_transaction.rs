//! Orders taken back.

use serde_json::{Value, json};

use super::trading::{CLEO, V2, ask, market, number, refusal, sold, steps, wanted};
use crate::marketplace::{ANA, BEN, with};
use crate::support::TestApp;
use crate::support::actor::Answer;

async fn cancel(app: &TestApp, id: &str, maker: &str, members: Value) -> Answer {
    ask(app, "GenerateCancelTransaction", with(json!({ "orderId": id, "maker": maker }), members)).await
}

#[tokio::test]
async fn by_their_makers() {
    let asleep = with(sold("3", 10), json!({ "status": "inactive" }));
    let app = market([sold("1", 10), wanted("2", 10), asleep]).await;
    for (id, maker) in [("1", ANA), ("2", BEN), ("3", ANA)] {
        let steps = steps(cancel(&app, id, maker, json!({})).await);
        let [step] = steps.as_slice() else { panic!("{steps:?}") };
        assert_eq!((step.id.as_str(), step.to.as_str(), step.value, step.price), ("cancel", V2, 0, 0));
        assert_eq!((step.selector.as_str(), step.words.len()), ("3015394c", 1));
        assert_eq!(number(&step.words[0]).to_string(), id);
    }
}

#[tokio::test]
async fn not_by_others_nor_when_they_are_over() {
    let app = market([
        sold("1", 10),
        with(sold("2", 10), json!({ "status": "cancelled" })),
        with(sold("3", 10), json!({ "quantityRemaining": "0" })),
        with(sold("4", 10), json!({ "validUntil": "2025-03-14T11:59:59Z" })),
        sold("0xab", 10),
    ])
    .await;
    let others = cancel(&app, "1", CLEO, json!({})).await;
    assert_eq!(refusal(&others), (400, format!("maker: order 1 was made by {ANA}, who alone can cancel it")));
    for (id, expected) in [
        ("2", "order 2 was cancelled by its maker"),
        ("3", "order 3 is filled: nothing of it remains"),
        ("4", "order 4 expired at 2025-03-14T11:59:59Z"),
    ] {
        assert_eq!(refusal(&cancel(&app, id, ANA, json!({})).await), (409, expected.to_owned()));
    }
    assert_eq!(cancel(&app, "9", ANA, json!({})).await.refusal(), (400, 2000));
    let name = cancel(&app, "0xab", ANA, json!({})).await;
    let expected = "orderId: `0xab` is no number, as the names of orders are on this marketplace";
    assert_eq!(refusal(&name), (400, expected.to_owned()));
    let elsewhere = cancel(&app, "1", ANA, json!({ "marketplace": "opensea" })).await;
    assert_eq!(elsewhere.refusal(), (400, 2000));
    let nowhere = cancel(&app, "1", ANA, json!({ "marketplace": "blur" })).await;
    assert_eq!(refusal(&nowhere), (400, "marketplace: blur has no contract on chain 137".to_owned()));
}
