//! How many ways to the server and back the calls take that are made most. Each costs both sides as much as the statement itself,
//! and nobody who adds one sees it on SQLite. On one PostgreSQL only: a cluster takes other ways.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod orders;
    pub(crate) mod projects;
}

use std::time::Duration;

use bourse_store::testing::{Relay, TestDatabase, announced, batch, on_citus};
use bourse_store::{
    Change, CollectionKey, CountsCommit, NewHostedToken, OpenOptions, ProjectScope, Store, StoreError,
};
use bourse_wire::{Address, ChainId, CollectionInput, RecordId, Timestamp, TokenInput};
use support::orders::{change, offer};
use support::projects::project;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };
const NOW: Timestamp = Timestamp::ZERO;
/// How often something is done until every statement of it is prepared.
const WARM: u64 = 3;
/// How often it is done after that. A connection that rests for long in between is asked whether it is alive, so the least counts.
const COUNTED: u64 = 8;

/// A store with one connection behind a relay, so that all there is to count is what it asks.
struct Stage {
    relay: Relay,
    store: Store,
    scope: ProjectScope,
    hosted: RecordId,
    audience: RecordId,
    _database: TestDatabase,
}

async fn stage() -> Option<Stage> {
    let database = TestDatabase::fresh().await.unwrap();
    let relay = Relay::before(&database.url).await.unwrap().filter(|_| !on_citus())?;
    let options =
        OpenOptions { connections_max: 1, patience: Duration::from_mins(1), ..OpenOptions::default() };
    let store = Store::open(&relay.url, options, NOW).await.unwrap();
    let scope = project(&store).await;
    let hosted = store.create_hosted_collection(scope, CollectionInput::default(), NOW).await.unwrap().id;
    let audience = store.create_audience(scope, "guests".parse().unwrap(), NOW).await.unwrap().id;
    Some(Stage { relay, store, scope, hosted, audience, _database: database })
}

impl Stage {
    /// The ways that something takes, which has another number each time.
    async fn ways<T>(&self, mut work: impl AsyncFnMut(u64) -> Result<T, StoreError>) -> u64 {
        let mut least = u64::MAX;
        for number in 1..=WARM + COUNTED {
            // What was committed before is announced beside everything else.
            announced(&self.store).await;
            let before = self.relay.ways();
            work(number).await.unwrap();
            if number > WARM {
                least = least.min(self.relay.ways() - before);
            }
        }
        least
    }

    fn new_token(number: u64) -> NewHostedToken {
        NewHostedToken { token_id: number.into(), input: TokenInput::default(), private: false }
    }
}

fn tokens(number: u64, count: u64, undated: bool) -> Vec<Change> {
    let token = |token: u64| {
        let (token_id, metadata) = (token.into(), format!("\"{number}\""));
        if undated {
            Change::UndatedToken { token_id, metadata }
        } else {
            Change::Token { token_id, metadata }
        }
    };
    (0..count).map(token).collect()
}

fn orders(number: u64, count: u64) -> Vec<Change> {
    let order = |order: u64| {
        let mut order = offer(&order.to_string());
        order.price_amount = number.into();
        change(order)
    };
    (0..count).map(order).collect()
}

#[tokio::test]
async fn what_a_project_hosts_takes_so_many_ways() {
    let Some(stage) = stage().await else { return };
    let Stage { store, scope, hosted, audience, .. } = &stage;
    let create = stage
        .ways(async |number| store.create_hosted_token(*scope, *hosted, Stage::new_token(number), NOW).await);
    assert_eq!(
        create.await,
        5,
        "CreateToken: to begin, to note the change, to insert, to look for links, to commit"
    );
    let read = stage.ways(async |_| store.hosted_token_with_assets(*scope, *hosted, 1.into()).await);
    assert_eq!(read.await, 1, "GetToken");
    let read = stage.ways(async |_| store.audience(*scope, *audience).await);
    assert_eq!(read.await, 1, "GetAudience");
}

#[tokio::test]
async fn what_is_stated_of_a_collection_takes_so_many_ways() {
    let Some(stage) = stage().await else { return };
    let Stage { store, .. } = &stage;
    let ways = async |changes: fn(u64) -> Vec<Change>| {
        stage.ways(async |number| store.commit(batch(COLLECTION, changes(number))).await).await
    };
    // To begin, to find and hold the collection, to write what is told, to ask whether it is followed, to raise the version with
    // all that belongs to it, to commit; and more for each thing that depends on what there was.
    assert_eq!(ways(|number| tokens(number, 1, false)).await, 7, "a token");
    assert_eq!(ways(|number| tokens(number, 1, true)).await, 8, "one that nobody said when it changed");
    assert_eq!(ways(|number| tokens(number, 10, false)).await, 7, "some tokens");
    assert_eq!(
        ways(|number| tokens(number, 40, false)).await,
        8,
        "many, of which it is asked which are there"
    );
    assert_eq!(ways(|number| orders(number, 1)).await, 7, "an order");
    assert_eq!(ways(|number| orders(number, 40)).await, 7, "orders");
}

#[tokio::test]
async fn what_is_counted_takes_so_many_ways() {
    let Some(stage) = stage().await else { return };
    let Stage { store, scope, .. } = &stage;
    let count = stage.ways(async |number| {
        let (follows, stamp) = (number.saturating_sub(1), number);
        store
            .commit_counts(
                *scope,
                CountsCommit { expected: number - 1, follows, stamp, ..CountsCommit::default() },
            )
            .await
    });
    assert_eq!(count.await, 6, "counts of nothing but a version");
}
