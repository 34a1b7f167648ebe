//! What arrives, and in which order.

use std::collections::BTreeSet;

use bourse_store::testing::{change_unnoticed, take_back};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::json;
use sha2::Sha256;

use super::receiver::{Does, Received, Receiver};
use super::{TIMEOUT_MS, add, lines, sell, start, wait_for, wait_for_failures};
use crate::streams::sale;
use crate::support::orders::{commit, listing, orders};
use crate::support::seed::{RELICS, key};
use crate::support::wait_until;

fn verify(received: &Received, secret: &str) {
    let signed = format!("{}.{}", received.header("x-webhook-timestamp"), received.body);
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(signed);
    let signature = const_hex::decode(received.header("x-webhook-signature")).unwrap();
    assert!(mac.verify_slice(&signature).is_ok(), "{received:?}");
}

#[tokio::test]
async fn what_happens_is_sent_signed_and_in_order() {
    let receiver = Receiver::start(Does::Answer(204)).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    let (id, secret) = add(&app, &receiver.url()).await;
    let hashes: Vec<String> = (0..120).map(|number| format!("0x{number}")).collect();
    for some in hashes.chunks(40) {
        sell(&app, &some.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    wait_for(&receiver, hashes.len()).await;
    let expected: Vec<String> = hashes.iter().map(|hash| format!("BLOCK_ADDED {hash}")).collect();
    assert_eq!(receiver.told(), expected, "and nothing of what happened before");
    let received = receiver.received();
    for one in &received {
        verify(one, &secret);
    }
    let names: BTreeSet<&str> = received.iter().map(|received| received.header("x-webhook-id")).collect();
    assert_eq!(names.len(), hashes.len());
    assert_eq!(received[0].header("content-type"), "application/json");
    assert_eq!(received[0].header("x-webhook-timestamp"), app.now().unix_seconds().to_string());
    let listed = json!({ "chainId": 137, "contractAddress": RELICS, "page": { "pageSize": 1 } });
    let listed = app.project_a.call("Marketplace/ListCollectionActivities", listed).await.ok();
    let last = received.last().unwrap().json();
    assert_eq!(last["activity"], listed["activities"][0]);
    assert_eq!((&last["id"], &last["uid"]), (&last["activity"]["id"], &json!("0x119")));
    assert!(received[0].header("x-webhook-id").starts_with(&format!("{id}-")));
    let shown = crate::support::transcript::pretty(last);
    insta::assert_snapshot!(shown);
    background.stop().await;
}

#[tokio::test]
async fn only_what_filters_name_is_sent() {
    let receiver = Receiver::start(Does::Answer(200)).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    let filters = json!({ "events": ["sale"], "contractAddresses": [RELICS], "tokenIDs": ["2"] });
    let body = json!({ "chainId": "polygon", "url": receiver.url(), "filters": filters });
    app.project_a.call("Indexer/AddWebhookListener", body).await.ok();
    commit(&app.store, orders([listing("of token 2", 2, 5)])).await;
    commit(&app.store, vec![sale("0x1", 1), sale("0x2", 2), sale("0x3", 1)]).await;
    wait_for(&receiver, 1).await;
    wait_until("the line is at the end", async || lines(&app).await[0].sent.place.activity == 5).await;
    assert_eq!(receiver.told(), ["BLOCK_ADDED 0x2"]);
    background.stop().await;
}

#[tokio::test]
async fn what_a_chain_takes_back_is_sent_too() {
    let receiver = Receiver::start(Does::Answer(200)).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    sell(&app, &["0xa1", "0xa2", "0xa3"]).await;
    wait_for(&receiver, 3).await;
    wait_until("it is confirmed", async || lines(&app).await[0].sent.place.activity == 4).await;

    // What is taken back together fails in its middle, and goes on there.
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    receiver.does(Does::Refuse("0xa2"));
    take_back(&app.store, id, "0xa", false).await.unwrap();
    sell(&app, &["0xb"]).await;
    wait_for_failures(&app, 1).await;
    assert_eq!(lines(&app).await[0].sent.told, 2);
    receiver.does(Does::Answer(200));
    app.clock.advance(1);
    wait_for(&receiver, 8).await;
    let told = receiver.told();
    let removed = ["0xa1", "0xa2", "0xa2", "0xa3"].map(|hash| format!("BLOCK_REMOVED {hash}"));
    assert_eq!(told[3..7], removed);
    assert_eq!(told[7], "BLOCK_ADDED 0xb");

    // All of the chain is read again: whoever kept anything is told so.
    wait_until("it is confirmed", async || lines(&app).await[0].sent.place.retractions == 1).await;
    take_back(&app.store, id, "0xb", true).await.unwrap();
    sell(&app, &["0xc"]).await;
    wait_for(&receiver, 10).await;
    assert_eq!(receiver.told()[8..], ["UNKNOWN -", "BLOCK_ADDED 0xc"]);
    background.stop().await;
}

#[tokio::test]
async fn what_was_not_confirmed_is_sent_again_by_whoever_comes_next() {
    let receiver = Receiver::start(Does::Answer(200)).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    sell(&app, &["0xa"]).await;
    wait_for(&receiver, 1).await;
    wait_until("it is confirmed", async || lines(&app).await[0].sent.place.activity == 2).await;
    receiver.does(Does::Wait);
    sell(&app, &["0xb", "0xc"]).await;
    wait_for(&receiver, 2).await;
    background.stop().await;

    let settings = [("webhooks.allowed_hosts", receiver.host.as_str()), ("webhooks.timeout_ms", TIMEOUT_MS)];
    let after = app.another_asking(&settings, None).await;
    let background = after.background();
    wait_for(&receiver, 3).await;
    receiver.does(Does::Answer(200));
    wait_for(&receiver, 4).await;
    let expected = ["BLOCK_ADDED 0xa", "BLOCK_ADDED 0xb", "BLOCK_ADDED 0xb", "BLOCK_ADDED 0xc"];
    assert_eq!(receiver.told(), expected);
    let received = receiver.received();
    assert_eq!(received[1].header("x-webhook-id"), received[2].header("x-webhook-id"));
    background.stop().await;
}

#[tokio::test]
async fn what_arrived_without_being_confirmed_is_taken_back_too() {
    let receiver = Receiver::start(Does::Wait).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    sell(&app, &["0xa", "0xb"]).await;
    wait_for(&receiver, 1).await;
    background.stop().await;
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    take_back(&app.store, id, "0xa", false).await.unwrap();
    take_back(&app.store, id, "0xb", false).await.unwrap();

    let settings = [("webhooks.allowed_hosts", receiver.host.as_str()), ("webhooks.timeout_ms", TIMEOUT_MS)];
    let after = app.another_asking(&settings, None).await;
    receiver.does(Does::Answer(200));
    let background = after.background();
    sell(&app, &["0xc"]).await;
    wait_until("the last", async || receiver.told().last().unwrap() == "BLOCK_ADDED 0xc").await;
    let told = receiver.told();
    assert_eq!(told[..2], ["BLOCK_ADDED 0xa", "BLOCK_REMOVED 0xa"], "{told:?}");
    background.stop().await;
}

#[tokio::test]
async fn what_is_taken_back_is_tried_as_often_as_anything() {
    let receiver = Receiver::start(Does::Answer(503)).await;
    let app = start(&[&receiver], &[("webhooks.attempts_max", "3")]).await;
    let background = app.background();
    let (listener, _) = add(&app, &receiver.url()).await;
    sell(&app, &["0xa"]).await;
    wait_for_failures(&app, 1).await;
    app.clock.advance(1);
    wait_for_failures(&app, 2).await;
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    take_back(&app.store, id, "0xa", false).await.unwrap();
    app.clock.advance(2);
    // It begins anew with what is to be told by now.
    wait_for(&receiver, 3).await;
    wait_for_failures(&app, 1).await;
    let listener = listener.try_into().unwrap();
    assert!(app.store.dead_letters(app.project_a.scope, listener).await.unwrap().is_empty());
    app.clock.advance(1);
    wait_for_failures(&app, 2).await;
    receiver.does(Does::Answer(200));
    app.clock.advance(2);
    wait_until("it is confirmed", async || lines(&app).await[0].sent.place.retractions == 1).await;
    let told = receiver.told();
    assert_eq!(told, [["BLOCK_ADDED 0xa"; 2].as_slice(), &["BLOCK_REMOVED 0xa"; 3]].concat());
    let names: BTreeSet<String> =
        receiver.received().iter().map(|received| received.header("x-webhook-id").to_owned()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    background.stop().await;
}

/// As after a backup was brought back: numbers are given again, to something else.
#[tokio::test]
async fn something_else_in_the_same_place_has_another_name() {
    let receiver = Receiver::start(Does::Answer(200)).await;
    let app = start(&[&receiver], &[("webhooks.attempts_max", "1000")]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    receiver.does(Does::Refuse("0xa"));
    sell(&app, &["0xa"]).await;
    wait_for_failures(&app, 1).await;
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let sql = "UPDATE activities SET unique_hash = '0xb', tx_hash = '0xb'
        WHERE collection_id = $1 AND unique_hash = '0xa'";
    assert_eq!(change_unnoticed(&app.store, id, sql).await.unwrap(), 1);
    wait_until("it arrives", async || {
        app.clock.advance(1);
        receiver.told().last().unwrap() == "BLOCK_ADDED 0xb"
    })
    .await;
    let received = receiver.received();
    let names = [0, received.len() - 1].map(|index| received[index].header("x-webhook-id"));
    let place = |name: &str| name.rsplit_once('-').unwrap().0.to_owned();
    assert!(names[0] != names[1] && place(names[0]) == place(names[1]), "{names:?}");
    background.stop().await;
}

/// On PostgreSQL only: on SQLite there is one server.
#[tokio::test]
async fn of_two_servers_one_delivers_and_the_other_when_that_is_gone() {
    let receiver = Receiver::start(Does::Answer(200)).await;
    let app = start(&[&receiver], &[]).await;
    if !app.store.is_for_several() {
        return;
    }
    let settings = [("webhooks.allowed_hosts", receiver.host.as_str()), ("webhooks.timeout_ms", TIMEOUT_MS)];
    let (one, other) = (app.background(), app.another_asking(&settings, None).await.background());
    add(&app, &receiver.url()).await;
    for number in 0..30 {
        sell(&app, &[&format!("0x{number}")]).await;
    }
    wait_until("all of it", async || lines(&app).await[0].sent.place.activity == 31).await;
    assert_eq!(receiver.count(), 30, "nothing comes twice");
    // Whichever has the listener dies: neither says that it leaves.
    drop(one);
    sell(&app, &["0xlast"]).await;
    wait_until("somebody delivers", async || {
        app.clock.advance(1);
        receiver.count() == 31
    })
    .await;
    other.stop().await;
    assert_eq!(receiver.told().last().unwrap(), "BLOCK_ADDED 0xlast");
}
