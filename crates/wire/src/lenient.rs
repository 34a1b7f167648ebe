//! Reading request bodies the way existing clients write them.
//!
//! Known members are found whatever their letter case and underscores (`chainID`, `chainId`, `chain_id`), unknown
//! members are ignored except in a `filter` or `filters`, where whoever asks for something by them would have everything,
//! `null` means absent, an empty body is `{}`, and whole numbers may be sent as strings or, where a type asks for `str`,
//! strings as numbers. Free-form values (`serde_json::Value`) are taken untouched.
//! Errors say where in the body they are.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value};

use crate::shape::check_shape;
use crate::{Code, Error};

/// How much of a name that nobody knows is shown.
const SHOWN_CHARS_MAX: usize = 64;

/// Reads a request body.
pub fn from_slice<T: DeserializeOwned>(body: &[u8], depth_max: usize) -> Result<T, Error> {
    check_shape(body, depth_max)?;
    read_lenient(body)
}

/// Reads a request body of a type that refuses unknown members at every level (`deny_unknown_fields`). A body that is
/// spelled exactly is then read in one pass; any other is refused by that pass and read like all others, so both
/// ways mean the same.
pub fn from_slice_exact<T: DeserializeOwned>(body: &[u8], depth_max: usize) -> Result<T, Error> {
    check_shape(body, depth_max)?;
    serde_json::from_slice(body).or_else(|_| read_lenient(body))
}

fn read_lenient<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    let bad = |cause: String| Error::new(Code::BadRequest, "the body is not a JSON object").with_cause(cause);
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(from_value(Value::Object(Map::new()))?);
    }
    let value: Value = serde_json::from_slice(body).map_err(|error| bad(error.to_string()))?;
    if !value.is_object() {
        return Err(bad(format!("it is {}", name_of(&value))));
    }
    Ok(from_value(value)?)
}

/// Reads a record from JSON that was parsed already.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, LenientError> {
    T::deserialize(Lenient(value, Unknown::Ignored))
}

/// Takes a member out of an object, whatever its letter case and underscores; null counts as absent.
pub fn take_member(object: &mut Map<String, Value>, field: &str) -> Option<Value> {
    let name = object.keys().find(|name| same_name(field, name))?.clone();
    object.remove(&name).filter(|value| !value.is_null())
}

/// Why a body could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LenientError {
    /// From the outermost member to the innermost, joined when shown.
    path: Vec<String>,
    message: String,
    /// A wrong JSON type is a bad request; a right type with an impossible value is an invalid argument.
    wrong_type: bool,
}

impl LenientError {
    fn within(mut self, segment: impl Into<String>) -> Self {
        self.path.insert(0, segment.into());
        self
    }
}

impl fmt::Display for LenientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.path.iter().enumerate() {
            let separator = if index == 0 || segment.starts_with('[') { "" } else { "." };
            write!(formatter, "{separator}{segment}")?;
        }
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(formatter, "{separator}{}", self.message)
    }
}

impl std::error::Error for LenientError {}

impl serde::de::Error for LenientError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { path: Vec::new(), message: message.to_string(), wrong_type: false }
    }

    fn invalid_type(unexpected: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        let message = format!("expected {expected}, found {unexpected}");
        Self { path: Vec::new(), message, wrong_type: true }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { path: vec![field.to_owned()], message: "is required".to_owned(), wrong_type: false }
    }
}

impl From<LenientError> for Error {
    fn from(error: LenientError) -> Self {
        if error.wrong_type {
            Self::new(Code::BadRequest, "the body has a member of the wrong type")
                .with_cause(error.to_string())
        } else {
            Self::new(Code::InvalidArgument, error.to_string())
        }
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The whole number that a text of digits stands for, with a sign or without.
fn whole(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from)).ok()
}

struct Lenient(Value, Unknown);

/// What becomes of members that a record does not have.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    /// Clients that are newer or older send them.
    Ignored,
    /// What is meant to narrow an answer must not be passed over: it would have everything.
    Refused,
}

