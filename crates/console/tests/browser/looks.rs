//! What every page must hold on every screen: that it asks nobody else for anything, is light, and can be used by everybody.

use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;

use super::browser::{Browser, Colours, Screen};

/// The largest page, without images.
const PAGE_BYTES_MAX: u64 = 100_000;

/// All that pages are looked at on.
pub(crate) const SCREENS: [(Screen, Colours); 4] = [
    (Screen::Wide, Colours::Light),
    (Screen::Wide, Colours::Dark),
    (Screen::Phone, Colours::Light),
    (Screen::Phone, Colours::Dark),
];

/// What looks for pages that not everybody can use, as a script.
pub(crate) fn axe() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../console/tests/browser/node_modules/axe-core/axe.min.js");
    let script = std::fs::read_to_string(&file);
    script.unwrap_or_else(|error| panic!("{}: {error}: run ./test", file.display()))
}

/// A screen or its colours, as a part of a name.
pub(crate) fn word(of: impl Debug) -> String {
    format!("{of:?}").to_lowercase()
}

/// Whether the page asked anybody else for anything, and whether it is larger or wider than it may be. How long it took is
/// printed only: that tells more of the machine than of the page.
pub(crate) fn check_requests(browser: &Browser, name: &str) -> Vec<String> {
    let script = "const page = performance.getEntriesByType('navigation')[0];
        return { bytes: page.decodedBodySize, ms: page.responseStart - page.requestStart,
            foreign: performance.getEntriesByType('resource').map(entry => entry.name)
                // What a policy keeps from being loaded should not be named either.
                .concat([...document.querySelectorAll('[src], link[rel=icon], link[rel=stylesheet]')].map(one => one.src ?? one.href))
                .filter(name => !name.startsWith(location.origin) && !name.startsWith('data:')),
            wide: document.documentElement.scrollWidth - document.documentElement.clientWidth }";
    let measured = browser.run(script);
    println!("{name}: {} bytes, {} ms", measured["bytes"], measured["ms"]);
    let wrong = [
        (measured["foreign"] != Value::Array(Vec::new()), "asks others"),
        (measured["bytes"].as_u64().unwrap() >= PAGE_BYTES_MAX, "is too large"),
        (measured["wide"].as_i64().unwrap() > 0, "is wider than the screen"),
    ];
    let found = wrong.into_iter().filter(|(is_so, _)| *is_so);
    found.map(|(_, what)| format!("{name} {what}: {measured}")).collect()
}

/// What axe finds that is serious.
pub(crate) fn check_access(browser: &Browser, axe: &str, name: &str) -> Vec<String> {
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
