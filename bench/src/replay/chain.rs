//! The recorded chain: the same in every run, and in the process that replays it.

use super::books::Books;
use super::event::{Log, MARKET, POTIONS, RELICS};
use super::hex::{Address, Word};
use super::world::World;
use bourse_random::Random;

/// Its id, that of a development network.
pub(super) const CHAIN_ID: u64 = 31_337;

/// Blocks at the end in which nothing happens. Some programs leave the newest blocks to later, because they may
/// be replaced; so that all have the same to do, nothing is in them.
pub(super) const QUIET_BLOCKS: usize = 64;

const SEED: u64 = 0x5eed_0001;

/// 2024-01-01, in seconds.
const FIRST_TIME: u64 = 1_704_067_200;
const BLOCK_SECONDS: u64 = 2;

/// Transactions in a block, at most; on average it is about half of that.
const TRANSACTIONS_MAX: u64 = 14;

/// How many accounts for each log.
const LOGS_FOR_ACCOUNT: usize = 60;

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) number: u64,
    pub(super) hash: Word,
    pub(super) parent: Word,
    /// When it was made, in seconds.
    pub(super) at: u64,
    pub(super) transactions: Vec<Transaction>,
    /// The place of its first log among all logs, and the place behind its last.
    pub(super) logs: std::ops::Range<usize>,
}

/// A transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transaction {
    pub(super) hash: Word,
    pub(super) sender: Address,
    /// The contract that was called.
    pub(super) to: Address,
}

/// A log in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlacedLog {
    pub(super) log: Log,
    pub(super) block: usize,
    /// Its transaction's place in the block.
    pub(super) transaction: usize,
    /// Its own place in the block.
    pub(super) index: usize,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) blocks: Vec<Block>,
    pub(super) logs: Vec<PlacedLog>,
    /// What the logs amount to.
    pub(super) books: Books,
}

impl Chain {
    /// A chain with this many logs or a few more, and almost a tenth as many blocks.
    pub(super) fn new(logs: usize) -> Self {
        let mut world = World::new(SEED, logs / LOGS_FOR_ACCOUNT);
        let mut random = Random::new(SEED ^ u64::MAX);
        let mut chain = Self { blocks: Vec::new(), logs: Vec::new(), books: Books::default() };
        // The first block is always empty.
        chain.append(&mut random, 0, &mut world);
        while chain.logs.len() < logs {
            let transactions = random.between(1, TRANSACTIONS_MAX);
            chain.append(&mut random, transactions, &mut world);
        }
        for _ in 0..QUIET_BLOCKS {
            chain.append(&mut random, 0, &mut world);
        }
        chain.books = world.books();
        chain
    }

    /// The newest block.
    pub(super) fn head(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.number)
    }

    fn append(&mut self, random: &mut Random, transactions: u64, world: &mut World) {
        let block = self.blocks.len();
        let number = u64::try_from(block).unwrap_or(u64::MAX);
        let at = FIRST_TIME + number * BLOCK_SECONDS;
        let parent = self.blocks.last().map_or([0; 32], |block| block.hash);
        let first = self.logs.len();
        let mut made = Vec::new();
        for transaction in 0..transactions {
            let action = world.act(at);
            // The last log tells best which contract was called.
            let to = action.logs.last().map_or(MARKET, |log| log.address);
            made.push(Transaction { hash: word(random), sender: action.sender, to });
            for log in action.logs {
                let (index, transaction) =
                    (self.logs.len() - first, usize::try_from(transaction).unwrap_or(0));
                self.logs.push(PlacedLog { log, block, transaction, index });
            }
        }
        let logs = first..self.logs.len();
        self.blocks.push(Block { number, hash: word(random), parent, at, transactions: made, logs });
    }
}

/// Whether a contract is one of the chain's.
pub(super) fn is_contract(address: Address) -> bool {
    [RELICS, POTIONS, MARKET].contains(&address)
}

