//! Who holds a collection: by rendezvous hashing, every server says the same of the same servers, and nobody has to be asked.

use bourse_store::CollectionKey;
use twox_hash::XxHash3_64;

use crate::server::ServerId;

/// How a server ranks for a collection; the highest holds it. Every build must count the same, so that servers agree.
pub fn score(server: ServerId, key: CollectionKey) -> u64 {
    let mut bytes = [0; 8 + 8 + 20];
    let (numbers, address) = bytes.split_at_mut(16);
    let (id, chain) = numbers.split_at_mut(8);
    id.copy_from_slice(&server.0.to_be_bytes());
    chain.copy_from_slice(&key.chain.0.to_be_bytes());
    address.copy_from_slice(key.address.bytes());
    XxHash3_64::oneshot(&bytes)
}

/// The server among these that ranks first for a collection.
pub fn first(servers: impl IntoIterator<Item = ServerId>, key: CollectionKey) -> Option<ServerId> {
    servers.into_iter().max_by_key(|server| (score(*server, key), *server))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use bourse_wire::{Address, ChainId};
    use proptest::prelude::*;

    use super::*;

    fn key(number: u64) -> CollectionKey {
        let mut address = [0; 20];
        address[12..].copy_from_slice(&number.to_be_bytes());
        CollectionKey { chain: ChainId(number % 3), address: Address::from_bytes(address) }
    }

    fn holders(servers: &BTreeSet<u64>, keys: u64) -> BTreeMap<u64, ServerId> {
        let of = |number| first(servers.iter().copied().map(ServerId), key(number)).unwrap();
        (0..keys).map(|number| (number, of(number))).collect()
    }

    proptest! {
        #[test]
        fn when_a_server_goes_only_what_it_held_moves(
            servers in prop::collection::btree_set(any::<u64>(), 2..8),
            which in any::<prop::sample::Index>(),
        ) {
            let gone = *which.get(&servers.iter().copied().collect::<Vec<_>>());
            let before = holders(&servers, 300);
            let left: BTreeSet<u64> = servers.into_iter().filter(|server| *server != gone).collect();
            for (number, holder) in holders(&left, 300) {
                if before[&number] == ServerId(gone) {
                    prop_assert_ne!(holder, ServerId(gone));
                } else {
                    prop_assert_eq!(holder, before[&number]);
                }
            }
        }

        #[test]
        fn all_hold_about_as_many(servers in prop::collection::btree_set(any::<u64>(), 1..6)) {
            let count = 6_000;
            let mut held: BTreeMap<ServerId, u64> = BTreeMap::new();
            for holder in holders(&servers, count).into_values() {
                *held.entry(holder).or_default() += 1;
            }
            let fair = count / servers.len() as u64;
            prop_assert_eq!(held.len(), servers.len());
            for (server, held) in held {
                prop_assert!(held.abs_diff(fair) < fair / 5, "{server} holds {held} of {count}");
            }
        }
    }

    #[test]
    fn the_order_in_which_servers_are_named_makes_no_difference_and_nobody_holds_nothing() {
        let servers = [3, 1, 2].map(ServerId);
        assert_eq!(first(servers, key(9)), first([1, 2, 3].map(ServerId), key(9)));
        assert_eq!(first([], key(9)), None);
    }

    /// Servers of different builds must agree.
    #[test]
    fn a_score_stays_what_it_is() {
        assert_eq!(score(ServerId(7), key(1)), 9_781_655_447_050_796_731);
    }
}
