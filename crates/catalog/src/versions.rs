//! A collection that is read while it changes.
//!
//! There are two copies of it, which share what neither of them changed. One is shown: whoever reads takes it as it is,
//! without waiting, and keeps it for an answer. The other is brought to the next version behind the scenes, edit by edit,
//! and then shown at once: nobody sees half of a version. The first has the same edits before it once nobody reads it any
//! more, which is when the collection changes next.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use bourse_wire::{Currency, Timestamp};

use crate::collection::{Collection, Update};
use crate::common::Common;
use crate::query::Column;
use crate::sorted_list::SortedList;

/// Tokens, balances or orders of an update that are one edit: whoever makes edits lets others have a turn in between.
const EDIT_ITEMS: usize = 16;

/// A collection of which there is always a whole version to read.
#[derive(Debug)]
pub struct Versions {
    copies: [RwLock<Collection>; 2],
    /// Which of the copies is shown.
    shown: AtomicUsize,
}

/// What comes next, and what the copy behind the scenes lacks of what is shown. Belongs to one who writes at a time.
#[derive(Debug, Default)]
pub struct Draft {
    /// Whether there is a second copy. Nothing that is only read needs one.
    is_copied: bool,
    /// Edits that the shown copy has and the other does not.
    behind: VecDeque<Arc<Edit>>,
    /// Edits that neither has.
    next: VecDeque<Arc<Edit>>,
    /// Edits that the copy behind the scenes has and the shown one does not.
    made: Vec<Arc<Edit>>,
}

/// A change to a collection, which comes to the same in each copy.
#[derive(Debug)]
pub struct Edit(Change);

#[derive(Debug)]
enum Change {
    Update(Update),
    Currencies(Arc<[Currency]>),
    /// Time passes.
    Time(Timestamp),
    /// Time is set back, which the collection must be whole enough for.
    TimeBack(Timestamp),
    /// Tokens are put in the order of their names, which the copies share.
    NameOrder(OnceLock<Common<SortedList>>),
    /// Orders are put in the order in which they were made.
    CreationOrder,
    #[cfg(test)]
    Panic,
}

/// How far a step of writing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Somebody still reads the copy that is to be changed.
    Waiting,
    /// One edit further.
    Further,
    /// The next version is shown.
    Shown,
}

impl Edit {
    /// What an update changes, in edits that take little time each.
    pub fn of_update(mut update: Update) -> Vec<Self> {
        let (version, mut edits) = (update.version, Vec::new());
        let mut add = |part: Update| edits.push(Self(Change::Update(Update { version, ..part })));
        for tokens in parts(&mut update.tokens) {
            add(Update { tokens, ..Update::default() });
        }
        for balances in parts(&mut update.balances) {
            add(Update { balances, ..Update::default() });
        }
        for orders in parts(&mut update.orders) {
            add(Update { orders, ..Update::default() });
        }
        add(Update { contract: update.contract, gone_orders: update.gone_orders, ..Update::default() });
        edits
    }

    /// Currencies and their rates.
    pub fn of_currencies(currencies: Arc<[Currency]>) -> Self {
        Self(Change::Currencies(currencies))
    }

    /// The passing of time.
    pub fn of_time(now: Timestamp) -> Self {
        Self(Change::Time(now))
    }

    /// Time that is set back. Only for a collection that [can go back](Collection::can_go_back) so far.
    pub fn of_time_back(now: Timestamp) -> Self {
        Self(Change::TimeBack(now))
    }

    /// The order by a column, where it is kept only once somebody asks for it.
    pub fn of_order(column: Column) -> Option<Self> {
        match column {
            Column::Name => Some(Self(Change::NameOrder(OnceLock::new()))),
            Column::CreatedAt => Some(Self(Change::CreationOrder)),
            Column::Price | Column::TokenId => None,
        }
    }

    /// Whether it looks at everything, which takes long where there is much.
    fn is_heavy(&self) -> bool {
        match self.0 {
            Change::Update(_) | Change::Time(_) => false,
            #[cfg(test)]
            Change::Panic => false,
            Change::Currencies(_) | Change::TimeBack(_) | Change::NameOrder(_) | Change::CreationOrder => {
                true
            }
        }
    }

    fn make(&self, collection: &mut Collection) {
        match &self.0 {
            Change::Update(update) => collection.apply(update),
            Change::Currencies(currencies) => collection.put_currencies(currencies),
            Change::Time(now) => collection.pass_time(*now),
            Change::TimeBack(now) => drop(collection.go_back(*now)),
            Change::NameOrder(sorted) => {
                if collection.by_name.is_none() {
                    collection.by_name = Some(sorted.get_or_init(|| collection.sorted_by_name()).clone());
                }
            }
            Change::CreationOrder => collection.sort_by_creation(),
            #[cfg(test)]
            Change::Panic => panic!("an edit that goes wrong"),
        }
    }
}

