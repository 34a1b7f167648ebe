//! Ranges of days, cut into periods.

use bourse_wire::Day;

use crate::column::Window;

/// Days of the week.
const WEEK_DAYS: i32 = 7;
/// The number of a Monday: 1970-01-01 was a Thursday.
const A_MONDAY: i32 = 4;

/// Days from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    first: Day,
    last: Day,
}

/// Why two days are no range.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum RangeError {
    /// It ends before it starts.
    #[error("the range ends before it starts")]
    Reversed,
    /// It is longer than [`Range::DAYS_MAX`].
    #[error("the range is longer than 5 years")]
    TooLong,
}

impl Range {
    /// Days of the longest range: five years with two leap days.
    pub const DAYS_MAX: i32 = 5 * 365 + 2;

    /// The days from one to another, both included.
    pub fn new(first: Day, last: Day) -> Result<Self, RangeError> {
        match last.number() - first.number() {
            ..0 => Err(RangeError::Reversed),
            Self::DAYS_MAX.. => Err(RangeError::TooLong),
            _ => Ok(Self { first, last }),
        }
    }

    /// The first day.
    pub fn first(self) -> Day {
        self.first
    }

    /// The last day.
    pub fn last(self) -> Day {
        self.last
    }

    pub(crate) fn window(self) -> Window {
        Window { first: self.first.number(), last: self.last.number() }
    }

    /// The range as a single period.
    pub(crate) fn whole(self) -> Period {
        Period { window: self.window(), label: self.first.to_string() }
    }

    /// The names of all periods that have days in the range, in the order of time.
    pub fn labels(self, interval: Interval) -> impl Iterator<Item = String> {
        self.periods(interval).into_iter().map(|period| period.label)
    }

    /// The periods that have days in the range, each with only those days.
    pub(crate) fn periods(self, interval: Interval) -> Vec<Period> {
        let Window { first, last } = self.window();
        let mut periods = Vec::new();
        let mut next = first;
        while next <= last {
            let day = next;
            next = interval.next(day);
            let window = Window { first: day, last: last.min(next - 1) };
            periods.push(Period { window, label: interval.label(day) });
        }
        periods
    }
}

/// A part of a range with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) window: Window,
    pub(crate) label: String,
}

/// Lengths of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interval {
    /// A day; its label is the date.
    Day,
    /// Monday to Sunday; the label is Monday's date.
    Week,
    /// A month of the calendar; the label is `YYYY-MM`.
    Month,
}

impl Interval {
    /// The interval as the interface spells it.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "DAY" => Some(Self::Day),
            "WEEK" => Some(Self::Week),
            "MONTH" => Some(Self::Month),
            _ => None,
        }
    }

    /// The first day after the period that a day is in.
    fn next(self, day: i32) -> i32 {
        match self {
            Self::Day => day + 1,
            Self::Week => monday(day) + WEEK_DAYS,
            // The first of a month and 31 days later is always in the month after.
            Self::Month => month(month(day) + 31),
        }
    }

    fn label(self, day: i32) -> String {
        match self {
            Self::Day => Day::from_number(day).to_string(),
            Self::Week => Day::from_number(monday(day)).to_string(),
            Self::Month => {
                let mut label = Day::from_number(day).to_string();
                label.truncate(label.len() - "-DD".len());
                label
            }
        }
    }
}

fn monday(day: i32) -> i32 {
    day - (day - A_MONDAY).rem_euclid(WEEK_DAYS)
}

/// The first day of the month that a day is in.
pub(crate) fn month(day: i32) -> i32 {
    Day::from_number(day).first_of_month().number()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: &str, last: &str) -> Result<Range, RangeError> {
        Range::new(first.parse().unwrap(), last.parse().unwrap())
    }

    fn periods(first: &str, last: &str, interval: Interval) -> Vec<(String, i32)> {
        let periods = range(first, last).unwrap().periods(interval).into_iter();
        periods.map(|period| (period.label, period.window.last - period.window.first + 1)).collect()
    }

    #[test]
    fn weeks_are_named_after_their_monday_across_the_year() {
        let weeks = periods("2024-12-28", "2025-01-06", Interval::Week);
        let expected = [("2024-12-23", 2), ("2024-12-30", 7), ("2025-01-06", 1)];
        assert_eq!(weeks, expected.map(|(label, days)| (label.to_owned(), days)));
        assert_eq!(periods("1969-12-29", "1969-12-29", Interval::Week)[0].0, "1969-12-29");
    }

    #[test]
    fn months_have_only_the_days_of_the_range() {
        let months = periods("2024-01-31", "2024-03-01", Interval::Month);
        let expected = [("2024-01", 1), ("2024-02", 29), ("2024-03", 1)];
        assert_eq!(months, expected.map(|(label, days)| (label.to_owned(), days)));
    }

    #[test]
    fn ranges_are_bounded() {
        assert_eq!(range("2024-01-02", "2024-01-01"), Err(RangeError::Reversed));
        assert!(range("2020-01-01", "2024-12-31").is_ok());
        assert_eq!(range("2020-01-01", "2025-01-01"), Err(RangeError::TooLong));
        assert_eq!(periods("2024-01-01", "2024-01-01", Interval::Day), [("2024-01-01".to_owned(), 1)]);
    }
}
