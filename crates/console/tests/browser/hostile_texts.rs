//! Texts that want to be more than texts.

use serde_json::json;

use crate::browser::Browser;
use crate::http::Credential;
use crate::service::on_sqlite;

/// Breaks out of attributes and elements, and sets a mark if it runs anywhere.
const HOSTILE: &str =
    "\"'><script>window.hacked=1</script><img src=x onerror=window.hacked=1>{{7*7}}</textarea></title>";

/// Fails if a text of the page ran.
fn check(browser: &Browser, what: &str) {
    assert!(browser.run("return window.hacked").is_null(), "{what} ran on {}", browser.path());
    assert_eq!(
        browser.count("img[onerror], script:not([src])"),
        0,
        "{what} became an element on {}",
        browser.path()
    );
}

#[test]
fn what_people_write_stays_text() {
    let Some(site) = on_sqlite() else { return };
    let browser = site.administrator();
    let project = site.create_project(&browser, HOSTILE);
    assert_eq!(browser.text_of("h1"), HOSTILE);
    check(&browser, "a project's name");
    browser.go(&site.url(&format!("{project}/credentials")));
    for (opened, field, button, made) in [
        ("New access key", "[action$='/keys'] [name=name]", "Make access key", "#new-key"),
        ("New secret token", "[action$='/tokens'] [name=name]", "Make secret token", "#new-token"),
    ] {
        browser.press(opened);
        browser.fill(field, HOSTILE);
        browser.press(button);
        browser.text_of(made); // which is not on the page before
        check(&browser, "a credential's name");
    }
    assert!(browser.text().contains(HOSTILE));
    browser.press("New access key");
    browser.fill("[name=origins]", HOSTILE);
    browser.press("Make access key");
    browser.wait_for("is not one: write");
    check(&browser, "an origin");
    browser.go(&site.url(&format!("{project}?done=%3Cscript%3Ewindow.hacked=1%3C/script%3E")));
    check(&browser, "the address");
    browser.go(&site.url("/console/sign-in?next=%22%3E%3Cscript%3Ewindow.hacked=1%3C/script%3E"));
    check(&browser, "where to go on");
    browser.go(&site.url("/console/nowhere/%3Cscript%3Ewindow.hacked=1%3C/script%3E"));
    check(&browser, "a page that is not there");
}

#[test]
fn what_the_api_and_chains_bring_stays_text() {
    let Some(site) = on_sqlite() else { return };
    let browser = site.administrator();
    let project = site.create_project(&browser, "Harbour");
    browser.go(&site.url(&format!("{project}/credentials")));
    browser.press("New secret token");
    browser.press("Make secret token");
    browser.wait_for("It is not shown again.");
    let token = browser.text_of("#new-token");
    let call = |operation: &str, body| site.call(operation, Credential::Token(&token), &body).ok();
    let put = |operation: &str, body| {
        let answer = call(operation, body);
        assert_eq!(answer["rejected"], json!([]), "{operation}");
    };
    let address = "0x00000000000000000000000000000000000000ab";
    let link = "javascript:window.hacked=1";
    put(
        "Ingest/PutContracts",
        json!({ "contracts": [{ "chainId": 137, "address": address, "name": HOSTILE, "symbol": HOSTILE,
        "contractType": "ERC721", "logoURI": link, "extensions": { "link": link, "description": HOSTILE, "ogImage": link } }] }),
    );
    put(
        "Ingest/PutTokens",
        json!({ "chainId": 137, "tokens": [{ "contractAddress": address, "tokenId": "1", "name": HOSTILE,
        "description": HOSTILE, "image": format!("{link}//.png"), "external_url": link,
        "attributes": [{ "trait_type": HOSTILE, "value": HOSTILE }], "properties": { HOSTILE: HOSTILE } }] }),
    );
    let audience = call("Builder/CreateAudience", json!({ "name": HOSTILE }));
    let contacts = json!([{ "name": HOSTILE, "address": address }]);
    call(
        "Builder/AddAudienceContacts",
        json!({ "audienceId": audience["audience"]["id"], "contacts": contacts }),
    );
    call(
        "Collections/CreateCollection",
        json!({ "collection": { "metadata": { "name": HOSTILE, "description": HOSTILE } } }),
    );
    let mut pending = vec![project];
    let mut seen = Vec::new();
    while let Some(path) = pending.pop() {
        if seen.contains(&path) || seen.len() > 40 {
            continue;
        }
        browser.go(&site.url(&path));
        check(&browser, "something from the API");
        assert_eq!(browser.count("a[href^='javascript:']"), 0, "{path}");
        let script = "return [...document.querySelectorAll('main a[href], .sections a[href]')]
            .filter(link => link.pathname.startsWith('/console/projects/') && !link.pathname.includes('/explorer/'))
            .filter(link => !/(csv|json)$/.test(link.pathname)).map(link => link.pathname)";
        let links = browser.run(script);
        pending.extend(links.as_array().unwrap().iter().map(|link| link.as_str().unwrap().to_owned()));
        seen.push(path);
    }
    println!("{seen:#?}");
    for part in ["/collections/polygon/", "/audiences/", "/hosted/"] {
        assert!(seen.iter().any(|path| path.contains(part)), "{part} was not looked at: {seen:?}");
    }
}
