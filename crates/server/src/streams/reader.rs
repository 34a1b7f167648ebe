//! One stream: what its reader missed, then what happens, in the form that it reads, and a sign of life in between.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bourse_store::{News, Place, Since, StoreError};
use bourse_wire::{Code, Error, TokenId};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::batch::{Batch, Event, Rows, Text, written};
use super::hub::{Listener, Next, Want};
use super::publish::{ACTIVITIES_MAX, events};
use super::receipts::{Asked, ToldReceipt, Transaction, receipt};
use super::{Seat, Standing};
use crate::app::App;
use crate::chains::Unanswered;
use crate::entropy;
use crate::event_log::Sieve;
use crate::rpc::indexer::{Receipts, refused};

/// Silence after which a sign of life is sent: clients take eleven seconds of it for the end.
const BEAT: Duration = Duration::from_secs(5);
/// Beats of a minute, which is paid for.
const BEATS_PER_CHARGE: u32 = 12;
/// How often what somebody missed is read: of more they had better ask for a list.
const PAGES_MAX: u32 = 20;
/// When browsers come back whose connection broke, in milliseconds.
const RETRY_MS_MIN: u32 = 2_000;
const RETRY_MS_MAX: u32 = 8_000;

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
    Events(Arc<Sieve>),
    /// What became of the transactions in which something happens.
    Receipts(Receipts),
}

/// A stream that is about to be read, of one collection or of several.
pub(crate) struct Subscription(pub(super) Vec<Reader>);

/// A stream.
pub(super) struct Reader {
    app: Arc<App>,
    listener: Listener,
    seat: Seat,
    form: Form,
    what: What,
    /// The place behind what was told.
    place: Place,
    /// How often what was missed may still be read, until it was read.
    missed: Option<u32>,
    /// The transactions that are still to be told of.
    transactions: VecDeque<Transaction>,
    wait: Wait,
    beats: Interval,
    beat: u32,
    stage: Stage,
}

/// What was read of what somebody missed.
type Page = Result<Option<News>, StoreError>;

/// What is waited for before what all are told.
enum Wait {
    Nothing,
    Page(JoinSet<Page>),
    Receipt(Asked),
}

/// What a wait came to.
enum Came {
    Beat,
    Next(Next),
    /// Nothing where the reading broke off.
    Page(Option<Page>),
    Receipt(Result<Option<Arc<ToldReceipt>>, Unanswered>),
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
            seat,
            form,
            what,
            transactions: VecDeque::new(),
            wait: Wait::Nothing,
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
                return Some(self.form.opening(self.place));
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

    /// Something to be sent, which may be nothing; an error ends the stream. Whatever is waited for, the right to listen is looked
    /// at and signs of life are sent.
    async fn step(&mut self, standing: &Standing) -> Result<Bytes, Error> {
        self.begin(standing)?;
        let came = tokio::select! {
            biased;
            _ = self.beats.tick() => Came::Beat,
            came = self.wait.over(&mut self.listener) => came,
        };
        match came {
            Came::Beat => self.beat(standing),
            Came::Next(Next::Batch(batch)) => self.hear(&batch),
            Came::Next(Next::Behind) => Err(self.behind()),
            Came::Next(Next::Ended) => Err(self.again("the service is about to stop")),
            Came::Page(page) => {
                self.wait = Wait::Nothing;
                self.take_page(page)
            }
            Came::Receipt(receipt) => {
                self.wait = Wait::Nothing;
                let told = receipt.map_err(|error| refused(&self.app, self.listener.key.chain, error))?;
                Ok(told
                    .filter(|told| self.what.admits(told))
                    .map_or_else(Bytes::new, |told| told.line.clone()))
            }
        }
    }

    /// Begins what comes before listening on: to read some of what was missed, or to ask what became of a transaction.
    fn begin(&mut self, standing: &Standing) -> Result<(), Error> {
        if !matches!(self.wait, Wait::Nothing) {
            return Ok(());
        }
        if self.place == self.listener.since {
            self.missed = None;
        }
        if self.missed.is_some() {
            standing.check(&self.app)?;
            standing.charge(&self.app)?;
            self.wait = Wait::Page(self.read_missed());
        } else if let Some(transaction) = self.transactions.pop_front() {
            self.wait = Wait::Receipt(receipt(&self.app, self.listener.key.chain, transaction));
        }
        Ok(())
    }

    fn beat(&mut self, standing: &Standing) -> Result<Bytes, Error> {
        self.beat += 1;
        standing.check(&self.app)?;
        if self.beat.is_multiple_of(BEATS_PER_CHARGE) {
            standing.charge(&self.app)?;
        }
        Ok(self.form.sign_of_life(self.place))
    }

    /// Takes what all are told. Who has read further than that may have been told of what is taken back by it, and reads that
    /// as well.
    fn hear(&mut self, batch: &Batch) -> Result<Bytes, Error> {
        self.listener.since = batch.place;
        if !batch.lacks_for(self.place) {
            return self.tell(batch);
        }
        self.missed = Some(PAGES_MAX);
        match (&self.what, self.form) {
            (What::Activities(token), Form::Frames) => self.held(batch.row_frames(*token)),
            _ => Ok(Bytes::new()),
        }
    }

