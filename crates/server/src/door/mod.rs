//! The front door: connections are taken in until told to stop, each served by a task of its own, for as long as it gets
//! somewhere.

mod proxies;
mod refusals;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Extensions, Request};
use bourse_door::{
    Activity, Capacity, Full, Guests, NotedBody, NotedStream, Overdue, Patience, Place, Stopwatch, TICK,
    Unread, ticks,
};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Interval};

pub(crate) use self::refusals::{Refusal, RefusalCounters, Refusals};
use crate::http::Entrance;
use crate::limits::Bucket;
use crate::settings::Limits;

/// How long requests under way may take to finish once the service is told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(8);
/// How long to wait before connections are taken in again after that failed, as it does without free descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Descriptors that are kept for everything else: the database, nodes, files.
const DESCRIPTORS_KEPT: u64 = 256;

/// What is read of a connection ahead of what somebody asks for, and written ahead of what the other side takes. Whoever
/// sends as fast as they can would otherwise have 25 times as much of each connection kept.
const BUFFER_BYTES_MAX: usize = 16 * 1024;

/// The address that a request comes from; an extension of it.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// The address among the extensions of a request; none where nobody served it over a connection.
    pub fn of(extensions: &Extensions) -> Option<IpAddr> {
        extensions.get::<Self>().map(|peer| peer.0)
    }
}

/// Answers requests until `stop` is over, and finishes those under way. The future is boxed because the bodies of async
/// functions are compiled by whoever awaits them: this is where requests spend their time, and it is to be compiled as
/// this crate is.
pub fn serve(
    listener: TcpListener,
    entrance: Entrance,
    stop: BoxFuture<'static, ()>,
) -> BoxFuture<'static, ()> {
    Box::pin(take_in(listener, entrance, stop))
}

async fn take_in(listener: TcpListener, entrance: Entrance, stop: BoxFuture<'static, ()>) {
    let guests = Guests::new(capacity(&entrance.app().settings().limits));
    let (stopping, stopped) = watch::channel(false);
    // Each connection holds one of these; the channel is closed with the last of them.
    let (open, mut closed) = mpsc::channel::<()>(1);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let activity = Arc::new(Activity::default());
                let Some(place) = place(&guests, &entrance, peer.ip(), &activity) else { continue };
                let connection = Connection { peer, activity, place, stopped: stopped.clone() };
                let (served, open) = (connection.serve(stream, entrance.clone()), open.clone());
                tokio::spawn(async move {
                    served.await;
                    drop(open);
                });
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::debug!(%error, "taking in connections");
                entrance.app().refusals.note(Refusal::Descriptors);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    tracing::info!("stopping: finishing requests under way");
    drop((listener, open));
    stopping.send_replace(true);
    if tokio::time::timeout(DRAIN_TIMEOUT, closed.recv()).await.is_err() {
        tracing::warn!("requests were still under way after {} s", DRAIN_TIMEOUT.as_secs());
    }
}

/// How many connections there may be: as the settings say, and as there are descriptors, of which the system is asked for
/// as many as it lets us have.
fn capacity(limits: &Limits) -> Capacity {
    let has = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: has.maximum, maximum: has.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "raising the limit of open descriptors");
    }
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let free = descriptors.saturating_sub(DESCRIPTORS_KEPT).max(descriptors / 2);
    let total = limits.connections_max.min(usize::try_from(free).unwrap_or(usize::MAX));
    if total < limits.connections_max {
        tracing::warn!(
            descriptors,
            total,
            "the system's limit of open descriptors leaves fewer connections than limits.connections_max"
        );
    }
    Capacity { total, per_origin: limits.connections_per_address_max }
}

/// A place for a connection, if there is one.
fn place(
    guests: &Arc<Guests<Bucket>>,
    entrance: &Entrance,
    peer: IpAddr,
    activity: &Arc<Activity>,
) -> Option<Place<Bucket>> {
    let app = entrance.app();
    let is_proxy = app.settings().server.trusted_proxies.contain(peer);
    let origin = (!is_proxy).then(|| Bucket::of_address(peer));
    let full = match guests.admit(origin, Arc::clone(activity)) {
        Ok(place) => return Some(place),
        Err(full) => full,
    };
    app.refusals.note(match full {
        Full::Total => Refusal::Connections,
        Full::Origin => Refusal::AddressConnections,
    });
    None
}

