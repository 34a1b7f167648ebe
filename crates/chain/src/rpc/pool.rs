//! Several nodes of one chain behind one name.

mod play;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::Bytes;
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId, Timestamp};

use super::answers::{lacking, sound_blocks, sound_logs};
use crate::bloom;
use crate::node::{Call, CallResults, Failure, Header, LogFilter, Node, Span, SpanLogs, TimedLog};
use crate::pace::{Pace, between, later};
use crate::status::{NodeTrouble, Trouble};

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

/// Nodes of one chain, asked in their order: the first that is not being left alone answers. That a question is too large
/// goes back to who asked; any other refusal goes to the next node. That a block is not known says that the chain changed only
/// when nobody knows it: where another node answers, the first one lacks something, and is left alone.
///
/// A node that answers without fail and yet stands still is found out by asking the others for newer blocks, and one that
/// has other blocks by what most have ([`Node::confirm`]). Such a one is asked nothing until it agrees with them again.
pub struct Pool<N, P> {
    chain: ChainId,
    members: Vec<Member<N>>,
    options: PoolOptions,
    pace: P,
    newest: Mutex<Newest>,
    /// Which node told of the newest block last.
    head_told_by: AtomicUsize,
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
    stage: play::Stage,
}

#[derive(Clone)]
struct MemberState {
    failures: u32,
    /// Until when it is left alone.
    rests_until: Timestamp,
    /// When the next request may be sent.
    next_slot: Timestamp,
    /// The block at which it was found to stand still.
    stands_at: Option<u64>,
    /// Whether most have other blocks than it has.
    is_distrusted: bool,
    /// For how long it was left alone last, and why.
    rest: Duration,
    trouble: Option<Trouble>,
}

