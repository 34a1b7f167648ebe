//! Answers as points that can be compared with those of another engine.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::error::Error;

/// How many differences of one chart are told.
const DIFFERENCES_SHOWN: usize = 5;

/// The points of a chart, by series and label. A chart with one series has one without a name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Points(BTreeMap<(String, String), Number>);

/// A value.
#[derive(Debug, Clone, Copy)]
enum Number {
    Count(u64),
    Fraction(f64),
}

impl PartialEq for Number {
    /// Equal to the last digit: a count is not a fraction, and two fractions have the same bits.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Count(count), Self::Count(other)) => count == other,
            (Self::Fraction(fraction), Self::Fraction(other)) => fraction.to_bits() == other.to_bits(),
            _ => false,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(formatter, "{count}"),
            Self::Fraction(fraction) => write!(formatter, "{fraction:?}"),
        }
    }
}

impl Points {
    /// Reads an answer of Bourse, whatever its shape: points, points with several values, several series, or cohorts.
    /// The points of a series must be in the order of time.
    pub(super) fn of_answer(answer: &Value) -> Result<Self, Error> {
        let shape = || Error::new(format!("an answer of unknown shape: {:.300}", answer.to_string()));
        let members = answer.as_object().filter(|members| members.len() == 1).ok_or_else(shape)?;
        let mut points = Self::default();
        for content in members.values() {
            match content {
                Value::Array(list) => points.add_list("", list)?,
                Value::Object(series) => {
                    for (name, list) in series {
                        points.add_list(name, list.as_array().ok_or_else(shape)?)?;
                    }
                }
                _ => return Err(shape()),
            }
        }
        Ok(points)
    }

    /// Reads rows of a series, a label and a value.
    pub(super) fn of_rows(rows: &Value) -> Result<Self, Error> {
        let mut points = Self::default();
        for row in rows.as_array().into_iter().flatten() {
            let text = |index: usize| row[index].as_str().unwrap_or_default();
            points.add(text(0), text(1), &row[2])?;
        }
        Ok(points)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// How these differ from those of another engine, in words. Nothing when they do not.
    pub(super) fn differences(&self, other: &Self) -> Option<String> {
        let shown = |value: Option<&Number>| value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        let keys = self.0.keys().chain(other.0.keys().filter(|key| !self.0.contains_key(*key)));
        let different: Vec<String> = keys
            .filter(|key| self.0.get(*key) != other.0.get(*key))
            .map(|key| {
                let (series, label) = key;
                let (ours, theirs) = (shown(self.0.get(key)), shown(other.0.get(key)));
                format!("{label}{}{series}: {ours}, not {theirs}", if series.is_empty() { "" } else { " " })
            })
            .collect();
        let first: Vec<&str> = different.iter().take(DIFFERENCES_SHOWN).map(String::as_str).collect();
        match different.len() {
            0 => None,
            count => Some(format!("{count} points differ: {}", first.join("; "))),
        }
    }

    fn add_list(&mut self, series: &str, list: &[Value]) -> Result<(), Error> {
        let mut before = "";
        for point in list {
            let label = point["label"].as_str().unwrap_or_default();
            if label <= before {
                return Err(Error::new(format!("the label `{label}` comes after `{before}`")));
            }
            before = label;
            match (&point["value"], &point["returned"]) {
                (Value::Object(values), _) => {
                    for (name, value) in values {
                        self.add(name, label, value)?;
                    }
                }
                (Value::Null, Value::Array(returned)) => {
                    self.add("size", label, &point["size"])?;
                    for (age, count) in returned.iter().enumerate() {
                        self.add(&format!("d{age}"), label, count)?;
                    }
                }
                (value, _) => self.add(series, label, value)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, series: &str, label: &str, value: &Value) -> Result<(), Error> {
        let number = value.as_u64().map(Number::Count).or_else(|| value.as_f64().map(Number::Fraction));
        let number = number.ok_or_else(|| Error::new(format!("{label} {series} has the value {value}")))?;
        match self.0.insert((series.to_owned(), label.to_owned()), number) {
            None => Ok(()),
            Some(_) => Err(Error::new(format!("{label} {series} is there twice"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Points;

    #[test]
    fn every_shape_is_read() {
        let same = |answer, rows| {
            assert_eq!(Points::of_answer(&answer).unwrap(), Points::of_rows(&rows).unwrap());
        };
        same(json!({ "data": [{ "value": 0.5, "label": "2025-01" }] }), json!([["", "2025-01", 0.5]]));
        same(
            json!({ "marketStats": [{ "value": { "buy": 2, "sell": 1 }, "label": "2025-01-01" }] }),
            json!([["sell", "2025-01-01", 1], ["buy", "2025-01-01", 2]]),
        );
        same(
            json!({ "data": { "new": [{ "value": 1, "label": "2025-01" }], "older": [] } }),
            json!([["new", "2025-01", 1]]),
        );
        same(
            json!({ "data": [{ "label": "2025-01-01", "size": 3, "returned": [3, 1] }] }),
            json!([["size", "2025-01-01", 3], ["d0", "2025-01-01", 3], ["d1", "2025-01-01", 1]]),
        );
        Points::of_answer(&json!({ "code": 1, "msg": "no" })).unwrap_err();
        let backwards = json!([{ "value": 1, "label": "2025-02" }, { "value": 1, "label": "2025-01" }]);
        Points::of_answer(&json!({ "data": backwards })).unwrap_err();
    }

    #[test]
    fn a_difference_is_named() {
        let points = |rows| Points::of_rows(&rows).unwrap();
        let ours = points(json!([["", "a", 1], ["", "b", 0.1], ["new", "c", 3]]));
        assert_eq!(ours.differences(&ours), None);
        let theirs = points(json!([["", "a", 1.0], ["", "b", 0.100_000_000_000_000_02], ["", "d", 3]]));
        let told = "4 points differ: a: 1, not 1.0; b: 0.1, not 0.10000000000000002; c new: 3, not nothing; d: nothing, not 3";
        assert_eq!(ours.differences(&theirs).as_deref(), Some(told));
    }
}
