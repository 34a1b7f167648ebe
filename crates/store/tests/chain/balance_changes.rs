//! Balances that changed since a block: whoever keeps a copy by them has what the store has, whatever the chain takes back.

use std::collections::BTreeMap;

use bourse_market::facts::{Block, BlockHash, Fact};
use bourse_store::{Actor, BalanceChanges, BlockFacts, ChangesQuery};
use bourse_wire::{Address, Amount, Timestamp, TokenId};

use crate::stage::{Stage, WINDOW, account, collection, first_block, stated, transfer};

/// A copy of who holds what, and the block that it is of.
#[derive(Clone, Default)]
struct Copy {
    held: BTreeMap<(TokenId, Address), Amount>,
    of: Option<(u64, BlockHash)>,
}

impl Copy {
    /// Reads what changed, in parts of so many; whether that was everything.
    async fn catch_up(&mut self, stage: &Stage, limit: u64) -> bool {
        let (mut is_all, mut after, mut of) = (false, None, None);
        loop {
            let query = ChangesQuery {
                since: self.of.map_or(0, |(number, _)| number),
                since_hash: self.of.map(|(_, hash)| hash),
                is_all,
                after,
                skip: 0,
                limit,
            };
            let part: BalanceChanges =
                stage.store.balance_changes(collection(0), query).await.unwrap().unwrap();
            if part.is_all && !is_all {
                self.held.clear();
            }
            is_all = part.is_all;
            of.get_or_insert(part.checkpoint);
            after = part.balances.last().map(|last| (last.token_id, last.account));
            let is_end = (part.balances.len() as u64) < limit;
            self.held
                .extend(part.balances.into_iter().map(|held| ((held.token_id, held.account), held.balance)));
            if is_end {
                break;
            }
        }
        self.held.retain(|_, balance| *balance != Amount::ZERO);
        self.of = of;
        is_all
    }
}

async fn held(stage: &Stage) -> BTreeMap<(TokenId, Address), Amount> {
    let mut held = BTreeMap::new();
    for number in 0..9 {
        for holding in stage.store.holdings(account(number), 0, None, 100).await.unwrap().held {
            held.insert((holding.token_id, account(number)), holding.balance);
        }
    }
    held
}

#[tokio::test]
async fn a_copy_follows_the_chain_and_its_reorganisations() {
    for limit in [1, 3, 100] {
        let mut stage = Stage::new().await;
        stage.grow(&[&[]]).await;
        let mut copy = Copy::default();
        assert!(copy.catch_up(&stage, limit).await, "nothing is known before");
        stage.grow(&[&[transfer(1, 0, 1), transfer(2, 0, 1)], &[transfer(3, 0, 2)]]).await;
        assert!(!copy.catch_up(&stage, limit).await);
        assert_eq!(copy.held, held(&stage).await);
        // What is sold is nothing.
        stage.grow(&[&[transfer(1, 1, 3)], &[transfer(3, 2, 3), transfer(2, 1, 4)]]).await;
        assert!(!copy.catch_up(&stage, limit).await);
        assert_eq!(copy.held, held(&stage).await);
        // The block of the copy is taken back, with what it changed, and nothing that comes instead changes that.
        let newest = stage.newest().number;
        let other: [&[Fact]; 2] = [&[transfer(9, 0, 5)], &[]];
        stage.replace(newest - 1, 7, &other).await;
        assert!(
            copy.catch_up(&stage, limit).await,
            "nobody knows what changed since a block that is no more"
        );
        assert_eq!(copy.held, held(&stage).await);
        // A block that is too old is none that anything is known since.
        let old: Vec<&[Fact]> = vec![&[]; usize::try_from(WINDOW).unwrap() + 1];
        stage.grow(&[&[transfer(1, 3, 6)]]).await;
        stage.grow(&old).await;
        assert!(copy.catch_up(&stage, limit).await);
        assert_eq!(copy.held, held(&stage).await);
    }
}

/// Older blocks change balances without it being noted for who keeps a copy.
#[tokio::test]
async fn while_older_blocks_are_read_a_copy_is_of_no_block() {
    for limit in [1, 100] {
        let mut stage = Stage::new().await;
        stage.grow(&[&[transfer(1, 0, 1)]]).await;
        let (newest, mut copy) = (stage.newest().number, Copy::default());
        copy.catch_up(&stage, limit).await;
        let before = copy.clone();
        // It is read anew from an earlier block on, up to the same block.
        let command_line = Actor::command_line(Timestamp::ZERO);
        stage.store.follow(collection(0), 90, command_line).await.unwrap();
        let block = Block { number: 92, ..first_block() };
        let moved = |(index, fact)| stated(collection(0), &block, index, fact);
        let facts = (0..).zip([transfer(7, 0, 2), transfer(8, 0, 3)]).map(moved).collect();
        stage.history(collection(0), 90, 95, vec![BlockFacts { block, facts }]).await.unwrap();
        assert!(copy.catch_up(&stage, limit).await);
        assert_eq!((&copy.held, copy.of), (&held(&stage).await, Some((0, BlockHash::ZERO))));
        let rest = vec![stage.at(newest).clone()];
        stage.history(collection(0), 96, newest, rest).await.unwrap();
        for mut copy in [before, copy] {
            assert!(copy.catch_up(&stage, limit).await, "what older blocks changed is not noted");
            assert_eq!((&copy.held, copy.of.unwrap().0), (&held(&stage).await, newest));
        }
        stage.grow(&[&[]]).await;
        let mut copy = Copy::default();
        copy.catch_up(&stage, limit).await;
        stage.grow(&[&[transfer(7, 2, 4)]]).await;
        assert!(!copy.catch_up(&stage, limit).await);
        assert_eq!(copy.held, held(&stage).await);
    }
}

#[tokio::test]
async fn what_is_not_followed_has_no_changes() {
    let stage = Stage::new().await;
    let query = ChangesQuery { since: 0, since_hash: None, is_all: false, after: None, skip: 0, limit: 1 };
    assert_eq!(stage.store.balance_changes(collection(5), query).await.unwrap(), None);
}
