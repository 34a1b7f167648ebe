//! The same against the real store: what is in it is what the chain states, and what a sync from scratch gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use bourse_chain::{Books, FollowError};
use bourse_store::testing::{TestDatabase, facts_rows, load_all};
use bourse_store::{Actor, CollectionKey, LeaseHeld, LeaseHolder, Migration, Store};
use bourse_wire::{Address, OrderStatus, Timestamp};

use crate::simulation::{Sim, weather_of};
use bourse_simulation::{CHAIN, COLLECTIONS, Facts, STRANGER, Weather, WorldOrder, run, seeds};

/// Whether a store knows of a collection what the made-up chain says.
async fn check_against(store: &Store, facts: &Facts, key: CollectionKey) {
    let id = store.collection(key).await.unwrap().unwrap();
    let all = load_all(store, id).await.unwrap();
    let held: BTreeMap<_, _> = all
        .balances
        .iter()
        .filter(|held| !held.balance.value().is_zero())
        .map(|held| ((held.token_id.to_string(), held.account), held.balance.to_string()))
        .collect();
    let of_it = facts.balances.iter().filter(|((of, ..), _)| *of == key.address);
    let expected: BTreeMap<_, _> =
        of_it.map(|((_, token, account), held)| ((token.to_string(), *account), held.to_string())).collect();
    assert_eq!(held, expected, "balances of {}", key.address);
    let tokens: Vec<String> = all.tokens.iter().map(|token| token.token_id.to_string()).collect();
    let mut minted: Vec<String> = facts
        .tokens
        .iter()
        .filter(|(of, _)| *of == key.address)
        .map(|(_, token)| token.to_string())
        .collect();
    minted.sort();
    let mut known = tokens;
    known.sort();
    assert_eq!(known, minted, "tokens of {}", key.address);
    check_orders(facts, key, &all.orders);
}

fn check_orders(facts: &Facts, key: CollectionKey, orders: &[bourse_wire::OrderFacts]) {
    let stored: BTreeMap<_, _> = orders
        .iter()
        .map(|order| {
            let known = WorldOrder {
                maker: order.maker,
                is_listing: order.side == bourse_wire::OrderSide::Listing,
                price: order.price_amount.value().to(),
                remaining: order.quantity_remaining.value().to(),
                is_cancelled: order.status == OrderStatus::Cancelled,
            };
            ((order.marketplace.number(), order.order_id.parse::<u64>().unwrap()), known)
        })
        .collect();
    let of_it = facts.orders.iter().filter(|((of, ..), _)| *of == key.address);
    let expected: BTreeMap<_, _> =
        of_it.map(|((_, kind, id), order)| ((*kind, *id), order.clone())).collect();
    assert_eq!(stored, expected, "orders of {}", key.address);
}

/// The store holds what the chain says, and what another one that begins now comes to.
async fn check_stored(sim: &Sim<Store>) {
    check_store(sim, &sim.books).await;
}

