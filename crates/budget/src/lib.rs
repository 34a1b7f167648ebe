//! The memory that everything large shares. Whoever keeps or loads something takes a [`Share`] of the [`Budget`] for it; what
//! can be dropped and read again lies on a [`Shelf`]. When there is no more memory, what was touched longest ago is dropped,
//! whatever it is, and what does not fit even then is refused.

mod outgrown;
mod shelf;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

pub use outgrown::Outgrown;
pub use shelf::{Held, Shelf};

/// How much memory there is, and how much of it is taken. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub struct Budget(Arc<Books>);

struct Books {
    bytes_max: usize,
    taken: AtomicUsize,
    /// Counts touches, to find what was touched longest ago.
    touches: AtomicU64,
    shelves: RwLock<Vec<Weak<dyn Droppable>>>,
}

/// What may be dropped to make room.
trait Droppable: Send + Sync {
    /// For each of them when it was last touched, and the memory that it takes.
    fn ages(&self) -> Vec<(u64, usize)>;

    /// Drops those that were not touched after this.
    fn drop_until(&self, touch: u64);
}

/// Why there is no memory for something.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    /// It is larger than all the memory there is.
    #[error("it takes more memory than there is")]
    TooLarge,
    /// It is too large beside what else is being loaded.
    #[error("what else is being loaded takes the memory that there is")]
    NoRoom,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        let (taken, touches) = (AtomicUsize::new(0), AtomicU64::new(1));
        Self(Arc::new(Books { bytes_max, taken, touches, shelves: RwLock::default() }))
    }

    /// How much memory is taken, by what is kept and by what is being loaded.
    pub fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Whether there is so much left without dropping anything.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.taken().saturating_add(bytes) <= self.0.bytes_max
    }

    /// A share of nothing yet.
    pub fn share(&self) -> Share {
        Share { books: Arc::clone(&self.0), bytes: AtomicUsize::new(0), touched: AtomicU64::new(0) }
    }

    /// A place for what may be dropped.
    pub fn shelf<K, V>(&self) -> Shelf<K, V>
    where
        K: shelf::Name,
        V: Held,
    {
        let shelf = Shelf::default();
        let droppable: Weak<dyn Droppable> = shelf.weak();
        self.0.shelves.write().unwrap_or_else(PoisonError::into_inner).push(droppable);
        shelf
    }

    /// Drops what was touched longest ago until the rest fits: what is kept may have grown.
    pub fn settle(&self) {
        self.0.make_room();
    }
}

/// The memory that one thing takes. It is given back with this value.
pub struct Share {
    books: Arc<Books>,
    bytes: AtomicUsize,
    touched: AtomicU64,
}

impl Share {
    /// How much it is.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Another share of the same budget, of nothing yet.
    pub fn sibling(&self) -> Self {
        Budget(Arc::clone(&self.books)).share()
    }

    /// Takes so many bytes in all, unless it has them. What is refused is not taken, and nothing is dropped for it.
    pub fn grow(&self, bytes: usize) -> Result<(), Refused> {
        self.take(bytes.saturating_sub(self.bytes()))
    }

    /// Takes so many bytes more.
    pub fn take(&self, more: usize) -> Result<(), Refused> {
        let all = self.bytes.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.books.taken.fetch_add(more, Ordering::Relaxed);
        let is_possible = all <= self.books.bytes_max;
        if more == 0 || (is_possible && self.books.make_room()) {
            return Ok(());
        }
        self.bytes.fetch_sub(more, Ordering::Relaxed);
        self.books.taken.fetch_sub(more, Ordering::Relaxed);
        Err(if is_possible { Refused::NoRoom } else { Refused::TooLarge })
    }

    /// Notes what it takes, whether there is so much or not: [`Budget::settle`] sees to that.
    pub fn set(&self, bytes: usize) {
        self.books.taken.fetch_add(bytes, Ordering::Relaxed);
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        self.books.taken.fetch_sub(before, Ordering::Relaxed);
    }

