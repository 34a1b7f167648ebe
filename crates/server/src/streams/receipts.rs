//! What became of transactions, for everybody who listens to that: nodes are asked once for each, and those of a chain few at a time,
//! as whoever follows the chain asks the same nodes.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use alloy_primitives::B256;
use bourse_chain::Receipt;
use bourse_market::facts::BlockHash;
use bourse_wire::ChainId;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use hashbrown::HashMap;
use indexmap::IndexMap;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::chains::Unanswered;
use crate::rpc::indexer::receipt_line;

/// Questions that the nodes of a chain are asked at once.
const ASKED_MAX: usize = 4;
/// For how long an answer is good for those who ask a moment later.
const GOOD_FOR: Duration = Duration::from_secs(10);
/// Answers that are kept.
const KEPT_MAX: usize = 128;

/// A transaction, and its block where that is known: what a chain took into another block is asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Transaction {
    pub(super) hash: B256,
    pub(super) block: Option<BlockHash>,
}

/// What became of a transaction, with the line that everybody is told.
pub(super) struct ToldReceipt {
    pub(super) receipt: Receipt,
    pub(super) line: Bytes,
}

/// An answer that many may wait for. It goes on when those who asked for it are gone.
pub(super) type Answer<T> = Shared<BoxFuture<'static, Result<T, Unanswered>>>;

/// What became of a transaction; nothing of one that is in no block.
pub(super) type Asked = Answer<Option<Arc<ToldReceipt>>>;

/// What nodes were asked lately.
pub(super) struct ReceiptDesk {
    /// Whoever asks about a chain has one of its turns. Nobody closes them, so that there always is one some day.
    turns: Mutex<HashMap<ChainId, Arc<Semaphore>>>,
    heads: Answers<ChainId, u64>,
    receipts: Answers<(ChainId, Transaction), Option<Arc<ToldReceipt>>>,
}

impl ReceiptDesk {
    pub(super) fn new() -> Self {
        Self { turns: Mutex::default(), heads: Answers::new(), receipts: Answers::new() }
    }

    async fn turn<T>(
        &self,
        chain: ChainId,
        question: BoxFuture<'_, Result<T, Unanswered>>,
    ) -> Result<T, Unanswered> {
        let turns = self.turns_of(chain);
        let _turn = turns.acquire().await;
        question.await
    }

    /// The turns of a chain. Those of chains about which nobody asks any more are forgotten: anybody may name any chain.
    fn turns_of(&self, chain: ChainId) -> Arc<Semaphore> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turns| Arc::strong_count(turns) > 1);
        Arc::clone(turns.entry(chain).or_insert_with(|| Arc::new(Semaphore::new(ASKED_MAX))))
    }
}

/// The height of the newest block, as of a moment ago.
pub(super) fn head(app: &Arc<App>, chain: ChainId) -> Answer<u64> {
    let asking = Arc::clone(app);
    app.streams
        .receipts
        .heads
        .ask(chain, async move { asking.streams.receipts.turn(chain, asking.chains.head(chain)).await })
}

/// What became of a transaction, as of a moment ago.
pub(super) fn receipt(app: &Arc<App>, chain: ChainId, transaction: Transaction) -> Asked {
    let asking = Arc::clone(app);
    app.streams.receipts.receipts.ask((chain, transaction), async move {
        // First the height: a receipt is then of this block, or of one that came after it.
        let head = head(&asking, chain).await?;
        let question = asking.chains.receipt(chain, transaction.hash);
        let receipt = asking.streams.receipts.turn(chain, question).await?;
        let told = |receipt: Receipt| {
            let line = receipt_line(&asking, chain, (receipt.clone(), head)).into();
            Arc::new(ToldReceipt { receipt, line })
        };
        Ok(receipt.map(told))
    })
}

/// Answers to questions, the oldest first.
struct Answers<Q, T: Clone>(Mutex<IndexMap<Q, (Instant, Answer<T>)>>);

impl<Q, T> Answers<Q, T>
where
    Q: Copy + Eq + Hash,
    T: Clone + Send + Sync + 'static,
{
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// The answer to a question: what somebody else was told a moment ago or is about to be told, or else a new one. Nobody is
    /// told of a failure but those who waited for it.
    fn ask(
        &self,
        question: Q,
        asking: impl Future<Output = Result<T, Unanswered>> + Send + 'static,
    ) -> Answer<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good = |(asked, answer): &&(Instant, Answer<T>)| match answer.peek() {
            None => true,
            Some(Ok(_)) => asked.elapsed() < GOOD_FOR,
            Some(Err(_)) => false,
        };
        if let Some((_, answer)) = kept.get(&question).filter(is_good) {
            return answer.clone();
        }
        kept.shift_remove(&question);
        while let Some((_, (asked, _))) = kept.first()
            && (kept.len() >= KEPT_MAX || asked.elapsed() >= GOOD_FOR)
        {
            kept.shift_remove_index(0);
        }
        // A task of its own, so that a reader who stands still holds nobody up.
        let asking = tokio::spawn(asking).map(|joined| joined.unwrap_or(Err(Unanswered::Silent)));
        let answer = asking.boxed().shared();
        kept.insert(question, (Instant::now(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_who_ask_are_told_the_same_and_failures_are_tried_again() {
        let (answers, asked) = (Answers::<u64, u64>::new(), Arc::<AtomicUsize>::default());
        let ask = |question: u64| {
            let asked = Arc::clone(&asked);
            answers.ask(question, async move {
                asked.fetch_add(1, Ordering::Relaxed);
                if question == 0 { Err(Unanswered::Silent) } else { Ok(question) }
            })
        };
        let (first, second) = (ask(5), ask(5));
        assert_eq!((first.await, second.await, ask(5).await), (Ok(5), Ok(5), Ok(5)));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!((ask(0).await, ask(0).await), (Err(Unanswered::Silent), Err(Unanswered::Silent)));
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn a_chain_whose_nodes_are_silent_holds_up_no_other() {
        let (desk, [silent, other]) = (ReceiptDesk::new(), [1, 2].map(ChainId));
        let ask = |chain| Box::pin(desk.turn(chain, ready(Ok(chain)).boxed()));
        let waiting = || Box::pin(desk.turn(silent, pending::<Result<(), _>>().boxed()));
        let mut waiting: Vec<_> = (0..ASKED_MAX).map(|_| waiting()).collect();
        assert!(waiting.iter_mut().all(|one| one.as_mut().now_or_never().is_none()));
        assert!(ask(silent).as_mut().now_or_never().is_none(), "it is asked so many questions at once");
        assert_eq!(ask(other).await, Ok(other));
        drop(waiting);
        assert_eq!(ask(silent).await, Ok(silent));
        assert_eq!(desk.turns.lock().unwrap().len(), 1, "nobody asks about the other any more");
    }

    #[tokio::test]
    async fn only_so_many_answers_are_kept() {
        let answers = Answers::<usize, usize>::new();
        for question in 0..3 * KEPT_MAX {
            assert_eq!(answers.ask(question, async move { Ok(question) }).await, Ok(question));
        }
        assert_eq!(answers.0.lock().unwrap().len(), KEPT_MAX);
    }
}
