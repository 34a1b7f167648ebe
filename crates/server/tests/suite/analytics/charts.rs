//! Every chart over the scenario. All numbers here were counted by hand.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{ask, expected, operations, scenario, series};

/// From the first Monday to today.
const RANGE: [&str; 2] = ["2025-02-10", "2025-03-14"];

/// Operation, member and points.
type Series<'a> = (&'a str, &'a str, &'a [(&'a str, f64)]);

const WALLETS: &[Series<'_>] = &[
    ("WalletsTotal", "walletStats", &[("2025-02-10", 6.0)]),
    (
        "WalletsDaily",
        "walletStats",
        &[
            ("2025-02-10", 2.0),
            ("2025-02-11", 1.0),
            ("2025-02-13", 1.0),
            ("2025-02-17", 2.0),
            ("2025-02-24", 1.0),
            ("2025-03-03", 2.0),
            ("2025-03-10", 3.0),
            ("2025-03-13", 1.0),
            ("2025-03-14", 2.0),
        ],
    ),
    ("WalletsMonthly", "walletStats", &[("2025-02", 2.0), ("2025-03", 5.0)]),
    (
        "WeeklyActiveWallets",
        "data",
        &[
            ("2025-02-10", 2.0),
            ("2025-02-17", 2.0),
            ("2025-02-24", 1.0),
            ("2025-03-03", 2.0),
            ("2025-03-10", 4.0),
        ],
    ),
    ("MarketWalletsTotal", "marketStats", &[("2025-02-10", 3.0)]),
    ("MarketWalletsDaily", "marketStats", &[("2025-02-17", 2.0), ("2025-03-10", 1.0)]),
    ("MarketWalletsMonthly", "marketStats", &[("2025-02", 2.0), ("2025-03", 1.0)]),
    (
        "DailyNewWallets",
        "data",
        &[("2025-02-10", 2.0), ("2025-03-03", 1.0), ("2025-03-10", 1.0), ("2025-03-14", 1.0)],
    ),
    (
        "TotalNewWallets",
        "data",
        &[("2025-02-10", 2.0), ("2025-03-03", 1.0), ("2025-03-10", 1.0), ("2025-03-14", 1.0)],
    ),
    ("MonthlyNewWallets", "data", &[("2025-02", 2.0), ("2025-03", 3.0)]),
];

const EVENTS: &[Series<'_>] = &[
    ("WalletsTxnSentTotal", "walletStats", &[("2025-02-10", 5.0)]),
    (
        "WalletsTxnSentDaily",
        "walletStats",
        &[("2025-02-10", 1.0), ("2025-02-11", 2.0), ("2025-03-03", 1.0), ("2025-03-10", 1.0)],
    ),
    ("WalletsTxnSentMonthly", "walletStats", &[("2025-02", 3.0), ("2025-03", 2.0)]),
    ("MarketTxnEventTotal", "marketStats", &[("2025-02-10", 4.0)]),
    ("MarketTxnEventMonthly", "marketStats", &[("2025-02", 3.0), ("2025-03", 1.0)]),
];

const SHARES: &[Series<'_>] = &[
    ("TotalWalletTxnConversionRate", "marketStats", &[("2025-02-10", 4.0 / 6.0)]),
    (
        "DailyWalletTxnConversionRate",
        "marketStats",
        &[
            ("2025-02-10", 1.0 / 2.0),
            ("2025-02-11", 1.0),
            ("2025-02-13", 0.0),
            ("2025-02-17", 0.0),
            ("2025-02-24", 0.0),
            ("2025-03-03", 1.0 / 2.0),
            ("2025-03-10", 1.0 / 3.0),
            ("2025-03-13", 0.0),
            ("2025-03-14", 0.0),
        ],
    ),
    ("MonthlyWalletTxnConversionRate", "marketStats", &[("2025-02", 1.0), ("2025-03", 2.0 / 5.0)]),
    // 15 wallets on 33 days.
    ("AverageDAU", "data", &[("2025-02-10", 15.0 / 33.0)]),
    // The wallet of January is in the 30 days before the 17th of February, and in those before the 24th not any more.
    (
        "RollingStickiness",
        "data",
        &[
            ("2025-02-10", 2.0 / 3.0),
            ("2025-02-11", 1.0 / 3.0),
            ("2025-02-13", 1.0 / 3.0),
            ("2025-02-17", 2.0 / 3.0),
            ("2025-02-24", 1.0 / 2.0),
            ("2025-03-03", 2.0 / 4.0),
            ("2025-03-10", 3.0 / 5.0),
            ("2025-03-13", 1.0 / 5.0),
            ("2025-03-14", 2.0 / 6.0),
        ],
    ),
    // Those who came today cannot have come back yet.
    ("D1RetentionByCohort", "data", &[("2025-02-10", 1.0 / 2.0), ("2025-03-03", 0.0), ("2025-03-10", 0.0)]),
    ("D3RetentionByCohort", "data", &[("2025-02-10", 1.0 / 2.0), ("2025-03-03", 0.0), ("2025-03-10", 1.0)]),
    // Seven days after the 10th of March is to come.
    ("D7RetentionByCohort", "data", &[("2025-02-10", 1.0), ("2025-03-03", 1.0)]),
    ("D14RetentionByCohort", "data", &[("2025-02-10", 1.0 / 2.0)]),
    ("D28RetentionByCohort", "data", &[("2025-02-10", 1.0 / 2.0)]),
    // All wallets together: 1 of 4, 2 of 4, 3 of 3, 1 of 2, 1 of 2.
    ("AverageD1Retention", "data", &[("2025-02-10", 1.0 / 4.0)]),
    ("AverageD3Retention", "data", &[("2025-02-10", 2.0 / 4.0)]),
    ("AverageD7Retention", "data", &[("2025-02-10", 1.0)]),
    ("AverageD14Retention", "data", &[("2025-02-10", 1.0 / 2.0)]),
    ("AverageD28Retention", "data", &[("2025-02-10", 1.0 / 2.0)]),
];

/// Charts with a test of their own below, and those of compute.
const OTHERS: &[&str] = &[
    "MarketTxnEventDaily",
    "MonthlyActiveWalletsBySegment",
    "MonthlyTransactingWalletsBySegment",
    "AverageStickiness",
    "RetentionGrid",
    "ComputeByService",
    "TotalCompute",
    "DailyComputeByService",
];

#[tokio::test]
async fn every_series_has_its_member_and_its_numbers() {
    let app = scenario().await;
    for (operation, member, numbers) in WALLETS.iter().chain(EVENTS).chain(SHARES) {
        let answer = ask(&app.project_a.token, operation, RANGE, json!({})).await;
        assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), [member], "{operation}");
        assert_eq!(series(&answer[member]), expected(numbers), "{operation}");
    }
}

