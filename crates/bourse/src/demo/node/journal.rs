//! How far the demo is on its chain, in a file: a start that is interrupted anywhere goes on from there, and does nothing twice. Only
//! one process at a time has it.

use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};

use bourse_wire::{Address, ProjectId};
use serde::{Deserialize, Serialize};

use super::super::credentials::{read_private, write_private};
use crate::context::CommandError;

/// Its name in the data directory.
const FILE: &str = "chain-demo.json";
/// The name of what is locked by the process that has it: the file itself is another one after each write.
const LOCK: &str = "chain-demo.lock";

/// What is kept. Keys of accounts are not.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) api_url: String,
    pub(super) network: String,
    pub(super) chain_id: u64,
    /// The hash of the chain's first block.
    pub(super) genesis: String,
    /// The block before everything.
    pub(super) from_block: u64,
    /// The account that deploys.
    pub(super) studio: Address,
    pub(super) project: Option<Credentials>,
    /// The contracts that are there, in their order.
    pub(super) contracts: Vec<Address>,
    /// How much is done of what comes after the contracts.
    pub(super) done: usize,
    /// What may have been sent, as long as nobody knows.
    pub(super) under_way: Option<Sent>,
}

/// How programs reach the demo's project.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credentials {
    pub(super) project_id: ProjectId,
    pub(super) access_key: String,
    pub(super) secret_token: String,
}

/// A transaction, by what tells it from all others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent {
    pub(super) from: Address,
    pub(super) nonce: u64,
    /// Its hash, by which the chain tells what became of it; none before the node that signs it has told.
    #[serde(default)]
    pub(super) hash: Option<String>,
    /// Whether a contract is made by it.
    pub(super) makes_contract: bool,
    /// Whether something is done with it, rather than prepared.
    pub(super) ends: bool,
}

/// Says that this process sends, for as long as it lives. The system ends it with the process, however that ends.
pub(super) struct Turn {
    _file: fs::File,
}

impl Turn {
    /// Refuses while another process sends: both would send the same.
    pub(super) fn take(data: &Path) -> Result<Self, CommandError> {
        let path = data.join(LOCK);
        let failed = |error| CommandError::io(format!("locking {}", path.display()))(error);
        let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
            Err(TryLockError::WouldBlock) => Err(CommandError::Other(format!(
                "another `bourse demo --node` is at work in {}: wait for it, or give this one a directory of its own with --data \
                DIR",
                data.display()
            ))),
        }
    }
}

/// The record with its place.
pub(super) struct Journal {
    path: PathBuf,
    pub(super) record: Record,
}

impl Journal {
    /// That of an earlier start.
    pub(super) fn read(data: &Path) -> Result<Option<Self>, CommandError> {
        let path = data.join(FILE);
        Ok(read_private(&path)?.map(|record| Self { path, record }))
    }

    /// A new one, which is not written yet.
    pub(super) fn new(data: &Path, record: Record) -> Self {
        Self { path: data.join(FILE), record }
    }

    pub(super) fn write(&self) -> Result<(), CommandError> {
        write_private(&self.path, &self.record)
    }

    /// Notes that something is about to be sent.
    pub(super) fn begin(&mut self, sent: Sent) -> Result<(), CommandError> {
        self.record.under_way = Some(sent);
        self.write()
    }

    /// Notes by which hash the chain knows it.
    pub(super) fn is_known_as(&mut self, hash: &str) -> Result<(), CommandError> {
        if let Some(sent) = &mut self.record.under_way {
            sent.hash = Some(hash.to_owned());
        }
        self.write()
    }

    /// Notes what became of it: the contract that it made, where it made one.
    pub(super) fn end(&mut self, is_done: bool) -> Result<(), CommandError> {
        if let Some(sent) = self.record.under_way.take().filter(|_| is_done) {
            if sent.makes_contract {
                self.record.contracts.push(super::wallet::contract_address(sent.from, sent.nonce));
            } else if sent.ends {
                self.record.done += 1;
            }
        }
        self.write()
    }
}
