//! Whether the database can be reached, as a state that is told what happens and when. It asks nobody, and no clock.
//!
//! ```text
//!            something fails, or nobody hears anything for a while
//!   closed ─────────────────────────────────────────────────────────▶ closed, probing
//!     ▲  ▲                      the probe is answered                        │
//!     │  └───────────────────────────────────────────────────────────────────┤
//!     │ a probe is answered                                                  │ it is not
//!     └───────────────────── open, probing ◀──── a pause ────▶ open ◀────────┘
//! ```
//!
//! A probe decides, and nothing else: a statement that is refused, that takes long, or whose connection is cut has the
//! database asked whether it is there, and says nothing of that by itself.

use std::time::Duration;

/// How often people are told that the database is still away.
const TELL_INTERVAL: Duration = Duration::from_mins(1);

/// Why somebody doubts that the database is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// They have waited for a while.
    Silence,
    /// What they asked for failed on its way, or because of the server.
    Failure,
}

/// What the answer to a probe, or that there was none, makes of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The database is there, as it was before.
    Here,
    /// It is away from now on.
    Gone,
    /// It is still away. People are told so from time to time.
    StillGone {
        /// For how long it has been, when it is time to tell.
        tell: Option<Duration>,
    },
    /// It is there again.
    Back {
        /// For how long nobody heard of it.
        after: Duration,
    },
}

/// The state. All times are how much has passed since some moment.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// How long nobody needs to have heard of the database before it is doubted.
    patience: Duration,
    /// When the database last answered somebody.
    heard_at: Duration,
    /// When the probe under way began.
    probing_since: Option<Duration>,
    open: Option<Open>,
}

/// The database is away.
#[derive(Debug)]
struct Open {
    /// When people were told.
    told_at: Duration,
}

impl Breaker {
    pub(crate) fn new(patience: Duration, now: Duration) -> Self {
        Self { patience, heard_at: now, probing_since: None, open: None }
    }

    /// For how long nobody has heard of the database, when it is away.
    pub(crate) fn away_for(&self, now: Duration) -> Option<Duration> {
        self.open.as_ref().map(|_| now.saturating_sub(self.heard_at))
    }

    /// Notes that the database answered somebody. While it is away only a probe's answer counts: what others hear was said
    /// before.
    pub(crate) fn hear(&mut self, now: Duration) {
        if self.open.is_none() {
            self.heard_at = self.heard_at.max(now);
        }
    }

    /// Notes that somebody doubts; whether they begin a probe. There is one at a time, and while the database is away
    /// whoever began the first goes on.
    pub(crate) fn doubt(&mut self, doubt: Doubt, now: Duration) -> bool {
        let is_silent = now.saturating_sub(self.heard_at) >= self.patience;
        let is_due = self.open.is_none() && (doubt == Doubt::Failure || is_silent);
        let begins = is_due && self.probing_since.is_none();
        if begins {
            self.probing_since = Some(now);
        }
        begins
    }

    /// Begins the next probe of a database that is away.
    pub(crate) fn probe_again(&mut self, now: Duration) {
        self.probing_since = Some(now);
    }

