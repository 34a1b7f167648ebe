//! A property that is filtered by, as the address has it: `p.Rarity=Rare` for a text, `v.Level=7` for any other value as
//! JSON, `min.Power=5` and `max.Power=10` for bounds.

use bourse_catalog::Value as PropertyValue;
use bourse_wire::Error;
use serde_json::{Value, json};

/// What a field of the address says of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    Text,
    /// Any other value, as JSON.
    Json,
    /// The lowest number.
    Min,
    /// The highest.
    Max,
}

impl FieldKind {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Text, "p."), (Self::Json, "v."), (Self::Min, "min."), (Self::Max, "max.")];

    /// The name of the field.
    pub fn field(self, property: &str) -> String {
        let prefix = Self::ALL.iter().find(|(given, _)| *given == self).map_or("", |(_, prefix)| prefix);
        format!("{prefix}{property}")
    }
}

/// What is wanted of a property.
#[derive(Debug, Default)]
pub struct Property {
    /// Its name.
    pub name: String,
    texts: Vec<String>,
    jsons: Vec<String>,
    /// The lowest number that is wanted, as it was typed.
    pub min: String,
    /// The highest.
    pub max: String,
}

impl Property {
    /// Of which nothing is wanted yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The property that a field is about.
    pub fn of_field(field: &str) -> Option<(&str, FieldKind)> {
        let mut found = FieldKind::ALL.iter();
        let found = found.find_map(|(given, prefix)| Some((field.strip_prefix(prefix)?, *given)));
        found.filter(|(name, _)| !name.is_empty())
    }

    /// Takes what a field says of it.
    pub fn add(&mut self, given: FieldKind, value: &str) {
        match given {
            FieldKind::Text => self.texts.push(value.to_owned()),
            FieldKind::Json => self.jsons.push(value.to_owned()),
            FieldKind::Min => value.trim().clone_into(&mut self.min),
            FieldKind::Max => value.trim().clone_into(&mut self.max),
        }
    }

    /// Whether one of its values is chosen.
    pub fn has(&self, field: FieldKind, value: &str) -> bool {
        let chosen = if field == FieldKind::Text { &self.texts } else { &self.jsons };
        chosen.iter().any(|known| known == value)
    }

    /// Its filters, as operations read them.
    pub fn filters(&self) -> Result<Vec<Value>, Error> {
        let mut filters = Vec::new();
        if !self.texts.is_empty() || !self.jsons.is_empty() {
            let unreadable = |_| Error::invalid(&self.name, "a value of it is not JSON");
            let jsons = self.jsons.iter().map(|text| serde_json::from_str(text).map_err(unreadable));
            let values: Vec<Value> =
                self.texts.iter().map(|text| Ok(json!(text))).chain(jsons).collect::<Result<_, _>>()?;
            // The word for values of any kind: what they are is in the values.
            filters.push(json!({ "name": self.name, "type": "GENERIC", "values": values }));
        }
        if !self.min.is_empty() || !self.max.is_empty() {
            let (min, max) = (self.bound(&self.min)?, self.bound(&self.max)?);
            filters.push(json!({ "name": self.name, "type": "INT", "min": min, "max": max }));
        }
        Ok(filters)
    }

    fn bound(&self, text: &str) -> Result<Option<i64>, Error> {
        let wrong = |_| Error::invalid(&self.name, format!("`{text:.64}` is not a whole number"));
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(wrong) }
    }
}

/// The field and the text that stand for a value. A text of spaces would look like nothing in an address.
pub fn as_field(value: &Value) -> (FieldKind, String) {
    match value {
        Value::String(text) if !text.trim().is_empty() => (FieldKind::Text, text.clone()),
        other => (FieldKind::Json, other.to_string()),
    }
}

/// The field of an address that finds the tokens with a value of a property, and its text.
pub fn finding(name: &str, value: &PropertyValue) -> (String, String) {
    let (given, text) = as_field(&serde_json::from_str(&value.to_json()).unwrap_or_default());
    (given.field(name), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_field_that_finds_it() {
        for (value, field, text) in [
            (PropertyValue::Text("Rare & <b>".into()), "p.a", "Rare & <b>"),
            (PropertyValue::Text(" ".into()), "v.a", "\" \""),
            (PropertyValue::Int(-7), "v.a", "-7"),
            (PropertyValue::Other("1.50".into()), "v.a", "1.50"),
            (PropertyValue::Other(r#"{"b":1,"a":[true]}"#.into()), "v.a", r#"{"b":1,"a":[true]}"#),
        ] {
            assert_eq!(finding("a", &value), (field.to_owned(), text.to_owned()));
            let (name, given) = Property::of_field(field).unwrap();
            let mut property = Property::new(name);
            property.add(given, text);
            assert!(property.has(given, text));
            let filter = &property.filters().unwrap()[0];
            assert_eq!(PropertyValue::from_json(&filter["values"][0]), Some(value));
        }
        assert_eq!(Property::of_field("p."), None);
        assert_eq!(Property::of_field("min.a.b"), Some(("a.b", FieldKind::Min)));
    }
}
