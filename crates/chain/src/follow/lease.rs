//! Who of several processes follows a chain. Clocks of machines are never compared: whoever does not have the right measures, by
//! what passes here, how long it has seen the holder's counter stand still, and only by time in which it could look.

use std::time::Duration;

use bourse_store::{LeaseHeld, LeaseSeen};

use super::{Books, FollowError, Follower};
use crate::node::Node;
use crate::pace::{Pace, later};

/// Parts of a lease: it is renewed after one of so many, two of which may come late.
const RENEWALS: u32 = 3;
/// And looked at by others after one of so many.
const LOOKS: u32 = 8;
/// The longest time between two looks that counts, in looks: whoever could not look for longer learned nothing of the holder.
const LOOKS_APART_MAX: u32 = 2;
/// For how long servers of schema 32 and before leave a chain alone after a renewal. They compare this with their own clocks,
/// which may be wrong, and follow in their own way, which leaves holes.
const LEFT_ALONE: Duration = Duration::from_mins(10);

/// What is known of the right to follow a chain.
#[derive(Default)]
pub(super) struct Lease {
    /// When it was renewed, while it is held here.
    renewed: Option<Duration>,
    /// Whose it is otherwise.
    seen: Option<LeaseSeen>,
    /// For how long that was seen to stand still.
    still: Duration,
    looked: Option<Duration>,
}

impl Lease {
    /// Whether it is held, and need not be renewed yet.
    fn is_fresh(&self, at: Duration, lease: Duration) -> bool {
        self.renewed.is_some_and(|renewed| at.saturating_sub(renewed) < lease / RENEWALS)
    }

    /// Another's that stood still for so long that it ended.
    fn ended(&self, lease: Duration) -> Option<LeaseSeen> {
        self.seen.clone().filter(|_| self.still >= lease)
    }

    /// Takes over what a look showed that began at an instant; tells whether it is held here.
    fn note(&mut self, held: LeaseHeld, at: Duration, lease: Duration) -> bool {
        let passed = self.looked.replace(at).map_or(Duration::ZERO, |looked| at.saturating_sub(looked));
        let seen = match held {
            LeaseHeld::Here => {
                *self = Self { renewed: Some(at), ..Self::default() };
                return true;
            }
            LeaseHeld::Elsewhere(seen) => seen,
        };
        if seen == self.seen {
            self.still += passed.min(lease / LOOKS * LOOKS_APART_MAX);
        } else {
            (self.seen, self.still) = (seen, Duration::ZERO);
        }
        false
    }
}

impl<N: Node, B: Books, P: Pace> Follower<N, B, P> {
    /// Takes the right to follow the chain, or keeps it; tells whether it is had.
    pub(super) async fn hold_lease(&mut self) -> Result<bool, FollowError> {
        if self.lease.is_fresh(self.reading.pace.passed(), self.options.lease) {
            return Ok(true);
        }
        self.lease.renewed = None;
        let had_ended = self.lease.ended(self.options.lease).is_some();
        let is_held = self.ask_for_lease().await?;
        // What turns out to have ended is taken over with the next word.
        if is_held || had_ended || self.lease.ended(self.options.lease).is_none() {
            return Ok(is_held);
        }
        self.ask_for_lease().await
    }

    async fn ask_for_lease(&mut self) -> Result<bool, FollowError> {
        let (at, length) = (self.reading.pace.passed(), self.options.lease);
        let until = later(self.reading.pace.now(), LEFT_ALONE);
        let (chain, holder, ended) = (self.options.chain, &self.options.holder, self.lease.ended(length));
        let held = self.books.hold_lease(chain, holder, until, ended).await?;
        Ok(self.lease.note(held, at, length))
    }

    /// How long to wait before it is looked again whether the holder moves.
    pub(super) fn look_interval(&self) -> Duration {
        self.options.poll.min(self.options.lease / LOOKS)
    }

    /// How long something may last that is done in one go: a poll, and no longer than until the lease is to be renewed.
    pub(super) fn spell(&self) -> Duration {
        self.options.poll.min(self.options.lease / RENEWALS)
    }

    /// Waits for so long, or until there is word of a block, and keeps the lease meanwhile. Where that is lost, or cannot be
    /// kept, the next turn has to find out.
    pub(super) async fn rest(&mut self, wait: Duration) {
        let began = self.reading.pace.passed();
        loop {
            let passed = self.reading.pace.passed().saturating_sub(began);
            let left = wait.saturating_sub(passed).min(self.options.lease / RENEWALS);
            let has_heard = self.ear.rest(&self.reading.pace, left).await;
            let passed = self.reading.pace.passed().saturating_sub(began);
            if has_heard || passed >= wait || !matches!(self.hold_lease().await, Ok(true)) {
                return;
            }
        }
    }
}
