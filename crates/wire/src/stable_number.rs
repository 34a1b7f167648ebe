//! Numbers for what has none of its own.

/// A number for what has none of its own (FNV-1a): the same in every process, and exact in clients that read numbers as
/// floats.
pub fn stable_number(parts: &[&[u8]]) -> u64 {
    const FLOAT_EXACT_BITS: u32 = 53;
    let bytes = parts.iter().copied().flatten();
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> (u64::BITS - FLOAT_EXACT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_were_and_fit_a_float() {
        assert_eq!(stable_number(&[b"1"]), 0xaf63_ac4c_8601_9afc >> 11);
        assert_eq!(stable_number(&[b"a", b"b"]), stable_number(&[b"ab"]));
        assert!((0..1_000_u32).all(|number| stable_number(&[&number.to_be_bytes()]) < 1 << 53));
    }
}
