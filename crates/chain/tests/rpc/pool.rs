//! Several nodes behind one name.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::{B256, Bytes};
use bourse_chain::rpc::{Pool, PoolOptions};
use bourse_chain::{Call, CallResults, Failure, LogFilter, Node, Pace, Span, TimedLog};
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId, Timestamp};

/// Time that passes only when somebody waits.
#[derive(Default)]
struct Stopwatch(AtomicU64);

impl Stopwatch {
    fn pass(&self, duration: Duration) {
        self.0.fetch_add(u64::try_from(duration.as_nanos()).unwrap(), Ordering::Relaxed);
    }
}

impl Pace for Stopwatch {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_nanos(i128::from(1_700_000_000_000_000_000 + self.0.load(Ordering::Relaxed)))
    }

    async fn sleep(&self, duration: Duration) {
        self.pass(duration);
    }
}

/// A node that answers its own number, or fails.
struct Scripted {
    number: Arc<AtomicU64>,
    chain: u64,
    failure: Arc<Mutex<Option<Failure>>>,
    asked: Arc<AtomicU32>,
}

impl Node for Scripted {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        Ok(ChainId(self.chain))
    }

    async fn head(&self) -> Result<Block, Failure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(failure) = self.failure.lock().unwrap().clone() {
            return Err(failure);
        }
        let number = self.number.load(Ordering::Relaxed);
        Ok(Block { number, hash: B256::ZERO, parent: B256::ZERO, at: Timestamp::ZERO })
    }

    async fn blocks(&self, _: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        Ok(Vec::new())
    }

    async fn logs(&self, _: Span, _: &[LogFilter]) -> Result<Vec<TimedLog>, Failure> {
        Ok(Vec::new())
    }

    async fn call(&self, _: &[Call], _: Option<BlockHash>) -> Result<CallResults, Failure> {
        Ok(Vec::new())
    }

    async fn code(&self, _: &[Address]) -> Result<Vec<Bytes>, Failure> {
        Ok(Vec::new())
    }
}

type Switch = Arc<Mutex<Option<Failure>>>;

struct Setup {
    pool: Pool<Scripted, Arc<Stopwatch>>,
    watch: Arc<Stopwatch>,
    switches: Vec<Switch>,
    asked: Vec<Arc<AtomicU32>>,
    numbers: Vec<Arc<AtomicU64>>,
}

