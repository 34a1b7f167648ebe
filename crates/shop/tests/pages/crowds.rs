//! What many visitors cost.

use crate::shops::{app, collection, get, on, put_token};
use serde_json::json;

/// How often somebody may ask for a page before they are told to wait.
async fn times(visitor: &crate::support::actor::Actor, path: &str) -> usize {
    for count in 0..4_000 {
        if visitor.get(path).await.status == 429 {
            return count;
        }
    }
    panic!("nobody is ever told to wait")
}

#[tokio::test]
async fn pages_count_by_what_they_ask() {
    let app = app(on()).await;
    let visitor = |last: u8| app.anonymous.from([203, 0, 113, last]);
    let plain = times(&visitor(1), "/shop/1/basket").await;
    let dear = times(&visitor(2), &collection("/7")).await;
    assert_eq!(plain, 300);
    assert!((100..200).contains(&dear), "{dear}");
    // What scripts ask for again was made for somebody else already.
    let renewed = times(&visitor(3).with("sec-fetch-dest", "empty"), &collection("/7")).await;
    assert!(renewed > 2_500, "{renewed}");
}

#[tokio::test]
async fn a_crowd_that_renews_gets_one_page_and_who_opens_it_another() {
    let app = app(on()).await;
    let script = app.anonymous.with("sec-fetch-dest", "empty");
    let first = script.get(&collection("")).await;
    assert_eq!(first.status, 200);
    put_token(&app, json!({ "tokenId": "8", "name": "Just put" })).await;
    let again = script.get(&collection("")).await;
    assert_eq!((&again.body, again.header("etag")), (&first.body, first.header("etag")));
    assert_eq!(again.header("content-security-policy"), first.header("content-security-policy"));
    let known = script.with("if-none-match", first.header("etag")).get(&collection("")).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    // Another language, another host and another address are other pages.
    let german = script.with("accept-language", "de").get(&collection("")).await;
    assert!(german.text().contains("<html lang=\"de\">"));
    assert!(script.get(&collection("?sort=id")).await.text().contains("Just put"));

    assert!(get(&app, &collection("")).await.text().contains("Just put"), "who opens it sees all");
    app.clock.advance(1);
    assert!(script.get(&collection("")).await.text().contains("Just put"));

    // What was refused is not given to others.
    assert_eq!(script.get(&collection("/8888")).await.status, 404);
    put_token(&app, json!({ "tokenId": "8888" })).await;
    assert_eq!(script.get(&collection("/8888")).await.status, 200);
}
