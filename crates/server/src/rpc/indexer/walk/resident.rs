//! What an account holds of all contracts of a chain, where all of those are in memory. Rows come in the order that the store has them
//! in, so that a page may be read here and the next one there.

use std::sync::Arc;

use bourse_store::{CollectionId, CollectionKey};
use bourse_wire::{Address, Amount};
use hashbrown::HashMap;

use super::{Contract, Row, Walk};
use crate::failure::Failure;
use crate::resident::Slot;

impl Walk<'_> {
    /// Goes through all contracts, where they are quickest to be had.
    pub(super) async fn everything(&mut self) -> Result<(), Failure> {
        if let Some(slots) = self.call.app.resident.all_of(self.chain).await?
            && self.resident(&slots).await?
        {
            return Ok(());
        }
        self.stored().await
    }

    /// Goes through contracts in memory, in the order of their numbers; false where the store is to go on.
    async fn resident(&mut self, slots: &[Arc<Slot>]) -> Result<bool, Failure> {
        let mut contracts: HashMap<CollectionId, Option<usize>> = HashMap::new();
        while let Some(account) = self.account() {
            let begun = slots.partition_point(|slot| slot.id().number() < self.place.contract);
            for slot in &slots[begun..] {
                let together = slot.read().held_together(&account);
                if together.0 == 0 {
                    continue;
                }
                if !contracts.contains_key(&slot.id()) {
                    contracts.insert(slot.id(), self.meet_resident(slot.key(), slot).await?);
                }
                if slot.id().number() != self.place.contract {
                    self.go_to(self.place.account, slot.id().number());
                }
                if let Some(contract) = contracts[&slot.id()]
                    && !self.take_resident(account, (contract, slot), together)
                {
                    return Ok(false);
                }
                if self.has_done() {
                    return Ok(true);
                }
            }
            self.go_to(self.place.account + 1, 0);
        }
        Ok(true)
    }

    /// Takes the rows of an account in a contract, of so many tokens with so much of all together; false where memory does not have
    /// them in order.
    fn take_resident(
        &mut self,
        account: Address,
        (contract, slot): (usize, &Slot),
        (unique, balance): (usize, Amount),
    ) -> bool {
        if self.wanted.is_summary {
            if !self.passes() {
                self.take(Row { account, contract, token: None, balance, unique, metadata: None });
            }
            return true;
        }
        if self.place.row.is_none() && self.skip >= unique as u64 {
            self.skip -= unique as u64;
            return true;
        }
        let (collection, skip) = (slot.read(), usize::try_from(self.skip).unwrap_or(usize::MAX));
        let Some(page) = collection.held_by_text(&account, self.place.row, (skip, self.room)) else {
            return false;
        };
        self.skip = 0;
        for (token, balance) in page.held {
            let metadata = self.wanted.metadata(&collection, token);
            self.place.row = Some(token);
            self.take(Row { account, contract, token: Some(token), balance, unique: 1, metadata });
        }
        if page.more {
            self.stop();
        }
        true
    }

    /// The place of a contract among those that were found; nothing where it does not count.
    pub(super) async fn meet_resident(
        &mut self,
        key: CollectionKey,
        slot: &Slot,
    ) -> Result<Option<usize>, Failure> {
        let info = slot.read().contract().map(str::to_owned);
        let contract = Contract::read(self.call, key, info).await?;
        let met = self.meet_one(contract);
        if met.is_some() {
            // It is of use, and not the next to leave memory.
            self.call.app.resident.resident(key);
        }
        Ok(met)
    }
}
