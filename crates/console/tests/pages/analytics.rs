//! Pages with charts.

use bourse_store::UsageLine;
use bourse_wire::Day;
use serde_json::{Value, json};

use super::browser::{Browser, Page};
use crate::support::TestApp;
use crate::support::events::{operations, scenario, track, wallet};

/// The largest page that there may be.
const PAGE_BYTES_MAX: usize = 100_000;

fn path(app: &TestApp, rest: &str) -> String {
    format!("/console/projects/{}/analytics{rest}", app.project_a.id)
}

/// A page of project A, as its owner sees it.
async fn page(app: &TestApp, rest: &str) -> Page {
    let page = Browser::of_owner(app, app.project_a.id).await.get(&path(app, rest)).await;
    assert!(page.html.len() < PAGE_BYTES_MAX, "{rest} has {} bytes", page.html.len());
    assert!(!page.html.contains(" style="), "the policy lets no element have a style");
    page
}

/// Units of a service on each of the days up to today.
async fn use_service(app: &TestApp, service: &str, days: i32, units: u64) {
    let today = Day::of(app.now()).number();
    let line = |day: i32| UsageLine {
        id: format!("{service}-{day}"),
        service: service.to_owned(),
        day: Day::from_number(today - day),
        units,
    };
    app.store.put_usage(app.project_a.scope, (0..days).map(line).collect()).await.unwrap();
}

#[tokio::test]
async fn the_overview_has_the_numbers_and_charts_of_the_range() {
    let app = scenario().await;
    use_service(&app, "metadata", 10, 1234).await;
    let all = page(&app, "?from=2025-01-01&to=2025-03-14").await;
    assert_eq!(all.status, 200);
    for (name, value) in [("Active wallets", "6"), ("Transactions", "5"), ("Market events", "4")] {
        let tile = format!(">{name}</a></dt><dd>{value}</dd>");
        assert!(all.html.contains(&tile), "{tile} is not in {}", all.html);
    }
    for chart in ["WalletsDaily", "DailyNewWallets", "WalletsTxnSentDaily", "MarketWalletsDaily"] {
        assert!(all.html.contains(&format!("id=\"chart-{chart}\"")), "{chart}");
    }
    assert!(all.says("10 Feb: 2") && all.says("14 Mar so far: 2"), "{}", all.html);
    assert!(all.says("17 Feb: buy 1, other 1, sell 1, together 3"));
    assert!(all.says("14 Mar so far: 1\u{202f}234"));
    let week = page(&app, "?range=7d").await;
    assert!(!week.says("10 Feb") && week.says("10 Mar: 3"));
    // What is in the address is in the links: a page can be shared.
    assert!(week.html.contains("analytics/WalletsDaily?range=7d\""));
}

#[tokio::test]
async fn retention_is_a_grid_with_shades() {
    let app = scenario().await;
    let page = page(&app, "?about=retention&from=2025-02-01&to=2025-03-14").await;
    assert!(page.says("D1") && page.html.contains("chart-D1RetentionByCohort"));
    // Of the two wallets of the 10th, one came back a day later, the other after three.
    let row = "<th scope=\"row\">2025-02-10</th><td>2</td><td class=\"q9\" title=\"2 of 2\">100</td>\
        <td class=\"q8\" title=\"1 of 2\">50</td><td class=\"q0\" title=\"0 of 2\">0</td>\
        <td class=\"q8\" title=\"1 of 2\">50</td>";
    assert!(page.html.contains(row), "{}", page.html);
}

#[tokio::test]
async fn every_chart_has_a_page_and_a_file() {
    let app = scenario().await;
    use_service(&app, "metadata", 40, 7).await;
    let browser = Browser::of_viewer(&app, app.project_a.id).await;
    let range = "?from=2025-02-01&to=2025-03-14";
    for operation in operations() {
        let shown = page(&app, &format!("/{operation}{range}")).await;
        assert_eq!(shown.status, 200, "{operation}");
        let link = format!("{operation}/csv{range}").replace('&', "&amp;");
        assert!(shown.html.contains(&link), "{operation} has no link to its file");
        let file = browser.get(&path(&app, &format!("/{operation}/csv{range}"))).await;
        let header = |name: &str| file.headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!((file.status, header("content-type").as_str()), (200, "text/csv; charset=utf-8"));
        let name = format!("attachment; filename=\"{operation}_2025-02-01_2025-03-14.csv\"");
        assert_eq!(header("content-disposition"), name);
        assert_eq!(file.html, answer(&app, operation).await, "{operation}");
    }
}

