//! Who listens to which collection, and what was told lately.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bourse_store::{CollectionId, CollectionKey, Mark, Place, Store, StoreError};
use hashbrown::HashMap;
use tokio::sync::{Notify, watch};

use super::batch::Batch;

/// How long a collection is left alone that could not be told of, the first time; then twice as long each time.
const REST_FIRST: Duration = Duration::from_secs(1);
/// The longest that it is left alone.
const REST_MAX: Duration = Duration::from_secs(10);

/// Everybody who listens.
pub(super) struct Hub {
    state: Mutex<State>,
    bytes_max: usize,
    ended: watch::Sender<bool>,
    /// Somebody listens to what nobody listened to before.
    began: Notify,
}

#[derive(Default)]
struct State {
    topics: HashMap<CollectionId, Topic>,
    /// The batches of all topics, the oldest first: each with its topic, and its size. Some may be gone with their topics.
    order: VecDeque<(CollectionId, u64, usize)>,
    bytes: usize,
    /// The number of the last batch.
    last: u64,
}

/// A collection that somebody listens to.
struct Topic {
    key: CollectionKey,
    told: Told,
    listeners: usize,
    wants: Wants,
    /// How often in a row it could not be told of, and until when it is left alone for that.
    failures: u32,
    rests_until: Option<Instant>,
    batches: VecDeque<Arc<Batch>>,
    /// The last batch that is not kept any more.
    forgotten: u64,
    /// The number of its last batch.
    wake: watch::Sender<u64>,
}

/// What somebody wants to know of a collection beside what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Nothing,
    /// The best orders of tokens of which something changed.
    Orders,
    /// What accounts hold of what changed.
    Balances,
    /// What happened as logs.
    Logs,
}

/// How many want to know what is read of a collection beside what happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    pub(super) orders: usize,
    pub(super) balances: usize,
    pub(super) logs: usize,
}

/// Up to where a collection was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The version as of which it was told which records changed.
    pub(super) mark: Mark,
    /// Up to where it was told what happened.
    pub(super) place: Place,
    /// Whether more happened by then.
    pub(super) more: bool,
}

/// A collection that is to be looked at.
#[derive(Clone, Copy)]
pub(super) struct Watched {
    pub(super) id: CollectionId,
    pub(super) key: CollectionKey,
    pub(super) told: Told,
    pub(super) wants: Wants,
    /// Until when it is left alone.
    pub(super) rests_until: Option<Instant>,
}

/// Somebody who listens to a collection, until dropped.
pub(super) struct Listener {
    hub: Arc<Hub>,
    pub(super) id: CollectionId,
    pub(super) key: CollectionKey,
    want: Want,
    /// The place behind what it was told of, or was there before.
    pub(super) since: Place,
    /// The last batch that it was told.
    last: u64,
    woken: watch::Receiver<u64>,
    ended: watch::Receiver<bool>,
}

/// What comes next for somebody who listens.
pub(super) enum Next {
    Batch(Arc<Batch>),
    /// It is not kept any more.
    Behind,
    /// Nothing: the service is about to stop.
    Ended,
}

impl Hub {
    pub(super) fn new(bytes_max: usize) -> Self {
        let (state, ended, began) = (Mutex::default(), watch::Sender::new(false), Notify::new());
        Self { state, bytes_max, ended, began }
    }

