//! Settings: the commented default file, then a configuration file, then variables, then flags.
//!
//! The default file is the only list of settings. Its keys are the known keys and its values give their types;
//! the structs here say what the rest of the program may rely on. What every request asks for is `#[inline]`, so that it is
//! compiled as whoever asks is: reading settings need not be quick, and is not compiled to be. Nothing here reads a file or the
//! environment: [`load`] is a pure function of its [`Layers`].
//!
//! The layers are laid together here and not by `figment`, which was tried. It reports the first of several unknown
//! keys or wrong types, and none in a layer that a later one covers; it takes a variable that is there twice, in
//! capitals and not, without a word; it guesses types of variables, so that a name `5` is refused; and its messages
//! repeat the value, and of a file that is not TOML the whole line, secrets included. It can tell which provider a
//! value came from, but not by which variable. To keep these, all but the one call that merges would still be ours.

mod coins;
mod error;
mod files;
mod keys;
mod layers;
mod merged;
mod networks;
mod redact;
mod sections;
#[cfg(test)]
mod tests;
mod validate;
mod values;

pub use error::{Assignment, Problem, SettingsError};
pub use files::{ASSETS_DIRECTORY, FilesPlace, S3};
pub use layers::{Layers, Source};
pub use merged::EffectiveSetting;
pub use networks::{BUILT_IN, Following, Network, Networks, Rate};
pub use sections::{
    Analytics, Auth, Console, Cors, Database, DatabaseRead, Limits, Log, LogFormat, Metadata, Quotas,
    SQLITE_FILE_NAME, Server, Service, Shop, SourceSettings, Sources, Storage, Trial, TrustedProxies,
    Webhooks,
};

use std::collections::BTreeMap;
use std::time::Duration;

use bourse_store::{DatabaseUrl, OpenOptions};
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use serde::Deserialize;

/// The commented default file, as compiled in; `bourse config` can print it for an operator to start from.
pub const DEFAULT_FILE: &str = include_str!("../../../bourse.default.toml");

/// All settings of one process, checked: one field for each section of the default file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How this installation is called.
    pub service: Service,
    /// Where it listens and how it is reached.
    pub server: Server,
    /// Where it keeps its data.
    pub storage: Storage,
    /// How a bucket for uploaded files is reached.
    pub s3: S3,
    /// How it trusts its callers.
    pub auth: Auth,
    /// The pages for people.
    pub console: Console,
    /// The pages for buyers.
    pub shop: Shop,
    /// What one request, or all of them, may use.
    pub limits: Limits,
    /// What one project may use in a month.
    pub quotas: Quotas,
    /// The key that everybody may try it with.
    pub trial: Trial,
    /// What is kept of events beside their counts, and how many come at once.
    pub analytics: Analytics,
    /// How metadata is fetched.
    pub metadata: Metadata,
    /// How what happens is sent to addresses of projects.
    pub webhooks: Webhooks,
    /// The own services of other marketplaces.
    pub sources: Sources,
    /// Which web pages may call it.
    pub cors: Cors,
    /// What it writes about itself.
    pub log: Log,
    /// The networks it knows: the built-in ones and the configured ones.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, networks::Section>")]
    pub networks: Networks,
}

impl Settings {
    /// The address under which clients reach the service, without a slash at the end.
    pub fn public_url(&self) -> String {
        match self.server.public_url.trim_end_matches('/') {
            "" => format!("http://{}", self.server.listen),
            url => url.to_owned(),
        }
    }

    /// Where the database is.
    pub fn database_url(&self) -> DatabaseUrl {
        match &self.storage.database {
            Database::Postgres(url) => DatabaseUrl::Postgres(url.expose_secret().to_owned()),
            Database::InData => DatabaseUrl::Sqlite(self.storage.data.join(SQLITE_FILE_NAME)),
            Database::Sqlite(path) => DatabaseUrl::Sqlite(path.clone()),
        }
    }

    /// Where whole collections are read from, if not from the database.
    pub fn replica_url(&self) -> Option<&str> {
        match &self.storage.database_read {
            DatabaseRead::Nowhere => None,
            DatabaseRead::Replica(url) => Some(url.expose_secret()),
        }
    }

    /// How the database is opened.
    pub fn open_options(&self) -> OpenOptions {
        OpenOptions {
            connections_max: self.storage.connections_max,
            changes_kept: self.storage.changes_kept,
            patience: Duration::from_millis(self.storage.database_timeout_ms),
            ..OpenOptions::default()
        }
    }
}

/// The outcome of [`load`].
#[derive(Debug, Clone)]
pub struct LoadedSettings {
    /// The settings to run with.
    pub settings: Settings,
    /// Each of them as `bourse config` shows it, in the order of the default file, networks last.
    pub effective: Vec<EffectiveSetting>,
}

/// Lays the layers over the default file and checks the result.
///
/// The error lists every problem that could be found, so that an operator corrects them in one go.
pub fn load(layers: Layers) -> Result<LoadedSettings, SettingsError> {
    let merged = layers::merge(DEFAULT_FILE, layers)?;
    let settings = merged.decode()?;
    SettingsError::unless_empty(validate::problems(&settings, &merged))?;
    Ok(LoadedSettings { settings, effective: merged.effective() })
}
