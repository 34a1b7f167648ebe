//! Sending transactions to a node and waiting until they are in a block.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use alloy_primitives::{U256, keccak256};
use bourse_chain::rpc::{HttpNode, HttpOptions, NodeUrl};
use bourse_chain::{Failure, Node as _};
use bourse_wire::Address;
use serde::Deserialize;
use serde_json::{Value, json};

use super::journal::Sent;
use super::wallet::{Unsigned, Wallet, contract_address};
use crate::context::CommandError;

/// How long a node may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How long a transaction may take to be in a block: chains that make one now and then are waited for.
const IN_A_BLOCK: Duration = Duration::from_mins(5);
/// Time between two looks at whether it is, at first and at most.
const LOOK: Duration = Duration::from_millis(20);
const LOOK_MAX: Duration = Duration::from_secs(1);
/// What is paid for gas beyond twice what the last block asked, in the coin's smallest unit.
const TIP: u64 = 1_000_000_000;
/// Gas beyond what the node reckons, in percent: what comes between may make a call dearer.
const GAS_PERCENT: u64 = 130;

/// A node that transactions are sent to.
pub(super) struct Sender {
    node: HttpNode,
    pub(super) chain: u64,
}

/// Something to send.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    /// None makes a contract.
    pub(super) to: Option<Address>,
    pub(super) data: Vec<u8>,
    pub(super) value: U256,
}

/// What became of a transaction.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    status: Option<String>,
}

impl Receipt {
    fn is_done(&self) -> bool {
        self.status.as_deref() != Some("0x0")
    }
}

/// A transaction that is ready to be sent.
pub(super) enum Prepared {
    /// Signed here, as nodes take it.
    Signed(Vec<u8>),
    /// For the node to sign.
    ForNode(Value),
}

impl Prepared {
    /// Its hash, where that is known before it is sent.
    pub(super) fn hash(&self) -> Option<String> {
        match self {
            Self::Signed(signed) => Some(keccak256(signed).to_string()),
            Self::ForNode(_) => None,
        }
    }
}

impl Sender {
    /// A node that answers which chain it is of.
    pub(super) async fn open(url: &str) -> Result<Self, CommandError> {
        let url: NodeUrl = url.parse().map_err(|error| CommandError::Other(format!("--node: {error}")))?;
        let options = HttpOptions { timeout: TIMEOUT, ..HttpOptions::default() };
        let asked = Arc::new(AtomicU64::new(0));
        let node =
            HttpNode::new(url.clone(), options, asked).map_err(|failure| refused("the node", &failure))?;
        let chain = node.chain_id().await.map_err(|failure| {
            CommandError::Other(format!("the node at {url} does not answer: {failure}. Is it running?"))
        })?;
        Ok(Self { node, chain: chain.0 })
    }

    /// Asks the node one thing.
    pub(super) async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<T, CommandError> {
        self.node.ask_one(method, params).await.map_err(|failure| refused(method, &failure))
    }

    /// The hash of the first block, by which a chain that was begun anew is told from the one before.
    pub(super) async fn genesis(&self) -> Result<String, CommandError> {
        let blocks = self.node.blocks(&[0]).await.map_err(|failure| refused("the first block", &failure))?;
        let first = blocks.into_iter().flatten().next();
        let none = || CommandError::Other("the node knows no first block of its chain".to_owned());
        Ok(first.ok_or_else(none)?.hash.to_string())
    }

    /// The number of the newest block.
    pub(super) async fn head(&self) -> Result<u64, CommandError> {
        Ok(self.node.head().await.map_err(|failure| refused("the newest block", &failure))?.number)
    }

    /// Whether there is a contract.
    pub(super) async fn has_code(&self, contract: Address) -> Result<bool, CommandError> {
        let code: String = self.ask("eth_getCode", json!([contract, "latest"])).await?;
        Ok(code.len() > 2)
    }

    /// How much of the chain's own coin an account has.
    pub(super) async fn balance(&self, account: Address) -> Result<U256, CommandError> {
        self.quantity("eth_getBalance", json!([account, "latest"])).await
    }

    /// How many transactions of an account are in blocks, which is the number of its next one.
    pub(super) async fn nonce(&self, account: Address) -> Result<u64, CommandError> {
        Ok(self.quantity("eth_getTransactionCount", json!([account, "latest"])).await?.saturating_to())
    }

    async fn quantity(&self, method: &'static str, params: Value) -> Result<U256, CommandError> {
        let text: String = self.ask(method, params).await?;
        let unreadable = |_| CommandError::Other(format!("{method}: the node answered what is no number"));
        text.parse().map_err(unreadable)
    }

