//! Who is connected: so many in total, and so many from one address.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use tokio::sync::Notify;

use crate::activity::Activity;

/// Ticks without getting anywhere after which a connection may have to make room for another.
const STALLED_MIN: u32 = 2;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// In all.
    pub total: usize,
    /// From one origin.
    pub per_origin: usize,
}

/// Why a connection is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Full {
    /// There are as many as there may be.
    Total,
    /// There are as many from that address as there may be.
    Origin,
}

/// Everybody who is connected, by where they come from.
pub struct Guests<O: Copy + Eq + Hash> {
    capacity: Capacity,
    book: Mutex<Book<O>>,
}

struct Book<O> {
    next: u64,
    guests: HashMap<u64, Guest<O>>,
    counts: HashMap<O, usize>,
}

struct Guest<O> {
    /// Absent for a proxy, which brings many.
    origin: Option<O>,
    activity: Arc<Activity>,
    leave: Arc<Notify>,
}

/// A connection's place, given back when dropped.
pub struct Place<O: Copy + Eq + Hash> {
    guests: Arc<Guests<O>>,
    number: u64,
    leave: Arc<Notify>,
}

impl<O: Copy + Eq + Hash> Guests<O> {
    /// Nobody as yet.
    pub fn new(capacity: Capacity) -> Arc<Self> {
        let book = Book { next: 0, guests: HashMap::new(), counts: HashMap::new() };
        Arc::new(Self { capacity, book: Mutex::new(book) })
    }

    /// A place for a connection. Where all are taken, somebody who got nowhere for a while has to go for it.
    pub fn admit(self: &Arc<Self>, origin: Option<O>, activity: Arc<Activity>) -> Result<Place<O>, Full> {
        let mut book = self.book();
        let from_there = origin.and_then(|origin| book.counts.get(&origin).copied()).unwrap_or_default();
        if from_there >= self.capacity.per_origin && !book.make_room(|guest| guest.origin == origin) {
            return Err(Full::Origin);
        }
        if book.guests.len() >= self.capacity.total && !book.make_room(|_| true) {
            return Err(Full::Total);
        }
        let (number, leave) = (book.next, Arc::new(Notify::new()));
        book.next += 1;
        if let Some(origin) = origin {
            *book.counts.entry(origin).or_default() += 1;
        }
        book.guests.insert(number, Guest { origin, activity, leave: Arc::clone(&leave) });
        Ok(Place { guests: Arc::clone(self), number, leave })
    }

    fn book(&self) -> MutexGuard<'_, Book<O>> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Copy + Eq + Hash> Book<O> {
    /// Sends somebody away who got nowhere for a while.
    fn make_room(&mut self, may_go: impl Fn(&Guest<O>) -> bool) -> bool {
        let stalled =
            self.guests.iter().find(|(_, guest)| guest.activity.stalled() >= STALLED_MIN && may_go(guest));
        let Some(number) = stalled.map(|(number, _)| *number) else { return false };
        // Gone from the book at once, so that nobody else counts on the same place.
        if let Some(guest) = self.remove(number) {
            guest.leave.notify_one();
        }
        true
    }

    fn remove(&mut self, number: u64) -> Option<Guest<O>> {
        let guest = self.guests.remove(&number)?;
        if let Some(origin) = guest.origin
            && let Some(count) = self.counts.get_mut(&origin)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&origin);
            }
        }
        Some(guest)
    }
}

impl<O: Copy + Eq + Hash> Place<O> {
    /// Over when somebody else needs the place.
    pub async fn needed(&self) {
        self.leave.notified().await;
    }
}

impl<O: Copy + Eq + Hash> Drop for Place<O> {
    fn drop(&mut self) {
        self.guests.book().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::activity::{Patience, Stopwatch};

    fn origin(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn stalled() -> Arc<Activity> {
        let activity = Arc::new(Activity::default());
        let patience = Patience { head: 9, write: 9, idle: 9 };
        let mut stopwatch = Stopwatch::new(Arc::clone(&activity), patience);
        for _ in 0..STALLED_MIN {
            assert_eq!(stopwatch.tick(), None);
        }
        activity
    }

    #[test]
    fn places_come_back() {
        let guests = Guests::new(Capacity { total: 2, per_origin: 1 });
        let (here, there, else_where) = (origin("192.0.2.1"), origin("192.0.2.2"), origin("192.0.2.3"));
        let admit = |origin| guests.admit(Some(origin), Arc::default());
        let first = admit(here).ok().unwrap();
        assert_eq!(admit(here).err(), Some(Full::Origin));
        let _second = admit(there).ok().unwrap();
        assert_eq!(admit(else_where).err(), Some(Full::Total));
        drop(first);
        let _third = admit(else_where).ok().unwrap();
        assert_eq!(guests.book().counts.len(), 2);
    }

    #[tokio::test]
    async fn whoever_gets_nowhere_makes_room_once() {
        let guests = Guests::new(Capacity { total: 2, per_origin: 2 });
        let (here, there) = (origin("192.0.2.1"), origin("192.0.2.2"));
        let busy = guests.admit(Some(here), Arc::default()).ok().unwrap();
        let slow = guests.admit(Some(here), stalled()).ok().unwrap();
        let _new = guests.admit(Some(there), Arc::default()).ok().unwrap();
        slow.needed().await;
        assert_eq!(guests.admit(Some(there), Arc::default()).err(), Some(Full::Total));
        drop((slow, busy));
        let _another = guests.admit(Some(there), Arc::default()).ok().unwrap();
    }
}
