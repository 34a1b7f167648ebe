//! A relay before PostgreSQL that cuts connections where a test wants it, is down, or is silent.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::unusable;
use crate::{DatabaseUrl, StoreError};

/// What a pool sends to know whether a connection is alive: before it is used, and after that in the background, at no certain
/// time. So it does not count, and is never cut.
const PING: &[u8] = b"S\0\0\0\x04";
/// What the end of a connection is told with, which nobody waits for. It does not count either.
const GOODBYE: &[u8] = b"X\0\0\0\x04";

/// Where a connection is cut, counted in messages that clients send from then on: a message is what is sent in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server never gets this one.
    Before(u32),
    /// The server does what this one asks for, and its answer is lost.
    After(u32),
}

/// What becomes of messages that have a certain text in them.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// The server never gets the next one, whose connection is cut.
    Cut,
    /// The server does what the next one asks for, and its answer is lost.
    LoseAnswer,
    /// The server goes away before it gets the next one.
    GoDown,
    /// All of them wait until they are let go.
    Hold,
}

/// How a server goes away.
#[derive(Clone, Copy, Debug)]
pub enum Outage {
    /// It closes every connection.
    Closed,
    /// It takes connections in and never says anything.
    Silent,
}

impl Outage {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Closed, Self::Silent];

    /// Takes the server behind a relay away.
    pub fn begin(self, relay: &Relay) {
        match self {
            Self::Closed => relay.go_down(),
            Self::Silent => relay.fall_silent(),
        }
    }

    /// Brings it back.
    pub fn end(self, relay: &Relay) {
        match self {
            Self::Closed => relay.come_up(),
            Self::Silent => relay.speak(),
        }
    }
}

/// A relay, which ends with this value.
pub struct Relay {
    /// The database, by way of the relay.
    pub url: DatabaseUrl,
    plan: Arc<Mutex<Option<Cut>>>,
    held: Arc<AtomicU64>,
    weather: Arc<watch::Sender<Weather>>,
    accepted: Arc<AtomicU64>,
    ways: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

/// What is marked just now.
pub(super) type Marks = Arc<watch::Sender<Option<Marked>>>;

/// A text, and what becomes of messages that have it.
#[derive(Clone, Copy)]
pub(super) struct Marked {
    pub(super) text: &'static str,
    pub(super) fate: Fate,
}

/// How the way to the server is just now.
#[derive(Clone, Copy, Default)]
struct Weather {
    is_down: bool,
    /// How often it went down: a connection that was there before is ended, however short that was.
    downs: u64,
    is_silent: bool,
    /// How often it fell silent: of a connection that was there then nothing is ever heard again.
    silences: u64,
}

impl Weather {
    fn go_down(&mut self) {
        self.is_down = true;
        self.downs += 1;
    }
}

impl Relay {
    /// A relay before a database of PostgreSQL; nothing is between us and one of another kind.
    pub async fn before(database: &DatabaseUrl) -> Result<Option<Self>, StoreError> {
        Self::with_marks(database, Arc::new(watch::Sender::new(None))).await
    }

    /// The same, of several of which any may have the message that is marked.
    pub(super) async fn with_marks(
        database: &DatabaseUrl,
        marked: Marks,
    ) -> Result<Option<Self>, StoreError> {
        let DatabaseUrl::Postgres(url) = database else { return Ok(None) };
        let no_host = || unusable("a URL that names no host and port");
        let (scheme, rest) = url.split_once("://").ok_or_else(no_host)?;
        let (authority, name) = rest.split_once('/').ok_or_else(no_host)?;
        let (user, server) =
            authority.rsplit_once('@').map_or(("", authority), |(user, server)| (user, server));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let url = DatabaseUrl::Postgres(format!("{scheme}://{user}@{address}/{name}"));
        let way = Way {
            server: server.to_owned(),
            plan: Arc::default(),
            marked,
            held: Arc::default(),
            weather: Arc::default(),
            accepted: Arc::default(),
            ways: Arc::default(),
        };
        let Way { plan, held, weather, accepted, ways, .. } = way.clone();
        let task = tokio::spawn(take_in(listener, way));
        Ok(Some(Self { url, plan, held, weather, accepted, ways, task }))
    }

    /// The port of the relay, on this machine.
    pub(super) fn port(&self) -> Result<u16, StoreError> {
        let DatabaseUrl::Postgres(url) = &self.url else { return Err(unusable("no relay")) };
        let address = url.rsplit_once('@').and_then(|(_, rest)| rest.split_once('/'));
        let port = address.and_then(|(address, _)| address.rsplit_once(':')?.1.parse().ok());
        port.ok_or_else(|| unusable("a relay without a port"))
    }

    /// How many messages are held.
    pub(super) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Cuts the connection that sends the message of that number, and no other.
    pub fn cut(&self, cut: Cut) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
    }

    /// Ends all connections, and every new one at once, as a server does that is gone.
    pub fn go_down(&self) {
        self.weather.send_modify(Weather::go_down);
    }

    /// Takes connections in again.
    pub fn come_up(&self) {
        self.weather.send_modify(|weather| weather.is_down = false);
    }

