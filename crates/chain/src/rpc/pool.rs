//! Several nodes of one chain behind one name.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::Bytes;
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId, Timestamp};

use crate::node::{Call, Called, Failure, Node, Span, ToldLog, Wanted};
use crate::pace::{Pace, between, later};

/// How nodes are treated.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// The most requests that each node is sent in a second; none is no limit.
    pub requests_per_second: Option<u32>,
    /// How long a node that failed once is left alone; each further failure doubles it.
    pub backoff_first: Duration,
    /// The longest that a node is left alone.
    pub backoff_max: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            requests_per_second: None,
            backoff_first: Duration::from_millis(500),
            backoff_max: Duration::from_mins(1),
        }
    }
}

/// Nodes of one chain, asked in their order: the first that is not being left alone answers. A refusal that is about
/// the question goes back to who asked; any other goes to the next node.
pub struct Pool<N, P> {
    chain: ChainId,
    members: Vec<Member<N>>,
    options: PoolOptions,
    pace: P,
}

struct Member<N> {
    node: N,
    /// How it may be called in a log.
    label: String,
    /// Whether it said that it knows the right chain.
    is_checked: AtomicBool,
    state: Mutex<MemberState>,
}

#[derive(Clone, Copy)]
struct MemberState {
    failures: u32,
    /// Until when it is left alone.
    rests_until: Timestamp,
    /// When the next request may be sent.
    next_slot: Timestamp,
}

impl<N> Member<N> {
    fn with_state<T>(&self, change: impl FnOnce(&mut MemberState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<N: Node, P: Pace> Pool<N, P> {
    /// These nodes, each with a label that tells no secret, the preferred one first.
    pub fn new(chain: ChainId, nodes: Vec<(String, N)>, options: PoolOptions, pace: P) -> Self {
        let idle = MemberState { failures: 0, rests_until: Timestamp::ZERO, next_slot: Timestamp::ZERO };
        let members = nodes
            .into_iter()
            .map(|(label, node)| Member {
                node,
                label,
                is_checked: AtomicBool::new(false),
                state: Mutex::new(idle),
            })
            .collect();
        Self { chain, members, options, pace }
    }

    /// Asks one node after the other until one answers, or says something about the question itself.
    async fn ask<'a, T, F>(&'a self, cost: usize, question: impl Fn(&'a N) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let mut failed: Option<Failure> = None;
        for member in self.in_order() {
            let asked = match self.ready(member, cost).await {
                Ok(()) => question(&member.node).await,
                Err(failure) => Err(failure),
            };
            match asked {
                Ok(answer) => {
                    member.with_state(|state| state.failures = 0);
                    return Ok(answer);
                }
                Err(failure @ (Failure::SmallerRange { .. } | Failure::PossibleReorg { .. })) => {
                    return Err(failure);
                }
                Err(failure) => {
                    self.rest(member, &failure);
                    // That one node refuses for good matters only when all do.
                    failed = match (failed, failure) {
                        (Some(first @ Failure::Retry { .. }), _) => Some(first),
                        (_, failure) => Some(failure),
                    };
                }
            }
        }
        Err(failed.unwrap_or_else(|| Failure::Stop { reason: "no node is configured".to_owned() }))
    }

    /// Those that are not being left alone in the order of preference, then the others, the soonest back first.
    fn in_order(&self) -> Vec<&Member<N>> {
        let now = self.pace.now();
        let mut members: Vec<(Timestamp, &Member<N>)> = self
            .members
            .iter()
            .map(|member| {
                let until = member.with_state(|state| state.rests_until);
                (if until <= now { Timestamp::ZERO } else { until }, member)
            })
            .collect();
        members.sort_by_key(|(until, _)| *until);
        members.into_iter().map(|(_, member)| member).collect()
    }

    /// Waits for the member's turn, and makes sure once that it knows the right chain.
    async fn ready(&self, member: &Member<N>, cost: usize) -> Result<(), Failure> {
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

    async fn wait_for_slot(&self, member: &Member<N>, cost: usize) {
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

    fn rest(&self, member: &Member<N>, failure: &Failure) {
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
            rest
        });
        tracing::debug!(node = member.label, %failure, ?rest, "a node failed");
    }
}

impl<N: Node, P: Pace> Node for Pool<N, P> {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        self.ask(1, Node::chain_id).await
    }

    async fn head(&self) -> Result<Block, Failure> {
        self.ask(1, Node::head).await
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        self.ask(numbers.len(), |node| node.blocks(numbers)).await
    }

    async fn logs(&self, span: Span, wanted: &[Wanted]) -> Result<Vec<ToldLog>, Failure> {
        self.ask(wanted.len() + 1, |node| node.logs(span, wanted)).await
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<Called, Failure> {
        self.ask(calls.len(), |node| node.call(calls, at)).await
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        self.ask(addresses.len(), |node| node.code(addresses)).await
    }
}