    pub(super) fn end(&self) {
        self.ended.send_replace(true);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to listen. The first who does so has it looked up where the collection is.
    pub(super) async fn listen(
        self: &Arc<Self>,
        store: &Store,
        (key, id): (CollectionKey, CollectionId),
        want: Want,
    ) -> Result<Listener, StoreError> {
        let known = self.state().topics.get(&id).map(|topic| topic.told);
        let told = if let Some(told) = known {
            told
        } else {
            let (mark, place) = store.news_end(id).await?;
            Told { mark, place, more: false }
        };
        let mut state = self.state();
        let last = state.last;
        let topic = state.topics.entry(id).or_insert_with(|| {
            // Something may have happened since it was looked up, which nobody was woken for.
            self.began.notify_one();
            Topic::new(key, told, last)
        });
        topic.listeners += 1;
        topic.wants.of(want).into_iter().for_each(|count| *count += 1);
        Ok(Listener {
            hub: Arc::clone(self),
            id,
            key,
            want,
            since: topic.told.place,
            last: *topic.wake.borrow(),
            woken: topic.wake.subscribe(),
            ended: self.ended.subscribe(),
        })
    }

    /// The collections that somebody listens to.
    pub(super) fn watched(&self) -> Vec<Watched> {
        let state = self.state();
        let watched = |(id, topic): (&CollectionId, &Topic)| Watched {
            id: *id,
            key: topic.key,
            told: topic.told,
            wants: topic.wants,
            rests_until: topic.rests_until,
        };
        state.topics.iter().map(watched).collect()
    }

    /// Waits until somebody listens to what nobody listened to before.
    pub(super) async fn began(&self) {
        self.began.notified().await;
    }

    /// Leaves a collection alone that could not be told of: the longer, the more often that was so in a row. Others are told.
    pub(super) fn rest(&self, id: CollectionId) {
        if let Some(topic) = self.state().topics.get_mut(&id) {
            let rest = REST_FIRST.saturating_mul(1 << topic.failures.min(16)).min(REST_MAX);
            topic.failures = topic.failures.saturating_add(1);
            topic.rests_until = Some(Instant::now() + rest);
        }
    }

    /// When the first collection is not left alone any more that is now.
    pub(super) fn rests_until(&self, now: Instant) -> Option<Instant> {
        let state = self.state();
        let rests = state.topics.values().filter_map(|topic| topic.rests_until);
        rests.filter(|until| *until > now).min()
    }

    /// Tells what is new of a collection since it was told; false when nobody listens any more, somebody else told meanwhile, or
    /// somebody came meanwhile who wants to know more than was read.
    pub(super) fn publish(&self, watched: &Watched, told: Told, batch: Option<Batch>) -> bool {
        let mut state = self.state();
        let state = &mut *state;
        let is_read = |topic: &&mut Topic| topic.told == watched.told && watched.wants.cover(topic.wants);
        let known = state.topics.get_mut(&watched.id).filter(is_read);
        let Some(topic) = known else { return false };
        topic.told = told;
        (topic.failures, topic.rests_until) = (0, None);
        let Some(mut batch) = batch else { return true };
        state.last += 1;
        let (number, bytes) = (state.last, batch.bytes());
        batch.number = number;
        topic.batches.push_back(Arc::new(batch));
        state.order.push_back((watched.id, number, bytes));
        state.bytes += bytes;
        topic.wake.send_replace(number);
        state.forget_down_to(self.bytes_max);
        true
    }
}

impl Topic {
    fn new(key: CollectionKey, told: Told, last: u64) -> Self {
        Self {
            key,
            told,
            listeners: 0,
            wants: Wants::default(),
            failures: 0,
            rests_until: None,
            batches: VecDeque::new(),
            forgotten: last,
            wake: watch::Sender::new(last),
        }
    }
}

impl Wants {
    /// The number of those who want this, if it is anything.
    fn of(&mut self, want: Want) -> Option<&mut usize> {
        match want {
            Want::Nothing => None,
            Want::Orders => Some(&mut self.orders),
            Want::Balances => Some(&mut self.balances),
            Want::Logs => Some(&mut self.logs),
        }
    }

    /// Whether all is wanted that others want.
    fn cover(self, others: Self) -> bool {
        let counts = |wants: Self| [wants.orders, wants.balances, wants.logs];
        counts(self).into_iter().zip(counts(others)).all(|(own, other)| other == 0 || own > 0)
    }
}

impl State {
    /// Forgets what was told longest ago, until the rest is within bounds.
    fn forget_down_to(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max
            && let Some((id, number, bytes)) = self.order.pop_front()
        {
            self.bytes -= bytes;
            let Some(topic) = self.topics.get_mut(&id) else { continue };
            if topic.batches.front().is_some_and(|oldest| oldest.number == number) {
                topic.batches.pop_front();
                topic.forgotten = number;
            }
        }
    }

