//! Whatever is drawn is inside its box, and looks as it did.

use proptest::prelude::*;

use super::draw::{HEIGHT, WIDTH};
use super::*;

fn days(first: &str, count: i32) -> Timeline {
    let first: bourse_wire::Day = first.parse().unwrap();
    let labels = (0..count).map(|day| bourse_wire::Day::from_number(first.number() + day).to_string());
    Timeline::new(Step::Day, labels)
}

fn counts(name: &str, values: &[u128]) -> Series {
    let values = values.iter().map(|value| Some(Amount::Count(*value))).collect();
    Series { name: name.to_owned(), values }
}

fn shares(name: &str, values: &[Option<f64>]) -> Series {
    let values = values.iter().map(|value| value.map(Amount::Share)).collect();
    Series { name: name.to_owned(), values }
}

/// One attribute a line, so that a difference can be read.
fn figure(plot: &Plot) -> String {
    plot.figure("x", Detail::Page).into_string().replace("><", ">\n<")
}

#[test]
fn one_line_with_a_day_that_is_not_over() {
    let plot =
        Plot::new(days("2025-03-10", 5), vec![counts("", &[0, 3, 3, 3, 12])], Unit::Count, Style::Lines);
    insta::assert_snapshot!(figure(&plot.with_open_end(true)));
}

#[test]
fn several_lines_with_gaps() {
    let d1 = shares("D1", &[Some(0.5), None, Some(0.25), Some(0.3)]);
    let d7 = shares("D7", &[Some(0.1), Some(0.0), None, None]);
    insta::assert_snapshot!(figure(&Plot::new(
        days("2025-03-10", 4),
        vec![d1, d7],
        Unit::Share,
        Style::Lines
    )));
}

#[test]
fn bars_on_top_of_each_other() {
    let timeline = Timeline::new(Step::Month, ["2024-12", "2025-01", "2025-02"].map(str::to_owned));
    let series = vec![counts("market<place>", &[1_000, 0, 2_500]), counts("metadata", &[500, 1_500, 0])];
    let plot = Plot::new(timeline, series, Unit::Count, Style::Bars);
    insta::assert_snapshot!(figure(&plot.clone().with_open_end(true)));
    insta::assert_snapshot!(plot.table("Compute units").into_string().replace("><", ">\n<"));
}

#[test]
fn names_of_periods_do_not_touch() {
    for count in [1, 2, 7, 8, 13, 30, 31, 90, 120, 365, 400] {
        let timeline = days("2024-12-20", count);
        for letter in [7.0, 12.5] {
            let ticks = timeline.ticks(letter);
            assert!(!ticks.is_empty(), "{count} days have no name");
            assert!(ticks.iter().all(|tick| tick.from >= 0.0 && tick.to <= WIDTH + 0.001), "{ticks:?}");
            assert!(ticks.windows(2).all(|pair| pair[0].to + letter < pair[1].from), "{ticks:?}");
        }
    }
    let names =
        |timeline: &Timeline| timeline.ticks(7.0).into_iter().map(|tick| tick.text).collect::<Vec<_>>();
    assert_eq!(names(&days("2025-03-10", 3)), ["10 Mar", "11 Mar", "12 Mar"]);
    assert_eq!(names(&days("2024-11-20", 200))[..2], ["Dec 2024", "Jan 2025"]);
    assert_eq!(days("2025-03-10", 1).name(0), "Mon 10 Mar 2025");
    let hours = Timeline::new(Step::Hour, ["2025-03-10T09".to_owned(), "2025-03-10T10".to_owned()]);
    assert_eq!(
        (names(&hours), hours.name(0)),
        (vec!["09:00".into(), "10:00".into()], "10 Mar, 09:00 UTC".into())
    );
}

#[test]
fn small_series_are_put_together() {
    let series = (1..=12).map(|size| counts(&format!("s{size}"), &[size])).collect();
    let plot = Plot::new(days("2025-03-10", 1), series, Unit::Count, Style::Bars);
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["s6", "s7", "s8", "s9", "s10", "s11", "s12", "5 others"]);
    assert_eq!(plot.series[7].values, [Some(Amount::Count(1 + 2 + 3 + 4 + 5))]);
    assert!((plot.height_at(0) - 78.0).abs() < f64::EPSILON, "nothing is lost");
}

