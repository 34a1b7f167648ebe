//! The explorer: forms made from the document, and what sending them does.

use bourse_server::router::operations;
use serde_json::json;

use super::browser::Browser;
use crate::support::TestApp;
use crate::support::seed::{self, RELICS};

const HOSTILE: &str = "<script>alert(1)</script>";

fn at(app: &TestApp, rest: &str) -> String {
    format!("/console/projects/{}/explorer{rest}", app.project_a.id)
}

#[tokio::test]
async fn every_operation_has_its_form_and_its_example() {
    let app = TestApp::start().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let list = owner.get(&at(&app, "")).await;
    for route in operations() {
        let path = at(&app, &format!("/{}/{}", route.service.name(), route.name));
        // What stands in backticks is set as code.
        let summary = route.summary.split('`').next().unwrap();
        assert!(list.html.contains(&format!("href=\"{path}\"")) && list.says(summary), "{path}");
        for query in ["", "?as=json"] {
            let page = owner.get(&format!("{path}{query}")).await;
            assert_eq!(page.status, 200, "{path}");
            assert!(page.says(&route.path()) && page.html.contains("/docs#op-"), "{path}");
            assert!(page.html.len() < 100_000, "{path} has {} bytes", page.html.len());
        }
        let has_fields = owner.get(&path).await.html.contains("name=\"member-");
        assert!(route.example == "{}" || has_fields, "{path}");
    }
    assert_eq!(owner.get(&at(&app, "/Metadata/Nothing")).await.status, 404);
    assert_eq!(owner.get(&at(&app, "/%3Cb%3E/Ping")).await.status, 404);
}

#[tokio::test]
async fn a_form_is_sent_and_its_answer_shown() {
    let app = TestApp::start().await;
    seed::relics(&app.store).await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let path = at(&app, "/Metadata/GetTokenMetadata");
    let fields =
        [("member-chainID", "polygon"), ("member-contractAddress", RELICS), ("member-tokenIDs", "[\"1\"]")];
    let page = owner.post(&path, &fields).await;
    assert_eq!(page.status, 200, "{}", page.html);
    assert!(page.says("200 OK") && page.says("\"name\": \"Bronze relic\""), "{}", page.html);
    // Numbers are shown as they are written.
    assert!(page.says("\"weight\": 1.5"));
    assert!(page.says("curl -X POST 'https://bourse.example/rpc/Metadata/GetTokenMetadata'"));
    assert!(page.says("-H 'X-Access-Key: YOUR_ACCESS_KEY'"));
    assert!(page.says(&format!(
        "-d '{{\"chainID\":\"polygon\",\"contractAddress\":\"{RELICS}\",\"tokenIDs\":[\"1\"]}}'"
    )));
    assert_eq!(page.value("member-contractAddress"), RELICS);
    // The same as JSON, and back.
    let mut more = fields.to_vec();
    more.push(("do", "json"));
    let json = owner.post(&path, &more).await;
    assert!(json.says("\"chainID\": \"polygon\"") && !json.says("Answer"), "{}", json.html);
    let body = format!("{{\"chainID\": \"polygon\", \"contractAddress\": \"{RELICS}\", \"tokenIDs\": []}}");
    let sent = owner.post(&path, &[("as", "json"), ("body", &body)]).await;
    assert!(sent.says("200 OK") && sent.says(&format!("\"contractAddress\": \"{RELICS}\"")), "{}", sent.html);
    let back = owner.post(&path, &[("as", "json"), ("body", &body), ("do", "fields")]).await;
    assert_eq!(back.value("member-contractAddress"), RELICS);
    let lost = owner.post(&path, &[("as", "json"), ("body", "{\"other\":1}"), ("do", "fields")]).await;
    assert!(lost.status == 422 && lost.says("there is no field for `other`") && lost.says("{\"other\":1}"));
}

#[tokio::test]
async fn what_goes_wrong_is_shown_as_callers_see_it() {
    let app = TestApp::start().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let path = at(&app, "/Builder/GetAudience");
    let missing = owner.post(&path, &[("member-audienceId", "404")]).await;
    assert_eq!(missing.status, 200);
    for said in [">404<", "\"error\": \"NotFound\"", "\"code\": 3000", "\"status\": 404"] {
        assert!(missing.says(said) || missing.html.contains(said), "{said} {}", missing.html);
    }
    let number = owner.post(&path, &[("member-audienceId", HOSTILE)]).await;
    assert_eq!(number.status, 422);
    assert!(number.says("is not a number") && number.value("member-audienceId") == HOSTILE);
    assert!(!number.html.contains("<script>alert"));
    let broken = owner.post(&path, &[("as", "json"), ("body", "{\"a\":")]).await;
    assert!(broken.status == 422 && broken.says("body: not JSON: EOF") && broken.says("{\"a\":"));
    // Another project is refused here as everywhere.
    let other = owner.post(&path, &[("member-audienceId", "1"), ("member-projectId", "2")]).await;
    assert!(other.says("\"error\": \"PermissionDenied\""), "{}", other.html);
}

#[tokio::test]
async fn long_answers_are_cut_and_tables_are_tables() {
    let app = TestApp::start().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let contacts: Vec<_> =
        (1..=900).map(|number| json!({ "address": format!("0x{number:040x}"), "name": HOSTILE })).collect();
    let made = app.project_a.call("Builder/CreateAudience", json!({ "name": "Many" })).await.ok();
    let audience = made["audience"]["id"].to_string();
    let body = json!({ "audienceId": audience, "contacts": contacts });
    app.project_a.call("Builder/AddAudienceContacts", body).await.ok();
    let page = owner.post(&at(&app, "/Builder/GetAudience"), &[("member-audienceId", &audience)]).await;
    assert!(page.says("of which the first 65\u{202f}536 laid out are shown"), "{}", &page.html[..4000]);
    // Quotation marks and brackets take more room in a page than in the answer.
    assert!(page.html.len() < 160_000 && !page.html.contains("<script>alert"), "{}", page.html.len());
    let filter = "{\"startDate\":\"2025-03-10\",\"endDate\":\"2025-03-14\"}";
    let path = at(&app, "/Analytics/WalletsDaily");
    let table = owner.post(&path, &[("member-filter", filter), ("answer", "csv")]).await;
    assert!(
        table.says("200 OK") && table.says("-H 'Accept: text/csv'") && table.says("label,value"),
        "{}",
        table.html
    );
}

#[tokio::test]
async fn viewers_send_what_only_looks() {
    let app = TestApp::start().await;
    let viewer = Browser::of_viewer(&app, app.project_a.id).await;
    let stranger = Browser::of_owner(&app, app.project_b.id).await;
    assert!(viewer.get(&at(&app, "")).await.says("for owners"));
    let create = at(&app, "/Builder/CreateAudience");
    let page = viewer.get(&create).await;
    assert!(page.says("You are a viewer of this project") && !page.html.contains("<button>Send</button>"));
    for browser in [&viewer, &stranger] {
        let status = browser.post(&create, &[("member-name", "Testers")]).await.status;
        assert!([403, 404].contains(&status));
    }
    let list = at(&app, "/Builder/ListAudiences");
    let page = viewer.post(&list, &[]).await;
    assert!(page.says("200 OK") && page.says("\"audiences\": []"), "{}", page.html);
    assert_eq!((stranger.get(&list).await.status, stranger.post(&list, &[]).await.status), (404, 404));
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    assert!(owner.post(&create, &[("member-name", HOSTILE)]).await.says("200 OK"));
    let page = viewer.post(&list, &[]).await;
    assert!(page.says(HOSTILE) && !page.html.contains("<script>alert"));
}
