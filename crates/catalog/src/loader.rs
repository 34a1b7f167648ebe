//! Making a collection from everything that is stored of it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use bourse_wire::{Address, Amount, Currency, Timestamp, TokenId};
use hashbrown::HashMap;

use crate::book::{PreparedOrder, Shared};
use crate::collection::{Collection, Identity};
use crate::common::Common;
use crate::filter::Value;
use crate::names::Names;
use crate::properties::{Shape, extract, extract_stored};

/// Names that are worth a thread of their own.
const THREAD_NAMES_MIN: usize = 256;
/// Batches of names that may wait for their thread.
const WORK_WAITING: usize = 16;

/// A collection that is being loaded: it takes everything in, and puts it in order at the end.
#[derive(Debug)]
pub struct Loader {
    collection: Collection,
    /// Indexes names meanwhile, when there are many: that takes as long as everything else together.
    names: Option<NamesThread>,
    tokens_complete: bool,
    balances_complete: bool,
}

impl Loader {
    /// An empty collection at a time.
    pub fn new(identity: &Identity, now: Timestamp) -> Self {
        let shared = Shared::new(identity.number, identity.chain, identity.address, &identity.service);
        let collection = Collection::empty(shared, now);
        Self { collection, names: None, tokens_complete: false, balances_complete: false }
    }

    /// Takes contract information.
    pub fn contract(&mut self, info: String) {
        self.collection.contract = Some(info);
    }

    /// Takes tokens; best before anything that names them.
    pub fn tokens(&mut self, tokens: Vec<PreparedToken>) {
        let Collection { tokens: known, properties, .. } = &mut self.collection;
        let (known, properties) = (known.own(), properties.own());
        known.reserve(tokens.len());
        let mut named = Vec::with_capacity(tokens.len());
        for token in tokens {
            let (ordinal, _) = known.find_or_add(token.id);
            if let Some(replaced) = known.metadata(ordinal) {
                properties.remove(ordinal, &extract_stored(replaced).properties);
            }
            properties.add(ordinal, &token.properties);
            known.set_metadata(ordinal, &token.metadata);
            named.push((ordinal, token.name));
        }
        if self.names.is_none() && named.len() >= THREAD_NAMES_MIN {
            self.names = NamesThread::start(self.collection.names.own());
        }
        self.name(NamesWork::Put(named));
    }

    /// Does something with names, here or on their thread.
    fn name(&mut self, work: NamesWork) {
        match &self.names {
            Some(thread) => thread.send(work),
            None => work.apply(self.collection.names.own()),
        }
    }

    /// Takes balances, each of what nothing was said of before; best before orders.
    pub fn balances(&mut self, balances: &[(TokenId, Address, Amount)]) {
        self.complete_tokens();
        let Collection { tokens, holders, .. } = &mut self.collection;
        let (tokens, holders) = (tokens.own(), holders.own());
        for (token, account, balance) in balances {
            let (ordinal, _) = tokens.find_or_add(*token);
            if self.balances_complete {
                holders.put(*account, ordinal, *balance);
            } else {
                holders.push(*account, ordinal, *balance);
            }
        }
    }

    /// Takes orders; best after balances.
    pub fn orders(&mut self, orders: &[PreparedOrder]) {
        self.complete_balances();
        for order in orders {
            self.collection.put_order(order, |_, _| {});
        }
    }

    /// Memory that it takes so far, without the names that are being indexed.
    pub fn bytes(&self) -> usize {
        self.collection.bytes()
    }

    /// Once all tokens are there they are numbered in the order of their ids, whatever order they came in: then sets of
    /// them are in that order.
    fn complete_tokens(&mut self) {
        if std::mem::replace(&mut self.tokens_complete, true) {
            return;
        }
        let numbers: Arc<[u32]> = self.collection.tokens.own().renumber().into();
        self.name(NamesWork::Renumber(Arc::clone(&numbers)));
        self.collection.properties.own().renumber(&numbers);
    }

    /// Once all balances are there they are put in order, since orders ask for them.
    fn complete_balances(&mut self) {
        self.complete_tokens();
        if std::mem::replace(&mut self.balances_complete, true) {
            return;
        }
        let universe = self.collection.len();
        self.collection.holders.own().settle(universe);
    }

    /// The collection, with everything in its place.
    pub fn finish(mut self, version: u64, currencies: &[Currency]) -> Collection {
        self.complete_balances();
        let universe = self.collection.tokens.len();
        self.name(NamesWork::Settle(universe));
        let mut collection = self.collection;
        collection.version = version;
        collection.tokens.own().sort();
        collection.properties.own().settle(universe);
        let (book, context) = collection.book_and_around();
        book.put_currencies(currencies, context);
        book.evaluate_all(context);
        if let Some(thread) = self.names {
            collection.names = Common::new(thread.join());
        }
        collection
    }
}

/// A token with what the index needs of its metadata, which takes longer to find than to put in.
#[derive(Debug)]
pub struct PreparedToken {
    id: TokenId,
    metadata: String,
    name: String,
    properties: Vec<(Arc<str>, Shape, Value)>,
}

/// Prepares tokens. The names of properties, which most tokens share, are kept once.
#[derive(Debug, Default)]
pub struct TokenPreparer {
    names: HashMap<String, Arc<str>>,
}

impl TokenPreparer {
    /// Reads a token's metadata.
    pub fn prepare(&mut self, id: TokenId, metadata: String) -> PreparedToken {
        let token = extract(&metadata);
        let named = |(name, shape, value): (Cow<'_, str>, Shape, Value)| {
            let known = self.names.get(&*name).cloned();
            let name = known.unwrap_or_else(|| {
                let kept: Arc<str> = (&*name).into();
                self.names.insert(name.into_owned(), Arc::clone(&kept));
                kept
            });
            (name, shape, value)
        };
        let properties = token.properties.into_iter().map(named).collect();
        let name = token.name.into_owned();
        PreparedToken { id, metadata, name, properties }
    }
}

/// Something to do with names.
enum NamesWork {
    Put(Vec<(u32, String)>),
    Renumber(Arc<[u32]>),
    Settle(usize),
}

impl NamesWork {
    fn apply(self, names: &mut Names) {
        match self {
            Self::Put(named) => named.iter().for_each(|(ordinal, name)| names.put(*ordinal, name)),
            Self::Renumber(numbers) => names.renumber(&numbers),
            Self::Settle(universe) => names.settle(universe),
        }
    }
}

/// A thread that indexes names.
#[derive(Debug)]
struct NamesThread {
    work: SyncSender<NamesWork>,
    thread: JoinHandle<Names>,
}

impl NamesThread {
    /// Goes on with these names; `None` when the system has no thread to give.
    fn start(names: &mut Names) -> Option<Self> {
        let (work, waiting) = sync_channel(WORK_WAITING);
        let (names_sender, begun) = sync_channel::<Names>(1);
        let run = move || begun.recv().map(|names| index(names, &waiting)).unwrap_or_default();
        let thread = std::thread::Builder::new().name("names".to_owned()).spawn(run).ok()?;
        // There is room for one, so that this does not wait.
        names_sender.send(std::mem::take(names)).ok()?;
        Some(Self { work, thread })
    }

    fn send(&self, work: NamesWork) {
        // Fails only when the thread panicked, which joining it tells.
        let _ = self.work.send(work);
    }

    fn join(self) -> Names {
        drop(self.work);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn index(mut names: Names, waiting: &Receiver<NamesWork>) -> Names {
    for work in waiting {
        work.apply(&mut names);
    }
    names
}
