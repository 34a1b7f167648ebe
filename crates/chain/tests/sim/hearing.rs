//! When nodes are asked for the newest block by a follower that hears of new ones.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::{B256, Bytes};
use bourse_chain::{
    Call, CallResults, Failure, Follower, LogFilter, Node, Pace, Span, SpanLogs, Status, Word,
};
use bourse_market::facts::{Block, BlockHash};
use bourse_simulation::CHAIN;
use bourse_wire::{Address, ChainId, Timestamp};
use tokio::sync::{Notify, watch};

use crate::memory_store::MemoryBooks;
use crate::simulation::options;

/// Time that passes when a test lets it pass, in milliseconds.
#[derive(Default)]
struct Clock(watch::Sender<u64>);

impl Pace for Clock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_nanos(i128::from(*self.0.borrow()) * 1_000_000)
    }

    fn passed(&self) -> Duration {
        Duration::from_millis(*self.0.borrow())
    }

    async fn sleep(&self, duration: Duration) {
        let mut time = self.0.subscribe();
        let ends = *time.borrow() + u64::try_from(duration.as_millis()).unwrap();
        time.wait_for(|now| *now >= ends).await.unwrap();
    }
}

/// A node with blocks and nothing in them, which counts how often it is asked for the newest.
struct Heads(Mutex<(Vec<Block>, u32)>);

/// A block of a height, on the chain that counts or on another one.
fn block(number: u64, branch: u8) -> Block {
    let hash = |number: u64, branch| {
        B256::with_last_byte(u8::try_from(number).unwrap()) | B256::left_padding_from(&[branch, 0])
    };
    Block { number, hash: hash(number, branch), parent: hash(number - 1, 0), at: Timestamp::ZERO }
}

impl Node for Heads {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        Ok(CHAIN)
    }

    async fn head(&self) -> Result<Block, Failure> {
        let mut known = self.0.lock().unwrap();
        known.1 += 1;
        Ok(*known.0.last().unwrap())
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        let known = self.0.lock().unwrap();
        let at = |number: &u64| known.0.iter().find(|block| block.number == *number).copied();
        Ok(numbers.iter().map(at).collect())
    }

    async fn logs(&self, _: Span, _: &[LogFilter]) -> Result<SpanLogs, Failure> {
        Ok(SpanLogs::default())
    }

    async fn call(&self, _: &[Call], _: Option<BlockHash>) -> Result<CallResults, Failure> {
        Err(Failure::retry("nobody asks"))
    }

    async fn code(&self, _: &[Address]) -> Result<Vec<Bytes>, Failure> {
        Err(Failure::retry("nobody asks"))
    }
}

/// A follower of such a node, and what it hears.
struct Stage {
    clock: Arc<Clock>,
    node: Arc<Heads>,
    word: watch::Sender<Word>,
    status: Status,
    books: Arc<MemoryBooks>,
}

impl Stage {
    /// Lets time pass, in steps, after which everybody does what there is to do.
    async fn pass(&self, duration: Duration) {
        for _ in 0..duration.as_millis() / 10 {
            self.clock.0.send_modify(|now| *now += 10);
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
        }
    }

    fn asked(&self) -> u32 {
        self.node.0.lock().unwrap().1
    }

    /// Makes the next block, of which nobody tells.
    fn mine(&self) -> Block {
        let mut known = self.node.0.lock().unwrap();
        let number = known.0.last().unwrap().number + 1;
        known.0.push(block(number, 0));
        block(number, 0)
    }

    fn tell(&self, head: Block) {
        self.word.send_modify(|word| word.head = Some(head));
    }

    fn alive(&self, is_alive: bool) {
        self.word.send_modify(|word| word.is_alive = is_alive);
    }

    fn followed(&self) -> u64 {
        self.status.get().checkpoint.unwrap().number
    }
}

