//! Metadata written as JSON: what is wrong with it, and where.

use bourse_wire::{Error, JSON_DEPTH_LIMIT, JsonObject, check_shape};
use serde_json::Value;

use super::record::Subject;

/// Characters of a line that are shown around a mistake.
const EXCERPT: usize = 60;

/// Reads metadata that says everything: a member that it leaves out is emptied.
pub(super) fn read(subject: Subject, text: &str, stored: &Value) -> Result<JsonObject, Error> {
    check_shape(text.as_bytes(), JSON_DEPTH_LIMIT)?;
    let given = match serde_json::from_str::<Value>(text).map_err(|error| misplaced(text, &error))? {
        Value::Object(given) => given,
        other => {
            let kind = kind_of(&other);
            return Err(Error::invalid("JSON", format!("must be an object, {{ … }}, and is {kind}")));
        }
    };
    let members = subject.members();
    for name in given.keys() {
        if !members.iter().any(|member| is_same(member, name)) {
            let known = members.join(", ");
            return Err(Error::invalid(
                "JSON",
                format!("`{name:.64}` is not a member that can be edited: {known} are"),
            ));
        }
    }
    let mut record = JsonObject::new();
    for member in members {
        let mut spellings = given.iter().filter(|(name, _)| is_same(member, name));
        let value = spellings.next().map(|(_, value)| value);
        if let Some((name, _)) = spellings.next() {
            return Err(Error::invalid("JSON", format!("`{name}` is there twice, in two spellings")));
        }
        record.extend(settled(member, value, stored)?.map(|value| (member.to_owned(), value)));
    }
    Ok(record)
}

/// What a member is to be; left out or null it is emptied, in the way in which the operations take that.
fn settled(member: &str, value: Option<&Value>, stored: &Value) -> Result<Option<Value>, Error> {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        return Ok(Some(value.clone()));
    }
    match member {
        "properties" => Ok(Some(Value::Object(JsonObject::new()))),
        "attributes" => Ok(Some(Value::Array(Vec::new()))),
        "decimals" if stored.get(member).is_some_and(|stored| !stored.is_null()) => {
            Err(Error::invalid(member, "can be changed, but not taken away"))
        }
        "decimals" => Ok(None),
        _ => Ok(Some(Value::String(String::new()))),
    }
}

/// Names are told apart as the operations do, whatever their letters' case and underscores.
fn is_same(member: &str, name: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect::<String>();
    letters(member) == letters(name)
}

/// Where text stops being JSON, with what stands there.
fn misplaced(text: &str, error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    let content: Vec<char> = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().chars().collect();
    // Columns count bytes, so in other scripts the excerpt may begin too late; it is cut from the end then.
    let end = column.min(content.len());
    let shown: String = content[end.saturating_sub(EXCERPT)..end].iter().collect();
    let place = format!("line {line}, column {column}");
    let behind = if shown.trim().is_empty() { String::new() } else { format!(", after `{}`", shown.trim()) };
    Error::invalid("JSON", format!("{place}: {reason}{behind}"))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(text: &str) -> String {
        read(Subject::Token, text, &json!({ "decimals": 2 })).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = wrong("{\n  \"name\": \"Relic\",\n  \"image\": oops\n}");
        assert!(told.contains("line 3, column 12") && told.contains("after `\"image\": o`"), "{told}");
        assert!(wrong("{ \"name\": \"Relic\"").contains("EOF"), "{}", wrong("{ \"name\": \"Relic\""));
        assert!(wrong("").contains("line 1, column 0"), "{}", wrong(""));
        assert!(wrong("[1]").contains("must be an object, { … }, and is a list"));
        assert!(wrong(r#"{"decimals":2,"nmae":"x"}"#).contains("`nmae` is not a member"));
        assert!(wrong(r#"{"decimals":2,"image_data":"x","imageData":"y"}"#).contains("twice"));
        assert!(wrong(r#"{"name":"x"}"#).contains("decimals: can be changed, but not taken away"));
    }

    #[test]
    fn what_is_left_out_is_emptied_and_the_rest_is_kept_as_written() {
        let text = r#"{"name":"x","properties":{"b":1.50,"a":12345678901234567890123},"decimals":null}"#;
        let record = read(Subject::Token, text, &json!({})).unwrap();
        let written = Value::Object(record).to_string();
        assert!(written.contains(r#""properties":{"b":1.50,"a":12345678901234567890123}"#), "{written}");
        assert!(written.contains(r#""attributes":[]"#) && written.contains(r#""video":"""#), "{written}");
        assert!(!written.contains("decimals"));
    }
}
