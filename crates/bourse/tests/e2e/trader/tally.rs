//! What became of everything that happened.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Instant;

use super::deed::{Deed, Outcome};

/// So many of the last things are shown when a test fails.
const SHOWN: usize = 40;
/// How far a run is it tells after so many operations.
const TOLD_INTERVAL: usize = 100;

pub(super) struct Tally {
    what: &'static str,
    started: Instant,
    deeds: usize,
    /// Steps that were carried out.
    pub(super) steps: usize,
    /// Orders that were compared, each time anew.
    pub(super) looks: usize,
    done: usize,
    late: usize,
    nothing: usize,
    refused: BTreeMap<String, usize>,
    last: VecDeque<String>,
}

impl Tally {
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            started: Instant::now(),
            deeds: 0,
            steps: 0,
            looks: 0,
            done: 0,
            late: 0,
            nothing: 0,
            refused: BTreeMap::new(),
            last: VecDeque::new(),
        }
    }

    /// Something is about to happen.
    pub(super) fn begin(&mut self, deed: &Deed) {
        self.deeds += 1;
        if self.last.len() == SHOWN {
            self.last.pop_front();
        }
        self.last.push_back(format!("{}: {deed:?}", self.deeds));
    }

    /// What became of it.
    pub(super) fn end(&mut self, outcome: Outcome) {
        if let Some(last) = self.last.back_mut() {
            *last = format!("{last} -> {outcome:?}");
        }
        match outcome {
            Outcome::Done => self.done += 1,
            Outcome::Late => self.late += 1,
            Outcome::Nothing => self.nothing += 1,
            Outcome::Refused(why) => *self.refused.entry(without_values(&why)).or_default() += 1,
        }
        if self.deeds.is_multiple_of(TOLD_INTERVAL) {
            println!("{}", self.so_far());
        }
    }

    /// How far it is, in one line. A step that reverts ends the run, so that none has until then.
    fn so_far(&self) -> String {
        let Self { what, started, deeds, steps, looks, done, late, nothing, refused, .. } = self;
        let seconds = started.elapsed().as_secs();
        let refusals: usize = refused.values().sum();
        format!(
            "{what}: {deeds} operations in {seconds} s: {done} done, {refusals} refused, {late} too late, {nothing} nothing; \
             {steps} steps carried out, none reverted; {looks} orders compared"
        )
    }
}

/// A sentence without its names and numbers, so that the same reason is counted once.
fn without_values(text: &str) -> String {
    let is_value = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
    let words = text.split(' ').map(|word| if is_value(&word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Tally {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(to, "{}", self.so_far())?;
        self.refused.iter().try_for_each(|(why, count)| writeln!(to, "  refused {count} times: {why}"))
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}, of which the last:", self.what);
            self.last.iter().for_each(|deed| println!("  {deed}"));
        }
    }
}
