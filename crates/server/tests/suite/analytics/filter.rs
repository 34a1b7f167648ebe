//! Which days a chart is of, and how they are put together.

use serde_json::{Value, json};

use super::{ask, expected, operations, points, scenario, series, track};
use crate::support::TestApp;

const WEEK: [&str; 2] = ["2025-02-10", "2025-02-16"];

#[tokio::test]
async fn days_without_data_are_left_out_unless_they_are_asked_for() {
    let app = scenario().await;
    let a = &app.project_a.token;
    let sparse = [("2025-02-10", 2.0), ("2025-02-11", 1.0), ("2025-02-13", 1.0)];
    for filter in [json!({}), json!({ "fill": false }), json!({ "fill": null })] {
        assert_eq!(points(a, "WalletsDaily", WEEK, filter).await, expected(&sparse));
    }
    let dense = [
        ("2025-02-10", 2.0),
        ("2025-02-11", 1.0),
        ("2025-02-12", 0.0),
        ("2025-02-13", 1.0),
        ("2025-02-14", 0.0),
        ("2025-02-15", 0.0),
        ("2025-02-16", 0.0),
    ];
    assert_eq!(points(a, "WalletsDaily", WEEK, json!({ "fill": true })).await, expected(&dense));
    let months =
        points(a, "MarketWalletsMonthly", ["2025-01-31", "2025-03-01"], json!({ "fill": true })).await;
    assert_eq!(months, expected(&[("2025-01", 0.0), ("2025-02", 2.0), ("2025-03", 0.0)]));
}

/// Clients send what would narrow a chart to some of a project's things, with nothing in it.
#[tokio::test]
async fn what_narrows_nothing_is_taken() {
    let app = scenario().await;
    let a = &app.project_a.token;
    let all = points(a, "WalletsDaily", WEEK, json!({})).await;
    let neutral = json!({ "collections": [], "tokenId": "", "projectType": "ALL" });
    assert_eq!(points(a, "WalletsDaily", WEEK, neutral).await, all);
    for (member, narrowing) in [("collections", json!(["0x11"])), ("projectType", json!("MARKETPLACE"))] {
        let mut filter = json!({ "startDate": WEEK[0], "endDate": WEEK[1] });
        filter[member] = narrowing;
        let refused = a.call("Analytics/WalletsDaily", json!({ "filter": filter })).await;
        assert_eq!(refused.status, 400, "{}", refused.json);
        assert!(refused.json["msg"].as_str().unwrap().starts_with(&format!("filter.{member}")));
    }
}

#[tokio::test]
async fn several_values_are_filled_with_all_names() {
    let app = scenario().await;
    let a = &app.project_a.token;
    let days = ["2025-02-16", "2025-02-17"];
    let answer = ask(a, "MarketTxnEventDaily", days, json!({ "fill": true })).await;
    let expected = json!([
        { "value": { "buy": 0, "other": 0, "sell": 0 }, "label": "2025-02-16" },
        { "value": { "buy": 1, "other": 1, "sell": 1 }, "label": "2025-02-17" },
    ]);
    assert_eq!(answer["marketStats"], expected);
    // Cohorts that are not known yet are not zero.
    let cohorts =
        points(a, "D1RetentionByCohort", ["2025-03-11", "2025-03-14"], json!({ "fill": true })).await;
    assert_eq!(cohorts, super::expected(&[("2025-03-11", 0.0), ("2025-03-12", 0.0)]));
    let answer = ask(a, "RetentionGrid", ["2025-03-13", "2025-03-14"], json!({ "fill": true })).await;
    let expected = json!([
        { "label": "2025-03-13", "size": 0, "returned": [0] },
        { "label": "2025-03-14", "size": 1, "returned": [] },
    ]);
    assert_eq!(answer["data"], expected);
}

#[tokio::test]
async fn three_charts_can_be_regrouped_and_count_each_wallet_once_in_a_period() {
    let app = scenario().await;
    let a = &app.project_a.token;
    // Two wallets on three days, of a Wednesday to the Wednesday after.
    let range = ["2025-02-12", "2025-02-19"];
    let by = |interval: &str| json!({ "dateInterval": interval });
    for operation in ["WalletsDaily", "WalletsMonthly"] {
        let day = points(a, operation, range, by("DAY")).await;
        assert_eq!(day, expected(&[("2025-02-13", 1.0), ("2025-02-17", 2.0)]), "{operation}");
        // The first week has only the days of the range, and still the name of its Monday.
        let week = points(a, operation, range, by("WEEK")).await;
        assert_eq!(week, expected(&[("2025-02-10", 1.0), ("2025-02-17", 2.0)]), "{operation}");
        let month = points(a, operation, range, by("MONTH")).await;
        assert_eq!(month, expected(&[("2025-02", 2.0)]), "{operation}");
    }
    assert_eq!(points(a, "WalletsDaily", range, by("")).await.len(), 2, "nothing said");
    assert_eq!(points(a, "WalletsMonthly", range, json!({ "dateInterval": null })).await[0].0, "2025-02");
    // The others keep their own.
    let daily = points(a, "TotalNewWallets", ["2025-02-10", "2025-02-10"], by("MONTH")).await;
    assert_eq!(daily, expected(&[("2025-02-10", 2.0)]));
}

