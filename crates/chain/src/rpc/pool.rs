//! Several nodes of one chain behind one name.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::Bytes;
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId, Timestamp};

use crate::node::{Call, CallResults, Failure, LogFilter, Node, Span, TimedLog};
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
    /// How long there may be no new block before the other nodes are asked whether they have one.
    pub standstill: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            requests_per_second: None,
            backoff_first: Duration::from_millis(500),
            backoff_max: Duration::from_mins(1),
            standstill: Duration::from_secs(30),
        }
    }
}

/// Nodes of one chain, asked in their order: the first that is not being left alone answers. A refusal that is about
/// the question goes back to who asked; any other goes to the next node. One that answers without fail and yet stands
/// still is found out by asking the others for newer blocks.
pub struct Pool<N, P> {
    chain: ChainId,
    members: Vec<Member<N>>,
    options: PoolOptions,
    pace: P,
    newest: Mutex<Newest>,
}

/// The newest block that any node told of, and since when.
#[derive(Clone, Copy)]
struct Newest {
    number: u64,
    since: Timestamp,
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
    /// The block at which it was found to stand still.
    stands_at: Option<u64>,
}

impl<N: Node> Member<N> {
    /// Its newest block, unless that is still the one at which it was found to stand still.
    async fn head(&self, rest: Duration) -> Result<Block, Failure> {
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
    fn with_state<T>(&self, change: impl FnOnce(&mut MemberState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<N: Node, P: Pace> Pool<N, P> {
    /// These nodes, each with a label that tells no secret, the preferred one first.
    pub fn new(chain: ChainId, nodes: Vec<(String, N)>, options: PoolOptions, pace: P) -> Self {
        let idle = MemberState {
            failures: 0,
            rests_until: Timestamp::ZERO,
            next_slot: Timestamp::ZERO,
            stands_at: None,
        };
        let members = nodes
            .into_iter()
            .map(|(label, node)| Member {
                node,
                label,
                is_checked: AtomicBool::new(false),
                state: Mutex::new(idle),
            })
            .collect();
        let newest = Mutex::new(Newest { number: 0, since: Timestamp::ZERO });
        Self { chain, members, options, pace, newest }
    }

    /// Whether there was no newer block for too long. Asking again counts as one: not every question is to go to all.
    fn stands_still(&self, head: &Block) -> bool {
        let now = self.pace.now();
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if head.number > newest.number {
            *newest = Newest { number: head.number, since: now };
            return false;
        }
        let is_late = between(newest.since, now) >= self.options.standstill;
        if is_late {
            newest.since = now;
        }
        is_late
    }

    /// The newest block of all nodes. Those that are behind it are left alone.
    async fn newest_of_all(&self, known: Block) -> Block {
        let mut told = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let asked = match self.ready(member, 1).await {
                Ok(()) => member.node.head().await,
                Err(failure) => Err(failure),
            };
            match asked {
                Ok(head) => told.push((member, head)),
                Err(failure) => self.rest(member, &failure),
            }
        }
        let newest = told.iter().map(|(_, head)| *head).max_by_key(|head| head.number).unwrap_or(known);
        for (member, head) in told.into_iter().filter(|(_, head)| head.number < newest.number) {
            let reason =
                format!("it stands still at block {} where others have {}", head.number, newest.number);
            tracing::warn!(node = member.label, chain = %self.chain, reason, "a node is left alone");
            member.with_state(|state| state.stands_at = Some(head.number));
            self.rest(member, &Failure::Retry { after: Some(self.options.backoff_max), reason });
        }
        newest
    }

    /// Asks one node after the other until one answers, or says something about the question itself.
    async fn ask<'a, T, F>(&'a self, cost: usize, question: impl Fn(&'a Member<N>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let mut failed: Option<Failure> = None;
        for member in self.in_order() {
            let asked = match self.ready(member, cost).await {
                Ok(()) => question(member).await,
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
        self.ask(1, |member| member.node.chain_id()).await
    }

    async fn head(&self) -> Result<Block, Failure> {
        let head = self.ask(1, |member| member.head(self.options.backoff_max)).await?;
        if self.members.len() > 1 && self.stands_still(&head) {
            let newest = self.newest_of_all(head).await;
            self.stands_still(&newest);
            return Ok(newest);
        }
        Ok(head)
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        self.ask(numbers.len(), |member| member.node.blocks(numbers)).await
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<Vec<TimedLog>, Failure> {
        self.ask(filters.len() + 1, |member| member.node.logs(span, filters)).await
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.ask(calls.len(), |member| member.node.call(calls, at)).await
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        self.ask(addresses.len(), |member| member.node.code(addresses)).await
    }
}
