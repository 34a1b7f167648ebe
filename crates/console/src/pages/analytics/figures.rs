//! Every chart that there is. The list is that of the operations; what each means is said by the table of
//! `bourse_analytics`.

use std::sync::LazyLock;

use bourse_analytics::{Chart, Cut, DaySet, Interval, Measure};
use bourse_server::Service;
use bourse_server::router::operations;

use crate::chart::{Step, Style, Unit};

/// What charts are about, in the order of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Wallets,
    Transactions,
    Market,
    Retention,
    Compute,
}

impl Topic {
    pub(super) const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Wallets, "wallets", "Wallets"),
        (Self::Transactions, "transactions", "Transactions"),
        (Self::Market, "market", "Market"),
        (Self::Retention, "retention", "Retention"),
        (Self::Compute, "compute", "Compute"),
    ];

    /// The topic of a word in an address.
    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == word).map(|(topic, _, _)| topic)
    }
}

/// What a chart shows of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Counted(Measure),
    /// Units of each service.
    Compute,
    /// Units of all services together.
    ComputeTogether,
    Grid,
}

/// A chart.
#[derive(Debug)]
pub(super) struct Figure {
    /// The operation that answers with it.
    pub(super) operation: &'static str,
    /// What it is, in a sentence.
    pub(super) summary: &'static str,
    pub(super) cut: Cut,
    pub(super) subject: Subject,
}

/// All charts, in the order of the operations.
pub(super) static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let charts = operations().into_iter().filter(|route| route.service == Service::Analytics);
    let figure = |route: bourse_server::Route| {
        let chart = Chart::ALL.iter().find(|chart| chart.name() == route.name);
        let (cut, subject) = match (chart, route.name) {
            (Some(chart), _) => {
                let (cut, measure) = chart.meaning();
                (cut, Subject::Counted(measure))
            }
            (None, "ComputeByService") => (Cut::EachOr(Interval::Day), Subject::Compute),
            (None, "DailyComputeByService") => (Cut::Each(Interval::Day), Subject::Compute),
            (None, "TotalCompute") => (Cut::Whole, Subject::ComputeTogether),
            (None, "RetentionGrid") => (Cut::Each(Interval::Day), Subject::Grid),
            // What only tells that the service is there.
            (None, _) => return None,
        };
        Some(Figure { operation: route.name, summary: route.summary, cut, subject })
    };
    charts.filter_map(figure).collect()
});

