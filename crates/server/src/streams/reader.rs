//! One stream: what its reader missed, then what happens, in the form that it reads, and a sign of life in between.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bourse_store::{Place, Since};
use bourse_wire::{Code, Error, EventFilter, TokenId};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::batch::{Batch, Rows, written};
use super::hub::{Listener, Next, Told, Want, Wants, Watched};
use super::publish::{ACTIVITIES_MAX, events};
use super::{Seat, Standing};
use crate::app::App;
use crate::rpc::indexer::Receipts;

/// Silence after which a sign of life is sent: clients take eleven seconds of it for the end.
const BEAT: Duration = Duration::from_secs(5);
/// Beats of a minute, which is paid for.
const BEATS_PER_CHARGE: u32 = 12;
/// How often what somebody missed is read: of more they had better ask for a list.
const PAGES_MAX: u32 = 20;

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One record in each line, for programs.
    Lines,
    /// Server-sent events, for pages in browsers.
    Frames,
}

/// What is told.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// What happens, of a token or of all.
    Activities(Option<TokenId>),
    /// What accounts hold of what changes.
    Balances,
    /// What happens, as far as a filter lets it through.
    Events(Arc<EventFilter>),
    /// What became of the transactions in which something happens.
    Receipts(Receipts),
}

/// A stream that is about to be read, of one collection or of several.
pub(crate) struct Subscription(pub(super) Vec<Reader>);

/// A stream.
pub(super) struct Reader {
    app: Arc<App>,
    listener: Listener,
    _seat: Seat,
    form: Form,
    what: What,
    /// The place behind what was told.
    place: Place,
    /// How often what was missed may still be read, until it was read.
    missed: Option<u32>,
    beats: Interval,
    beat: u32,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Opening,
    Open,
    Over,
}

impl Subscription {
    /// The body of the answer. Where one collection's stream ends, all of it does.
    pub(crate) fn body(self, standing: Standing) -> Body {
        let standing = Arc::new(standing);
        let of_reader = |reader: Reader| {
            let next = |(mut reader, standing): (Reader, Arc<Standing>)| async move {
                let bytes = reader.next(&standing).await?;
                Some((Some(bytes), (reader, standing)))
            };
            let told = stream::unfold((reader, Arc::clone(&standing)), next);
            told.chain(stream::once(ready(None))).boxed()
        };
        let told = stream::select_all(self.0.into_iter().map(of_reader));
        Body::from_stream(
            told.take_while(|bytes| ready(bytes.is_some())).filter_map(ready).map(Ok::<_, Infallible>),
        )
    }
}

impl Reader {
    pub(super) fn new(
        app: Arc<App>,
        (listener, seat): (Listener, Seat),
        (form, what): (Form, What),
        after: Option<Place>,
    ) -> Self {
        let mut beats = interval_at(Instant::now() + BEAT, BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            place: after.unwrap_or(listener.since),
            missed: after.map(|_| PAGES_MAX),
            app,
            listener,
            _seat: seat,
            form,
            what,
            beats,
            beat: 0,
            stage: Stage::Opening,
        }
    }

    /// What is sent next; nothing once it is over.
    async fn next(&mut self, standing: &Standing) -> Option<Bytes> {
        match self.stage {
            Stage::Over => return None,
            // At once, so that whoever asked knows that it is heard.
            Stage::Opening => {
                self.stage = Stage::Open;
                return Some(self.form.opening());
            }
            Stage::Open => {}
        }
        loop {
            match self.step(standing).await {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Some(bytes),
                Err(error) => {
                    self.stage = Stage::Over;
                    return Some(self.form.trouble(&error, standing));
                }
            }
        }
    }

    /// Something to be sent, which may be nothing; an error ends the stream.
    async fn step(&mut self, standing: &Standing) -> Result<Bytes, Error> {
        if let Some(left) = self.missed {
            return self.catch_up(left).await;
        }
        tokio::select! {
            // The right to listen is looked at however much there is to hear.
            biased;
            _ = self.beats.tick() => {
                self.beat += 1;
                standing.check(&self.app)?;
                if self.beat.is_multiple_of(BEATS_PER_CHARGE) {
                    standing.charge(&self.app)?;
                }
                Ok(self.form.sign_of_life())
            }
            next = self.listener.next() => match next {
                Next::Batch(batch) => self.tell(&batch).await,
                Next::Behind => Err(self.behind()),
                Next::Ended => Err(self.again("the service is about to stop")),
            },
        }
    }

