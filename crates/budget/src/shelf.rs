//! What is kept in memory by name, and may be dropped.

use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use hashbrown::HashMap;

use crate::{Droppable, Share};

/// What things on a shelf are known by.
pub trait Name: Copy + Eq + Hash + Send + Sync + 'static {}

impl<K: Copy + Eq + Hash + Send + Sync + 'static> Name for K {}

/// Something that is kept in memory.
pub trait Held: Send + Sync + 'static {
    /// The memory that it takes.
    fn share(&self) -> &Share;

    /// Tells the log that it was dropped to make room.
    fn note_dropped(&self);
}

/// What is kept in memory by name. Whoever was given something keeps it for as long as they want, but what was taken off the
/// shelf is not counted any more.
pub struct Shelf<K, V>(Arc<Things<K, V>>);

struct Things<K, V>(RwLock<HashMap<K, Arc<V>>>);

impl<K: Name, V: Held> Default for Shelf<K, V> {
    fn default() -> Self {
        Self(Arc::new(Things(RwLock::default())))
    }
}

impl<K: Name, V: Held> Shelf<K, V> {
    pub(crate) fn weak(&self) -> Weak<dyn Droppable> {
        let things: Arc<dyn Droppable> = Arc::<Things<K, V>>::clone(&self.0);
        Arc::downgrade(&things)
    }

    /// The thing of this name.
    pub fn get(&self, name: &K) -> Option<Arc<V>> {
        self.0.read().get(name).cloned()
    }

    /// The thing of this name, which is of use.
    pub fn touch(&self, name: &K) -> Option<Arc<V>> {
        let things = self.0.read();
        let thing = things.get(name)?;
        thing.share().touch();
        Some(Arc::clone(thing))
    }

    /// The thing of this name, which is of use, made first when there is none.
    pub fn touch_or_put(&self, name: K, make: impl FnOnce() -> V) -> Arc<V> {
        if let Some(thing) = self.touch(&name) {
            return thing;
        }
        let mut things = self.0.write();
        let thing = things.entry(name).or_insert_with(|| Arc::new(make()));
        thing.share().touch();
        Arc::clone(thing)
    }

    /// Puts a thing in place of the one of its name.
    pub fn insert(&self, name: K, thing: Arc<V>) {
        thing.share().touch();
        let before = self.0.write().insert(name, thing);
        if let Some(before) = before {
            before.share().set(0);
        }
    }

    /// Whether this thing is the one of its name.
    pub fn holds(&self, name: &K, thing: &Arc<V>) -> bool {
        self.0.read().get(name).is_some_and(|held| Arc::ptr_eq(held, thing))
    }

    /// Takes a thing off, unless another one has its name by now; whether it did.
    pub fn remove(&self, name: &K, thing: &Arc<V>) -> bool {
        let mut things = self.0.write();
        let is_held = things.get(name).is_some_and(|held| Arc::ptr_eq(held, thing));
        if is_held {
            things.remove(name);
            drop(things);
            thing.share().set(0);
        }
        is_held
    }

    /// All things.
    pub fn all(&self) -> Vec<Arc<V>> {
        self.0.read().values().cloned().collect()
    }

    /// The names of all things.
    pub fn keys(&self) -> Vec<K> {
        self.0.read().keys().copied().collect()
    }

    /// How many there are, and the memory that they take.
    pub fn size(&self) -> (usize, usize) {
        let things = self.0.read();
        (things.len(), things.values().map(|thing| thing.share().bytes()).sum())
    }
}

impl<K, V> Things<K, V> {
    // What the lock guards stays whole when somebody panics: every change is a single insertion or removal.
    fn read(&self) -> RwLockReadGuard<'_, HashMap<K, Arc<V>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<K, Arc<V>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Name, V: Held> Droppable for Things<K, V> {
    fn ages(&self) -> Vec<(u64, usize)> {
        self.read().values().map(|thing| (thing.share().touched(), thing.share().bytes())).collect()
    }

    fn drop_until(&self, touch: u64) {
        let is_old = |_: &K, thing: &mut Arc<V>| thing.share().touched() <= touch;
        // Large things take a while to be dropped, for which nobody waits.
        let old: Vec<(K, Arc<V>)> = self.write().extract_if(is_old).collect();
        for (_, thing) in old {
            thing.share().set(0);
            thing.note_dropped();
        }
    }
}
