//! A chart as a picture with its legend.

use maud::{Markup, html};

use super::lines::{Length, Path, y};
use super::scale::Scale;
use super::{Amount, Detail, Plot, Series, Style, Unit, sum};
use crate::format;

/// The box that everything is drawn in.
pub(super) const WIDTH: f64 = 640.0;
/// Where the first period begins: before it the lines have their labels.
pub(super) const LEFT: f64 = 42.0;
pub(super) const HEIGHT: f64 = 270.0;
/// Where the scale ends and begins: there is room for a line of large letters above and below.
pub(super) const TOP: f64 = 26.0;
pub(super) const BOTTOM: f64 = 238.0;
/// Where names of periods stand.
const NAMES: f64 = 262.0;

/// How wide a letter is where the chart is large, and where it is as small as on a phone. The style sheet sets letters
/// accordingly: names that fit are chosen for both, and it shows those of one.
const LETTERS: [(&str, f64); 2] = [("roomy", 7.0), ("tight", 12.5)];
/// Above so many periods a line has no dots.
const DOTS_MAX: usize = 45;
/// Above so many periods a small chart tells no values: nobody could point at one.
const CARD_HITS_MAX: usize = 100;
/// Above so many values only their sums are told at a period.
const TOLD_MAX: usize = 1_000;
/// What a bar takes of its period.
const BAR: f64 = 0.76;

impl Plot {
    /// The chart, named by the element with this id.
    pub(crate) fn figure(&self, named_by: &str, detail: Detail) -> Markup {
        let drawn = self.thinned();
        html! {
            figure.chart {
                (drawn.picture(named_by, detail, &self.summary()))
                @if self.series.iter().any(|series| !series.name.is_empty()) {
                    ul.legend {
                        @for (index, series) in self.series.iter().enumerate() {
                            li { span class={ "key s" (index) } {} (series.name) }
                        }
                    }
                }
                @if self.row() > 1 && detail == Detail::Page {
                    figcaption.hint { "There is room for the highest of every " (self.row()) " periods only." }
                }
            }
        }
    }

    fn picture(&self, named_by: &str, detail: Detail, summary: &str) -> Markup {
        let highest = (0..self.timeline.len()).map(|slot| self.height_at(slot)).fold(0.0, f64::max);
        let scale = Scale::up_to(highest, self.unit);
        let about = format!("{named_by}-about");
        let shows_values = detail == Detail::Page || self.timeline.len() <= CARD_HITS_MAX;
        html! {
            svg viewBox={ "0 0 " (Length::of(WIDTH)) " " (Length::of(HEIGHT)) } role="img"
                aria-labelledby=(named_by) aria-describedby=(about) {
                desc id=(about) { (summary) }
                (rules(scale))
                @match self.style {
                    Style::Bars => (self.all_bars(scale)),
                    Style::Lines => (self.all_lines(scale)),
                }
                (rule_labels(scale))
                (self.names())
                @if shows_values { (self.hits(detail)) }
            }
        }
    }

    fn all_lines(&self, scale: Scale) -> Markup {
        let fills = self.series.len() == 1 && self.unit == Unit::Count;
        html! {
            @for (index, series) in self.series.iter().enumerate() {
                g class={ "s" (index) } {
                    @if fills { path.area d=(self.area(&series.values, scale)) {} }
                    @let Path { done, open } = self.line(&series.values, scale);
                    path.line d=(done) {}
                    @if !open.is_empty() { path.line.open d=(open) {} }
                    @if self.timeline.len() <= DOTS_MAX { path.dots d=(self.dots(&series.values, scale)) {} }
                }
            }
        }
    }

    fn all_bars(&self, scale: Scale) -> Markup {
        html! {
            g.bars stroke-width=(Length::of(self.timeline.width() * BAR)) {
                @for (index, Path { done, open }) in self.bars(scale).into_iter().enumerate() {
                    path class={ "s" (index) } d=(done) {}
                    @if !open.is_empty() { path class={ "open s" (index) } d=(open) {} }
                }
            }
        }
    }

