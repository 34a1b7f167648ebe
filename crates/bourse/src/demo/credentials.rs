//! The file that tells programs how to reach the demo.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use bourse_server::settings::Settings;
use bourse_wire::{ProjectId, RecordId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::data;
use crate::context::CommandError;

/// Its name in the data directory.
pub(crate) const FILE: &str = "credentials.json";

/// Everything needed to call the demo.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Credentials {
    pub(crate) metadata_url: String,
    pub(crate) api_url: String,
    pub(crate) marketplace_url: String,
    pub(crate) network: String,
    pub(crate) chain_id: u64,
    pub(crate) project_id: ProjectId,
    pub(crate) access_key: String,
    pub(crate) secret_token: String,
    /// A key that only reads, for everybody; nothing in a file of an earlier version.
    #[serde(default)]
    pub(crate) trial_key: String,
    pub(crate) collection_id: RecordId,
    pub(crate) audience_id: RecordId,
    pub(crate) contracts: Vec<Contract>,
}

/// A contract of the demo; the first is the ERC-721 one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Contract {
    pub(crate) address: String,
    pub(crate) r#type: String,
}

impl Credentials {
    /// Reads the file of an earlier start.
    pub(crate) fn read(data: &Path) -> Result<Option<Self>, CommandError> {
        read_private(&data.join(FILE))
    }

    /// Points the addresses at where the service listens now.
    pub(crate) fn at(mut self, settings: &Settings) -> Self {
        let url = settings.public_url();
        self.marketplace_url = format!("{url}/{}", data::NETWORK);
        self.api_url.clone_from(&url);
        self.metadata_url = url;
        self
    }

    /// Writes the file.
    pub(crate) fn write(&self, data: &Path) -> Result<(), CommandError> {
        write_private(&data.join(FILE), self)
    }
}

/// Reads a file of an earlier start, when there is one.
pub(super) fn read_private<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, CommandError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(CommandError::io(format!("reading {}", path.display())))?,
    };
    let unreadable = |error| {
        CommandError::Other(format!(
            "{} cannot be read ({error}): delete it to have it made anew",
            path.display()
        ))
    };
    serde_json::from_str(&text).map(Some).map_err(unreadable)
}

/// Writes a file that only its owner can read. Aside first, so that it is whole or not there; and it is on disk before this returns,
/// so that whoever acts on it finds it after a power cut.
pub(super) fn write_private(path: &Path, value: &impl Serialize) -> Result<(), CommandError> {
    let aside = path.with_extension(format!("json.{}", std::process::id()));
    let json = serde_json::to_string_pretty(value).map_err(|error| CommandError::Other(error.to_string()))?;
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&aside)
        .and_then(|mut file| file.write_all(json.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&aside, path))
        .and_then(|()| path.parent().map_or(Ok(()), |directory| fs::File::open(directory)?.sync_all()));
    written.map_err(CommandError::io(format!("writing {}", path.display())))
}
