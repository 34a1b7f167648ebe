//! What a connection is doing, as far as time is concerned: its stream and its service note it, a stopwatch looks.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Response;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// How often a connection is looked at, and so how exact its times are. Looking is cheap; noting times at each request
/// would not be.
pub const TICK: Duration = Duration::from_secs(1);

/// The times at which a connection is looked at. The first comes a whole tick after it did: whoever has just come has not
/// been idle yet.
pub fn ticks(came: Instant) -> Interval {
    let mut ticks = tokio::time::interval_at(came + TICK, TICK);
    // A machine that stood still must not make up for it: nobody could have got anywhere meanwhile.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// How long a connection may take for what, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From the first byte of a request to the end of its headers.
    pub head: u32,
    /// Without taking anything of an answer.
    pub write: u32,
    /// Without anything at all, and without waiting for us.
    pub idle: u32,
}

/// Why a connection is ended by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overdue {
    /// The headers of a request did not come in time.
    Head,
    /// Nobody took the answer.
    Write,
    /// Nothing happened.
    Idle,
}

const WAITING: u8 = 0;
const HEAD: u8 = 1;
const SERVING: u8 = 2;

/// What a connection is doing.
#[derive(Default)]
pub struct Activity {
    /// Waiting for a request, reading its headers, or serving it.
    phase: AtomicU8,
    /// How many requests began.
    requests: AtomicU32,
    /// How often bytes came or went.
    moves: AtomicU32,
    /// Whether the other side does not take what is written.
    is_blocked: AtomicBool,
    /// For how many ticks it has got nowhere.
    stalled: AtomicU32,
}

impl Activity {
    /// A request begins: its headers are read.
    pub fn begin(&self) {
        self.phase.store(SERVING, Relaxed);
        self.requests.fetch_add(1, Relaxed);
    }

    /// Whether a request has begun to come, and no more.
    pub fn is_in_head(&self) -> bool {
        self.phase.load(Relaxed) == HEAD
    }

    /// For how many ticks the connection has got nowhere.
    pub fn stalled(&self) -> u32 {
        self.stalled.load(Relaxed)
    }

    fn end(&self) {
        self.phase.store(WAITING, Relaxed);
    }

    fn moved(&self) {
        self.moves.fetch_add(1, Relaxed);
    }
}

/// Looks at a connection once a tick.
pub struct Stopwatch {
    activity: Arc<Activity>,
    patience: Patience,
    seen: (u8, u32, u32),
    /// Ticks since the phase began, and since bytes moved.
    in_phase: u32,
    still: u32,
}

impl Stopwatch {
    /// A stopwatch that looks at a connection.
    pub fn new(activity: Arc<Activity>, patience: Patience) -> Self {
        Self { activity, patience, seen: (WAITING, 0, 0), in_phase: 0, still: 0 }
    }

    /// Notes that a tick went by, and tells whether the connection is to be ended.
    pub fn tick(&mut self) -> Option<Overdue> {
        let activity = &self.activity;
        let (phase, requests, moves) =
            (activity.phase.load(Relaxed), activity.requests.load(Relaxed), activity.moves.load(Relaxed));
        let (seen_phase, seen_requests, seen_moves) =
            std::mem::replace(&mut self.seen, (phase, requests, moves));
        let counted = |count: u32, goes_on: bool| if goes_on { count.saturating_add(1) } else { 0 };
        self.in_phase = counted(self.in_phase, (phase, requests) == (seen_phase, seen_requests));
        self.still = counted(self.still, moves == seen_moves);
        let is_blocked = activity.is_blocked.load(Relaxed);
        let stalled = match phase {
            // Headers that come in drops get nowhere either.
            HEAD => self.in_phase,
            // It may be we who are at work; requests have a time of their own.
            SERVING if !is_blocked => 0,
            _ => self.still,
        };
        activity.stalled.store(stalled, Relaxed);
        match phase {
            HEAD if self.in_phase >= self.patience.head => Some(Overdue::Head),
            // Whatever the phase: the last bytes of an answer may wait after its body is gone.
            _ if is_blocked && self.still >= self.patience.write => Some(Overdue::Write),
            SERVING => None,
            _ if self.still >= self.patience.idle => Some(Overdue::Idle),
            _ => None,
        }
    }
}

