//! Starts that move, collections that are left, and who may say so.

use bourse_market::facts::Fact;
use bourse_store::testing::{TestDatabase, batch, changes_since, load_all, operator};
use bourse_store::{
    Backing, BlockFacts, Change, Changes, CollectionKey, Followed, HistoryCommitted, ProjectFollow,
    ProjectScope, Settled, SignedOrder, StoreError,
};
use bourse_wire::{Address, Amount, Code, Error, Marketplace, OrderFacts, OrderSide, Timestamp};
use serde_json::json;

use crate::database::open;
use crate::projects::project;
use crate::stage::{CHAIN, Stage, account, approval, collection, filled, listing, transfer};

async fn followed(stage: &Stage) -> Followed {
    stage.store.following(collection(0)).await.unwrap().unwrap()
}

/// Reads everything that was not read yet, as a follower does, and finds the collection live.
async fn catch_up(stage: &Stage) {
    let Followed { next_block: from, .. } = followed(stage).await;
    let to = stage.newest().number;
    let blocks = stage.chain.iter().filter(|facts| facts.block.number >= from).cloned().collect();
    let done = stage.history(collection(0), from, to, blocks).await.unwrap();
    assert!(matches!(done, HistoryCommitted::Done { live: true, .. }), "{done:?}");
}