fn setup(chains: &[u64], options: PoolOptions) -> Setup {
    let (mut nodes, mut switches, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = Vec::new();
    for (number, chain) in (1..).zip(chains) {
        let (failure, count) = (Switch::default(), Arc::new(AtomicU32::new(0)));
        let label = format!("node {number}");
        let number = Arc::new(AtomicU64::new(number));
        switches.push(Arc::clone(&failure));
        asked.push(Arc::clone(&count));
        numbers.push(Arc::clone(&number));
        nodes.push((label, Scripted { number, chain: *chain, failure, asked: count }));
    }
    let watch = Arc::new(Stopwatch::default());
    let pool = Pool::new(ChainId(5), nodes, options, Arc::clone(&watch));
    Setup { pool, watch, switches, asked, numbers }
}

fn fails(switch: &Switch, failure: Option<Failure>) {
    *switch.lock().unwrap() = failure;
}

#[tokio::test]
async fn the_next_node_answers_until_the_first_is_back() {
    let Setup { pool, watch, switches, asked, .. } = setup(&[5, 5], PoolOptions::default());
    let answers = || async { pool.head().await.unwrap().number };
    assert_eq!(answers().await, 1);
    fails(&switches[0], Some(Failure::retry("down")));
    for _ in 0..3 {
        assert_eq!(answers().await, 2);
    }
    // It was left alone after it failed once.
    assert_eq!(asked[0].load(Ordering::Relaxed), 2);
    watch.pass(Duration::from_millis(600));
    assert_eq!(answers().await, 2);
    assert_eq!(asked[0].load(Ordering::Relaxed), 3);
    // The second failure counts twice.
    watch.pass(Duration::from_millis(600));
    assert_eq!(answers().await, 2);
    assert_eq!(asked[0].load(Ordering::Relaxed), 3);
    fails(&switches[0], None);
    watch.pass(Duration::from_millis(600));
    assert_eq!(answers().await, 1);
}

#[tokio::test]
async fn what_is_about_the_question_goes_back_to_who_asked() {
    let Setup { pool, switches, asked, .. } = setup(&[5, 5], PoolOptions::default());
    for failure in [
        Failure::SmallerRange { suggested: Some(9), reason: String::new() },
        Failure::PossibleReorg { reason: String::new() },
    ] {
        fails(&switches[0], Some(failure.clone()));
        assert_eq!(pool.head().await, Err(failure));
    }
    assert_eq!(asked[1].load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_asked() {
    let Setup { pool, asked, .. } = setup(&[1, 5], PoolOptions::default());
    assert_eq!(pool.head().await.unwrap().number, 2);
    assert_eq!(asked[0].load(Ordering::Relaxed), 0);
    let Setup { pool, .. } = setup(&[1], PoolOptions::default());
    let refused = pool.head().await.unwrap_err();
    assert!(
        matches!(&refused, Failure::Stop { reason } if reason.contains("chain 1, not of 5")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn it_is_over_only_when_all_say_so() {
    let Setup { pool, switches, .. } = setup(&[5, 5], PoolOptions::default());
    let stop = Failure::Stop { reason: "no".to_owned() };
    fails(&switches[0], Some(stop.clone()));
    fails(&switches[1], Some(Failure::retry("busy")));
    assert_eq!(pool.head().await, Err(Failure::retry("busy")));
    fails(&switches[1], Some(stop.clone()));
    assert_eq!(pool.head().await, Err(stop));
}

#[tokio::test]
async fn a_node_that_stands_still_is_left_alone_until_it_moves() {
    let Setup { pool, watch, asked, numbers, .. } = setup(&[5, 5], PoolOptions::default());
    let set = |node: usize, number| numbers[node].store(number, Ordering::Relaxed);
    let head = || async { pool.head().await.unwrap().number };
    set(0, 100);
    set(1, 105);
    assert_eq!(head().await, 100);
    watch.pass(Duration::from_secs(29));
    assert_eq!(head().await, 100, "it may be slow");
    watch.pass(Duration::from_secs(1));
    assert_eq!(head().await, 105);
    set(1, 106);
    let so_far = asked[0].load(Ordering::Relaxed);
    assert_eq!(head().await, 106);
    assert_eq!(asked[0].load(Ordering::Relaxed), so_far);
    // It is tried again now and then.
    watch.pass(Duration::from_mins(1));
    set(1, 107);
    assert_eq!(head().await, 107);
    assert_eq!(asked[0].load(Ordering::Relaxed), so_far + 1);
    set(0, 108);
    watch.pass(Duration::from_mins(1));
    assert_eq!(head().await, 108);
    // A chain that makes no blocks is nobody's fault.
    set(1, 108);
    for _ in 0..3 {
        watch.pass(Duration::from_mins(1));
        assert_eq!(head().await, 108);
    }
    set(0, 109);
    assert_eq!(head().await, 109);
}

#[tokio::test]
async fn requests_keep_to_the_rate() {
    let options = PoolOptions { requests_per_second: Some(10), ..PoolOptions::default() };
    let Setup { pool, watch, .. } = setup(&[5], options);
    for _ in 0..5 {
        pool.head().await.unwrap();
    }
    let passed = watch.0.load(Ordering::Relaxed);
    assert_eq!(passed, 400_000_000);
    // A batch counts as the requests in it.
    pool.blocks(&[1, 2, 3, 4, 5]).await.unwrap();
    pool.head().await.unwrap();
    assert_eq!(watch.0.load(Ordering::Relaxed) - passed, 600_000_000);
}
