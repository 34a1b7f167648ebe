//! The axis of values: from zero to a round number, with a line at a few round numbers between.

use super::Unit;

/// Most lines that there are, and how many are best.
const LINES_MAX: f64 = 5.0;
const LINES_BEST: f64 = 4.0;

/// A scale from zero on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    unit: Unit,
    step: f64,
    steps: u32,
}

impl Scale {
    /// The lowest scale on which there is room for the highest of the values.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a handful, and not negative"
    )]
    pub(super) fn up_to(highest: f64, unit: Unit) -> Self {
        let fitting = steps(highest, unit).map(|step| (step, (highest / step).ceil()));
        let fitting = fitting.filter(|(_, lines)| (1.0..=LINES_MAX).contains(lines));
        let rank = |(step, lines): &(f64, f64)| (step * lines, (lines - LINES_BEST).abs());
        let by_rank = |a: &(f64, f64), b: &(f64, f64)| {
            let ((a_top, a_off), (b_top, b_off)) = (rank(a), rank(b));
            a_top.total_cmp(&b_top).then(a_off.total_cmp(&b_off))
        };
        match fitting.min_by(by_rank) {
            Some((step, lines)) => Self { unit, step, steps: lines as u32 },
            None => Self { unit, step: 1.0, steps: 1 },
        }
    }

    /// What part of the scale a value is at, from 0 to 1.
    pub(super) fn part(&self, height: f64) -> f64 {
        let part = height / (self.step * f64::from(self.steps));
        if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Where lines are, as parts of the scale, and what they stand for. Zero is left out: it is the ground.
    pub(super) fn lines(&self) -> impl Iterator<Item = (f64, String)> {
        (1..=self.steps).map(|line| {
            let height = self.step * f64::from(line);
            (self.part(height), self.label(height))
        })
    }

    fn label(&self, height: f64) -> String {
        match self.unit {
            Unit::Count => prefixed(height),
            Unit::Share => format!("{}%", trimmed(height * 100.0)),
        }
    }
}

/// Round numbers about as large as the distance of two lines: 1, 2, 2.5 and 5 times powers of ten.
fn steps(highest: f64, unit: Unit) -> impl Iterator<Item = f64> {
    let power = 10_f64.powf((highest / LINES_MAX).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0, 25.0, 50.0].map(|digits| digits * power);
    steps.into_iter().filter(move |step| step.is_normal() && (unit == Unit::Share || step.fract() == 0.0))
}

/// A round number, short and exact: 2.5k, 40M.
fn prefixed(number: f64) -> String {
    let prefixes = [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match prefixes.into_iter().find(|(size, _)| number >= *size) {
        Some((size, prefix)) => format!("{}{prefix}", trimmed(number / size)),
        None => trimmed(number),
    }
}

/// A number of few digits without what arithmetic left at its end.
fn trimmed(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(highest: f64, unit: Unit) -> Vec<String> {
        Scale::up_to(highest, unit).lines().map(|(_, label)| label).collect()
    }

    #[test]
    fn lines_are_at_round_numbers() {
        let cases: [(f64, &[&str]); 10] = [
            (1.0, &["1"]),
            (3.0, &["1", "2", "3"]),
            (7.0, &["2", "4", "6", "8"]),
            (10.0, &["2", "4", "6", "8", "10"]),
            (51.0, &["20", "40", "60"]),
            (110.0, &["25", "50", "75", "100", "125"]),
            (1234.0, &["250", "500", "750", "1k", "1.25k"]),
            (20_100.0, &["5k", "10k", "15k", "20k", "25k"]),
            (1.844_674_407_370_955_2e19, &["5E", "10E", "15E", "20E"]),
            (0.0, &["1"]),
        ];
        for (highest, expected) in cases {
            assert_eq!(labels(highest, Unit::Count), expected, "{highest}");
        }
        assert_eq!(labels(1.0, Unit::Share), ["25%", "50%", "75%", "100%"]);
        assert_eq!(labels(0.37, Unit::Share), ["10%", "20%", "30%", "40%"]);
        assert_eq!(labels(0.000_9, Unit::Share), ["0.025%", "0.05%", "0.075%", "0.1%"]);
        assert_eq!(labels(0.0, Unit::Share), ["100%"]);
        assert_eq!(labels(f64::NAN, Unit::Share), ["100%"]);
    }

    #[test]
    fn values_are_within() {
        for highest in [1e-9, 0.3, 1.0, 17.0, 1e19, 1e38] {
            let scale = Scale::up_to(highest, Unit::Share);
            let part = scale.part(highest);
            assert!((0.5..=1.0).contains(&part), "{highest} is at {part}");
        }
        assert!(Scale::up_to(1.0, Unit::Count).part(f64::INFINITY).abs() < f64::EPSILON);
    }
}
