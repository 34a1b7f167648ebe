//! What the charts mean, one by one, counted by hand.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use bourse_analytics::{
    Answer, Chart, ChartQuery, Chunk, Event, EventDetail, EventRefusal, Interval, Number, Point, Project,
    Range, Usage, Wallets, compute_by_service, daily_compute_by_service, total_compute,
};
use bourse_wire::{Address, Day};

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn wallet(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

/// Wallets that were there, by day: each of them connected.
fn project(days: &[(&str, &[u8])]) -> Project {
    let events = days.iter().flat_map(|(text, wallets)| {
        let event =
            |number: &u8| Event { wallet: wallet(*number), day: day(text), detail: EventDetail::Session };
        wallets.iter().map(event)
    });
    let (mut project, mut wallets) = (Project::default(), Wallets::default());
    let changes = project.prepare(&wallets, events.collect::<Vec<_>>()).unwrap();
    project.publish(&mut wallets, changes).unwrap();
    project
}

fn query(first: &str, last: &str, today: &str) -> ChartQuery {
    let range = Range::new(day(first), day(last)).unwrap();
    ChartQuery { range, interval: None, fill: false, today: day(today) }
}

fn series(project: &Project, chart: Chart, query: &ChartQuery) -> Vec<(String, f64)> {
    let Answer::Series(points) = project.chart(chart, query) else { panic!("{chart:?} is no series") };
    points.into_iter().map(flat).collect()
}

fn flat(point: Point) -> (String, f64) {
    let value = match point.value {
        Number::Count(count) => f64::from(u32::try_from(count).unwrap()),
        Number::Fraction(fraction) => fraction,
    };
    (point.label, value)
}

fn points<const N: usize>(points: [(&str, f64); N]) -> Vec<(String, f64)> {
    points.map(|(label, value)| (label.to_owned(), value)).to_vec()
}

#[test]
fn retention_leaves_out_what_is_not_known_yet() {
    let project = project(&[
        ("2024-01-01", &[1, 2, 3]),
        ("2024-01-02", &[1, 4]),
        ("2024-01-04", &[5]),
        ("2024-01-05", &[6]),
    ]);
    let d1 = |query: &ChartQuery| series(&project, Chart::D1RetentionByCohort, query);
    // The 3rd had no new wallets. Of the 5th, which is today, nothing is known: its day after is to come. Of the 4th the
    // day after is today, which has not passed.
    let query = query("2024-01-01", "2024-01-05", "2024-01-05");
    assert_eq!(d1(&query), points([("2024-01-01", 1.0 / 3.0), ("2024-01-02", 0.0)]));
    // A day later it is known, although it was beyond the range.
    let later = ChartQuery { today: day("2024-01-06"), ..query };
    assert_eq!(d1(&later)[2..], points([("2024-01-04", 0.0)]));
    let filled = ChartQuery { fill: true, ..query };
    assert_eq!(d1(&filled), points([("2024-01-01", 1.0 / 3.0), ("2024-01-02", 0.0), ("2024-01-03", 0.0)]));
    let average = series(&project, Chart::AverageD1Retention, &query);
    assert_eq!(average, points([("2024-01-01", 1.0 / 4.0)]));
    assert_eq!(series(&project, Chart::AverageD28Retention, &query), []);
}

#[test]
fn a_wallet_is_new_on_its_first_day_ever() {
    let project = project(&[("2024-01-05", &[1, 2]), ("2024-01-07", &[1, 3]), ("2023-12-31", &[2])]);
    let query = query("2024-01-01", "2024-01-31", "2024-02-01");
    let expected = points([("2024-01-05", 1.0), ("2024-01-07", 1.0)]);
    assert_eq!(series(&project, Chart::TotalNewWallets, &query), expected);
    assert_eq!(series(&project, Chart::MonthlyNewWallets, &query), points([("2024-01", 2.0)]));
}

#[test]
fn periods_count_a_wallet_once_and_only_on_days_of_the_range() {
    let project = project(&[
        ("2024-12-29", &[1]),
        ("2024-12-30", &[1, 2]),
        ("2025-01-01", &[2, 3]),
        ("2025-01-31", &[4]),
    ]);
    let query = query("2024-12-30", "2025-01-30", "2025-02-01");
    let daily = points([("2024-12-30", 2.0), ("2025-01-01", 2.0)]);
    assert_eq!(series(&project, Chart::WalletsDaily, &query), daily);
    let weekly = ChartQuery { interval: Some(Interval::Week), ..query };
    assert_eq!(series(&project, Chart::WalletsDaily, &weekly), points([("2024-12-30", 3.0)]));
    let monthly = points([("2024-12", 2.0), ("2025-01", 2.0)]);
    assert_eq!(series(&project, Chart::WalletsMonthly, &query), monthly);
    // A chart with periods of its own keeps them.
    assert_eq!(series(&project, Chart::DailyNewWallets, &weekly)[0].0, "2024-12-30");
    assert_eq!(series(&project, Chart::WalletsTotal, &query), points([("2024-12-30", 3.0)]));
    let filled = ChartQuery { fill: true, ..query };
    assert_eq!(series(&project, Chart::WalletsDaily, &filled).len(), 32);
}

#[test]
fn averages_are_sums_divided_once() {
    let project = project(&[("2024-01-01", &[1, 2]), ("2024-01-02", &[1])]);
    let query = query("2024-01-01", "2024-01-10", "2024-01-03");
    // Three days have begun.
    assert_eq!(series(&project, Chart::AverageDAU, &query), points([("2024-01-01", 1.0)]));
    // 2 of 2, 1 of 2, and on the third day nobody of 2.
    assert_eq!(series(&project, Chart::AverageStickiness, &query), points([("2024-01-01", 0.5)]));
    let rolling = points([("2024-01-01", 1.0), ("2024-01-02", 0.5)]);
    assert_eq!(series(&project, Chart::RollingStickiness, &query), rolling);
    // Nothing is there, and that is known.
    let empty = Project::default();
    assert_eq!(series(&empty, Chart::WalletsTotal, &query), points([("2024-01-01", 0.0)]));
    assert_eq!(series(&empty, Chart::AverageD1Retention, &query), []);
}

#[test]
fn segments_tell_when_wallets_came() {
    let project = project(&[
        ("2024-01-15", &[1, 2]),
        ("2024-02-10", &[2]),
        ("2024-03-01", &[3]),
        ("2024-03-20", &[1, 2, 3, 4]),
    ]);
    let query = query("2024-03-10", "2024-03-31", "2024-04-01");
    let Answer::Map(map) = project.chart(Chart::MonthlyActiveWalletsBySegment, &query) else { panic!() };
    let counts: Vec<(&str, Vec<(String, f64)>)> =
        map.into_iter().map(|(name, series)| (name, series.into_iter().map(flat).collect())).collect();
    let expected = [("new", 2.0), ("previousMonth", 1.0), ("older", 1.0)];
    assert_eq!(counts, expected.map(|(name, count)| (name, points([("2024-03", count)]))));
}

#[test]
fn the_zero_address_is_refused() {
    let event =
        |number| Event { wallet: wallet(number), day: day("2024-01-01"), detail: EventDetail::Session };
    let refused = Project::default().prepare(&Wallets::default(), [event(1), event(0)]);
    assert_eq!(refused.err(), Some(EventRefusal::ZeroAddress { index: 1 }));
}

#[test]
fn a_forgotten_wallet_leaves_its_events_and_comes_back_new() {
    let (mut project, mut wallets) = (Project::default(), Wallets::default());
    let event = |text| Event { wallet: wallet(1), day: day(text), detail: EventDetail::Transaction };
    let changes = project.prepare(&wallets, [event("2024-01-01"), event("2024-01-02")]).unwrap();
    project.publish(&mut wallets, changes).unwrap();
    let forgotten = project.prepare_forget(&wallets, &wallet(1)).unwrap();
    assert_eq!(forgotten.active_days, [day("2024-01-01"), day("2024-01-02")]);
    assert_eq!((forgotten.sent_days, forgotten.market_days), (2, 0));
    // Nothing of the address is left in what is stored, and its place is kept.
    let chunks: Vec<_> = forgotten.changes.chunks().map(|(_, bytes)| bytes).collect();
    assert_eq!(chunks, [vec![0; 20], vec![], vec![]]);
    project.publish(&mut wallets, forgotten.changes).unwrap();
    assert!(project.prepare_forget(&wallets, &wallet(1)).is_none());
    let query = query("2024-01-01", "2024-01-31", "2024-02-01");
    assert_eq!(series(&project, Chart::WalletsTotal, &query)[0].1.to_bits(), 0);
    assert_eq!(series(&project, Chart::WalletsTxnSentTotal, &query), points([("2024-01-01", 2.0)]));
    let changes = project.prepare(&wallets, [event("2024-01-09")]).unwrap();
    project.publish(&mut wallets, changes).unwrap();
    assert_eq!(wallets.len(), 2);
    assert_eq!(series(&project, Chart::DailyNewWallets, &query), points([("2024-01-09", 1.0)]));
}

#[test]
fn damaged_chunks_are_errors() {
    let (project, mut wallets) = (Project::default(), Wallets::default());
    let event = Event { wallet: wallet(1), day: day("2024-01-01"), detail: EventDetail::Market(Some("buy")) };
    for (key, mut bytes) in project.prepare(&wallets, [event]).unwrap().chunks() {
        bytes.push(0xff);
        assert!(Chunk::decode(key, &bytes).is_err() || wallets.load(key, &bytes).is_err(), "{key:?}");
    }
}

#[test]
fn compute_is_put_in_periods() {
    let usage = |text, service, units| Usage { day: day(text), service, units };
    let usage = [
        usage("2024-01-31", "Metadata", 5),
        usage("2024-02-01", "Metadata", 7),
        usage("2024-02-01", "Indexer", 1),
        usage("2024-02-02", "Metadata", 2),
        usage("2024-02-03", "Metadata", 100),
    ];
    let mut query = query("2024-01-31", "2024-02-02", "2024-03-01");
    assert_eq!(flat(total_compute(&usage, &query).remove(0)), ("2024-01-31".to_owned(), 15.0));
    let daily = daily_compute_by_service(&usage, &query);
    assert_eq!(daily["Indexer"].iter().cloned().map(flat).collect::<Vec<_>>(), points([("2024-02-01", 1.0)]));
    query.fill = true;
    assert_eq!(daily_compute_by_service(&usage, &query)["Indexer"].len(), 3);
    query.interval = Some(Interval::Month);
    let months = compute_by_service(&usage, &query);
    assert_eq!((months[1].label.as_str(), months[1].values["Metadata"]), ("2024-02", 9));
    assert_eq!(months[0].values["Indexer"], 0);
}
