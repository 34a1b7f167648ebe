//! What lines and bars are made of: the letters of paths.

use std::fmt::{self, Write as _};

use super::draw::{BOTTOM, TOP};
use super::scale::Scale;
use super::{Amount, Plot};

/// A length in the box, in tenths of a unit: that is finer than any screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Length(i64);

impl Length {
    #[expect(clippy::cast_possible_truncation, reason = "the box has a few hundred units")]
    pub(super) fn of(units: f64) -> Self {
        Self((units * 10.0).round() as i64)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 10, self.0 % 10) {
            (units, 0) => write!(formatter, "{units}"),
            (units, tenths) => write!(formatter, "{units}.{tenths}"),
        }
    }
}

/// A path, and what of it belongs to a period that is not over.
#[derive(Default)]
pub(super) struct Path {
    pub(super) done: String,
    pub(super) open: String,
}

/// The height of a part of the scale, in the box.
pub(super) fn y(part: f64) -> f64 {
    BOTTOM - part * (BOTTOM - TOP)
}

/// Adds to a path.
macro_rules! add {
    ($path:expr, $($part:tt)*) => {
        // Writing to a text cannot fail.
        let _ = write!($path, $($part)*);
    };
}

/// A dot of a line.
#[derive(Clone, Copy)]
struct Dot {
    slot: usize,
    x: Length,
    y: Length,
}

impl Plot {
    /// The dots of a series, a list for each run of periods without a gap.
    fn runs(&self, values: &[Option<Amount>], scale: Scale) -> Vec<Vec<Dot>> {
        let mut runs: Vec<Vec<Dot>> = Vec::new();
        for (slot, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            let x = Length::of(self.timeline.x(slot));
            let dot = Dot { slot, x, y: Length::of(y(scale.part(value.height()))) };
            match runs.last_mut() {
                Some(run) if run.last().is_some_and(|last| last.slot + 1 == slot) => run.push(dot),
                _ => runs.push(vec![dot]),
            }
        }
        runs
    }

    /// The line of a series, interrupted at gaps. A value between two gaps is a line of no length, which its round ends
    /// make a dot.
    pub(super) fn line(&self, values: &[Option<Amount>], scale: Scale) -> Path {
        let mut path = Path::default();
        for run in self.runs(values, scale) {
            let is_open = |dot: &Dot| self.is_open && dot.slot + 1 == self.timeline.len();
            let done =
                if run.last().is_some_and(is_open) && run.len() > 1 { run.len() - 1 } else { run.len() };
            follow(&mut path.done, &run[..done]);
            if done < run.len() {
                follow(&mut path.open, &run[done - 1..]);
            }
        }
        path
    }

    /// What is below the line of a series.
    pub(super) fn area(&self, values: &[Option<Amount>], scale: Scale) -> String {
        let mut path = String::new();
        for run in self.runs(values, scale).iter().filter(|run| run.len() > 1) {
            follow(&mut path, run);
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                add!(path, "L{} {}H{}Z", last.x, Length::of(BOTTOM), first.x);
            }
        }
        path
    }

    /// A dot at each value of a series.
    pub(super) fn dots(&self, values: &[Option<Amount>], scale: Scale) -> String {
        let mut path = String::new();
        for dot in self.runs(values, scale).concat() {
            add!(path, "M{} {}h0", dot.x, dot.y);
        }
        path
    }

    /// The bars of each series: strokes as wide as a bar, each beginning where the one below it ends.
    pub(super) fn bars(&self, scale: Scale) -> Vec<Path> {
        let mut grounds = vec![0.0; self.timeline.len()];
        let mut bars_of = |values: &[Option<Amount>]| {
            let mut path = Path::default();
            for (slot, value) in values.iter().enumerate() {
                let height = value.map_or(0.0, Amount::height);
                let (from, to) = (scale.part(grounds[slot]), scale.part(grounds[slot] + height));
                grounds[slot] += height;
                if to > from {
                    let is_open = self.is_open && slot + 1 == self.timeline.len();
                    let part = if is_open { &mut path.open } else { &mut path.done };
                    add!(
                        part,
                        "M{} {}V{}",
                        Length::of(self.timeline.x(slot)),
                        Length::of(y(from)),
                        Length::of(y(to))
                    );
                }
            }
            path
        };
        self.series.iter().map(|series| bars_of(&series.values)).collect()
    }
}

/// A line through dots. Where it is level, only the ends are named.
fn follow(path: &mut String, dots: &[Dot]) {
    let Some(first) = dots.first() else { return };
    add!(path, "M{} {}", first.x, first.y);
    if dots.len() == 1 {
        path.push_str("h0");
    }
    for (index, dot) in dots.iter().enumerate().skip(1) {
        let is_level = dots[index - 1].y == dot.y;
        let goes_on_level = dots.get(index + 1).is_some_and(|next| next.y == dot.y);
        match (is_level, goes_on_level) {
            (true, true) => {}
            (true, false) => {
                add!(path, "H{}", dot.x);
            }
            (false, _) => {
                add!(path, "L{} {}", dot.x, dot.y);
            }
        }
    }
}
