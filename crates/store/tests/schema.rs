//! The tables: who owns what, where Citus puts it, and that migrating twice or at once does no harm.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bourse_store::testing::TestDatabase;
use bourse_store::{Actor, Layout, Migration, MigrationState};
use bourse_wire::Timestamp;

/// Tables that stand in for the sequences one engine does not have.
const SEQUENCES: [&str; 1] = ["id_counters"];

fn files(directory: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty());
    found.sort();
    found
}

fn text_between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let parts = text.split(start).skip(1);
    parts.map(|part| part.split_once(end).unwrap().0).collect()
}

/// A table as its statement describes it.
struct Table {
    /// Columns with the rest of their line.
    columns: BTreeMap<String, String>,
    key: Vec<String>,
}

/// Every table of the migrations, by name. One may be made once for each engine, if only its word for bytes differs.
fn tables() -> BTreeMap<String, Table> {
    let mut tables = BTreeMap::new();
    for path in files("migrations", "sql") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let engine = ["postgres", "sqlite"].into_iter().find(|engine| name.contains(engine));
        for statement in text_between(&fs::read_to_string(&path).unwrap(), "CREATE TABLE ", "\n);") {
            let (name, body) = statement.split_once(" (\n").unwrap();
            let (table, body) = (table(body), body.replace("BYTEA", "BLOB"));
            if let Some((other, same, _)) = tables.insert(name.to_owned(), (engine, body.clone(), table)) {
                assert!(engine.is_some() && other.is_some() && engine != other, "{name} is made twice");
                assert_eq!(body, same, "{name} differs between the engines");
            }
        }
    }
    let tables: BTreeMap<String, Table> =
        tables.into_iter().map(|(name, (_, _, table))| (name, table)).collect();
    assert!(tables.len() > 20, "found only {} tables", tables.len());
    tables
}

fn table(body: &str) -> Table {
    let mut table = Table { columns: BTreeMap::new(), key: Vec::new() };
    for line in body.lines().map(|line| line.trim().trim_end_matches(',')) {
        let (word, rest) = line.split_once(' ').unwrap();
        if let Some(list) = line.strip_prefix("PRIMARY KEY (") {
            table.key = list.trim_end_matches(')').split(", ").map(str::to_owned).collect();
        } else if word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_') {
            if rest.contains("PRIMARY KEY") {
                table.key.push(word.to_owned());
            }
            table.columns.insert(word.to_owned(), rest.to_owned());
        }
    }
    table
}

fn is_local(name: &str) -> bool {
    let mut layouts = Migration::ALL.iter().flat_map(|migration| migration.layout);
    layouts.any(|placed| *placed == (name, Layout::Local))
}

#[test]
fn every_table_has_an_owner_and_its_place_on_citus() {
    let mut placed: BTreeMap<&str, Layout> = BTreeMap::new();
    for (table, layout) in Migration::ALL.iter().flat_map(|migration| migration.layout) {
        assert!(placed.insert(table, *layout).is_none(), "{table} is placed twice");
    }
    for (name, table) in tables() {
        if SEQUENCES.contains(&name.as_str()) {
            assert_eq!(placed.get(name.as_str()), None, "{name}");
            continue;
        }
        let first = table.key.first().unwrap_or_else(|| panic!("{name} has no primary key"));
        assert!(table.columns[first].contains("NOT NULL"), "{name}.{first} may be null");
        let expected = match (name.as_str(), first.as_str()) {
            // They tell where the others are and for whom, and are needed whichever node is away.
            (
                "collections"
                | "followed_collections"
                | "left_collections"
                | "collection_followers"
                | "collection_projects"
                | "projects"
                | "access_keys"
                | "secret_tokens"
                | "grants"
                | "servers"
                | "contract_links"
                | "storefronts"
                | "webhook_listeners"
                | "webhook_cursors"
                | "webhook_letters",
                _,
            )
            | (
                _,
                "chain_id" | "account_id" | "session_hash" | "invite_hash" | "audit_id" | "name" | "taker"
                | "tried_by" | "minute",
            ) => Layout::Local,
            (_, "collection_id") => Layout::ByCollection,
            (_, "project_id") => Layout::ByProject,
            (_, other) => panic!("{name} begins its key with {other}, which is nobody's"),
        };
        assert_eq!(placed.remove(name.as_str()), Some(expected), "{name} in the layout of migrate.rs");
    }
    assert!(placed.is_empty(), "laid out, but made by no migration: {placed:?}");
}

