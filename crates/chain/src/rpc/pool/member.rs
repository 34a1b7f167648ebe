//! One node of several: whether it can be asked now, and for how long it is left alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bourse_market::facts::Block;
use bourse_wire::Timestamp;

use super::Pool;
use super::play::Stage;
use crate::node::{Failure, Node};
use crate::pace::{Pace, between, later};
use crate::status::{NodeTrouble, Trouble};

pub(super) struct Member<N> {
    pub(super) node: N,
    /// How it may be called in a log.
    pub(super) label: String,
    /// Whether it said that it knows the right chain.
    pub(super) is_checked: AtomicBool,
    pub(super) state: Mutex<MemberState>,
    pub(super) stage: Stage,
}

#[derive(Clone)]
pub(super) struct MemberState {
    pub(super) failures: u32,
    /// Until when it is left alone.
    pub(super) rests_until: Timestamp,
    /// When the next request may be sent.
    pub(super) next_slot: Timestamp,
    /// The block at which it was found to stand still.
    pub(super) stands_at: Option<u64>,
    /// Whether most have other blocks than it has.
    pub(super) is_distrusted: bool,
    /// For how long it was left alone last, and why.
    pub(super) rest: Duration,
    pub(super) trouble: Option<Trouble>,
}

/// For how long it is told what a node did.
const TROUBLE_SHOWN: Duration = Duration::from_mins(10);
/// How many times as long as it was left alone a node has to answer without fail, before the next failure counts as its
/// first: one that lacks something answers everything else.
const GOOD_AGAIN: u32 = 4;

impl<N: Node> Member<N> {
    /// Its newest block, unless that is still the one at which it was found to stand still.
    pub(super) async fn head(&self, rest: Duration) -> Result<Block, Failure> {
        let head = self.node.head().await?;
        let stands = self.with_state(|state| {
            state.stands_at = state.stands_at.filter(|number| *number == head.number);
            state.stands_at.is_some()
        });
        let reason = || format!("it stands still at block {}", head.number);
        if stands { Err(Failure::Retry { after: Some(rest), reason: reason() }) } else { Ok(head) }
    }
}

impl<N> Member<N> {
    /// One that was not asked anything yet.
    pub(super) fn new(label: String, node: N) -> Self {
        let state = MemberState {
            failures: 0,
            rests_until: Timestamp::ZERO,
            next_slot: Timestamp::ZERO,
            stands_at: None,
            is_distrusted: false,
            rest: Duration::ZERO,
            trouble: None,
        };
        Self {
            node,
            label,
            is_checked: AtomicBool::new(false),
            state: Mutex::new(state),
            stage: Stage::new(),
        }
    }

    pub(super) fn is_distrusted(&self) -> bool {
        self.with_state(|state| state.is_distrusted)
    }

    pub(super) fn with_state<T>(&self, change: impl FnOnce(&mut MemberState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What it did, when it is left alone for it, or was lately.
    pub(super) fn trouble(&self, now: Timestamp) -> Option<NodeTrouble> {
        let trouble = self.with_state(|state| {
            let is_lately = |trouble: &Trouble| between(trouble.at, now) < TROUBLE_SHOWN;
            state.trouble.clone().filter(|trouble| state.is_distrusted || is_lately(trouble))
        });
        Some(NodeTrouble { node: self.label.clone(), trouble: trouble? })
    }
}

impl<N: Node, P: Pace> Pool<N, P> {
    pub(super) fn is_resting(&self, member: &Member<N>) -> bool {
        let now = self.pace.now();
        member.with_state(|state| state.rests_until > now)
    }

    /// Takes that a node answered.
    pub(super) fn answered(&self, member: &Member<N>) {
        let now = self.pace.now();
        member.with_state(|state| {
            let quiet = state.rest.saturating_mul(GOOD_AGAIN);
            let failed_at = state.trouble.as_ref().map(|trouble| trouble.at);
            if failed_at.is_none_or(|at| between(at, now) >= quiet) {
                state.failures = 0;
            }
        });
    }

    pub(super) fn warn(&self, member: &Member<N>, reason: &str) {
        tracing::warn!(node = member.label, chain = %self.chain, reason, "a node is left alone");
    }

    /// Waits for the member's turn, and makes sure once that it knows the right chain.
    pub(super) async fn ready(&self, member: &Member<N>, cost: usize) -> Result<(), Failure> {
        self.wait_for_slot(member, cost).await;
        if member.is_checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let found = member.node.chain_id().await?;
        if found != self.chain {
            let reason = format!("{} is a node of chain {found}, not of {}", member.label, self.chain);
            return Err(Failure::Stop { reason });
        }
        member.is_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(super) async fn wait_for_slot(&self, member: &Member<N>, cost: usize) {
        let Some(rate) = self.options.requests_per_second.filter(|rate| *rate > 0) else { return };
        let each = Duration::from_secs(1) / rate;
        let now = self.pace.now();
        let slot = member.with_state(|state| {
            let slot = state.next_slot.max(now);
            state.next_slot = later(slot, each.saturating_mul(u32::try_from(cost).unwrap_or(u32::MAX)));
            slot
        });
        if slot > now {
            self.pace.sleep(between(now, slot)).await;
        }
    }

    pub(super) fn rest(&self, member: &Member<N>, failure: &Failure) {
        let now = self.pace.now();
        let rest = member.with_state(|state| {
            let doubled = self.options.backoff_first.saturating_mul(1 << state.failures.min(16));
            let asked_for = match failure {
                Failure::Retry { after: Some(after), .. } => *after,
                Failure::Stop { .. } => self.options.backoff_max,
                _ => Duration::ZERO,
            };
            let rest = doubled.max(asked_for).min(self.options.backoff_max);
            state.failures = state.failures.saturating_add(1);
            state.rests_until = later(now, rest);
            state.rest = rest;
            state.trouble = Some(Trouble { at: now, message: failure.to_string() });
            rest
        });
        tracing::debug!(node = member.label, %failure, ?rest, "a node failed");
    }
}
