//! The axis of time: equal steps, named so that no name touches the next.

use bourse_wire::Day;

use super::draw::{LEFT, WIDTH};

/// The room between two names, in letters.
const GAP_LETTERS: f64 = 2.0;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// The number of a Monday: 1970-01-01 was a Thursday.
const A_MONDAY: i32 = 4;

/// How long a period is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Hour,
    Day,
    Week,
    Month,
}

/// Periods in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    step: Step,
    periods: Vec<Period>,
}

#[derive(Clone, Debug)]
struct Period {
    /// Its first day.
    day: Day,
    hour: Option<u8>,
    label: String,
}

/// A name on the axis.
#[derive(Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) slot: usize,
    pub(super) text: String,
    /// Where it begins, and where it ends.
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Which periods get names.
#[derive(Clone, Copy)]
enum Stride {
    /// Each so many, counted from the last.
    Each(usize),
    /// The first of each so many months.
    Months(u8),
}

impl Timeline {
    /// Periods by their labels: `2025-03-14T12` for an hour, `2025-03-14` for a day or a week, `2025-03` for a month. Others
    /// are left out.
    pub(crate) fn new(step: Step, labels: impl IntoIterator<Item = String>) -> Self {
        Self { step, periods: labels.into_iter().filter_map(Period::read).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.periods.len()
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.periods.iter().map(|period| period.label.as_str())
    }

    pub(super) fn only(&self, kept: &[usize]) -> Self {
        Self { step: self.step, periods: kept.iter().map(|slot| self.periods[*slot].clone()).collect() }
    }

    /// The middle of a period in the box.
    #[expect(clippy::cast_precision_loss, reason = "there are a few hundred")]
    pub(super) fn x(&self, slot: usize) -> f64 {
        LEFT + (slot as f64 + 0.5) * self.width()
    }

    /// How wide a period is in the box.
    #[expect(clippy::cast_precision_loss, reason = "there are a few hundred")]
    pub(super) fn width(&self) -> f64 {
        (WIDTH - LEFT) / self.periods.len().max(1) as f64
    }

    /// What a period is called in full.
    pub(super) fn name(&self, slot: usize) -> String {
        let Some(period) = self.periods.get(slot) else { return String::new() };
        let (year, month, day) = period.date();
        match self.step {
            Step::Hour => format!("{day} {month}, {:02}:00 UTC", period.hour.unwrap_or_default()),
            Step::Day => {
                let weekday = (period.day.number() - A_MONDAY).rem_euclid(7).unsigned_abs() as usize;
                format!("{} {day} {month} {year}", WEEKDAYS[weekday])
            }
            Step::Week => format!("week of {day} {month} {year}"),
            Step::Month => format!("{month} {year}"),
        }
    }

    /// What a period is called where its year goes without saying.
    pub(super) fn short_name(&self, slot: usize) -> String {
        let Some(period) = self.periods.get(slot) else { return String::new() };
        let (_, month, day) = period.date();
        match self.step {
            Step::Day => format!("{day} {month}"),
            Step::Week => format!("week of {day} {month}"),
            Step::Hour | Step::Month => self.name(slot),
        }
    }

    /// As many names as fit when a letter is so wide.
    pub(super) fn ticks(&self, letter: f64) -> Vec<Tick> {
        let strides: &[Stride] = match self.step {
            Step::Hour => &[1, 2, 3, 6, 12].map(Stride::Each),
            Step::Day => &[
                Stride::Each(1),
                Stride::Each(2),
                Stride::Each(7),
                Stride::Each(14),
                Stride::Months(1),
                Stride::Months(2),
                Stride::Months(3),
                Stride::Months(6),
                Stride::Months(12),
            ],
            Step::Week => &[
                Stride::Each(1),
                Stride::Each(2),
                Stride::Each(4),
                Stride::Months(2),
                Stride::Months(3),
                Stride::Months(6),
                Stride::Months(12),
            ],
            Step::Month => &[1, 2, 3, 6, 12].map(Stride::Months),
        };
        let fits = |ticks: &Vec<Tick>| {
            ticks.windows(2).all(|pair| pair[0].to + GAP_LETTERS * letter <= pair[1].from)
        };
        let fitting = strides.iter().map(|stride| self.ticks_at(*stride, letter)).find(fits);
        fitting.unwrap_or_default()
    }

    fn ticks_at(&self, stride: Stride, letter: f64) -> Vec<Tick> {
        let chosen = (0..self.len()).filter(|slot| match stride {
            Stride::Each(each) => (self.len() - 1 - slot).is_multiple_of(each),
            Stride::Months(each) => self.begins_month(*slot, each),
        });
        chosen.map(|slot| self.tick(slot, stride, letter)).collect()
    }

    fn begins_month(&self, slot: usize, each: u8) -> bool {
        let month = |slot: usize| self.periods[slot].day.first_of_month();
        let begins = match slot.checked_sub(1) {
            Some(before) => month(before) != month(slot),
            None => self.step == Step::Month || self.periods[slot].day == month(slot),
        };
        begins && self.periods[slot].month_index().is_multiple_of(usize::from(each))
    }

    #[expect(clippy::cast_precision_loss, reason = "names have a few letters")]
    fn tick(&self, slot: usize, stride: Stride, letter: f64) -> Tick {
        let period = &self.periods[slot];
        let (year, month, day) = period.date();
        let text = match (self.step, stride) {
            (_, Stride::Months(12)) => year.to_owned(),
            (Step::Month, _) | (_, Stride::Months(_)) => format!("{month} {year}"),
            (Step::Hour, _) => format!("{:02}:00", period.hour.unwrap_or_default()),
            (Step::Day | Step::Week, Stride::Each(_)) => format!("{day} {month}"),
        };
        let width = text.chars().count() as f64 * letter;
        // At the edges a name moves inwards.
        let from = (self.x(slot) - width / 2.0).min(WIDTH - width).max(0.0);
        Tick { slot, text, from, to: from + width }
    }
}

impl Period {
    fn read(label: String) -> Option<Self> {
        let (date, hour) = match label.split_once('T') {
            Some((date, hour)) => (date, Some(hour.parse().ok()?)),
            None => (label.as_str(), None),
        };
        let day = if date.len() == "2025-03".len() { format!("{date}-01").parse() } else { date.parse() };
        Some(Self { day: day.ok()?, hour, label })
    }

    fn month_index(&self) -> usize {
        let month = self.label.get(5..7).and_then(|month| month.parse::<usize>().ok());
        month.unwrap_or(1).clamp(1, MONTHS.len()) - 1
    }

    /// Year, month and day as they are shown.
    fn date(&self) -> (&str, &'static str, &str) {
        let year = self.label.get(..4).unwrap_or_default();
        let day = self.label.get(8..10).unwrap_or("01");
        (year, MONTHS[self.month_index()], day.trim_start_matches('0'))
    }
}