    fn tell(&mut self, batch: &Batch) -> Result<Bytes, Error> {
        let after = self.place;
        let told = match (&self.what, self.form) {
            (What::Activities(token), Form::Lines) => self.held(batch.lines(after, *token))?,
            (What::Activities(token), Form::Frames) => self.held(batch.frames(after, *token))?,
            (What::Balances, _) => batch.balances.clone().ok_or_else(|| {
                self.again("more balances changed than are told one by one: read them with GetBalanceUpdates")
            })?,
            (What::Events(filter), _) => self.held(batch.logs(after, filter))?,
            (What::Receipts(_), _) => {
                self.transactions.extend(batch.transactions(after));
                Bytes::new()
            }
        };
        self.place = if batch.is_anew() { batch.place } else { after.max(batch.place) };
        Ok(told)
    }

    /// What is written, with its share of the memory where it is for this reader alone: there is so much for those who read slowly.
    fn held(&self, text: Text) -> Result<Bytes, Error> {
        match text {
            Text::Shared(text) => Ok(text),
            Text::Own(text) => {
                let held = self.app.streams.texts.hold(self.seat.project, text);
                held.ok_or_else(|| self.behind())
            }
        }
    }

    /// Reads some of what somebody missed who listened before, in a task of its own, so that none who stands still takes the
    /// turn of the others.
    fn read_missed(&self) -> JoinSet<Page> {
        let (app, id) = (Arc::clone(&self.app), self.listener.id);
        let since = Since { place: self.place, ..Since::default() };
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let _turn = app.streams.catching_up.acquire().await;
            app.store.news(id, since, ACTIVITIES_MAX).await
        });
        reading
    }

    /// Tells some of what was missed. It may reach beyond what the hub tells next, of which is then told what is behind it.
    fn take_page(&mut self, page: Option<Page>) -> Result<Bytes, Error> {
        let news = page.unwrap_or(Err(StoreError::Closed)).map_err(|error| {
            error.log("reading what a stream missed");
            self.again("the database is not available just now")
        })?;
        let left = self.missed.unwrap_or_default().checked_sub(1);
        // Of more than there is, where a database was set back, nobody knows what did not happen.
        let is_of_more = news.as_ref().is_some_and(|news| news.place < self.place);
        let (Some(news), Some(left), false) = (news, left, is_of_more) else {
            return if is_of_more || self.form == Form::Frames { self.tell_anew() } else { Err(too_old()) };
        };
        self.missed = news.more.then_some(left);
        let events = events(&self.app, (self.listener.key, self.listener.id), news.happened);
        self.tell(&Batch::new((self.place, news.place), events, Rows::Of(Vec::new())))
    }

    /// Has whoever listens ask again for what happened, and goes on from where the hub does.
    fn tell_anew(&mut self) -> Result<Bytes, Error> {
        let place = self.listener.since;
        self.missed = None;
        self.tell(&Batch::new((place, place), vec![Event::anew(place)], Rows::Any))
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

/// When a browser comes back: each at another time, so that not all of them do at once where a server goes.
fn retry_ms() -> u32 {
    let spread = u32::from(u16::from_be_bytes(entropy::bytes()));
    RETRY_MS_MIN + spread % (RETRY_MS_MAX - RETRY_MS_MIN)
}

impl What {
    /// Whether somebody who listens to transactions is told of one.
    fn admits(&self, told: &ToldReceipt) -> bool {
        matches!(self, Self::Receipts(wanted) if wanted.admit(&told.receipt))
    }

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

impl Wait {
    /// Waits until it is over; nothing is lost of a wait that is given up. Nothing more comes once all streams are to end.
    async fn over(&mut self, listener: &mut Listener) -> Came {
        match self {
            Self::Nothing => Came::Next(listener.next().await),
            Self::Page(reading) => tokio::select! {
                biased;
                () = listener.ended() => Came::Next(Next::Ended),
                page = reading.join_next() => Came::Page(page.and_then(Result::ok)),
            },
            Self::Receipt(asked) => tokio::select! {
                biased;
                () = listener.ended() => Came::Next(Next::Ended),
                told = asked => Came::Receipt(told),
            },
        }
    }
}

fn too_old() -> Error {
    let message = "the cursor is too old: list what happened, and subscribe without a cursor";
    Error::new(Code::InvalidArgument, message)
}

impl Form {
    fn opening(self, place: Place) -> Bytes {
        match self {
            Self::Lines => Bytes::from_static(b"\n"),
            Self::Frames => format!("retry: {}\nid: {}\n\n", retry_ms(), written(place)).into(),
        }
    }

    /// For pages with the place from which to ask on: of what nothing is told for long, the last event may be too old by then.
    fn sign_of_life(self, place: Place) -> Bytes {
        match self {
            Self::Lines => Bytes::from_static(b"\n"),
            Self::Frames => format!("id: {}\n\n", written(place)).into(),
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
