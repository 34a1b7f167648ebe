//! Attributes as rows of a form. An attribute keeps the shape that it has, and whatever a row does not show of it.

use bourse_wire::{Error, JSON_DEPTH_LIMIT, JsonObject, parse_json};
use maud::{Markup, html};
use serde_json::{Number, Value};

use super::record::as_line;
use crate::form::Form;

/// Empty rows at the end of a form.
const SPARE: usize = 2;

/// One attribute as it is typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    name: String,
    value: String,
    kind: Kind,
    /// What the attribute was, as JSON; empty for a new one.
    original: String,
}

/// What the value of a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Text,
    Number,
    /// Anything else, written as JSON.
    Json,
    /// The value is the attribute as a whole, which has no name of its own.
    Whole,
}

impl Kind {
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Text, "text", "text"),
        (Self::Number, "number", "number"),
        (Self::Json, "json", "JSON"),
        (Self::Whole, "whole", "whole attribute as JSON"),
    ];

    fn of_word(word: &str) -> Self {
        Self::ALL.iter().find(|(_, known, _)| *known == word).map_or(Self::Text, |(kind, _, _)| *kind)
    }
}

/// The name and the value of an attribute, if it has one of the two shapes that are in use.
fn parts(attribute: &JsonObject) -> Option<(&str, &Value)> {
    match attribute.get("trait_type") {
        Some(Value::String(name)) => Some((name, attribute.get("value")?)),
        None if attribute.len() == 1 => attribute.iter().next().map(|(name, value)| (name.as_str(), value)),
        _ => None,
    }
}

impl Row {
    pub(super) fn of(attribute: &JsonObject) -> Self {
        let original = Value::Object(attribute.clone()).to_string();
        let Some((name, value)) = parts(attribute) else {
            return Self { value: original.clone(), kind: Kind::Whole, original, ..Self::default() };
        };
        let (value, kind) = match value {
            Value::String(text) => (text.clone(), Kind::Text),
            Value::Number(number) => (number.to_string(), Kind::Number),
            other => (other.to_string(), Kind::Json),
        };
        Self { name: name.to_owned(), value, kind, original }
    }

    /// What the attribute was, if this is what a browser sends of it when nobody touches it.
    fn untouched(&self) -> Option<JsonObject> {
        let original: JsonObject = serde_json::from_str(&self.original).ok()?;
        let was = Self::of(&original);
        let is_same =
            self.kind == was.kind && self.name == as_line(&was.name) && self.value == as_line(&was.value);
        is_same.then_some(original)
    }

    /// The attribute that the row stands for; none when the row is empty.
    fn attribute(&self) -> Result<Option<JsonObject>, String> {
        if let Some(original) = self.untouched() {
            return Ok(Some(original));
        }
        if self.name.is_empty() && self.value.is_empty() {
            return Ok(None);
        }
        let value = match self.kind {
            Kind::Text => Value::String(self.value.clone()),
            Kind::Number => Value::Number(
                serde_json::from_str::<Number>(&self.value)
                    .map_err(|_| format!("`{:.64}` is not a number", self.value))?,
            ),
            Kind::Json | Kind::Whole => parse_json(self.value.as_bytes(), JSON_DEPTH_LIMIT)
                .map_err(|error| format!("the value is {error}"))?,
        };
        if self.kind == Kind::Whole {
            return match value {
                Value::Object(attribute) => Ok(Some(attribute)),
                _ => Err("a whole attribute is a JSON object".to_owned()),
            };
        }
        if self.name.is_empty() {
            return Err("the name is missing".to_owned());
        }
        Ok(Some(self.shaped(value)))
    }

    /// The attribute in the shape that it had before.
    fn shaped(&self, value: Value) -> JsonObject {
        let original: JsonObject = serde_json::from_str(&self.original).unwrap_or_default();
        let has_name_for_key = parts(&original).is_some() && !original.contains_key("trait_type");
        if has_name_for_key {
            return JsonObject::from_iter([(self.name.clone(), value)]);
        }
        let mut attribute = if parts(&original).is_some() { original } else { JsonObject::new() };
        attribute.insert("trait_type".to_owned(), Value::String(self.name.clone()));
        attribute.insert("value".to_owned(), value);
        attribute
    }
}

/// The rows that a form was sent with.
pub(super) fn rows_in(form: &Form) -> Vec<Row> {
    // Whatever the number says, there are no more rows than fields.
    let count = form.read::<usize>("attributes").unwrap_or(0).min(form.fields().len());
    let field = |row: usize, part: &str| form.text(&format!("attribute-{row}-{part}")).to_owned();
    let kept = (0..count).filter(|row| !form.is_set(&format!("attribute-{row}-remove")));
    let row = |row| Row {
        name: field(row, "name"),
        value: field(row, "value"),
        kind: Kind::of_word(&field(row, "kind")),
        original: field(row, "original"),
    };
    kept.map(row).collect()
}

/// The attributes that rows stand for.
pub(super) fn attributes(rows: &[Row]) -> Result<Vec<JsonObject>, Error> {
    let mut attributes = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let attribute = row.attribute();
        let named = |reason| Error::invalid(&format!("attribute {}", place + 1), reason);
        attributes.extend(attribute.map_err(named)?);
    }
    Ok(attributes)
}

/// The rows as controls, with a few empty ones behind.
pub(super) fn controls(rows: &[Row], spare: usize) -> Markup {
    let empty = std::iter::repeat_n(Row::default(), SPARE + spare);
    let is_filled = |row: &&Row| !(row.name.is_empty() && row.value.is_empty() && row.original.is_empty());
    let rows: Vec<Row> = rows.iter().filter(is_filled).cloned().chain(empty).collect();
    html! {
        input type="hidden" name="attributes" value=(rows.len());
        div.scroll tabindex="0" {
            table.rows {
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "Value" } th scope="col" { "Is a" }
                    th scope="col" { "Remove" }
                } }
                tbody { @for (place, row) in rows.iter().enumerate() { (control(place, row)) } }
            }
        }
    }
}

