//! What somebody does on the first day.

use serde_json::json;

use crate::browser::Browser;
use crate::http::Credential;
use crate::service::{on_each_engine, on_sqlite, on_sqlite_at_rest};
use crate::site::{ADMINISTRATOR, PASSWORD, Site};

#[test]
fn from_the_first_start_to_a_call_of_the_api() {
    let site = on_each_engine();
    let browser = Browser::open();
    let link = site.first_link.clone();
    browser.go(&site.url("/console"));
    browser.wait_for("Sign in");
    Site::join(&browser, &link, ADMINISTRATOR);
    assert_eq!(browser.visible_cookies(), "", "no script sees the session");

    let project = site.create_project(&browser, "Harbour");
    browser.press("Make one");
    browser.press("New access key");
    browser.fill("[name=name]", "the game");
    browser.press("Make access key");
    browser.wait_for("This is the key. It is not shown again.");
    let key = browser.text_of("#new-key");
    let answer = site.call("Builder/ListAudiences", Credential::Key(&key), &json!({}));
    assert_eq!(answer.ok()["audiences"], json!([]));
    assert!(browser.source().contains(&format!("X-Access-Key: {key}")), "the curl has the key in it");

    browser.go(&site.url(&format!("{project}/credentials")));
    assert!(!browser.source().contains(&key), "it is not shown again");
    assert!(!browser.text().contains("never"), "its last use is known: {}", browser.text());
    browser.press("New secret token");
    browser.fill("[action$='/tokens'] [name=name]", "server");
    browser.press("Make secret token");
    browser.wait_for("This is the token. It is not shown again.");
    let token = browser.text_of("#new-token");
    let body = json!({ "name": "Players" });
    site.call("Builder/CreateAudience", Credential::Token(&token), &body).ok();

    browser.go(&site.url(&format!("{project}/credentials")));
    browser.press("Revoke");
    browser.wait_for("The token is revoked.");
    let refused = site.call("Builder/CreateAudience", Credential::Token(&token), &body);
    assert_eq!(refused.error(), "Unauthorized");

    browser.press("Rotate");
    browser.wait_for("This is the key. It is not shown again.");
    let new = browser.text_of("#new-key");
    let refused = site.call("Builder/ListAudiences", Credential::Key(&key), &json!({}));
    assert_eq!(refused.error(), "Unauthorized");
    site.call("Builder/ListAudiences", Credential::Key(&new), &json!({})).ok();

    Site::sign_out(&browser);
    browser.go(&link);
    browser.wait_for("This link does not work");
}

#[test]
fn signing_in_and_out() {
    let Some(site) = on_sqlite() else { return };
    let browser = site.administrator();
    let project = site.create_project(&browser, "Harbour");
    Site::sign_out(&browser);
    browser.go(&site.url(&format!("{project}/members")));
    browser.wait_for("Sign in");
    browser.fill("[name=email]", ADMINISTRATOR);
    browser.fill("[name=password]", "wrong horse battery staple");
    browser.press("Sign in");
    browser.wait_for("do not belong together");
    browser.fill("[name=password]", PASSWORD);
    browser.press("Sign in");
    browser.wait_for("Members");
    assert_eq!(browser.path(), format!("{project}/members"), "it goes on to what was asked for");

    browser.go(&site.url("/console/account"));
    browser.fill("[name=current]", PASSWORD);
    browser.fill("[name=password]", "another long passphrase");
    browser.fill("[name=again]", "another long passphrase");
    browser.press("Change password");
    browser.wait_for("Your password is changed");
    browser.press("Sign out everywhere");
    browser.wait_for("No account?");
    browser.fill("[name=email]", ADMINISTRATOR);
    browser.fill("[name=password]", PASSWORD);
    browser.press("Sign in");
    browser.wait_for("do not belong together");
}

#[test]
fn guessing_passwords_is_slowed_down() {
    let Some(site) = on_sqlite_at_rest() else { return };
    let browser = site.administrator();
    Site::sign_out(&browser);
    for _ in 0..20 {
        browser.go(&site.url("/console/sign-in"));
        browser.fill("[name=email]", ADMINISTRATOR);
        browser.fill("[name=password]", "wrong horse battery staple");
        browser.press("Sign in");
        // The next page is asked for only once this one is there: an answer that came later would take its place.
        if browser.wait_for_one_of(&["do not belong together", "Too many tries"]) == "Too many tries" {
            return;
        }
    }
    panic!("20 wrong passwords were tried");
}