impl Figure {
    pub(super) fn of(operation: &str) -> Option<&'static Self> {
        FIGURES.iter().find(|figure| figure.operation == operation)
    }

    /// Those of a topic, without such as show what one before them shows.
    pub(super) fn about(topic: Topic) -> impl Iterator<Item = &'static Self> {
        let is_first = |index: usize, figure: &Self| {
            !FIGURES[..index].iter().any(|before| {
                before.subject == figure.subject && before.interval(None) == figure.interval(None)
            })
        };
        let all = FIGURES.iter().enumerate().filter(move |(_, figure)| figure.topic() == topic);
        all.filter(move |(index, figure)| is_first(*index, figure)).map(|(_, figure)| figure)
    }

    pub(super) fn topic(&self) -> Topic {
        match self.subject {
            Subject::Compute | Subject::ComputeTogether => Topic::Compute,
            Subject::Grid | Subject::Counted(Measure::Retention(_)) => Topic::Retention,
            Subject::Counted(
                Measure::Transactions
                | Measure::Conversion
                | Measure::Distinct(DaySet::Sent)
                | Measure::Segments(DaySet::Sent),
            ) => Topic::Transactions,
            Subject::Counted(
                Measure::Trades
                | Measure::TradesByAction
                | Measure::Distinct(DaySet::Market)
                | Measure::Segments(DaySet::Market),
            ) => Topic::Market,
            Subject::Counted(
                Measure::New
                | Measure::Stickiness
                | Measure::AverageActive
                | Measure::Distinct(DaySet::Active)
                | Measure::Segments(DaySet::Active),
            ) => Topic::Wallets,
        }
    }

    /// What is shown, whatever the periods are.
    pub(super) fn name(&self) -> String {
        let of_set = |set| match set {
            DaySet::Active => "Active wallets",
            DaySet::Sent => "Transacting wallets",
            DaySet::Market => "Market wallets",
        };
        match self.subject {
            Subject::Compute | Subject::ComputeTogether => "Compute units".to_owned(),
            Subject::Grid => "Retention of each day's new wallets".to_owned(),
            Subject::Counted(measure) => match measure {
                Measure::Distinct(set) => of_set(set).to_owned(),
                Measure::Transactions => "Transactions".to_owned(),
                Measure::Trades | Measure::TradesByAction => "Market events".to_owned(),
                Measure::New => "New wallets".to_owned(),
                Measure::Conversion => "Conversion to transactions".to_owned(),
                Measure::Retention(days) => format!("Day {days} retention"),
                Measure::Stickiness => "Stickiness".to_owned(),
                Measure::AverageActive => "Average wallets a day".to_owned(),
                Measure::Segments(DaySet::Active) => "New and returning wallets".to_owned(),
                Measure::Segments(set) => format!("New and returning {}", of_set(set).to_lowercase()),
            },
        }
    }

    /// What is shown, and of which periods.
    pub(super) fn title(&self, asked: Option<Interval>) -> String {
        let name = self.name();
        match (self.subject, self.interval(asked)) {
            (Subject::Grid, _) | (_, None) => name,
            (_, Some(Interval::Day)) => format!("{name} by day"),
            (_, Some(Interval::Week)) => format!("{name} by week"),
            (_, Some(Interval::Month)) => format!("{name} by month"),
        }
    }

    /// How long its periods are; `None` when the whole range is one.
    pub(super) fn interval(&self, asked: Option<Interval>) -> Option<Interval> {
        match self.cut {
            Cut::Whole => None,
            Cut::Each(interval) => Some(interval),
            Cut::EachOr(interval) => Some(asked.unwrap_or(interval)),
        }
    }

    pub(super) fn lets_itself_be_regrouped(&self) -> bool {
        matches!(self.cut, Cut::EachOr(_))
    }

    pub(super) fn unit(&self) -> Unit {
        match self.subject {
            Subject::Counted(Measure::Conversion | Measure::Retention(_) | Measure::Stickiness) => {
                Unit::Share
            }
            Subject::Counted(
                Measure::Distinct(_)
                | Measure::Transactions
                | Measure::Trades
                | Measure::TradesByAction
                | Measure::New
                | Measure::AverageActive
                | Measure::Segments(_),
            )
            | Subject::Compute
            | Subject::ComputeTogether
            | Subject::Grid => Unit::Count,
        }
    }

    /// Bars where several counts add up, and where there are few periods.
    pub(super) fn style(&self, interval: Interval) -> Style {
        let is_stacked = matches!(
            self.subject,
            Subject::Compute | Subject::Counted(Measure::TradesByAction | Measure::Segments(_))
        );
        match self.unit() {
            Unit::Count if is_stacked || interval == Interval::Month => Style::Bars,
            Unit::Count | Unit::Share => Style::Lines,
        }
    }
}

/// The steps of a chart's axis.
pub(super) fn step(interval: Interval) -> Step {
    match interval {
        Interval::Day => Step::Day,
        Interval::Week => Step::Week,
        Interval::Month => Step::Month,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chart_of_the_interface_is_a_figure() {
        let charts = operations().into_iter().filter(|route| route.service == Service::Analytics);
        let missing: Vec<_> =
            charts.map(|route| route.name).filter(|name| Figure::of(name).is_none()).collect();
        assert_eq!(missing, ["Ping"]);
        let shown: usize = Topic::ALL.iter().map(|(topic, _, _)| Figure::about(*topic).count()).sum();
        // Two are others under a second name.
        assert_eq!(shown, FIGURES.len() - 2);
        let hidden = FIGURES
            .iter()
            .filter(|figure| !Figure::about(figure.topic()).any(|shown| shown.operation == figure.operation));
        assert_eq!(
            hidden.map(|figure| figure.operation).collect::<Vec<_>>(),
            ["DailyComputeByService", "TotalNewWallets"]
        );
    }

    #[test]
    fn no_two_figures_of_a_topic_have_one_title() {
        for (topic, _, _) in Topic::ALL {
            let mut titles: Vec<String> = Figure::about(topic).map(|figure| figure.title(None)).collect();
            let all = titles.len();
            titles.sort();
            titles.dedup();
            assert_eq!(titles.len(), all, "{titles:?}");
        }
    }
}
