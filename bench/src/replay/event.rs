//! Events of the contracts, as the logs that they write.

use super::hex::{Address, Word, number, padded, parse_data};

/// The collection of single tokens (ERC-721).
pub(super) const RELICS: Address = [0x72; 20];

/// The collection of stacks (ERC-1155).
pub(super) const POTIONS: Address = [0x55; 20];

/// The marketplace.
pub(super) const MARKET: Address = [0x4d; 20];

/// A currency (ERC-20).
pub(super) const COIN: Address = [0xc0; 20];

/// Nobody, and the chain's own currency.
pub(super) const ZERO: Address = [0; 20];

/// What a contract wrote, before it is in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Log {
    /// The contract.
    pub(super) address: Address,
    /// The event and its indexed members.
    pub(super) topics: Vec<Word>,
    /// Its other members.
    pub(super) data: Vec<u8>,
}

/// An order that was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) maker: Address,
    pub(super) collection: Address,
    pub(super) token: u64,
    pub(super) is_listing: bool,
    pub(super) quantity: u64,
    pub(super) currency: Address,
    pub(super) price: u64,
    pub(super) expiry: u64,
}

/// An order that was filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill {
    pub(super) id: u64,
    pub(super) taker: Address,
    pub(super) collection: Address,
    pub(super) quantity: u64,
    pub(super) remaining: u64,
}

/// Names of events: the hashes of their signatures.
mod topic {
    pub(super) const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    pub(super) const APPROVAL: &str = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
    pub(super) const APPROVAL_FOR_ALL: &str =
        "0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31";
    pub(super) const TRANSFER_SINGLE: &str =
        "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
    pub(super) const TRANSFER_BATCH: &str =
        "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";
    pub(super) const REQUEST_CREATED: &str =
        "0xb67ee55b059861d68b3b5640ee51bde6a5d9d849c6ecdb610663cbd4290bdfd5";
    pub(super) const REQUEST_ACCEPTED: &str =
        "0x146c7c3a67244cf406ca437a82b2bf587bc02b628b63659c73b4295b8b00e76f";
    pub(super) const REQUEST_CANCELLED: &str =
        "0xe0d7665e06e7db1fc500d66d4e3898d1d4a5533d7efe54b352fcdaa177c22783";
}

/// A single token changed hands.
pub(super) fn transfer(from: Address, to: Address, token: u64) -> Log {
    log(RELICS, topic::TRANSFER, &[padded(from), padded(to), number(token)], &[])
}

/// A single token may be moved by somebody.
pub(super) fn approval(owner: Address, operator: Address, token: u64) -> Log {
    log(RELICS, topic::APPROVAL, &[padded(owner), padded(operator), number(token)], &[])
}

/// All tokens may be moved by somebody, or no longer.
pub(super) fn approval_for_all(
    collection: Address,
    owner: Address,
    operator: Address,
    approved: bool,
) -> Log {
    let indexed = [padded(owner), padded(operator)];
    log(collection, topic::APPROVAL_FOR_ALL, &indexed, &[number(u64::from(approved))])
}

/// Some of a stack changed hands.
pub(super) fn transfer_single(
    operator: Address,
    from: Address,
    to: Address,
    token: u64,
    quantity: u64,
) -> Log {
    let indexed = [padded(operator), padded(from), padded(to)];
    log(POTIONS, topic::TRANSFER_SINGLE, &indexed, &[number(token), number(quantity)])
}

/// Some of several stacks changed hands.
pub(super) fn transfer_batch(operator: Address, from: Address, to: Address, stacks: &[(u64, u64)]) -> Log {
    let count = u64::try_from(stacks.len()).unwrap_or(u64::MAX);
    // The two lists start behind the two places that say where they start.
    let mut data = vec![number(64), number(64 + 32 * (1 + count)), number(count)];
    data.extend(stacks.iter().map(|(token, _)| number(*token)));
    data.push(number(count));
    data.extend(stacks.iter().map(|(_, quantity)| number(*quantity)));
    log(POTIONS, topic::TRANSFER_BATCH, &[padded(operator), padded(from), padded(to)], &data)
}

/// An order was made.
pub(super) fn request_created(request: &Request) -> Log {
    let indexed = [number(request.id), padded(request.maker), padded(request.collection)];
    let data = [
        number(request.token),
        number(u64::from(request.is_listing)),
        number(request.quantity),
        padded(request.currency),
        number(request.price),
        number(request.expiry),
    ];
    log(MARKET, topic::REQUEST_CREATED, &indexed, &data)
}

/// An order was filled.
pub(super) fn request_accepted(fill: &Fill) -> Log {
    let indexed = [number(fill.id), padded(fill.taker), padded(fill.collection)];
    let data = [padded(fill.taker), number(fill.quantity), number(fill.remaining)];
    log(MARKET, topic::REQUEST_ACCEPTED, &indexed, &data)
}

/// An order was taken back.
pub(super) fn request_cancelled(id: u64, collection: Address) -> Log {
    log(MARKET, topic::REQUEST_CANCELLED, &[number(id), padded(collection)], &[])
}

fn log(address: Address, event: &str, indexed: &[Word], data: &[Word]) -> Log {
    // The names above are whole; a test reads them all.
    let event = parse_data(event).unwrap_or_default();
    let topics = std::iter::once(event).chain(indexed.iter().copied()).collect();
    Log { address, topics, data: data.concat() }
}

#[cfg(test)]
mod tests {
    use super::{MARKET, transfer_single};
    use super::{RELICS, ZERO, approval, approval_for_all, request_cancelled, transfer, transfer_batch};
    use crate::replay::hex::{number, padded};

    #[test]
    fn every_event_has_a_name() {
        let logs = [
            transfer(ZERO, RELICS, 1),
            approval(ZERO, RELICS, 1),
            approval_for_all(RELICS, ZERO, MARKET, true),
            transfer_single(ZERO, ZERO, MARKET, 1, 1),
            transfer_batch(ZERO, ZERO, MARKET, &[(1, 1)]),
            request_cancelled(1, RELICS),
        ];
        let names: std::collections::BTreeSet<_> = logs.iter().map(|log| log.topics[0]).collect();
        assert_eq!(names.len(), logs.len());
        assert!(!names.contains(&[0; 32]));
    }

    #[test]
    fn a_batch_says_where_its_lists_start() {
        let log = transfer_batch(ZERO, ZERO, RELICS, &[(7, 70), (8, 80)]);
        let words: Vec<[u8; 32]> = log.data.chunks_exact(32).map(|word| word.try_into().unwrap()).collect();
        assert_eq!(words, [64, 160, 2, 7, 8, 2, 70, 80].map(number));
        assert_eq!(log.topics[3], padded(RELICS));
    }
}
