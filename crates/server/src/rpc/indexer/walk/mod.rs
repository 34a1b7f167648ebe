//! Going through what accounts hold, page by page: from memory where contracts are named or all of a chain are there, and else from
//! the store, by its index of accounts.

mod effort;
mod holders;
mod large;
mod named;
mod resident;
mod stored;

use bourse_catalog::{Collection, Position, Start};
use bourse_wire::{Address, Amount, ChainId, TokenId};
use serde::{Deserialize, Serialize};

pub(super) use self::effort::Effort;
use super::contract::Contract;
use super::rows::Row;
use super::types::Wanted;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::Begin;
use crate::resident::Slot;

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
    /// The holder before, where nobody is named.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    holder: Option<Address>,
    /// Rows to pass over from there on, where a page by number ended before it began.
    #[serde(rename = "s", default)]
    skip: u64,
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
    effort: &mut Effort,
) -> Result<Found, Failure> {
    let (place, skip) = match begin {
        Begin::Skip(skip) => (Place::default(), *skip),
        Begin::After(place) => (Place { skip: 0, ..place.clone() }, place.skip),
    };
    if wanted.contracts.is_empty() || wanted.accounts.is_empty() {
        // A place comes from whoever asks, and may say what no page said.
        Begin::<Place>::Skip(skip).check_distance()?;
    }
    let found = Found { contracts: Vec::new(), rows: Vec::new(), next: None };
    let mut walk = Walk { call, chain, wanted, effort, place, skip, room: limit, found };
    if wanted.contracts.is_empty() {
        walk.everything().await?;
    } else if wanted.accounts.is_empty() {
        walk.everybody().await?;
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
    effort: &'w mut Effort,
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
            self.stop();
            return false;
        }
        self.room -= 1;
        self.found.rows.push(row);
        true
    }

    /// Ends the page here: the next one goes on from where it is.
    fn stop(&mut self) {
        self.found.next = Some(Place { skip: self.skip, ..self.place.clone() });
    }

    /// Reads balances in the store once more, if this call still may; else its page ends here.
    fn begin_read(&mut self) -> bool {
        if !self.effort.has_reads() {
            self.stop();
            return false;
        }
        self.effort.note_read();
        true
    }

    fn has_done(&self) -> bool {
        self.found.next.is_some()
    }

    /// The place of a contract among those that were found; nothing where it does not count.
    fn meet_one(&mut self, contract: Contract) -> Option<usize> {
        if !self.counts(&contract) {
            return None;
        }
        self.found.contracts.push(contract);
        Some(self.found.contracts.len() - 1)
    }

    fn counts(&self, contract: &Contract) -> bool {
        let Wanted { excluded, admitted, types, .. } = self.wanted;
        let is_admitted =
            self.wanted.status().admits(contract.is_verified) || admitted.contains(&contract.key.address);
        contract.key.chain == self.chain
            && !excluded.contains(&contract.key.address)
            && types.as_ref().is_none_or(|types| types.contains(&contract.contract_type))
            && is_admitted
    }
}

/// What is in memory of a contract.
impl Walk<'_> {
    /// Takes the rows of an account in a contract.
    fn look_into(&mut self, account: Address, contract: usize, slot: &Slot) {
        let (wanted, collection) = (self.wanted, slot.read());
        let (unique, balance) = wanted.together(&collection, account);
        if unique == 0 {
            return;
        }
        if wanted.is_summary {
            if !self.passes() {
                self.take(Row { account, contract, token: None, balance, unique, metadata: None });
            }
            return;
        }
        let row = |token, balance| {
            let metadata = wanted.metadata(&collection, token);
            Row { account, contract, token: Some(token), balance, unique: 1, metadata }
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
            self.stop();
            return;
        }
        let after = self.place.row.map(|token| Start::After(Position::of_token(token)));
        let start = after.unwrap_or(Start::Skip(self.skip));
        self.skip = 0;
        let page = collection.held_page(&account, start, self.room);
        for (token, balance) in page.held {
            self.place.row = Some(token);
            self.take(row(token, balance));
        }
        if page.more {
            self.stop();
        }
    }
}

impl Wanted {
    /// Of how many tokens of a contract an account holds some, and how much of all together; of those that are asked for where some
    /// are named and added up.
    fn together(&self, collection: &Collection, account: Address) -> (usize, Amount) {
        if !self.is_summary || self.tokens.is_empty() {
            return collection.held_together(&account);
        }
        let held = self.tokens.iter().filter_map(|token| collection.held(&account, *token));
        sum(held)
    }

    /// What memory knows of a token, as JSON text, when it is asked for.
    fn metadata(&self, collection: &Collection, token: TokenId) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        (self.with_metadata && collection.write_token(&mut text, token)).then_some(text)
    }
}

/// How many balances are not nothing, and how much they are together.
fn sum(balances: impl Iterator<Item = Amount>) -> (usize, Amount) {
    balances.filter(|balance| *balance != Amount::ZERO).fold((0, Amount::ZERO), |(count, sum), balance| {
        (count + 1, Amount::from(sum.value().saturating_add(balance.value())))
    })
}
