//! Requests and their answers as one text, for a snapshot that reads like a conversation.

use std::fmt::Write as _;

use serde_json::Value;

use super::actor::{Actor, Answer};
use super::project::Project;

/// What was said so far.
#[derive(Default)]
pub(crate) struct Transcript(String);

impl Transcript {
    /// Calls an operation as a project and notes both sides.
    pub(crate) async fn call(&mut self, project: &Project, operation: &str, body: Value) -> Value {
        self.call_as(project.presenting(operation), operation, body).await
    }

    /// Calls an operation and notes both sides.
    pub(crate) async fn call_as(&mut self, actor: &Actor, operation: &str, body: Value) -> Value {
        let answer = actor.call(operation, body.clone()).await;
        self.note(&format!("POST /rpc/{operation} {}", shortened(&body)), &answer);
        answer.json
    }

    /// Reads a plain address and notes both sides.
    pub(crate) async fn get(&mut self, actor: &Actor, path: &str) -> Answer {
        let answer = actor.get(path).await;
        self.note(&format!("GET {path}"), &answer);
        answer
    }

    /// Notes an answer under a heading.
    pub(crate) fn note(&mut self, heading: &str, answer: &Answer) {
        let body = if answer.json.is_null() {
            format!("{} of {} bytes", answer.header("content-type"), answer.body.len())
        } else {
            serde_json::to_string_pretty(&answer.json).unwrap()
        };
        writeln!(self.0, "{heading}\n{} {body}\n", answer.status).unwrap();
    }

    /// Everything.
    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// A body as one line; a long one only by its beginning.
fn shortened(body: &Value) -> String {
    let text = body.to_string();
    if text.len() <= 400 { text } else { format!("{}… ({} bytes)", &text[..100], text.len()) }
}