/// A list in parts of a few items.
fn parts<T>(items: &mut Vec<T>) -> Vec<Vec<T>> {
    let mut items = std::mem::take(items).into_iter();
    let part = || Some(items.by_ref().take(EDIT_ITEMS).collect::<Vec<T>>()).filter(|part| !part.is_empty());
    std::iter::from_fn(part).collect()
}

impl Draft {
    /// Adds edits, which are shown together.
    pub fn add(&mut self, edits: impl IntoIterator<Item = Edit>) {
        self.next.extend(edits.into_iter().map(Arc::new));
    }

    /// Whether there is a second copy yet.
    pub fn has_copy(&self) -> bool {
        self.is_copied
    }

    /// Whether the next step may take long, where there is much.
    pub fn is_heavy(&self) -> bool {
        let next = self.behind.front().or(self.next.front());
        !self.is_copied || next.is_some_and(|edit| edit.is_heavy())
    }
}

impl Versions {
    /// A collection that was loaded.
    pub fn new(collection: Collection) -> Self {
        let other = collection.emptied();
        Self { copies: [RwLock::new(collection), RwLock::new(other)], shown: AtomicUsize::new(0) }
    }

    /// The version that is shown. Whoever writes waits until it is let go, and nobody waits for them.
    pub fn read(&self) -> RwLockReadGuard<'_, Collection> {
        loop {
            let shown = self.shown.load(Ordering::Acquire);
            // Between the two looks it may have become the one that is written to: then it is whole again only once it is
            // shown, so that a third look finds another.
            if let Some(collection) = try_read(&self.copies[shown])
                && self.shown.load(Ordering::Acquire) == shown
            {
                return collection;
            }
            std::hint::spin_loop();
        }
    }

    /// Goes one step on with a draft.
    pub fn step(&self, draft: &mut Draft) -> Progress {
        let other = 1 - self.shown.load(Ordering::Acquire);
        let Some(mut copy) = try_write(&self.copies[other]) else { return Progress::Waiting };
        if !draft.is_copied {
            *copy = self.read().clone();
            (draft.is_copied, draft.behind) = (true, VecDeque::new());
            return Progress::Further;
        }
        // An edit that panics leaves an empty draft: what is shown stays whole, and the next copy is made of it.
        let mut taken = std::mem::take(draft);
        if let Some(edit) = taken.behind.pop_front() {
            edit.make(&mut copy);
            *draft = taken;
            return Progress::Further;
        }
        if let Some(edit) = taken.next.pop_front() {
            edit.make(&mut copy);
            taken.made.push(edit);
            *draft = taken;
            return Progress::Further;
        }
        *draft = taken;
        drop(copy);
        self.shown.store(other, Ordering::Release);
        draft.behind = std::mem::take(&mut draft.made).into();
        Progress::Shown
    }

    /// Shows a collection that was loaded anew, in place of everything there was; `false` when somebody still reads the copy
    /// that it would replace.
    pub fn replace(&self, draft: &mut Draft, whole: &mut Option<Collection>) -> bool {
        let shown = self.shown.load(Ordering::Acquire);
        let Some(mut copy) = try_write(&self.copies[1 - shown]) else { return false };
        let Some(whole) = whole.take() else { return true };
        let emptied = whole.emptied();
        *copy = whole;
        drop(copy);
        self.shown.store(1 - shown, Ordering::Release);
        *draft = Draft::default();
        // Whoever still reads it keeps it until the next copy is made.
        if let Some(mut old) = try_write(&self.copies[shown]) {
            *old = emptied;
        }
        true
    }

    /// The version that is shown, for good.
    pub fn into_shown(self) -> Collection {
        let [first, second] = self.copies;
        let shown = if self.shown.into_inner() == 0 { first } else { second };
        shown.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Memory that both copies take up, about.
    pub fn bytes(&self) -> usize {
        // What both have counts once, with the one that is shown.
        let other = try_read(&self.copies[1 - self.shown.load(Ordering::Acquire)]);
        self.read().bytes() + other.map_or(0, |other| other.bytes_alone())
    }
}

