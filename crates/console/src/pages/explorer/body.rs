//! What is sent: filled in field by field, or written as JSON.

use bourse_reference::{Field, Kind, inline};
use bourse_wire::{Error, JSON_DEPTH_LIMIT, JsonObject, parse_json};
use maud::{Markup, html};
use serde_json::{Number, Value};

use crate::form::Form;

/// The name of the control of a member. Members must not be mistaken for the form's own.
fn control_name(member: &str) -> String {
    format!("member-{member}")
}

/// A value as a field shows it.
fn shown(value: &Value, kind: &Kind) -> String {
    match (value, kind) {
        (Value::Null, _) => String::new(),
        (Value::String(text), Kind::Text | Kind::OneOf(_)) => text.clone(),
        (Value::Object(_) | Value::Array(_), _) => format!("{value:#}"),
        (other, _) => other.to_string(),
    }
}

/// What stands in the fields, by the order of the fields.
pub(super) fn filled_from(fields: &[Field], body: &JsonObject) -> Vec<String> {
    let value = |field: &Field| body.get(&field.name).unwrap_or(&Value::Null);
    fields.iter().map(|field| shown(value(field), &field.kind)).collect()
}

/// What was typed into the fields.
pub(super) fn typed(fields: &[Field], form: &Form) -> Vec<String> {
    fields.iter().map(|field| form.text(&control_name(&field.name)).to_owned()).collect()
}

/// The body that fields stand for; what is left empty is left out.
pub(super) fn body_of(fields: &[Field], filled: &[String]) -> Result<JsonObject, Error> {
    let mut body = JsonObject::new();
    for (field, text) in fields.iter().zip(filled).filter(|(_, text)| !text.is_empty()) {
        let value = match &field.kind {
            Kind::Text | Kind::OneOf(_) => Value::String(text.clone()),
            Kind::Number => Value::Number(
                serde_json::from_str::<Number>(text)
                    .map_err(|_| Error::invalid(&field.name, format!("`{text:.64}` is not a number")))?,
            ),
            Kind::Flag | Kind::Choice => Value::Bool(text == "true"),
            Kind::Json => parse_json(text.as_bytes(), JSON_DEPTH_LIMIT)
                .map_err(|error| Error::invalid(&field.name, error.to_string()))?,
        };
        body.insert(field.name.clone(), value);
    }
    Ok(body)
}

/// The object that was written.
pub(super) fn written(text: &str) -> Result<JsonObject, Error> {
    if text.is_empty() {
        return Ok(JsonObject::new());
    }
    match parse_json(text.as_bytes(), JSON_DEPTH_LIMIT) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(Error::invalid("body", "must be a JSON object: { … }")),
        Err(error) => Err(Error::invalid("body", error.to_string())),
    }
}

/// The fields as controls.
pub(super) fn controls(fields: &[Field], filled: &[String]) -> Markup {
    html! {
        @if fields.is_empty() { p.soft { "This operation takes nothing." } }
        @for (field, text) in fields.iter().zip(filled) {
            @let (name, about) = (control_name(&field.name), format!("about-{}", field.name));
            div.member {
                @if field.kind == Kind::Flag {
                    label.box {
                        input type="checkbox" name=(name) value="true" checked[text == "true"] aria-describedby=(about);
                        code { (field.name) }
                    }
                } @else {
                    label for=(name) {
                        code { (field.name) }
                        @if field.is_required { " " span.badge { "required" } }
                    }
                    (control(field, &name, text, &about))
                }
                p.hint id=(about) { (inline(&field.about)) }
            }
        }
    }
}

fn control(field: &Field, name: &str, text: &str, about: &str) -> Markup {
    let options = match &field.kind {
        Kind::OneOf(words) => words.clone(),
        Kind::Choice => ["true", "false"].map(str::to_owned).to_vec(),
        Kind::Text | Kind::Number | Kind::Flag | Kind::Json => Vec::new(),
    };
    html! {
        @match field.kind {
            Kind::Json => {
                textarea id=(name) name=(name) rows=(text.lines().count().clamp(2, 12)) spellcheck="false"
                    placeholder="JSON" aria-describedby=(about) { (text) }
            }
            Kind::OneOf(_) | Kind::Choice => {
                select id=(name) name=(name) aria-describedby=(about) {
                    option value="" selected[text.is_empty()] { "left out" }
                    @for option in &options { option value=(option) selected[option == text] { (option) } }
                    @if !text.is_empty() && !options.iter().any(|option| option == text) {
                        option value=(text) selected { (text) }
                    }
                }
            }
            Kind::Text | Kind::Number | Kind::Flag => {
                input id=(name) name=(name) value=(text) spellcheck="false" autocomplete="off" aria-describedby=(about)
                    inputmode=[(field.kind == Kind::Number).then_some("numeric")];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, kind: Kind) -> Field {
        Field { name: name.to_owned(), kind, is_required: false, about: String::new() }
    }

    fn all() -> Vec<Field> {
        vec![
            field("text", Kind::Text),
            field("number", Kind::Number),
            field("flag", Kind::Flag),
            field("choice", Kind::Choice),
            field("side", Kind::OneOf(vec!["a".to_owned()])),
            field("json", Kind::Json),
        ]
    }

    #[test]
    fn a_body_goes_into_the_fields_and_comes_out_again() {
        let body = r#"{"text":"7","number":12345678901234567890123,"flag":true,"choice":false,"side":"a","json":[1.50]}"#;
        let object: JsonObject = serde_json::from_str(body).unwrap();
        let filled = filled_from(&all(), &object);
        assert_eq!(Value::Object(body_of(&all(), &filled).unwrap()).to_string(), body);
        assert!(body_of(&all(), &filled_from(&all(), &JsonObject::new())).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_names_its_member() {
        for (place, text, said) in
            [(1, "7x", "number: `7x` is not a number"), (5, "{", "json: not JSON: EOF")]
        {
            let mut filled = vec![String::new(); 6];
            text.clone_into(&mut filled[place]);
            let error = body_of(&all(), &filled).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(written("[1]").unwrap_err().to_string().contains("must be a JSON object"));
        assert!(written("{").unwrap_err().to_string().contains("line 1 column 1"));
        assert!(written("").unwrap().is_empty());
    }
}
