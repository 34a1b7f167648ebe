//! What tokens are made of.

use bourse_wire::{JsonObject, TokenId};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::values::text;

/// Any whole number of 256 bits, as text.
pub(crate) fn decimal() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        Just(TokenId::ZERO.to_string()),
        Just(TokenId::MAX.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        "[1-9][0-9]{0,76}",
    ]
}

pub(crate) fn token_id() -> impl Strategy<Value = TokenId> + Clone {
    decimal().prop_map(|text| text.parse().unwrap())
}

/// Any free-form JSON object, eight levels deep at times, with numbers of any size and NULs in its texts.
pub(crate) fn object() -> impl Strategy<Value = JsonObject> + Clone {
    let number = "-?(0|[1-9][0-9]{0,60})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?";
    let string =
        (text(), any::<bool>()).prop_map(|(text, nul)| if nul { format!("{text}\0{text}") } else { text });
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(|text| serde_json::from_str(&text).unwrap()),
        string.clone().prop_map(Value::String),
    ];
    let deep = (leaf.clone(), vec(prop::option::of(string.clone()), 7)).prop_map(|(leaf, levels)| {
        levels.into_iter().fold(leaf, |inner, level| match level {
            None => Value::Array(vec![inner]),
            Some(name) => Value::Object(JsonObject::from_iter([(name, inner)])),
        })
    });
    let name = string.clone();
    let wide = leaf.prop_recursive(7, 24, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name.clone(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    vec((string, prop_oneof![4 => wide, 1 => deep]), 0..4).prop_map(JsonObject::from_iter)
}
