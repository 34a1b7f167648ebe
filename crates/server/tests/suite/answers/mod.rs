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

#[test]
fn every_operation_has_an_answer_in_a_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/answers/snapshots");
    let folders = [folder.clone(), folder.join("../../errors/snapshots")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    for route in router::operations() {
        let status = "200 {";
        let answered = |text: &String| {
            let mut lines = text.lines();
            let asked = format!("POST {} ", route.path());
            while lines.by_ref().any(|line| line.starts_with(&asked)) {
                if lines.next().is_some_and(|line| line.starts_with(status)) {
                    return true;
                }
            }
            false
        };
        assert!(texts.iter().any(answered), "no snapshot shows {} with {status}", route.path());
    }
}
