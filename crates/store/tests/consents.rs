//! What takers have signed, as every server finds it.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::{GivenConsent, Store};
use bourse_wire::{Address, Marketplace, Timestamp};
use support::database::open;

const PLACE: Marketplace = Marketplace::PaymentProcessor;
const MOST: u64 = 4;

fn taker(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix_seconds(seconds)
}

fn given(subject: &str, until: i64) -> GivenConsent {
    GivenConsent { subject: subject.to_owned(), proof: format!("{subject} until {until}"), until }
}

/// What is good of a taker's, by what it is for and until when.
async fn good(store: &Store, place: Marketplace, number: u8, now: u64) -> Vec<(String, i64)> {
    let found = store.consents((place, taker(number)), at(now)).await.unwrap().into_iter();
    found.map(|given| (given.subject, given.until)).collect()
}

async fn put(store: &Store, number: u8, subject: &str, until: i64) {
    store.put_consent((PLACE, taker(number)), given(subject, until), MOST, at(1)).await.unwrap();
}

#[tokio::test]
async fn what_was_signed_is_good_for_a_while_and_replaced_by_what_is_signed_later() {
    let (_database, store) = open().await;
    for (subject, until) in [("a", 10), ("b", 20), ("b", 30)] {
        put(&store, 1, subject, until).await;
    }
    assert_eq!(good(&store, PLACE, 1, 10).await, [("a".to_owned(), 10), ("b".to_owned(), 30)]);
    assert_eq!(good(&store, PLACE, 1, 11).await, [("b".to_owned(), 30)]);
    assert_eq!(good(&store, PLACE, 2, 10).await, []);
    assert_eq!(good(&store, Marketplace::Blur, 1, 10).await, []);
}

#[tokio::test]
async fn what_a_marketplace_has_forgotten_is_and_what_was_signed_since_is_not() {
    let (_database, store) = open().await;
    put(&store, 1, "a", 10).await;
    put(&store, 1, "b", 10).await;
    put(&store, 2, "a", 10).await;
    // Another server has taken a later one.
    put(&store, 1, "b", 20).await;
    let whose = (PLACE, taker(1));
    store.forget_consents(whose, vec![given("a", 10), given("b", 10)]).await.unwrap();
    assert_eq!(good(&store, PLACE, 1, 1).await, [("b".to_owned(), 20)]);
    assert_eq!(good(&store, PLACE, 2, 1).await, [("a".to_owned(), 10)]);
}

#[tokio::test]
async fn what_ends_first_makes_room() {
    let (_database, store) = open().await;
    // Several may end at once.
    for number in 1..=6 {
        put(&store, number, "a", if number == 6 { 9 } else { 10 }).await;
    }
    let mut kept = Vec::new();
    for number in 1..=6 {
        kept.extend(good(&store, PLACE, number, 1).await);
    }
    assert_eq!(kept.len(), 4);
    assert!(kept.iter().all(|(_, until)| *until == 10), "{kept:?}");
    // What is over makes room for good.
    store.put_consent((PLACE, taker(7)), given("a", 50), MOST, at(11)).await.unwrap();
    assert_eq!(good(&store, PLACE, 7, 1).await, [("a".to_owned(), 50)]);
    assert_eq!(good(&store, PLACE, 5, 1).await, []);
}
