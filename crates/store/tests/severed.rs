//! A connection to the database that is cut at every message of a write, before it or after it: what was acknowledged is
//! there, nothing is there by half, whoever asks again is not counted twice, and the store goes on.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod orders;
    pub(crate) mod projects;
    pub(crate) mod writings;
}

use bourse_store::testing::{Cut, Relay, TestDatabase, announced, metered};
use bourse_store::{OpenOptions, ProjectScope, Store, StoreError};
use bourse_wire::{Day, Timestamp};
use support::projects::project;
use support::writings::{Batches, CountsOf, Mints, Writing};

/// Cuts at every message, with one connection, so that the next write would get the one that was cut.
async fn sever_everywhere<W: Writing>(prepare: impl AsyncFnOnce(&Store) -> W) {
    let database = TestDatabase::fresh().await.unwrap();
    let Some(relay) = Relay::before(&database.url).await.unwrap() else { return };
    let direct = database.open().await.unwrap();
    let mut writing = prepare(&direct).await;
    let options = OpenOptions { connections_max: 1, ..OpenOptions::default() };
    let store = Store::open(&relay.url, options, Timestamp::ZERO).await.unwrap();
    let mut number = 0;
    for cut in [Cut::Before as fn(u32) -> Cut, Cut::After] {
        let mut lost = 0;
        for message in 1.. {
            number += 1;
            // What announces the write before is no part of this one.
            announced(&store).await;
            relay.cut(cut(message));
            let written = writing.write(&store, number).await;
            let was_cut = relay.spare();
            let is_there = writing.is_there(&direct, number).await;
            assert!(
                is_there || written.is_err(),
                "write {number} was acknowledged and is gone: {:?}",
                cut(message)
            );
            if let Err(error) = &written {
                assert!(matches!(error, StoreError::Unavailable(_)), "{error}: {:?}", cut(message));
            }
            if !was_cut {
                assert!(message > 2 && is_there, "no write has so few messages as {message}");
                break;
            }
            lost += u32::from(is_there && written.is_err());
            writing.write(&store, number).await.unwrap();
            assert!(
                writing.is_there(&direct, number).await,
                "write {number}, done again: {:?}",
                cut(message)
            );
        }
        // Once, or again where the one after it had to prepare its statements, so that COMMIT came a message later.
        let is_answer_lost = cut(1) == Cut::After(1);
        assert_eq!(
            lost > 0,
            is_answer_lost,
            "the answer to COMMIT is lost where answers are, and only there"
        );
    }
    for number in 1..=number {
        assert!(writing.is_there(&direct, number).await, "write {number} is gone");
    }
}

#[tokio::test]
async fn a_batch_is_there_once_wherever_its_connection_is_cut() {
    sever_everywhere(async |_| Batches).await;
}

#[tokio::test]
async fn counts_are_stored_once_wherever_their_connection_is_cut() {
    sever_everywhere(async |store| CountsOf(project(store).await)).await;
}

/// What is metered of a project, one unit more each time.
struct MeteredOf(ProjectScope);

impl Writing for MeteredOf {
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError> {
        store.put_metered(vec![metered(self.0.project(), "builder", Day::of(Timestamp::ZERO), number)]).await
    }

    async fn is_there(&self, store: &Store, number: u64) -> bool {
        let stored = store.metered_of(self.0, Day::of(Timestamp::ZERO)).await.unwrap();
        let units: u64 = stored.into_iter().map(|(_, units)| units).sum();
        assert!(units + 1 >= number, "{units} units have not what was there before {number}");
        units >= number
    }
}

#[tokio::test]
async fn usage_is_stored_once_wherever_its_connection_is_cut() {
    sever_everywhere(async |store| MeteredOf(project(store).await)).await;
}

#[tokio::test]
async fn a_block_is_there_once_wherever_its_connection_is_cut() {
    sever_everywhere(async |store| Mints::begin(store).await).await;
}
