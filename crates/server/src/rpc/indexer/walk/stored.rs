//! What an account holds of all contracts, as the store has it by account.

use bourse_store::{CollectionId, Holding, Holdings, KnownCollection};
use bourse_wire::{Address, Amount};
use hashbrown::HashMap;

use super::{Contract, Place, Row, Walk, sum};
use crate::failure::Failure;
use crate::resident::Residence;

/// How often one call asks the store for what an account holds: contracts that do not count cost one each.
const LOOKS_MAX: usize = 64;
/// So many tokens of one contract are added up as the store has them. Of more, memory has the sum.
const SUMMED_MAX: usize = 256;

impl Walk<'_> {
    /// Reads on in the store, contract by contract.
    pub(super) async fn stored(&mut self) -> Result<(), Failure> {
        let mut contracts: HashMap<CollectionId, Option<usize>> = HashMap::new();
        for _ in 0..LOOKS_MAX {
            let Some(account) = self.account() else { return Ok(()) };
            if !self.effort.has_reads() {
                break;
            }
            let limit = if self.wanted.is_summary { SUMMED_MAX + 1 } else { self.rows_to_read() };
            let Place { contract, row, .. } = self.place;
            let found = self.call.app.store.holdings(account, contract, row, limit as u64).await?;
            let Holdings { held, collections } = found;
            self.meet(&mut contracts, collections).await?;
            let is_all = held.len() < limit;
            if self.wanted.is_summary {
                self.sum_up(account, &contracts, &held, is_all).await?;
            } else {
                self.take_held(account, &contracts, &held, is_all);
            }
            if self.has_done() {
                return Ok(());
            }
        }
        if self.account().is_some() {
            self.stop();
        }
        Ok(())
    }

    /// Enough for the page and to know whether there are more.
    fn rows_to_read(&self) -> usize {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        skip.saturating_add(self.room).saturating_add(1).min(4 * SUMMED_MAX)
    }

    /// Finds out which contracts count of those that something is held of.
    async fn meet(
        &mut self,
        contracts: &mut HashMap<CollectionId, Option<usize>>,
        collections: Vec<KnownCollection>,
    ) -> Result<(), Failure> {
        for known in collections {
            if contracts.contains_key(&known.id) {
                continue;
            }
            let contract = Contract::read(self.call, known.key, known.info).await?;
            contracts.insert(known.id, self.meet_one(contract));
        }
        Ok(())
    }

    fn take_held(
        &mut self,
        account: Address,
        contracts: &HashMap<CollectionId, Option<usize>>,
        held: &[Holding],
        is_all: bool,
    ) {
        for Holding { collection, token_id, balance } in held {
            let Some(contract) = contracts.get(collection).copied().flatten() else {
                // What was read of it is passed over, and what was not is left out.
                self.go_to(self.place.account, collection.number() + 1);
                continue;
            };
            let (token, unique, metadata) = (Some(*token_id), 1, None);
            let row = Row { account, contract, token, balance: *balance, unique, metadata };
            if !self.passes() && !self.take(row) {
                return;
            }
            self.place.contract = collection.number();
            self.place.row = Some(*token_id);
        }
        if is_all {
            self.go_to(self.place.account + 1, 0);
        }
    }

    async fn sum_up(
        &mut self,
        account: Address,
        contracts: &HashMap<CollectionId, Option<usize>>,
        held: &[Holding],
        is_all: bool,
    ) -> Result<(), Failure> {
        let mut rest = held;
        while let Some(Holding { collection, .. }) = rest.first().copied() {
            let of_it = rest.partition_point(|held| held.collection == collection);
            let (these, others) = rest.split_at(of_it);
            let (is_whole, is_only) = (is_all || !others.is_empty(), these.len() == held.len());
            if let Some(contract) = contracts.get(&collection).copied().flatten() {
                if !is_whole && !is_only {
                    // The rest of it follows, and is read together with these.
                    self.go_to(self.place.account, collection.number());
                    return Ok(());
                }
                self.go_to(self.place.account, collection.number());
                let (unique, balance) = if is_whole {
                    sum(these.iter().map(|held| held.balance))
                } else {
                    self.sum_of_many(account, contract).await?
                };
                let row = Row { account, contract, token: None, balance, unique, metadata: None };
                if unique > 0 && !self.passes() && !self.take(row) {
                    return Ok(());
                }
            }
            self.go_to(self.place.account, collection.number() + 1);
            rest = others;
        }
        if is_all {
            self.go_to(self.place.account + 1, 0);
        }
        Ok(())
    }

    /// Of how many tokens an account holds some, and how much, where these are many.
    async fn sum_of_many(&mut self, account: Address, contract: usize) -> Result<(usize, Amount), Failure> {
        let key = self.found.contracts[contract].key;
        if self.effort.is_spent_for(self.call, key) {
            return match self.call.app.store.collection(key).await? {
                Some(id) => self.sum_in_store(account, (key, id)).await,
                None => Ok((0, Amount::ZERO)),
            };
        }
        match self.effort.find(self.call, key).await? {
            Residence::Resident(slot) => Ok(slot.read().held_together(&account)),
            Residence::Stored(id) => self.sum_in_store(account, (key, id)).await,
            Residence::Missing => Ok((0, Amount::ZERO)),
        }
    }
}
