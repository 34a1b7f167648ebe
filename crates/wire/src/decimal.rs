//! Unsigned 256-bit integers that travel as decimal text: token ids and amounts.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use alloy_primitives::U256;

/// Why a text is not a 256-bit decimal integer.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a whole number between 0 and 2^256-1 in decimal digits")]
pub struct DecimalError(String);

fn parse(text: &str) -> Result<U256, DecimalError> {
    let refuse = || DecimalError(text.chars().take(96).collect());
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse());
    }
    // Nearly every id and amount fits 128 bits, which the standard library parses many times faster.
    if text.len() <= 38 {
        return text.parse::<u128>().map(U256::from).map_err(|_| refuse());
    }
    U256::from_str_radix(text, 10).map_err(|_| refuse())
}

macro_rules! decimal {
    ($(#[$doc:meta])* $name:ident, $description:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(U256);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(U256::ZERO);
            /// 2^256 - 1.
            pub const MAX: Self = Self(U256::MAX);

            /// The number itself.
            pub fn value(self) -> U256 {
                self.0
            }
        }

        impl From<u64> for $name {
            fn from(number: u64) -> Self {
                Self(U256::from(number))
            }
        }

        impl From<U256> for $name {
            fn from(number: U256) -> Self {
                Self(number)
            }
        }

        impl FromStr for $name {
            type Err = DecimalError;

            fn from_str(text: &str) -> Result<Self, DecimalError> {
                parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }

        crate::text::string_serde!($name, "^[0-9]{1,78}$", $description);
    };
}

decimal!(
    /// The id of a token within its contract: 0 to 2^256-1.
    TokenId,
    "token id, a decimal integer"
);

impl TokenId {
    /// Reads the 64 hexadecimal digits that ERC-1155 clients put for `{id}`.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| U256::from_str_radix(text, 16).ok())?.map(Self)
    }
}

decimal!(
    /// An amount in base units: of a currency, or of a token's quantity.
    Amount,
    "amount in base units, a decimal integer"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_whole_range() {
        let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        for text in ["0", "7", "340282366920938463463374607431768211455", max] {
            assert_eq!(text.parse::<TokenId>().unwrap().to_string(), text);
        }
        assert_eq!("007".parse::<TokenId>().unwrap().to_string(), "7");
        assert_eq!(max.parse::<Amount>().unwrap(), Amount::MAX);
    }

    #[test]
    fn reads_the_erc1155_form() {
        assert_eq!(TokenId::from_hex(&format!("{:064x}", 255)), Some(TokenId::from(255)));
        assert_eq!(TokenId::from_hex(&"f".repeat(64)), Some(TokenId::MAX));
        assert_eq!(TokenId::from_hex("ff"), None);
        assert_eq!(TokenId::from_hex(&"_".repeat(64)), None);
    }

    #[test]
    fn refuses_everything_else() {
        let over = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        for text in ["", "-1", "+1", "1.0", "1e3", "0x1", " 1", "１", over] {
            assert!(text.parse::<TokenId>().is_err(), "{text}");
        }
    }
}
