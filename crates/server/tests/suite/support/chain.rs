//! A chain that says what a test wants.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use alloy_primitives::{B256, Bytes, U256, hex, keccak256};
use bourse_chain::{Played, Receipt, Rehearsal, Unplayed};
use bourse_protocols::native::Inquiry;
use bourse_server::{Chains, Unanswered};
use bourse_wire::{Address, ChainId};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};
use tokio::sync::Notify;

/// The selector of `isRequestValid(uint256,uint256)`, by which such a contract is asked.
pub(crate) const IS_REQUEST_VALID: &str = "24dc6bd0";
/// Those of `allowance(address,address)`, `isApprovedForAll(address,address)`, `hasUserApprovedOperator(address,address)` and
/// `getRoyaltyInfo(address,uint256,uint256)`.
const ALLOWANCE: &str = "dd62ed3e";
const IS_OPERATOR: &str = "e985e9c5";
const IS_GRANTED: &str = "3cc4cb06";
const ROYALTY: &str = "36de9742";

/// A chain that says what the test wants; nothing where it wants nothing.
#[derive(Default)]
pub(crate) struct FakeChain {
    pub(crate) allowance: Option<u64>,
    pub(crate) is_operator: Option<bool>,
    pub(crate) royalty: Option<u64>,
    pub(crate) asked: Mutex<Vec<String>>,
    /// What contracts answer to calls; nobody can be asked while there is nothing.
    pub(crate) contracts: Mutex<Option<HashMap<(String, String), Bytes>>>,
    /// What it says of steps; no node is configured while there is nothing.
    pub(crate) played: Mutex<Option<Result<Played, Unplayed>>>,
    /// What every account has of its own currency; nobody can be asked while there is nothing.
    pub(crate) funds: Mutex<Option<u64>>,
    /// Its newest block, and whether each question finds another one.
    pub(crate) head: Mutex<u64>,
    pub(crate) moves: AtomicBool,
    /// What became of transactions, and what becomes of one when it was asked about so often.
    pub(crate) receipts: Mutex<Vec<Receipt>>,
    pub(crate) comes_at: Mutex<Option<(u64, Receipt)>>,
    /// Whether it never answers what became of them.
    pub(crate) withholds: AtomicBool,
    /// The steps that it was to play.
    pub(crate) rehearsals: Mutex<Vec<Rehearsal>>,
    /// Whether there is no contract of our own marketplaces.
    pub(crate) is_deserted: bool,
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
        // Whoever asks for nothing else wants to know which approvals are missing.
        let asked: Vec<Asked> = asked.iter().map(Asked::read).collect();
        let of_approvals = [ALLOWANCE, IS_OPERATOR, IS_GRANTED];
        let is_approval = asked.iter().all(|asked| of_approvals.contains(&asked.selector.as_str()));
        let known = self.contracts.lock().unwrap();
        let answer = |asked: Asked| {
            self.note(chain, &asked.note());
            let told = match asked.selector.as_str() {
                ALLOWANCE if is_approval => self.allowance.map(|amount| format!("{amount:064x}")),
                IS_OPERATOR if is_approval => {
                    self.is_operator.map(|is_so| format!("{:064x}", u8::from(is_so)))
                }
                ROYALTY if self.royalty.is_some() => {
                    self.royalty.map(|amount| format!("{:064x}{amount:064x}", 1))
                }
                _ => return known.as_ref()?.get(&(asked.contract, asked.selector)).cloned(),
            };
            told.map(|words| hex::decode(words).unwrap().into())
        };
        // Our own contracts answer to a number that no order has.
        let is_of_nothing = |asked: &Asked| asked.selector == IS_REQUEST_VALID && number_is_zero(asked);
        let of_nothing: Vec<bool> = asked.iter().map(is_of_nothing).collect();
        let mut answers: Vec<Option<Bytes>> = asked.into_iter().map(answer).collect();
        let is_anybody = known.is_some() || answers.iter().any(Option::is_some);
        for (answer, _) in answers.iter_mut().zip(of_nothing).filter(|(_, is_one)| *is_one) {
            *answer = (!self.is_deserted).then(|| vec![0; 320].into());
        }
        ready(is_anybody.then_some(answers)).boxed()
    }

    fn play(&self, _: ChainId, rehearsal: Rehearsal, _: Duration) -> BoxFuture<'_, Result<Played, Unplayed>> {
        self.rehearsals.lock().unwrap().push(rehearsal);
        ready(self.played.lock().unwrap().clone().unwrap_or(Err(Unplayed::NoNode))).boxed()
    }

    fn funds(&self, _: ChainId, accounts: Vec<Address>) -> BoxFuture<'_, Result<Vec<U256>, Unanswered>> {
        let funds = self.funds.lock().unwrap().ok_or(Unanswered::NoNode);
        ready(funds.map(|funds| vec![U256::from(funds); accounts.len()])).boxed()
    }

    fn head(&self, chain: ChainId) -> BoxFuture<'_, Result<u64, Unanswered>> {
        self.note(chain, "head");
        let mut head = self.head.lock().unwrap();
        *head += u64::from(self.moves.load(Ordering::Relaxed));
        ready(Ok(*head)).boxed()
    }

    fn receipt(
        &self,
        chain: ChainId,
        transaction: B256,
    ) -> BoxFuture<'_, Result<Option<Receipt>, Unanswered>> {
        self.note(chain, &format!("receipt {transaction}"));
        if self.withholds.load(Ordering::Relaxed) {
            return pending().boxed();
        }
        let mut receipts = self.receipts.lock().unwrap();
        if let Some((left, receipt)) = self.comes_at.lock().unwrap().as_mut() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                receipts.push(receipt.clone());
            }
        }
        let found = receipts.iter().find(|receipt| receipt.transaction == transaction).cloned();
        ready(Ok(found)).boxed()
    }
}

/// Whether a question is about the number 0.
fn number_is_zero(asked: &Asked) -> bool {
    asked.words[0].bytes().all(|digit| digit == b'0')
}

/// A question as tests read it.
struct Asked {
    contract: String,
    selector: String,
    words: Vec<String>,
}

impl Asked {
    fn read(inquiry: &Inquiry) -> Self {
        let data = hex::encode(&inquiry.data);
        let (selector, words) = data.split_at(8);
        let words = words.as_bytes().chunks(64).map(|word| String::from_utf8(word.to_vec()).unwrap());
        Self { contract: inquiry.to.to_string(), selector: selector.to_owned(), words: words.collect() }
    }

    /// What tests compare.
    fn note(&self) -> String {
        let Self { contract, selector, words } = self;
        let account = |place: usize| format!("0x{}", &words[place][24..]);
        let number = |place: usize| u128::from_str_radix(&words[place], 16).unwrap();
        match selector.as_str() {
            ALLOWANCE => format!("allowance {contract} {} {}", account(0), account(1)),
            IS_OPERATOR => format!("operator {contract} {} {}", account(0), account(1)),
            ROYALTY => format!("royalty {contract} token {} for {}", number(1), number(2)),
            _ => format!("{contract} {selector}"),
        }
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
}
