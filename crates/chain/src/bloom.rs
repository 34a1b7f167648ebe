//! What blocks say of the logs in them, held against the logs that a node tells: an index of logs may lack some, and then
//! its answer looks like that of a quiet chain.

use alloy_primitives::{B256, BLOOM_SIZE_BITS, Bloom, BloomInput};
use bourse_market::facts::Log;
use bourse_wire::Address;

use crate::node::{Header, LogFilter, TimedLog};

/// Whether a block has, by what it says itself, logs that were asked for and are not among those that were told. It may
/// say so wrongly, but never that there are none.
pub(crate) fn is_doubtful(header: &Header, filters: &[LogFilter], told: &[TimedLog]) -> bool {
    let Some(bloom) = header.bloom.as_deref() else { return false };
    let logs: Vec<&Log> =
        told.iter().map(|timed| &timed.log).filter(|log| log.block_number == header.block.number).collect();
    filters.iter().any(|filter| lacks(bloom, filter, &logs))
}

fn lacks(bloom: &Bloom, filter: &LogFilter, logs: &[&Log]) -> bool {
    if !has_topics(bloom, filter) {
        return false;
    }
    let admitted = writers(filter, logs);
    if filter.addresses.is_empty() {
        return admitted.is_empty();
    }
    let mut silent = filter.addresses.iter().filter(|address| !admitted.contains(address));
    let is_worth_it = admitted.is_empty() || tells_apart(bloom, filter.addresses.len());
    is_worth_it && silent.any(|address| has(bloom, address.bytes()))
}

fn has(bloom: &Bloom, bytes: &[u8]) -> bool {
    bloom.contains_input(BloomInput::Raw(bytes))
}

fn has_topics(bloom: &Bloom, filter: &LogFilter) -> bool {
    let has_one = |allowed: &Vec<B256>| allowed.iter().any(|topic| has(bloom, topic.as_slice()));
    filter.topics.iter().all(|allowed| allowed.is_empty() || has_one(allowed))
}

/// Who wrote the logs that a filter lets through.
fn writers(filter: &LogFilter, logs: &[&Log]) -> Vec<Address> {
    logs.iter().filter(|log| filter.admits(log)).map(|log| log.address).collect()
}

/// Whether a bloom says anything about single ones of so many addresses: one that is nearly full says yes to most. Fewer
/// than one false alarm in four blocks are expected, so that the work that they make is bounded.
fn tells_apart(bloom: &Bloom, addresses: usize) -> bool {
    let set: u32 = bloom.data().iter().map(|byte| byte.count_ones()).sum();
    // Every address has three places of its own.
    let (set, all) = (u128::from(set).pow(3), (BLOOM_SIZE_BITS as u128).pow(3));
    set * 4 * (addresses as u128) < all
}

/// Whether the logs of a block's receipts explain all that it says of what is asked for: where its bloom has the places of a
/// contract and of a topic, some of these logs have them too. What else a bloom has is nobody's concern: some chains write
/// logs of their own that are in no receipt, and others logs that are in no bloom.
pub(crate) fn is_explained(header: &Header, filters: &[LogFilter], all: &[TimedLog]) -> bool {
    let Some(bloom) = header.bloom.as_deref() else { return true };
    let mut found = Bloom::ZERO;
    for TimedLog { log, .. } in all {
        found.accrue_raw_log(log.address.bytes().into(), &log.topics);
    }
    let logs: Vec<&Log> = all.iter().map(|timed| &timed.log).collect();
    filters.iter().filter(|filter| lacks(bloom, filter, &logs)).all(|filter| {
        let admitted = writers(filter, &logs);
        let silent = filter.addresses.iter().filter(|address| !admitted.contains(address));
        let mut spoken_of = silent.filter(|address| has(bloom, address.bytes()));
        has_topics(&found, filter) && spoken_of.all(|address| has(&found, address.bytes()))
    })
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Bytes;
    use bourse_market::facts::Block;
    use bourse_wire::Timestamp;

    use super::*;

    const TOPIC: B256 = B256::repeat_byte(7);

    fn address(byte: u8) -> Address {
        Address::from_bytes([byte; 20])
    }

    fn log(writer: u8, index: u64) -> TimedLog {
        let log = Log {
            address: address(writer),
            topics: vec![TOPIC],
            data: Bytes::new(),
            block_number: 1,
            block_hash: B256::ZERO,
            tx_hash: B256::ZERO,
            index,
        };
        TimedLog { log, at: None }
    }

    fn header(logs: &[TimedLog]) -> Header {
        let mut bloom = Bloom::ZERO;
        for TimedLog { log, .. } in logs {
            bloom.accrue_raw_log(log.address.bytes().into(), &log.topics);
        }
        let block = Block { number: 1, hash: B256::ZERO, parent: B256::ZERO, at: Timestamp::ZERO };
        Header { block, bloom: Some(Box::new(bloom)) }
    }

    fn filter(writers: &[u8], topic: B256) -> LogFilter {
        LogFilter {
            addresses: writers.iter().map(|byte| address(*byte)).collect(),
            topics: vec![vec![topic]],
        }
    }

    #[test]
    fn what_a_block_speaks_of_and_nobody_told_is_doubted() {
        let logs = [log(1, 0), log(2, 1)];
        let header = header(&logs);
        let doubts = |filter: LogFilter, told: &[TimedLog]| is_doubtful(&header, &[filter], told);
        assert!(doubts(filter(&[1], TOPIC), &[]));
        assert!(doubts(filter(&[], TOPIC), &[]));
        assert!(doubts(filter(&[1, 2], TOPIC), &logs[..1]), "one of two is lacking");
        assert!(!doubts(filter(&[1, 2], TOPIC), &logs));
        assert!(!doubts(filter(&[3], TOPIC), &[]), "it wrote nothing");
        assert!(!doubts(filter(&[1], B256::repeat_byte(9)), &[]), "it wrote nothing under this topic");
        let silent = Header { bloom: None, ..header.clone() };
        assert!(!is_doubtful(&silent, &[filter(&[1], TOPIC)], &[]), "the node does not tell blooms");
    }

    #[test]
    fn a_bloom_that_is_nearly_full_is_not_asked_about_single_addresses() {
        let mut header = header(&[log(1, 0)]);
        header.bloom = Some(Box::new(Bloom::repeat_byte(0xff)));
        assert!(!is_doubtful(&header, &[filter(&[1, 2], TOPIC)], &[log(1, 0)]));
        assert!(is_doubtful(&header, &[filter(&[1, 2], TOPIC)], &[]), "nothing at all came");
    }

    #[test]
    fn receipts_explain_what_their_block_says_of_what_is_asked_for() {
        let logs = [log(1, 0), log(2, 1)];
        let header = header(&logs);
        let explains =
            |writers: &[u8], all: &[TimedLog]| is_explained(&header, &[filter(writers, TOPIC)], all);
        assert!(explains(&[1, 2], &logs));
        assert!(explains(&[], &logs[..1]), "somebody wrote under the topic");
        assert!(explains(&[2], &logs[1..]), "of others nobody asks");
        assert!(!explains(&[1], &logs[1..]));
        assert!(!explains(&[1, 2], &logs[1..]));
        assert!(!explains(&[], &[]));
        // The bloom has the places of a contract that wrote nothing, as others have them too.
        let full = Header { bloom: Some(Box::new(Bloom::repeat_byte(0xff))), ..header.clone() };
        assert!(is_doubtful(&full, &[filter(&[1], TOPIC)], &[]));
        assert!(!is_explained(&full, &[filter(&[1], TOPIC)], &[]), "no log explains that");
    }
}
