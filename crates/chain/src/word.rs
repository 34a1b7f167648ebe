//! What nodes tell of new blocks unasked, and what a follower makes of it.

use std::pin::pin;
use std::time::Duration;

use bourse_market::facts::Block;
use futures_util::future::{Either, select};
use tokio::sync::watch;

use crate::pace::Pace;

/// What nodes told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Whether one of them is telling.
    pub is_alive: bool,
    /// The newest block, as far as it is to be believed: it is a reason to ask, and nothing else.
    pub head: Option<Block>,
}

/// While nodes tell of new blocks they are asked so many times less often: one that falls silent is not to stop anything.
const PATIENCE: u32 = 10;
/// The longest time between two questions then, unless it is longer anyway.
const PATIENCE_MAX: Duration = Duration::from_secs(15);
/// How soon after a question word is a reason for the next one. It doubles, up to the usual time, while nobody has what
/// was told: a node may tell of it a little early, or lie.
const SPACING: Duration = Duration::from_millis(100);

/// Listens to word of new blocks, and tells when to ask for them.
#[derive(Default)]
pub(crate) struct Ear {
    word: Option<watch::Receiver<Word>>,
    /// When it last turned out that everything is known; absent while there is something to find out.
    settled: Option<Duration>,
    /// Whether a block was told of that is not known.
    is_ahead: bool,
    /// How often in a row asking for it was in vain.
    vain: u32,
}

impl Ear {
    pub(crate) fn new(word: watch::Receiver<Word>) -> Self {
        Self { word: Some(word), ..Self::default() }
    }

    /// Whether to ask for the newest block at an instant, where questions come at this interval without word.
    pub(crate) fn is_due(&mut self, at: Duration, poll: Duration, knows: impl Fn(&Block) -> bool) -> bool {
        let Some((settled, word)) = self.settled.zip(self.word.as_mut()) else { return true };
        let word = *word.borrow_and_update();
        self.is_ahead = word.head.is_some_and(|head| !knows(&head));
        let patience = poll.max((poll * PATIENCE).min(PATIENCE_MAX));
        !word.is_alive || self.is_ahead || at.saturating_sub(settled) >= patience
    }

    /// Takes that all is known that a node tells when asked.
    pub(crate) fn settle(&mut self, at: Duration, knows: impl Fn(&Block) -> bool) {
        self.settled = Some(at);
        let head = self.word.as_ref().and_then(|word| word.borrow().head);
        self.is_ahead = head.is_some_and(|head| !knows(&head));
        self.vain = if self.is_ahead { self.vain.saturating_add(1) } else { 0 };
    }

    /// Takes that there is something to find out, whatever is told.
    pub(crate) fn unsettle(&mut self) {
        self.settled = None;
    }

    /// Waits until it is time to look again: for an interval, or until there is word; tells whether it was word.
    pub(crate) async fn rest(&mut self, pace: &impl Pace, poll: Duration) -> bool {
        let began = pace.passed();
        loop {
            let at = pace.passed();
            let mut left = poll.saturating_sub(at.saturating_sub(began));
            let Some((settled, word)) = self.settled.zip(self.word.as_mut()) else {
                pace.sleep(left).await;
                return false;
            };
            if self.is_ahead {
                let spacing = SPACING.saturating_mul(1 << self.vain.min(16));
                left = left.min(spacing.saturating_sub(at.saturating_sub(settled)));
            }
            if left.is_zero() {
                return self.is_ahead;
            }
            let heard = match select(pin!(pace.sleep(left)), pin!(word.changed())).await {
                Either::Left(_) => return self.is_ahead,
                Either::Right((heard, _)) => heard.is_ok(),
            };
            self.is_ahead = heard;
            if !heard {
                // Nobody will tell anything any more.
                self.word = None;
            }
        }
    }
}