    fn leave(&mut self, listener: &Listener) {
        let Some(topic) = self.topics.get_mut(&listener.id) else { return };
        topic.listeners -= 1;
        topic.wants.of(listener.want).into_iter().for_each(|count| *count -= 1);
        if topic.listeners == 0 {
            self.topics.remove(&listener.id);
            let (gone, kept): (VecDeque<_>, VecDeque<_>) =
                std::mem::take(&mut self.order).into_iter().partition(|(id, ..)| *id == listener.id);
            self.order = kept;
            self.bytes -= gone.iter().map(|(.., bytes)| bytes).sum::<usize>();
        }
    }
}

impl Listener {
    /// Waits for what comes next. Nothing is lost of a wait that is given up.
    pub(super) async fn next(&mut self) -> Next {
        loop {
            if *self.ended.borrow() {
                return Next::Ended;
            }
            // Noted as seen first, so that what is published after the look wakes.
            self.woken.mark_unchanged();
            if let Some(next) = self.look() {
                return next;
            }
            tokio::select! {
                // Neither sender goes before this does.
                _ = self.woken.changed() => {}
                _ = self.ended.changed() => {}
            }
        }
    }

    /// Waits until nothing more will be told.
    pub(super) async fn ended(&mut self) {
        // An error means that the sender is gone, which is an end as well.
        let _ = self.ended.wait_for(|ended| *ended).await;
    }

    fn look(&mut self) -> Option<Next> {
        let hub = Arc::clone(&self.hub);
        let state = hub.state();
        let topic = state.topics.get(&self.id)?;
        if self.last < topic.forgotten {
            return Some(Next::Behind);
        }
        let next = topic.batches.partition_point(|batch| batch.number <= self.last);
        let batch = topic.batches.get(next)?;
        self.last = batch.number;
        Some(Next::Batch(Arc::clone(batch)))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let hub = Arc::clone(&self.hub);
        hub.state().leave(self);
    }
}

#[cfg(test)]
mod tests {
    use bourse_store::testing::collection_id;
    use bourse_wire::{Address, ChainId};
    use futures_util::FutureExt as _;

    use super::super::batch::{Batch, Rows};
    use super::*;

    const KEY: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

    fn told(activity: u64) -> Told {
        let (mark, place) = (Mark { version: activity, stamp: 1 }, Place { retractions: 0, activity });
        Told { mark, place, more: false }
    }

    fn publish(hub: &Hub, activity: u64) -> bool {
        let watched = hub.watched();
        watched.first().is_some_and(|watched| publish_to(hub, watched, activity))
    }

    fn publish_to(hub: &Hub, watched: &Watched, activity: u64) -> bool {
        let batch = Batch::new((watched.told.place, told(activity).place), Vec::new(), Rows::Any);
        hub.publish(watched, told(activity), Some(batch))
    }

    fn listen(hub: &Arc<Hub>) -> Listener {
        listen_as(hub, Want::Nothing)
    }

    fn listen_as(hub: &Arc<Hub>, want: Want) -> Listener {
        let mut state = hub.state();
        let last = state.last;
        let topic = state.topics.entry(collection_id(7)).or_insert_with(|| Topic::new(KEY, told(0), last));
        topic.listeners += 1;
        topic.wants.of(want).into_iter().for_each(|count| *count += 1);
        let (woken, last) = (topic.wake.subscribe(), *topic.wake.borrow());
        let ended = hub.ended.subscribe();
        let (id, since) = (collection_id(7), topic.told.place);
        Listener { hub: Arc::clone(hub), id, key: KEY, want, since, last, woken, ended }
    }

