//! Who holds tokens that are named, where no account is: read from the store, which has the holders of a token beside each other.

use bourse_store::CollectionKey;

use super::large::READ_ROWS;
use super::named::Balances;
use super::{Row, Walk};
use crate::failure::Failure;

impl Walk<'_> {
    /// Goes through the holders of each token in each contract.
    pub(super) async fn everybody(&mut self) -> Result<(), Failure> {
        loop {
            let index = usize::try_from(self.place.contract).unwrap_or(usize::MAX);
            let Some(address) = self.wanted.contracts.get(index).copied() else { break };
            let key = CollectionKey { chain: self.chain, address };
            if self.effort.is_spent_for(self.call, key) {
                self.stop();
                break;
            }
            if let Some((contract, balances)) = self.contract(key).await? {
                self.look_for_holders(contract, &balances).await?;
            }
            if self.has_done() {
                break;
            }
            self.go_to(0, self.place.contract + 1);
        }
        Ok(())
    }

    /// Takes the rows of a contract's tokens.
    async fn look_for_holders(&mut self, contract: usize, balances: &Balances) -> Result<(), Failure> {
        let id = balances.collection();
        while let Some(token) = self.wanted.tokens.get(self.place.tokens).copied() {
            if !self.begin_read() {
                return Ok(());
            }
            let metadata = match balances {
                Balances::Resident(slot) => self.wanted.metadata(&slot.read(), token),
                Balances::Stored(_) => None,
            };
            let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
            let limit = skip.saturating_add(self.room).saturating_add(1).min(READ_ROWS);
            let after = self.place.holder;
            let held = self.call.app.store.holders_after(id, token, after, limit as u64).await?;
            let has_more = held.len() == limit;
            for held in held {
                let row = Row { contract, metadata: metadata.clone(), ..Row::of(&held) };
                if !self.passes() && !self.take(row) {
                    return Ok(());
                }
                self.place.holder = Some(held.account);
            }
            if !has_more {
                self.place.holder = None;
                self.place.tokens += 1;
            }
        }
        Ok(())
    }
}
