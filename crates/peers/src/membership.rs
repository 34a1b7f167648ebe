//! Who is alive: a server is for as long as its counter in the database is seen to move.
//!
//! Clocks of machines are never compared. Each server measures by its own how long it has seen a counter stand still, and
//! only while it could look: whoever cannot reach the database learns nothing of others, and so takes nobody for dead.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::server::{Build, PeerState, Server, ServerId, Trouble};

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
    /// What it runs.
    pub build: Build,
}

struct Known {
    address: Arc<str>,
    build: Build,
    beat: u64,
    /// When it was first seen, in time that was witnessed.
    first: Duration,
    /// When the counter was last seen to move, in time that was witnessed.
    moved: Duration,
    /// Times in a row that it could not be reached.
    failures: u32,
    /// The beat from which on it is tried again.
    tried_from: u64,
}

/// What one server knows of the others.
pub struct Membership {
    me: Server,
    build: Build,
    known: BTreeMap<ServerId, Known>,
    /// For how long the others were watched: the time between looks, as far as looks followed on each other.
    witnessed: Duration,
    looked: Option<Duration>,
}

impl Membership {
    /// A server that knows of nobody else yet.
    pub fn of(me: Server, build: Build) -> Self {
        Self { me, build, known: BTreeMap::new(), witnessed: Duration::ZERO, looked: None }
    }

    /// Takes over what a look at the database showed, at an instant since this process began. Whoever is new is alive: asking
    /// a server that is not costs a connection that is refused, and not asking one that is loads what it holds.
    pub fn observe(&mut self, rows: Vec<Sighting>, at: Duration) {
        let passed = self.looked.map_or(Duration::ZERO, |looked| at.saturating_sub(looked));
        self.looked = Some(at);
        self.witnessed += passed.min(BEAT_INTERVAL);
        let mut before = std::mem::take(&mut self.known);
        for Sighting { server: Server { id, address }, beat, build } in rows {
            if id == self.me.id {
                continue;
            }
            let now = self.witnessed;
            let fresh = || Known { address, build, beat, first: now, moved: now, failures: 0, tried_from: 0 };
            let mut known = before.remove(&id).unwrap_or_else(fresh);
            if known.beat != beat {
                (known.beat, known.moved) = (beat, now);
            }
            self.known.insert(id, known);
        }
    }

    /// Those who are alive and answer as this one does, in the order of their ids.
    pub fn alive(&self) -> Vec<Server> {
        let is_asked = |known: &Known| {
            self.is_alive(known)
                && !self.is_succeeded(known)
                && self.build.trouble_with(&known.build).is_none()
                && known.address != self.me.address
        };
        let alive = self.known.iter().filter(|(_, known)| is_asked(known));
        alive.map(|(id, known)| known.server(*id)).collect()
    }

    /// What is known of each, at an instant since this process began. Whoever was succeeded by another is left out.
    pub fn states(&self, at: Duration) -> Vec<PeerState> {
        let since = self.looked.map_or(Duration::ZERO, |looked| at.saturating_sub(looked));
        let there = self.known.iter().filter(|(_, known)| !self.is_succeeded(known));
        let state = |(id, known): (&ServerId, &Known)| PeerState {
            server: known.server(*id),
            version: known.build.version.clone(),
            seen: self.witnessed.saturating_sub(known.moved) + since,
            trouble: self.trouble_with(known),
        };
        there.map(state).collect()
    }

    fn trouble_with(&self, known: &Known) -> Option<Trouble> {
        if !self.is_alive(known) {
            Some(Trouble::Silent)
        } else if self.has_twin(known) {
            Some(Trouble::SameAddress)
        } else {
            let is_left_out = known.beat < known.tried_from;
            self.build.trouble_with(&known.build).or(is_left_out.then_some(Trouble::Unreachable))
        }
    }

    fn is_alive(&self, known: &Known) -> bool {
        self.witnessed.saturating_sub(known.moved) <= SILENCE_MAX
    }

    /// Others at the address of a server.
    fn beside<'m>(&'m self, known: &'m Known) -> impl Iterator<Item = &'m Known> {
        let others = self.known.values().filter(|other| !std::ptr::eq(*other, known));
        others.filter(|other| other.address == known.address)
    }

    /// Whether another server came to its address, and it is not seen to move any more: it was killed and started again.
    fn is_succeeded(&self, known: &Known) -> bool {
        let is_here = known.address == self.me.address;
        !self.has_twin(known) && (is_here || self.beside(known).any(|other| other.moved > known.moved))
    }

    /// Whether two servers say that this is their address: both were seen to move after the other had been seen.
    fn has_twin(&self, known: &Known) -> bool {
        let moved_beside = |other: &Known| known.moved > other.first && other.moved > known.first;
        let is_mine = known.address == self.me.address && known.moved > known.first;
        self.is_alive(known)
            && (is_mine || self.beside(known).any(|other| self.is_alive(other) && moved_beside(other)))
    }

