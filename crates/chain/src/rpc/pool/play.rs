//! Which node plays steps, and for how long. What it does there changes nothing of whether it is asked about blocks.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bourse_wire::Timestamp;
use futures_util::future::{Either, select};
use tokio::sync::Semaphore;

use super::{Member, Pool};
use crate::node::Node;
use crate::pace::{Pace, between, later};
use crate::rehearsal::{Played, Rehearsal, Unable, Unplayed, Way};

/// The most rehearsals that one node plays at once.
const AT_ONCE: usize = 16;
/// How long a node is not asked to play anything after it failed to, at least and at most.
const QUIET: Duration = Duration::from_secs(5);
const QUIET_MAX: Duration = Duration::from_mins(1);
/// How long it is remembered that a node does not play in order.
const FORGETS: Duration = Duration::from_mins(10);
/// What a rehearsal costs of the requests that a node may be sent.
const COST: usize = 3;

/// What is remembered of a node that plays steps.
pub(super) struct Stage {
    places: Semaphore,
    state: Mutex<StageState>,
}

#[derive(Clone, Copy)]
struct StageState {
    /// Until when it is not asked.
    quiet_until: Timestamp,
    /// Until when it counts as one that does not play in order.
    alone_until: Timestamp,
}

impl Stage {
    pub(super) fn new() -> Self {
        let state = StageState { quiet_until: Timestamp::ZERO, alone_until: Timestamp::ZERO };
        Self { places: Semaphore::new(AT_ONCE), state: Mutex::new(state) }
    }

    fn state(&self) -> StageState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut StageState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<N: Node, P: Pace> Pool<N, P> {
    /// Has steps played by the first node that can, within so much time. One that cannot be asked is not asked again for a
    /// while. One that does not play these steps may play those of others, and leaves the nodes after it their share of the
    /// time.
    pub async fn play(&self, rehearsal: &Rehearsal, patience: Duration) -> Result<Played, Unplayed> {
        let deadline = later(self.pace.now(), patience);
        let mut why = if self.members.is_empty() { Unplayed::NoNode } else { Unplayed::Silent };
        let members = self.in_order();
        for (place, member) in members.iter().enumerate() {
            let now = self.pace.now();
            let left = between(now, deadline);
            if left.is_zero() {
                break;
            }
            if !self.may_play(member, now) {
                continue;
            }
            let Ok(_place) = member.stage.places.try_acquire() else {
                why = Unplayed::Busy;
                continue;
            };
            let others = members[place..].iter().filter(|member| self.may_play(member, now)).count();
            let share = left / u32::try_from(others.max(1)).unwrap_or(u32::MAX);
            match self.played_by(member, rehearsal, share).await {
                Ok(played) if rehearsal.known.is_some_and(|known| played.block < known) => {
                    why = Unplayed::Behind;
                }
                Ok(played) => return Ok(played),
                Err(Unable::Failed { after, reason }) => self.keep_quiet(member, after, &reason),
                Err(Unable::Refused { reason }) => {
                    tracing::warn!(node = member.label, chain = %self.chain, reason, "a node did not play steps");
                }
                Err(Unable::Unknown) => self.keep_quiet(member, None, "it plays no steps"),
            }
        }
        Err(why)
    }

    /// Whether a node may be asked to play now.
    fn may_play(&self, member: &Member<N>, now: Timestamp) -> bool {
        !self.is_resting(member) && member.stage.state().quiet_until <= now
    }

    /// What a node plays within so much time, or why it did not.
    async fn played_by(
        &self,
        member: &Member<N>,
        rehearsal: &Rehearsal,
        patience: Duration,
    ) -> Result<Played, Unable> {
        let playing = Box::pin(self.played(member, rehearsal));
        match select(playing, Box::pin(self.pace.sleep(patience))).await {
            Either::Left((played, _)) => played,
            Either::Right(_) => {
                Err(Unable::Refused { reason: format!("it took longer than {} ms", patience.as_millis()) })
            }
        }
    }

    async fn played(&self, member: &Member<N>, rehearsal: &Rehearsal) -> Result<Played, Unable> {
        let ready = self.ready(member, COST).await;
        ready.map_err(|failure| Unable::Failed { after: None, reason: failure.to_string() })?;
        let now = self.pace.now();
        // What is only asked is asked of any node in the same way.
        if !rehearsal.calls.is_empty() && member.stage.state().alone_until <= now {
            match member.node.play(rehearsal, Way::InOrder).await {
                Err(Unable::Unknown) => {
                    tracing::info!(node = member.label, chain = %self.chain, "a node plays no steps in order");
                    member.stage.change(|state| state.alone_until = later(now, FORGETS));
                }
                played => return played,
            }
        }
        member.node.play(rehearsal, Way::Alone).await
    }

    fn keep_quiet(&self, member: &Member<N>, after: Option<Duration>, reason: &str) {
        let quiet = after.unwrap_or(QUIET).clamp(QUIET, QUIET_MAX);
        tracing::warn!(node = member.label, chain = %self.chain, reason, "a node could not play steps");
        let until = later(self.pace.now(), quiet);
        member.stage.change(|state| state.quiet_until = until);
    }
}
