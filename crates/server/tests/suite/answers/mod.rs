//! Every answer of every operation, as a snapshot.

mod activities;
mod admin;
mod analytics;
mod builder;
mod collectibles;
mod collections;
mod currencies;
mod headers;
mod ingest;
mod marketplace;
mod metadata;
mod orders;
mod plain;
mod refresh;
mod search;
mod signing;
mod trading;

use std::fs;
use std::path::Path;

use bourse_server::{Service, router};
use serde_json::json;

use crate::support::TestApp;
use crate::support::transcript::Transcript;

#[tokio::test]
async fn ping() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    for service in Service::ALL {
        said.call_as(&app.anonymous, &format!("{}/Ping", service.name()), json!({})).await;
    }
    insta::assert_snapshot!(said.text());
}

#[tokio::test]
async fn what_anybody_may_ask_of_a_service() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    app.clock.advance(3_700);
    let version = said.call_as(&app.anonymous, "Metadata/Version", json!({})).await;
    said.call_as(&app.anonymous, "Metadata/RuntimeStatus", json!({})).await;
    let hash = version["version"]["schemaHash"].as_str().unwrap();
    assert_eq!(hash.len(), 40);
    insta::assert_snapshot!(said.text().replace(hash, "…").replace(env!("CARGO_PKG_VERSION"), "0.0.0"));
    app.app.begin_to_stop().await;
    let status = app.anonymous.call("Metadata/RuntimeStatus", json!({})).await.ok();
    assert_eq!(status["status"]["healthOK"], false);
}

#[test]
fn every_operation_has_an_answer_in_a_snapshot() {
    let mut texts = Vec::new();
    read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite"), &mut texts);
    for route in router::operations() {
        let asked = format!("POST {} ", route.path());
        let answered = |text: &String| {
            // A snapshot may be inside its test, where it is indented.
            let mut lines = text.lines().map(str::trim_start);
            while lines.by_ref().any(|line| line.starts_with(&asked)) {
                if lines.next().is_some_and(|line| line.starts_with("200 {")) {
                    return true;
                }
            }
            false
        };
        assert!(texts.iter().any(answered), "no snapshot shows {} answered", route.path());
    }
}

/// Reads all files below a directory.
fn read_all(directory: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, texts);
        } else {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}
