//! Account and contract addresses.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A 20-byte account or contract address, written as lower-case `0x` text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Address(alloy_primitives::Address);

impl Address {
    /// The zero address: the native currency, and the account of burnt tokens.
    pub const ZERO: Self = Self(alloy_primitives::Address::ZERO);

    /// The address made of these bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(alloy_primitives::Address::new(bytes))
    }

    /// The bytes of the address.
    pub fn bytes(&self) -> &[u8; 20] {
        &self.0.0
    }
}

/// Why a text is not an address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not an address: expected 0x and 40 hexadecimal digits")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    /// Accepts any letter case; a checksum spelled in the case is not verified, as existing clients send both.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let refuse = || AddressError(text.chars().take(64).collect());
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).ok_or_else(refuse)?;
        // The decoder would skip another 0x.
        if digits.len() != 40 {
            return Err(refuse());
        }
        let mut bytes = [0; 20];
        alloy_primitives::hex::decode_to_slice(digits, &mut bytes).map_err(|_| refuse())?;
        Ok(Self(bytes.into()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}", self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

crate::text::string_serde!(Address, "^0x[0-9a-fA-F]{40}$", "account or contract address");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_case_in_lower_case_out() {
        let address: Address = "0XfdB42A198a932C8D3B506Ffa5e855bC4b348a712".parse().unwrap();
        assert_eq!(address.to_string(), "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712");
    }

    #[test]
    fn refuses_what_is_not_an_address() {
        for text in [
            "",
            "0x",
            "0x12",
            "fdb42a198a932c8d3b506ffa5e855bc4b348a712",
            &"0x".repeat(21),
            "0x0x2a198a932c8d3b506ffa5e855bc4b348a712",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