impl Unknown {
    /// What becomes of them inside a member.
    fn within(self, name: &str) -> Self {
        if matches!(name, "filter" | "filters") { Self::Refused } else { self }
    }
}

impl Lenient {
    fn refuse<T>(&self, expected: &dyn serde::de::Expected) -> Result<T, LenientError> {
        let message = format!("expected {expected}, found {}", name_of(&self.0));
        Err(LenientError { path: Vec::new(), message, wrong_type: true })
    }

    /// The number that a number or a string of digits stands for.
    fn number(&self) -> Option<Number> {
        match &self.0 {
            Value::Number(number) => Some(number.clone()),
            Value::String(text) => whole(text),
            _ => None,
        }
    }
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
            match self.number() {
                Some(number) if number.as_u64().is_some() => visitor.visit_u64(number.as_u64().unwrap_or_default()),
                Some(number) if number.as_i64().is_some() => visitor.visit_i64(number.as_i64().unwrap_or_default()),
                _ => self.refuse(&visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Lenient {
    type Error = LenientError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        self.0.deserialize_any(visitor).map_err(serde::de::Error::custom)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        if let Value::Bool(value) = self.0 { visitor.visit_bool(value) } else { self.refuse(&visitor) }
    }

    integers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_i8 deserialize_i16
    deserialize_i32 deserialize_i64 deserialize_u128 deserialize_i128 }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        match self.number().and_then(|number| number.as_f64()) {
            Some(value) => visitor.visit_f64(value),
            None => self.refuse(&visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            Value::Number(number) => visitor.visit_str(number.as_str()),
            _ => self.refuse(&visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        if let Value::String(text) = self.0 { visitor.visit_string(text) } else { self.refuse(&visitor) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        match self.0 {
            Value::Array(items) => {
                visitor.visit_seq(Items { items: items.into_iter(), index: 0, unknown: self.1 })
            }
            _ => self.refuse(&visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, LenientError> {
        match self.0 {
            Value::Object(members) => {
                visitor.visit_map(Members { members: members.into_iter(), current: None, unknown: self.1 })
            }
            _ => self.refuse(&visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, LenientError> {
        match self.0 {
            Value::Object(members) => {
                let members = known_members(members, fields, self.1)?.into_iter();
                visitor.visit_map(Fields { members, current: None, unknown: self.1 })
            }
            _ => self.refuse(&visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, LenientError> {
        visitor.visit_newtype_struct(self)
    }

    /// Enums are words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, LenientError> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(word.into_deserializer()),
            _ => self.refuse(&visitor),
        }
    }

    forward_to_deserialize_any! { f32 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any }
}

/// The members that name a field, under the field's own spelling; of two spellings the later wins.
fn known_members(
    members: Map<String, Value>,
    fields: &'static [&'static str],
    unknown: Unknown,
) -> Result<Vec<(&'static str, Value)>, LenientError> {
    let mut known: Vec<(&'static str, Value)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        if value.is_null() {
            continue;
        }
        let Some(field) = fields.iter().find(|field| same_name(field, &name)) else {
            if unknown == Unknown::Refused && !is_neutral(&value) {
                let path = vec![name.chars().take(SHOWN_CHARS_MAX).collect()];
                let message = format!("is not known: there are {}", fields.join(", "));
                return Err(LenientError { path, message, wrong_type: false });
            }
            continue;
        };
        match known.iter_mut().find(|(seen, _)| seen == field) {
            Some((_, earlier)) => *earlier = value,
            None => known.push((field, value)),
        }
    }
    Ok(known)
}

/// Whether a value restricts nothing, whatever a member means: some clients send all members that they know.
fn is_neutral(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) | Value::Object(_) => false,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
    }
}

pub(crate) fn same_name(field: &str, name: &str) -> bool {
    let letters = |text| str::bytes(text).filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase());
    field == name || letters(field).eq(letters(name))
}

struct Items {
    items: std::vec::IntoIter<Value>,
    index: usize,
    unknown: Unknown,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = LenientError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, LenientError> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Lenient(item, self.unknown))
            .map(Some)
            .map_err(|error| error.within(format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Members {
    members: serde_json::map::IntoIter,
    current: Option<(String, Value)>,
    unknown: Unknown,
}

impl<'de> MapAccess<'de> for Members {
    type Error = LenientError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, LenientError> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        let key = seed.deserialize(StrDeserializer::<LenientError>::new(&name))?;
        self.current = Some((name, value));
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, LenientError> {
        let (name, value) = self.current.take().unwrap_or_default();
        seed.deserialize(Lenient(value, self.unknown.within(&name))).map_err(|error| error.within(name))
    }
}

struct Fields {
    members: std::vec::IntoIter<(&'static str, Value)>,
    current: Option<(&'static str, Value)>,
    unknown: Unknown,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = LenientError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, LenientError> {
        self.current = self.members.next();
        let Some((name, _)) = &self.current else { return Ok(None) };
        let name: StrDeserializer<'_, LenientError> = (*name).into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, LenientError> {
        let (name, value) = self.current.take().unwrap_or_default();
        seed.deserialize(Lenient(value, self.unknown.within(name))).map_err(|error| error.within(name))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::{Address, TokenId};

    #[derive(Deserialize, Debug, PartialEq, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Request {
        chain_id: Option<String>,
        token_id: Option<TokenId>,
        count: u32,
        flag: bool,
        inner: Option<Inner>,
        map: std::collections::BTreeMap<String, Vec<TokenId>>,
        free: Option<Value>,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    struct Inner {
        account: Address,
    }

    fn read(body: &str) -> Result<Request, Error> {
        from_slice(body.as_bytes(), 16)
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        assert_eq!(read("").unwrap(), Request::default());
        assert_eq!(read(" \n").unwrap(), Request::default());
    }

    #[test]
    fn names_bind_in_any_case_and_the_later_spelling_wins() {
        let request = read(r#"{"CHAINID":"1","chain_id":"2","Flag":true,"other":{"a":1}}"#).unwrap();
        assert_eq!(request.chain_id.as_deref(), Some("2"));
        assert!(request.flag);
    }

    #[test]
    fn null_is_absent_everywhere() {
        let request = read(r#"{"chainId":null,"count":null,"flag":null,"inner":null,"map":null}"#).unwrap();
        assert_eq!(request, Request::default());
    }

    #[test]
    fn numbers_and_strings_stand_for_each_other() {
        let big = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let request = read(&format!(r#"{{"tokenId":{big},"count":"7"}}"#)).unwrap();
        assert_eq!(request.token_id, Some(TokenId::MAX));
        assert_eq!(request.count, 7);
        assert!(read(r#"{"count":"-7"}"#).is_err(), "it is no count");
        let text = |text: &str| from_value::<i64>(Value::from(text)).ok();
        let digits = ["-7", "9223372036854775807", "-9223372036854775808"].map(text);
        assert_eq!(digits, [Some(-7), Some(i64::MAX), Some(i64::MIN)]);
        assert_eq!(["", "-", "+7", " 7", "7.0", "1e3"].map(text), [None; 6]);
    }

    #[test]
    fn filters_have_no_unknown_members() {
        #[derive(Deserialize, Debug)]
        #[serde(rename_all = "camelCase", default)]
        #[derive(Default)]
        struct Filtered {
            filter: Option<Request>,
        }
        let read = |body: &str| from_slice::<Filtered>(body.as_bytes(), 16);
        let message = |body: &str| read(body).unwrap_err().message;
        let known = "is not known: there are chainId, tokenId, count, flag, inner, map, free";
        assert_eq!(message(r#"{"filter":{"colour":1}}"#), format!("filter.colour: {known}"));
        assert_eq!(
            message(r#"{"filter":{"inner":{"acount":1}}}"#),
            "filter.inner.acount: is not known: there are account"
        );
        for neutral in ["null", "false", "0", r#""""#, "[]"] {
            assert!(read(&format!(r#"{{"filter":{{"colour":{neutral}}}}}"#)).is_ok(), "{neutral}");
        }
        for asked in ["true", "1", "-1", "0.5", r#""red""#, "[0]", "{}"] {
            assert!(read(&format!(r#"{{"filter":{{"colour":{asked}}}}}"#)).is_err(), "{asked}");
        }
        assert!(
            read(r#"{"colour":1,"filter":{"colour":null,"CHAIN_ID":"1","map":{},"free":{"a":1}}}"#).is_ok()
        );
    }

    #[test]
    fn free_values_and_map_keys_are_untouched() {
        let request = read(r#"{"free":{"A_b":1.10,"N":null},"map":{"0xAb":[1,"2"]}}"#).unwrap();
        assert_eq!(request.free.unwrap().to_string(), r#"{"A_b":1.10,"N":null}"#);
        assert_eq!(request.map["0xAb"], [TokenId::from(1), TokenId::from(2)]);
    }

    #[test]
    fn a_wrong_type_is_a_bad_request_and_a_bad_value_an_invalid_argument_and_both_say_where() {
        let wrong = read(r#"{"map":{"0xab":[1,{}]}}"#).unwrap_err();
        assert_eq!(wrong.code, Code::BadRequest);
        let cause = wrong.cause.unwrap();
        assert_eq!(cause, "map.0xab[1]: expected token id, a decimal integer, found an object");
        let invalid = read(r#"{"inner":{"account":"0x12"}}"#).unwrap_err();
        assert_eq!(invalid.code, Code::InvalidArgument);
        assert!(
            invalid.message.starts_with("inner.account: `0x12` is not an address"),
            "{}",
            invalid.message
        );
        assert_eq!(read(r#"{"inner":{}}"#).unwrap_err().message, "inner.account: is required");
        assert_eq!(read(r#"{"count":-1}"#).unwrap_err().code, Code::InvalidArgument);
        assert_eq!(read(r#"{"count":1.5}"#).unwrap_err().code, Code::BadRequest);
    }

    #[test]
    fn exact_reading_means_the_same() {
        #[derive(Deserialize, Debug, PartialEq)]
        enum Word {
            A,
        }
        #[derive(Deserialize, Debug, PartialEq)]
        #[serde(deny_unknown_fields)]
        struct Exact {
            #[serde(rename = "chainID")]
            chain_id: Option<String>,
            ids: Vec<TokenId>,
            word: Option<Word>,
        }
        let bodies = [
            r#"{"chainID":"1","ids":["1","2"]}"#,
            r#"{"chainId":"1","ids":["1","2"]}"#,
            r#"{"CHAINID":"1","ids":[1,"2"],"other":{"ids":[]}}"#,
            r#"{"chainID":null,"ids":["1"]}"#,
            r#"{"chainID":"1","chainID":"2","ids":["1"]}"#,
            r#"{"ids":null}"#,
            r#"{"ids":["x"]}"#,
            r#"{"ids":[],"word":"A"}"#,
            r#"{"IDs":[],"word":"A"}"#,
            r#"{"ids":[],"word":"B"}"#,
            r#"{"ids":[],"word":{"A":1}}"#,
            "",
            "[]",
        ];
        for body in bodies {
            let exact: Result<Exact, Error> = from_slice_exact(body.as_bytes(), 16);
            assert_eq!(exact, from_slice(body.as_bytes(), 16), "{body}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for body in ["[]", "1", "null", "\"x\"", "{", "{} {}", "\u{feff}{}", "{\"a\":\"\\ud800\"}"] {
            assert_eq!(read(body).unwrap_err().code, Code::BadRequest, "{body}");
        }
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        assert!(read(&format!(r#"{{"free":"{}"}}"#, "[".repeat(100))).is_ok());
        assert!(read(&format!(r#"{{"free":{}{}}}"#, "[".repeat(15), "]".repeat(15))).is_ok());
        assert!(read(&format!(r#"{{"free":{}{}}}"#, "[".repeat(16), "]".repeat(16))).is_err());
        assert!(read(&"[".repeat(1_000_000)).is_err());
    }
}
