//! The chain as the texts that a node answers.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use alloy_primitives::{B256, Bloom};

use super::filter::Filter;
use crate::replay::chain::{Block, CHAIN_ID, Chain, PlacedLog, Transaction};
use crate::replay::hex::{self, Word, data, quantity};

/// Blocks that a client may ask the logs of at once.
pub(super) const BLOCKS_MAX: u64 = 10_000;

/// Logs that a client gets at once.
pub(super) const LOGS_MAX: usize = 10_000;

/// Hash of the list of uncles of a block that has none.
const NO_UNCLES: &str = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";

/// A chain, with the texts of its logs.
#[derive(Debug)]
pub(super) struct Record {
    chain: Chain,
    /// The text of every log, one after the other.
    logs: Vec<u8>,
    /// Where the text of each log starts, and where the last ends.
    starts: Vec<usize>,
    numbers: BTreeMap<Word, usize>,
}

/// Why logs are not told.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Too many blocks.
    Blocks,
    /// Too many logs: these blocks have as many as can be told.
    Logs(RangeInclusive<u64>),
}

impl Record {
    /// Writes all texts.
    pub(super) fn new(chain: Chain) -> Self {
        let (mut logs, mut starts) = (Vec::new(), vec![0]);
        for placed in &chain.logs {
            logs.extend_from_slice(log_text(&chain, placed).as_bytes());
            starts.push(logs.len());
        }
        let numbers = chain.blocks.iter().enumerate().map(|(place, block)| (block.hash, place)).collect();
        Self { chain, logs, starts, numbers }
    }

    /// The newest block.
    pub(super) fn head(&self) -> u64 {
        self.chain.head()
    }

    /// The number of the block with this name.
    pub(super) fn number_of(&self, hash: &Word) -> Option<u64> {
        self.numbers.get(hash).and_then(|place| u64::try_from(*place).ok())
    }

    /// The list of logs of these blocks that a filter lets through.
    pub(super) fn logs(&self, blocks: RangeInclusive<u64>, filter: &Filter) -> Result<Vec<u8>, Refusal> {
        let (first, last) = (*blocks.start(), (*blocks.end()).min(self.head()));
        if blocks.end().saturating_sub(first) >= BLOCKS_MAX {
            return Err(Refusal::Blocks);
        }
        let mut places = Vec::new();
        for block in (first..=last).filter_map(|number| self.block_at(number)) {
            let logs = block.logs.clone();
            places.extend(logs.filter(|place| filter.matches(&self.chain.logs[*place].log)));
            // A single block is told whole, as it cannot be asked for in parts.
            if places.len() > LOGS_MAX && block.number > first {
                return Err(Refusal::Logs(first..=block.number - 1));
            }
        }
        let bytes = places.iter().map(|place| self.log(*place).len() + 1).sum::<usize>();
        let mut list = Vec::with_capacity(bytes + 2);
        list.push(b'[');
        for (count, place) in places.into_iter().enumerate() {
            if count > 0 {
                list.push(b',');
            }
            list.extend_from_slice(self.log(place));
        }
        list.push(b']');
        Ok(list)
    }