/// The same table from the operation itself; counts have all periods, shares only those that there are.
async fn answer(app: &TestApp, operation: &str) -> String {
    let actor = app.project_a.token.with("accept", "text/csv");
    let filter = |fill: bool| json!({ "filter": { "startDate": "2025-02-01", "endDate": "2025-03-14", "fill": fill } });
    let is_share = ["Rate", "Stickiness", "RetentionByCohort"].iter().any(|word| operation.contains(word))
        || (operation.starts_with("AverageD") && operation != "AverageDAU");
    actor.call(&format!("Analytics/{operation}"), filter(!is_share)).await.text()
}

#[tokio::test]
async fn a_chart_has_its_numbers_in_a_table() {
    let app = scenario().await;
    let daily = page(&app, "/WalletsDaily?from=2025-03-10&to=2025-03-14").await;
    assert!(daily.says("Fri 14 Mar 2025 so far: 2") && daily.says("Tue 11 Mar 2025: 0"));
    let row = "<tr><th scope=\"row\">Mon 10 Mar 2025</th><td>3</td></tr>";
    assert!(daily.html.contains(row), "{}", daily.html);
    let monthly = page(&app, "/WalletsDaily?range=12m&by=MONTH").await;
    assert!(monthly.says("Active wallets by month"));
    assert!(monthly.html.contains("<th scope=\"row\">Feb 2025</th><td>2</td>"));
    assert!(monthly.html.contains("csv?range=12m&amp;by=MONTH\""));
    // A day without new wallets has no retention, which is not the same as none.
    let retention = page(&app, "/D1RetentionByCohort?from=2025-02-10&to=2025-02-11").await;
    assert!(
        retention.html.contains("<td title=\"0.5\">50.0%</td>")
            && retention.says("Tue 11 Feb 2025: no value")
    );
    let total = page(&app, "/WalletsTotal?range=90d").await;
    assert!(total.html.contains("<p class=\"figure\">6</p>"), "{}", total.html);
    let mean = page(&app, "/AverageDAU?from=2025-03-12&to=2025-03-14").await;
    assert!(mean.html.contains("<p class=\"figure\">1.0</p>") && mean.says("Exactly 1"));
}

