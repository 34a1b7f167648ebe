//! Several nodes behind one name.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_primitives::{B256, Bytes};
use bourse_chain::rpc::{Pool, PoolOptions};
use bourse_chain::{Call, CallResults, Failure, LogFilter, Node, Pace, Span, SpanLogs};
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

    fn passed(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        self.pass(duration);
    }
}

/// A block of one of several chains.
fn block(fork: u64, number: u64) -> Block {
    let hash = |number: u64| B256::left_padding_from(&[fork.to_be_bytes(), number.to_be_bytes()].concat());
    Block { number, hash: hash(number), parent: hash(number.wrapping_sub(1)), at: Timestamp::ZERO }
}

/// A node that answers its own number, or fails.
struct Scripted {
    number: Arc<AtomicU64>,
    /// Which of several chains it has.
    fork: Arc<AtomicU64>,
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
        Ok(block(self.fork.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed)))
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        let (fork, head) = (self.fork.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed));
        Ok(numbers.iter().map(|number| (*number <= head).then(|| block(fork, *number))).collect())
    }

    async fn logs(&self, _: Span, _: &[LogFilter]) -> Result<SpanLogs, Failure> {
        Ok(SpanLogs::default())
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
    forks: Vec<Arc<AtomicU64>>,
}

fn setup(chains: &[u64], options: PoolOptions) -> Setup {
    let (mut nodes, mut switches, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    let (mut numbers, mut forks) = (Vec::new(), Vec::new());
    for (number, chain) in (1..).zip(chains) {
        let (failure, count) = (Switch::default(), Arc::new(AtomicU32::new(0)));
        let label = format!("node {number}");
        let number = Arc::new(AtomicU64::new(number));
        switches.push(Arc::clone(&failure));
        asked.push(Arc::clone(&count));
        numbers.push(Arc::clone(&number));
        let fork: Arc<AtomicU64> = Arc::default();
        forks.push(Arc::clone(&fork));
        nodes.push((label, Scripted { number, fork, chain: *chain, failure, asked: count }));
    }
    let watch = Arc::new(Stopwatch::default());
    let pool = Pool::new(ChainId(5), nodes, options, Arc::clone(&watch));
    Setup { pool, watch, switches, asked, numbers, forks }
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
    let failure = |reason: &str| Failure::SmallerRange { suggested: Some(9), reason: reason.to_owned() };
    fails(&switches[0], Some(failure("large")));
    assert_eq!(pool.head().await, Err(failure("node 1: large")));
    assert_eq!(asked[1].load(Ordering::Relaxed), 0);
}

/// The first node does not know what the second one knows: the chain did not change, the first one lacks something.
#[tokio::test]
async fn what_one_node_does_not_know_another_is_asked_about() {
    let Setup { pool, switches, asked, watch, numbers, .. } = setup(&[5, 5], PoolOptions::default());
    fails(&switches[0], Some(Failure::reorg("header not found")));
    assert_eq!(pool.head().await.unwrap().number, 2);
    let [trouble] = <[_; 1]>::try_from(pool.troubles()).unwrap();
    assert_eq!(
        (trouble.node.as_str(), trouble.trouble.message.as_str()),
        ("node 1", "node 1: header not found")
    );
    // It is left alone for a while.
    assert_eq!(pool.head().await.unwrap().number, 2);
    assert_eq!(asked[0].load(Ordering::Relaxed), 1);
    // Only what nobody knows is gone.
    watch.pass(Duration::from_secs(1));
    fails(&switches[1], Some(Failure::reorg("header not found")));
    assert_eq!(pool.head().await, Err(Failure::reorg("node 1: header not found")));
    fails(&switches[0], None);
    fails(&switches[1], None);
    watch.pass(Duration::from_mins(11));
    numbers[0].store(3, Ordering::Relaxed);
    assert_eq!(pool.head().await.unwrap().number, 3);
    assert_eq!(pool.troubles(), []);
}

#[tokio::test]
async fn blocks_that_one_node_has_not_are_asked_of_another() {
    let Setup { pool, numbers, forks, .. } = setup(&[5, 5], PoolOptions::default());
    numbers[0].store(10, Ordering::Relaxed);
    numbers[1].store(12, Ordering::Relaxed);
    forks[1].store(1, Ordering::Relaxed);
    // All of one node: blocks of several chains do not fit together.
    assert_eq!(pool.blocks(&[10, 11]).await.unwrap(), [Some(block(1, 10)), Some(block(1, 11))]);
    let Setup { pool, .. } = setup(&[5, 5], PoolOptions::default());
    assert_eq!(pool.blocks(&[1, 11]).await.unwrap(), [Some(block(0, 1)), None], "nobody has it");
}

/// A node with other blocks than most is asked nothing, until it has the same again.
#[tokio::test]
async fn a_node_with_other_blocks_than_most_is_not_asked() {
    let Setup { pool, numbers, forks, watch, .. } = setup(&[5, 5, 5], PoolOptions::default());
    for (number, head) in numbers.iter().zip([101, 102, 102]) {
        number.store(head, Ordering::Relaxed);
    }
    forks[0].store(7, Ordering::Relaxed);
    assert_eq!(pool.head().await.unwrap().number, 101);
    let refused = pool.confirm(&block(7, 90)).await.unwrap_err();
    assert!(
        matches!(&refused, Failure::PossibleReorg { reason } if reason.contains("most nodes")),
        "{refused:?}"
    );
    assert_eq!(pool.head().await.unwrap().number, 102);
    let [trouble] = <[_; 1]>::try_from(pool.troubles()).unwrap();
    assert_eq!(trouble.node, "node 1");
    assert!(trouble.trouble.message.contains("another block 90"), "{trouble:?}");
    // Not even after a long time, and it has no voice: one that is right is enough.
    watch.pass(Duration::from_hours(1));
    assert_eq!(pool.head().await.unwrap().number, 102);
    pool.confirm(&block(0, 90)).await.unwrap();
    forks[0].store(0, Ordering::Relaxed);
    pool.confirm(&block(0, 91)).await.unwrap();
    watch.pass(Duration::from_mins(2));
    numbers[0].store(103, Ordering::Relaxed);
    assert_eq!(pool.head().await.unwrap().number, 103);
}

#[tokio::test]
async fn two_nodes_that_disagree_are_both_named() {
    let Setup { pool, numbers, forks, .. } = setup(&[5, 5], PoolOptions::default());
    for number in &numbers {
        number.store(100, Ordering::Relaxed);
    }
    pool.confirm(&block(0, 90)).await.unwrap();
    forks[1].store(7, Ordering::Relaxed);
    for tried in [0, 7] {
        let refused = pool.confirm(&block(tried, 90)).await.unwrap_err();
        let Failure::Retry { reason, .. } = refused else { panic!("{refused:?}") };
        assert!(
            reason.contains("disagree about block 90: node 1 has 0x") && reason.contains("node 2 has 0x")
        );
    }
    // What one does not know yet is no disagreement.
    numbers[1].store(80, Ordering::Relaxed);
    pool.confirm(&block(0, 90)).await.unwrap();
}

/// Blocks that do not fit together again and again are asked of somebody else.
#[tokio::test]
async fn a_node_in_doubt_is_left_alone() {
    let Setup { pool, .. } = setup(&[5, 5], PoolOptions::default());
    assert_eq!(pool.head().await.unwrap().number, 1);
    pool.doubt("it does not fit");
    assert_eq!(pool.head().await.unwrap().number, 2);
    assert_eq!(pool.troubles()[0].trouble.message, "it does not fit");
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
    assert_eq!(pool.head().await, Err(Failure::retry("node 2: busy")));
    fails(&switches[1], Some(stop));
    let refused = pool.head().await.unwrap_err();
    assert!(matches!(refused, Failure::Stop { .. }), "{refused:?}");
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
    let Setup { pool, watch, numbers, .. } = setup(&[5], options);
    for _ in 0..5 {
        pool.head().await.unwrap();
    }
    let passed = watch.0.load(Ordering::Relaxed);
    assert_eq!(passed, 400_000_000);
    // A batch counts as the requests in it.
    numbers[0].store(5, Ordering::Relaxed);
    pool.blocks(&[1, 2, 3, 4, 5]).await.unwrap();
    pool.head().await.unwrap();
    assert_eq!(watch.0.load(Ordering::Relaxed) - passed, 600_000_000);
}
