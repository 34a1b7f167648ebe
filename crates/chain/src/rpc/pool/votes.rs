//! Several nodes asked the same: who has newer blocks, and what most have.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use bourse_market::facts::{Block, BlockHash};

use super::member::Member;
use super::{Newest, Pool, named};
use crate::node::{Failure, Node};
use crate::pace::{Pace, between};

impl<N: Node, P: Pace> Pool<N, P> {
    /// Whether there was no newer block for too long. Asking again counts as one: not every question is to go to all.
    pub(super) fn stands_still(&self, head: &Block) -> bool {
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
    pub(super) async fn newest_of_all(&self, known: Block) -> Block {
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

    /// Holds a block against what most nodes have at its height.
    pub(super) async fn hold_against_votes(&self, block: &Block) -> Result<(), Failure> {
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
}
