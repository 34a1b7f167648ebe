//! Collections of blocks before the first that was followed, on a network of which all collections are wanted.

use super::ranges::RangeLogs;
use super::{Books, FollowError, FollowState, Follower};
use crate::node::Node;
use crate::pace::Pace;

/// After so many new blocks it is written down that these were looked at. Whoever starts later looks at fewer again.
const BLOCKS_UNREMEMBERED: u64 = 1_000;

/// How far blocks were looked through.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookBack {
    /// The first block that nobody looked at yet.
    next: u64,
    /// The last one to look at. All after it are looked at as they come.
    until: u64,
}

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// What is still to be looked through of the blocks up to the one that the chain is followed to.
    pub(super) async fn left_to_look_at(&self, checkpoint: u64) -> Result<Option<LookBack>, FollowError> {
        let Some(from) = self.options.discover_from else { return Ok(None) };
        let looked = self.books.looked_back(self.options.chain, from).await?;
        Ok(Some(LookBack { next: looked.unwrap_or(from), until: checkpoint }))
    }

    /// Looks through the next range of blocks, and follows the collections that it finds; tells whether there are more.
    pub(super) async fn look_back(&self, known: &mut FollowState) -> Result<bool, FollowError> {
        let (Some(from), Some(mut look)) = (self.options.discover_from, known.look_back) else {
            return Ok(false);
        };
        // What was looked through without what was missed is not remembered.
        if !self.discover_missed(known).await? {
            return Ok(false);
        }
        if look.next > look.until {
            let checkpoint = known.window.checkpoint().number;
            if checkpoint < look.next.saturating_add(BLOCKS_UNREMEMBERED) {
                return Ok(false);
            }
            look = LookBack { next: checkpoint + 1, until: checkpoint };
        } else {
            let to = look.until.min(look.next.saturating_add(self.ranges.size.get() - 1));
            let filters = self.reading.stranger_filters();
            let RangeLogs { to, logs } = self.ranges.logs(&self.reading, look.next..=to, &filters).await?;
            self.discover(known, &logs).await?;
            if !known.away.missed.is_empty() {
                return Ok(false);
            }
            look.next = to + 1;
        }
        self.books.set_looked_back(self.options.chain, from, look.next).await?;
        known.look_back = Some(look);
        Ok(look.next <= look.until)
    }
}