#[test]
fn of_too_many_periods_the_highest_are_drawn() {
    let values: Vec<u128> = (0..1000).map(|day| if day == 501 { 99 } else { day % 7 }).collect();
    let plot = Plot::new(days("2022-01-01", 1000), vec![counts("", &values)], Unit::Count, Style::Lines);
    let drawn = plot.thinned();
    assert_eq!(drawn.timeline.len(), 334);
    assert!(drawn.series[0].values.contains(&Some(Amount::Count(99))));
    let text = figure(&plot);
    assert!(text.contains("every 3 periods") && text.contains(">Wed 17 May 2023: 99<"), "{text}");
}

/// What the attributes of an element say, by their names.
fn attributes<'t>(svg: &'t str, name: &str) -> impl Iterator<Item = &'t str> + use<'t> {
    let start = format!(" {name}=\"");
    svg.split(&start)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .into_iter()
}

/// Whether a text is a number within bounds.
fn is_within(text: &str, most: f64) -> bool {
    text.parse::<f64>().is_ok_and(|number| (0.0..=most).contains(&number))
}

/// Everything that positions something is a number inside the box.
fn check_positions(svg: &str) {
    for name in ["x", "stroke-width"] {
        assert!(attributes(svg, name).all(|text| is_within(text, WIDTH)), "{name} in {svg}");
    }
    assert!(attributes(svg, "y").all(|text| is_within(text, HEIGHT)), "y in {svg}");
    for path in attributes(svg, "d").filter(|path| !path.is_empty()) {
        let starts: Vec<usize> = path.match_indices(char::is_alphabetic).map(|(at, _)| at).collect();
        assert_eq!(starts.first(), Some(&0), "{path}");
        for (index, start) in starts.iter().enumerate() {
            let step = &path[*start..starts.get(index + 1).copied().unwrap_or(path.len())];
            let (letter, numbers) = step.split_at(1);
            let is_inside = match (letter, numbers.split_once(' ')) {
                ("M" | "L", Some((x, y))) => is_within(x, WIDTH) && is_within(y, HEIGHT),
                ("H", None) => is_within(numbers, WIDTH),
                ("V", None) => is_within(numbers, HEIGHT),
                ("h", None) => numbers == "0",
                ("Z", None) => numbers.is_empty(),
                _ => false,
            };
            assert!(is_inside, "{step} in {path}");
        }
    }
}

fn any_amount() -> impl Strategy<Value = Option<Amount>> {
    prop_oneof![
        Just(None),
        Just(Some(Amount::Count(0))),
        any::<u64>().prop_map(|count| Some(Amount::Count(count.into()))),
        any::<u128>().prop_map(|count| Some(Amount::Count(count))),
        (0.0..=1.0).prop_map(|share| Some(Amount::Share(share))),
        any::<f64>().prop_map(|share| Some(Amount::Share(share))),
        prop::sample::select(vec![f64::MAX, f64::INFINITY, f64::NAN, -1.0, f64::MIN_POSITIVE])
            .prop_map(|share| Some(Amount::Share(share))),
    ]
}

proptest! {
    #[test]
    fn everything_is_inside_the_box(
        series in prop::collection::vec(prop::collection::vec(any_amount(), 0..60), 0..12),
        periods in 0..500_i32,
        (is_share, has_bars, is_open) in any::<(bool, bool, bool)>(),
    ) {
        let unit = if is_share { Unit::Share } else { Unit::Count };
        let style = if has_bars { Style::Bars } else { Style::Lines };
        let named = series.into_iter().enumerate().map(|(index, values)| Series { name: index.to_string(), values });
        let plot = Plot::new(days("2023-12-15", periods), named.collect(), unit, style).with_open_end(is_open);
        for detail in [Detail::Card, Detail::Page] {
            let text = plot.figure("x", detail).into_string();
            check_positions(&text);
        }
        prop_assert!(!plot.table("x").into_string().is_empty());
    }
}
