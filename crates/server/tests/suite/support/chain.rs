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
