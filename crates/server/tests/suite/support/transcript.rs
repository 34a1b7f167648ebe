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
            pretty(answer.json.clone())
        };
        writeln!(self.0, "{heading}\n{} {body}\n", answer.status).unwrap();
    }

    /// Everything.
    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// A body to be read. Members of orders that are null are left out, so that one more which most orders do not have changes no
/// snapshot: `marketplace/record_members.rs` tells which members there are.
pub(crate) fn pretty(mut body: Value) -> String {
    leave_out_nulls_of_orders(&mut body);
    serde_json::to_string_pretty(&body).unwrap()
}

fn leave_out_nulls_of_orders(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(leave_out_nulls_of_orders),
        Value::Object(members) => {
            if members.contains_key("orderId") && members.contains_key("priceAmountFormatted") {
                members.retain(|_, value| !value.is_null());
            }
            members.values_mut().for_each(leave_out_nulls_of_orders);
        }
        _ => {}
    }
}

/// A body as one line; a long one only by its beginning.
fn shortened(body: &Value) -> String {
    let text = body.to_string();
    if text.len() <= 400 { text } else { format!("{}… ({} bytes)", &text[..100], text.len()) }
}