    /// Notes that it is of use.
    pub fn touch(&self) {
        self.touched.store(self.books.touches.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// When it was last of use: whatever was of use later has a higher number.
    pub fn touched(&self) -> u64 {
        self.touched.load(Ordering::Relaxed)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Books {
    /// Drops what was touched longest ago until the rest fits; whether it does. Where dropping all of it would not be enough,
    /// nothing is dropped.
    fn make_room(&self) -> bool {
        while let Some(excess) = self.excess() {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            let shelves: Vec<Arc<dyn Droppable>> = shelves.iter().filter_map(Weak::upgrade).collect();
            let mut ages: Vec<(u64, usize)> = shelves.iter().flat_map(|shelf| shelf.ages()).collect();
            ages.sort_unstable();
            let mut freed = 0_usize;
            let is_enough = |(_, bytes): &&(u64, usize)| {
                freed = freed.saturating_add(*bytes);
                freed >= excess
            };
            let Some((touch, _)) = ages.iter().find(is_enough) else { return self.excess().is_none() };
            // What is touched meanwhile stays, and others are looked for.
            for shelf in &shelves {
                shelf.drop_until(*touch);
            }
        }
        true
    }

    /// By how much more is taken than there is.
    fn excess(&self) -> Option<usize> {
        self.taken.load(Ordering::Relaxed).checked_sub(self.bytes_max).filter(|excess| *excess > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(Share);

    impl Held for Thing {
        fn share(&self) -> &Share {
            &self.0
        }

        fn note_dropped(&self) {}
    }

    fn put(budget: &Budget, shelf: &Shelf<u8, Thing>, name: u8, bytes: usize) -> Arc<Thing> {
        let thing = Arc::new(Thing(budget.share()));
        thing.0.grow(bytes).unwrap();
        shelf.insert(name, Arc::clone(&thing));
        thing
    }

    fn names(shelf: &Shelf<u8, Thing>) -> Vec<u8> {
        let mut names = shelf.keys();
        names.sort_unstable();
        names
    }

    #[test]
    fn loads_under_way_take_memory_from_each_other_and_give_it_back() {
        let budget = Budget::new(100);
        let (one, other) = (budget.share(), budget.share());
        assert_eq!((one.grow(60), one.grow(60)), (Ok(()), Ok(())), "the same is no more");
        assert_eq!(other.grow(101), Err(Refused::TooLarge));
        assert_eq!(other.grow(50), Err(Refused::NoRoom));
        assert_eq!((budget.taken(), other.bytes()), (60, 0), "what is refused is not taken");
        drop(one);
        assert_eq!((budget.taken(), other.grow(100)), (0, Ok(())));
    }

    #[test]
    fn what_was_touched_longest_ago_is_dropped_first_wherever_it_lies() {
        let budget = Budget::new(100);
        let (one, other) = (budget.shelf(), budget.shelf());
        for name in [1, 2] {
            put(&budget, &one, name, 20);
            put(&budget, &other, name, 20);
        }
        assert!(one.touch(&1).is_some());
        let load = budget.share();
        assert_eq!(load.grow(50), Ok(()));
        assert_eq!((names(&one), names(&other)), (vec![1], vec![2]));
        assert_eq!(load.grow(80), Ok(()));
        assert_eq!((names(&one), names(&other)), (vec![1], vec![]));
        assert_eq!(budget.taken(), 100);
    }

    #[test]
    fn nothing_is_dropped_for_what_does_not_fit_anyway() {
        let budget = Budget::new(100);
        let shelf = budget.shelf();
        put(&budget, &shelf, 1, 30);
        let under_way = budget.share();
        under_way.grow(60).unwrap();
        assert_eq!(budget.share().grow(41), Err(Refused::NoRoom));
        assert_eq!(names(&shelf), [1]);
        assert_eq!(budget.share().grow(101), Err(Refused::TooLarge));
        assert_eq!(names(&shelf), [1]);
        assert_eq!(budget.share().grow(40), Ok(()));
        assert_eq!(names(&shelf), []);
    }

    #[test]
    fn what_grew_makes_others_go_and_what_is_gone_does_not_count() {
        let budget = Budget::new(100);
        let shelf = budget.shelf();
        let (first, second) = (put(&budget, &shelf, 1, 30), put(&budget, &shelf, 2, 30));
        second.0.set(90);
        assert_eq!(budget.taken(), 120);
        budget.settle();
        assert_eq!((names(&shelf), budget.taken()), (vec![2], 90), "although somebody has it still");
        drop(first);
        assert_eq!(budget.taken(), 90);
        assert!(shelf.remove(&2, &second) && !shelf.remove(&2, &second));
        assert_eq!(budget.taken(), 0);
    }
}
