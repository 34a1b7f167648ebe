//! The members of a request as fields of a form.

use serde_json::Value;

use crate::document::Api;
use crate::schema::{alternatives, rows, values};

/// One member of a request.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the body.
    pub name: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether the operation refuses a body without it.
    pub is_required: bool,
    /// Its description in the document, which may hold Markdown.
    pub about: String,
}

/// What a member is filled in with.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line of text.
    Text,
    /// A number of any size, digit by digit as typed.
    Number,
    /// True or false, and false when it is left out.
    Flag,
    /// True, false, or left out.
    Choice,
    /// One of these.
    OneOf(Vec<String>),
    /// Anything else, as JSON.
    Json,
}

/// The members of what is sent to a path; objects within them are one field each.
pub fn fields(document: &Value, path: &str) -> Vec<Field> {
    let api = Api::read(document);
    let request = api.operation_at(path).and_then(|operation| operation.request(&api).into_iter().next());
    let Some((_, media)) = request else { return Vec::new() };
    let members = rows(&api, &media["schema"]).into_iter().filter(|member| !member.name.contains(['.', '[']));
    members
        .map(|member| Field {
            kind: kind_of(&api, member.schema),
            name: member.name,
            is_required: member.required,
            about: member.description.unwrap_or_default().to_owned(),
        })
        .collect()
}

/// Where the reference tells of the operation at a path.
pub fn anchor_of(document: &Value, path: &str) -> String {
    Api::read(document).operation_at(path).map(|operation| operation.anchor.clone()).unwrap_or_default()
}

fn kind_of<'a>(api: &Api<'a>, schema: &'a Value) -> Kind {
    let (schema, is_nullable) = without_null(schema);
    let schema = api.resolve(schema);
    let words: Vec<String> =
        values(schema).iter().filter_map(|(value, _)| value.as_str().map(str::to_owned)).collect();
    if !words.is_empty() {
        return Kind::OneOf(words);
    }
    match type_name(schema) {
        "string" => Kind::Text,
        "integer" | "number" => Kind::Number,
        "boolean" if is_nullable || names_null(schema) => Kind::Choice,
        "boolean" => Kind::Flag,
        _ => Kind::Json,
    }
}

/// The schema without the alternative that it is null, and whether there was one.
fn without_null(schema: &Value) -> (&Value, bool) {
    let choices = alternatives(schema);
    let mut others = choices.iter().filter(|choice| choice["type"] != "null");
    match (choices.len(), others.next(), others.next()) {
        (2, Some(only), None) => (only, true),
        _ => (schema, false),
    }
}

fn names_null(schema: &Value) -> bool {
    schema["type"].as_array().is_some_and(|names| names.iter().any(|name| name == "null"))
}

/// The one type beside null; empty when there are several or it is not said.
fn type_name(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(name) => name,
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            match (names.next(), names.next()) {
                (Some(only), None) => only,
                _ => "",
            }
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(properties: &Value) -> Vec<Kind> {
        let document = json!({
            "paths": { "/rpc/A/B": { "post": { "requestBody": { "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Request" },
            } } } } } },
            "components": { "schemas": {
                "Request": { "type": "object", "required": ["a"], "properties": properties },
                "Page": { "type": "object", "properties": { "page": { "type": "integer" } } },
                "Side": { "oneOf": [{ "const": "listing" }, { "const": "offer" }] },
            } },
        });
        let fields = fields(&document, "/rpc/A/B");
        assert!(fields.iter().all(|field| field.is_required == (field.name == "a")));
        fields.into_iter().map(|field| field.kind).collect()
    }

    #[test]
    fn members_become_what_they_are_filled_in_with() {
        let found = kinds(&json!({
            "a": { "type": "string", "pattern": "^0x" },
            "b": { "type": ["string", "null"] },
            "c": { "type": ["integer", "null"] },
            "d": { "type": "boolean", "default": false },
            "e": { "type": ["boolean", "null"] },
            "f": { "enum": ["x", "y"] },
            "g": { "anyOf": [{ "$ref": "#/components/schemas/Side" }, { "type": "null" }] },
            "h": { "anyOf": [{ "$ref": "#/components/schemas/Page" }, { "type": "null" }] },
            "i": { "type": "array", "items": { "type": "string" } },
            "j": { "type": ["string", "integer"] },
            "k": {},
            "l": { "type": "object", "properties": { "inner": { "type": "string" } } },
        }));
        let words = |words: [&str; 2]| Kind::OneOf(words.map(str::to_owned).to_vec());
        let expected = [
            Kind::Text,
            Kind::Text,
            Kind::Number,
            Kind::Flag,
            Kind::Choice,
            words(["x", "y"]),
            words(["listing", "offer"]),
            Kind::Json,
            Kind::Json,
            Kind::Json,
            Kind::Json,
            Kind::Json,
        ];
        assert_eq!(found, expected);
        assert!(fields(&json!({}), "/rpc/A/B").is_empty());
    }
}
