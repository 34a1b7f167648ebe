//! What a token's metadata says of its name and properties, read in one pass without keeping the rest.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::filter::Value;

/// The name under which the JSON reader hands over a number whose digits it keeps.
const NUMBER: &str = "$serde_json::private::Number";

/// What the index needs of a token's metadata.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct IndexedMetadata<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Property names with their values, a list's one by one.
    pub(crate) properties: Vec<(Cow<'a, str>, Shape, Value)>,
}

impl<'a> IndexedMetadata<'a> {
    /// What it says of the properties of which another says something else: all that it says of each.
    pub(crate) fn differing_from(&self, other: &Self) -> IndexedMetadata<'a> {
        let differs = |name: &str| !self.said_of(name).eq(other.said_of(name));
        let properties = self.properties.iter().filter(|(name, ..)| differs(name)).cloned();
        Self { name: self.name.clone(), properties: properties.collect() }
    }

    /// The values of a property.
    fn said_of(&self, name: &str) -> impl Iterator<Item = (&Shape, &Value)> {
        let of_name = self.properties.iter().filter(move |(other, ..)| other == name);
        of_name.map(|(_, shape, value)| (shape, value))
    }
}

/// How a value came, which the kind of its property follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// By itself.
    Single,
    /// In a list.
    Listed,
}

/// Reads metadata as it is stored. What is not metadata has no name and no properties.
pub(crate) fn extract(metadata: &str) -> IndexedMetadata<'_> {
    let mut reader = serde_json::Deserializer::from_str(metadata);
    let read: Metadata<'_> = Metadata::deserialize(&mut reader).unwrap_or_default();
    let mut extracted = IndexedMetadata { name: read.name, properties: Vec::new() };
    for attribute in read.attributes.unwrap_or_default() {
        if let Some((name, value)) = attribute.named() {
            add(&mut extracted.properties, name, value);
        }
    }
    for (name, value) in read.properties.unwrap_or_default().0 {
        let (name, value) = value.unwrap_named(name);
        add(&mut extracted.properties, name, value);
    }
    extracted
}

/// The properties of a token as filters find them, by the token's metadata: a name with each of its values, once.
pub fn properties_of(metadata: &str) -> Vec<(String, Value)> {
    let mut seen = HashSet::new();
    let all = extract(metadata).properties.into_iter().map(|(name, _, value)| (name.into_owned(), value));
    all.filter(|property| seen.insert(property.clone())).collect()
}

/// Reads metadata from where it is kept. Only whole texts are put there.
pub(crate) fn extract_stored(metadata: &[u8]) -> IndexedMetadata<'_> {
    extract(std::str::from_utf8(metadata).unwrap_or_default())
}

fn add<'a>(properties: &mut Vec<(Cow<'a, str>, Shape, Value)>, name: Cow<'a, str>, value: Json<'a>) {
    match value {
        Json::Null => {}
        Json::List(items) => {
            let values = items.into_iter().filter_map(Json::into_value);
            properties.extend(values.map(|value| (name.clone(), Shape::Listed, value)));
        }
        single => properties.extend(single.into_value().map(|value| (name, Shape::Single, value))),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    attributes: Option<Vec<Members<'a>>>,
    #[serde(borrow)]
    properties: Option<Members<'a>>,
}

/// The members of an object, in order.
#[derive(Debug, Default, PartialEq)]
struct Members<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Members<'a> {
    /// An attribute's name and value: `{trait_type|name, value}`, or a single member that is both.
    fn named(mut self) -> Option<(Cow<'a, str>, Json<'a>)> {
        let name = self.take("trait_type").or_else(|| self.take("name"));
        match (name, self.take("value")) {
            (Some(Json::Text(name)), Some(value)) => Some((name, value)),
            (None, None) if self.0.len() == 1 => self.0.pop(),
            _ => None,
        }
    }

    fn take(&mut self, name: &str) -> Option<Json<'a>> {
        // A single member is a whole attribute, whatever its name.
        let index = self.0.iter().position(|(member, _)| member == name).filter(|_| self.0.len() > 1);
        // The removed leave a hole, so that what is left counts as before.
        index.map(|index| std::mem::replace(&mut self.0[index], (Cow::Borrowed(""), Json::Null)).1)
    }
}

/// A JSON value.
#[derive(Debug, PartialEq)]
enum Json<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// Any other number, as written.
    Number(String),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Members<'a>),
}

impl<'a> Json<'a> {
    /// A property's value may be an object that holds it: `{value}` or `{name, value}`.
    fn unwrap_named(self, name: Cow<'a, str>) -> (Cow<'a, str>, Self) {
        let Self::Object(mut members) = self else { return (name, self) };
        let Some(position) = members.0.iter().position(|(member, _)| member == "value") else {
            return (name, Self::Object(members));
        };
        let (_, value) = members.0.swap_remove(position);
        let own_name = members.0.into_iter().find_map(|(member, value)| match value {
            Self::Text(text) if member == "name" && !text.is_empty() => Some(text),
            _ => None,
        });
        (own_name.unwrap_or(name), value)
    }

