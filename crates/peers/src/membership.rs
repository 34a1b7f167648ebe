//! Who is alive: a server is for as long as its counter in the database is seen to move.
//!
//! Clocks of machines are never compared. Each server measures by its own how long it has seen a counter stand still, and
//! only while it could look: whoever cannot reach the database learns nothing of others, and so takes nobody for dead.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::server::{Server, ServerId};

/// How often a server raises its counter and looks at those of others.
pub const BEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How long a counter may stand still before its server counts as dead: two beats may come late.
pub const SILENCE_MAX: Duration = Duration::from_secs(3);
/// How long the row of a dead server is kept. Nobody needs it, but whoever looks at the database may want to know.
const FORGET_AFTER: Duration = Duration::from_mins(5);
/// Beats for which a server is left out at most that is alive but cannot be reached from here.
const BEATS_LEFT_OUT_MAX: u64 = 64;

/// The row of a server as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Whose it is.
    pub server: Server,
    /// Its counter.
    pub beat: u64,
}

struct Known {
    address: Arc<str>,
    beat: u64,
    /// When the counter was last seen to move, in time that was witnessed.
    moved: Duration,
    /// Times in a row that it could not be reached.
    failures: u32,
    /// The beat from which on it is tried again.
    tried_from: u64,
}

/// What one server knows of the others.
#[derive(Default)]
pub struct Membership {
    known: BTreeMap<ServerId, Known>,
    /// For how long the others were watched: the time between looks, as far as looks followed on each other.
    witnessed: Duration,
    looked: Option<Duration>,
}

impl Membership {
    /// Takes over what a look at the database showed, at an instant since this process began. Whoever is new is alive: asking
    /// a server that is not costs a connection that is refused, and not asking one that is loads what it holds.
    pub fn observe(&mut self, rows: Vec<Sighting>, at: Duration) {
        let passed = self.looked.map_or(Duration::ZERO, |looked| at.saturating_sub(looked));
        self.looked = Some(at);
        self.witnessed += passed.min(BEAT_INTERVAL);
        let mut before = std::mem::take(&mut self.known);
        for Sighting { server, beat } in rows {
            let fresh = Known {
                address: Arc::clone(&server.address),
                beat,
                moved: self.witnessed,
                failures: 0,
                tried_from: 0,
            };
            let known = match before.remove(&server.id) {
                Some(known) if known.beat == beat => known,
                Some(known) => Known { failures: known.failures, tried_from: known.tried_from, ..fresh },
                None => fresh,
            };
            self.known.insert(server.id, known);
        }
    }

    /// Those who are alive, in the order of their ids.
    pub fn alive(&self) -> Vec<Server> {
        let is_alive = |known: &Known| self.witnessed.saturating_sub(known.moved) <= SILENCE_MAX;
        let alive = self.known.iter().filter(|(_, known)| is_alive(known));
        alive.map(|(id, known)| Server { id: *id, address: Arc::clone(&known.address) }).collect()
    }

    /// Whether a server is left out for now, since it could not be reached.
    pub fn is_left_out(&self, id: ServerId) -> bool {
        self.known.get(&id).is_some_and(|known| known.beat < known.tried_from)
    }

    /// Notes that a server could not be reached: it is left out until its next beat, and longer each time that this goes on,
    /// as somebody waits whenever it is tried.
    pub fn note_unreachable(&mut self, id: ServerId) {
        let Some(known) = self.known.get_mut(&id) else { return };
        // Whoever had asked it at the same time says nothing new.
        if known.beat < known.tried_from {
            return;
        }
        let beats = 1_u64
            .checked_shl(known.failures)
            .map_or(BEATS_LEFT_OUT_MAX, |beats| beats.min(BEATS_LEFT_OUT_MAX));
        known.failures = known.failures.saturating_add(1);
        known.tried_from = known.beat.saturating_add(beats);
    }

    /// Notes that a server answered.
    pub fn note_answer(&mut self, id: ServerId) {
        if let Some(known) = self.known.get_mut(&id) {
            (known.failures, known.tried_from) = (0, 0);
        }
    }

