//! What nodes tell together, as one.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256};
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId};

use super::member::Member;
use super::{Pool, named};
use crate::bloom;
use crate::node::{Call, CallResults, Failure, Header, LogFilter, Node, Span, SpanLogs, TimedLog};
use crate::pace::Pace;
use crate::receipt::Receipt;
use crate::rpc::answers::{lacking, sound_blocks, sound_logs};

/// How long a node is left alone whose blocks do not fit together.
const DOUBT_REST: Duration = Duration::from_secs(10);

impl<N: Node, P: Pace> Pool<N, P> {
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

    async fn funds(&self, accounts: &[Address]) -> Result<Vec<U256>, Failure> {
        self.ask(accounts.len(), |member| member.node.funds(accounts)).await
    }

    async fn receipt(&self, transaction: B256) -> Result<Option<Receipt>, Failure> {
        self.ask(1, |member| member.node.receipt(transaction)).await
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        self.ask(addresses.len(), |member| member.node.code(addresses)).await
    }

    async fn confirm(&self, block: &Block) -> Result<(), Failure> {
        if self.members.len() < 2 {
            return Ok(());
        }
        self.hold_against_votes(block).await
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
