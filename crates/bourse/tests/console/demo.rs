//! What somebody looks at who tries the demo.

use std::fs;

use tempfile::TempDir;

use crate::site::Site;

#[test]
fn charts_show_the_events_of_the_demo() {
    let site = Site::demo();
    let browser = site.administrator();
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

#[test]
fn a_collection_is_browsed_and_filtered() {
    let site = Site::demo();
    let browser = site.administrator();
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

#[test]
fn contacts_are_uploaded_after_a_look_at_what_is_wrong() {
    let site = Site::empty();
    let browser = site.administrator();
    let project = site.create_project(&browser, "Harbour");
    browser.go(&site.url(&format!("{project}/audiences")));
    browser.fill("[name=name]", "Players");
    browser.press("Create audience");
    browser.wait_for("Players");
    let files = TempDir::new().unwrap();
    let file = files.path().join("contacts.csv");
    let content = "address,name,email\n\
        0x00000000000000000000000000000000000000a1,Ada,ada@example.com\n\
        nowhere,Bob,bob@example.com\n\
        0x00000000000000000000000000000000000000a2,\"Eve <b>\",\n";
    fs::write(&file, content).unwrap();
    if browser.count("[name=file]") == 0 {
        browser.press("Players");
    }
    browser.fill("[name=file]", file.to_str().unwrap());
    browser.press("Look through them");
    browser.wait_for("Lines that cannot be taken");
    assert!(browser.text().contains("nowhere"), "{}", browser.text());
    browser.press("Add 2 contacts");
    browser.wait_for("Ada");
    assert!(browser.text().contains("Eve <b>") && !browser.text().contains("Bob"), "{}", browser.text());
}
