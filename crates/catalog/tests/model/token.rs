//! A token of the model, and its metadata as the catalog reads it.

use std::fmt;

use bourse_catalog::Value;
use bourse_wire::TokenId;
use serde_json::{Map, Value as Json, json};

use bourse_random::Random;

/// What is known of a token; nothing but its id when only an order or a balance names it.
#[derive(Clone, Default)]
pub(crate) struct Token {
    pub(crate) name: String,
    pub(crate) attributes: Vec<Property>,
    pub(crate) properties: Vec<Property>,
    pub(crate) metadata: Option<String>,
    /// What follows from the rest: the name folded, and every value of every property.
    pub(crate) folded: String,
    pub(crate) values: Vec<TokenValue>,
}

/// A value that a token has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TokenValue {
    pub(crate) property: String,
    pub(crate) listed: bool,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    One(Value),
    List(Vec<Value>),
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.metadata.as_deref().unwrap_or("no metadata"))
    }
}

impl Token {
    /// Every value of every property. What a token has twice it has once.
    fn all_values(&self) -> Vec<TokenValue> {
        let mut all: Vec<TokenValue> = Vec::new();
        for Property { name, values } in self.attributes.iter().chain(&self.properties) {
            let (listed, values) = match values {
                Values::One(value) => (false, std::slice::from_ref(value)),
                Values::List(values) => (true, values.as_slice()),
            };
            for value in values {
                if !all.iter().any(|had| had.property == *name && had.value == *value) {
                    all.push(TokenValue { property: name.clone(), listed, value: value.clone() });
                }
            }
        }
        all
    }

    /// Writes the metadata in one of the shapes that it comes in.
    pub(crate) fn render(&mut self, id: TokenId, random: &mut Random) {
        let mut attributes: Vec<Json> =
            self.attributes.iter().map(|property| attribute(property, random)).collect();
        if random.one_in(4) {
            let odd = [json!({}), json!({"a": 1, "b": 2}), json!({"trait_type": "Rarity", "value": null})];
            attributes.insert(random.index(attributes.len() + 1), random.pick(&odd).clone());
        }
        let properties: Map<String, Json> =
            (0..).zip(&self.properties).map(|(index, property)| member(index, property, random)).collect();
        let or_null = |empty: bool, json: Json| if empty { Json::Null } else { json };
        let metadata = json!({
            "tokenId": id.to_string(),
            "name": self.name,
            "image": "",
            "properties": or_null(properties.is_empty(), properties.into()),
            "attributes": or_null(attributes.is_empty(), attributes.into()),
        });
        self.metadata = Some(metadata.to_string());
        self.folded = fold(&self.name);
        self.values = self.all_values();
    }
}

fn attribute(property: &Property, random: &mut Random) -> Json {
    let value = to_json(&property.values);
    match random.below(3) {
        0 => json!({"display_type": "x", "trait_type": property.name, "value": value}),
        1 => json!({"name": property.name, "value": value}),
        _ => json!({ property.name.as_str(): value }),
    }
}

fn member(index: usize, property: &Property, random: &mut Random) -> (String, Json) {
    let value = to_json(&property.values);
    // Members of an object have names of their own; the wrapped say their property's name inside.
    if index > 0 || random.one_in(2) {
        (format!("member {index}"), json!({"name": property.name, "value": value}))
    } else if random.one_in(2) {
        (property.name.clone(), json!({ "value": value }))
    } else {
        (property.name.clone(), value)
    }
}

fn to_json(values: &Values) -> Json {
    let json = |value: &Value| match value {
        Value::Int(number) => Json::from(*number),
        Value::Text(text) => Json::from(&**text),
        Value::Other(json) => serde_json::from_str(json).unwrap(),
    };
    match values {
        Values::One(value) => json(value),
        Values::List(values) => values.iter().map(json).collect(),
    }
}

/// Folds what names in this test are made of: ASCII, é in both compositions, ß, and letters without trial.
pub(crate) fn fold(text: &str) -> String {
    let composed = text.replace("e\u{301}", "é").replace("E\u{301}", "é");
    composed.replace('É', "é").replace('ß', "ss").to_ascii_lowercase()
}
