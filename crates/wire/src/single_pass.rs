//! Reading request bodies in one pass, where they need no leniency that takes more than one.
//!
//! This knows how members may be spelled, ignores unknown ones, and takes whole numbers where a type asks for `str`.
//! Whatever else there is it refuses, right or wrong, and [`crate::from_slice`] has the word: what is read here is
//! read there alike.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::value::RawValue;

use crate::lenient::same_name;
use crate::shape::check_shape;

/// Reads a request body, if that is possible in one pass.
pub fn from_slice_single_pass<T: DeserializeOwned>(body: &[u8], depth_max: usize) -> Option<T> {
    // Bodies are objects; the type might let others pass.
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') || check_shape(body, depth_max).is_err() {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(std::str::from_utf8(body).ok()?);
    let read = T::deserialize(SinglePass(&mut deserializer)).ok()?;
    deserializer.end().ok().map(|()| read)
}

struct SinglePass<D>(D);

/// What a refusal says, which nobody reads.
fn refused<E: serde::de::Error>() -> E {
    E::custom("not to be read in one pass")
}

macro_rules! delegate {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for SinglePass<D> {
    type Error = D::Error;

    // Free-form values are taken untouched.
    delegate! { deserialize_any deserialize_bool deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_f64 deserialize_string }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Optional(visitor))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let text = <&RawValue>::deserialize(self.0)?.get();
        match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(text) if !text.contains('\\') => visitor.visit_borrowed_str(text),
            Some(_) => visitor.visit_string(serde_json::from_str(text).map_err(D::Error::custom)?),
            None if text.bytes().all(|byte| byte.is_ascii_digit()) => visitor.visit_borrowed_str(text),
            None => Err(refused()),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_seq(Nested { visitor, fields: None })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Nested { visitor, fields: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Nested { visitor, fields: Some(fields) })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    /// Enums are words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_enum(String::deserialize(self.0)?.into_deserializer())
    }

    forward_to_deserialize_any! { f32 i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    ignored_any }
}

/// Lets what is inside an option be read quickly too.
struct Optional<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Optional<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(SinglePass(deserializer))
    }
}

/// Lets what is inside an array or an object be read quickly too.
struct Nested<V> {
    visitor: V,
    /// The names of the members, when they are known.
    fields: Option<&'static [&'static str]>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Nested<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(formatter)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        // An array of values is no object.
        if self.fields.is_some() { Err(refused()) } else { self.visitor.visit_seq(Items(items)) }
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Members { members, fields: self.fields })
    }
}

struct Items<A>(A);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Seed(seed))
    }
}

struct Members<A> {
    members: A,
    fields: Option<&'static [&'static str]>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(fields) = self.fields else { return self.members.next_key_seed(seed) };
        while let Some(Name(name)) = self.members.next_key()? {
            if let Some(field) = find(fields, &name) {
                return seed.deserialize(BorrowedStrDeserializer::new(field)).map(Some);
            }
            // A text is checked only as far as it is read, and escapes may be wrong.
            if self.members.next_value::<&RawValue>()?.get().contains("\\u") {
                return Err(refused());
            }
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.members.next_value_seed(Seed(seed))
    }
}

/// The field that a member names. Nearly all members are spelled as the field is.
fn find(fields: &'static [&'static str], name: &str) -> Option<&'static str> {
    let exact = fields.iter().find(|field| **field == name);
    exact.or_else(|| fields.iter().find(|field| same_name(field, name))).copied()
}