    /// A block with its transactions, or with their names only.
    pub(super) fn block(&self, number: u64, is_full: bool) -> Option<String> {
        let block = self.block_at(number)?;
        let (own, time) = (quantity(block.number), quantity(block.at));
        let (hash, parent) = (data(&block.hash), data(&block.parent));
        let bloom = data(self.bloom(block).data());
        let root = data(&block.hash);
        let gas_used = quantity(90_000 * u64::try_from(block.transactions.len()).unwrap_or(0));
        let mut text = format!(
            r#"{{"number":"{own}","hash":"{hash}","parentHash":"{parent}","timestamp":"{time}","logsBloom":"{bloom}","miner":"0x0000000000000000000000000000000000000000","gasUsed":"{gas_used}","gasLimit":"0x1c9c380","baseFeePerGas":"0x7","nonce":"0x0000000000000000","mixHash":"{root}","stateRoot":"{root}","receiptsRoot":"{root}","transactionsRoot":"{root}","sha3Uncles":"{NO_UNCLES}","size":"0x400","difficulty":"0x0","totalDifficulty":"0x0","extraData":"0x","uncles":[],"transactions":["#
        );
        for (place, transaction) in block.transactions.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            let told = if is_full { transaction_text(block, place) } else { quoted(&transaction.hash) };
            text.push_str(&told);
        }
        text.push_str("]}");
        Some(text)
    }

    /// The list of receipts of a block, with what clients read of them: their logs.
    pub(super) fn receipts(&self, number: u64) -> Option<Vec<u8>> {
        let block = self.block_at(number)?;
        let receipt = |(place, transaction): (usize, &Transaction)| {
            let of_it = |log: &usize| self.chain.logs[*log].transaction == place;
            let logs: Vec<&[u8]> = block.logs.clone().filter(of_it).map(|log| self.log(log)).collect();
            let hash = quoted(&transaction.hash);
            [format!(r#"{{"transactionHash":{hash},"logs":["#).as_bytes(), &logs.join(&b','), b"]}"].concat()
        };
        let receipts: Vec<Vec<u8>> = block.transactions.iter().enumerate().map(receipt).collect();
        Some([b"[".as_slice(), &receipts.join(&b','), b"]"].concat())
    }

    /// The filter of contracts and topics by which a block tells what may be in it. Clients hold it against the logs.
    fn bloom(&self, block: &Block) -> Bloom {
        let mut bloom = Bloom::ZERO;
        for PlacedLog { log, .. } in &self.chain.logs[block.logs.clone()] {
            let topics: Vec<B256> = log.topics.iter().map(B256::from).collect();
            bloom.accrue_raw_log(log.address.into(), &topics);
        }
        bloom
    }

    fn block_at(&self, number: u64) -> Option<&Block> {
        self.chain.blocks.get(usize::try_from(number).ok()?)
    }

    fn log(&self, place: usize) -> &[u8] {
        &self.logs[self.starts[place]..self.starts[place + 1]]
    }
}

fn quoted(hash: &Word) -> String {
    format!("\"{}\"", data(hash))
}

fn log_text(chain: &Chain, placed: &PlacedLog) -> String {
    let PlacedLog { log, block, transaction, index } = placed;
    let block = &chain.blocks[*block];
    let topics: Vec<String> = log.topics.iter().map(quoted).collect();
    let place = |place: usize| quantity(u64::try_from(place).unwrap_or(u64::MAX));
    format!(
        r#"{{"address":"{}","topics":[{}],"data":"{}","blockNumber":"{}","blockHash":"{}","blockTimestamp":"{}","transactionHash":"{}","transactionIndex":"{}","logIndex":"{}","removed":false}}"#,
        data(&log.address),
        topics.join(","),
        data(&log.data),
        quantity(block.number),
        data(&block.hash),
        quantity(block.at),
        data(&block.transactions[*transaction].hash),
        place(*transaction),
        place(*index),
    )
}

fn transaction_text(block: &Block, place: usize) -> String {
    let transaction = &block.transactions[place];
    let (signature, place) = (data(&hex::number(1)), quantity(u64::try_from(place).unwrap_or(u64::MAX)));
    let chain_id = quantity(CHAIN_ID);
    format!(
        r#"{{"hash":"{}","blockHash":"{}","blockNumber":"{}","transactionIndex":"{place}","from":"{}","to":"{}","input":"0xa22cb465","value":"0x0","nonce":"{}","gas":"0x30d40","gasPrice":"0x9","maxFeePerGas":"0x9","maxPriorityFeePerGas":"0x2","type":"0x2","accessList":[],"chainId":"{chain_id}","v":"0x1","yParity":"0x1","r":"{signature}","s":"{signature}"}}"#,
        data(&transaction.hash),
        data(&block.hash),
        quantity(block.number),
        data(&transaction.sender),
        data(&transaction.to),
        quantity(block.number),
    )
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, Bloom};
    use serde_json::{Value, json};

    use super::{BLOCKS_MAX, Filter, LOGS_MAX, Record, Refusal};
    use crate::replay::chain::Chain;
    use crate::replay::event::MARKET;
    use crate::replay::hex::{data, parse_quantity};

    fn logs(record: &Record, from: u64, to: u64, asked: &Value) -> Vec<Value> {
        let list = record.logs(from..=to, &Filter::parse(asked).unwrap()).unwrap();
        serde_json::from_slice(&list).unwrap()
    }

    #[test]
    fn ranges_hold_the_logs_of_their_blocks() {
        let record = Record::new(Chain::new(1_000));
        let all = logs(&record, 0, record.head(), &json!({}));
        assert_eq!(all.len(), record.chain.logs.len());
        let middle = record.head() / 2;
        let parts = [logs(&record, 0, middle, &json!({})), logs(&record, middle + 1, 9_000, &json!({}))];
        assert_eq!(parts.concat(), all);
        let of_market = logs(&record, 0, record.head(), &json!({ "address": data(&MARKET) }));
        assert!(!of_market.is_empty() && of_market.len() < all.len());
        assert!(of_market.iter().all(|log| log["address"] == data(&MARKET)));
        assert_eq!(logs(&record, record.head() + 1, record.head() + 5, &json!({})), [Value::Null; 0]);
    }

    #[test]
    fn too_much_is_refused() {
        let record = Record::new(Chain::new(LOGS_MAX + 500));
        let any = Filter::default();
        assert_eq!(record.logs(1..=BLOCKS_MAX + 1, &any), Err(Refusal::Blocks));
        let Err(Refusal::Logs(enough)) = record.logs(1..=record.head(), &any) else { panic!("it is not") };
        assert_eq!(*enough.start(), 1);
        let fitting = logs(&record, 1, *enough.end(), &json!({})).len();
        assert!((LOGS_MAX - 30..=LOGS_MAX).contains(&fitting), "{fitting}");
        assert!(record.logs(1..=enough.end() + 1, &any).is_err());
    }

    /// Clients do not believe a block that has more in its bloom than there are logs of.
    #[test]
    fn a_bloom_is_that_of_the_logs_and_receipts_hold_the_same() {
        let record = Record::new(Chain::new(500));
        for number in 0..=record.head() {
            let block: Value = serde_json::from_str(&record.block(number, false).unwrap()).unwrap();
            let mut bloom = Bloom::ZERO;
            let told = logs(&record, number, number, &json!({}));
            for log in &told {
                let topic = |topic: &Value| topic.as_str().unwrap().parse().unwrap();
                let topics: Vec<B256> = log["topics"].as_array().unwrap().iter().map(topic).collect();
                bloom.accrue_raw_log(log["address"].as_str().unwrap().parse().unwrap(), &topics);
            }
            assert_eq!(block["logsBloom"], data(bloom.data()));
            let receipts: Vec<Value> = serde_json::from_slice(&record.receipts(number).unwrap()).unwrap();
            assert_eq!(receipts.len(), block["transactions"].as_array().unwrap().len());
            let of_receipts = receipts.iter().flat_map(|receipt| receipt["logs"].as_array().unwrap().clone());
            assert_eq!(of_receipts.collect::<Vec<Value>>(), told);
        }
        assert_eq!(record.receipts(record.head() + 1), None);
    }

    #[test]
    fn logs_are_those_of_their_blocks() {
        let record = Record::new(Chain::new(500));
        for log in logs(&record, 0, record.head(), &json!({})) {
            let number = parse_quantity(log["blockNumber"].as_str().unwrap()).unwrap();
            let block: Value = serde_json::from_str(&record.block(number, true).unwrap()).unwrap();
            assert_eq!(log["blockHash"], block["hash"]);
            assert_eq!(log["blockTimestamp"], block["timestamp"]);
            let place = parse_quantity(log["transactionIndex"].as_str().unwrap()).unwrap();
            let transaction = &block["transactions"][usize::try_from(place).unwrap()];
            assert_eq!(transaction["hash"], log["transactionHash"]);
            assert_eq!(transaction["transactionIndex"], log["transactionIndex"]);
            assert_eq!(transaction["blockHash"], block["hash"]);
            let short: Value = serde_json::from_str(&record.block(number, false).unwrap()).unwrap();
            assert_eq!(short["transactions"][usize::try_from(place).unwrap()], log["transactionHash"]);
        }
        assert_eq!(record.block(record.head() + 1, false), None);
    }
}
