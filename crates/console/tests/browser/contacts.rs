//! Contacts from a file.

use std::fs;

use tempfile::TempDir;

use crate::service::on_sqlite;

#[test]
fn contacts_are_uploaded_after_a_look_at_what_is_wrong() {
    let Some(site) = on_sqlite() else { return };
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
    browser.wait_for("Added.");
    assert!(
        browser.text().contains("Ada")
            && browser.text().contains("Eve <b>")
            && !browser.text().contains("Bob"),
        "{}",
        browser.text()
    );
}
