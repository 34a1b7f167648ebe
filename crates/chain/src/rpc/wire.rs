//! Blocks and logs as nodes write them, read without a detour over free-form JSON.

use std::fmt;

use alloy_primitives::{B256, Bloom, Bytes, hex};
use bourse_market::facts::{Block, Log};
use bourse_wire::{Address, Timestamp};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use crate::node::{Header, TimedLog};
use crate::receipt::Receipt;

/// `0x` and two digits for each of exactly `N` bytes.
#[derive(Clone, Copy)]
pub(super) struct Fixed<const N: usize>(pub(super) [u8; N]);

impl<'de, const N: usize> Deserialize<'de> for Fixed<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits<const N: usize>;
        impl<const N: usize> Visitor<'_> for Digits<N> {
            type Value = Fixed<N>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "0x and {} hexadecimal digits", 2 * N)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Fixed<N>, E> {
                let mut bytes = [0; N];
                let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 2 * N);
                let read = digits.map(|digits| hex::decode_to_slice(digits, &mut bytes));
                match read {
                    Some(Ok(())) => Ok(Fixed(bytes)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_str(Digits::<N>)
    }
}

/// `0x` and digits for any number of bytes.
#[derive(Default)]
pub(super) struct Data(pub(super) Bytes);

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Data;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("0x and hexadecimal digits")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Data, E> {
                let read = text.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok());
                read.map(|bytes| Data(bytes.into())).ok_or_else(|| E::custom("not 0x and hexadecimal digits"))
            }
        }
        deserializer.deserialize_str(Digits)
    }
}

/// `0x` and a number of up to 64 bits; some nodes write some numbers in decimal.
#[derive(Clone, Copy)]
pub(super) struct Number(pub(super) u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Number;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("0x and a number")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                let read = match text.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16),
                    None => text.parse(),
                };
                read.map(Number).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Digits)
    }
}

/// A block; what else a node says of it is passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBlock {
    number: Number,
    hash: Fixed<32>,
    parent_hash: Fixed<32>,
    timestamp: Number,
    logs_bloom: Option<Fixed<256>>,
}

impl From<WireBlock> for Header {
    fn from(block: WireBlock) -> Self {
        let bloom = block.logs_bloom.map(|bloom| Box::new(Bloom::from(bloom.0)));
        let block = Block {
            number: block.number.0,
            hash: B256::from(block.hash.0),
            parent: B256::from(block.parent_hash.0),
            at: seconds(block.timestamp.0),
        };
        Self { block, bloom }
    }
}

/// The transactions of a block, by their names.
#[derive(Deserialize)]
pub(super) struct WireTransactions {
    pub(super) transactions: Vec<Fixed<32>>,
}

/// What became of a transaction.
#[derive(Deserialize)]
pub(super) struct WireReceipt {
    pub(super) logs: Vec<WireLog>,
}

/// What became of a transaction, with all that matters of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireWholeReceipt {
    transaction_hash: Fixed<32>,
    transaction_index: Number,
    block_hash: Option<Fixed<32>>,
    block_number: Option<Number>,
    from: Fixed<20>,
    to: Option<Fixed<20>>,
    gas_used: Number,
    effective_gas_price: Option<Number>,
    status: Option<Number>,
    r#type: Option<Number>,
    logs: Vec<WireLog>,
}

impl WireWholeReceipt {
    /// The receipt, unless it is of no block.
    pub(super) fn receipt(self) -> Option<Receipt> {
        let logs = self.logs.into_iter().filter_map(WireLog::timed).map(|timed| timed.log);
        Some(Receipt {
            transaction: B256::from(self.transaction_hash.0),
            // Receipts of before there was a status are of transactions that count.
            succeeded: self.status.is_none_or(|status| status.0 == 1),
            index: self.transaction_index.0,
            kind: self.r#type.map_or(0, |kind| kind.0),
            block_hash: B256::from(self.block_hash?.0),
            block_number: self.block_number?.0,
            gas_used: self.gas_used.0,
            effective_gas_price: self.effective_gas_price.map_or(0, |price| price.0),
            from: Address::from_bytes(self.from.0),
            to: self.to.map(|to| Address::from_bytes(to.0)),
            logs: logs.collect(),
        })
    }
}

fn seconds(since_1970: u64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(since_1970) * 1_000_000_000)
}

/// A log. One that is pending has no block.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireLog {
    address: Fixed<20>,
    topics: Vec<Fixed<32>>,
    #[serde(default)]
    data: Data,
    block_number: Option<Number>,
    block_hash: Option<Fixed<32>>,
    transaction_hash: Option<Fixed<32>>,
    log_index: Option<Number>,
    block_timestamp: Option<Number>,
    removed: Option<bool>,
}

impl WireLog {
    /// The log, unless it is of no block, or of one that is gone.
    pub(super) fn timed(self) -> Option<TimedLog> {
        if self.removed == Some(true) {
            return None;
        }
        let log = Log {
            address: Address::from_bytes(self.address.0),
            topics: self.topics.into_iter().map(|topic| B256::from(topic.0)).collect(),
            data: self.data.0,
            block_number: self.block_number?.0,
            block_hash: B256::from(self.block_hash?.0),
            tx_hash: B256::from(self.transaction_hash?.0),
            index: self.log_index?.0,
        };
        // Some nodes write zero for what they do not know.
        let at = self.block_timestamp.filter(|at| at.0 > 0).map(|at| seconds(at.0));
        Some(TimedLog { log, at })
    }
}