    fn into_value(self) -> Option<Value> {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(Value::Text(text.into())),
            Self::Int(number) => Some(Value::Int(number)),
            Self::Number(digits) => Some(Value::Other(digits.into())),
            other => Some(Value::Other(other.to_string().into())),
        }
    }
}

/// Compact JSON.
impl fmt::Display for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(truth) => write!(formatter, "{truth}"),
            Self::Int(number) => write!(formatter, "{number}"),
            Self::Number(digits) => formatter.write_str(digits),
            Self::Text(text) => formatter.write_str(&quoted(text)),
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    write!(formatter, "{}{item}", if index == 0 { "[" } else { "," })?;
                }
                formatter.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Object(members) => {
                for (index, (name, value)) in members.0.iter().enumerate() {
                    write!(formatter, "{}{}:{value}", if index == 0 { "{" } else { "," }, quoted(name))?;
                }
                formatter.write_str(if members.0.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

impl Value {
    /// The value that a JSON value is; `None` for null.
    pub fn from_json(json: &serde_json::Value) -> Option<Self> {
        match json {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(Self::Text(text.as_str().into())),
            serde_json::Value::Number(number) if number.as_i64().is_some() => number.as_i64().map(Self::Int),
            other => Some(Self::Other(other.to_string().into())),
        }
    }

    /// The value as JSON text.
    pub fn to_json(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Text(text) => serde_json::Value::from(&**text).to_string(),
            Self::Other(json) => json.to_string(),
        }
    }
}

struct JsonVisitor;

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Json::deserialize(deserializer)? {
            Json::Object(members) => members,
            _ => Self::default(),
        })
    }
}

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(i64::try_from(number).map_or_else(|_| Json::Number(number.to_string()), Json::Int))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = access.next_key::<Name<'de>>()? {
            if members.is_empty() && name.0 == NUMBER {
                let digits = access.next_value::<String>()?;
                while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(digits.parse().map_or(Json::Number(digits), Json::Int));
            }
            members.push((name.0, access.next_value()?));
        }
        Ok(Json::Object(Members(members)))
    }
}

/// A member's name, borrowed where it can be.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(metadata: &str) -> Vec<String> {
        let extracted = extract(metadata);
        let line = |(name, shape, value): &(Cow<'_, str>, Shape, Value)| {
            format!("{name}{}{}", if *shape == Shape::Listed { "∋" } else { "=" }, value.to_json())
        };
        extracted.properties.iter().map(line).collect()
    }

    #[test]
    fn attributes_in_both_shapes_and_properties() {
        let metadata = r#"{"tokenId":"1","name":"A \"b\"","attributes":[
            {"trait_type":"Rarity","value":"Rare","display_type":"x"}, {"name":"Level","value":7},
            {"sharpness":1120}, {"value":"odd"}, {"trait_type":"empty","value":null}, {"a":1,"b":2}, {}],
            "properties":{"armor":"100","tags":["x","y",3],"nested":{"name":"Real","value":true},
            "wrapped":{"value":-5},"plain":{"k":[1,{"z":null}]},"huge":99999999999999999999,"half":0.5,"none":null}}"#;
        let expected = [
            r#"Rarity="Rare""#,
            "Level=7",
            "sharpness=1120",
            r#"value="odd""#,
            r#"armor="100""#,
            r#"tags∋"x""#,
            r#"tags∋"y""#,
            "tags∋3",
            "Real=true",
            "wrapped=-5",
            r#"plain={"k":[1,{"z":null}]}"#,
            "huge=99999999999999999999",
            "half=0.5",
        ];
        assert_eq!(properties(metadata), expected);
        assert_eq!(extract(metadata).name, "A \"b\"");
    }

    #[test]
    fn a_property_that_is_said_twice_is_one() {
        let metadata = r#"{"attributes":[{"kind":"Bell"},{"kind":"Jar"}],"properties":{"kind":"Bell","tags":["a","a"]}}"#;
        let text = |name: &str, value: &str| (name.to_owned(), Value::Text(value.into()));
        assert_eq!(properties_of(metadata), [text("kind", "Bell"), text("kind", "Jar"), text("tags", "a")]);
    }

    #[test]
    fn what_is_odd_has_no_properties() {
        for metadata in ["", "[]", r#"{"attributes":null,"properties":null}"#, r#"{"attributes":[1,"x"]}"#] {
            assert_eq!(extract(metadata), IndexedMetadata::default(), "{metadata}");
        }
    }
}