    /// Ends the probe under way, which was answered or was not.
    pub(crate) fn probed(&mut self, is_answered: bool, now: Duration) -> Verdict {
        let began = self.probing_since.take().unwrap_or(now);
        match (&mut self.open, is_answered) {
            // Others were answered meanwhile, so that it was the probe's own trouble.
            (None, false) if self.heard_at > began => Verdict::Here,
            (None, false) => {
                self.open = Some(Open { told_at: now });
                Verdict::Gone
            }
            (None, true) => {
                self.heard_at = now;
                Verdict::Here
            }
            (Some(open), false) => {
                let is_due = now.saturating_sub(open.told_at) >= TELL_INTERVAL;
                if is_due {
                    open.told_at = now;
                }
                Verdict::StillGone { tell: is_due.then(|| now.saturating_sub(self.heard_at)) }
            }
            (Some(_), true) => {
                let after = now.saturating_sub(self.heard_at);
                (self.open, self.heard_at) = (None, now);
                Verdict::Back { after }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    const fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A database that was heard of at the beginning.
    fn closed() -> Breaker {
        Breaker::new(PATIENCE, Duration::ZERO)
    }

    /// One that is away since a second after that.
    fn open() -> Breaker {
        let mut breaker = closed();
        assert!(breaker.doubt(Doubt::Failure, at(900)));
        assert_eq!(breaker.probed(false, at(1_000)), Verdict::Gone);
        breaker
    }

    #[test]
    fn a_probe_that_nobody_answers_opens_it_and_one_that_is_answered_does_not() {
        let mut breaker = closed();
        assert!(breaker.doubt(Doubt::Failure, at(10)));
        assert_eq!(breaker.away_for(at(10)), None, "doubt alone refuses nobody");
        assert_eq!(breaker.probed(true, at(20)), Verdict::Here);
        assert_eq!(breaker.away_for(at(20)), None);
        assert!(breaker.doubt(Doubt::Failure, at(30)));
        assert_eq!(breaker.probed(false, at(40)), Verdict::Gone);
        assert_eq!(breaker.away_for(at(520)), Some(at(500)), "since it was last heard of");
    }

    #[test]
    fn silence_is_doubted_only_once_nobody_has_heard_anything_for_a_while() {
        let mut breaker = closed();
        assert!(!breaker.doubt(Doubt::Silence, at(999)));
        breaker.hear(at(999));
        assert!(!breaker.doubt(Doubt::Silence, at(1_998)), "one slow statement among others");
        assert!(breaker.doubt(Doubt::Silence, at(1_999)));
        assert_eq!(breaker.probed(true, at(2_050)), Verdict::Here, "a slow statement alone");
        assert!(!breaker.doubt(Doubt::Silence, at(3_049)));
    }

    #[test]
    fn there_is_one_probe_at_a_time() {
        let mut breaker = closed();
        let began: Vec<bool> = (0..3).map(|ms| breaker.doubt(Doubt::Failure, at(ms))).collect();
        assert_eq!(began, [true, false, false]);
        assert_eq!(breaker.probed(false, at(5)), Verdict::Gone);
        assert!(!breaker.doubt(Doubt::Failure, at(6)), "whoever probes goes on");
        breaker.probe_again(at(7));
        assert!(!breaker.doubt(Doubt::Silence, at(9_000)));
    }

    #[test]
    fn a_probe_that_fails_while_others_are_answered_opens_nothing() {
        let mut breaker = closed();
        assert!(breaker.doubt(Doubt::Failure, at(10)));
        breaker.hear(at(11));
        assert_eq!(breaker.probed(false, at(500)), Verdict::Here);
        assert_eq!(breaker.away_for(at(500)), None);
    }

    #[test]
    fn it_closes_with_the_first_probe_that_is_answered() {
        let mut breaker = open();
        breaker.hear(at(1_100));
        assert_eq!(breaker.away_for(at(1_100)), Some(at(1_100)), "an answer of before says nothing");
        breaker.probe_again(at(1_250));
        assert_eq!(breaker.probed(false, at(2_250)), Verdict::StillGone { tell: None });
        breaker.probe_again(at(2_500));
        assert_eq!(breaker.probed(true, at(2_600)), Verdict::Back { after: at(2_600) });
        assert_eq!(breaker.away_for(at(2_600)), None);
        assert!(!breaker.doubt(Doubt::Silence, at(3_599)), "it has just been heard of");
    }

    #[test]
    fn people_are_told_once_a_minute() {
        let mut breaker = open();
        let mut told = Vec::new();
        for second in 2..200 {
            breaker.probe_again(at(second * 1_000));
            if let Verdict::StillGone { tell: Some(away) } = breaker.probed(false, at(second * 1_000)) {
                told.push(away.as_secs());
            }
        }
        assert_eq!(told, [61, 121, 181]);
    }
}
