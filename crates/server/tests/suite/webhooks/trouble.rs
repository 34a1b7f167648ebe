//! Receivers that are down, slow or lead elsewhere.

use bourse_server::Backstage;
use bourse_store::WebhookChanges;
use bourse_store::testing::{change_unnoticed, operator_at};
use serde_json::json;

use super::receiver::{Does, Down, Receiver};
use super::{add, lines, listener, sell, start, start_with, wait_for, wait_for_failures};
use crate::support::seed::{RELICS, key};
use crate::support::wait_until;

#[tokio::test]
async fn what_fails_is_tried_again_later_and_later_and_nothing_overtakes_it() {
    let (receiver, neighbour) =
        (Receiver::start(Does::Answer(503)).await, Receiver::start(Does::Answer(200)).await);
    let app = start(&[&receiver, &neighbour], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    add(&app, &neighbour.url()).await;
    sell(&app, &["0xa", "0xb"]).await;
    for (failures, wait) in [(1, 1), (2, 2), (3, 4)] {
        wait_for_failures(&app, failures).await;
        let line = &lines(&app).await[0];
        assert_eq!(line.due_at.unix_seconds() - app.now().unix_seconds(), wait);
        assert_eq!(line.failure, "the host answers with status 503");
        // Before it is due nothing is tried, while others are told.
        app.clock.advance(wait - 1);
        let hash = format!("0xc{failures}");
        let before = neighbour.count();
        sell(&app, &[&hash]).await;
        wait_until("the neighbour is told", async || neighbour.count() > before).await;
        assert_eq!(receiver.count() as u64, failures);
        app.clock.advance(1);
    }
    receiver.does(Does::Answer(200));
    wait_until("all of it", async || {
        app.clock.advance(1);
        receiver.told().last().unwrap() == "BLOCK_ADDED 0xc3"
    })
    .await;
    let mut told = receiver.told();
    told.dedup();
    let expected = ["0xa", "0xb", "0xc1", "0xc2", "0xc3"].map(|hash| format!("BLOCK_ADDED {hash}"));
    assert_eq!(told, expected);
    background.stop().await;
}

#[tokio::test]
async fn a_receiver_that_is_slow_delays_nobody_else() {
    let (slow, quick) = (Receiver::start(Does::Wait).await, Receiver::start(Does::Answer(200)).await);
    // Its project has two places, of which one is taken for as long as it says nothing.
    let app = start(&[&slow, &quick], &[("webhooks.project_deliveries_max", "2")]).await;
    let background = app.background();
    add(&app, &slow.url()).await;
    add(&app, &quick.url()).await;
    sell(&app, &["0xa", "0xb"]).await;
    wait_for(&slow, 1).await;
    sell(&app, &["0xc"]).await;
    wait_for(&quick, 3).await;
    assert_eq!(slow.count(), 1);
    slow.does(Does::Answer(200));
    wait_for(&slow, 3).await;
    assert_eq!(slow.told(), quick.told());
    background.stop().await;
}

#[tokio::test]
async fn a_receiver_that_takes_its_time_gives_way_to_others_after_each_message() {
    let (slow, quick) = (Receiver::start(Does::Wait).await, Receiver::start(Does::Answer(200)).await);
    // One place for both, which the one that was made first has first.
    let app = start(&[&slow, &quick], &[("webhooks.project_deliveries_max", "1")]).await;
    add(&app, &slow.url()).await;
    add(&app, &quick.url()).await;
    sell(&app, &["0xa", "0xb"]).await;
    let background = app.background();
    wait_for(&slow, 1).await;
    assert_eq!(quick.count(), 0);
    app.clock.advance(2);
    slow.does(Does::Hold("0xb"));
    wait_for(&quick, 2).await;
    wait_for(&slow, 2).await;
    slow.does(Does::Answer(200));
    sell(&app, &["0xc"]).await;
    wait_for(&quick, 3).await;
    wait_for(&slow, 3).await;
    assert_eq!(slow.told(), quick.told());
    background.stop().await;
}

#[tokio::test]
async fn a_receiver_that_is_down_is_told_all_of_it_once_it_is_up_and_neighbours_meanwhile() {
    let (down, neighbour) = (Down::new(), Receiver::start(Does::Answer(200)).await);
    let app = start_with(&[&down.host, &neighbour.host], &[]).await;
    let background = app.background();
    add(&app, &format!("http://{}/told", down.host)).await;
    add(&app, &neighbour.url()).await;
    sell(&app, &["0xa", "0xb"]).await;
    wait_for(&neighbour, 2).await;
    for failures in 1..=2 {
        wait_for_failures(&app, failures).await;
        let line = &lines(&app).await[0];
        assert!(line.failure.starts_with("the host cannot be reached: "), "{}", line.failure);
        app.clock.advance(2);
    }
    sell(&app, &["0xc"]).await;
    wait_for(&neighbour, 3).await;
    let up = down.come_up(Does::Answer(200));
    wait_until("all of it", async || {
        app.clock.advance(1);
        up.count() == 3
    })
    .await;
    assert_eq!(up.told(), neighbour.told());
    background.stop().await;
}

#[tokio::test]
async fn a_clock_that_was_ahead_silences_nobody_once_it_is_put_right() {
    let receiver = Receiver::start(Does::Answer(503)).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    app.clock.step(100_000);
    sell(&app, &["0xa"]).await;
    wait_for_failures(&app, 1).await;
    receiver.does(Does::Answer(200));
    app.clock.step(-100_000);
    wait_for(&receiver, 2).await;
    wait_until("it is confirmed", async || lines(&app).await[0].failures == 0).await;
    background.stop().await;
}

#[tokio::test]
async fn what_an_address_of_before_answers_is_nothing_to_the_new_one() {
    let (before, after) = (Receiver::start(Does::Wait).await, Receiver::start(Does::Answer(200)).await);
    let app = start(&[&before, &after], &[]).await;
    let background = app.background();
    let (id, _) = add(&app, &before.url()).await;
    sell(&app, &["0xa"]).await;
    wait_for(&before, 1).await;
    let changed = json!({ "listener": { "id": id, "url": after.url() } });
    app.project_a.call("Indexer/UpdateWebhookListener", changed).await.ok();
    before.does(Does::Answer(410));
    wait_for(&after, 1).await;
    let listener = listener(&app, id).await;
    assert_eq!((&listener["active"], &listener["pause"]), (&json!(true), &serde_json::Value::Null));
    background.stop().await;
}

#[tokio::test]
async fn what_cannot_be_read_of_one_project_keeps_no_other_from_being_told() {
    let (receiver, other) =
        (Receiver::start(Does::Answer(200)).await, Receiver::start(Does::Answer(200)).await);
    let app = start(&[&receiver, &other], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    let filters = json!({ "contractAddresses": [RELICS] });
    let body = json!({ "chainId": 137, "url": other.url(), "filters": filters });
    let added = app.project_b.call("Indexer/AddWebhookListener", body).await.ok();
    sell(&app, &["0xa"]).await;
    wait_for(&receiver, 1).await;
    wait_for(&other, 1).await;
    // From here on it cannot be told along which lines anybody delivers.
    let id = app.store.collection(key(RELICS)).await.unwrap().unwrap();
    let sql =
        "UPDATE webhook_cursors SET contract_address = 'none' WHERE collection_id = $1 AND project_id > 1";
    assert_eq!(change_unnoticed(&app.store, id, sql).await.unwrap(), 1);
    let changed = json!({ "listener": { "id": added["listener"]["id"], "name": "Changed" } });
    app.project_b.call("Indexer/UpdateWebhookListener", changed).await.ok();
    sell(&app, &["0xb"]).await;
    wait_for(&receiver, 2).await;
    assert_eq!(receiver.told(), ["BLOCK_ADDED 0xa", "BLOCK_ADDED 0xb"]);
    background.stop().await;
}

#[tokio::test]
async fn nothing_is_sent_inward() {
    let inside = Receiver::start(Does::Answer(200)).await;
    let receiver = Receiver::start(Does::Redirect(inside.url())).await;
    let neighbour = Receiver::start(Does::Answer(200)).await;
    let app = start(&[&receiver, &neighbour], &[]).await;
    let background = app.background();
    let (id, _) = add(&app, &receiver.url()).await;
    sell(&app, &["0xa"]).await;
    wait_for_failures(&app, 1).await;
    let failure = lines(&app).await[0].failure.clone();
    assert_eq!(failure, "the host answers with status 307; redirects are not followed");
    add(&app, &neighbour.url()).await;
    sell(&app, &["0xb"]).await;
    wait_for(&neighbour, 1).await;
    // Who leads elsewhere no longer is told all of it.
    receiver.does(Does::Answer(200));
    app.clock.advance(1);
    wait_for(&receiver, 3).await;
    assert_eq!(receiver.told(), ["0xa", "0xa", "0xb"].map(|hash| format!("BLOCK_ADDED {hash}")));
    wait_until("it is confirmed", async || lines(&app).await[0].sent.place.activity == 3).await;
    // An address that was taken once is looked at again each time that something is sent.
    let changes = WebhookChanges { url: Some(inside.url()), ..WebhookChanges::default() };
    let id = id.try_into().unwrap();
    app.store.update_webhook(app.project_a.scope, id, changes, operator_at(app.now())).await.unwrap();
    sell(&app, &["0xc"]).await;
    wait_for(&neighbour, 2).await;
    wait_until("it is refused", async || {
        lines(&app).await[0].failure == "the host's address is of this machine"
    })
    .await;
    assert_eq!((inside.count(), receiver.count(), neighbour.count()), (0, 3, 2));
    background.stop().await;
}

#[tokio::test]
async fn what_failed_too_often_is_put_aside_and_sent_again_by_hand() {
    let receiver = Receiver::start(Does::Refuse("0xa")).await;
    let app = start(&[&receiver], &[("webhooks.attempts_max", "2")]).await;
    let background = app.background();
    let (id, _) = add(&app, &receiver.url()).await;
    let (scope, id) = (app.project_a.scope, id.try_into().unwrap());
    let letters = async || app.store.dead_letters(scope, id).await.unwrap();
    sell(&app, &["0xa", "0xb"]).await;
    wait_until("what comes after it arrives", async || {
        app.clock.advance(1);
        lines(&app).await[0].sent.place.activity == 3
    })
    .await;
    let expected = ["0xa", "0xa", "0xb"].map(|hash| format!("BLOCK_ADDED {hash}"));
    assert_eq!(receiver.told(), expected);
    let [letter] = letters().await.try_into().unwrap();
    assert_eq!(letter.body, receiver.received()[0].body);
    assert_eq!(letter.failure, "the host answers with status 500");

    let backstage = Backstage::new(app.app.clone());
    receiver.does(Does::Answer(502));
    let (count, toggled) = (receiver.count(), json!({ "id": id }));
    app.project_a.call("Indexer/ToggleWebhookListener", toggled.clone()).await.ok();
    let refused = backstage.resend_webhook(scope, letter.id).await.ok().unwrap();
    assert_eq!(refused.as_deref(), Some("the webhook is paused: resume it first"));
    app.project_a.call("Indexer/ToggleWebhookListener", toggled).await.ok();
    assert_eq!((receiver.count(), letters().await), (count, vec![letter.clone()]));
    let refused = backstage.resend_webhook(scope, letter.id).await.ok().unwrap();
    assert_eq!(refused.as_deref(), Some("the host answers with status 502"));
    assert_eq!(letters().await[0].failure, "the host answers with status 502");
    receiver.does(Does::Answer(200));
    assert!(backstage.resend_webhook(app.project_b.scope, letter.id).await.is_err());
    assert_eq!(backstage.resend_webhook(scope, letter.id).await.ok().unwrap(), None);
    assert!(letters().await.is_empty());
    let received = receiver.received();
    assert_eq!(received.last().unwrap().header("x-webhook-id"), letter.message);
    assert_eq!(received.last().unwrap().body, letter.body);
    let metrics = app.anonymous.get("/metrics").await.text();
    assert!(metrics.contains("bourse_webhooks_dead_total 1\n"), "{metrics}");
    background.stop().await;
}

#[tokio::test]
async fn what_is_sent_by_hand_takes_a_place_of_its_project() {
    let receiver = Receiver::start(Does::Answer(500)).await;
    let settings = [("webhooks.attempts_max", "1"), ("webhooks.project_deliveries_max", "1")];
    let app = start(&[&receiver], &settings).await;
    let background = app.background();
    let (id, _) = add(&app, &receiver.url()).await;
    let (scope, id) = (app.project_a.scope, id.try_into().unwrap());
    let letters = async || app.store.dead_letters(scope, id).await.unwrap();
    sell(&app, &["0xa"]).await;
    wait_until("it is put aside", async || !letters().await.is_empty()).await;
    wait_until("the line is at the end", async || lines(&app).await[0].sent.place.activity == 2).await;
    receiver.does(Does::Wait);
    sell(&app, &["0xb"]).await;
    wait_for(&receiver, 2).await;
    let [letter] = letters().await.try_into().unwrap();
    let backstage = Backstage::new(app.app.clone());
    let refused = backstage.resend_webhook(scope, letter.id).await.ok().unwrap().unwrap();
    assert!(refused.starts_with("as many messages of the project are under way"), "{refused}");
    assert_eq!((receiver.count(), letters().await), (2, vec![letter]));
    background.stop().await;
}

#[tokio::test]
async fn a_receiver_that_is_gone_for_good_is_paused() {
    let receiver = Receiver::start(Does::Answer(410)).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    let (id, _) = add(&app, &receiver.url()).await;
    sell(&app, &["0xa", "0xb"]).await;
    wait_until("it is paused", async || listener(&app, id).await["active"] == false).await;
    assert!(listener(&app, id).await["pause"].as_str().unwrap().contains("410"));
    receiver.does(Does::Answer(200));
    app.project_a.call("Indexer/ResumeAllWebhookListeners", json!({})).await.ok();
    wait_for(&receiver, 3).await;
    let expected = ["0xa", "0xa", "0xb"].map(|hash| format!("BLOCK_ADDED {hash}"));
    assert_eq!(receiver.told(), expected, "what happened meanwhile is not lost");
    assert_eq!(listener(&app, id).await["pause"], serde_json::Value::Null);
    background.stop().await;
}
