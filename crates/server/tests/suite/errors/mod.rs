//! Every error that a caller can meet, as a snapshot.

mod credentials;
mod inside;
mod requests;

use std::fmt::Write as _;

use bourse_server::{Credential, State, router};
use bourse_wire::{Code, Error};
use serde_json::json;

use crate::support::TestApp;
use crate::support::transcript::Transcript;

#[test]
fn table() {
    let mut text = String::new();
    for code in Code::ALL {
        let (number, name, status) = code.parts();
        writeln!(text, "{number:>5} {status} {name}").unwrap();
    }
    let error = Error::new(Code::BadRequest, "what went wrong").with_cause("why");
    writeln!(text, "{}", serde_json::to_string_pretty(&error).unwrap()).unwrap();
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn planned_operations() {
    let app = TestApp::start().await;
    let mut said = Transcript::default();
    for route in router::operations().iter().filter(|route| route.state == State::Planned) {
        let operation = route.path().replace("/rpc/", "");
        said.call(&app.project_a, &operation, json!({})).await;
        let refused = app.anonymous.call(&operation, json!({})).await;
        assert_eq!(refused.refusal(), (401, 1000), "{operation} needs a credential even before it is built");
        assert_ne!(route.credential, Credential::None, "{operation}");
    }
    insta::assert_snapshot!(said.text());
}
