//! Charts as tables for spreadsheets.

use serde_json::{Value, json};

use super::{operations, scenario, track, wallet};
use crate::support::TestApp;
use crate::support::actor::Answer;

async fn table(app: &TestApp, operation: &str, body: Value) -> Answer {
    let actor = app.project_a.token.with("accept", "text/csv");
    actor.call(&format!("Analytics/{operation}"), body).await
}

/// The table of a chart over a range.
async fn rows(app: &TestApp, operation: &str, [start, end]: [&str; 2]) -> String {
    let answer = table(app, operation, json!({ "filter": { "startDate": start, "endDate": end } })).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/csv; charset=utf-8"),
        "{operation}"
    );
    answer.text()
}

#[tokio::test]
async fn a_series_is_a_column() {
    let app = scenario().await;
    let week = ["2025-02-10", "2025-02-16"];
    assert_eq!(
        rows(&app, "WalletsDaily", week).await,
        "label,value\n2025-02-10,2\n2025-02-11,1\n2025-02-13,1\n"
    );
    let shares = rows(&app, "DailyWalletTxnConversionRate", week).await;
    assert_eq!(shares, "label,value\n2025-02-10,0.5\n2025-02-11,1\n2025-02-13,0\n");
    assert_eq!(rows(&app, "WalletsDaily", ["2025-02-01", "2025-02-02"]).await, "label,value\n");
}

#[tokio::test]
async fn several_values_and_segments_are_columns() {
    let app = scenario().await;
    let range = ["2025-02-10", "2025-03-14"];
    let trades = rows(&app, "MarketTxnEventDaily", range).await;
    assert_eq!(trades, "label,buy,other,sell\n2025-02-17,1,1,1\n2025-03-10,1,0,0\n");
    let segments = rows(&app, "MonthlyActiveWalletsBySegment", range).await;
    assert_eq!(segments, "label,new,previousMonth,older\n2025-02,2,0,0\n2025-03,3,1,1\n");
}

#[tokio::test]
async fn a_grid_has_a_column_for_each_day_and_empty_cells_for_what_is_to_come() {
    let app = scenario().await;
    let filter = json!({ "startDate": "2025-02-10", "endDate": "2025-03-14" });
    let grid = table(&app, "RetentionGrid", json!({ "filter": filter, "days": 4 })).await.text();
    let expected = "label,size,d0,d1,d2,d3,d4\n\
        2025-02-10,2,2,1,0,1,0\n\
        2025-03-03,1,1,0,0,0,0\n\
        2025-03-10,1,1,0,0,1,\n\
        2025-03-14,1,,,,,\n";
    assert_eq!(grid, expected);
}

#[tokio::test]
async fn every_chart_is_a_table_when_asked_and_json_otherwise() {
    let app = scenario().await;
    let body = json!({ "filter": { "startDate": "2025-02-10", "endDate": "2025-03-14" } });
    let asked = async |accept: &str, operation: &str| {
        let actor = app.project_a.token.with("accept", accept);
        let answer = actor.call(&format!("Analytics/{operation}"), body.clone()).await;
        assert_eq!(answer.status, 200, "{operation}");
        answer.header("content-type").to_owned()
    };
    for operation in operations() {
        assert_eq!(asked("text/csv", operation).await, "text/csv; charset=utf-8", "{operation}");
    }
    for csv in ["TEXT/CSV; header=present", "application/xml, text/csv;q=0.5"] {
        assert_eq!(asked(csv, "WalletsDaily").await, "text/csv; charset=utf-8", "{csv}");
    }
    for json in ["*/*", "application/json", "text/*", "text/csvx"] {
        assert_eq!(asked(json, "WalletsDaily").await, "application/json", "{json}");
    }
    // What is no chart is no table, and neither is an error.
    let actor = app.project_a.token.with("accept", "text/csv");
    let audiences = actor.call("Builder/ListAudiences", json!({})).await;
    assert_eq!((audiences.status, audiences.header("content-type")), (200, "application/json"));
    let error = table(&app, "WalletsDaily", json!({})).await;
    assert_eq!((error.refusal(), error.header("content-type")), ((400, 2000), "application/json"));
}

/// Names come from callers with a public key; a spreadsheet must not take one for a formula.
#[tokio::test]
async fn names_are_quoted_and_never_formulas() {
    let app = TestApp::start().await;
    let names = ["a,b", "say \"hi\"", "=1+1", "+1", "-1", "@sum", "\t=1"];
    let event =
        |name: &&str| json!({ "wallet": wallet(1), "kind": "market", "properties": { "action": name } });
    track(&app.project_a.token, "x", names.iter().map(event).collect()).await;
    let text = rows(&app, "MarketTxnEventDaily", ["2025-03-14", "2025-03-14"]).await;
    let expected = "label,'\t=1,'+1,'-1,'=1+1,'@sum,\"a,b\",\"say \"\"hi\"\"\"\n2025-03-14,1,1,1,1,1,1,1\n";
    assert_eq!(text, expected);
}
