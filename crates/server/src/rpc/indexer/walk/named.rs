//! Contracts that are named: each is looked into in memory, and in the store where it is larger than that.

use std::sync::Arc;

use bourse_store::{CollectionId, CollectionKey};
use bourse_wire::Address;
use hashbrown::HashMap;

use super::{Contract, Walk};
use crate::failure::Failure;
use crate::resident::{Residence, Slot};

/// Where balances of a contract are read.
#[derive(Clone)]
pub(super) enum Balances {
    /// In memory.
    Resident(Arc<Slot>),
    /// In the store.
    Stored(CollectionId),
}

impl Balances {
    pub(super) fn collection(&self) -> CollectionId {
        match self {
            Self::Resident(slot) => slot.id(),
            Self::Stored(id) => *id,
        }
    }
}

impl Walk<'_> {
    pub(super) async fn named(&mut self) -> Result<(), Failure> {
        let mut known: HashMap<Address, Option<(usize, Balances)>> = HashMap::new();
        while let Some(account) = self.account() {
            let index = usize::try_from(self.place.contract).unwrap_or(usize::MAX);
            let Some(address) = self.wanted.contracts.get(index).copied() else {
                self.go_to(self.place.account + 1, 0);
                continue;
            };
            let key = CollectionKey { chain: self.chain, address };
            if !known.contains_key(&address) {
                if self.effort.is_spent_for(self.call, key) {
                    self.stop();
                    break;
                }
                known.insert(address, self.contract(key).await?);
            }
            match known.get(&address).cloned().flatten() {
                Some((contract, Balances::Resident(slot))) => self.look_into(account, contract, &slot),
                Some((contract, Balances::Stored(id))) => {
                    self.look_into_store(account, contract, (key, id)).await?;
                }
                None => {}
            }
            if self.has_done() {
                break;
            }
            self.go_to(self.place.account, self.place.contract + 1);
        }
        Ok(())
    }

    /// A contract of which something is known, if it counts, and where its balances are.
    pub(super) async fn contract(
        &mut self,
        key: CollectionKey,
    ) -> Result<Option<(usize, Balances)>, Failure> {
        match self.effort.find(self.call, key).await? {
            Residence::Resident(slot) => {
                let contract = self.meet_resident(key, &slot).await?;
                Ok(contract.map(|contract| (contract, Balances::Resident(slot))))
            }
            Residence::Stored(id) => {
                let info = self.call.app.store.contract(id).await?;
                let contract = Contract::read(self.call, key, info).await?;
                Ok(self.meet_one(contract).map(|contract| (contract, Balances::Stored(id))))
            }
            Residence::Missing => self.call.check_known(key.chain).await.map(|()| None),
        }
    }
}
