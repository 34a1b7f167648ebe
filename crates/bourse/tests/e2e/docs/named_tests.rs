//! What the documentation says of contracts, a test shows.

use super::repository;

/// The table of what contracts do: each of its lines names tests, and these are there.
#[test]
fn each_line_about_contracts_names_tests_that_are_there() {
    let page = std::fs::read_to_string(repository().join("docs/marketplaces.md")).unwrap();
    let (_, section) = page.split_once("\n## What contracts do\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    // Behind the names of the columns and the line below them.
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert!(rows.len() > 20, "{rows:#?}");
    for row in rows {
        let tests: Vec<(&str, &str)> = row.split('[').skip(1).filter_map(named).collect();
        assert!(!tests.is_empty(), "no test shows this: {row}");
        for (test, file) in tests {
            let source = std::fs::read_to_string(repository().join("docs").join(file)).unwrap();
            assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{file} has no test {test}");
        }
    }
}

/// The name and the file of a link.
fn named(link: &str) -> Option<(&str, &str)> {
    let (name, rest) = link.split_once("](")?;
    Some((name, rest.split_once(')')?.0))
}
