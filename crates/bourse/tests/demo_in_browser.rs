//! The demo's console in a real browser: what somebody looks at who tries the demo, and every page of the console: how it
//! looks, how large it is, and whether everybody can use it. Only the binary has the demo's data; all other tests in a
//! browser are those of `crates/console`.
//!
//! Which pages there are, the pages themselves tell: from the first one every link is followed, and of pages that differ
//! only in numbers and addresses one is looked at. Screenshots go to the directory that `BOURSE_SCREENSHOTS` names, if one is
//! named. On PostgreSQL nothing is done: pages look the same on either engine.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test knows its machine")]

#[path = "../../console/tests/browser/browser.rs"]
#[expect(dead_code, reason = "the console's own tests need more of it")]
mod browser;
#[path = "../../console/tests/browser/looks.rs"]
mod looks;
#[path = "../../console/tests/browser/site.rs"]
#[expect(dead_code, reason = "the console's own tests need more of it")]
mod site;

#[path = "e2e/http.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod http;
#[path = "e2e/instance.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod instance;
#[path = "e2e/process.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod process;

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use browser::Browser;
use instance::{Instance, within};
use looks::{SCREENS, axe, check_access, check_requests, word};
use site::{ADMINISTRATOR, Site};

/// How long the demo may take to make its data, on a machine that is busy with other tests.
const DEMO_LIMIT: Duration = Duration::from_mins(10);
/// Pages that must have been found, so that a crawl that breaks is noticed.
const PAGES_MIN: usize = 20;

/// The demo as a process; `None` on PostgreSQL.
fn demo() -> Option<Site> {
    let instance = Instance::new();
    if instance.is_postgres() {
        return None;
    }
    let mut server = instance.serve_unready("demo", &[]);
    server.wait_ready(DEMO_LIMIT);
    let printed = || {
        let output = server.process.stdout();
        let link = output.split_whitespace().find(|word| word.contains("/console/join/"));
        link.map(str::to_owned)
    };
    within(DEMO_LIMIT, "the first link is printed", || printed().is_some());
    let link = printed().unwrap();
    Some(Site::new(server.port, link, (server, instance)))
}

/// One page of each kind, by what is the same in all of its kind.
fn pages(site: &Site, browser: &Browser) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = VecDeque::from(["/console/projects".to_owned()]);
    while let Some(path) = pending.pop_front() {
        if found.contains_key(&kind(&path)) {
            continue;
        }
        browser.go(&site.url(&path));
        if browser.run("return document.contentType") != "text/html" {
            continue;
        }
        found.insert(kind(&path), path);
        let script = "return [...document.querySelectorAll('main a[href], nav a[href], header a[href]')]
            .filter(link => link.origin === location.origin && link.pathname.startsWith('/console/'))
            .filter(link => !link.hasAttribute('download') && !/(csv|json)$/.test(link.pathname))
            .map(link => link.pathname + link.search)";
        let links = browser.run(script);
        pending.extend(links.as_array().unwrap().iter().map(|link| link.as_str().unwrap().to_owned()));
    }
    found
}

/// What a path has in common with others of its kind: its words, without what names one record and without the query.
fn kind(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap();
    let words = path.trim_start_matches("/console").split('/').filter(|word| !word.is_empty());
    let is_name = |word: &str| word.starts_with(|first: char| first.is_ascii_digit()) || word.len() > 30;
    let mut words: Vec<&str> = words.map(|word| if is_name(word) { "one" } else { word }).collect();
    // One chart and one operation stand for all of them: their pages are made by the same code from a table.
    if let [_, _, "analytics" | "explorer", rest @ ..] = words.as_mut_slice() {
        rest.fill("one");
    }
    words.join("-")
}

/// Where screenshots go, if anybody wants them.
fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("BOURSE_SCREENSHOTS")?);
    fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

/// One demo for all, as its data takes longest.
#[test]
fn the_demo_is_looked_at() {
    let Some(site) = demo() else { return };
    let browser = site.administrator();
    charts_show_the_events_of_the_demo(&site, &browser);
    a_collection_is_browsed_and_filtered(&site, &browser);
    let found = pages(&site, &browser);
    println!("{found:#?}");
    assert!(found.len() >= PAGES_MIN, "only {} pages were found", found.len());
    drop(browser);
    every_page_on_every_screen(&site, &found);
}

fn every_page_on_every_screen(site: &Site, found: &BTreeMap<String, String>) {
    let axe = axe();
    let (folder, mut wrong) = (folder(), Vec::new());
    for (screen, colours) in SCREENS {
        let browser = Browser::with(screen, colours);
        browser.go(&site.url("/console/sign-in"));
        wrong.extend(check_access(&browser, &axe, "sign-in"));
        site.sign_in(&browser, ADMINISTRATOR);
        for (kind, path) in found {
            browser.go(&site.url(path));
            let name = format!("{kind}-{}-{}", word(screen), word(colours));
            wrong.extend(check_requests(&browser, &name));
            wrong.extend(check_access(&browser, &axe, &name));
            if let Some(folder) = &folder {
                fs::write(folder.join(format!("{name}.png")), browser.screenshot()).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kinds_of_pages() {
    for (path, expected) in [
        ("/console/projects", "projects"),
        ("/console/projects/12/credentials?done=created", "projects-one-credentials"),
        ("/console/projects/1/collections/1/0xabc/77", "projects-one-collections-one-one-one"),
        ("/console/projects/1/explorer/Metadata/Ping", "projects-one-explorer-one-one"),
    ] {
        assert_eq!(kind(path), expected);
    }
}

fn charts_show_the_events_of_the_demo(site: &Site, browser: &Browser) {
    browser.go(&site.url("/console/projects/1/analytics"));
    browser.wait_for("Analytics");
    assert!(browser.count("main svg") >= 5, "there are only {} charts", browser.count("main svg"));
    // Every drawing has something in it, and says in words what it shows.
    let drawn = browser.run(
        "return [...document.querySelectorAll('main svg')].every(svg =>
            svg.querySelectorAll('path, rect, circle, polyline, line').length > 0
            && (svg.querySelector('title') || svg.getAttribute('aria-label') || svg.getAttribute('aria-labelledby')))",
    );
    assert_eq!(drawn, true);
    browser.go(&site.url("/console/projects/1/usage"));
    browser.wait_for("Usage");
}

fn a_collection_is_browsed_and_filtered(site: &Site, browser: &Browser) {
    browser.go(&site.url("/console/projects/1/collections"));
    browser.press("Guild Provisions");
    browser.wait_for("tokens");
    assert!(browser.text().replace('\u{202f}', "").contains("1000 tokens"), "{}", browser.text());
    browser.fill("[name=q]", "Honey");
    browser.press("Apply");
    // There is honey among all tokens, too.
    browser.wait_for_page("q=Honey");
    let names = browser
        .run("return [...document.querySelectorAll('main li h3, main li h2')].map(name => name.innerText)");
    let names = names.as_array().unwrap();
    assert!(
        !names.is_empty() && names.iter().all(|name| name.as_str().unwrap().contains("Honey")),
        "{names:?}"
    );
    let shared = browser.path();
    assert!(shared.contains("q=Honey"), "{shared}");
    browser.run("document.querySelector('main li h3, main li h2').closest('li').querySelector('a').click()");
    browser.wait_for("Properties");
    assert!(browser.run("return document.querySelector('main img').naturalWidth > 0").as_bool().unwrap());
    browser.go(&site.url(&shared));
    assert!(browser.text().contains("Honey"), "an address that was passed on shows the same");
}
