//! Bytes as nodes write them.

/// An address of an account or a contract.
pub(super) type Address = [u8; 20];

/// A hash, or a number or address as logs hold them.
pub(super) type Word = [u8; 32];

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Bytes as `0x` and two digits for each.
pub(super) fn data(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// A number as `0x` and as few digits as it takes.
pub(super) fn quantity(number: u64) -> String {
    format!("{number:#x}")
}

/// Reads `0x` and the digits of exactly so many bytes.
pub(super) fn parse_data<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 2 * LENGTH)?.as_bytes();
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| !pair.starts_with('+'))?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

/// Reads `0x` and the digits of a number.
pub(super) fn parse_quantity(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, 16).ok()
}

/// A number, as logs hold it.
pub(super) fn number(number: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

/// An address, as logs hold it.
pub(super) fn padded(address: Address) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address);
    word
}

#[cfg(test)]
mod tests {
    use super::{data, number, padded, parse_data, parse_quantity, quantity};

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(data(&[0, 0xab, 7]), "0x00ab07");
        assert_eq!(parse_data(&data(&[0, 0xab, 7])), Some([0, 0xab, 7]));
        assert_eq!((quantity(0).as_str(), quantity(500).as_str()), ("0x0", "0x1f4"));
        assert_eq!(parse_quantity("0x1f4"), Some(500));
        assert_eq!(data(&number(258))[58..], *"00000102");
        assert_eq!(padded([9; 20])[11..13], [0, 9]);
    }

    #[test]
    fn other_texts_are_not_read() {
        for text in ["00ab", "0x0", "0x00ab07cd", "0x+0ab07", "0x0g0000"] {
            assert_eq!(parse_data::<3>(text), None, "{text}");
        }
        for text in ["1f4", "0x", "0x+1", "latest"] {
            assert_eq!(parse_quantity(text), None, "{text}");
        }
    }
}