#[tokio::test]
async fn wrong_ranges_are_told_and_kept() {
    let app = scenario().await;
    for chart in ["", "/WalletsDaily", "/RetentionGrid"] {
        for (query, message) in [
            ("from=2025-03-14&to=2025-03-01", "filter.startDate: is after endDate"),
            ("from=2010-01-01&to=2025-03-01", "longer than 5 years"),
            ("from=%22%3E%3Cscript%3E&to=2025-03-01", "not a day in the form YYYY-MM-DD"),
            ("from=2025-02-01", "filter.endDate"),
            ("range=forever", "range: must be one of 7d, 30d, 90d, 12m, 5y"),
            ("by=YEAR", "by: must be DAY, WEEK or MONTH"),
        ] {
            let page = page(&app, &format!("{chart}?{query}")).await;
            assert!(page.status == 422 && page.says(message), "{query}: {} {}", page.status, page.html);
            assert!(!page.html.contains("<svg"));
        }
        let kept = page(&app, &format!("{chart}?from=%22%3E%3Cscript%3E&to=2025-03-01")).await;
        assert!(kept.html.contains("name=\"from\" value=\"&quot;&gt;&lt;script&gt;\""), "{}", kept.html);
        assert!(kept.html.contains("name=\"to\" value=\"2025-03-01\""));
    }
    assert_eq!(page(&app, "/WalletsDaily/csv?from=2025-03-14&to=2025-03-01").await.status, 400);
    for missing in ["/Ping", "/NoSuchChart", "/NoSuchChart/csv", "?about=weather"] {
        assert_eq!(page(&app, missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn without_events_it_tells_how_to_send_one() {
    let app = TestApp::start().await;
    use_service(&app, "metadata", 3, 5).await;
    let empty = page(&app, "").await;
    assert!(empty.status == 200 && empty.says("No events yet") && empty.says("chart-ComputeByService"));
    assert!(!empty.html.contains("chart-WalletsDaily"));
    let command = empty.html.split("<code>curl").nth(1).unwrap().split("</code>").next().unwrap();
    let command = command.replace("&quot;", "\"");
    assert!(command.contains("https://bourse.example/rpc/Ingest/TrackEvents"), "{command}");
    let body = command.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let taken = app.project_a.token.call("Ingest/TrackEvents", body).await.ok();
    assert_eq!(taken["accepted"], 1);
    let full = page(&app, "").await;
    assert!(!full.says("No events yet") && full.says("14 Mar so far: 1"));
    let before = page(&app, "?from=2025-01-01&to=2025-01-31&about=wallets").await;
    assert!(before.says("Nothing in these days.") && !before.says("No events yet"));
}

#[tokio::test]
async fn only_members_see_charts() {
    let app = scenario().await;
    let viewer = Browser::of_viewer(&app, app.project_a.id).await;
    let stranger = Browser::of_owner(&app, app.project_b.id).await;
    for rest in ["", "/WalletsDaily", "/WalletsDaily/csv"] {
        let path = path(&app, rest);
        assert_eq!(viewer.get(&path).await.status, 200, "{rest}");
        assert_eq!(stranger.get(&path).await.status, 404, "{rest}");
        let nobody = app.anonymous.get(&path).await;
        assert!(nobody.status == 303 && nobody.header("location").starts_with("/console/sign-in"), "{rest}");
    }
    let own = stranger.get(&format!("/console/projects/{}/analytics?range=90d", app.project_b.id)).await;
    assert!(own.says("No events yet"), "the other project's events are not its own");
}

#[tokio::test]
async fn names_from_outside_stay_text() {
    let app = TestApp::start().await;
    let hostile = "<script>alert(1)</script>\"'&\u{202e}";
    use_service(&app, hostile, 3, 5).await;
    let event =
        json!({ "wallet": wallet(1), "kind": "market", "properties": { "action": "<img src=x onerror=y>" } });
    track(&app.project_a.token, "one", vec![event]).await;
    for rest in ["", "?about=market", "?about=compute", "/ComputeByService", "/MarketTxnEventDaily"] {
        let page = page(&app, rest).await;
        assert!(
            page.status == 200 && !page.html.contains("<script>alert") && !page.html.contains("<img"),
            "{rest}"
        );
    }
    assert!(page(&app, "/ComputeByService").await.says(hostile));
}

#[tokio::test]
async fn pages_stay_small_whatever_there_is_to_show() {
    let app = TestApp::start().await;
    for service in 0..12 {
        use_service(&app, &format!("service-{service}"), 1_826, 123_456_789 + service).await;
    }
    let start = Day::of(app.now()).number();
    for day in 0..100 {
        let at = format!("{}T00:00:00Z", Day::from_number(start - day));
        let number = u64::from(day.unsigned_abs());
        let event = |kind: &str| json!({ "wallet": wallet(number % 40 + 1), "kind": kind, "at": at });
        let events = vec![event("session"), event("transaction"), event("market")];
        track(&app.project_a.token, &day.to_string(), events).await;
    }
    // Their sizes are looked at by `page`.
    for range in ["7d", "30d", "90d", "12m", "5y"] {
        for topic in ["", "wallets", "transactions", "market", "retention", "compute"] {
            assert_eq!(page(&app, &format!("?range={range}&about={topic}")).await.status, 200);
        }
        for chart in ["WalletsDaily", "ComputeByService", "RetentionGrid", "RollingStickiness"] {
            assert_eq!(page(&app, &format!("/{chart}?range={range}")).await.status, 200);
        }
    }
    let compute = page(&app, "/ComputeByService?range=5y").await;
    assert!(
        compute.says("5 others")
            && compute.says("of every 8 periods")
            && compute.says("The CSV file has all.")
    );
}
