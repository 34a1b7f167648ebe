//! Bounded text, and the macro that lets a checked type travel as a JSON string.

use std::fmt;

/// Implements `Serialize`, `Deserialize` and `JsonSchema` for a type that is written with `Display` and read
/// with `FromStr`. Reading asks for `str`, which [`crate::from_value`] also answers for a JSON number, so
/// that big integers may be sent bare.
macro_rules! string_serde {
    ($type:ty, $pattern:literal, $description:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::text::FromStrVisitor::<$type>::new($description))
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern, "description": $description})
            }

            fn inline_schema() -> bool {
                true
            }
        }
    };
}
pub(crate) use string_serde;

/// Reads a string through `FromStr`.
pub(crate) struct FromStrVisitor<T> {
    expected: &'static str,
    result: std::marker::PhantomData<T>,
}

impl<T> FromStrVisitor<T> {
    pub(crate) fn new(expected: &'static str) -> Self {
        Self { expected, result: std::marker::PhantomData }
    }
}

impl<T: std::str::FromStr<Err: fmt::Display>> serde::de::Visitor<'_> for FromStrVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// A text of at most `BYTES` bytes without the NUL character, which PostgreSQL cannot store.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Text<const BYTES: usize>(String);

/// Why a text was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TextError {
    /// It is too long.
    #[error("{bytes} bytes of text where at most {bytes_max} are allowed")]
    TooLong {
        /// Length of the text.
        bytes: usize,
        /// Length allowed.
        bytes_max: usize,
    },
    /// It contains U+0000.
    #[error("text with the character U+0000, which is not allowed")]
    Nul,
}

impl<const BYTES: usize> Text<BYTES> {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text itself, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const BYTES: usize> std::str::FromStr for Text<BYTES> {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        text.to_owned().try_into()
    }
}

impl<const BYTES: usize> TryFrom<String> for Text<BYTES> {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        if text.len() > BYTES {
            return Err(TextError::TooLong { bytes: text.len(), bytes_max: BYTES });
        }
        if text.contains('\0') {
            return Err(TextError::Nul);
        }
        Ok(Self(text))
    }
}

impl<const BYTES: usize> serde::Serialize for Text<BYTES> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const BYTES: usize> serde::Deserialize<'de> for Text<BYTES> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asks for `String`, unlike the big integers: a number is not a name.
        String::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

impl<const BYTES: usize> schemars::JsonSchema for Text<BYTES> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "maxLength": BYTES})
    }

    fn inline_schema() -> bool {
        true
    }
}