/// A stream that notes what comes and goes.
pub struct NotedStream {
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl NotedStream {
    /// A stream that notes what comes and goes.
    pub fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }

    fn note_written(&self, written: &Poll<std::io::Result<usize>>) {
        match written {
            Poll::Pending => self.activity.is_blocked.store(true, Relaxed),
            Poll::Ready(_) => {
                self.activity.is_blocked.store(false, Relaxed);
                self.activity.moved();
            }
        }
    }
}

impl AsyncRead for NotedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.activity.moved();
            // Only this task changes the phase.
            if self.activity.phase.load(Relaxed) == WAITING {
                self.activity.phase.store(HEAD, Relaxed);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for NotedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_written(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.note_written(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The body of an answer. The request is over when it is dropped, which is once it is written.
pub struct NotedBody {
    body: Body,
    activity: Arc<Activity>,
}

impl NotedBody {
    /// An answer that notes when it is over.
    pub fn of(response: Response<Body>, activity: Arc<Activity>) -> Response<Self> {
        response.map(|body| Self { body, activity })
    }
}

impl HttpBody for NotedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for NotedBody {
    fn drop(&mut self) {
        self.activity.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { head: 2, write: 3, idle: 5 };

    fn ticks(activity: &Arc<Activity>, mut between: impl FnMut(&Activity)) -> Vec<Option<Overdue>> {
        let mut stopwatch = Stopwatch::new(Arc::clone(activity), PATIENCE);
        let mut seen = Vec::new();
        for _ in 0..8 {
            between(activity);
            seen.push(stopwatch.tick());
        }
        seen
    }

    fn first(seen: &[Option<Overdue>]) -> Option<(usize, Overdue)> {
        seen.iter().enumerate().find_map(|(tick, overdue)| overdue.map(|overdue| (tick, overdue)))
    }

    #[tokio::test]
    async fn whoever_has_just_come_has_a_whole_tick() {
        let came = Instant::now();
        assert_eq!(super::ticks(came).tick().await, came + TICK);
    }

    #[test]
    fn headers_in_drops_are_overdue_as_a_whole() {
        let activity = Arc::new(Activity::default());
        activity.phase.store(HEAD, Relaxed);
        assert_eq!(first(&ticks(&activity, Activity::moved)), Some((2, Overdue::Head)));
    }

    #[test]
    fn an_answer_may_be_taken_slowly_but_not_left() {
        let activity = Arc::new(Activity::default());
        activity.begin();
        activity.is_blocked.store(true, Relaxed);
        assert_eq!(first(&ticks(&activity, Activity::moved)), None);
        assert_eq!(first(&ticks(&activity, |_| ())), Some((3, Overdue::Write)));
    }

    #[test]
    fn whoever_waits_for_us_stays_and_makes_no_room() {
        let activity = Arc::new(Activity::default());
        activity.begin();
        assert_eq!(first(&ticks(&activity, |_| ())), None);
        assert_eq!(activity.stalled(), 0);
        activity.is_blocked.store(true, Relaxed);
        ticks(&activity, |_| ());
        assert!(activity.stalled() > 0);
    }

    #[test]
    fn whoever_keeps_asking_may_stay() {
        let activity = Arc::new(Activity::default());
        let ask = |activity: &Activity| {
            activity.moved();
            activity.begin();
            activity.end();
        };
        assert_eq!(first(&ticks(&activity, ask)), None);
        assert_eq!(first(&ticks(&activity, |_| ())), Some((5, Overdue::Idle)));
    }
}
