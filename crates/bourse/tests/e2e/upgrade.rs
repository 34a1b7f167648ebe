//! `bourse upgrade`.

use bourse_store::Migration;
use bourse_store::testing::{TestDatabase, note_schema};

use crate::instance::Instance;

#[test]
fn a_check_tells_what_would_be_done_and_does_nothing() {
    let newest = Migration::newest();
    let instance = Instance::with(TestDatabase::of_schema(12));
    let before = instance.tables();
    let done = instance.run(&["upgrade", "--check"]);
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    let first =
        format!("The database has schema 12; this program needs schema {newest}.\n    13  followers\n");
    assert!(done.stdout.starts_with(&first), "{}", done.stdout);
    assert!(done.stdout.contains("Nothing was changed"), "{}", done.stdout);
    assert_eq!(instance.tables(), before);
    assert!(!instance.data().exists(), "not even a directory is made");
    // Then it is done, and there is nothing left to do.
    let done = instance.json(&["upgrade"]);
    assert_eq!(
        (&done["state"], &done["schema"], &done["needed"]),
        (&"upgraded".into(), &12.into(), &newest.into())
    );
    for arguments in [&["upgrade", "--check"][..], &["upgrade"]] {
        let done = instance.json(arguments);
        assert_eq!((&done["state"], &done["steps"]), (&"upToDate".into(), &serde_json::json!([])));
    }
}

#[test]
fn a_schema_of_tomorrow_is_refused_by_every_command() {
    let newest = Migration::newest();
    let instance = Instance::with(async {
        let database = TestDatabase::of_schema(newest).await?;
        note_schema(&database, newest + 1, "of_tomorrow").await?;
        Ok(database)
    });
    let before = instance.tables();
    let refusal = format!("the database has schema {}, this program knows up to {newest}", newest + 1);
    for arguments in
        [&["upgrade", "--check"][..], &["upgrade"], &["doctor"], &["serve"], &["project", "list"]]
    {
        let done = instance.run(arguments);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(done.stdout.contains(&refusal) || done.stderr.contains(&refusal), "{done:?}");
    }
    assert_eq!(instance.tables(), before);
}

#[test]
fn a_database_that_is_not_there_is_not_made() {
    let instance = Instance::new();
    let done = instance.run(&["upgrade", "--check"]);
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    assert!(done.stdout.starts_with("The database has schema 0;"), "{}", done.stdout);
    if let Some(file) = instance.database_url().strip_prefix("sqlite:") {
        assert!(!std::path::Path::new(file).exists());
    }
}
