//! Contracts that are named and larger than the memory there is: what an account holds of them is in the store, by its index.

use bourse_store::{CollectionId, CollectionKey, Holding};
use bourse_wire::{Address, Amount, Code, Error};

use super::{Row, Walk, sum};
use crate::failure::Failure;

/// Rows that are read at once.
pub(super) const READ_ROWS: usize = 4_096;
/// How often one call reads so many to add them up.
const READS_MAX: usize = 25;

impl Walk<'_> {
    /// Takes the rows of an account in a contract.
    pub(super) async fn look_into_store(
        &mut self,
        account: Address,
        contract: usize,
        (key, id): (CollectionKey, CollectionId),
    ) -> Result<(), Failure> {
        if !self.begin_read() {
            return Ok(());
        }
        if self.wanted.is_summary {
            let (unique, balance) = if self.wanted.tokens.is_empty() {
                self.sum_in_store(account, (key, id)).await?
            } else {
                let held = self.call.app.store.held_tokens(id, account, self.wanted.tokens.clone()).await?;
                sum(held.into_iter().map(|held| held.balance))
            };
            if unique > 0 && !self.passes() {
                self.take(Row { account, contract, token: None, balance, unique, metadata: None });
            }
            return Ok(());
        }
        let row = |held: &Holding| {
            let (token, balance) = (Some(held.token_id), held.balance);
            Row { account, contract, token, balance, unique: 1, metadata: None }
        };
        if !self.wanted.tokens.is_empty() {
            let tokens = self.wanted.tokens.iter().copied();
            let held = self.call.app.store.held_tokens(id, account, tokens.collect()).await?;
            for token in self.wanted.tokens.iter().skip(self.place.tokens) {
                let found = held.iter().find(|held| held.token_id == *token);
                if let Some(held) = found
                    && !self.passes()
                    && !self.take(row(held))
                {
                    break;
                }
                self.place.tokens += 1;
            }
            return Ok(());
        }
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        let limit = skip.saturating_add(self.room).saturating_add(1).min(READ_ROWS);
        let held = self.call.app.store.holdings_in(id, account, self.place.row, limit as u64).await?;
        for held in &held {
            if !self.passes() && !self.take(row(held)) {
                return Ok(());
            }
            self.place.row = Some(held.token_id);
        }
        if held.len() == limit {
            self.stop();
        }
        Ok(())
    }

    /// Of how many tokens an account holds some, and how much.
    pub(super) async fn sum_in_store(
        &mut self,
        account: Address,
        (key, id): (CollectionKey, CollectionId),
    ) -> Result<(usize, Amount), Failure> {
        let (mut balances, mut after) = (Vec::new(), None);
        for _ in 0..READS_MAX {
            self.effort.note_read();
            let held = self.call.app.store.holdings_in(id, account, after, READ_ROWS as u64).await?;
            after = held.last().map(|last| last.token_id);
            balances.extend(held.iter().map(|held| held.balance));
            if held.len() < READ_ROWS {
                return Ok(sum(balances.into_iter()));
            }
        }
        let message = format!(
            "{account} holds more tokens of {} on chain {} than can be added up, and the collection is not in memory",
            key.address, key.chain
        );
        Err(Error::new(Code::Overloaded, message).into())
    }
}