    /// Names of periods, for both sizes of letters.
    fn names(&self) -> Markup {
        html! {
            @for (size, letter) in LETTERS {
                g class={ "names " (size) } {
                    @for tick in self.timeline.ticks(letter) {
                        // Where the middle is told, a name that moved in from the edge stays there.
                        text x=(Length::of(f64::midpoint(tick.from, tick.to))) y=(Length::of(NAMES)) { (tick.text) }
                    }
                }
            }
        }
    }

    /// A stripe for each period that has its values in its title: where a pointer rests, a browser shows them.
    fn hits(&self, detail: Detail) -> Markup {
        html! {
            g.hits stroke-width=(Length::of(self.timeline.width())) {
                @for slot in 0..self.timeline.len() {
                    path d={ "M" (Length::of(self.timeline.x(slot))) " " (Length::of(TOP)) "V" (Length::of(BOTTOM)) } {
                        title { (self.reading(slot, detail)) }
                    }
                }
            }
        }
    }

    /// The values of a period as text.
    fn reading(&self, slot: usize, detail: Detail) -> String {
        let so_far = if self.is_open && slot + 1 == self.timeline.len() { " so far" } else { "" };
        let name = match detail {
            Detail::Card => self.timeline.short_name(slot),
            Detail::Page => self.timeline.name(slot),
        };
        let is_stacked = self.style == Style::Bars && self.series.len() > 1;
        let is_told = |value: Amount| !is_stacked || value.height() > 0.0;
        let told = self.values_at(slot).filter(|(_, value)| is_told(*value)).map(|(name, value)| {
            if self.series.len() > 1 { format!("{name} {}", value.text()) } else { value.text() }
        });
        let has_room = !is_stacked || self.timeline.len() * self.series.len() <= TOLD_MAX;
        let mut values: Vec<String> = if has_room { told.collect() } else { Vec::new() };
        if is_stacked && values.len() != 1 {
            values.push(format!("together {}", sum(self.values_at(slot).map(|(_, value)| value)).text()));
        }
        if values.is_empty() {
            values.push("no value".to_owned());
        }
        format!("{name}{so_far}: {}", values.join(", "))
    }

    /// What there is to see, in words.
    fn summary(&self) -> String {
        let Some(last) = self.timeline.len().checked_sub(1) else {
            return "There is nothing to show.".to_owned();
        };
        let range = format!(
            "{} periods from {} to {}.",
            format::number(self.timeline.len()),
            self.timeline.name(0),
            self.timeline.name(last)
        );
        let told: Vec<String> = self.series.iter().filter_map(|series| self.told(series)).collect();
        if told.is_empty() {
            format!("{range} There is nothing in them.")
        } else {
            format!("{range} {}", told.join(" "))
        }
    }

    /// The highest and the last value of a series, in words.
    fn told(&self, series: &Series) -> Option<String> {
        let known = || series.values.iter().enumerate().filter_map(|(slot, value)| Some((slot, (*value)?)));
        let (slot, highest) = known().max_by(|a, b| a.1.height().total_cmp(&b.1.height()))?;
        let (_, last) = known().next_back()?;
        let name =
            if self.series.len() > 1 { format!("{}: highest", series.name) } else { "Highest".to_owned() };
        Some(format!("{name} {} ({}), last {}.", highest.text(), self.timeline.name(slot), last.text()))
    }
}

fn rules(scale: Scale) -> Markup {
    html! {
        g.rules {
            @for (part, _) in scale.lines() { path d={ "M0 " (Length::of(y(part))) "H" (Length::of(WIDTH)) } {} }
            path.ground d={ "M0 " (Length::of(BOTTOM)) "H" (Length::of(WIDTH)) } {}
        }
    }
}

/// What the lines stand for, written on them: that takes no room from the chart, however large the letters are.
fn rule_labels(scale: Scale) -> Markup {
    html! {
        g.labels {
            @for (part, label) in scale.lines() { text x="0" y=(Length::of(y(part) - 5.0)) { (label) } }
        }
    }
}
