//! A connection to the database that is cut at every message of a write, before it or after it: what was acknowledged is
//! there, nothing is there by half, whoever asks again is not counted twice, and the store goes on.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod orders;
    pub(crate) mod projects;
}

use bourse_store::testing::{self, Cut, Relay, TestDatabase, load_all};
use bourse_store::{
    AttributionPage, Batch, Change, CollectionKey, CountsCommit, CountsCommitted, CountsCursor, OpenOptions,
    ProjectScope, Store, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};
use support::orders::{change, offer};
use support::projects::project;

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

/// One kind of write. Each has a number of its own.
trait Writing {
    /// Writes what has this number; done again, it is the same write.
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError>;
    /// Whether it is there. Fails where half of it is.
    async fn is_there(&self, store: &Store, number: u64) -> bool;
}

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
        let is_answer_lost = cut(1) == Cut::After(1);
        assert_eq!(
            lost,
            u32::from(is_answer_lost),
            "the answer to COMMIT is lost where answers are, and only there"
        );
    }
    for number in 1..=number {
        assert!(writing.is_there(&direct, number).await, "write {number} is gone");
    }
}

/// Batches with a name, each with a record of every kind.
struct Batches;

impl Writing for Batches {
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError> {
        let changes = vec![
            Change::Token { token_id: number.into(), metadata: "{}".to_owned() },
            Change::Balance { token_id: number.into(), account: Address::ZERO, balance: 1.into() },
            change(offer(&number.to_string())),
        ];
        let key = Some(format!("batch {number}"));
        store.commit(Batch { key, ..testing::batch(COLLECTION, changes) }).await.map(|_| ())
    }

    async fn is_there(&self, store: &Store, number: u64) -> bool {
        let Some(id) = store.collection(COLLECTION).await.unwrap() else { return false };
        let all = load_all(store, id).await.unwrap();
        let attributions = store.attributions(COLLECTION, AttributionPage::newest(1000)).await.unwrap();
        let counts = [all.tokens.len(), all.balances.len(), all.orders.len(), attributions.len()];
        assert!(
            counts.iter().all(|count| *count as u64 == all.version),
            "{counts:?} of version {}",
            all.version
        );
        all.tokens.iter().any(|token| token.token_id == number.into())
    }
}

#[tokio::test]
async fn a_batch_is_there_once_wherever_its_connection_is_cut() {
    sever_everywhere(async |_| Batches).await;
}

/// What is counted of a project, which is prepared for the version that is there.
struct CountsOf(ProjectScope);

impl CountsOf {
    async fn version(&self, store: &Store) -> u64 {
        store.counts(self.0, CountsCursor::default()).await.unwrap().version
    }
}

impl Writing for CountsOf {
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError> {
        let commit = CountsCommit { expected: number - 1, ..CountsCommit::default() };
        match store.commit_counts(self.0, commit).await? {
            CountsCommitted::As(version) => assert_eq!(version, number),
            CountsCommitted::Behind => assert_eq!(self.version(store).await, number, "it was counted before"),
            CountsCommitted::Repeated(names) => panic!("there are no batches of these names: {names:?}"),
        }
        Ok(())
    }

    async fn is_there(&self, store: &Store, number: u64) -> bool {
        let version = self.version(store).await;
        assert!(version + 1 >= number, "version {version} has not what was there before {number}");
        version >= number
    }
}

#[tokio::test]
async fn counts_are_stored_once_wherever_their_connection_is_cut() {
    sever_everywhere(async |store| CountsOf(project(store).await)).await;
}
