//! Being told of new blocks, by nodes of all kinds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use alloy_primitives::B256;
use bourse_chain::rpc::{Subscription, SubscriptionOptions};
use bourse_chain::testing::know;
use bourse_chain::{RealPace, Status, SubscriptionState, Word};
use bourse_market::facts::Block;
use bourse_wire::{ChainId, Timestamp};
use tokio::sync::watch;

use crate::teller::{Manner, Teller, until};

/// Somebody who listens, until this is gone.
struct Listener {
    status: Status,
    word: watch::Sender<Word>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn subscription(tellers: &[&Teller], options: SubscriptionOptions) -> Subscription<RealPace> {
    let started = std::time::Instant::now();
    Subscription {
        chain: ChainId(1),
        urls: tellers.iter().map(|teller| teller.url().parse().unwrap()).collect(),
        options,
        pace: RealPace::new(move || {
            Timestamp::from_unix_nanos(i128::try_from(started.elapsed().as_nanos()).unwrap())
        }),
        status: Status::new(ChainId(1), Arc::default()),
        word: watch::Sender::default(),
        chance: || [7; 16],
    }
}

/// Waits that are short, but for a node that answers.
fn hasty() -> SubscriptionOptions {
    SubscriptionOptions {
        backoff_first: Duration::from_millis(1),
        backoff_max: Duration::from_millis(20),
        ..SubscriptionOptions::default()
    }
}

fn listen(tellers: &[&Teller], options: SubscriptionOptions) -> Listener {
    let subscription = subscription(tellers, options);
    let (status, word) = (subscription.status.clone(), subscription.word.clone());
    Listener { status, word, task: tokio::spawn(subscription.run()) }
}

impl Listener {
    fn state(&self) -> Option<SubscriptionState> {
        self.status.get().subscription
    }

    fn told(&self) -> Option<u64> {
        self.word.borrow().head.map(|head| head.number)
    }

    async fn until_alive(&self) {
        until("it is told", || self.word.borrow().is_alive).await;
    }

    /// What was wrong with a node first.
    async fn trouble(&self) -> String {
        until("it fails", || self.state().is_some_and(|state| state.trouble.is_some())).await;
        let state = self.state().unwrap();
        format!("{} {}", state.node, state.trouble.unwrap().message)
    }
}

#[tokio::test]
async fn blocks_are_told_of_and_again_after_the_node_was_gone() {
    let teller = Teller::start(Manner::Tells).await;
    let listener = listen(&[&teller], hasty());
    listener.until_alive().await;
    assert_eq!(listener.told(), None);
    for number in [101, 102, 99] {
        teller.head.send_replace(number);
        until("the block is told of", || listener.told() == Some(number)).await;
    }
    let state = listener.state().unwrap();
    let shown = format!("ws://{}", teller.address);
    assert_eq!((state.node, state.is_alive, state.trouble), (shown, true, None));
    let mut word = listener.word.subscribe();
    word.mark_unchanged();
    teller.end.notify_waiters();
    until("it is noticed", || teller.connections.load(Ordering::Relaxed) > 1).await;
    assert!(word.has_changed().unwrap(), "whoever follows looks at once");
    listener.until_alive().await;
    teller.head.send_replace(103);
    until("the block is told of", || listener.told() == Some(103)).await;
    assert!(listener.trouble().await.contains("it closed the connection"));
}

/// What a node may do instead, and what is said of it then.
#[tokio::test]
async fn odd_nodes_are_left_and_named() {
    let brief = SubscriptionOptions { timeout: Duration::from_millis(200), ..hasty() };
    for (manner, options, said) in [
        (Manner::Pages, hasty(), "it answers with status 200 where a WebSocket was asked for"),
        (Manner::Mistakes, hasty(), "it answers what another connection asked for"),
        (Manner::Mute, brief, "timed out"),
        (Manner::Refuses, hasty(), "it refuses eth_subscribe: notifications not supported"),
        (Manner::Elsewhere, hasty(), "it is a node of chain 2, not of 1"),
        (Manner::Babbles, hasty(), "what it tells is no head of a block: <html>busy</html>"),
        (Manner::Digresses, hasty(), "what it tells is no head of a block: {"),
        (Manner::Boasts, hasty(), "1099511627776"),
        (Manner::Drones, hasty(), "262144"),
        (Manner::Floods, hasty(), "it says more than 3000 things at a time"),
        (Manner::Pesters, hasty(), "it says more than 3000 things at a time"),
        (Manner::HangsUp, hasty(), "it closed the connection"),
    ] {
        let teller = Teller::start(manner).await;
        let listener = listen(&[&teller], options);
        let trouble = listener.trouble().await;
        assert!(trouble.contains(said) && !trouble.contains("SECRET"), "{manner:?}: {trouble}");
        until("it is tried again", || teller.connections.load(Ordering::Relaxed) >= 3).await;
    }
}

#[tokio::test]
async fn one_that_hears_nothing_any_more_is_left() {
    let teller = Teller::start(Manner::Deaf).await;
    let often = SubscriptionOptions { ping: Duration::from_millis(50), ..hasty() };
    let trouble = listen(&[&teller], often).trouble().await;
    assert!(trouble.ends_with("it does not answer any more"), "{trouble}");
}

#[tokio::test]
async fn a_node_that_is_alive_and_tells_of_nothing_is_left_where_others_have_blocks() {
    let teller = Teller::start(Manner::Tells).await;
    let often = SubscriptionOptions { ping: Duration::from_millis(50), ..hasty() };
    let subscription = subscription(&[&teller], often);
    let status = subscription.status.clone();
    let (hash, at) = (B256::repeat_byte(1), Timestamp::ZERO);
    know(&status, Block { number: 107, hash, parent: B256::ZERO, at });
    let word = subscription.word.clone();
    let listener = Listener { status, word, task: tokio::spawn(subscription.run()) };
    let trouble = listener.trouble().await;
    assert!(trouble.ends_with("it does not tell of new blocks: others have block 107"), "{trouble}");
}

#[tokio::test]
async fn the_next_node_is_subscribed_to_when_one_fails() {
    let (odd, good) = (Teller::start(Manner::HangsUp).await, Teller::start(Manner::Tells).await);
    let listener = listen(&[&odd, &good], hasty());
    let shown = format!("ws://{}", good.address);
    until("the other one tells", || {
        listener.state().is_some_and(|state| state.is_alive && state.node == shown)
    })
    .await;
    let tried = subscription(&[&odd], hasty()).try_out().await;
    assert_eq!(tried, Ok(()), "it can be subscribed to");
    let gone = Teller::start(Manner::Pages).await;
    let tried = subscription(&[&gone, &good], hasty()).try_out().await;
    assert_eq!(tried, Ok(()));
    let tried = subscription(&[&gone], hasty()).try_out().await.unwrap_err();
    assert!(tried.starts_with(&format!("ws://{}: it answers with status 200", gone.address)), "{tried}");
}