#[test]
fn every_chart_is_tested_here() {
    let all = WALLETS.iter().chain(EVENTS).chain(SHARES).map(|(operation, ..)| *operation);
    let tested: BTreeSet<&str> = all.chain(OTHERS.iter().copied()).collect();
    assert_eq!(tested, operations().into_iter().collect());
}

#[tokio::test]
async fn counts_are_whole_numbers_and_shares_are_not() {
    let app = scenario().await;
    let text = async |operation: &str| {
        let body = json!({ "filter": { "startDate": "2025-02-11", "endDate": "2025-02-11" } });
        app.project_a.call(&format!("Analytics/{operation}"), body).await.text()
    };
    assert_eq!(text("WalletsDaily").await, r#"{"walletStats":[{"value":1,"label":"2025-02-11"}]}"#);
    let share = text("DailyWalletTxnConversionRate").await;
    assert_eq!(share, r#"{"marketStats":[{"value":1.0,"label":"2025-02-11"}]}"#);
}

#[tokio::test]
async fn trades_are_told_by_action() {
    let app = scenario().await;
    let answer = ask(&app.project_a.token, "MarketTxnEventDaily", RANGE, json!({})).await;
    let expected = json!({ "marketStats": [
        { "value": { "buy": 1, "other": 1, "sell": 1 }, "label": "2025-02-17" },
        { "value": { "buy": 1 }, "label": "2025-03-10" },
    ] });
    assert_eq!(answer, expected);
}

/// New, active in the month before, and the rest, for both months.
fn segments(answer: &Value) -> BTreeMap<&str, Vec<(String, f64)>> {
    let map = answer["data"].as_object().unwrap();
    map.iter().map(|(name, points)| (name.as_str(), series(points))).collect()
}

#[tokio::test]
async fn months_are_told_by_when_wallets_came() {
    let app = scenario().await;
    let months = |counts: [f64; 2]| expected(&[("2025-02", counts[0]), ("2025-03", counts[1])]);
    let a = &app.project_a.token;
    let active = ask(a, "MonthlyActiveWalletsBySegment", RANGE, json!({})).await;
    // In March the 3rd, 4th and 6th wallet are new, the 1st was there in February, the 5th only before.
    let numbers = [("new", [2.0, 3.0]), ("previousMonth", [0.0, 1.0]), ("older", [0.0, 1.0])];
    assert_eq!(segments(&active), numbers.map(|(name, counts)| (name, months(counts))).into());
    let sent = ask(a, "MonthlyTransactingWalletsBySegment", RANGE, json!({})).await;
    let numbers = [("new", [2.0, 1.0]), ("previousMonth", [0.0, 0.0]), ("older", [0.0, 1.0])];
    assert_eq!(segments(&sent), numbers.map(|(name, counts)| (name, months(counts))).into());
}

#[tokio::test]
async fn stickiness_on_average_is_of_sums() {
    let app = scenario().await;
    let four_days = ["2025-02-10", "2025-02-13"];
    let answer = ask(&app.project_a.token, "AverageStickiness", four_days, json!({})).await;
    // 2, 1, nobody and 1, of three on each of the days.
    assert_eq!(series(&answer["data"]), expected(&[("2025-02-10", 4.0 / 12.0)]));
}

#[tokio::test]
async fn a_grid_shows_all_cohorts_at_once() {
    let app = scenario().await;
    let grid = async |days: Value| {
        let filter = json!({ "startDate": RANGE[0], "endDate": RANGE[1] });
        app.project_a.call("Analytics/RetentionGrid", json!({ "filter": filter, "days": days })).await
    };
    let expected = json!({ "data": [
        { "label": "2025-02-10", "size": 2, "returned": [2, 1, 0, 1] },
        { "label": "2025-03-03", "size": 1, "returned": [1, 0, 0, 0] },
        { "label": "2025-03-10", "size": 1, "returned": [1, 0, 0, 1] },
        { "label": "2025-03-14", "size": 1, "returned": [] },
    ] });
    assert_eq!(grid(json!(3)).await.ok(), expected);
    let usual = grid(json!(null)).await.ok();
    let lengths: Vec<usize> = usual["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cohort| cohort["returned"].as_array().unwrap().len())
        .collect();
    // 28 days and the first, as far as they have passed.
    assert_eq!(lengths, [29, 11, 4, 0]);
    assert_eq!(grid(json!(90)).await.status, 200);
    let refused = grid(json!(91)).await;
    assert_eq!(refused.refusal(), (400, 2000));
    assert_eq!(refused.json["msg"], "days: 91 where at most 90 are shown");
}

/// What happens while a day lasts is not in retention, and is when the day is over.
#[tokio::test]
async fn a_day_must_be_over_before_it_counts_for_retention() {
    let app = scenario().await;
    let cohort = async || {
        let today = ["2025-03-14", "2025-03-14"];
        series(&ask(&app.project_a.token, "D1RetentionByCohort", today, json!({})).await["data"])
    };
    app.clock.set("2025-03-15T23:59:59Z");
    super::track(&app.project_a.token, "back", vec![super::session(4, "2025-03-15T20:00:00Z")]).await;
    super::track(&app.project_a.token, "back too", vec![super::session(6, "2025-03-15T20:00:00Z")]).await;
    assert_eq!(cohort().await, []);
    app.clock.set("2025-03-16T00:00:00Z");
    assert_eq!(cohort().await, expected(&[("2025-03-14", 1.0)]));
}

#[tokio::test]
async fn a_project_without_events_has_charts_without_points() {
    let app = scenario().await;
    for operation in operations() {
        let answer = ask(&app.project_b.token, operation, RANGE, json!({})).await;
        let shown = answer.as_object().unwrap().values().next().unwrap();
        let empty = match operation {
            // What is counted over the whole range is a number, also when it is none.
            "WalletsTotal"
            | "WalletsTxnSentTotal"
            | "MarketTxnEventTotal"
            | "MarketWalletsTotal"
            | "TotalCompute" => json!([{ "value": 0, "label": "2025-02-10" }]),
            "AverageDAU" => json!([{ "value": 0.0, "label": "2025-02-10" }]),
            "DailyComputeByService" => json!({}),
            "MonthlyActiveWalletsBySegment" | "MonthlyTransactingWalletsBySegment" => {
                json!({ "new": [], "previousMonth": [], "older": [] })
            }
            _ => json!([]),
        };
        assert_eq!(*shown, empty, "{operation}");
    }
}
