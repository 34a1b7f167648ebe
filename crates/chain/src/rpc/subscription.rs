//! Hearing of new blocks from nodes, without asking again and again.

use std::convert::Infallible;
use std::time::Duration;

use bourse_wire::{ChainId, Timestamp};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::http::client;
use super::socket::{Heard, Socket};
use super::urls::SocketUrl;
use crate::pace::{Pace, between};
use crate::status::{Status, SubscriptionState, Trouble};
use crate::word::Word;

/// How subscriptions are treated.
#[derive(Clone, Copy, Debug)]
pub struct SubscriptionOptions {
    /// How long a node may take to connect, and to answer.
    pub timeout: Duration,
    /// How often it is asked whether it is still there.
    pub ping: Duration,
    /// The most that it may say between two of these questions.
    pub messages_max: u32,
    /// How long to wait after a first failure; each further one doubles it.
    pub backoff_first: Duration,
    /// The longest wait.
    pub backoff_max: Duration,
}

impl Default for SubscriptionOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(20),
            ping: Duration::from_secs(15),
            messages_max: 3_000,
            backoff_first: Duration::from_millis(500),
            backoff_max: Duration::from_mins(1),
        }
    }
}

/// How often at most it is logged that a subscription ended.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Keeps a connection to one of several nodes, which tells of new blocks. What it tells is no more than a reason to ask:
/// whoever follows the chain believes none of it. So a node may tell what it likes, and costs one connection.
pub struct Subscription<P> {
    /// Which chain the nodes are to be of.
    pub chain: ChainId,
    /// Where they are, the preferred one first.
    pub urls: Vec<SocketUrl>,
    /// How they are treated.
    pub options: SubscriptionOptions,
    /// The time.
    pub pace: P,
    /// Where it is told how it goes, and which blocks are known without it.
    pub status: Status,
    /// What is told.
    pub word: watch::Sender<Word>,
    /// Draws at random.
    pub chance: fn() -> [u8; 16],
}

/// What is known of a connection while it lasts.
#[derive(Default)]
struct Listening {
    /// The height of the newest block that it told of.
    told: u64,
    /// What it said since it was last asked whether it is there.
    messages: u32,
    /// How often it was asked, and which of these questions it answered last.
    pings: u64,
    pongs: u64,
    /// A block that the follower knew when it was last asked, and it had not told of.
    untold: Option<u64>,
}

impl<P: Pace> Subscription<P> {
    /// Listens until whoever waits for this stops waiting; to the next node when one fails.
    pub async fn run(self) {
        let (mut failures, mut logged) = (0, None);
        for url in self.urls.iter().cycle() {
            let began = self.pace.now();
            let Err(reason) = self.listen(url).await;
            self.tell_alive(false);
            self.ended(url, reason, &mut logged);
            let has_lasted = between(began, self.pace.now()) >= self.options.backoff_max;
            failures = if has_lasted { 0 } else { failures + 1 };
            self.pace.sleep(self.rest(failures)).await;
        }
    }

    /// Whether one of the nodes can be subscribed to; why none can.
    pub async fn try_out(&self) -> Result<(), String> {
        let mut reasons = Vec::with_capacity(self.urls.len());
        for url in &self.urls {
            match self.open(url).await {
                Ok(_) => return Ok(()),
                Err(reason) => reasons.push(format!("{url}: {reason}")),
            }
        }
        Err(reasons.join("; "))
    }

    async fn open(&self, url: &SocketUrl) -> Result<Socket, String> {
        let timeout = self.options.timeout;
        Socket::open(&client(timeout)?, url, self.chain, (self.chance)(), timeout).await
    }

    async fn listen(&self, url: &SocketUrl) -> Result<Infallible, String> {
        let mut socket = self.open(url).await?;
        tracing::debug!(node = %url, chain = %self.chain, "a node tells of new blocks");
        self.state(url, true, None);
        // Blocks may have come before it was there.
        self.tell_alive(true);
        let mut listening = Listening::default();
        let mut ticks = tokio::time::interval(self.options.ping);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                heard = socket.next() => self.hear(heard?, &mut listening)?,
                _ = ticks.tick() => {
                    listening.check(self.status.get().head.map(|head| head.number))?;
                    listening.pings += 1;
                    socket.ping(listening.pings.to_be_bytes().to_vec()).await?;
                }
            }
        }
    }

    fn hear(&self, heard: Heard, listening: &mut Listening) -> Result<(), String> {
        listening.messages += 1;
        if listening.messages > self.options.messages_max {
            return Err(format!("it says more than {} things at a time", self.options.messages_max));
        }
        match heard {
            Heard::Head(head) => {
                listening.told = head.number;
                self.word.send_if_modified(|word| word.head.replace(head) != Some(head));
            }
            Heard::Pong(word) => {
                let number = word.try_into().map_or(listening.pongs, u64::from_be_bytes);
                listening.pongs = number.min(listening.pings);
            }
            Heard::Else => {}
        }
        Ok(())
    }

    fn tell_alive(&self, is_alive: bool) {
        self.word.send_if_modified(|word| std::mem::replace(&mut word.is_alive, is_alive) != is_alive);
    }

    /// How long to wait after so many failures: not all servers are to come back at the same instant.
    fn rest(&self, failures: u32) -> Duration {
        let doubled = self.options.backoff_first.saturating_mul(1 << failures.min(16));
        let [dice, ..] = (self.chance)();
        doubled.min(self.options.backoff_max).mul_f64(0.5 + f64::from(dice) / 512.0)
    }

    fn ended(&self, url: &SocketUrl, reason: String, logged: &mut Option<Timestamp>) {
        let now = self.pace.now();
        if logged.is_none_or(|at| between(at, now) >= LOG_INTERVAL) {
            *logged = Some(now);
            tracing::warn!(
                node = %url, chain = %self.chain, reason,
                "a node does not tell of new blocks; nodes are asked for them until one does"
            );
        }
        self.state(url, false, Some(Trouble { at: now, message: reason }));
    }

    fn state(&self, url: &SocketUrl, is_alive: bool, trouble: Option<Trouble>) {
        self.status.set(|snapshot| {
            let trouble = trouble.or_else(|| snapshot.subscription.take()?.trouble);
            snapshot.subscription = Some(SubscriptionState { node: url.to_string(), is_alive, trouble });
        });
    }
}

impl Listening {
    /// Whether it still does what it is there for, when so much of the chain is known without it.
    fn check(&mut self, known: Option<u64>) -> Result<(), String> {
        if self.pongs < self.pings {
            return Err("it does not answer any more".to_owned());
        }
        if let Some(untold) = self.untold.filter(|untold| self.told < *untold) {
            return Err(format!("it does not tell of new blocks: others have block {untold}"));
        }
        self.untold = known.filter(|known| *known > self.told);
        self.messages = 0;
        Ok(())
    }
}
