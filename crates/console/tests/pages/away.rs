//! Pages while the database is away: they say so, and that is all. On PostgreSQL only.

use crate::browser::Browser;
use crate::support::{TestApp, wait_until};

#[tokio::test]
async fn pages_say_that_the_database_is_away() {
    let Some((app, relay)) = TestApp::relayed(&[("storage.database_timeout_ms", "300")]).await else {
        return;
    };
    let project = app.project_a.id;
    let browser = Browser::of_owner(&app, project).await;
    assert_eq!(browser.get("/console/account").await.status, 200);
    relay.fall_silent();
    let paths = ["", "/credentials", "/collections", "/audiences", "/analytics", "/usage"];
    let paths = paths.map(|rest| format!("/console/projects/{project}{rest}"));
    let others = ["/console", "/console/account"].map(str::to_owned);
    for path in paths.iter().chain(&others) {
        let page = browser.get(path).await;
        assert_eq!(page.status, 503, "{path}");
        assert!(page.says("the database is not available just now"), "{path}: {}", page.html);
        assert_eq!(page.headers["retry-after"], "5", "{path}");
    }
    relay.speak();
    wait_until("pages are there again", async || browser.get("/console/account").await.status == 200).await;
}