/// Whether only the connection failed that was to be taken in.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// A connection that was taken in.
struct Connection {
    peer: SocketAddr,
    activity: Arc<Activity>,
    place: Place<Bucket>,
    stopped: watch::Receiver<bool>,
}

impl Connection {
    async fn serve(self, stream: TcpStream, entrance: Entrance) {
        let Self { peer, activity, place, stopped } = self;
        // Small answers must not wait for the acknowledgement of earlier ones.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "setting TCP_NODELAY");
        }
        let app = Arc::clone(entrance.app());
        let stopwatch = Stopwatch::new(Arc::clone(&activity), patience(&app.settings().limits));
        let stream = NotedStream::new(stream, Arc::clone(&activity));
        let noted = Arc::clone(&activity);
        let service = service_fn(move |request| {
            noted.begin();
            let (parts, body) = Request::into_parts(request);
            let (body, unread) = Unread::of(&parts.headers, body);
            let mut request = Request::from_parts(parts, body);
            let proxies = &entrance.app().settings().server.trusted_proxies;
            let client = proxies::client(proxies, peer.ip(), request.headers());
            request.extensions_mut().insert(Peer(client));
            let (answer, noted) = (entrance.answer(request), Arc::clone(&noted));
            async move {
                let answered = answer.await;
                if let Some(unread) = unread {
                    unread.discard().await;
                }
                answered.map(|response| NotedBody::of(response, noted))
            }
        });
        let mut connection = pin!(
            http1::Builder::new()
                .max_buf_size(BUFFER_BYTES_MAX)
                .serve_connection(TokioIo::new(stream), service)
        );
        let watcher = Watcher { stopwatch, ticks: ticks(Instant::now()), place, stopped: Some(stopped) };
        // Alone in a set, so that it is looked at when something comes for it, and not with every part of a request.
        let mut watching: FuturesUnordered<_> = std::iter::once(watcher.next()).collect();
        let served = loop {
            tokio::select! {
                // What has come is looked at before it is said that nothing comes.
                biased;
                served = &mut connection => break served,
                Some((end, watcher)) = watching.next() => match end {
                    End::Overdue(Overdue::Idle) => return,
                    End::Overdue(Overdue::Head) => return app.refusals.note(Refusal::HeadTimeout),
                    End::Overdue(Overdue::Write) => return app.refusals.note(Refusal::WriteTimeout),
                    End::PlaceNeeded => return app.refusals.note(Refusal::MadeRoom),
                    // Nobody waits for a request of which half has come.
                    End::Stopped if activity.is_in_head() => return,
                    End::Stopped => {
                        connection.as_mut().graceful_shutdown();
                        watching.push(watcher.next());
                    }
                }
            }
        };
        if let Err(error) = served {
            tracing::trace!(%error, %peer, "a connection ended");
        }
    }
}

/// Why a connection ends that does not end by itself.
enum End {
    Overdue(Overdue),
    PlaceNeeded,
    Stopped,
}

/// Whoever sees to it that a connection ends when it has to.
struct Watcher {
    stopwatch: Stopwatch,
    ticks: Interval,
    place: Place<Bucket>,
    /// Until it was told so.
    stopped: Option<watch::Receiver<bool>>,
}

impl Watcher {
    /// Waits for the next reason.
    async fn next(mut self) -> (End, Self) {
        let end = loop {
            tokio::select! {
                biased;
                _ = self.ticks.tick() => if let Some(overdue) = self.stopwatch.tick() {
                    break End::Overdue(overdue);
                },
                () = self.place.needed() => break End::PlaceNeeded,
                () = told(&mut self.stopped) => break End::Stopped,
            }
        };
        (end, self)
    }
}

/// Over when everything is to stop, once.
async fn told(stopped: &mut Option<watch::Receiver<bool>>) {
    match stopped {
        // An error means that the sender is gone, which is a stop as well.
        Some(receiver) => drop(receiver.wait_for(|stopped| *stopped).await),
        None => std::future::pending().await,
    }
    *stopped = None;
}

fn patience(limits: &Limits) -> Patience {
    let tick_ms = u64::try_from(TICK.as_millis()).unwrap_or(u64::MAX);
    let ticks = |ms: u64| u32::try_from(ms.div_ceil(tick_ms)).unwrap_or(u32::MAX);
    Patience {
        head: ticks(limits.header_timeout_ms),
        write: ticks(limits.write_timeout_ms),
        idle: ticks(limits.idle_timeout_ms),
    }
}
