//! Hashes and data as they travel: `0x` and hexadecimal digits.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use alloy_primitives::{B256, Bytes, hex};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The name of a transaction, a block or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(pub(super) B256);

/// Any bytes.
#[derive(Clone, Debug)]
pub(super) struct Data(pub(super) Bytes);

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode_prefixed(self.0))
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 64);
        let read = digits.and_then(|digits| hex::decode(digits).ok());
        let read = read.and_then(|bytes| B256::try_from(bytes.as_slice()).ok());
        read.map(Self).ok_or_else(|| format!("`{text:.80}` is not 0x and 64 hexadecimal digits"))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode_prefixed(&self.0))
    }
}

impl JsonSchema for Hash {
    fn schema_name() -> Cow<'static, str> {
        "Hash".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{64}$" })
    }
}

impl JsonSchema for Data {
    fn schema_name() -> Cow<'static, str> {
        "HexData".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x([0-9a-f]{2})*$" })
    }
}