    async fn tell(&mut self, batch: &Batch) -> Result<Bytes, Error> {
        let after = self.place;
        self.place = if batch.is_anew() { batch.place } else { after.max(batch.place) };
        match (&self.what, self.form) {
            (What::Activities(token), Form::Lines) => Ok(batch.lines(after, *token)),
            (What::Activities(token), Form::Frames) => Ok(batch.frames(after, *token)),
            (What::Balances, _) => batch.balances.clone().ok_or_else(|| {
                self.again("more balances changed than are told one by one: read them with GetBalanceUpdates")
            }),
            (What::Events(filter), _) => Ok(batch.logs(after, filter)),
            (What::Receipts(wanted), _) => {
                let transactions = batch.transactions(after);
                let lines = wanted.lines(&self.app, self.listener.key.chain, transactions).await;
                lines.map(Bytes::from)
            }
        }
    }

    /// Reads some of what somebody missed who listened before. It may reach beyond where the hub began to tell, of which is
    /// then told what is behind it.
    async fn catch_up(&mut self, left: u32) -> Result<Bytes, Error> {
        if self.place == self.listener.since {
            self.missed = None;
            return Ok(Bytes::new());
        }
        let too_old = || {
            let message = "the cursor is too old: list what happened, and subscribe without a cursor";
            Error::new(Code::InvalidArgument, message)
        };
        self.missed = Some(left.checked_sub(1).ok_or_else(too_old)?);
        let since = Since { place: self.place, ..Since::default() };
        let read = self.app.store.news(self.listener.id, since, ACTIVITIES_MAX).await;
        let news = read.map_err(|error| {
            error.log("reading what a stream missed");
            self.again("the database is not available just now")
        })?;
        let news = news.ok_or_else(too_old)?;
        if !news.more {
            self.missed = None;
        }
        // A cursor may be of more than there is, as a database may have been set back: whatever comes from here on is new.
        if news.place < self.place {
            self.place = self.listener.since;
            self.missed = None;
            return Ok(Bytes::new());
        }
        let (id, key) = (self.listener.id, self.listener.key);
        let at = Told { mark: news.mark, place: news.place };
        let watched = Watched { id, key, told: at, wants: Wants::default() };
        let events = events(&self.app, &watched, news.happened);
        self.tell(&Batch::new(news.place, events, Rows::Of(Vec::new()))).await
    }

    fn behind(&self) -> Error {
        self.app.streams.metrics.behind.inc();
        self.again("this stream is read more slowly than things happen")
    }

    fn again(&self, why: &str) -> Error {
        let how = match &self.what {
            What::Activities(_) => format!(" with cursor {}", written(self.place)),
            What::Balances | What::Events(_) | What::Receipts(_) => String::new(),
        };
        Error::new(Code::Overloaded, format!("{why}: subscribe again{how}"))
    }
}

impl What {
    /// What of it is read beside what happened.
    pub(super) fn want(&self, form: Form) -> Want {
        match (self, form) {
            (Self::Activities(_), Form::Lines) | (Self::Receipts(_), _) => Want::Nothing,
            (Self::Activities(_), Form::Frames) => Want::Orders,
            (Self::Balances, _) => Want::Balances,
            (Self::Events(_), _) => Want::Logs,
        }
    }
}

impl Form {
    fn opening(self) -> Bytes {
        match self {
            Self::Lines => Bytes::from_static(b"\n"),
            Self::Frames => Bytes::from_static(b"retry: 3000\n\n"),
        }
    }

    fn sign_of_life(self) -> Bytes {
        match self {
            Self::Lines => Bytes::from_static(b"\n"),
            Self::Frames => Bytes::from_static(b":\n\n"),
        }
    }

    /// An error, which is the last thing that is told.
    fn trouble(self, error: &Error, standing: &Standing) -> Bytes {
        // The envelope is a plain record of texts and numbers; writing it cannot fail.
        let said = serde_json::to_string(&error.said(standing.dialect())).unwrap_or_default();
        match self {
            Self::Lines => format!("{{\"webrpcError\":{said}}}\n").into(),
            Self::Frames => format!("event: trouble\ndata: {said}\n\n").into(),
        }
    }
}
