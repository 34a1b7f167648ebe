//! A chain that says what a test wants.

use std::collections::HashMap;
use std::sync::Mutex;

use alloy_primitives::{Bytes, hex, keccak256};
use bourse_protocols::native::Inquiry;
use bourse_server::{Allowance, Chains, Operator, Royalty};
use bourse_wire::{Amount, ChainId};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};
use tokio::sync::Notify;

/// The selector of `isRequestValid(uint256,uint256)`, by which such a contract is asked.
pub(crate) const IS_REQUEST_VALID: &str = "24dc6bd0";

/// A chain that says what the test wants; nothing where it wants nothing.
#[derive(Default)]
pub(crate) struct FakeChain {
    pub(crate) allowance: Option<u64>,
    pub(crate) is_operator: Option<bool>,
    pub(crate) royalty: Option<u64>,
    pub(crate) asked: Mutex<Vec<String>>,
    /// What contracts answer to calls; nobody can be asked while there is nothing.
    pub(crate) contracts: Mutex<Option<HashMap<(String, String), Bytes>>>,
}

impl FakeChain {
    fn note(&self, chain: ChainId, asked: &str) {
        self.asked.lock().unwrap().push(format!("{chain} {asked}"));
    }

    /// Lets contracts be asked. Calls that nothing else is said about fail.
    pub(crate) fn awake(&self) {
        self.contracts.lock().unwrap().get_or_insert_default();
    }

    /// Lets nobody be asked.
    pub(crate) fn asleep(&self) {
        *self.contracts.lock().unwrap() = None;
    }

    /// Lets a contract answer calls of a function with these numbers, a word each.
    pub(crate) fn says(&self, contract: &str, function: &str, words: &[u64]) {
        let words: Vec<String> = words.iter().map(|word| format!("{word:064x}")).collect();
        self.says_data(contract, &hex::encode(&keccak256(function)[..4]), &words.concat());
    }

    /// The same for calls that begin with a selector, and with anything, both in hexadecimal without `0x`.
    pub(crate) fn says_data(&self, contract: &str, selector: &str, data: &str) {
        let call = (contract.to_owned(), selector.to_owned());
        let answer = hex::decode(data).unwrap().into();
        self.contracts.lock().unwrap().get_or_insert_default().insert(call, answer);
    }
}

/// An order as a contract of our own marketplaces keeps it.
#[derive(Clone, Copy)]
pub(crate) struct KeptOrder {
    pub(crate) is_valid: bool,
    pub(crate) creator: &'static str,
    pub(crate) is_listing: bool,
    pub(crate) collection: &'static str,
    pub(crate) token: u64,
    pub(crate) quantity: u64,
    pub(crate) expiry: u64,
    pub(crate) currency: &'static str,
    pub(crate) price: u64,
}

impl KeptOrder {
    /// Has a contract say so of every order.
    pub(crate) fn said_by(self, chain: &FakeChain, contract: &str) {
        let address = |address: &str| format!("{:0>64}", &address[2..]);
        let number = |number: u64| format!("{number:064x}");
        let words = [
            number(self.is_valid.into()),
            address(self.creator),
            number(self.is_listing.into()),
            number(1),
            address(self.collection),
            number(self.token),
            number(self.quantity),
            number(self.expiry),
            address(self.currency),
            number(self.price),
        ];
        chain.says_data(contract, IS_REQUEST_VALID, &words.concat());
    }
}

impl Chains for FakeChain {
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>> {
        let call = |inquiry: &Inquiry| (inquiry.to.to_string(), hex::encode(&inquiry.data[..4]));
        let calls: Vec<_> = asked.iter().map(call).collect();
        for (contract, selector) in &calls {
            self.note(chain, &format!("{contract} {selector}"));
        }
        let contracts = self.contracts.lock().unwrap();
        let answers = contracts.as_ref().map(|known| calls.iter().map(|call| known.get(call).cloned()));
        ready(answers.map(Iterator::collect)).boxed()
    }

    fn allowance(&self, chain: ChainId, asked: Allowance) -> BoxFuture<'_, Option<Amount>> {
        self.note(chain, &format!("allowance {} {} {}", asked.currency, asked.owner, asked.spender));
        ready(self.allowance.map(Amount::from)).boxed()
    }

    fn is_operator(&self, chain: ChainId, asked: Operator) -> BoxFuture<'_, Option<bool>> {
        self.note(chain, &format!("operator {} {} {}", asked.collection, asked.owner, asked.operator));
        ready(self.is_operator).boxed()
    }

    fn royalty(&self, chain: ChainId, asked: Royalty) -> BoxFuture<'_, Option<Amount>> {
        self.note(chain, &format!("royalty {} token {} for {}", asked.market, asked.token_id, asked.price));
        ready(self.royalty.map(Amount::from)).boxed()
    }
}

/// A chain that never answers, and a notice of when it is asked.
#[derive(Default)]
pub(crate) struct StuckChain {
    pub(crate) asked: Notify,
}

impl StuckChain {
    fn never<T: Send + 'static>(&self) -> BoxFuture<'_, Option<T>> {
        self.asked.notify_one();
        pending().boxed()
    }
}

impl Chains for StuckChain {
    fn ask_all(&self, _: ChainId, _: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>> {
        self.never()
    }

    fn allowance(&self, _: ChainId, _: Allowance) -> BoxFuture<'_, Option<Amount>> {
        self.never()
    }

    fn is_operator(&self, _: ChainId, _: Operator) -> BoxFuture<'_, Option<bool>> {
        self.never()
    }

    fn royalty(&self, _: ChainId, _: Royalty) -> BoxFuture<'_, Option<Amount>> {
        self.never()
    }
}
