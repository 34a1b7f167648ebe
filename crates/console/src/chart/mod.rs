//! Charts, drawn as inline SVG.
//!
//! By ourselves: the libraries for charts draw into bitmaps, run in the browser, or put styles into the elements, which
//! the console's policy forbids for good reasons. What is drawn here has classes only, so that the style sheet decides on
//! colours in both schemes and on the size of letters by the room there is; it needs no script; and it is a few hundred
//! lines.
//!
//! A [`Plot`] is one picture of some series over the same periods. It is drawn in a box of fixed units that the browser
//! scales. Its numbers are there as well: in the title of each period, where a pointer rests, and in [`Plot::table`]. How
//! many came back of whom is a [`grid`], which is a table itself.

mod draw;
mod grid;
mod lines;
mod scale;
mod table;
#[cfg(test)]
mod tests;
mod timeline;

use std::borrow::Cow;

use super::format;
pub(super) use grid::{Cohort, grid};
pub(super) use timeline::{Step, Timeline};

/// Series that are told apart by colour.
const SERIES_MAX: usize = 8;
/// Periods that are drawn, and values of all series: there are not many more dots on a screen, and a page stays small.
const DRAWN_MAX: usize = 400;
const DRAWN_VALUES_MAX: usize = 2_000;

/// A value of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Count(u128),
    /// A part of one.
    Share(f64),
    /// An average of counts.
    Mean(f64),
}

impl Amount {
    /// Where it is on the scale. Only drawing needs it.
    #[expect(clippy::cast_precision_loss, reason = "a chart has fewer dots than a float has digits")]
    fn height(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Share(number) | Self::Mean(number) if number.is_finite() => number.max(0.0),
            Self::Share(_) | Self::Mean(_) => 0.0,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Self::Count(count) => format::number(count),
            Self::Share(share) => format!("{:.1}%", share * 100.0),
            Self::Mean(mean) => format!("{mean:.1}"),
        }
    }

    /// The text of what may not be known.
    pub(super) fn text_or_dash(amount: Option<Self>) -> String {
        amount.map_or_else(|| "–".to_owned(), Self::text)
    }

    /// The whole of it, where the text is rounded.
    pub(super) fn exact(self) -> Option<String> {
        match self {
            Self::Count(_) => None,
            Self::Share(number) | Self::Mean(number) => Some(number.to_string()),
        }
    }
}

/// What the values of a chart are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Count,
    Share,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// A line for each series; with one series of counts, what is below it is filled.
    Lines,
    /// A bar for each period, the series one on top of the other.
    Bars,
}

/// How much room a chart has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// One of many on a page.
    Card,
    /// What the page is about.
    Page,
}

/// Values with a name, one for each period; `None` where there is none, which is not zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) values: Vec<Option<Amount>>,
}

/// Some series over the same periods.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    timeline: Timeline,
    series: Vec<Series>,
    unit: Unit,
    style: Style,
    /// Whether the last period is not over.
    is_open: bool,
}

impl Plot {
    /// A chart of these series. Counts of more series than there are colours are put together, from the smallest on.
    pub(super) fn new(timeline: Timeline, mut series: Vec<Series>, unit: Unit, style: Style) -> Self {
        for series in &mut series {
            series.values.resize(timeline.len(), None);
        }
        if series.len() > SERIES_MAX && unit == Unit::Count {
            series = folded(series);
        }
        series.truncate(SERIES_MAX);
        Self { timeline, series, unit, style, is_open: false }
    }

    /// The same chart, whose last period goes on.
    pub(super) fn with_open_end(self, is_open: bool) -> Self {
        Self { is_open, ..self }
    }

    /// Whether there is nothing to see.
    pub(super) fn is_empty(&self) -> bool {
        let mut values = self.series.iter().flat_map(|series| &series.values).flatten();
        match self.unit {
            Unit::Count => values.all(|value| value.height() == 0.0),
            Unit::Share => values.next().is_none(),
        }
    }

    /// The values of a period, with the names of their series.
    fn values_at(&self, slot: usize) -> impl Iterator<Item = (&str, Amount)> {
        self.series
            .iter()
            .filter_map(move |series| Some((series.name.as_str(), (*series.values.get(slot)?)?)))
    }

    /// How high the chart is at a period: all values together where they are stacked.
    fn height_at(&self, slot: usize) -> f64 {
        let heights = self.values_at(slot).map(|(_, value)| value.height());
        match self.style {
            Style::Bars => heights.sum(),
            Style::Lines => heights.fold(0.0, f64::max),
        }
    }

    /// Of how many periods in a row one is drawn.
    fn row(&self) -> usize {
        self.timeline.len().div_ceil(DRAWN_MAX.min(DRAWN_VALUES_MAX / self.series.len().max(1))).max(1)
    }

    /// The chart with as many periods as are drawn: of some in a row, the highest.
    fn thinned(&self) -> Cow<'_, Self> {
        let row = self.row();
        if row == 1 {
            return Cow::Borrowed(self);
        }
        let all: Vec<usize> = (0..self.timeline.len()).collect();
        let highest = |row: &[usize]| {
            let chosen = row.iter().copied().max_by(|a, b| self.height_at(*a).total_cmp(&self.height_at(*b)));
            chosen.unwrap_or_default()
        };
        let kept: Vec<usize> = all.chunks(row).map(highest).collect();
        let series = self.series.iter().map(|series| Series {
            name: series.name.clone(),
            values: kept.iter().map(|slot| series.values[*slot]).collect(),
        });
        Cow::Owned(Self { timeline: self.timeline.only(&kept), series: series.collect(), ..*self })
    }
}

/// The largest series as they are, in their order, and the others as one.
fn folded(series: Vec<Series>) -> Vec<Series> {
    let size = |series: &Series| series.values.iter().flatten().map(|value| value.height()).sum::<f64>();
    let mut by_size: Vec<usize> = (0..series.len()).collect();
    by_size.sort_by(|a, b| size(&series[*b]).total_cmp(&size(&series[*a])));
    let largest = &by_size[..SERIES_MAX - 1];
    let (mut kept, mut rest) = (Vec::new(), Vec::new());
    for (index, series) in series.into_iter().enumerate() {
        if largest.contains(&index) { kept.push(series) } else { rest.push(series) }
    }
    let length = rest.iter().map(|series| series.values.len()).max().unwrap_or_default();
    let together = |slot: usize| Some(sum(rest.iter().filter_map(|series| *series.values.get(slot)?)));
    let values = (0..length).map(together).collect();
    kept.push(Series { name: format!("{} others", rest.len()), values });
    kept
}

/// Counts together.
fn sum(amounts: impl Iterator<Item = Amount>) -> Amount {
    let count = |amount| match amount {
        Amount::Count(count) => count,
        Amount::Share(_) | Amount::Mean(_) => 0,
    };
    Amount::Count(amounts.map(count).fold(0, u128::saturating_add))
}