    /// The places of the batches that are there, and whether it is behind them.
    fn heard(listener: &mut Listener) -> (Vec<u64>, bool) {
        let mut places = Vec::new();
        loop {
            match listener.next().now_or_never() {
                Some(Next::Batch(batch)) => places.push(batch.place.activity),
                Some(Next::Behind) => return (places, true),
                Some(Next::Ended) | None => return (places, false),
            }
        }
    }

    #[test]
    fn everybody_hears_everything_once_from_where_they_came() {
        let hub = Arc::new(Hub::new(1 << 20));
        let mut early = listen(&hub);
        assert!(publish(&hub, 1));
        let mut late = listen(&hub);
        assert!(publish(&hub, 2));
        assert_eq!((heard(&mut early), heard(&mut late)), ((vec![1, 2], false), (vec![2], false)));
        assert!(publish(&hub, 3));
        assert_eq!((heard(&mut early), heard(&mut late)), ((vec![3], false), (vec![3], false)));
        assert_eq!(late.since, told(1).place);
    }

    #[test]
    fn who_falls_behind_what_is_kept_is_told_so_and_others_are_not() {
        // Room for two batches of nothing.
        let hub = Arc::new(Hub::new(600));
        let (mut slow, mut quick) = (listen(&hub), listen(&hub));
        for place in 1..=5 {
            assert!(publish(&hub, place));
            assert_eq!(heard(&mut quick), (vec![place], false));
            assert!(hub.state().bytes <= 600);
        }
        assert_eq!(heard(&mut slow), (vec![], true));
    }

    #[test]
    fn nothing_is_kept_of_what_nobody_listens_to() {
        let hub = Arc::new(Hub::new(1 << 20));
        let (one, other) = (listen(&hub), listen(&hub));
        assert!(publish(&hub, 1));
        drop(one);
        assert_eq!(hub.watched().len(), 1);
        drop(other);
        assert!(!publish(&hub, 2));
        let state = hub.state();
        assert_eq!((state.topics.len(), state.order.len(), state.bytes), (0, 0, 0));
    }

    #[test]
    fn what_was_read_without_what_somebody_wants_is_read_again() {
        let hub = Arc::new(Hub::new(1 << 20));
        let mut first = listen(&hub);
        let watched = hub.watched()[0];
        let mut second = listen_as(&hub, Want::Balances);
        assert!(!publish_to(&hub, &watched, 1));
        assert!(publish(&hub, 1));
        assert_eq!((heard(&mut first), heard(&mut second)), ((vec![1], false), (vec![1], false)));
        let watched = hub.watched()[0];
        drop(second);
        assert!(publish_to(&hub, &watched, 2));
        assert_eq!(hub.watched()[0].wants.balances, 0);
    }

    #[test]
    fn what_could_not_be_told_of_is_left_alone_the_longer_the_more_often() {
        let hub = Arc::new(Hub::new(1 << 20));
        let _listener = listen(&hub);
        assert_eq!(hub.rests_until(Instant::now()), None);
        let mut rests = Vec::new();
        for _ in 0..40 {
            let before = Instant::now();
            hub.rest(collection_id(7));
            rests.push(hub.rests_until(before).unwrap() - before);
        }
        for (rest, least) in rests.iter().zip([REST_FIRST, 2 * REST_FIRST, 4 * REST_FIRST, 8 * REST_FIRST]) {
            assert!(*rest >= least, "{rests:?}");
        }
        assert!(rests[39] >= REST_MAX);
        assert!(publish(&hub, 1));
        assert_eq!(hub.rests_until(Instant::now()), None);
    }

    #[test]
    fn all_are_told_of_the_end() {
        let hub = Arc::new(Hub::new(1 << 20));
        let mut listener = listen(&hub);
        assert!(publish(&hub, 1));
        hub.end();
        assert!(matches!(listener.next().now_or_never(), Some(Next::Ended)));
    }
}