/// What a lock guards, unless somebody has it to write. A copy in which an edit panicked is never shown.
fn try_read<T>(lock: &RwLock<T>) -> Option<RwLockReadGuard<'_, T>> {
    match lock.try_read() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn try_write<T>(lock: &RwLock<T>) -> Option<RwLockWriteGuard<'_, T>> {
    match lock.try_write() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use bourse_wire::{Address, ChainId, ServiceName, TokenId};

    use super::*;
    use crate::{Identity, Loader};

    fn versions() -> Versions {
        let identity = Identity {
            number: 1,
            chain: ChainId(1),
            address: Address::ZERO,
            service: ServiceName::new("bourse"),
        };
        Versions::new(Loader::new(&identity, Timestamp::ZERO).finish(1, &[]))
    }

    /// An update of so many tokens, which are several edits.
    fn tokens(version: u64, count: u64) -> Vec<Edit> {
        let token = |id: u64| (TokenId::from(id), format!(r#"{{"tokenId":"{id}"}}"#));
        Edit::of_update(Update { version, tokens: (0..count).map(token).collect(), ..Update::default() })
    }

    fn write(versions: &Versions, draft: &mut Draft, edits: Vec<Edit>) {
        draft.add(edits);
        while versions.step(draft) != Progress::Shown {}
    }

    #[test]
    fn a_version_is_shown_whole() {
        let (versions, mut draft) = (versions(), Draft::default());
        for (version, count) in [(2, 100), (3, 250), (4, 300)] {
            let before = versions.read().len();
            draft.add(tokens(version, count));
            while versions.step(&mut draft) != Progress::Shown {
                assert_eq!((versions.read().version(), versions.read().len()), (version - 1, before));
            }
            let shown = versions.read();
            assert_eq!((shown.version(), shown.len() as u64), (version, count));
        }
    }

    /// What is read stays what it was; only the version after the next waits for whoever reads.
    #[test]
    fn whoever_reads_keeps_a_version_and_is_waited_for_by_the_one_after_the_next() {
        let (versions, mut draft) = (versions(), Draft::default());
        write(&versions, &mut draft, tokens(2, 20));
        let kept = versions.read();
        write(&versions, &mut draft, tokens(3, 40));
        assert_eq!((kept.version(), kept.len(), versions.read().len()), (2, 20, 40));
        draft.add(tokens(4, 60));
        assert_eq!(versions.step(&mut draft), Progress::Waiting);
        assert_eq!(versions.read().version(), 3, "others read on");
        drop(kept);
        write(&versions, &mut draft, Vec::new());
        assert_eq!(versions.read().len(), 60);
    }

    /// A draft that somebody left goes on with whoever comes next.
    #[test]
    fn what_was_left_half_way_is_shown_with_what_comes_next() {
        let (versions, mut draft) = (versions(), Draft::default());
        draft.add(tokens(2, 100));
        for _ in 0..3 {
            assert_eq!(versions.step(&mut draft), Progress::Further);
        }
        write(&versions, &mut draft, tokens(3, 120));
        assert_eq!((versions.read().version(), versions.read().len()), (3, 120));
        write(&versions, &mut draft, tokens(4, 121));
        assert_eq!(versions.read().len(), 121, "the other copy has everything, too");
    }

    #[test]
    fn an_edit_that_panics_leaves_what_is_shown_whole() {
        let (versions, mut draft) = (versions(), Draft::default());
        write(&versions, &mut draft, tokens(2, 20));
        draft.add(tokens(3, 40).into_iter().chain([Edit(Change::Panic)]));
        let written = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while versions.step(&mut draft) != Progress::Shown {}
        }));
        assert!(written.is_err());
        assert_eq!((versions.read().version(), versions.read().len()), (2, 20));
        write(&versions, &mut draft, tokens(4, 30));
        assert_eq!(
            (versions.read().version(), versions.read().len()),
            (4, 30),
            "nothing is left of the other"
        );
    }

    #[test]
    fn what_was_loaded_anew_is_shown_in_place_of_everything() {
        let (versions, mut draft) = (versions(), Draft::default());
        write(&versions, &mut draft, tokens(2, 100));
        let mut whole = Some(super::tests::versions().into_shown());
        assert!(versions.replace(&mut draft, &mut whole));
        assert_eq!((versions.read().version(), versions.read().len()), (1, 0));
        write(&versions, &mut draft, tokens(2, 7));
        write(&versions, &mut draft, tokens(3, 8));
        assert_eq!(versions.read().len(), 8);
    }

    /// The second copy costs what differs, and nothing before anybody writes.
    #[test]
    fn copies_share_what_neither_changed() {
        let (versions, mut draft) = (versions(), Draft::default());
        write(&versions, &mut draft, tokens(2, 50_000));
        write(&versions, &mut draft, Vec::new());
        let one = versions.read().bytes();
        assert!(versions.bytes() > one + one / 4, "two copies of what each of them made");
        let loaded = Versions::new(versions.into_shown());
        assert!(loaded.bytes() < one + one / 64);
        write(&loaded, &mut Draft::default(), vec![Edit::of_time(Timestamp::ZERO)]);
        assert!(loaded.bytes() < one + one / 64, "time does not touch tokens");
    }
}
