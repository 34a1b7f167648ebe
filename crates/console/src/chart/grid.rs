//! Who came back, as a table whose cells have colours: a picture of it would have to be told in a table once more.

use maud::{Markup, html};

use crate::format;

/// From which share on a cell has which colour, in per mille. Most shares are small, so the steps are finer there.
const SHADES: [u64; 9] = [1, 25, 50, 100, 150, 200, 300, 450, 700];

/// Those who came on the same day, and how many of them were back so many days later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cohort {
    pub(crate) label: String,
    pub(crate) size: u64,
    pub(crate) returned: Vec<u64>,
}

/// A row for each cohort, the newest first, and a column for each day.
pub(crate) fn grid(cohorts: &[Cohort], caption: &str) -> Markup {
    let days = cohorts.iter().map(|cohort| cohort.returned.len()).max().unwrap_or_default();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.grid {
                caption { (caption) }
                thead { tr {
                    th scope="col" { "First day" } th scope="col" { "Wallets" }
                    @for day in 0..days { th scope="col" { "D" (day) } }
                } }
                tbody {
                    @for cohort in cohorts.iter().rev() {
                        tr {
                            th scope="row" { (cohort.label) }
                            td { (format::number(cohort.size)) }
                            @for returned in &cohort.returned { (cell(*returned, cohort.size)) }
                        }
                    }
                }
            }
        }
    }
}

/// Per cent, rounded; how many they are is in the title.
fn cell(returned: u64, size: u64) -> Markup {
    let per_mille = (u128::from(returned) * 1000).checked_div(u128::from(size)).unwrap_or_default();
    let shade = SHADES.iter().filter(|from| per_mille >= u128::from(**from)).count();
    let per_cent = (per_mille + 5) / 10;
    html! { td class={ "q" (shade) } title={ (returned) " of " (size) } { (per_cent) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shade(returned: u64, size: u64) -> String {
        cell(returned, size).into_string()
    }

    #[test]
    fn cells_have_the_colour_of_their_share() {
        assert_eq!(shade(0, 10), r#"<td class="q0" title="0 of 10">0</td>"#);
        assert_eq!(shade(10, 10), r#"<td class="q9" title="10 of 10">100</td>"#);
        assert_eq!(shade(1, 8), r#"<td class="q4" title="1 of 8">13</td>"#);
        assert_eq!(shade(0, 0), r#"<td class="q0" title="0 of 0">0</td>"#);
        let most = u64::MAX;
        assert!(shade(most, most).contains("q9"));
    }

    #[test]
    fn days_that_have_not_passed_have_no_cell() {
        let cohort = |label: &str, returned: &[u64]| Cohort {
            label: label.to_owned(),
            size: 4,
            returned: returned.to_vec(),
        };
        let text = grid(&[cohort("2025-03-01", &[4, 2, 1]), cohort("2025-03-02", &[4])], "Who came back")
            .into_string();
        assert_eq!(text.matches("<td class=\"q").count(), 4);
        assert!(text.contains(">D2<") && !text.contains(">D3<"));
        assert!(text.find("2025-03-02") < text.find("2025-03-01"), "the newest come first");
    }
}
