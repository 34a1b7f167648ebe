//! From the command line to settings and an open store.

use std::path::Path;
use std::time::Duration;

use bourse_server::auth::TokenSigner;
use bourse_server::counting::{CountingHouse, retention, surroundings};
use bourse_server::settings::{self, Layers, LoadedSettings, Settings};
use bourse_server::{Clock, StartError, make_private_directory};
use bourse_store::{Actor, OpenOptions, Store};
use bourse_wire::ChainId;
use secrecy::SecretString;

use crate::backup::BackupError;
use crate::cli::{Common, Listen};
use crate::data_lock::{DataLock, DataLockError};

/// How long a database that is there may keep a command waiting: nobody waits behind a command, and to be busy is no reason to
/// end it.
const COMMAND_PATIENCE: Duration = Duration::from_secs(10);

/// Why a command failed, in a sentence.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The settings are wrong; the text names each.
    #[error("the settings are wrong:\n{0}")]
    Settings(#[from] settings::SettingsError),
    /// The settings file cannot be read.
    #[error("settings file {path}: {source}")]
    SettingsFile {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The service cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] bourse_store::StoreError),
    /// A backup cannot be written, read or put in place.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// An installation cannot be moved.
    #[error(transparent)]
    Move(#[from] bourse_store::MoveError),
    /// A language of the installation's own cannot be spoken.
    #[error(transparent)]
    Language(#[from] bourse_shop::LanguageError),
    /// The data directory cannot be used.
    #[error(transparent)]
    DataLock(#[from] DataLockError),
    /// The request makes no sense.
    #[error(transparent)]
    Refused(#[from] bourse_wire::Error),
    /// A file, a socket or the terminal failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// What to do is in the text.
    #[error("{0}")]
    Other(String),
}

impl CommandError {
    /// Says what was tried when the system failed.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// The key of the account that the demo on a chain deploys with, from a file or from its variable.
#[expect(clippy::disallowed_methods, reason = "this is where variables come in")]
pub(crate) fn demo_key(file: Option<&Path>) -> Result<Option<SecretString>, CommandError> {
    match file {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Ok(Some(text.map_err(CommandError::io(format!("reading {}", path.display())))?.into()))
        }
        None => Ok(std::env::var("BOURSE_DEMO_KEY").ok().map(SecretString::from)),
    }
}

/// The settings that files, variables and flags give together.
pub(crate) fn load_settings(common: &Common, listen: &Listen) -> Result<LoadedSettings, CommandError> {
    load_settings_with(common, listen, Vec::new())
}

/// The same with what the demo says of its chain.
#[expect(clippy::disallowed_methods, reason = "this is where variables come in")]
pub(crate) fn load_settings_with(
    common: &Common,
    listen: &Listen,
    of_demo: Vec<(String, String)>,
) -> Result<LoadedSettings, CommandError> {
    let file = match &common.config {
        Some(path) => Some(read_file(path)?),
        None => Some(Path::new("bourse.toml")).filter(|path| path.exists()).map(read_file).transpose()?,
    };
    let flags = [
        ("--data", "storage.data", &common.data),
        ("--database", "storage.database", &common.database),
        ("--listen", "server.listen", &listen.listen),
    ];
    let given =
        flags.into_iter().filter_map(|(flag, key, value)| Some((flag, key.to_owned(), value.clone()?)));
    let flags = given.chain(of_demo.into_iter().map(|(key, value)| ("--node", key, value))).collect();
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.to_ascii_uppercase().starts_with("BOURSE_"))
        .collect();
    Ok(settings::load(Layers { file, variables, flags })?)
}

fn read_file(path: &Path) -> Result<(String, String), CommandError> {
    let label = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok((label, text)),
        Err(source) => Err(CommandError::SettingsFile { path: label, source }),
    }
}

/// What administration works with.
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    _lock: DataLock,
}

impl Context {
    /// Counts events into the open store.
    pub(crate) fn counting_house(&self) -> CountingHouse {
        let retention = retention(&self.settings.analytics);
        CountingHouse::new(surroundings(self.store.clone(), retention, self.clock.clone()))
    }

    /// Opens the store that the settings name, bringing its tables up to date.
    pub(crate) async fn open(common: &Common) -> Result<Self, CommandError> {
        Self::with(load_settings(common, &Listen::default())?.settings).await
    }

    /// Opens the store that these settings name.
    pub(crate) async fn with(settings: Settings) -> Result<Self, CommandError> {
        let clock = Clock::system();
        make_private_directory(&settings.storage.data)
            .map_err(CommandError::io("making the data directory"))?;
        let lock = DataLock::shared(&settings.storage.data)?;
        let options = settings.open_options();
        let options = OpenOptions { patience: options.patience.max(COMMAND_PATIENCE), ..options };
        let store = Store::open(&settings.database_url(), options, clock.now()).await?;
        Ok(Self { settings, store, clock, _lock: lock })
    }

    /// Whoever has the command line, as the audit log names them.
    pub(crate) fn actor(&self) -> Actor {
        Actor::command_line(self.clock.now())
    }

    /// The chain of a network that somebody named.
    pub(crate) fn chain(&self, network: &str) -> Result<ChainId, CommandError> {
        let known = self.settings.networks.resolve(network);
        known.map(ChainId).ok_or_else(|| {
            CommandError::Other(format!("`{network}` is no network: it needs a section [networks.{network}]"))
        })
    }

    /// What secret tokens are signed with.
    pub(crate) fn signer(&self) -> Result<TokenSigner, CommandError> {
        TokenSigner::open(&self.settings.auth.jwt_secret, &self.settings.storage.data)
            .map_err(CommandError::io("opening the signing secret"))
    }
}
