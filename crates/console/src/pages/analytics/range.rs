//! Which days a page is about, as its address says.

use bourse_analytics::{Interval, Range};
use bourse_wire::{Day, Error};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::form::Form;

/// Ranges to choose with one click; all end today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preset {
    Week,
    Month,
    Quarter,
    Year,
    All,
}

impl Preset {
    const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Week, "7d", "7 days"),
        (Self::Month, "30d", "30 days"),
        (Self::Quarter, "90d", "90 days"),
        (Self::Year, "12m", "12 months"),
        (Self::All, "5y", "5 years"),
    ];

    fn first(self, today: Day) -> Day {
        let back = |days: i32| Day::from_number(today.number() - days + 1);
        match self {
            Self::Week => back(7),
            Self::Month => back(30),
            Self::Quarter => back(90),
            // Whole months, so that they compare.
            Self::Year => (1..12).fold(today.first_of_month(), |month, _| {
                Day::from_number(month.number() - 1).first_of_month()
            }),
            Self::All => back(Range::DAYS_MAX),
        }
    }
}

/// What is asked for. Dates are as somebody typed them: what is wrong with them, the operation says.
pub(super) struct RangeQuery {
    preset: Option<Preset>,
    from: String,
    to: String,
    /// Another length of the periods, where a chart lets itself be regrouped.
    pub(super) by: Option<Interval>,
    pub(super) today: Day,
}

/// The intervals in the words of the interface.
pub(super) const INTERVALS: [(Interval, &str, &str); 3] =
    [(Interval::Day, "DAY", "day"), (Interval::Week, "WEEK", "week"), (Interval::Month, "MONTH", "month")];

impl RangeQuery {
    /// Reads an address. Without a word about it, the last 30 days are meant.
    pub(super) fn read(query: &Form, today: Day) -> Result<Self, Error> {
        let by = query.text("by");
        let by = match INTERVALS.iter().find(|(_, word, _)| *word == by) {
            Some((interval, _, _)) => Some(*interval),
            None if by.is_empty() => None,
            None => return Err(Error::invalid("by", "must be DAY, WEEK or MONTH")),
        };
        let is_custom = query.is_set("from") || query.is_set("to");
        let preset = match (is_custom, query.text("range")) {
            (true, _) => None,
            (false, "") => Some(Preset::Month),
            (false, word) => {
                let found = Preset::ALL.iter().find(|(_, known, _)| *known == word);
                let words = Preset::ALL.map(|(_, word, _)| word).join(", ");
                let unknown = || Error::invalid("range", format!("must be one of {words}"));
                Some(found.ok_or_else(unknown)?.0)
            }
        };
        let (from, to) = match preset {
            Some(preset) => (preset.first(today).to_string(), today.to_string()),
            None => (query.text("from").to_owned(), query.text("to").to_owned()),
        };
        Ok(Self { preset, from, to, by, today })
    }

    /// The last 30 days.
    pub(super) fn usual(today: Day) -> Self {
        let preset = Preset::Month;
        let (from, to) = (preset.first(today).to_string(), today.to_string());
        Self { preset: Some(preset), from, to, by: None, today }
    }

    /// As far back as a chart goes.
    pub(super) fn everything(today: Day) -> Self {
        Self { from: Preset::All.first(today).to_string(), ..Self::usual(today) }
    }

    /// From one day to another, whatever they are.
    pub(super) fn between(from: Day, to: Day, today: Day) -> Self {
        Self { preset: None, from: from.to_string(), to: to.to_string(), by: None, today }
    }

    /// The question to an operation.
    pub(super) fn body(&self, interval: Option<Interval>, fill: bool) -> Value {
        let mut filter = json!({ "startDate": self.from, "endDate": self.to, "fill": fill });
        if let Some((_, word, _)) = INTERVALS.iter().find(|(known, _, _)| Some(*known) == interval) {
            filter["dateInterval"] = (*word).into();
        }
        json!({ "filter": filter })
    }

    /// The days, once an operation has taken them.
    pub(super) fn days(&self) -> Result<Range, Error> {
        let read = |text: &str| text.parse::<Day>().map_err(|error| Error::invalid("range", error));
        Range::new(read(&self.from)?, read(&self.to)?).map_err(|error| Error::invalid("range", error))
    }

    /// What comes after the path of a link to the same days, with more in it.
    pub(super) fn query(&self, more: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        match Preset::ALL.iter().find(|(known, _, _)| Some(*known) == self.preset) {
            Some((_, word, _)) => query.append_pair("range", word),
            None => query.append_pair("from", &self.from).append_pair("to", &self.to),
        };
        query.extend_pairs(more);
        format!("?{}", query.finish())
    }

    /// The name of a file about these days.
    pub(super) fn file_name(&self, operation: &str) -> String {
        format!("{operation}_{}_{}.csv", self.from, self.to)
    }

    /// Links to the usual ranges, and a form for any other. `keep` is what else is in the address.
    pub(super) fn chooser(&self, path: &str, keep: &[(&str, &str)]) -> Markup {
        let link = |word: &str| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("range", word).extend_pairs(keep);
            format!("{path}?{}", query.finish())
        };
        html! {
            div.range {
                nav.choices aria-label="Range" {
                    @for (preset, word, name) in Preset::ALL {
                        a href=(link(word)) aria-current=[(self.preset == Some(preset)).then_some("true")] { (name) }
                    }
                }
                form.inline method="get" action=(path) {
                    @for (name, value) in keep { input type="hidden" name=(name) value=(value); }
                    label { "From" input type="date" name="from" value=(self.from) required; }
                    label { "To" input type="date" name="to" value=(self.to) required; }
                    button.plain { "Show" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<RangeQuery, Error> {
        RangeQuery::read(&Form::of_query(query), "2025-03-14".parse().unwrap())
    }

    #[test]
    fn presets_end_today() {
        for (query, from) in [
            ("", "2025-02-13"),
            ("range=7d", "2025-03-08"),
            ("range=30d", "2025-02-13"),
            ("range=90d", "2024-12-15"),
            ("range=12m", "2024-04-01"),
            ("range=5y", "2020-03-14"),
        ] {
            let asked = asked(query).unwrap();
            assert_eq!((asked.from.as_str(), asked.to.as_str()), (from, "2025-03-14"), "{query}");
            assert!(asked.days().is_ok());
        }
        assert!(asked("range=1h").is_err() && asked("by=YEAR").is_err());
    }

    #[test]
    fn what_was_typed_is_kept_and_linked() {
        let asked = asked("from=2025-01-01&to=%22%3E%3Cb%3E&range=7d").unwrap();
        assert_eq!(asked.query(&[("by", "DAY")]), "?from=2025-01-01&to=%22%3E%3Cb%3E&by=DAY");
        assert!(asked.days().is_err());
        let shown = asked.chooser("/x", &[("about", "a\"b")]).into_string();
        assert!(shown.contains("value=\"&quot;&gt;&lt;b&gt;\"") && !shown.contains("<b>"), "{shown}");
        assert!(!shown.contains("aria-current"));
    }
}
