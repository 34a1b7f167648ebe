//! Numbers for what has none of its own.

use crate::{Address, ChainId, Marketplace, TokenId};

/// A number for what has none of its own: the same in every process, and exact in clients that read numbers as floats.
pub fn stable_number(parts: &[&[u8]]) -> u64 {
    Hash::START.then(parts).number()
}

/// The numbers of what a collection has. They differ from those of other collections, on whatever chain, although two may
/// have the same token ids and the same order numbers of our own marketplaces.
#[derive(Clone, Copy, Debug)]
pub struct CollectionNumbers(Hash);

impl CollectionNumbers {
    /// Those of the collection of a contract.
    pub fn new(chain: ChainId, address: Address) -> Self {
        Self(Hash::START.then(&[&chain.0.to_be_bytes(), address.to_string().as_bytes()]))
    }

    /// The number of a token.
    pub fn token(self, id: TokenId) -> u64 {
        self.0.then(&[b"token", id.to_string().as_bytes()]).mixed().number()
    }

    /// The number of an order.
    pub fn order(self, marketplace: Marketplace, order_id: &str) -> u64 {
        self.0.then(&[b"order", &[marketplace.number()], order_id.as_bytes()]).mixed().number()
    }

    /// The number of an activity that is told apart within its collection by another.
    pub fn activity(self, id: u64) -> u64 {
        self.0.then(&[b"activity", &id.to_be_bytes()]).mixed().number()
    }
}

/// A hash (FNV-1a) of what came so far.
#[derive(Clone, Copy, Debug)]
struct Hash(u64);

impl Hash {
    const START: Self = Self(0xcbf2_9ce4_8422_2325);

    fn then(self, parts: &[&[u8]]) -> Self {
        let bytes = parts.iter().copied().flatten();
        Self(bytes.fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The same with every bit depending on all: what is numbered in a row has numbers close to each other otherwise, and
    /// those of two collections would meet in many places or in none.
    fn mixed(self) -> Self {
        let mix = |hash: u64, factor: u64| (hash ^ (hash >> 33)).wrapping_mul(factor);
        let hash = mix(mix(self.0, 0xff51_afd7_ed55_8ccd), 0xc4ce_b9fe_1a85_ec53);
        Self(hash ^ (hash >> 33))
    }

    fn number(self) -> u64 {
        const FLOAT_EXACT_BITS: u32 = 53;
        self.0 >> (u64::BITS - FLOAT_EXACT_BITS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_stay_what_they_were_and_fit_a_float() {
        assert_eq!(stable_number(&[b"1"]), 0xaf63_ac4c_8601_9afc >> 11);
        assert_eq!(stable_number(&[b"a", b"b"]), stable_number(&[b"ab"]));
        assert!((0..1_000_u32).all(|number| stable_number(&[&number.to_be_bytes()]) < 1 << 53));
        let numbers = CollectionNumbers::new(ChainId(137), Address::ZERO);
        let (token, order) = (numbers.token(TokenId::from(1)), numbers.order(Marketplace::Opensea, "1"));
        assert_eq!((token, order, numbers.activity(1)), (TOKEN, ORDER, ACTIVITY));
    }

    const TOKEN: u64 = 1_384_913_097_901_361;
    const ORDER: u64 = 6_994_625_943_981_782;
    const ACTIVITY: u64 = 6_148_901_348_155_398;

    /// Tokens and orders of several collections on several chains that are called the same, and many of them.
    #[test]
    fn no_two_collections_share_a_number() {
        let mut seen = HashSet::new();
        for chain in [1, 137, 80_002] {
            for contract in 0..20_u64 {
                let address: Address = format!("0x{contract:040x}").parse().unwrap();
                let numbers = CollectionNumbers::new(ChainId(chain), address);
                for id in 0..2_000_u64 {
                    assert!(seen.insert(numbers.token(TokenId::from(id))), "token {id}");
                    assert!(seen.insert(numbers.order(Marketplace::Opensea, &id.to_string())), "order {id}");
                    assert!(seen.insert(numbers.activity(id)), "activity {id}");
                }
            }
        }
    }
}
