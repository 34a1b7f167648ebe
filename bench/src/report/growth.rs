//! How costs grow with the data.

use super::contest::Contest;
use super::trading::TradingReport;

/// Prints the processor time for each request of each scenario, by the size of the data, and by how much it grew
/// from the first size to the last.
pub(crate) fn print_growth(trading: &[TradingReport]) {
    let (Some(first), Some(last)) = (trading.first(), trading.last()) else { return };
    println!("\ncpu µs/req by number of tokens, and the ratio to what it is compared with");
    let sizes: Vec<String> = trading.iter().map(|report| report.tokens.to_string()).collect();
    print_line("", &sizes, "growth");
    for contest in &first.contests {
        let name = contest.heading().name;
        let cells: Vec<String> = trading.iter().map(|report| cell(find(report, name))).collect();
        let growth = growth(find(first, name), find(last, name));
        print_line(name, &cells, &growth.map_or_else(|| "-".to_owned(), |times| format!("×{times:.2}")));
    }
}

fn print_line(name: &str, cells: &[String], growth: &str) {
    print!("{name:<22}");
    for cell in cells {
        print!("{cell:>18}");
    }
    println!("{growth:>9}");
}

fn find<'a>(report: &'a TradingReport, name: &str) -> Option<&'a Contest> {
    report.contests.iter().find(|contest| contest.heading().name == name)
}

fn cell(contest: Option<&Contest>) -> String {
    let known = contest.and_then(|contest| Some((contest.cpu_us()?, contest.median_ratio())));
    known.map_or_else(|| "-".to_owned(), |(cpu, ratio)| format!("{cpu:.1} ({ratio:.2})"))
}

fn growth(first: Option<&Contest>, last: Option<&Contest>) -> Option<f64> {
    Some(last?.cpu_us()? / first?.cpu_us()?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{cell, growth};
    use crate::report::{Contest, Heading, Round};
    use crate::stats::Figures;

    fn contest(cpu_us: u64) -> Contest {
        let figures = |requests_per_second| Figures {
            requests_per_second,
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(2),
            cpu_per_request: Some(Duration::from_micros(cpu_us)),
            body_bytes_mean: 1.0,
        };
        let heading = Heading {
            name: "count",
            title: String::new(),
            path: "/",
            cores: 2,
            subject: "bourse",
            reference: "bare",
            ratio_goal: 0.5,
        };
        let mut contest = Contest::begin(heading, 1);
        contest.add(Round { subject: figures(3.0), reference: figures(4.0) });
        contest
    }

    #[test]
    fn growth_is_that_of_the_processor_time() {
        assert_eq!(cell(Some(&contest(20))), "20.0 (0.75)");
        let grown = growth(Some(&contest(20)), Some(&contest(50)));
        assert!(grown.is_some_and(|times| (times - 2.5).abs() < 1e-9));
        assert_eq!((cell(None), growth(None, Some(&contest(50)))), ("-".to_owned(), None));
    }
}
