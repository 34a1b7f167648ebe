//! Every page: how it looks, how large it is, how fast it comes, and whether everybody can use it.
//!
//! Which pages there are, the pages themselves tell: from the first one every link is followed, and of pages that differ
//! only in numbers and addresses one is looked at.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::browser::{Browser, Colours, Screen};
use crate::site::{ADMINISTRATOR, Site};

/// The largest page, without images.
const PAGE_BYTES_MAX: u64 = 100_000;
/// The longest that the service may take for a page, in milliseconds: ten times the goal, as this is a build without
/// optimisation beside whatever else runs. The figure itself is printed.
const PAGE_MS_MAX: f64 = 500.0;
/// Pages that must have been found, so that a crawl that breaks is noticed.
const PAGES_MIN: usize = 20;

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

fn folder() -> PathBuf {
    let folder = std::env::var_os("BOURSE_SCREENSHOTS")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("console-screenshots"), PathBuf::from);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether the page asked anybody else for anything, and whether it is slower, larger or wider than it may be.
fn check_requests(browser: &Browser, name: &str) -> Vec<String> {
    let script = "const page = performance.getEntriesByType('navigation')[0];
        return { bytes: page.decodedBodySize, ms: page.responseStart - page.requestStart,
            foreign: performance.getEntriesByType('resource').map(entry => entry.name)
                .filter(name => !name.startsWith(location.origin) && !name.startsWith('data:')),
            wide: document.documentElement.scrollWidth - document.documentElement.clientWidth }";
    let measured = browser.run(script);
    println!("{name}: {} bytes, {} ms", measured["bytes"], measured["ms"]);
    let wrong = [
        (measured["foreign"] != Value::Array(Vec::new()), "asks others"),
        (measured["bytes"].as_u64().unwrap() >= PAGE_BYTES_MAX, "is too large"),
        (measured["ms"].as_f64().unwrap() >= PAGE_MS_MAX, "is too slow"),
        (measured["wide"].as_i64().unwrap() > 0, "is wider than the screen"),
    ];
    let found = wrong.into_iter().filter(|(is_so, _)| *is_so);
    found.map(|(_, what)| format!("{name} {what}: {measured}")).collect()
}

/// What axe finds that is serious.
fn check_access(browser: &Browser, axe: &str, name: &str) -> Vec<String> {
    browser.run(axe);
    let script = "const done = arguments[0];
        axe.run({ resultTypes: ['violations'] }).then(result => done(result.violations
            .filter(violation => ['serious', 'critical'].includes(violation.impact))
            .map(violation => violation.id + ': ' + violation.help + ' ' + violation.nodes.slice(0, 3).map(node => node.html).join(' | '))),
            error => done([String(error)]))";
    let found = browser.run_async(script);
    let found = found.as_array().unwrap().iter();
    found.map(|violation| format!("{name}: {}", violation.as_str().unwrap())).collect()
}

#[test]
fn every_page_on_every_screen() {
    let axe_file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/console/node_modules/axe-core/axe.min.js");
    let axe = fs::read_to_string(&axe_file)
        .unwrap_or_else(|error| panic!("{}: {error}: run ./test", axe_file.display()));
    let site = Site::demo();
    let found = {
        let browser = site.administrator();
        let found = pages(&site, &browser);
        println!("{found:#?}");
        assert!(found.len() >= PAGES_MIN, "only {} pages were found", found.len());
        found
    };
    let (folder, mut wrong) = (folder(), Vec::new());
    for (screen, colours) in [
        (Screen::Wide, Colours::Light),
        (Screen::Wide, Colours::Dark),
        (Screen::Phone, Colours::Light),
        (Screen::Phone, Colours::Dark),
    ] {
        let browser = Browser::with(screen, colours);
        browser.go(&site.url("/console/sign-in"));
        wrong.extend(check_access(&browser, &axe, "sign-in"));
        site.sign_in(&browser, ADMINISTRATOR);
        for (kind, path) in &found {
            browser.go(&site.url(path));
            let name = format!("{kind}-{}-{}", word(screen), word(colours));
            wrong.extend(check_requests(&browser, &name));
            wrong.extend(check_access(&browser, &axe, &name));
            fs::write(folder.join(format!("{name}.png")), browser.screenshot()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn word(of: impl std::fmt::Debug) -> String {
    format!("{of:?}").to_lowercase()
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
