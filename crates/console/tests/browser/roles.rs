//! Who may do what.

use crate::browser::Browser;
use crate::service::on_sqlite;
use crate::site::Site;

/// Invites somebody to a project, who makes an account in a browser where nobody is signed in.
fn invite(site: &Site, browser: &Browser, project: &str, role: &str, email: &str) {
    browser.go(&site.url(&format!("{project}/members")));
    browser.choose("#invited-role", role);
    browser.press("Make a link");
    browser.wait_for("Send this link");
    let link = browser.text_of("#invitation");
    Site::sign_out(browser);
    Site::join(browser, &link, email);
}

/// The status of a request that a page of the console sends, with the form's own word.
fn post(browser: &Browser, path: &str, fields: &str) -> u64 {
    let script = format!(
        "const done = arguments[0];
        const token = document.querySelector('[name=form_token]').value;
        fetch({path:?}, {{ method: 'POST', redirect: 'manual', body: new URLSearchParams('form_token=' + token + '&{fields}') }})
            .then(answer => done(answer.type === 'opaqueredirect' ? 303 : answer.status));"
    );
    browser.run_async(&script).as_u64().unwrap()
}

#[test]
fn a_viewer_looks_and_changes_nothing() {
    let Some(site) = on_sqlite() else { return };
    let browser = site.administrator();
    let project = site.create_project(&browser, "Harbour");
    browser.go(&site.url(&format!("{project}/credentials")));
    browser.press("New access key");
    browser.press("Make access key");
    browser.wait_for("not shown again");
    invite(&site, &browser, &project, "viewer", "viewer@example.com");
    browser.press("Harbour");
    browser.wait_for("Access keys");
    assert_eq!(browser.count("main form"), 0, "there is nothing to send: {}", browser.text());
    for page in ["credentials", "members", "audiences", "collections", "hosted", "usage", "analytics"] {
        browser.go(&site.url(&format!("{project}/{page}")));
        assert_eq!(browser.count("main form[method=post]"), 0, "{page}");
    }
    for (path, fields) in [
        ("rename", "name=x"),
        ("members/invite", "role=owner"),
        ("members/1/remove", ""),
        ("credentials/keys", "name=x"),
        ("credentials/keys/1/disable", ""),
        ("credentials/tokens", "name=x&days=30"),
        ("audiences", "name=x"),
    ] {
        assert_eq!(post(&browser, &format!("{project}/{path}"), fields), 403, "{path}");
    }
    assert_eq!(post(&browser, "/console/people/invite", "administrator=yes"), 403);
}

#[test]
fn a_member_of_one_project_sees_nothing_of_another() {
    let Some(site) = on_sqlite() else { return };
    let browser = site.administrator();
    let first = site.create_project(&browser, "Harbour");
    let second = site.create_project(&browser, "Meadow");
    invite(&site, &browser, &second, "owner", "owner@example.com");
    assert!(!browser.text().contains("Harbour"), "{}", browser.text());
    browser.go(&site.url(&second));
    browser.wait_for("Meadow");
    for page in
        ["", "/credentials", "/members", "/analytics", "/usage", "/audiences", "/hosted", "/collections"]
    {
        browser.go(&site.url(&format!("{first}{page}")));
        browser.wait_for("There is no such project");
        assert!(!browser.text().contains("Harbour"));
    }
    browser.go(&site.url(&second));
    assert_eq!(post(&browser, &format!("{first}/rename"), "name=x"), 404);
    assert_eq!(post(&browser, &format!("{second}/rename"), "name=Lawn"), 303);
    browser.go(&site.url("/console/people"));
    browser.wait_for("Only administrators");
}