/// Runs a follower that asks at an interval, and lets happen to it what a test wants.
fn hearing(poll: Duration, story: impl AsyncFnOnce(&Stage)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let stage = Stage {
            clock: Arc::default(),
            node: Arc::new(Heads(Mutex::new(((1..=40).map(|number| block(number, 0)).collect(), 0)))),
            word: watch::Sender::default(),
            status: Status::new(CHAIN, Arc::default()),
            books: Arc::default(),
        };
        let options = bourse_chain::FollowOptions { poll, ..options(false) };
        let (node, books) = (Arc::clone(&stage.node), Arc::clone(&stage.books));
        let follower = Follower::new(options, node, books, Arc::clone(&stage.clock), stage.status.clone());
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let follows = follower.hearing(stage.word.subscribe()).run(async move { stopped.notified().await });
        tokio::join!(follows, async {
            stage.pass(Duration::from_millis(200)).await;
            story(&stage).await;
            stop.notify_one();
        });
    });
}

#[test]
fn a_block_that_is_told_of_is_asked_for_at_once() {
    hearing(Duration::from_mins(1), async |stage| {
        stage.alive(true);
        stage.pass(Duration::from_secs(5)).await;
        let before = stage.asked();
        let untold = stage.mine();
        stage.pass(Duration::from_secs(20)).await;
        assert_eq!((stage.followed(), stage.asked()), (40, before), "there is no word of it");
        stage.tell(untold);
        stage.pass(Duration::from_millis(50)).await;
        assert_eq!((stage.followed(), stage.asked()), (41, before + 1));
        // One that another node has first is asked for until it is there.
        stage.tell(block(42, 0));
        stage.pass(Duration::from_millis(300)).await;
        stage.mine();
        stage.pass(Duration::from_millis(400)).await;
        assert_eq!(stage.followed(), 42);
        assert!(stage.asked() < before + 8, "{} {before}", stage.asked());
    });
}

#[test]
fn one_that_falls_silent_stops_nothing_and_without_any_all_is_as_before() {
    hearing(Duration::from_secs(1), async |stage| {
        stage.alive(true);
        stage.pass(Duration::from_secs(1)).await;
        let before = stage.asked();
        stage.mine();
        stage.pass(Duration::from_secs(8)).await;
        assert_eq!((stage.followed(), stage.asked()), (40, before), "ten times less often");
        stage.pass(Duration::from_secs(3)).await;
        assert_eq!((stage.followed(), stage.asked()), (41, before + 1));
        stage.alive(false);
        stage.pass(Duration::from_secs(1)).await;
        let before = stage.asked();
        stage.pass(Duration::from_secs(10)).await;
        assert!((9..=11).contains(&(stage.asked() - before)), "{} {before}", stage.asked());
    });
}

#[test]
fn one_that_tells_of_what_is_not_there_costs_no_more_than_asking_without_word() {
    hearing(Duration::from_secs(1), async |stage| {
        stage.alive(true);
        stage.pass(Duration::from_secs(1)).await;
        let before = stage.asked();
        for lie in 0..2_000 {
            stage.tell(block(41 + lie % 7, u8::try_from(1 + lie % 200).unwrap()));
            stage.pass(Duration::from_millis(10)).await;
        }
        let asked = stage.asked() - before;
        assert!((15..=30).contains(&asked), "{asked} times in twenty seconds");
        assert_eq!((stage.followed(), stage.status.get().reorgs), (40, 0));
    });
}

#[test]
fn the_right_to_follow_is_kept_however_seldom_nodes_are_asked() {
    hearing(Duration::from_mins(2), async |stage| {
        let renewals = || stage.books.0.lock().unwrap().renewals;
        let (asked, before) = (stage.asked(), renewals());
        stage.pass(Duration::from_mins(1)).await;
        assert_eq!(stage.asked(), asked);
        // A lease of half a minute is renewed after a third of it.
        assert!((5..=7).contains(&(renewals() - before)), "{} renewals", renewals() - before);
    });
}