fn word(random: &mut Random) -> Word {
    let mut word = [0; 32];
    for part in word.chunks_exact_mut(8) {
        part.copy_from_slice(&random.next().to_be_bytes());
    }
    word
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Chain, QUIET_BLOCKS};
    use crate::replay::books::Books;
    use crate::replay::event::{MARKET, RELICS, ZERO};
    use crate::replay::hex::{Address, Word};

    #[test]
    fn it_is_the_same_each_time() {
        let (one, other) = (Chain::new(2_000), Chain::new(2_000));
        assert_eq!((&one.blocks, &one.logs, &one.books), (&other.blocks, &other.logs, &other.books));
        assert!((2_000..2_020).contains(&one.logs.len()), "{}", one.logs.len());
        let density = one.logs.len() / one.blocks.len();
        assert!((7..=12).contains(&density), "{density}");
    }

    #[test]
    fn blocks_hang_together() {
        let chain = Chain::new(2_000);
        for pair in chain.blocks.windows(2) {
            assert_eq!(pair[1].parent, pair[0].hash);
            assert_eq!(pair[1].number, pair[0].number + 1);
            assert!(pair[1].at > pair[0].at);
            assert_eq!(pair[1].logs.start, pair[0].logs.end);
        }
        for (place, log) in chain.logs.iter().enumerate() {
            let block = &chain.blocks[log.block];
            assert_eq!(block.logs.start + log.index, place);
            assert!(log.transaction < block.transactions.len());
        }
        let quiet = &chain.blocks[chain.blocks.len() - QUIET_BLOCKS..];
        assert!(quiet.iter().all(|block| block.logs.is_empty() && block.transactions.is_empty()));
        assert_eq!(chain.blocks[0].transactions, []);
    }

    /// Reads the logs again, the simple way, and comes to the same books.
    #[test]
    fn the_logs_amount_to_the_books() {
        let chain = Chain::new(5_000);
        let mut balances: BTreeMap<(Address, u64, Address), i64> = BTreeMap::new();
        let mut orders: BTreeMap<u64, (&str, u64)> = BTreeMap::new();
        for placed in &chain.logs {
            let log = &placed.log;
            let words: Vec<Word> = log.data.chunks_exact(32).map(|word| word.try_into().unwrap()).collect();
            let (topics, data) = (&log.topics, &words);
            let mut moved = |from: Word, to: Word, token: u64, quantity: u64| {
                for (account, change) in [(from, -quantity.cast_signed()), (to, quantity.cast_signed())] {
                    let account: Address = account[12..].try_into().unwrap();
                    if account != ZERO {
                        *balances.entry((log.address, token, account)).or_default() += change;
                    }
                }
            };
            match (log.address, topics[0][0]) {
                (RELICS, 0xdd) => moved(topics[1], topics[2], low(topics[3]), 1),
                (_, 0xc3) => moved(topics[2], topics[3], low(data[0]), low(data[1])),
                (_, 0x4a) => {
                    let count = usize::try_from(low(data[2])).unwrap();
                    for place in 0..count {
                        moved(topics[2], topics[3], low(data[3 + place]), low(data[4 + count + place]));
                    }
                }
                (MARKET, 0xb6) => drop(orders.insert(low(topics[1]), ("open", low(data[2])))),
                (MARKET, 0x14) => {
                    let remaining = &mut orders.get_mut(&low(topics[1])).unwrap().1;
                    *remaining -= low(data[1]);
                    assert_eq!(*remaining, low(data[2]));
                }
                (MARKET, 0xe0) => orders.get_mut(&low(topics[1])).unwrap().0 = "cancelled",
                _ => {}
            }
        }
        let mut lines = Vec::new();
        for ((contract, token, account), balance) in balances {
            assert!(balance >= 0);
            if balance > 0 {
                let name = |address: Address| crate::replay::hex::data(&address);
                lines.push(format!("balance {} {token} {} {balance}", name(contract), name(account)));
            }
        }
        for (id, (state, remaining)) in orders {
            lines.push(format!("order {id} {state} {remaining}"));
        }
        // What happened is counted as it is made; all kinds must have.
        let activities = (1..=7).map(|action| format!("activities {action} "));
        let error = chain.books.check(&Books::read(&lines.join("\n")), "the test").unwrap_err().to_string();
        assert!(error.starts_with("7 lines") && !error.contains("not expected"), "{error}");
        assert!(activities.take(5).all(|line| error.contains(&line)), "{error}");
    }

    fn low(word: Word) -> u64 {
        u64::from_be_bytes(word[24..].try_into().unwrap())
    }
}
