//! The numbers of a chart as a table.

use maud::{Markup, html};

use super::{Amount, Plot};
use crate::format;

/// Rows and cells that a page has room for. Who wants more takes the file.
const ROWS_MAX: usize = 400;
const CELLS_MAX: usize = 1_200;

impl Plot {
    /// The values, the newest first.
    pub(crate) fn table(&self, caption: &str) -> Markup {
        let rows = self.timeline.len().min(ROWS_MAX).min(CELLS_MAX / self.series.len().max(1));
        html! {
            div.scroll.fit tabindex="0" role="region" aria-label=(caption) {
                table.values {
                    caption { (caption) }
                    thead { tr {
                        th scope="col" { "Period" }
                        @for series in &self.series {
                            th scope="col" { @if series.name.is_empty() { "Value" } @else { (series.name) } }
                        }
                    } }
                    tbody {
                        @for slot in (self.timeline.len() - rows..self.timeline.len()).rev() {
                            tr {
                                th scope="row" { (self.timeline.name(slot)) }
                                @for series in &self.series { (cell(series.values.get(slot).copied().flatten())) }
                            }
                        }
                    }
                }
            }
            @if rows < self.timeline.len() {
                p.hint {
                    "These are the newest " (format::number(rows)) " of " (format::number(self.timeline.len())) " periods. The CSV file "
                    "has all."
                }
            }
        }
    }
}

fn cell(value: Option<Amount>) -> Markup {
    html! {
        @if let Some(value) = value { td title=[value.exact()] { (value.text()) } } @else { td.soft { "–" } }
    }
}
