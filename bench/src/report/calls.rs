//! The same calls on several databases.

use serde_json::{Value, json};

use super::Import;
use super::row::Row;
use crate::stats::{Figures, median};

/// What was measured on all databases.
#[derive(Debug)]
pub(crate) struct CallsReport {
    /// The import into each.
    pub(crate) imports: Vec<(String, Import)>,
    pub(crate) calls: Vec<CallReport>,
}

/// One kind of call.
#[derive(Debug)]
pub(crate) struct CallReport {
    pub(crate) name: &'static str,
    /// The databases, in the order in which they were named.
    pub(crate) places: Vec<PlaceFigures>,
}

/// The rounds of one database.
#[derive(Debug)]
pub(crate) struct PlaceFigures {
    pub(crate) name: String,
    pub(crate) rounds: Vec<Figures>,
}

impl CallsReport {
    /// Prints how fast the imports were.
    pub(crate) fn print_imports(&self) {
        for (name, import) in &self.imports {
            print!("{name}, ");
            import.print();
        }
    }

    /// The figures.
    pub(super) fn to_json(&self) -> Value {
        let import = |(name, import): &(String, Import)| json!({ "on": name, "import": import.to_json() });
        json!({
            "imports": self.imports.iter().map(import).collect::<Vec<_>>(),
            "calls": self.calls.iter().map(CallReport::to_json).collect::<Vec<_>>(),
        })
    }
}

impl CallReport {
    /// Prints the medians of every database, with what share it takes of what the one before it takes.
    pub(crate) fn print(&self) {
        println!("\n{}", self.name);
        Row::print_head("ratio");
        for (place, figures) in self.places.iter().enumerate() {
            let ratio = self.ratio(place).map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            Row::median(figures.rounds.iter()).print("median", &figures.name, &ratio);
        }
    }

    /// The median, over the rounds, of its calls a second divided by those of the one before it.
    fn ratio(&self, place: usize) -> Option<f64> {
        let (before, this) = (self.places.get(place.checked_sub(1)?)?, self.places.get(place)?);
        let pairs = this.rounds.iter().zip(&before.rounds);
        median(pairs.map(|(this, before)| this.requests_per_second / before.requests_per_second))
    }

    fn to_json(&self) -> Value {
        let place = |(place, figures): (usize, &PlaceFigures)| {
            json!({
                "on": figures.name,
                "ratio": self.ratio(place),
                "median": Row::median(figures.rounds.iter()).to_json(),
                "rounds": figures.rounds.iter().map(|round| Row::from(round).to_json()).collect::<Vec<_>>(),
            })
        };
        json!({ "name": self.name, "places": self.places.iter().enumerate().map(place).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CallReport, PlaceFigures};
    use crate::stats::Figures;

    fn figures(requests_per_second: f64) -> Figures {
        let (p50, p99) = (Duration::from_millis(1), Duration::from_millis(2));
        Figures { requests_per_second, p50, p99, cpu_per_request: None, body_bytes_mean: 1.0 }
    }

    #[test]
    fn a_ratio_is_that_of_rounds_that_came_together() {
        let place = |rates: [f64; 3]| PlaceFigures {
            name: "some".to_owned(),
            rounds: rates.into_iter().map(figures).collect(),
        };
        let places = vec![place([100.0, 10.0, 100.0]), place([50.0, 6.0, 40.0])];
        let report = CallReport { name: "GetToken", places };
        assert_eq!((report.ratio(0), report.ratio(1)), (None, Some(0.5)));
    }
}
