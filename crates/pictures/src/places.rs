//! Places for pictures that are fetched and made small: few, as each is held in memory whole. Nobody waits behind those who
//! cannot begin: neither one slow host nor one visitor keeps the pictures of others waiting.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bourse_server::limits::Bucket;
use tokio::sync::oneshot;

use crate::lock;

/// How many places there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) all: usize,
    /// For what one visitor asked for.
    pub(crate) of_visitor: usize,
    /// For what one host has.
    pub(crate) of_host: usize,
    /// How long one is waited for.
    pub(crate) wait_max: Duration,
}

/// Gives out places.
pub(crate) struct Places(Arc<Inner>);

struct Inner {
    bounds: Bounds,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: usize,
    by_visitor: HashMap<Bucket, usize>,
    by_host: HashMap<String, usize>,
    queue: VecDeque<Waiting>,
}

struct Waiting {
    visitor: Bucket,
    host: String,
    turn: oneshot::Sender<Place>,
}

/// A place, given back when dropped.
pub(crate) struct Place {
    inner: Arc<Inner>,
    visitor: Bucket,
    host: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.inner.state);
        state.taken -= 1;
        leave(&mut state.by_visitor, &self.visitor);
        leave(&mut state.by_host, &self.host);
        drop(state);
        self.inner.call_up();
    }
}

/// Who has nothing takes no memory either.
fn leave<K: std::hash::Hash + Eq>(taken: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = taken.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            taken.remove(key);
        }
    }
}

impl Places {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Inner { bounds, state: Mutex::default() }))
    }

    /// Waits for a place for what a visitor wants from a host; none when that takes too long. What no host is asked for has the
    /// host "", which has as many places as there are.
    pub(crate) async fn take(&self, visitor: Bucket, host: &str) -> Option<Place> {
        let (turn, begins) = oneshot::channel();
        {
            let mut state = lock(&self.0.state);
            state.queue.retain(|waiting| !waiting.turn.is_closed());
            state.queue.push_back(Waiting { visitor, host: host.to_owned(), turn });
        }
        self.0.call_up();
        tokio::time::timeout(self.0.bounds.wait_max, begins).await.ok()?.ok()
    }
}

impl Inner {
    /// Gives the free places to those who waited longest for one that they may have.
    fn call_up(self: &Arc<Self>) {
        let mut called = Vec::new();
        let mut state = lock(&self.state);
        let mut next = 0;
        while state.taken < self.bounds.all && next < state.queue.len() {
            if !self.may_begin(&state, &state.queue[next]) {
                next += 1;
                continue;
            }
            let Some(Waiting { visitor, host, turn }) = state.queue.remove(next) else { break };
            if turn.is_closed() {
                continue;
            }
            state.taken += 1;
            *state.by_visitor.entry(visitor).or_default() += 1;
            *state.by_host.entry(host.clone()).or_default() += 1;
            called.push((turn, Place { inner: Arc::clone(self), visitor, host }));
        }
        drop(state);
        for (turn, place) in called {
            // Who does not wait any more leaves it to others: dropping it calls them up.
            let _ = turn.send(place);
        }
    }

    fn may_begin(&self, state: &State, waiting: &Waiting) -> bool {
        let of_visitor = state.by_visitor.get(&waiting.visitor).copied().unwrap_or_default();
        let of_host = state.by_host.get(&waiting.host).copied().unwrap_or_default();
        of_visitor < self.bounds.of_visitor && (waiting.host.is_empty() || of_host < self.bounds.of_host)
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;

    use futures_util::FutureExt as _;

    use super::*;

    const BOUNDS: Bounds = Bounds { all: 6, of_visitor: 3, of_host: 2, wait_max: Duration::from_mins(10) };

    type Turn<'p> = Pin<Box<dyn Future<Output = Option<Place>> + 'p>>;

    fn turn<'p>(places: &'p Places, visitor: u64, host: &'p str) -> Turn<'p> {
        Box::pin(places.take(Bucket::Name(visitor), host))
    }

    fn begins(turn: &mut Turn<'_>) -> Option<Place> {
        turn.now_or_never().flatten()
    }

    #[tokio::test]
    async fn a_slow_host_keeps_nobody_from_others() {
        let places = Places::new(BOUNDS);
        let mut slow: Vec<_> = (0..10).map(|visitor| turn(&places, visitor, "slow")).collect();
        let held: Vec<_> = slow.iter_mut().filter_map(begins).collect();
        assert_eq!(held.len(), 2);
        let other = begins(&mut turn(&places, 0, "other"));
        assert!(other.is_some(), "whoever waits for a slow host may ask others meanwhile");
        drop(held);
        let next: Vec<_> = slow.iter_mut().skip(2).filter_map(begins).collect();
        assert_eq!(next.len(), 2, "and whoever waits has their turn");
    }

    #[tokio::test]
    async fn one_visitor_leaves_places_for_others() {
        let places = Places::new(BOUNDS);
        let hosts: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        let mut greedy: Vec<_> = hosts.iter().map(|host| turn(&places, 1, host)).collect();
        let held: Vec<_> = greedy.iter_mut().filter_map(begins).collect();
        assert_eq!(held.len(), 3);
        let others: Vec<_> = (2..6).filter_map(|visitor| begins(&mut turn(&places, visitor, ""))).collect();
        assert_eq!(others.len(), 3, "until there are no more");
        drop((held, others, greedy));
        let state = lock(&places.0.state);
        assert!(state.by_visitor.is_empty() && state.by_host.is_empty() && state.taken == 0);
    }

    #[tokio::test]
    async fn nobody_waits_forever_and_who_went_takes_no_place() {
        let places = Places::new(Bounds { wait_max: Duration::from_millis(1), ..BOUNDS });
        let held = [begins(&mut turn(&places, 1, "slow")), begins(&mut turn(&places, 2, "slow"))];
        assert!(turn(&places, 3, "slow").await.is_none());
        let mut waits = turn(&places, 4, "slow");
        assert!(begins(&mut waits).is_none());
        drop(waits);
        drop(held);
        assert!(begins(&mut turn(&places, 5, "slow")).is_some());
        assert_eq!(lock(&places.0.state).queue.len(), 0);
    }
}
