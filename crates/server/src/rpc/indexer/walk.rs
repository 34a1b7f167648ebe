//! Going through what accounts hold, page by page: from memory where contracts are named, and from the store, by its index of
//! accounts, where none are.

use std::sync::Arc;

use bourse_catalog::{Position, Start};
use bourse_store::{CollectionId, CollectionKey, Holding, Holdings, KnownCollection};
use bourse_wire::{Address, Amount, ChainId, Error, TokenId};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::rows::Row;
use super::types::Wanted;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::Begin;
use crate::resident::Slot;
use crate::rpc::marketplace::searchable;

/// How often one call asks the store for what an account holds: contracts that do not count cost one each.
const LOOKS_MAX: usize = 64;
/// So many tokens of one contract are added up as the store has them. Of more, memory has the sum.
const SUMMED_MAX: usize = 256;
/// So much may be passed over by number of what is read from the store.
const SKIPPED_MAX: u64 = 10_000;

/// A place among what accounts hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Place {
    /// The place of the account among those that are named.
    #[serde(rename = "a")]
    account: usize,
    /// The place of the contract among those that are named, or the number of its collection where none are.
    #[serde(rename = "c")]
    contract: u64,
    /// The row before, where the contract has been begun with.
    #[serde(rename = "r")]
    row: Option<TokenId>,
    /// So many of the tokens that are named are done with.
    #[serde(rename = "t")]
    tokens: usize,
}

/// A page of what accounts hold.
pub(super) struct Found {
    pub(super) contracts: Vec<Contract>,
    pub(super) rows: Vec<Row>,
    pub(super) next: Option<Place>,
}

/// Finds a page, from where it begins and of so many rows at most.
pub(super) async fn find(
    call: &Call,
    chain: ChainId,
    wanted: &Wanted,
    (begin, limit): (&Begin<Place>, usize),
) -> Result<Found, Failure> {
    let (place, skip) = match begin {
        Begin::Skip(skip) => (Place::default(), *skip),
        Begin::After(place) => (place.clone(), 0),
    };
    let found = Found { contracts: Vec::new(), rows: Vec::new(), next: None };
    let mut walk = Walk { call, chain, wanted, place, skip, room: limit, found };
    if wanted.contracts.is_empty() {
        if skip > SKIPPED_MAX {
            let reason = format!("more than {SKIPPED_MAX} rows away: go on with the `after` of each answer");
            return Err(Error::invalid("page.page", reason).into());
        }
        walk.everything().await?;
    } else {
        walk.named().await?;
    }
    Ok(walk.found)
}

/// A walk under way.
struct Walk<'w> {
    call: &'w Call,
    chain: ChainId,
    wanted: &'w Wanted,
    /// Where it is.
    place: Place,
    /// Rows to pass over.
    skip: u64,
    /// Rows that the page has room for.
    room: usize,
    found: Found,
}

impl Walk<'_> {
    fn account(&self) -> Option<Address> {
        self.wanted.accounts.get(self.place.account).copied()
    }

    /// Goes on to an account or contract after this one.
    fn go_to(&mut self, account: usize, contract: u64) {
        self.place = Place { account, contract, ..Place::default() };
    }

    /// Whether a row is to be passed over by its number.
    fn passes(&mut self) -> bool {
        let passes = self.skip > 0;
        self.skip -= u64::from(passes);
        passes
    }

    /// Takes a row, unless the page is full: then it is the first of the next one.
    fn take(&mut self, row: Row) -> bool {
        if self.room == 0 {
            self.found.next = Some(self.place.clone());
            return false;
        }
        self.room -= 1;
        self.found.rows.push(row);
        true
    }

    fn has_done(&self) -> bool {
        self.found.next.is_some()
    }

    fn counts(&self, contract: &Contract) -> bool {
        let Wanted { excluded, admitted, types, .. } = self.wanted;
        let is_admitted =
            self.wanted.status().admits(contract.is_verified) || admitted.contains(&contract.key.address);
        contract.key.chain == self.chain
            && !excluded.contains(&contract.key.address)
            && (types.is_empty() || types.contains(&contract.contract_type))
            && is_admitted
    }
}

/// Contracts that are named: each is looked into in memory.
impl Walk<'_> {
    async fn named(&mut self) -> Result<(), Failure> {
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
        let info = slot.read().contract().map(str::to_owned);
        let contract = Contract::read(self.call, key, info).await?;
        if !self.counts(&contract) {
            return Ok(None);
        }
        self.found.contracts.push(contract);
        Ok(Some((self.found.contracts.len() - 1, slot)))
    }

    /// Takes the rows of an account in a contract.
    fn look_into(&mut self, account: Address, contract: usize, slot: &Arc<Slot>) {
        let (wanted, collection) = (self.wanted, slot.read());
        let (unique, balance) = collection.held_together(&account);
        if unique == 0 {
            return;
        }
        if wanted.is_summary {
            if !self.passes() {
                self.take(Row { account, contract, token: None, balance, unique, metadata: None });
            }
            return;
        }
        let metadata = |token| {
            let mut text = Vec::new();
            (wanted.with_metadata && collection.write_token(&mut text, token)).then_some(text)
        };
        let row = |token, balance| {
            let (token, unique, metadata) = (Some(token), 1, metadata(token));
            Row { account, contract, token, balance, unique, metadata }
        };
        if !wanted.tokens.is_empty() {
            for token in wanted.tokens.iter().skip(self.place.tokens) {
                let balance = collection.held(&account, *token).unwrap_or_default();
                let is_left_out = balance == Amount::ZERO || self.passes();
                if !is_left_out && !self.take(row(*token, balance)) {
                    return;
                }
                self.place.tokens += 1;
            }
            return;
        }
        if self.place.row.is_none() && self.skip >= unique as u64 {
            self.skip -= unique as u64;
            return;
        }
        if self.room == 0 {
            self.found.next = Some(self.place.clone());
            return;
        }
        let after = self.place.row.map(|token| Start::After(Position::of_token(token)));
        let start = after.unwrap_or(Start::Skip(self.skip));
        self.skip = 0;
        let rows = collection.held_tokens(&account, start, self.room);
        for token in collection.ids(&rows) {
            self.take(row(token, collection.held(&account, token).unwrap_or_default()));
        }
        if let Some(next) = rows.next {
            self.place.row = Some(next.token);
            self.found.next = Some(self.place.clone());
        }
    }
}

/// What an account holds of all contracts, as the store has it by account.
impl Walk<'_> {
    async fn everything(&mut self) -> Result<(), Failure> {
        let mut contracts: HashMap<CollectionId, Option<usize>> = HashMap::new();
        for _ in 0..LOOKS_MAX {
            let Some(account) = self.account() else { return Ok(()) };
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
            self.found.next = Some(self.place.clone());
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
            let counts = self.counts(&contract);
            if counts {
                self.found.contracts.push(contract);
            }
            contracts.insert(known.id, counts.then(|| self.found.contracts.len() - 1));
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
                let (unique, balance) =
                    if is_whole { sum(these) } else { self.sum_of_many(account, contract).await? };
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
    async fn sum_of_many(&self, account: Address, contract: usize) -> Result<(usize, Amount), Failure> {
        let slot = searchable(self.call, self.found.contracts[contract].key).await?;
        Ok(slot.map_or((0, Amount::ZERO), |slot| slot.read().held_together(&account)))
    }
}

fn sum(held: &[Holding]) -> (usize, Amount) {
    let sum = held
        .iter()
        .fold(Amount::ZERO, |sum, held| Amount::from(sum.value().saturating_add(held.balance.value())));
    (held.len(), sum)
}
