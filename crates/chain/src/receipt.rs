//! What became of a transaction.

use alloy_primitives::B256;
use bourse_market::facts::{BlockHash, Log};
use bourse_wire::Address;

/// What became of a transaction, as a node tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The transaction.
    pub transaction: B256,
    /// Whether it did what it should.
    pub succeeded: bool,
    /// Its place in its block.
    pub index: u64,
    /// Its form: 0 the first one, 1 with a list of what it reads, 2 and above with fees that follow the chain.
    pub kind: u64,
    /// Name of its block.
    pub block_hash: BlockHash,
    /// Height of its block.
    pub block_number: u64,
    /// Gas that it used.
    pub gas_used: u64,
    /// What it paid for each unit of gas; 0 where the node does not tell.
    pub effective_gas_price: u64,
    /// Who sent it.
    pub from: Address,
    /// To whom; nothing where it made a contract.
    pub to: Option<Address>,
    /// What contracts wrote in it.
    pub logs: Vec<Log>,
}
