//! Which order fills which place of a collectible, and which collectibles are listed.

use serde_json::{Value, json};

use super::{ask, listing, market, offer, orders, slots, token, tokens, with};
use crate::support::TestApp;

/// Token 1 with both, 2 with listings, 3 with offers, 4 and 10 with nothing.
async fn both_sides() -> TestApp {
    let mut changes = orders([
        listing("1 dear", 1, 50),
        listing("1 cheap", 1, 20),
        offer("1 low", 1, 5),
        offer("1 high", 1, 10),
        listing("2", 2, 10),
        offer("3 low", 3, 1),
        offer("3 high", 3, 30),
    ]);
    changes.extend([token(10, "ten"), token(4, "four")]);
    market(changes).await
}

async fn rows(app: &TestApp, side: &str, include_empty: bool) -> Value {
    let body = json!({ "side": side, "filter": { "includeEmpty": include_empty } });
    let answer = ask(app, "Marketplace/ListCollectibles", body.clone()).await.ok();
    let count = ask(app, "Marketplace/GetCountOfFilteredCollectibles", body).await.ok();
    assert_eq!(count["count"], answer["collectibles"].as_array().unwrap().len());
    answer
}

#[tokio::test]
async fn each_side_lists_its_own_tokens_best_first() {
    let app = both_sides().await;
    for (side, listed) in
        [("listing", vec!["2", "1"]), ("offer", vec!["3", "1"]), ("unknown", vec!["2", "1", "3"])]
    {
        assert_eq!(tokens(&rows(&app, side, false).await), listed, "{side}");
        // Those without an order come last, by number and not by text.
        let rest = ["1", "2", "3", "4", "10"].into_iter().filter(|token| !listed.contains(token));
        let all: Vec<&str> = listed.iter().copied().chain(rest).collect();
        assert_eq!(tokens(&rows(&app, side, true).await), all, "{side}");
    }
}

#[tokio::test]
async fn listing_and_offer_are_filled_whatever_the_side() {
    let app = both_sides().await;
    let one = |order| [Some(order), Some("1 cheap"), Some("1 high")];
    let two = |order| [order, Some("2"), None];
    let three = |order| [order, None, Some("3 high")];
    for (side, expected) in [
        ("listing", [one("1 cheap"), two(Some("2")), three(None)]),
        ("offer", [one("1 high"), two(None), three(Some("3 high"))]),
        ("unknown", [one("1 cheap"), two(Some("2")), three(Some("3 high"))]),
    ] {
        let answer = rows(&app, side, true).await;
        for row in answer["collectibles"].as_array().unwrap() {
            let number: usize = row["metadata"]["tokenId"].as_str().unwrap().parse().unwrap();
            assert_eq!(slots(row), expected.get(number - 1).copied().unwrap_or_default(), "{side} {number}");
            let nulls = ["order", "listing", "offer"].map(|slot| row.get(slot).is_some());
            assert_eq!(nulls, [true; 3], "empty places are null, not left out");
        }
    }
}

#[tokio::test]
async fn the_requests_order_filter_holds_for_all_three_places() {
    let app = both_sides().await;
    let opensea_only = with(listing("1 blur", 1, 1), json!({ "marketplace": "blur" }));
    let blur_offer = with(offer("1 blur offer", 1, 99), json!({ "marketplace": "blur" }));
    super::commit(&app.store, orders([opensea_only, blur_offer])).await;
    let asked = async |filter: Value| {
        let answer = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "offer", "filter": filter }))
            .await
            .ok();
        answer["collectibles"][0].clone()
    };
    let row = asked(json!({ "marketplaces": ["blur"] })).await;
    assert_eq!(slots(&row), [Some("1 blur offer"), Some("1 blur"), Some("1 blur offer")]);
    let row = asked(json!({ "marketplaces": ["opensea"], "searchText": "1" })).await;
    assert_eq!(slots(&row), [Some("1 high"), Some("1 cheap"), Some("1 high")]);
}
