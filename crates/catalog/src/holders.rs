//! Accounts: who holds how much of what.

use std::io::{self, BufRead, Write};

use bourse_sets::{Bits, Set, Term};
use bourse_wire::{Address, Amount};
use hashbrown::HashMap;

use crate::kept::Kept;
use crate::large_holders::LargeHolders;
use crate::sums::Sums;

/// The accounts of a collection, numbered as they come, and what each holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    numbers: HashMap<Address, u32>,
    addresses: Vec<Address>,
    /// Account to the tokens that it holds, ascending, and how much of each.
    held: Vec<Vec<(u32, Amount)>>,
    large: LargeHolders,
    /// How much there is of each token.
    supplies: Sums,
    /// How much each account holds of all tokens together.
    totals: Sums,
    /// Whether anything was ever said of balances. Before that nobody is known to hold anything, nor nothing.
    known: bool,
}

impl Holders {
    /// The number of an account, which is new when it had none.
    pub(crate) fn number(&mut self, account: Address) -> u32 {
        let next = u32::try_from(self.addresses.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(account).or_insert_with(|| {
            self.addresses.push(account);
            self.held.push(Vec::new());
            next
        })
    }

    pub(crate) fn find(&self, account: &Address) -> Option<u32> {
        self.numbers.get(account).copied()
    }

    pub(crate) fn address(&self, account: u32) -> &Address {
        &self.addresses[account as usize]
    }

    /// How many accounts have a number.
    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }

    /// What an account holds.
    pub(crate) fn held(&self, account: u32) -> &[(u32, Amount)] {
        &self.held[account as usize]
    }

    pub(crate) fn are_known(&self) -> bool {
        self.known
    }

    /// Notes what an account holds of a token now; its number.
    pub(crate) fn put(&mut self, account: Address, token: u32, balance: Amount) -> u32 {
        self.known = true;
        let account = self.number(account);
        let held = &mut self.held[account as usize];
        let found = held.binary_search_by_key(&token, |(token, _)| *token);
        let before = found.map_or(Amount::ZERO, |position| held[position].1);
        match found {
            Ok(position) if balance == Amount::ZERO => drop(held.remove(position)),
            Ok(position) => held[position].1 = balance,
            Err(_) if balance == Amount::ZERO => {}
            Err(position) => held.insert(position, (token, balance)),
        }
        self.large.put(account, token, held, balance != Amount::ZERO);
        self.supplies.replace(token, before, balance);
        self.totals.replace(account, before, balance);
        account
    }

    /// How much there is of a token.
    pub(crate) fn supply(&self, token: u32) -> Amount {
        self.supplies.get(token)
    }

    /// The tokens that anybody holds, of so many.
    pub(crate) fn held_by_anybody(&self, universe: usize) -> Bits {
        let mut bits = Bits::empty(universe);
        for token in self.supplies.nonzero() {
            bits.insert(token);
        }
        bits
    }

    /// Of how many tokens an account holds some, and how much of all of them together.
    pub(crate) fn total(&self, account: u32) -> (usize, Amount) {
        (self.held[account as usize].len(), self.totals.get(account))
    }

    /// Notes what an account holds of a token that nothing was said of before. Nobody may ask until all is settled.
    pub(crate) fn push(&mut self, account: Address, token: u32, balance: Amount) {
        self.known = true;
        let account = self.number(account);
        if balance != Amount::ZERO {
            self.held[account as usize].push((token, balance));
            self.supplies.replace(token, Amount::ZERO, balance);
            self.totals.replace(account, Amount::ZERO, balance);
        }
    }

    /// Puts what was pushed in order: all at once, since who holds very many would have to make room for each.
    pub(crate) fn settle(&mut self, universe: usize) {
        for (account, held) in (0..).zip(&mut self.held) {
            if !held.is_sorted_by_key(|(token, _)| *token) {
                held.sort_unstable_by_key(|(token, _)| *token);
            }
            self.large.settle(account, held, universe);
        }
    }

    /// What an account holds of a token.
    pub(crate) fn balance(&self, account: u32, token: u32) -> Amount {
        let held = &self.held[account as usize];
        let found = held.binary_search_by_key(&token, |(token, _)| *token);
        found.map_or(Amount::ZERO, |position| held[position].1)
    }

    /// The tokens that any of these accounts holds, ascending.
    pub(crate) fn tokens(&self, accounts: &[Address]) -> Vec<u32> {
        if let Some(set) = self.large_of(accounts) {
            return set.to_list();
        }
        let held = accounts
            .iter()
            .filter_map(|account| self.find(account))
            .flat_map(|account| &self.held[account as usize]);
        let mut tokens: Vec<u32> = held.map(|(token, _)| *token).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    /// The tokens of one account alone, if they are many.
    fn large_of(&self, accounts: &[Address]) -> Option<&Set> {
        let [account] = accounts else { return None };
        self.large.get(self.find(account)?)
    }

    /// How many tokens these accounts hold, each counted for everybody who holds it.
    pub(crate) fn held_by(&self, accounts: &[Address]) -> usize {
        let numbers = accounts.iter().filter_map(|account| self.find(account));
        numbers.map(|account| self.held[account as usize].len()).sum()
    }

    /// The tokens that any of these accounts holds, of so many, as a set.
    pub(crate) fn term(&self, accounts: &[Address], universe: usize) -> Term<'_> {
        if let Some(set) = self.large_of(accounts) {
            return set.term();
        }
        let bits = self.bits(accounts, universe);
        let about = bits.count();
        Term::new(bits, about)
    }

    /// The same with one bit for each token.
    pub(crate) fn bits(&self, accounts: &[Address], universe: usize) -> Bits {
        let mut bits = Bits::empty(universe);
        for account in accounts.iter().filter_map(|account| self.find(account)) {
            match self.large.get(account) {
                Some(set) => set.add_to(&mut bits),
                None => {
                    for (token, _) in &self.held[account as usize] {
                        bits.insert(*token);
                    }
                }
            }
        }
        bits
    }

    pub(crate) fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<(Address, u32)>()
            + self.large.bytes()
            + self.supplies.bytes()
            + self.totals.bytes()
            + self.addresses.capacity() * size_of::<Address>()
            + self.held.capacity() * size_of::<Vec<(u32, Amount)>>()
            + self.held.iter().map(|held| held.capacity() * size_of::<(u32, Amount)>()).sum::<usize>()
    }
}

impl Kept for Holders {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.addresses.keep(out)?;
        self.held.keep(out)?;
        self.large.keep(out)?;
        self.supplies.keep(out)?;
        self.totals.keep(out)?;
        self.known.keep(out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let (addresses, held): (Vec<Address>, _) = (Kept::read(from)?, Kept::read(from)?);
        let numbers = addresses.iter().copied().zip(0..).collect();
        let (large, supplies, totals) = (Kept::read(from)?, Kept::read(from)?, Kept::read(from)?);
        Ok(Self { numbers, addresses, held, large, supplies, totals, known: Kept::read(from)? })
    }
}
