use std::sync::Mutex;

use alloy_primitives::{B256, U256, hex};
use bourse_protocols::venues::Registry;
use bourse_wire::{ChainId, Marketplace, Timestamp};
use serde_json::Value;

use super::*;
use crate::calls::Caller;
use crate::node::{Call, CallResults};
use crate::pace::RealPace;
use crate::testing::{Answers, Contracts};

/// A contract that knows a maker's counter, and perhaps not at blocks of the past.
struct Counter {
    is_archive: bool,
    asked: Mutex<Vec<Option<BlockHash>>>,
}

impl Answers for Counter {
    fn answers(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.asked.lock().unwrap().push(at);
        if at.is_some() && !self.is_archive {
            return Err(Failure::retry("missing trie node"));
        }
        Ok(calls.iter().map(|_| Ok(U256::from(7).to_be_bytes::<32>().into())).collect())
    }
}

/// A log of a maker whose counter is 7.
fn validated(contract: Address, block: &Block) -> TimedLog {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../protocols/vectors/vectors.json")).unwrap();
    let log = &vectors["seaport"]["logs"]["validatedLater"];
    let topics = log["topics"].as_array().unwrap();
    let topics = topics.iter().map(|topic| topic.as_str().unwrap().parse().unwrap()).collect();
    let data = hex::decode(log["data"].as_str().unwrap()).unwrap().into();
    let (block_number, block_hash, tx_hash) = (block.number, block.hash, B256::repeat_byte(9));
    let log = Log { address: contract, topics, data, block_number, block_hash, tx_hash, index: 3 };
    TimedLog { log, at: None }
}

#[tokio::test]
async fn an_order_of_a_maker_who_moved_the_counter_is_read() {
    let venue = Registry::default().venue(ChainId(1), Marketplace::Opensea).unwrap();
    let protocol = Arc::clone(&venue.protocols()[0]);
    let block = Block { number: 5, hash: B256::repeat_byte(1), parent: B256::ZERO, at: Timestamp::ZERO };
    let logs = [validated(protocol.contract(), &block)];
    let collection = protocol.log_question(&logs[0].log).unwrap().collection;
    for (is_archive, asked) in [(true, vec![Some(block.hash)]), (false, vec![Some(block.hash), None])] {
        let node = Arc::new(Contracts(Counter { is_archive, asked: Mutex::default() }));
        let reading = Reading {
            node: Arc::clone(&node),
            pace: Arc::new(RealPace::new(|| Timestamp::ZERO)),
            decoder: Decoder::new(vec![Arc::clone(&protocol)]),
            royalties: Royalties::new(Caller::new(None)),
            status: Status::new(ChainId(1), Arc::default()),
        };
        let facts = reading.facts(&[block], &logs, &HashSet::new(), false).await.unwrap();
        assert!(facts[0].facts.is_empty(), "of collections that are not followed nobody asks");
        let facts = reading.facts(&[block], &logs, &[collection].into(), false).await.unwrap();
        assert_eq!((facts[0].facts.len(), facts[0].facts[0].log_index), (1, 3));
        assert!(matches!(facts[0].facts[0].fact, Fact::OrderPublished(_)));
        assert_eq!(*node.0.asked.lock().unwrap(), asked);
    }
}
