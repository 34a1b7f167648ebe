//! Receivers that are down, slow or lead elsewhere.

use bourse_server::Backstage;
use serde_json::json;

use super::receiver::{Does, Receiver};
use super::{add, lines, listener, sell, start, wait_for, wait_for_failures};
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
async fn nothing_is_sent_inward() {
    let inside = Receiver::start(Does::Answer(200)).await;
    let receiver = Receiver::start(Does::Redirect(inside.url())).await;
    let app = start(&[&receiver], &[]).await;
    let background = app.background();
    add(&app, &receiver.url()).await;
    sell(&app, &["0xa"]).await;
    wait_for_failures(&app, 1).await;
    let failure = lines(&app).await[0].failure.clone();
    assert_eq!(failure, "the host answers with status 307; redirects are not followed");
    // A name of this machine is none that is refused before it is looked up.
    let port = inside.host.rsplit_once(':').unwrap().1.to_owned();
    app.project_a.call("Indexer/RemoveAllWebhookListeners", json!({})).await.ok();
    add(&app, &format!("http://localhost:{port}/")).await;
    sell(&app, &["0xb"]).await;
    wait_for_failures(&app, 1).await;
    let failure = lines(&app).await[0].failure.clone();
    assert!(failure.starts_with("the host's address is "), "{failure}");
    assert_eq!((inside.count(), receiver.count()), (0, 1));
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
