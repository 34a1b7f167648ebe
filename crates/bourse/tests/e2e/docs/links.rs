//! Links within the repository lead somewhere.

use std::collections::BTreeSet;
use std::path::Path;

use super::repository;

/// Pages outside of `docs/` that people read.
const OTHERS: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "bench/README.md",
    "contracts/README.md",
];

fn text(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// What is written in brackets behind a link's name, outside of code.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if !in_block {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            links.extend(targets.map(str::to_owned));
        }
    }
    links
}

/// The names by which the headings of a page are linked to.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut in_block = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        in_block ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if !in_block && heading.len() < line.len() && heading.starts_with(' ') {
            let kept = heading.trim().chars().filter(|next| next.is_alphanumeric() || " -_".contains(*next));
            anchors.insert(kept.collect::<String>().to_lowercase().replace(' ', "-"));
        }
    }
    anchors
}

#[test]
fn links_lead_to_files_and_headings_that_are_there() {
    let mut pages: Vec<String> = super::all_pages();
    pages.extend(OTHERS.map(str::to_owned));
    let mut count = 0;
    for page in pages {
        let path = repository().join(&page);
        let own = text(&path);
        for link in links(&own).iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{page}: nothing at {link}");
            let known = anchor.is_empty() || anchors(&text(&target)).contains(anchor);
            assert!(known, "{page}: no heading at {link}");
            count += 1;
        }
    }
    assert!(count > 50, "only {count} links were found");
}
