//! Kinds of writes, for tests that let them fail.

use bourse_market::facts::{Block, Fact, StatedFact};
use bourse_store::testing::{self, facts_rows, load_all};
use bourse_store::{
    Actor, AttributionPage, Batch, BlockFacts, Blocks, BlocksCommitted, Change, CollectionKey, CountsCommit,
    CountsCommitted, CountsCursor, History, ProjectScope, Store, StoreError,
};
use bourse_wire::{Address, ChainId, Timestamp};

use super::orders::{change, offer};

pub(crate) const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

/// One kind of write. Each write has a number of its own, which count from 1.
pub(crate) trait Writing {
    /// Writes what has this number; done again, it is the same write.
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError>;
    /// Whether it is there. Fails where half of it is.
    async fn is_there(&self, store: &Store, number: u64) -> bool;
}

/// Batches with a name, each with a record of every kind.
pub(crate) struct Batches;

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
        let attributions = store.attributions(COLLECTION, AttributionPage::newest(10_000)).await.unwrap();
        let counts = [all.tokens.len(), all.balances.len(), all.orders.len(), attributions.len()];
        assert!(
            counts.iter().all(|count| *count as u64 == all.version),
            "{counts:?} of version {}",
            all.version
        );
        all.tokens.iter().any(|token| token.token_id == number.into())
    }
}

/// What is counted of a project, which is prepared for the version that is there.
pub(crate) struct CountsOf(pub(crate) ProjectScope);

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

/// Blocks of a chain, each of which makes a token.
pub(crate) struct Mints;

impl Mints {
    pub(crate) async fn begin(store: &Store) -> Self {
        store.follow(COLLECTION, 0, Actor::command_line(Timestamp::ZERO)).await.unwrap();
        store.start_chain(COLLECTION.chain, block(0)).await.unwrap();
        let history = History { collection: COLLECTION, from: 0, to: 0, blocks: Vec::new(), window: 4 };
        store.commit_history(history).await.unwrap();
        Self
    }
}

impl Writing for Mints {
    async fn write(&mut self, store: &Store, number: u64) -> Result<(), StoreError> {
        let minted = Fact::Transfer {
            token_id: number.into(),
            from: Address::ZERO,
            to: Address::from_bytes([1; 20]),
            quantity: 1.into(),
            single: true,
        };
        let block_of = block(number);
        let (collection, tx_hash) = (COLLECTION.address, block_of.hash);
        let fact = StatedFact { collection, tx_hash, log_index: 0, part: 0, fact: minted };
        let blocks = Blocks {
            chain: COLLECTION.chain,
            expected: block_of.parent,
            rewind_to: None,
            blocks: vec![BlockFacts { block: block_of, facts: vec![fact] }],
            covered: vec![COLLECTION.address],
            window: 4,
        };
        match store.commit_blocks(blocks).await? {
            BlocksCommitted::Done { .. } => Ok(()),
            BlocksCommitted::Moved => {
                assert!(self.is_there(store, number).await, "only by this block");
                Ok(())
            }
            BlocksCommitted::Uncovered => panic!("the one collection is covered"),
        }
    }

    async fn is_there(&self, store: &Store, number: u64) -> bool {
        let reached = store.chain_state(COLLECTION.chain).await.unwrap().unwrap().checkpoint.number;
        let rows = facts_rows(store, COLLECTION.chain).await.unwrap();
        for kind in ["token", "balance", "activity"] {
            let start = format!("{} {kind} ", COLLECTION.address);
            let count = rows.iter().filter(|row| row.starts_with(&start)).count() as u64;
            assert_eq!(count, reached, "{kind}, at block {reached}");
        }
        reached >= number
    }
}

fn block(number: u64) -> Block {
    let hash = |number: u64| alloy_primitives::keccak256(number.to_be_bytes());
    let parent = hash(number.wrapping_sub(1));
    Block { number, hash: hash(number), parent, at: Timestamp::from_unix_nanos(i128::from(number)) }
}