    /// Finds out what became of a transaction that may have been sent earlier, and waits until it is in a block if it was; tells
    /// whether the chain carried it out.
    pub(super) async fn was_done(&self, sent: &Sent) -> Result<bool, CommandError> {
        if !self.was_used(sent.from, sent.nonce).await? {
            return Ok(false);
        }
        if sent.makes_contract {
            return self.has_code(contract_address(sent.from, sent.nonce)).await;
        }
        match &sent.hash {
            // Where it has none, another transaction of the account has its number.
            Some(hash) => {
                let receipt: Option<Receipt> = self.ask("eth_getTransactionReceipt", json!([hash])).await?;
                Ok(receipt.is_some_and(|receipt| receipt.is_done()))
            }
            // The node signs, and the start ended before it told the hash: it took what it had tried beforehand.
            None => Ok(true),
        }
    }

    /// Whether an account sent a transaction of this number, which is waited for until it is in a block.
    async fn was_used(&self, from: Address, nonce: u64) -> Result<bool, CommandError> {
        let known = self.quantity("eth_getTransactionCount", json!([from, "pending"])).await?;
        if known <= U256::from(nonce) {
            return Ok(false);
        }
        let mut pause = LOOK;
        let in_a_block = async {
            while self.nonce(from).await? <= nonce {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LOOK_MAX);
            }
            Ok(true)
        };
        let late = |_| {
            CommandError::Other(format!("a transaction of {from} is in no block: does the node make blocks?"))
        };
        tokio::time::timeout(IN_A_BLOCK, in_a_block).await.map_err(late)?
    }

    /// Makes a transaction of this number ready.
    pub(super) async fn prepare(
        &self,
        from: &Wallet,
        nonce: u64,
        what: &Sending,
    ) -> Result<Prepared, CommandError> {
        if from.signs_here() {
            return Ok(Prepared::Signed(self.signed(from, nonce, what).await?));
        }
        let mut transaction = described(from, what);
        transaction["nonce"] = json!(format!("{nonce:#x}"));
        Ok(Prepared::ForNode(transaction))
    }

    /// Sends a transaction; tells its hash.
    pub(super) async fn send(&self, prepared: &Prepared) -> Result<String, CommandError> {
        match prepared {
            Prepared::Signed(signed) => {
                let signed = const_hex::encode_prefixed(signed);
                self.ask("eth_sendRawTransaction", json!([signed])).await
            }
            Prepared::ForNode(transaction) => self.ask("eth_sendTransaction", json!([transaction])).await,
        }
    }

    /// Waits until a transaction is in a block; tells whether the chain carried it out.
    pub(super) async fn wait(&self, hash: &str) -> Result<bool, CommandError> {
        let receipt = tokio::time::timeout(IN_A_BLOCK, self.receipt(hash)).await.map_err(|_| {
            CommandError::Other(format!(
                "transaction {hash} is in no block after {} minutes: does the node make blocks?",
                IN_A_BLOCK.as_secs() / 60
            ))
        })??;
        Ok(receipt.is_done())
    }

    async fn signed(&self, from: &Wallet, nonce: u64, what: &Sending) -> Result<Vec<u8>, CommandError> {
        let gas = self.quantity("eth_estimateGas", json!([described(from, what)])).await?;
        let gas_price = self.gas_price().await?;
        let unsigned = Unsigned {
            chain: self.chain,
            nonce,
            gas_price,
            gas: (gas * U256::from(GAS_PERCENT) / U256::from(100)).saturating_to(),
            to: what.to,
            value: what.value,
            data: &what.data,
        };
        let signed = from.sign(&unsigned);
        let none = || CommandError::Other("the transaction cannot be signed".to_owned());
        signed.ok_or_else(none)
    }

    /// What is paid for gas: enough for some blocks to come. What nodes propose follows what was paid last, so that paying more than
    /// that each time would never end.
    async fn gas_price(&self) -> Result<U256, CommandError> {
        let head: Value = self.ask("eth_getBlockByNumber", json!(["latest", false])).await?;
        match head["baseFeePerGas"].as_str().and_then(|text| text.parse::<U256>().ok()) {
            Some(base) => Ok(base * U256::from(2) + U256::from(TIP)),
            None => self.quantity("eth_gasPrice", json!([])).await,
        }
    }

    async fn receipt(&self, hash: &str) -> Result<Receipt, CommandError> {
        let mut pause = LOOK;
        loop {
            if let Some(receipt) = self.ask("eth_getTransactionReceipt", json!([hash])).await? {
                return Ok(receipt);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_MAX);
        }
    }
}

/// A transaction as nodes are told of it.
fn described(from: &Wallet, what: &Sending) -> Value {
    let mut transaction = json!({
        "from": from.address,
        "data": const_hex::encode_prefixed(&what.data),
        "value": format!("{:#x}", what.value),
    });
    if let Some(to) = what.to {
        transaction["to"] = json!(to);
    }
    transaction
}

fn refused(what: &str, failure: &Failure) -> CommandError {
    CommandError::Other(format!("{what}: the node refused or failed: {failure}"))
}
