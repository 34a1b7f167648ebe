//! Streams: whoever listens is told what happens in a collection, as it happens.
//!
//! One hub reads what is new, once for each version and however many listen ([`publish`]), and keeps what it told for a while
//! ([`hub`]). Each reader takes it from there as fast as its connection does ([`reader`]): nobody who writes waits for a reader,
//! and one that falls behind what is kept is let go with a word from where to ask again. Where nobody listens nothing is read.

mod batch;
mod hub;
mod publish;
mod reader;
mod receipts;
mod standing;
mod texts;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Instant;

use bourse_store::{CollectionKey, Place};
use bourse_wire::{Code, Error, EventFilter, ProjectId, TokenId};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

pub(crate) use self::batch::cursor;
use self::hub::Hub;
pub(crate) use self::publish::round;
pub(crate) use self::reader::Subscription;
use self::reader::{Form, Reader, What};
use self::receipts::ReceiptDesk;
pub(crate) use self::standing::Standing;
use self::texts::Texts;
use crate::app::App;
use crate::call::Call;
use crate::event_log::Sieve;
use crate::failure::Failure;
use crate::limits::Bucket;
use crate::rpc::indexer::{Receipts, refused};
use crate::settings::Limits;
use crate::shares::{Share, Shares};

/// What a stream of records is, one in each line.
pub(crate) const LINES: &str = "application/x-ndjson";

/// How many at once read what they missed.
const CATCHING_UP_MAX: usize = 2;

/// The streams of this server.
pub(crate) struct Streams {
    hub: Arc<Hub>,
    of_projects: Arc<Shares>,
    of_addresses: Arc<Shares<Bucket>>,
    /// Whoever reads what they missed has one of these. Nobody closes it, so that there always is one some day.
    catching_up: Semaphore,
    texts: Texts,
    receipts: ReceiptDesk,
    metrics: StreamMetrics,
}

/// The series of streams.
#[derive(Clone, Default)]
pub(crate) struct StreamMetrics {
    /// How many are open.
    pub(crate) open: Gauge<i64, AtomicI64>,
    /// How many were let go because they were read too slowly.
    pub(crate) behind: Counter,
}

impl StreamMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let streams = Self::default();
        registry.register("streams", "Streams that are open", streams.open.clone());
        let help = "Streams that were let go because they were read too slowly";
        registry.register("streams_behind", help, streams.behind.clone());
        streams
    }
}

/// A stream's place, given back when dropped.
pub(super) struct Seat {
    pub(super) project: ProjectId,
    _of_project: Share,
    _of_address: Option<Share<Bucket>>,
    open: Gauge<i64, AtomicI64>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.open.dec();
    }
}

/// What happens of what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    /// The collection.
    pub(crate) key: CollectionKey,
    /// One of its tokens only.
    pub(crate) token: Option<TokenId>,
    /// From where on, for whoever listened before.
    pub(crate) after: Option<Place>,
}

impl Streams {
    pub(crate) fn new(limits: &Limits, metrics: StreamMetrics) -> Self {
        Self {
            // What is told to everybody has one half of the memory, what is written for one reader the other.
            hub: Arc::new(Hub::new(limits.streams_bytes_max / 2)),
            of_projects: Shares::new(limits.streams_max, limits.project_streams_max),
            of_addresses: Shares::new(limits.streams_max, limits.address_streams_max),
            catching_up: Semaphore::new(CATCHING_UP_MAX),
            texts: Texts::new(limits.streams_bytes_max / 2),
            receipts: ReceiptDesk::new(),
            metrics,
        }
    }

    /// Ends all streams, each with a word: the service is about to stop.
    pub(crate) fn end(&self) {
        self.hub.end();
    }

    fn seat(&self, project: ProjectId, address: Option<Bucket>) -> Result<Seat, Error> {
        let full = |_| {
            let message = "as many streams are open as there may be: close one, or ask again later";
            Error::new(Code::Overloaded, message)
        };
        let of_project = self.of_projects.take(Some(project), 1).map_err(full)?;
        let of_address = address.map(|address| self.of_addresses.take(address, 1)).transpose();
        let seat = Seat {
            project,
            _of_project: of_project,
            _of_address: of_address.map_err(full)?,
            open: self.metrics.open.clone(),
        };
        seat.open.inc();
        Ok(seat)
    }
}

/// Waits until somebody listens to what nobody listened to before, or until then.
pub(crate) async fn due(app: &App, at: Option<Instant>) {
    let then = async {
        match at {
            Some(at) => tokio::time::sleep_until(at.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = app.streams.hub.began() => {}
        () = then => {}
    }
}

/// Begins to listen to what happens, for a program that reads line by line.
pub(crate) async fn lines(call: &Call, subject: Subject) -> Result<Subscription, Failure> {
    let Subject { key, token, after } = subject;
    subscribe_lines(call, key, What::Activities(token), after).await
}

/// Begins to listen to what accounts hold of a collection.
pub(crate) async fn balances(call: &Call, key: CollectionKey) -> Result<Subscription, Failure> {
    subscribe_lines(call, key, What::Balances, None).await
}

/// Begins to listen to what became of transactions in which something happens to a collection.
pub(crate) async fn receipts(
    call: &Call,
    key: CollectionKey,
    wanted: Receipts,
) -> Result<Subscription, Failure> {
    // Told now where nobody could be asked later.
    let asked = receipts::head(&call.app, key.chain).await;
    asked.map_err(|error| refused(&call.app, key.chain, error))?;
    subscribe_lines(call, key, What::Receipts(wanted), None).await
}

/// Begins to listen to what a filter lets through of what happens in some collections.
pub(crate) async fn events(
    call: &Call,
    collections: BTreeSet<CollectionKey>,
    filter: EventFilter,
) -> Result<Subscription, Failure> {
    let (filter, mut readers) = (Arc::new(Sieve::new(filter)), Vec::with_capacity(collections.len()));
    for key in collections {
        let what = What::Events(Arc::clone(&filter));
        readers.extend(subscribe_lines(call, key, what, None).await?.0);
    }
    Ok(Subscription(readers))
}

async fn subscribe_lines(
    call: &Call,
    key: CollectionKey,
    what: What,
    after: Option<Place>,
) -> Result<Subscription, Failure> {
    let who = (call.caller.project(), call.peer.map(Bucket::of_address));
    subscribe(&call.app, who, (key, after), (Form::Lines, what)).await
}

/// Begins to listen to what happens, for a page in a browser.
pub(crate) async fn frames(
    app: &Arc<App>,
    who: (ProjectId, Option<Bucket>),
    subject: Subject,
) -> Result<Subscription, Failure> {
    let Subject { key, token, after } = subject;
    subscribe(app, who, (key, after), (Form::Frames, What::Activities(token))).await
}

async fn subscribe(
    app: &Arc<App>,
    (project, address): (ProjectId, Option<Bucket>),
    (key, after): (CollectionKey, Option<Place>),
    (form, what): (Form, What),
) -> Result<Subscription, Failure> {
    let seat = app.streams.seat(project, address)?;
    let missing = || Error::not_found(format_args!("contract {} on chain {}", key.address, key.chain));
    let id = app.store.collection(key).await?.ok_or_else(missing)?;
    let listener = app.streams.hub.listen(&app.store, (key, id), what.want(form)).await?;
    let reader = Reader::new(Arc::clone(app), (listener, seat), (form, what), after);
    Ok(Subscription(vec![reader]))
}