    /// The counter of a server when it was last seen.
    pub fn beat_of(&self, id: ServerId) -> Option<u64> {
        self.known.get(&id).map(|known| known.beat)
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

impl Known {
    fn server(&self, id: ServerId) -> Server {
        Server { id, address: Arc::clone(&self.address) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn build() -> Build {
        Build::read("1.0.0/23/abcd")
    }

    fn server(id: u64, host: u64) -> Server {
        Server { id: ServerId(id), address: format!("host-{host}:1").into() }
    }

    /// What a server knows that is none of those that are looked at.
    fn nobody() -> Membership {
        Membership::of(server(99, 99), build())
    }

    fn row(id: u64, beat: u64) -> Sighting {
        Sighting { server: server(id, id), beat, build: build() }
    }

    fn at_host(host: u64, row: Sighting) -> Sighting {
        Sighting { server: server(row.server.id.0, host), ..row }
    }

    /// What is wrong with those that are known.
    fn troubles(membership: &Membership, at: u64) -> Vec<(u64, Option<Trouble>)> {
        let states = membership.states(seconds(at)).into_iter();
        states.map(|state| (state.server.id.0, state.trouble)).collect()
    }

    fn alive(membership: &Membership) -> Vec<u64> {
        membership.alive().into_iter().map(|server| server.id.0).collect()
    }

    #[test]
    fn whoever_stands_still_for_three_seconds_is_dead_until_it_moves_again() {
        let mut all = nobody();
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
        let mut all = nobody();
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
        let mut all = nobody();
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
        let mut all = nobody();
        for second in 0..=300 {
            all.observe(vec![row(1, second), row(2, 7)], seconds(second));
        }
        assert_eq!(all.gone(), []);
        all.observe(vec![row(1, 301), row(2, 7)], seconds(301));
        assert_eq!(all.gone(), [(ServerId(2), 7)]);
    }

    #[test]
    fn whoever_is_started_again_at_its_address_is_asked_at_once_and_its_predecessor_no_more() {
        let mut all = nobody();
        all.observe(vec![row(1, 7)], seconds(0));
        // It beat once more before it was killed and started again.
        all.observe(vec![row(1, 8), at_host(1, row(2, 1))], seconds(1));
        assert_eq!(alive(&all), [1, 2], "nobody can tell yet who of them it is");
        all.observe(vec![row(1, 8), at_host(1, row(2, 2))], seconds(2));
        assert_eq!((alive(&all), troubles(&all, 2)), (vec![2], vec![(2, None)]));
        // This server too had been killed.
        all.observe(vec![at_host(99, row(3, 5))], seconds(3));
        assert_eq!((alive(&all), troubles(&all, 3)), (vec![], vec![]));
    }

    #[test]
    fn two_that_say_the_same_address_are_told_apart_from_one_that_was_started_again() {
        let mut all = nobody();
        for second in 0..3 {
            all.observe(vec![row(1, second), at_host(1, row(2, second)), row(3, second)], seconds(second));
        }
        let same = Some(Trouble::SameAddress);
        assert_eq!(troubles(&all, 2), [(1, same), (2, same), (3, None)]);
        // One that says that it is where this server is.
        for second in 3..5 {
            all.observe(vec![row(3, second), at_host(99, row(4, second))], seconds(second));
        }
        assert_eq!((alive(&all), troubles(&all, 4)), (vec![3], vec![(3, None), (4, same)]));
    }

    #[test]
    fn whoever_answers_otherwise_is_not_asked_and_is_told_why() {
        let mut all = nobody();
        let run = |id, text| Sighting { build: Build::read(text), ..row(id, 1) };
        let rows = vec![
            run(1, "1.0.0/23/abcd"),
            run(2, "1.0.1/23/abcd"),
            run(3, "1.0.0/22/abcd"),
            run(4, "1.0.0/23/dcba"),
            // A program that told its version only.
            run(5, "1.0.0"),
        ];
        all.observe(rows, seconds(0));
        assert_eq!(alive(&all), [1]);
        let expected = [
            (1, None),
            (2, Some(Trouble::OtherVersion)),
            (3, Some(Trouble::OtherSchema)),
            (4, Some(Trouble::OtherSecret)),
            (5, Some(Trouble::OtherSchema)),
        ];
        assert_eq!(troubles(&all, 0), expected);
        all.note_unreachable(ServerId(1));
        assert_eq!(troubles(&all, 0)[0], (1, Some(Trouble::Unreachable)));
    }

    #[test]
    fn it_is_told_when_each_was_last_seen() {
        let mut all = nobody();
        for second in 0..=9 {
            all.observe(vec![row(1, second), row(2, second.min(4))], seconds(second));
        }
        let seen: Vec<u64> = all.states(seconds(11)).iter().map(|state| state.seen.as_secs()).collect();
        assert_eq!(seen, [2, 7]);
        assert_eq!(troubles(&all, 11), [(1, None), (2, Some(Trouble::Silent))]);
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
            let mut all = nobody();
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