fn refused(result: Result<impl std::fmt::Debug, StoreError>) -> Error {
    match result {
        Err(StoreError::Refused(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// What happens in a collection: minted and sold on, one order open and one over.
fn busy() -> [Vec<Fact>; 3] {
    [
        vec![transfer(1, 0, 1), transfer(2, 0, 1), approval(1, true)],
        vec![listing(5, 1, 1), listing(6, 1, 2)],
        vec![filled(6, 2, 0), transfer(2, 1, 2)],
    ]
}

async fn busy_stage() -> Stage {
    let mut stage = Stage::new().await;
    for facts in busy() {
        stage.grow(&[&facts]).await;
    }
    stage
}

#[tokio::test]
async fn an_earlier_start_is_read_anew() {
    let mut stage = busy_stage().await;
    stage.grow(&[&[transfer(3, 0, 1)]]).await;
    let expected = stage.facts().await;
    assert_eq!(stage.store.follow(collection(0), 500, operator()).await.unwrap(), stage.id);
    assert_eq!(stage.facts().await, expected, "a later start changes nothing");
    stage.store.follow(collection(0), 99, operator()).await.unwrap();
    let Followed { from, next_block, live, .. } = followed(&stage).await;
    assert_eq!((from, next_block, live), (99, 99, false));
    let known = load_all(&stage.store, stage.id).await.unwrap();
    assert_eq!((known.balances.len(), known.orders.len()), (0, 0));
    // Whoever follows the chain has not heard of it yet, and goes on.
    stage.grow(&[&[transfer(4, 0, 1)]]).await;
    let from_old_start = stage.history(collection(0), 105, 105, vec![stage.at(105).clone()]).await.unwrap();
    assert_eq!(from_old_start, HistoryCommitted::Stale);
    assert_eq!(load_all(&stage.store, stage.id).await.unwrap().balances.len(), 0);
    catch_up(&stage).await;
    Stage::assert_same(&stage.facts().await, &stage.facts_from_scratch().await, "read anew");
    // What is read again can be undone again, tokens too.
    stage.replace(101, 1, &[&[transfer(9, 0, 1)]]).await;
    Stage::assert_same(&stage.facts().await, &stage.facts_from_scratch().await, "after a fork");
    let tokens = load_all(&stage.store, stage.id).await.unwrap().tokens;
    assert_eq!(tokens.len(), 3, "1 and 2 of before the fork, 9 of it, and neither 3 nor 4: {tokens:?}");
}

#[tokio::test]
async fn a_start_that_moves_while_history_is_read_is_where_it_is_read_from() {
    let stage = busy_stage().await;
    stage.store.follow(collection(1), 102, operator()).await.unwrap();
    let blocks = |number: u64| -> Vec<BlockFacts> {
        vec![BlockFacts { facts: Vec::new(), ..stage.at(number).clone() }]
    };
    stage.history(collection(1), 102, 102, blocks(102)).await.unwrap();
    stage.store.follow(collection(1), 101, operator()).await.unwrap();
    let stale = stage.history(collection(1), 103, 103, blocks(103)).await.unwrap();
    assert_eq!(stale, HistoryCommitted::Stale, "what was read ahead is of no use any more");
    let again = stage.history(collection(1), 101, 101, blocks(101)).await.unwrap();
    assert!(matches!(again, HistoryCommitted::Done { live: false, .. }), "{again:?}");
}

/// A listing and an offer of token 1 that were signed.
fn signed() -> [SignedOrder; 2] {
    [("a listing", OrderSide::Listing), ("an offer", OrderSide::Offer)].map(|(id, side)| {
        let facts = OrderFacts {
            marketplace: Marketplace::Opensea,
            side,
            token_id: Some(1.into()),
            maker: account(1),
            operator: Some(account(0xee)),
            ..OrderFacts::sample(id)
        };
        let nonces = json!({ "contract": account(0xdd), "numbers": [["counter", "7"]] });
        SignedOrder { facts, native: "{}".to_owned(), nonces: serde_json::from_value(nonces).unwrap() }
    })
}

async fn put(stage: &Stage, change: Change) {
    stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
}

/// Tells what a chain said of the signed listing, and of the money behind the signed offer.
async fn look_after_signed(stage: &Stage) -> u64 {
    let [listing, offer] = signed().map(|order| order.facts.key());
    let settled = Settled {
        collection: collection(0),
        key: listing,
        standing: None,
        covered: Some(true),
        is_ahead: false,
    };
    assert!(stage.store.settle_orders(CHAIN, stage.newest(), vec![settled]).await.unwrap());
    stage
        .store
        .set_backing(collection(0), stage.newest(), vec![Backing { key: offer, units: None }])
        .await
        .unwrap()
}

/// The names of the orders that are known, and how much covers them.
fn covered(known: &Changes) -> Vec<(&str, Option<Amount>)> {
    let mut orders: Vec<_> =
        known.orders.iter().map(|order| (order.order_id.as_str(), order.backing)).collect();
    orders.sort_unstable();
    orders
}

#[tokio::test]
async fn what_is_unfollowed_is_left_alone() {
    let mut stage = busy_stage().await;
    for order in signed() {
        put(&stage, Change::SignedOrder(Box::new(order))).await;
    }
    let before = load_all(&stage.store, stage.id).await.unwrap();
    stage.store.unfollow(collection(0), operator()).await.unwrap();
    assert_eq!(stage.store.following(collection(0)).await.unwrap(), None);
    assert_eq!(
        changes_since(&stage.store, stage.id, before.version).await.unwrap(),
        None,
        "all load everything"
    );

    let left = load_all(&stage.store, stage.id).await.unwrap();
    assert_eq!(left.tokens, before.tokens, "tokens stay");
    assert!(left.balances.is_empty(), "nobody knows who holds them");
    let nothing = Some(Amount::ZERO);
    let expected = [("6", None), ("a listing", nothing), ("an offer", nothing)];
    assert_eq!(covered(&left), expected, "what is over stays, what was signed is not offered");

    // Followers that have not heard of it yet write nothing of it, nor do they fail.
    stage.grow(&[&[transfer(1, 1, 2), listing(7, 2, 1)]]).await;
    let history = stage.history(collection(0), 100, 101, vec![stage.at(101).clone()]).await.unwrap();
    assert_eq!(history, HistoryCommitted::Stale);
    assert_eq!(look_after_signed(&stage).await, 0);
    stage.replace(102, 1, &[&[transfer(8, 0, 1)]]).await;
    assert_eq!(load_all(&stage.store, stage.id).await.unwrap(), left);

    // Nor is it followed again because something happens to it.
    assert_eq!(stage.store.left_collections(CHAIN).await.unwrap(), [collection(0).address]);
    stage.store.discover(collection(0), 0, Timestamp::ZERO).await.unwrap();
    assert_eq!(stage.store.followed(CHAIN).await.unwrap(), []);
    for key in [collection(0), collection(7)] {
        assert_eq!(refused(stage.store.unfollow(key, operator()).await).code, Code::NotFound);
    }
}

#[tokio::test]
async fn what_is_followed_again_is_what_its_chain_says() {
    let mut stage = busy_stage().await;
    for order in signed() {
        put(&stage, Change::SignedOrder(Box::new(order))).await;
    }
    assert_eq!(look_after_signed(&stage).await, 0, "it is so already");
    stage.store.unfollow(collection(0), operator()).await.unwrap();
    stage.grow(&[&[transfer(2, 2, 1)]]).await;
    let (token_id, account, balance) = (1.into(), account(3), 7.into());
    put(&stage, Change::Balance { token_id, account, balance }).await;
    stage.store.follow(collection(0), 100, operator()).await.unwrap();
    assert!(stage.store.left_collections(CHAIN).await.unwrap().is_empty());
    let known = load_all(&stage.store, stage.id).await.unwrap();
    assert!(known.balances.is_empty(), "what others said meanwhile is forgotten");
    catch_up(&stage).await;
    assert_eq!(stage.store.unsettled_orders(CHAIN, 9).await.unwrap().len(), 2, "the chain is asked");
    assert_eq!(look_after_signed(&stage).await, 1);
    let known = load_all(&stage.store, stage.id).await.unwrap();
    let offered = covered(&known).into_iter().filter(|(id, _)| id.starts_with('a'));
    assert_eq!(offered.collect::<Vec<_>>(), [("a listing", None), ("an offer", None)]);
    let found: Vec<_> = stage.facts().await.into_iter().filter(|row| !row.contains("Opensea")).collect();
    Stage::assert_same(&found, &stage.facts_from_scratch().await, "followed again");
}

#[tokio::test]
async fn the_history_of_what_is_unfollowed_stays() {
    let stage = busy_stage().await;
    let activities =
        |rows: Vec<String>| rows.into_iter().filter(|row| row.contains(" activity ")).collect::<Vec<_>>();
    let before = activities(stage.facts().await);
    stage.store.unfollow(collection(0), operator()).await.unwrap();
    let page = stage.store.activities(stage.id, None, None, 100).await.unwrap();
    assert_eq!((page.len(), before.is_empty()), (before.len(), false));
}

fn asked(key: CollectionKey, from: u64, most: u64) -> ProjectFollow {
    ProjectFollow { key, from, most: Some(most) }
}

#[tokio::test]
async fn no_project_ends_what_another_or_the_operator_follows() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let (shared, operators, own) = (collection(0), collection(1), collection(2));
    store.follow_for(a, asked(shared, 50, 9), operator()).await.unwrap();
    let joined = store.follow_for(b, asked(shared, 70, 9), operator()).await.unwrap();
    assert_eq!((joined.from, joined.next_block), (50, 50), "what counts is told");
    store.follow(operators, 0, operator()).await.unwrap();
    store.follow_for(a, asked(operators, 0, 9), operator()).await.unwrap();
    store.discover(own, 0, Timestamp::ZERO).await.unwrap();
    store.unfollow(own, operator()).await.unwrap();
    store.follow_for(a, asked(own, 0, 9), operator()).await.unwrap();

    let is_followed = async |key| store.following(key).await.unwrap().is_some();
    let leave = async |scope: ProjectScope, key| store.unfollow_for(scope, key, operator()).await;
    for key in [operators, own] {
        assert_eq!(refused(leave(b, key).await).code, Code::NotFound, "it did not ask for it");
        assert!(is_followed(key).await);
    }
    leave(a, shared).await.unwrap();
    assert!(is_followed(shared).await, "another project asks for it");
    assert_eq!(refused(leave(a, shared).await).code, Code::NotFound, "once");
    leave(b, shared).await.unwrap();
    assert!(!is_followed(shared).await);
    leave(a, operators).await.unwrap();
    assert!(is_followed(operators).await, "the operator asks for it");
    leave(a, own).await.unwrap();
    assert!(!is_followed(own).await);
    // What a project leaves, the settings of the network may still want; what the operator leaves, they do not.
    assert!(store.left_collections(CHAIN).await.unwrap().is_empty());
    store.discover(own, 0, Timestamp::ZERO).await.unwrap();
    assert!(is_followed(own).await);
    store.follow_for(a, asked(shared, 0, 9), operator()).await.unwrap();
    store.unfollow(shared, operator()).await.unwrap();
    let id = store.collection(shared).await.unwrap().unwrap();
    assert!(
        !is_followed(shared).await && !store.is_follower(a, id).await.unwrap(),
        "the operator ends it always"
    );
    let nobody = ProjectScope::of_operator(99.try_into().unwrap());
    let unknown = store.follow_for(nobody, asked(shared, 0, 9), operator()).await;
    assert_eq!(refused(unknown).code, Code::ProjectNotFound);
}

fn random_address(number: u8) -> CollectionKey {
    CollectionKey { chain: CHAIN, address: Address::from_bytes([number; 20]) }
}

#[tokio::test]
async fn random_addresses_are_capped() {
    let (_database, store) = open().await;
    let (a, b) = (project(&store).await, project(&store).await);
    let mut accepted = 0;
    for number in 1..=150 {
        match store.follow_for(a, asked(random_address(number), 0, 100), operator()).await {
            Ok(_) => accepted += 1,
            Err(StoreError::Refused(error)) => {
                assert_eq!(error.code, Code::RequestConflict);
                assert!(error.message.contains("follows 100 collections"), "{error}");
                assert!(error.message.contains("limits.followed_collections_max"), "{error}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((accepted, store.followed(CHAIN).await.unwrap().len()), (100, 100));
    store.follow_for(a, asked(random_address(1), 0, 100), operator()).await.unwrap();
    store.follow_for(b, asked(random_address(120), 0, 100), operator()).await.unwrap();
    let by_operator = ProjectFollow { most: None, ..asked(random_address(121), 0, 0) };
    store.follow_for(a, by_operator, operator()).await.unwrap();
    for number in [2, 121] {
        store.unfollow_for(a, random_address(number), operator()).await.unwrap();
    }
    store.follow_for(a, asked(random_address(122), 0, 100), operator()).await.unwrap();
    assert_eq!(
        refused(store.follow_for(a, asked(random_address(123), 0, 100), operator()).await).code,
        Code::RequestConflict
    );
}

#[tokio::test]
async fn requests_at_once_do_not_get_around_the_cap() {
    let database = TestDatabase::fresh().await.unwrap();
    let (one, other) = (database.open().await.unwrap(), database.open().await.unwrap());
    let a = project(&one).await;
    let follows = (1..=20).map(|number| {
        let store = if number % 2 == 0 { &one } else { &other };
        store.follow_for(a, asked(random_address(number), 0, 3), operator())
    });
    let done = futures_util::future::join_all(follows).await;
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 3);
    assert_eq!(one.followed(CHAIN).await.unwrap().len(), 3);
}

#[tokio::test]
async fn of_many_who_come_and_go_at_once_none_fails() {
    let database = TestDatabase::fresh().await.unwrap();
    let (one, other) = (database.open().await.unwrap(), database.open().await.unwrap());
    let projects = [project(&one).await, project(&one).await];
    for round in 0..10 {
        let steps = (0..8).map(|step| {
            let (store, scope) = (if step % 2 == 0 { &one } else { &other }, projects[step % 2]);
            async move {
                let from = 100 - u64::try_from(step).unwrap();
                match (step + round) % 3 {
                    0 => store.unfollow_for(scope, collection(0), operator()).await,
                    1 => store.unfollow(collection(0), operator()).await,
                    _ => store.follow_for(scope, asked(collection(0), from, 9), operator()).await.map(drop),
                }
            }
        });
        for done in futures_util::future::join_all(steps).await {
            if done.is_err() {
                assert_eq!(refused(done).code, Code::NotFound);
            }
        }
        let follower = one.collection(collection(0)).await.unwrap();
        let mut asks = false;
        for scope in projects {
            asks |= match follower {
                Some(id) => one.is_follower(scope, id).await.unwrap(),
                None => false,
            };
        }
        assert_eq!(
            one.following(collection(0)).await.unwrap().is_some(),
            asks,
            "followed as long as it is asked for"
        );
    }
}
