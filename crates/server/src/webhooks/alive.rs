//! Which servers deliver: one does for as long as its counter is seen to move. Clocks of machines are never compared; how long a
//! counter stood still counts only while it could be looked at.

use std::collections::BTreeMap;
use std::time::Duration;

use bourse_store::DeliveringServer;

/// How often a server raises its counter and looks at those of others.
pub(super) const BEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How long a counter may stand still.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// What is known of the servers that deliver.
#[derive(Default)]
pub(super) struct Alive {
    /// The counter of each, and when it was last seen to move, in time that was witnessed.
    known: BTreeMap<String, (u64, Duration)>,
    witnessed: Duration,
    looked: Option<Duration>,
}

impl Alive {
    /// Takes over what a look showed, at an instant since this process began; tells whether others deliver than before.
    pub(super) fn observe(&mut self, servers: Vec<DeliveringServer>, at: Duration) -> bool {
        let passed = self.looked.map_or(Duration::ZERO, |looked| at.saturating_sub(looked));
        self.looked = Some(at);
        self.witnessed += passed.min(BEAT_INTERVAL);
        let before = std::mem::take(&mut self.known);
        for DeliveringServer { name, beat } in servers {
            let seen = before.get(&name).copied().filter(|(known, _)| *known == beat);
            self.known.insert(name, seen.unwrap_or((beat, self.witnessed)));
        }
        !before.keys().eq(self.known.keys())
    }

    /// Those whose counters stood still for too long, as they stand.
    pub(super) fn gone(&self) -> Vec<DeliveringServer> {
        let is_gone = |moved: Duration| self.witnessed.saturating_sub(moved) > SILENCE_MAX;
        let gone = self.known.iter().filter(|(_, (_, moved))| is_gone(*moved));
        gone.map(|(name, (beat, _))| DeliveringServer { name: name.clone(), beat: *beat }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, beat: u64) -> DeliveringServer {
        DeliveringServer { name: name.to_owned(), beat }
    }

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn who_stands_still_is_gone_and_who_moves_is_not() {
        let mut alive = Alive::default();
        assert!(alive.observe(vec![server("a", 1), server("b", 1)], at(0)));
        for second in 1..=5 {
            assert!(!alive.observe(vec![server("a", 1), server("b", second)], at(second)));
            assert_eq!(alive.gone(), []);
        }
        alive.observe(vec![server("a", 1), server("b", 6)], at(6));
        assert_eq!(alive.gone(), [server("a", 1)]);
        alive.observe(vec![server("a", 2), server("b", 6)], at(7));
        assert_eq!(alive.gone(), []);
        assert!(alive.observe(vec![server("b", 7)], at(8)));
    }

    #[test]
    fn time_in_which_nobody_looked_does_not_count() {
        let mut alive = Alive::default();
        alive.observe(vec![server("a", 1)], at(0));
        alive.observe(vec![server("a", 1)], at(3_600));
        assert_eq!(alive.gone(), []);
    }
}
