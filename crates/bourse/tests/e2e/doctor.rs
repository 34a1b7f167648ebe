//! `bourse doctor`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::instance::{Instance, free_port};
use crate::process::{Done, WAIT_MAX};

const CHECKS: [&str; 7] =
    ["configuration", "data directory", "disk", "signing secret", "database", "migrations", "clock"];

fn doctor(instance: &Instance, arguments: &[&str]) -> Done {
    let command = instance.bare_command(&[&["doctor"], arguments].concat());
    instance.start(command).wait(WAIT_MAX)
}

#[test]
fn a_fresh_directory_and_one_in_use_are_healthy() {
    let instance = Instance::new();
    let fresh = instance.run(&["doctor"]);
    assert_eq!(fresh.status.code(), Some(0), "{fresh:?}");
    assert!(fresh.stdout.lines().all(|line| line.starts_with("ok    ")), "{}", fresh.stdout);
    let engine = if instance.is_postgres() { "PostgreSQL answers" } else { "SQLite answers" };
    assert!(
        fresh.stdout.contains(engine) && fresh.stdout.contains("the next start migrates"),
        "{}",
        fresh.stdout
    );
    let _server = instance.serve();
    let checks = instance.json(&["doctor"]);
    let names: Vec<&str> =
        checks.as_array().unwrap().iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert_eq!(names, CHECKS);
    assert!(checks.as_array().unwrap().iter().all(|check| check["ok"] == true), "{checks}");
}

#[test]
fn a_database_that_does_not_answer_is_told() {
    let instance = Instance::new();
    let url = format!("postgres://user:hunter2@127.0.0.1:{}/name", free_port());
    // All at once, as each waits for a while whether the database comes up.
    let start = |arguments: &[&str]| {
        instance.start(instance.bare_command(&[arguments, &["--database", &url, "--data", "data"]].concat()))
    };
    let processes = [&["doctor"][..], &["doctor", "--json"], &["serve"]].map(start);
    let [text, json, serve] = processes.map(|process| process.wait(WAIT_MAX));
    for done in [&text, &json, &serve] {
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(!done.stdout.contains("hunter2") && !done.stderr.contains("hunter2"), "{done:?}");
    }
    let failed: Vec<&str> = text.stdout.lines().filter(|line| line.starts_with("FAIL  ")).collect();
    assert_eq!(failed.len(), 1, "{}", text.stdout);
    assert!(failed[0].contains("database") && failed[0].contains("storage.database"), "{failed:?}");
    let checks: Value = serde_json::from_str(&json.stdout).unwrap();
    let failed: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert_eq!(failed.len(), 1, "{checks}");
    assert_eq!(failed[0]["check"], "database");
    assert!(serve.stderr.contains("bourse: database"), "{}", serve.stderr);
}

#[test]
fn a_data_directory_that_cannot_be_used_is_told() {
    let instance = Instance::new();
    let inside_a_file = instance.directory().join("file").join("data");
    std::fs::write(instance.directory().join("file"), "").unwrap();
    let done = doctor(
        &instance,
        &["--data", inside_a_file.to_str().unwrap(), "--database", &instance.database_url()],
    );
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        done.stdout.contains("FAIL  data directory") && done.stdout.contains("cannot be made"),
        "{}",
        done.stdout
    );
    let closed = instance.directory().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(closed.join("probe"), "").is_ok() {
        println!("the superuser may write anywhere: skipped");
        return;
    }
    let done = doctor(&instance, &["--data", "closed", "--database", &instance.database_url()]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(done.stdout.contains("FAIL  data directory  closed cannot be written to"), "{}", done.stdout);
}

#[test]
fn settings_that_are_wrong_are_told() {
    let instance = Instance::new();
    std::fs::write(instance.directory().join("bourse.toml"), "[nonsense]\na = 1\n").unwrap();
    let done = instance.run(&["doctor"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        done.stdout.starts_with("FAIL  configuration") && done.stdout.contains("nonsense"),
        "{}",
        done.stdout
    );
}