    /// Takes connections in and never says anything, as a server does that is stopped, or whose network swallows everything. Of
    /// connections that are there by now nothing is ever heard again.
    pub fn fall_silent(&self) {
        self.weather.send_modify(|weather| {
            weather.is_silent = true;
            weather.silences += 1;
        });
    }

    /// Relays what comes by connections that are made from now on.
    pub fn speak(&self) {
        self.weather.send_modify(|weather| weather.is_silent = false);
    }

    /// How many connections were made.
    pub fn connections(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How many ways there were to the server and back, on all connections: whatever is sent before anything is answered is one,
    /// the question whether a connection is alive among them.
    pub fn ways(&self) -> u64 {
        self.ways.load(Ordering::Relaxed)
    }

    /// Cuts nothing any more. Tells whether it came to that before.
    pub fn spare(&self) -> bool {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).take().is_none()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What every connection needs to know.
#[derive(Clone)]
struct Way {
    server: String,
    plan: Arc<Mutex<Option<Cut>>>,
    marked: Marks,
    held: Arc<AtomicU64>,
    weather: Arc<watch::Sender<Weather>>,
    accepted: Arc<AtomicU64>,
    ways: Arc<AtomicU64>,
}

impl Way {
    /// The fate of a message, if there is one. What is for one message is over with it.
    fn fate_of(&self, message: &[u8]) -> Option<Fate> {
        let mut fate = None;
        self.marked.send_if_modified(|marked| {
            let has_text = |text: &str| message.windows(text.len()).any(|part| part == text.as_bytes());
            fate = marked.filter(|marked| has_text(marked.text)).map(|marked| marked.fate);
            if matches!(fate, Some(Fate::Cut | Fate::LoseAnswer | Fate::GoDown)) {
                *marked = None;
            }
            false
        });
        fate
    }

    /// What is to be cut with a message. Returns once it is not held.
    async fn meet(&self, message: &[u8]) -> Option<Cut> {
        match self.fate_of(message) {
            None => due(&self.plan),
            Some(Fate::Cut) => Some(Cut::Before(1)),
            Some(Fate::LoseAnswer) => Some(Cut::After(1)),
            Some(Fate::GoDown) => {
                self.weather.send_modify(Weather::go_down);
                Some(Cut::Before(1))
            }
            Some(Fate::Hold) => {
                self.held.fetch_add(1, Ordering::Relaxed);
                // There is somebody to let it go for as long as we are here.
                let _ = self.marked.subscribe().wait_for(Option::is_none).await;
                None
            }
        }
    }
}

async fn take_in(listener: TcpListener, way: Way) {
    while let Ok((client, _)) = listener.accept().await {
        let way = way.clone();
        way.accepted.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let (mut weather, mut silence) = (way.weather.subscribe(), way.weather.subscribe());
            let Weather { downs, silences, .. } = *weather.borrow();
            let mut relaying = pin!(connect(client, &way));
            let silent = async {
                let is_silent = |weather: &Weather| weather.is_silent || weather.silences != silences;
                let _ = silence.wait_for(is_silent).await;
            };
            let relaying = async {
                let is_over = tokio::select! {
                    biased;
                    () = silent => false,
                    _ = &mut relaying => true,
                };
                if !is_over {
                    // Both sides are held, and neither hears anything.
                    std::future::pending::<()>().await;
                }
            };
            // However a connection ends, both sides see it closed.
            tokio::select! {
                _ = weather.wait_for(|weather| weather.is_down || weather.downs != downs) => {}
                () = relaying => {}
            }
        });
    }
}

async fn connect(client: TcpStream, way: &Way) -> std::io::Result<()> {
    let server = TcpStream::connect(&way.server).await?;
    relay(client, server, way).await
}

async fn relay(mut client: TcpStream, mut server: TcpStream, way: &Way) -> std::io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut is_answered = true;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let message = &asked[..read?];
                if message.is_empty() {
                    return Ok(());
                }
                if std::mem::take(&mut is_answered) && message != GOODBYE {
                    way.ways.fetch_add(1, Ordering::Relaxed);
                }
                let cut = if message == PING || message == GOODBYE { None } else { way.meet(message).await };
                match cut {
                    None => server.write_all(message).await?,
                    Some(Cut::Before(_)) => return Ok(()),
                    Some(Cut::After(_)) => {
                        server.write_all(message).await?;
                        // Any of its answer tells that the server has done it.
                        return server.read(&mut answered).await.map(|_| ());
                    }
                }
            }
            read = server.read(&mut answered) => {
                let message = &answered[..read?];
                if message.is_empty() {
                    return Ok(());
                }
                is_answered = true;
                client.write_all(message).await?;
            }
        }
    }
}

/// Counts a message; tells the cut that is due with it.
fn due(plan: &Mutex<Option<Cut>>) -> Option<Cut> {
    let mut plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
    let (Cut::Before(left) | Cut::After(left)) = plan.as_mut()?;
    *left = left.saturating_sub(1);
    if *left == 0 { plan.take() } else { None }
}
