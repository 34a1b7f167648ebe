//! Address to number: wallets are numbered densely in the order they come.
#![expect(clippy::cast_possible_truncation, reason = "numbers of wallets are kept within 32 bits")]

use bourse_wire::Address;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use crate::corrupt::Corrupt;
use crate::key::Key;

/// Bytes of an address.
const ADDRESS_BYTES: usize = 20;
/// What is in the place of a wallet that was forgotten: no wallet has this address.
const NOBODY: [u8; ADDRESS_BYTES] = [0; ADDRESS_BYTES];

/// The numbers of a project's wallets. Only counting events needs them, charts do not: they are apart so that who only
/// reads never loads them. A number is never given twice: a forgotten wallet leaves its place empty.
#[derive(Debug, Default)]
pub struct Wallets {
    addresses: Vec<[u8; ADDRESS_BYTES]>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Wallets {
    /// Wallets that are stored together.
    pub const CHUNK: usize = 256;

    /// No wallets yet, with room for those whose chunks have so many bytes in all.
    pub fn for_stored(bytes: usize) -> Self {
        let mut wallets = Self::default();
        wallets.reserve(bytes / ADDRESS_BYTES);
        wallets
    }

    /// How many numbers were given, also those of wallets that were forgotten.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there never was a wallet.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.addresses.capacity() * ADDRESS_BYTES + self.numbers.allocation_size()
    }

    /// As numbers rather than as bytes, whose number is fixed, an address is hashed in half the time.
    fn hash(&self, address: &[u8; ADDRESS_BYTES]) -> u64 {
        hash(&self.hasher, address)
    }

    /// Makes room for so many wallets, which is faster than growing step by step.
    pub fn reserve(&mut self, wallets: usize) {
        let more = wallets.saturating_sub(self.addresses.len());
        self.addresses.reserve(more);
        let Self { addresses, numbers, hasher } = self;
        numbers.reserve(more, |number| hash(hasher, &addresses[*number as usize]));
    }

    /// The number of a wallet.
    pub(crate) fn find(&self, address: &[u8; ADDRESS_BYTES]) -> Option<u32> {
        let hash = self.hash(address);
        self.numbers.find(hash, |number| self.addresses[*number as usize] == *address).copied()
    }

    /// Takes in a chunk as it is stored, in place of the one it had; other keys are left alone.
    pub fn load(&mut self, key: Key, bytes: &[u8]) -> Result<(), Corrupt> {
        let Key::Wallets { chunk } = key else { return Ok(()) };
        let (addresses, rest) = bytes.as_chunks::<ADDRESS_BYTES>();
        if !rest.is_empty() || addresses.len() > Self::CHUNK {
            return Err(Corrupt("a chunk of wallets is too long or cut"));
        }
        let first = chunk as usize * Self::CHUNK;
        if u32::try_from(first + Self::CHUNK).is_err() {
            return Err(Corrupt("there are no chunks of wallets with such high numbers"));
        }
        if self.addresses.len() < first + addresses.len() {
            self.addresses.resize(first + addresses.len(), NOBODY);
        }
        for (number, address) in (first..).zip(addresses) {
            if self.addresses[number] != *address {
                self.put(number, *address);
            }
        }
        Ok(())
    }

    fn put(&mut self, number: usize, address: [u8; ADDRESS_BYTES]) {
        let Self { addresses, numbers, hasher } = self;
        let old = addresses[number];
        if old != NOBODY
            && let Ok(entry) =
                numbers.find_entry(hash(hasher, &old), |candidate| *candidate as usize == number)
        {
            entry.remove();
        }
        addresses[number] = address;
        if address != NOBODY {
            numbers.insert_unique(hash(hasher, &address), number as u32, |number| {
                hash(hasher, &addresses[*number as usize])
            });
        }
    }
}

fn hash(hasher: &DefaultHashBuilder, address: &[u8; ADDRESS_BYTES]) -> u64 {
    let mut long = [0; 16];
    let mut rest = [0; 4];
    long.copy_from_slice(&address[..16]);
    rest.copy_from_slice(&address[16..]);
    hasher.hash_one((u128::from_le_bytes(long), u32::from_le_bytes(rest)))
}

/// Wallets as they will be once a batch is stored: those that are there, and others.
#[derive(Debug, Default)]
pub(crate) struct Newcomers {
    first: usize,
    addresses: Vec<[u8; ADDRESS_BYTES]>,
    numbers: HashTable<u32>,
    /// A place that becomes empty.
    leaver: Option<u32>,
}

impl Newcomers {
    pub(crate) fn new(wallets: &Wallets) -> Self {
        Self { first: wallets.len(), ..Self::default() }
    }

    pub(crate) fn leave(wallets: &Wallets, number: u32) -> Self {
        Self { leaver: Some(number), ..Self::new(wallets) }
    }

    /// The number of a wallet, which gets the next one when it has none; nothing when there are no more numbers.
    pub(crate) fn number(&mut self, wallets: &Wallets, address: &Address) -> Option<u32> {
        let address = address.bytes();
        let hash = wallets.hash(address);
        let known = |number: &u32| wallets.addresses[*number as usize] == *address;
        if let Some(number) = wallets.numbers.find(hash, known) {
            return Some(*number);
        }
        let Self { first, addresses, numbers, .. } = self;
        let at = |number: u32| addresses[number as usize - *first];
        if let Some(number) = numbers.find(hash, |number| at(*number) == *address) {
            return Some(*number);
        }
        let number = u32::try_from(*first + addresses.len()).ok().filter(|number| *number < u32::MAX)?;
        numbers.insert_unique(hash, number, |number| wallets.hash(&at(*number)));
        addresses.push(*address);
        Some(number)
    }

    /// The chunks that are different then, as they are stored.
    pub(crate) fn chunks(&self, wallets: &Wallets) -> Vec<(Key, Vec<u8>)> {
        let grown = (self.first / Wallets::CHUNK..).take(if self.addresses.is_empty() {
            0
        } else {
            (self.first + self.addresses.len()).div_ceil(Wallets::CHUNK) - self.first / Wallets::CHUNK
        });
        let left = self.leaver.map(|number| number as usize / Wallets::CHUNK);
        grown
            .chain(left)
            .map(|chunk| (Key::Wallets { chunk: chunk as u32 }, self.chunk(wallets, chunk)))
            .collect()
    }

    fn chunk(&self, wallets: &Wallets, chunk: usize) -> Vec<u8> {
        let all = wallets.addresses.iter().skip(chunk * Wallets::CHUNK);
        let begun = self.first.max(chunk * Wallets::CHUNK) - self.first;
        let all = all.chain(self.addresses.iter().skip(begun)).take(Wallets::CHUNK);
        let mut bytes: Vec<u8> = all.flatten().copied().collect();
        if let Some(number) = self.leaver {
            let start = number as usize % Wallets::CHUNK * ADDRESS_BYTES;
            bytes[start..start + ADDRESS_BYTES].fill(0);
        }
        bytes
    }
}
