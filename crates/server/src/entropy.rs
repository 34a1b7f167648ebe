//! Randomness. This is the one place that asks the machine for it, as [`crate::Clock`] is for the time.

/// So many bytes that nobody can guess.
#[expect(clippy::disallowed_methods, reason = "everybody else asks here")]
pub fn bytes<const COUNT: usize>() -> [u8; COUNT] {
    rand::random()
}

/// A word of 16 characters that nobody else has drawn, for what is told apart by name.
pub fn word() -> String {
    format!("{:016x}", u64::from_be_bytes(bytes()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_are_the_same() {
        assert_ne!(super::bytes::<16>(), super::bytes::<16>());
        let (one, other) = (super::word(), super::word());
        assert!(one != other && one.len() == 16, "{one} {other}");
    }
}
