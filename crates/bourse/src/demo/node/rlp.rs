//! How transactions are written: numbers and texts with their lengths, one after the other.

use alloy_primitives::U256;

/// A text of bytes in a list.
#[derive(Clone)]
pub(super) struct Item(pub(super) Vec<u8>);

impl Item {
    /// A number, without zeros before it.
    pub(super) fn number(number: U256) -> Self {
        Self(number.to_be_bytes_trimmed_vec())
    }

    fn write(&self, into: &mut Vec<u8>) {
        match self.0.as_slice() {
            [byte] if *byte < 0x80 => into.push(*byte),
            bytes => {
                head(0x80, bytes.len(), into);
                into.extend(bytes);
            }
        }
    }
}

/// A list of texts.
pub(super) fn list(items: &[Item]) -> Vec<u8> {
    let mut body = Vec::new();
    for item in items {
        item.write(&mut body);
    }
    let mut whole = Vec::with_capacity(body.len() + 9);
    head(0xc0, body.len(), &mut whole);
    whole.extend(body);
    whole
}

/// What comes before a text or a list: a short length is in one byte with its kind, a long one is written after that.
fn head(kind: u8, length: usize, into: &mut Vec<u8>) {
    let long = U256::from(length).to_be_bytes_trimmed_vec();
    match u8::try_from(length) {
        Ok(short) if short < 56 => into.push(kind + short),
        _ => {
            // Lengths have eight bytes at most.
            into.push(kind + 55 + u8::try_from(long.len()).unwrap_or(8));
            into.extend(long);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_the_format_has_them() {
        let one = |bytes: &[u8]| const_hex::encode(list(&[Item(bytes.to_vec())]));
        assert_eq!(one(&[]), "c180");
        assert_eq!(one(&[0]), "c100");
        assert_eq!(one(&[0x7f]), "c17f");
        assert_eq!(one(&[0x80]), "c28180");
        assert_eq!(one(b"dog"), "c483646f67");
        assert!(one(&[7; 56]).starts_with("f83ab83807"));
        assert!(one(&[7; 1024]).starts_with("f90403b9040007"));
        assert_eq!(const_hex::encode(list(&[Item::number(U256::from(1024))])), "c3820400");
        assert_eq!(const_hex::encode(list(&[Item::number(U256::ZERO)])), "c180");
    }
}
