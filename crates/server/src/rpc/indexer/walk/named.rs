//! Contracts that are named: each is looked into in memory.

use std::sync::Arc;

use bourse_store::CollectionKey;
use bourse_wire::Address;
use hashbrown::HashMap;

use super::Walk;
use crate::failure::Failure;
use crate::resident::Slot;
use crate::rpc::marketplace::searchable;

impl Walk<'_> {
    pub(super) async fn named(&mut self) -> Result<(), Failure> {
        let mut known: HashMap<Address, Option<(usize, Arc<Slot>)>> = HashMap::new();
        while let Some(account) = self.account() {
            let index = usize::try_from(self.place.contract).unwrap_or(usize::MAX);
            let Some(address) = self.wanted.contracts.get(index).copied() else {
                self.go_to(self.place.account + 1, 0);
                continue;
            };
            if !known.contains_key(&address) {
                let contract = self.contract(address).await?;
                known.insert(address, contract);
            }
            if let Some(Some((contract, slot))) = known.get(&address) {
                self.look_into(account, *contract, slot);
                if self.has_done() {
                    break;
                }
            }
            self.go_to(self.place.account, self.place.contract + 1);
        }
        Ok(())
    }

    /// A contract of which something is known, if it counts, and where it is in memory.
    async fn contract(&mut self, address: Address) -> Result<Option<(usize, Arc<Slot>)>, Failure> {
        let key = CollectionKey { chain: self.chain, address };
        let Some(slot) = searchable(self.call, key).await? else { return Ok(None) };
        let contract = self.meet_resident(key, &slot).await?;
        Ok(contract.map(|contract| (contract, slot)))
    }
}