#[test]
fn a_unique_key_begins_with_the_owner() {
    // Citus can only enforce a key that holds the column a table is distributed by.
    for path in files("migrations", "sql") {
        for statement in text_between(&fs::read_to_string(path).unwrap(), "CREATE TABLE ", "\n);") {
            let (name, body) = statement.split_once(" (\n").unwrap();
            if is_local(name) {
                continue;
            }
            for columns in
                text_between(body, "UNIQUE (", ")").into_iter().chain(text_between(body, "KEY (", ")"))
            {
                let owned = columns.starts_with("project_id") || columns.starts_with("collection_id");
                assert!(owned || SEQUENCES.contains(&name), "{name}: ({columns})");
            }
        }
    }
}

#[test]
fn every_table_of_a_project_hangs_on_it() {
    for (name, table) in tables() {
        // A copy on every node cannot refer to rows that are on one node only.
        let own = name != "projects" && !is_local(&name);
        let Some(column) = table.columns.get("project_id").filter(|_| own) else { continue };
        let through_another = || {
            let sql = files("migrations", "sql").into_iter().map(|path| fs::read_to_string(path).unwrap());
            let sql = sql.collect::<String>();
            let own = text_between(&sql, &format!("CREATE TABLE {name} ("), "\n);")[0].to_owned();
            own.contains("FOREIGN KEY (project_id, ")
        };
        assert!(column.contains("REFERENCES projects") || through_another(), "{name} hangs on nothing");
    }
}

#[test]
fn no_statement_asks_the_database_for_the_time_or_leaves_work_to_a_trigger() {
    for path in files("src", "rs").into_iter().chain(files("migrations", "sql")) {
        // Where it must be the same minute for all servers, the time is asked for here, in a statement of its own.
        if path.ends_with("src/minutes.rs") {
            continue;
        }
        // How long something takes here is no statement's business.
        let text = fs::read_to_string(&path).unwrap().to_lowercase().replace("instant::now()", "");
        for word in
            ["now()", "'now'", "current_timestamp", "current_date", "clock_timestamp", "trigger", "unixepoch"]
        {
            assert!(!text.contains(word), "{} has `{word}`", path.display());
        }
    }
}

#[test]
fn migrations_are_numbered_without_gaps() {
    let versions = Migration::ALL.iter().map(|migration| migration.version);
    assert!(versions.eq(1..=Migration::newest()));
}

#[test]
fn every_migration_is_in_the_list_for_operators() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.md");
    let text = fs::read_to_string(path).unwrap();
    let list = text.split("## Migrations").nth(1).unwrap().split("\n## ").next().unwrap();
    let listed = list.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let listed: Vec<(i64, &str)> = listed
        .filter_map(|(version, rest)| Some((version.parse().ok()?, rest.split_once(" | ")?.0)))
        .collect();
    let known: Vec<(i64, &str)> =
        Migration::ALL.iter().map(|migration| (migration.version, migration.name)).collect();
    assert_eq!(listed, known, "in docs/schema.md");
}

#[tokio::test]
async fn migrating_twice_changes_nothing() {
    let database = TestDatabase::empty().await.unwrap();
    let first = database.open().await.unwrap();
    let project =
        first.create_project("kept".parse().unwrap(), Actor::command_line(Timestamp::ZERO)).await.unwrap();
    for _ in 0..2 {
        let again = database.open().await.unwrap();
        assert_eq!(again.schema_state().await.unwrap().state(), MigrationState::UpToDate);
        assert_eq!(again.projects().await.unwrap(), std::slice::from_ref(&project));
        again.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_migrate_at_once_do_not_meet() {
    for round in 0..12 {
        let database = TestDatabase::empty().await.unwrap();
        let (one, two, three) = tokio::join!(database.open(), database.open(), database.open());
        for store in [one, two, three] {
            let store = store.unwrap_or_else(|error| panic!("round {round}: {error}"));
            assert_eq!(store.schema_state().await.unwrap().state(), MigrationState::UpToDate);
            store
                .create_project("works".parse().unwrap(), Actor::command_line(Timestamp::ZERO))
                .await
                .unwrap();
            assert_eq!(store.currencies_revision().await.unwrap().version, 1);
            store.close().await;
        }
    }
}