    /// The rows of servers that have been dead for long, with the counters at which they stood still.
    pub fn gone(&self) -> Vec<(ServerId, u64)> {
        let is_gone = |known: &Known| self.witnessed.saturating_sub(known.moved) > FORGET_AFTER;
        self.known.iter().filter(|(_, known)| is_gone(known)).map(|(id, known)| (*id, known.beat)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn row(id: u64, beat: u64) -> Sighting {
        Sighting { server: Server { id: ServerId(id), address: format!("host-{id}:1").into() }, beat }
    }

    fn alive(membership: &Membership) -> Vec<u64> {
        membership.alive().into_iter().map(|server| server.id.0).collect()
    }

    #[test]
    fn whoever_stands_still_for_three_seconds_is_dead_until_it_moves_again() {
        let mut all = Membership::default();
        for second in 0..4 {
            all.observe(vec![row(1, second), row(2, 7)], seconds(second));
            assert_eq!(alive(&all), [1, 2], "after {second} s");
        }
        all.observe(vec![row(1, 4), row(2, 7)], seconds(4));
        assert_eq!(alive(&all), [1]);
        all.observe(vec![row(1, 5), row(2, 8)], seconds(5));
        assert_eq!(alive(&all), [1, 2]);
        all.observe(vec![row(2, 9)], seconds(6));
        assert_eq!(alive(&all), [2], "whoever leaves is gone at once");
    }

    #[test]
    fn while_nobody_can_look_nobody_dies() {
        let mut all = Membership::default();
        all.observe(vec![row(1, 1), row(2, 1)], seconds(0));
        // The database was away for an hour: nobody could beat.
        all.observe(vec![row(1, 1), row(2, 1)], seconds(3_600));
        assert_eq!(alive(&all), [1, 2]);
        for second in 1..=3 {
            all.observe(vec![row(1, 1 + second), row(2, 1)], seconds(3_600 + second));
        }
        assert_eq!(alive(&all), [1], "one of them did not come back");
    }

    #[test]
    fn whoever_cannot_be_reached_is_left_out_until_its_next_beat_and_then_longer_and_longer() {
        let mut all = Membership::default();
        let mut beat = 10;
        all.observe(vec![row(1, beat)], seconds(beat));
        for left_out in [1, 2, 4, 8, 16, 32, 64, 64, 64] {
            all.note_unreachable(ServerId(1));
            // Those who asked at the same time change nothing.
            all.note_unreachable(ServerId(1));
            for _ in 0..left_out {
                assert!(all.is_left_out(ServerId(1)), "at beat {beat}");
                beat += 1;
                all.observe(vec![row(1, beat)], seconds(beat));
            }
            assert!(!all.is_left_out(ServerId(1)), "at beat {beat}");
        }
        all.note_answer(ServerId(1));
        all.note_unreachable(ServerId(1));
        all.observe(vec![row(1, beat + 1)], seconds(beat + 1));
        assert!(!all.is_left_out(ServerId(1)), "it had answered");
        assert_eq!(alive(&all), [1], "whoever is left out is alive all the same");
    }

    #[test]
    fn rows_of_the_dead_are_told_after_minutes_with_their_counters() {
        let mut all = Membership::default();
        for second in 0..=300 {
            all.observe(vec![row(1, second), row(2, 7)], seconds(second));
        }
        assert_eq!(all.gone(), []);
        all.observe(vec![row(1, 301), row(2, 7)], seconds(301));
        assert_eq!(all.gone(), [(ServerId(2), 7)]);
    }

    /// What happens between two looks.
    #[derive(Clone, Debug)]
    struct Round {
        /// How long it takes, in tenths of a second.
        tenths: u64,
        /// Whose counter moves.
        beats: [bool; 3],
        /// Whose row is there.
        rows: [bool; 3],
    }

    fn rounds() -> impl Strategy<Value = Vec<Round>> {
        let round = (0_u64..80, any::<[bool; 3]>(), prop::array::uniform3(prop::bool::weighted(0.9)));
        prop::collection::vec(round.prop_map(|(tenths, beats, rows)| Round { tenths, beats, rows }), 1..40)
    }

    proptest! {
        /// Against a model that keeps everything that was ever seen, and adds it up each time.
        #[test]
        fn the_living_are_those_who_moved_within_three_seconds_of_looking(rounds in rounds()) {
            let mut all = Membership::default();
            let (mut at, mut counters) = (Duration::ZERO, [0_u64; 3]);
            let mut history: Vec<(Duration, [Option<u64>; 3])> = Vec::new();
            for Round { tenths, beats, rows } in rounds {
                let passed = Duration::from_millis(tenths * 100);
                at += passed;
                for (counter, beats) in counters.iter_mut().zip(beats) {
                    *counter += u64::from(beats);
                }
                let seen: [Option<u64>; 3] = std::array::from_fn(|id| rows[id].then_some(counters[id]));
                let sightings = (0..3).filter_map(|id| Some(row(id as u64, seen[id]?)));
                all.observe(sightings.collect(), at);
                history.push((passed.min(BEAT_INTERVAL), seen));
                let expected: Vec<u64> = (0..3).filter(|id| model_is_alive(&history, *id)).map(|id| id as u64).collect();
                prop_assert_eq!(alive(&all), expected);
            }
        }
    }

    /// Goes back from the last look to the first of those in a row that showed the same counter.
    fn model_is_alive(history: &[(Duration, [Option<u64>; 3])], id: usize) -> bool {
        let Some(now) = history.last().and_then(|(_, seen)| seen[id]) else { return false };
        let mut still = Duration::ZERO;
        for pair in history.windows(2).rev() {
            if pair[0].1[id] != Some(now) {
                break;
            }
            still += pair[1].0;
        }
        still <= SILENCE_MAX
    }
}