fn control(place: usize, row: &Row) -> Markup {
    let (number, id) = (place + 1, |part: &str| format!("attribute-{place}-{part}"));
    html! {
        tr {
            td {
                input type="hidden" name=(id("original")) value=(row.original);
                input name=(id("name")) value=(row.name) aria-label={ "Name of attribute " (number) };
            }
            td { input name=(id("value")) value=(row.value) aria-label={ "Value of attribute " (number) }; }
            td {
                select name=(id("kind")) aria-label={ "What the value of attribute " (number) " is" } {
                    @for (kind, word, text) in Kind::ALL {
                        // A new attribute as a whole is easier to write below, where the whole record is JSON.
                        @if kind != Kind::Whole || row.kind == Kind::Whole {
                            option value=(word) selected[row.kind == kind] { (text) }
                        }
                    }
                }
            }
            td.number {
                input type="checkbox" name=(id("remove")) value="yes" aria-label={ "Remove attribute " (number) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> JsonObject {
        serde_json::from_str(json).unwrap()
    }

    /// What a form that shows this attribute sends back, unless something was typed.
    fn sent(attribute: &str, typed: impl FnOnce(&mut Row)) -> Result<Option<JsonObject>, String> {
        let mut row = Row::of(&object(attribute));
        typed(&mut row);
        row.attribute()
    }

    #[test]
    fn attributes_that_nobody_touches_stay_as_they_are() {
        for attribute in [
            r#"{"trait_type":"Metal","value":"bronze"}"#,
            r#"{"trait_type":"Power","value":9007199254740993.50,"display_type":"number","max_value":10}"#,
            r#"{"value":true,"trait_type":"Cursed"}"#,
            r#"{"rarity":"rare"}"#,
            r#"{"level":7}"#,
            r#"{"sizes":[1,2]}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"trait_type":7,"value":1}"#,
            r#"{"trait_type":"Metal"}"#,
            r#"{"value":"nothing else"}"#,
            "{}",
        ] {
            let kept = sent(attribute, |_| ()).unwrap().unwrap();
            assert_eq!(Value::Object(kept).to_string(), attribute);
        }
    }

    #[test]
    fn what_browsers_do_to_text_changes_nothing() {
        for attribute in [r#"{"trait_type":" A ","value":"two\nlines "}"#, r#"{"a":" "}"#, r#"{"":""}"#] {
            let sent = sent(attribute, |row| {
                row.name = as_line(&row.name);
                row.value = as_line(&row.value);
            });
            assert_eq!(Value::Object(sent.unwrap().unwrap()).to_string(), attribute);
        }
    }

    #[test]
    fn no_row_is_left_behind_however_many_there_are() {
        let many: Vec<Row> = (0..500).map(|n| Row::of(&object(&format!("{{\"n{n}\":{n}}}")))).collect();
        assert!(controls(&many, 0).into_string().contains("attribute-501-name"));
        let mut text = form_urlencoded::Serializer::new("attributes=502".to_owned());
        for (place, row) in many.iter().enumerate() {
            let fields = [("name", &row.name), ("value", &row.value), ("original", &row.original)];
            text.extend_pairs(fields.map(|(part, value)| (format!("attribute-{place}-{part}"), value)));
            text.append_pair(&format!("attribute-{place}-kind"), "number");
        }
        assert_eq!(attributes(&rows_in(&Form::of_query(&text.finish()))).unwrap().len(), 500);
        assert!(rows_in(&Form::of_query("attributes=99999999999")).len() <= 1);
    }

    #[test]
    fn what_is_typed_takes_the_shape_that_was_there() {
        let changed = |attribute: &str, kind, value: &str| {
            let typed = |row: &mut Row| {
                row.value = value.to_owned();
                row.kind = kind;
            };
            sent(attribute, typed).map(|changed| Value::Object(changed.unwrap()).to_string())
        };
        assert_eq!(changed(r#"{"level":7}"#, Kind::Number, "8.50").unwrap(), r#"{"level":8.50}"#);
        assert_eq!(
            changed(r#"{"trait_type":"A","value":1,"max_value":9}"#, Kind::Text, "1").unwrap(),
            r#"{"trait_type":"A","value":"1","max_value":9}"#
        );
        assert_eq!(changed(r#"{"a":1}"#, Kind::Json, "[true]").unwrap(), r#"{"a":[true]}"#);
        assert!(changed(r#"{"a":1}"#, Kind::Number, "1x").unwrap_err().contains("`1x` is not a number"));
        assert!(changed(r#"{"a":1}"#, Kind::Json, "[").unwrap_err().contains("column 1"));
        assert!(changed(r#"{"a":1}"#, Kind::Whole, "7").unwrap_err().contains("object"));
    }

    #[test]
    fn rows_are_read_from_a_form() {
        let form = Form::of_query(
            "attributes=4&attribute-0-name=Metal&attribute-0-value=bronze&attribute-0-kind=text\
             &attribute-1-name=Gone&attribute-1-value=x&attribute-1-remove=yes&attribute-3-value=7",
        );
        let rows = rows_in(&form);
        assert_eq!(rows.len(), 3);
        let error = attributes(&rows).unwrap_err().to_string();
        assert!(error.contains("attribute 3: the name is missing"), "{error}");
        let found = attributes(&rows[..2]).unwrap();
        assert_eq!(found, [object(r#"{"trait_type":"Metal","value":"bronze"}"#)]);
    }
}
