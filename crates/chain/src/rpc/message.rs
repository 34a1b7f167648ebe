//! Requests and responses of JSON-RPC 2.0.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A method and what it is given.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Request {
    pub(super) fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }

    fn json(&self, id: usize) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": self.method, "params": self.params})
    }
}

/// The body for one request or for several.
pub(super) fn body(requests: &[Request]) -> String {
    match requests {
        [one] => one.json(0).to_string(),
        many => {
            let all: Value = many.iter().enumerate().map(|(id, request)| request.json(id)).collect();
            all.to_string()
        }
    }
}

/// What a node answered to one request.
#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<ErrorObject<'a>>,
}

/// Why it did not.
#[derive(Deserialize)]
struct ErrorObject<'a> {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default, borrow)]
    data: Option<&'a RawValue>,
}

/// An error that a node answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) detail: String,
}

/// The result as text, or the error.
pub(super) type Answer = Result<Box<RawValue>, Refusal>;

impl Response<'_> {
    pub(super) fn answer(self) -> Answer {
        if let Some(error) = self.error {
            let detail = error.data.map(|data| data.get().chars().take(2000).collect()).unwrap_or_default();
            return Err(Refusal { code: error.code, message: error.message, detail });
        }
        // A missing result is a null one: `null` reads as nothing there.
        Ok(self.result.map_or_else(|| RawValue::NULL.to_owned(), ToOwned::to_owned))
    }
}

/// The answers in the order of the requests, when the text holds one for each.
pub(super) fn answers(text: &[u8], requests: usize) -> Option<Vec<Answer>> {
    if requests == 1 {
        return one(text).map(|answer| vec![answer]);
    }
    let responses: Vec<Response<'_>> = serde_json::from_slice(text).ok()?;
    let mut found: Vec<Option<Answer>> = (0..requests).map(|_| None).collect();
    for response in responses {
        let id: usize = response.id?.get().trim_matches('"').parse().ok()?;
        *found.get_mut(id)? = Some(response.answer());
    }
    found.into_iter().collect()
}

/// The answer, when the text is one single response; some nodes put it into a list all the same.
pub(super) fn one(text: &[u8]) -> Option<Answer> {
    if let Ok(response) = serde_json::from_slice::<Response<'_>>(text) {
        return (response.result.is_some() || response.error.is_some() || response.id.is_some())
            .then(|| response.answer());
    }
    let mut list: Vec<Response<'_>> = serde_json::from_slice(text).ok()?;
    if list.len() == 1 { list.pop().map(Response::answer) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_requests() {
        let text =
            br#"[{"id":1,"result":"b"},{"id":"0","result":"a"},{"id":2,"error":{"code":3,"message":"no"}}]"#;
        let found = answers(text, 3).unwrap();
        assert_eq!(found[0].as_ref().unwrap().get(), r#""a""#);
        assert_eq!(found[1].as_ref().unwrap().get(), r#""b""#);
        assert_eq!(found[2].as_ref().unwrap_err().code, 3);
        assert!(answers(text, 4).is_none());
        assert!(answers(br#"{"error":{"code":-32600,"message":"no batches"}}"#, 2).is_none());
    }

    #[test]
    fn a_null_result_is_a_result_and_a_page_is_not() {
        assert_eq!(one(br#"{"jsonrpc":"2.0","id":0,"result":null}"#).unwrap().unwrap().get(), "null");
        assert_eq!(one(br#"{"error":{"message":"late"}}"#).unwrap().unwrap_err().message, "late");
        assert!(one(b"<html>busy</html>").is_none());
        assert!(one(b"{}").is_none());
    }
}