/// The same where the store is behind something.
pub(crate) async fn check_store<B: Books>(sim: &Sim<B>, store: &Store) {
    let facts = sim.shared.world().head().facts.clone();
    for address in &sim.added {
        check_against(store, &facts, CollectionKey { chain: CHAIN, address: *address }).await;
    }
    let fresh = TestDatabase::fresh().await.unwrap();
    let mut scratch = Sim::over(Arc::clone(&sim.shared), Arc::new(fresh.open().await.unwrap()));
    for address in &sim.added {
        scratch.add(*address).await;
    }
    scratch.settle().await;
    let (found, expected) =
        (facts_rows(store, CHAIN).await.unwrap(), facts_rows(&scratch.books, CHAIN).await.unwrap());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

async fn stored_sim(seed: u64, database: &TestDatabase) -> Sim<Store> {
    Sim::new(seed, Arc::new(database.open().await.unwrap()))
}

async fn storm(seed: u64) {
    let database = TestDatabase::fresh().await.unwrap();
    let mut sim = stored_sim(seed, &database).await;
    let blocks = 20 + sim.shared.dice.lock().unwrap().below(100);
    sim.shared.world().mine(blocks);
    sim.set(weather_of(seed));
    sim.storm(60).await;
    sim.settle().await;
    check_stored(&sim).await;
}

#[test]
fn every_weather_ends_with_the_same_store() {
    for seed in seeds(8) {
        run(seed, storm(seed));
    }
}

impl Sim<Store> {
    /// Follows a collection from a block on, as the operator does while the chain is followed.
    async fn follow(&mut self, address: Address, from: u64) {
        self.books
            .follow(CollectionKey { chain: CHAIN, address }, from, Actor::command_line(Timestamp::ZERO))
            .await
            .unwrap();
        if !self.added.contains(&address) {
            self.added.push(address);
        }
    }

    async fn leave(&mut self, address: Address) {
        if self.added.contains(&address) {
            self.books
                .unfollow(CollectionKey { chain: CHAIN, address }, Actor::command_line(Timestamp::ZERO))
                .await
                .unwrap();
            self.added.retain(|added| *added != address);
        }
    }

    /// A turn in which nothing may fail but what the weather makes fail.
    async fn turn_in_weather(&mut self) {
        match self.turn().await {
            Err(FollowError::Stopped { message }) => panic!("stopped: {message}"),
            Err(FollowError::Store(error)) if !error.to_string().contains("made up") => {
                panic!("the store refused: {error}")
            }
            _ => {}
        }
    }
}

/// Starts that move earlier while the chain is followed, whatever happens to it; and collections that are left and followed
/// again. Of those, tokens stay that the chain took back while nobody looked: then it takes nothing back.
async fn comings_and_goings(seed: u64, is_left: bool) {
    let database = TestDatabase::fresh().await.unwrap();
    let mut sim = stored_sim(seed, &database).await;
    sim.shared.world().mine(90);
    let reorganisation = if is_left { 0 } else { weather_of(seed).reorganisation };
    sim.set(Weather { reorganisation, ..weather_of(seed) });
    for _ in 0..70 {
        let roll = |sides| sim.shared.dice.lock().unwrap().below(sides);
        let address = COLLECTIONS[usize::try_from(roll(COLLECTIONS.len() as u64)).unwrap()];
        let (step, from, blocks) = (roll(12), roll(120), 1 + roll(6));
        match step {
            0 => sim.restart(),
            1 if !is_left => sim.shared.reorganise(),
            2 if is_left => sim.leave(address).await,
            3 | 4 => sim.follow(address, from).await,
            5..=8 => sim.shared.world().mine(blocks),
            _ => {}
        }
        sim.turn_in_weather().await;
    }
    for address in COLLECTIONS {
        sim.follow(address, 0).await;
    }
    sim.settle().await;
    check_stored(&sim).await;
}

#[test]
fn an_earlier_start_ends_with_the_same_store() {
    for seed in seeds(8) {
        run(seed, comings_and_goings(seed, false));
    }
}

#[test]
fn what_is_left_and_followed_again_ends_with_the_same_store() {
    for seed in seeds(8) {
        run(seed, comings_and_goings(seed, true));
    }
}

#[test]
fn what_the_operator_left_is_not_discovered_again() {
    run(7, async {
        let database = TestDatabase::fresh().await.unwrap();
        let mut sim = stored_sim(7, &database).await;
        sim.discover = true;
        sim.shared.world().mine(60);
        sim.add_all().await;
        sim.settle().await;
        let is_followed = async |sim: &Sim<Store>, address| {
            sim.books.following(CollectionKey { chain: CHAIN, address }).await.unwrap().is_some()
        };
        let [left, ..] = COLLECTIONS;
        sim.leave(left).await;
        for _ in 0..20 {
            sim.shared.world().mine(3);
            sim.settle().await;
        }
        assert!(!is_followed(&sim, left).await);
        assert!(is_followed(&sim, STRANGER).await, "others are noticed");
        sim.added.push(STRANGER);
        check_stored(&sim).await;
    });
}

#[test]
fn stored_blocks_of_every_depth_are_taken_back() {
    for depth in [1, 3, 20] {
        run(depth, async move {
            let database = TestDatabase::fresh().await.unwrap();
            let mut sim = stored_sim(depth, &database).await;
            sim.shared.world().mine(60);
            sim.add_all().await;
            sim.settle().await;
            sim.shared.world().reorganise(depth, depth + 1);
            sim.settle().await;
            check_stored(&sim).await;
            // Twice in a row, with a restart between.
            sim.shared.world().reorganise(depth, depth);
            let _ = sim.turn().await;
            sim.restart();
            sim.shared.world().reorganise(depth.min(4), depth + 2);
            sim.settle().await;
            check_stored(&sim).await;
        });
    }
}

#[test]
fn another_process_stands_by() {
    run(5, async {
        let database = TestDatabase::fresh().await.unwrap();
        let mut sim = stored_sim(5, &database).await;
        sim.shared.world().mine(40);
        sim.add_all().await;
        let another = LeaseHolder { name: "another".to_owned(), schema: Migration::newest() };
        let held = sim.books.hold_lease(CHAIN, &another, Timestamp::ZERO, None).await.unwrap();
        assert_eq!(held, LeaseHeld::Here);
        assert_eq!(sim.turn().await.unwrap(), bourse_chain::Turn::Standby);
        sim.books.release_lease(CHAIN, &another).await.unwrap();
        assert_ne!(
            sim.turn().await.unwrap(),
            bourse_chain::Turn::Standby,
            "what was given back is there at once"
        );
        sim.set(Weather::default());
        sim.settle().await;
        check_stored(&sim).await;
    });
}
