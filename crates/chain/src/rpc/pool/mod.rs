//! Several nodes of one chain behind one name.

mod member;
mod node;
mod play;
mod votes;

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bourse_wire::{ChainId, Timestamp};

use self::member::Member;
use crate::node::{Failure, Node};
use crate::pace::Pace;
use crate::status::NodeTrouble;

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

impl<N: Node, P: Pace> Pool<N, P> {
    /// These nodes, each with a label that tells no secret, the preferred one first.
    pub fn new(chain: ChainId, nodes: Vec<(String, N)>, options: PoolOptions, pace: P) -> Self {
        let members = nodes.into_iter().map(|(label, node)| Member::new(label, node)).collect();
        let newest = Mutex::new(Newest { number: 0, since: Timestamp::ZERO });
        Self { chain, members, options, pace, newest, head_told_by: AtomicUsize::new(0) }
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

    /// The nodes that are left alone, or were lately, with what they did.
    pub fn troubles(&self) -> Vec<NodeTrouble> {
        let now = self.pace.now();
        self.members.iter().filter_map(|member| member.trouble(now)).collect()
    }
}

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
