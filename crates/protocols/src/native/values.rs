//! Members of signed orders. A value that exists is one that a contract can take.

use std::fmt;
use std::str::FromStr;

use alloy_primitives::{B256, Bytes, U256, hex};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// The longest data of variable length; orders have a few words of it.
const DATA_BYTES_MAX: usize = 4096;

/// The longest text of a number: one of 256 bits has 78 digits, and hardly anybody writes zeros before it.
const NUMBER_LENGTH_MAX: usize = 80;

/// A number of 256 bits: decimal text, hexadecimal text with `0x`, or a JSON number. Written as decimal text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Number(pub(crate) U256);

/// A word of 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) B256);

/// Data of any length up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Data(pub(crate) Bytes);

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.strip_prefix("0x") {
            _ if text.len() > NUMBER_LENGTH_MAX => None,
            Some(digits) if is_hex(digits) && !digits.is_empty() => U256::from_str_radix(digits, 16).ok(),
            None if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                U256::from_str_radix(text, 10).ok()
            }
            _ => None,
        };
        let refuse = || format!("`{}` is not a whole number between 0 and 2^256-1", shown(text));
        parsed.map(Self).ok_or_else(refuse)
    }
}

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let data: Data = text.parse()?;
        let refuse = |_| format!("{} bytes where there must be 32", data.0.len());
        B256::try_from(&data.0[..]).map(Self).map_err(refuse)
    }
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{}` is not 0x and pairs of hexadecimal digits", shown(text));
        let digits = text.strip_prefix("0x").filter(|digits| is_hex(digits)).ok_or_else(refuse)?;
        if digits.len() > 2 * DATA_BYTES_MAX {
            return Err(format!(
                "{} bytes where at most {DATA_BYTES_MAX} are allowed",
                digits.len().div_ceil(2)
            ));
        }
        hex::decode(digits).map(|bytes| Self(bytes.into())).map_err(|_| refuse())
    }
}

/// The decoder of hexadecimal text would skip another `0x`.
fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// As much of a text as belongs into a message.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl fmt::Display for Data {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// Lets a type travel as text. Reading asks for text, for which lenient readers also take bare numbers.
macro_rules! as_text {
    ($($type:ident: $expected:literal,)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;

                impl Visitor<'_> for Reader {
                    type Value = $type;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Reader)
            }
        }
    )*};
}

as_text! {
    Number: "a whole number of 256 bits",
    Word: "a word of 32 bytes in hexadecimal",
    Data: "data in hexadecimal",
}

#[cfg(test)]
mod tests {
    use bourse_wire::from_value;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn number(value: Value) -> Result<U256, String> {
        from_value::<Number>(value).map(|number| number.0).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_come_in_three_spellings() {
        for value in [json!(255), json!("255"), json!("0xff"), json!("0xFF"), json!("0x00ff"), json!("0255")]
        {
            assert_eq!(number(value), Ok(U256::from(255)));
        }
        assert_eq!(number(json!(U256::MAX.to_string())), Ok(U256::MAX));
        assert_eq!(number(json!(format!("{:#x}", U256::MAX))), Ok(U256::MAX));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let over = format!("0x1{}", "0".repeat(64));
        let spelled = ["-1", "", "0x", "1.5", "1e18", "0x0x1", "1_0", " 1", "+1", "0b1", "١", over.as_str()];
        for text in spelled {
            let refused = format!("`{text}` is not a whole number between 0 and 2^256-1");
            assert_eq!(number(json!(text)).unwrap_err(), refused);
        }
        assert!(number(json!("0".repeat(80))).is_ok());
        assert!(number(json!("0".repeat(81))).is_err());
        for value in [json!(-1), json!(1.5), json!(null), json!([1]), json!({}), json!(true)] {
            assert!(number(value).is_err());
        }
    }

    #[test]
    fn words_and_data_have_their_lengths() {
        let word = |text: &str| text.parse::<Word>();
        assert_eq!(word(&format!("0x{}", "Ab".repeat(32))), Ok(Word(B256::repeat_byte(0xab))));
        assert_eq!(word("0x12").unwrap_err(), "1 bytes where there must be 32");
        assert_eq!(word(&format!("0x{}", "ab".repeat(33))).unwrap_err(), "33 bytes where there must be 32");
        let data = |text: &str| text.parse::<Data>();
        assert_eq!(data("0x"), Ok(Data::default()));
        assert_eq!(data("0x123").unwrap_err(), "`0x123` is not 0x and pairs of hexadecimal digits");
        for text in ["", "12", "0xzz", "0x0x", "0x 1"] {
            assert!(data(text).is_err(), "{text}");
        }
        assert!(data(&format!("0x{}", "00".repeat(4096))).is_ok());
        let long = data(&format!("0x{}", "00".repeat(4097)));
        assert_eq!(long.unwrap_err(), "4097 bytes where at most 4096 are allowed");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(limbs: [u64; 4], bytes: Vec<u8>) {
            let number = Number(U256::from_limbs(limbs));
            prop_assert_eq!(number.to_string().parse(), Ok(number));
            let word = Word(number.0.into());
            prop_assert_eq!(word.to_string().parse(), Ok(word));
            let data = Data(bytes.into());
            prop_assert_eq!(data.to_string().parse(), Ok(data));
        }
    }
}