#[tokio::test]
async fn a_month_has_only_the_days_that_are_asked_for() {
    let app = scenario().await;
    let a = &app.project_a.token;
    let part = points(a, "WalletsMonthly", ["2025-02-11", "2025-03-03"], json!({})).await;
    assert_eq!(part, expected(&[("2025-02", 2.0), ("2025-03", 2.0)]));
    let part = points(a, "WalletsTxnSentMonthly", ["2025-02-11", "2025-03-03"], json!({})).await;
    assert_eq!(part, expected(&[("2025-02", 2.0), ("2025-03", 1.0)]));
}

async fn refusal(app: &TestApp, operation: &str, filter: &Value) -> (u16, i64, String) {
    let answer = app.project_a.call(&format!("Analytics/{operation}"), json!({ "filter": filter })).await;
    let (status, code) = answer.refusal();
    (status, code, answer.json["msg"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_filter_that_makes_no_sense_is_refused_by_name_of_the_member() {
    let app = scenario().await;
    let range = |start: &str, end: &str| json!({ "startDate": start, "endDate": end });
    let interval = |interval: &str| json!({ "startDate": "2025-01-01", "endDate": "2025-01-02", "dateInterval": interval });
    for (filter, said) in [
        (range("2025-02-02", "2025-02-01"), "filter.startDate: is after endDate"),
        (range("2020-02-01", "2025-02-01"), "filter.endDate: the range is longer than 5 years"),
        (range("2025-2-1", "2025-02-01"), "filter.startDate: `2025-2-1` is not a day in the form YYYY-MM-DD"),
        (
            range("2025-02-01", "2025-02-30"),
            "filter.endDate: `2025-02-30` is not a day in the form YYYY-MM-DD",
        ),
        (range("2025-02-01T00:00:00Z", "2025-02-02"), "filter.startDate: "),
        (json!({ "endDate": "2025-02-01" }), "filter.startDate: is required"),
        (json!({ "startDate": "2025-02-01", "endDate": null }), "filter.endDate: is required"),
        (interval("YEAR"), "filter.dateInterval: `YEAR` is none of DAY, WEEK, MONTH"),
        (interval("day"), "filter.dateInterval: `day` is none of DAY, WEEK, MONTH"),
    ] {
        // Also a chart that has its own periods does not let nonsense pass.
        for operation in ["WalletsDaily", "ComputeByService", "RetentionGrid", "AverageDAU"] {
            let (status, code, message) = refusal(&app, operation, &filter).await;
            assert_eq!((status, code), (400, 2000), "{operation} {filter}: {message}");
            assert!(message.starts_with(said), "{operation} {filter}: {message}");
        }
    }
    let answer = app.project_a.call("Analytics/WalletsDaily", json!({})).await;
    assert_eq!((answer.refusal(), &answer.json["msg"]), ((400, 2000), &json!("filter: is required")));
    // Five years, with two days of leap years between them.
    points(&app.project_a.token, "WalletsDaily", ["2020-01-01", "2024-12-31"], json!({ "fill": true })).await;
    let week = points(&app.project_a.token, "WalletsDaily", ["2025-03-10", "2025-03-10"], json!({})).await;
    assert_eq!(week, expected(&[("2025-03-10", 3.0)]), "one day is a range");
}

/// Every chart is of the project of the token, whatever the body names.
#[tokio::test]
async fn no_chart_reaches_another_project() {
    let app = scenario().await;
    let (a, b) = (&app.project_a, &app.project_b);
    let filter = json!({ "startDate": "2025-02-10", "endDate": "2025-03-14", "fill": true });
    for operation in operations() {
        let path = format!("Analytics/{operation}");
        let mut own = filter.clone();
        own["projectId"] = json!(a.id);
        assert_eq!(a.call(&path, json!({ "filter": own.clone() })).await.status, 200, "{operation}");
        assert_eq!(
            b.call(&path, json!({ "filter": own.clone() })).await.refusal(),
            (403, 1001),
            "{operation}"
        );
        let of_b = b.call(&path, json!({ "filter": filter })).await.ok();
        assert!(sum(&of_b) < 1e-9, "{operation}: {of_b}");
        assert_eq!(a.key.call(&path, json!({ "filter": own })).await.refusal(), (403, 1001), "{operation}");
        assert_eq!(app.anonymous.call(&path, json!({})).await.refusal(), (401, 1000), "{operation}");
    }
    let body = json!({ "projectId": a.id, "batchId": "x", "events": [] });
    assert_eq!(b.call("Ingest/TrackEvents", body).await.refusal(), (403, 1001));
    track(&b.token, "x", vec![super::session(7, "2025-03-14T00:00:00Z")]).await;
    let total =
        series(&ask(&a.token, "WalletsTotal", ["2025-02-10", "2025-03-14"], json!({})).await["walletStats"]);
    assert_eq!(total, expected(&[("2025-02-10", 6.0)]));
}

/// All numbers of an answer, added up.
fn sum(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().unwrap(),
        Value::Array(items) => items.iter().map(sum).sum(),
        Value::Object(members) => members.values().map(sum).sum(),
        _ => 0.0,
    }
}