/// For how long it is told what a node did.
const TROUBLE_SHOWN: Duration = Duration::from_mins(10);
/// How many times as long as it was left alone a node has to answer without fail, before the next failure counts as its
/// first: one that lacks something answers everything else.
const GOOD_AGAIN: u32 = 4;

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
    fn is_distrusted(&self) -> bool {
        self.with_state(|state| state.is_distrusted)
    }

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
            is_distrusted: false,
            rest: Duration::ZERO,
            trouble: None,
        };
        let members = nodes
            .into_iter()
            .map(|(label, node)| Member {
                node,
                label,
                is_checked: AtomicBool::new(false),
                state: Mutex::new(idle.clone()),
                stage: play::Stage::new(),
            })
            .collect();
        let newest = Mutex::new(Newest { number: 0, since: Timestamp::ZERO });
        Self { chain, members, options, pace, newest, head_told_by: AtomicUsize::new(0) }
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
        for member in self.members.iter().filter(|member| !member.is_distrusted()) {
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
            self.warn(member, &reason);
            member.with_state(|state| state.stands_at = Some(head.number));
            self.rest(member, &Failure::Retry { after: Some(self.options.backoff_max), reason });
        }
        newest
    }

    /// Asks one node after the other until one answers, or says something about the question itself. What is not known to
    /// one may be known to another.
    async fn ask<'a, T, F>(&'a self, cost: usize, question: impl Fn(&'a Member<N>) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let mut failed: Option<Failure> = None;
        let mut lacking: Vec<(&Member<N>, Failure)> = Vec::new();
        for member in self.in_order() {
            if !lacking.is_empty() && self.is_resting(member) {
                // The chain may have changed: that is not to wait for nodes that do not answer.
                break;
            }
            let asked = match self.ready(member, cost).await {
                Ok(()) => question(member).await,
                Err(failure) => Err(failure),
            };
            match asked.map_err(|failure| named(&member.label, failure)) {
                Ok(answer) => {
                    self.answered(member);
                    for (member, failure) in lacking {
                        self.warn(member, &failure.to_string());
                        self.rest(member, &failure);
                    }
                    return Ok(answer);
                }
                Err(failure @ Failure::SmallerRange { .. }) => return Err(failure),
                Err(failure @ Failure::PossibleReorg { .. }) => lacking.push((member, failure)),
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
        let lacked = lacking.into_iter().next().map(|(_, failure)| failure);
        Err(lacked.or(failed).unwrap_or_else(|| self.nobody_left()))
    }

    /// Why there is nobody to ask.
    fn nobody_left(&self) -> Failure {
        if self.members.is_empty() {
            return Failure::Stop { reason: "no node is configured".to_owned() };
        }
        let troubles =
            self.troubles().into_iter().map(|one| format!("{}: {}", one.node, one.trouble.message));
        Failure::retry(format!("no node can be asked: {}", troubles.collect::<Vec<_>>().join("; ")))
    }

    /// Those that are not being left alone in the order of preference, then the others, the soonest back first. Those that
    /// have other blocks than most are not among them.
    fn in_order(&self) -> Vec<&Member<N>> {
        let now = self.pace.now();
        let trusted = self.members.iter().filter(|member| !member.is_distrusted());
        let mut members: Vec<(Timestamp, &Member<N>)> = trusted
            .map(|member| {
                let until = member.with_state(|state| state.rests_until);
                (if until <= now { Timestamp::ZERO } else { until }, member)
            })
            .collect();
        members.sort_by_key(|(until, _)| *until);
        members.into_iter().map(|(_, member)| member).collect()
    }

    fn is_resting(&self, member: &Member<N>) -> bool {
        let now = self.pace.now();
        member.with_state(|state| state.rests_until > now)
    }

    /// Takes that a node answered.
    fn answered(&self, member: &Member<N>) {
        let now = self.pace.now();
        member.with_state(|state| {
            let quiet = state.rest.saturating_mul(GOOD_AGAIN);
            let failed_at = state.trouble.as_ref().map(|trouble| trouble.at);
            if failed_at.is_none_or(|at| between(at, now) >= quiet) {
                state.failures = 0;
            }
        });
    }

    /// The nodes that are left alone, or were lately, with what they did.
    pub fn troubles(&self) -> Vec<NodeTrouble> {
        let now = self.pace.now();
        let troubles = self.members.iter().filter_map(|member| {
            let trouble = member.with_state(|state| {
                let is_lately = |trouble: &Trouble| between(trouble.at, now) < TROUBLE_SHOWN;
                state.trouble.clone().filter(|trouble| state.is_distrusted || is_lately(trouble))
            });
            Some(NodeTrouble { node: member.label.clone(), trouble: trouble? })
        });
        troubles.collect()
    }

    /// What each node has at the height of a block. Those that are being left alone for failing are not asked.
    async fn votes(&self, number: u64) -> Vec<(&Member<N>, BlockHash)> {
        let mut votes = Vec::with_capacity(self.members.len());
        for member in &self.members {
            if self.is_resting(member) && !member.is_distrusted() {
                continue;
            }
            let asked = match self.ready(member, 1).await {
                Ok(()) => member.node.blocks(&[number]).await,
                Err(failure) => Err(failure),
            };
            match asked {
                Ok(blocks) => {
                    let block = blocks.into_iter().next().flatten().filter(|block| block.number == number);
                    votes.extend(block.map(|block| (member, block.hash)));
                }
                Err(failure) => self.rest(member, &named(&member.label, failure)),
            }
        }
        votes
    }

    /// Leaves those alone that have another block than most, and lets those back that have the same.
    fn judge(&self, number: u64, votes: &[(&Member<N>, BlockHash)], right: BlockHash) {
        for (member, hash) in votes {
            let is_other = *hash != right;
            member.with_state(|state| state.is_distrusted = is_other);
            if is_other {
                let reason = format!("it has another block {number} than most nodes: {hash}, not {right}");
                self.warn(member, &reason);
                self.rest(member, &Failure::Retry { after: Some(self.options.backoff_max), reason });
            }
        }
    }

    /// What a node told, with the logs of the last block that it left out: where that block speaks of logs that did not come,
    /// its receipts decide. Of a range only the last block is known, so that one that lacks something is refused whole.
    async fn completed(
        &self,
        member: &Member<N>,
        is_one: bool,
        filters: &[LogFilter],
        mut told: SpanLogs,
    ) -> Result<SpanLogs, Failure> {
        let is_doubtful = |last: &&Header| bloom::is_doubtful(last, filters, &told.logs);
        let Some(last) = told.last.as_ref().filter(is_doubtful) else { return Ok(told) };
        self.wait_for_slot(member, 1).await;
        let all = member.node.receipt_logs(last.block.hash).await?;
        let left_out = lacking(last, filters, &told.logs, all)?;
        if left_out.is_empty() {
            return Ok(told);
        }
        let failure = named(
            &member.label,
            Failure::retry(format!(
                "it left out logs of block {}, which are in its receipts ({}): its index of logs is not complete",
                last.block.number,
                left_out.len()
            )),
        );
        if !is_one {
            return Err(failure);
        }
        self.warn(member, &failure.to_string());
        self.rest(member, &failure);
        told.logs.extend(left_out);
        told.logs.sort_by_key(|timed| timed.log.index);
        Ok(told)
    }

    fn warn(&self, member: &Member<N>, reason: &str) {
        tracing::warn!(node = member.label, chain = %self.chain, reason, "a node is left alone");
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
            state.rest = rest;
            state.trouble = Some(Trouble { at: now, message: failure.to_string() });
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
        let told_by = |member: &Member<N>| {
            let place = self.members.iter().position(|one| std::ptr::eq(one, member));
            self.head_told_by.store(place.unwrap_or_default(), Ordering::Relaxed);
        };
        let head = self
            .ask(1, |member| async move {
                let head = member.head(self.options.backoff_max).await?;
                told_by(member);
                Ok(head)
            })
            .await?;
        if self.members.len() > 1 && self.stands_still(&head) {
            let newest = self.newest_of_all(head).await;
            self.stands_still(&newest);
            return Ok(newest);
        }
        Ok(head)
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        let headers = self.headers(numbers).await?;
        Ok(headers.into_iter().map(|header| header.map(|header| header.block)).collect())
    }

    async fn headers(&self, numbers: &[u64]) -> Result<Vec<Option<Header>>, Failure> {
        let partial = Mutex::new(None);
        let asked = self
            .ask(numbers.len(), |member| {
                let partial = &partial;
                async move {
                    let headers = member.node.headers(numbers).await?;
                    let Err(failure) = sound_blocks(numbers, &headers) else { return Ok(headers) };
                    if headers.iter().any(Option::is_none) {
                        partial.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(headers);
                    }
                    Err(failure)
                }
            })
            .await;
        // What nobody knows is not there.
        let partial = partial.into_inner().unwrap_or_else(PoisonError::into_inner);
        asked.or_else(|failure| partial.ok_or(failure))
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        let is_one = !matches!(span, Span::Range { from, to } if from < to);
        self.ask(filters.len() + 1, |member| async move {
            let asked = member.node.logs(span, filters).await;
            // Nobody can ask about less than one block, but another node may answer about it.
            let told = asked.map_err(|failure| match failure {
                Failure::SmallerRange { reason, .. } if is_one => Failure::retry(reason),
                failure => failure,
            })?;
            self.completed(member, is_one, filters, sound_logs(span, filters, told)?).await
        })
        .await
    }

    async fn receipt_logs(&self, block: BlockHash) -> Result<Vec<TimedLog>, Failure> {
        self.ask(1, |member| member.node.receipt_logs(block)).await
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.ask(calls.len(), |member| member.node.call(calls, at)).await
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        self.ask(addresses.len(), |member| member.node.code(addresses)).await
    }

    async fn confirm(&self, block: &Block) -> Result<(), Failure> {
        if self.members.len() < 2 {
            return Ok(());
        }
        let votes = self.votes(block.number).await;
        let mut counts: BTreeMap<BlockHash, usize> = BTreeMap::new();
        for (_, hash) in votes.iter().filter(|(member, _)| !member.is_distrusted()) {
            *counts.entry(*hash).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or_default();
        let mut first = counts.iter().filter(|(_, count)| **count == most).map(|(hash, _)| *hash);
        match (first.next(), first.next()) {
            // Nobody knows it yet.
            (None, _) => Ok(()),
            (Some(right), None) => {
                self.judge(block.number, &votes, right);
                if right == block.hash {
                    return Ok(());
                }
                Err(Failure::reorg(format!(
                    "most nodes have another block {} than {}",
                    block.number, block.hash
                )))
            }
            (Some(_), Some(_)) => {
                let told = votes.iter().map(|(member, hash)| format!("{} has {hash}", member.label));
                let told = told.collect::<Vec<_>>().join(", ");
                Err(Failure::retry(format!("the nodes disagree about block {}: {told}", block.number)))
            }
        }
    }

    fn doubt(&self, reason: &str) {
        let place = self.head_told_by.load(Ordering::Relaxed);
        if let Some(member) = self.members.get(place).filter(|_| self.members.len() > 1) {
            self.warn(member, reason);
            self.rest(member, &Failure::Retry { after: Some(DOUBT_REST), reason: reason.to_owned() });
        }
    }

    fn names(&self) -> String {
        self.members.iter().map(|member| member.label.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// How long a node is left alone whose blocks do not fit together.
const DOUBT_REST: Duration = Duration::from_secs(10);

/// The failure, with the name of the node that it is of.
fn named(label: &str, failure: Failure) -> Failure {
    let told = |reason: String| if reason.contains(label) { reason } else { format!("{label}: {reason}") };
    match failure {
        Failure::Retry { after, reason } => Failure::Retry { after, reason: told(reason) },
        Failure::SmallerRange { suggested, reason } => {
            Failure::SmallerRange { suggested, reason: told(reason) }
        }
        Failure::PossibleReorg { reason } => Failure::PossibleReorg { reason: told(reason) },
        Failure::Stop { reason } => Failure::Stop { reason: told(reason) },
    }
}