/// The name of a member, borrowed where nothing in it is escaped.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Seed<T>(T);

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.0.deserialize(SinglePass(deserializer))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{Address, Amount, ChainRef, OrderInput, OrderStatus, Text, Timestamp, TokenId, from_slice};

    #[derive(Deserialize, Debug, PartialEq)]
    enum Word {
        A,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Inner {
        chain_id: Option<ChainRef>,
        ids: Vec<TokenId>,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Body {
        chain_id: Option<ChainRef>,
        #[serde(default)]
        ids: Vec<TokenId>,
        word: Option<Word>,
        status: Option<OrderStatus>,
        #[serde(default)]
        name: Text<8>,
        count: Option<u8>,
        small: Option<i64>,
        share: Option<f64>,
        flag: Option<bool>,
        #[serde(default)]
        inner: Vec<Inner>,
        free: Option<Value>,
        object: Option<serde_json::Map<String, Value>>,
        at: Option<Timestamp>,
    }

    /// What is read in one pass, after a check that nothing is read otherwise than leniently.
    fn quick<T: DeserializeOwned + PartialEq + fmt::Debug>(body: &str) -> Option<T> {
        let read: Option<T> = from_slice_single_pass(body.as_bytes(), 16);
        if let Some(read) = &read {
            assert_eq!(from_slice::<T>(body.as_bytes(), 16).as_ref(), Ok(read), "{body}");
        }
        read
    }

    #[test]
    fn usual_bodies_are_read_in_one_pass() {
        for body in [
            "{}",
            " {\n} ",
            r#"{"chainId":"1","ids":["1","2"]}"#,
            r#"{"chainID":1,"IDS":[1,"2",340282366920938463463374607431768211456]}"#,
            r#"{"CHAIN_ID":"a\"b\u00e9","other":{"ids":[1,{"x":"\n"}]},"name":"é\n"}"#,
            r#"{"chainId":null,"word":null,"count":7,"small":-7,"share":1.5,"flag":true}"#,
            r#"{"word":"A","status":"active","at":"2024-01-01T02:00:00+02:00","share":2}"#,
            r#"{"inner":[{"chain_id":1,"ids":[]},{"ids":["1"],"more":0}]}"#,
            r#"{"free":{"b":1e5,"a":[1.10,null,"x"],"b":2},"object":{"chainId":1,"chain_id":2}}"#,
        ] {
            assert!(quick::<Body>(body).is_some(), "{body}");
        }
    }

    #[test]
    fn what_needs_another_look_gets_it() {
        for body in [
            "",
            "[]",
            "{} {}",
            "{",
            "null",
            r#"{"chainId":"1","chainID":"2"}"#,
            r#"{"ids":null}"#,
            r#"{"ids":["x"]}"#,
            r#"{"ids":[-1]}"#,
            r#"{"ids":[1.0]}"#,
            r#"{"ids":[true]}"#,
            r#"{"ids":[01]}"#,
            r#"{"ids":{"0":1}}"#,
            r#"{"inner":[[null,[]]]}"#,
            r#"{"inner":{}}"#,
            r#"{"word":"B"}"#,
            r#"{"word":{"A":null}}"#,
            r#"{"name":1}"#,
            r#"{"name":"123456789"}"#,
            r#"{"count":"7"}"#,
            r#"{"count":256}"#,
            r#"{"count":1.0}"#,
            r#"{"flag":"true"}"#,
            r#"{"other":"\ud800"}"#,
            r#"{"chainId":"\ud800"}"#,
            r#"{"at":"yesterday"}"#,
            r#"{"free":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}"#,
        ] {
            assert_eq!(quick::<Body>(body), None, "{body}");
        }
        assert_eq!(quick::<Value>("[1]"), None, "bodies are objects");
        assert_eq!(from_slice_single_pass::<Body>(b"{\"other\":\"\xff\"}", 16), None);
    }

    #[test]
    fn a_whole_order_is_read_in_one_pass() {
        let body = r#"{"orderId":"7","marketplace":"opensea","side":"listing","chainId":137,
            "collectionContractAddress":"0x1111111111111111111111111111111111111111","tokenId":12,
            "createdBy":"0x2222222222222222222222222222222222222222","priceAmount":"5000",
            "priceCurrencyAddress":"0x0000000000000000000000000000000000000000","feeBps":500,
            "feeBreakdown":[{"kind":"royalty","recipientAddress":"0x3333333333333333333333333333333333333333",
            "bps":500}],"validUntil":"2095-01-01T00:00:00Z","priceUSD":1.5,"quantityRemaining":null}"#;
        let order: OrderInput = quick(body).unwrap();
        assert_eq!((order.price_amount, order.token_id), (Amount::from(5_000), Some(TokenId::from(12))));
        assert_eq!(order.fee_breakdown[0].recipient_address, Address::from_bytes([0x33; 20]));
    }
}
