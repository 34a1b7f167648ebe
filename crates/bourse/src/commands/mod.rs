//! The commands, one file each.

mod analytics;
mod backup;
mod chain;
mod collection;
mod config;
mod console;
mod deep;
mod doctor;
mod files;
mod grant;
mod health;
mod held;
pub(crate) mod key;
mod log;
mod moving;
pub(crate) mod project;
mod recount;
mod restore;
pub(crate) mod serve;
mod sharing;
mod shop;
mod status;
pub(crate) mod token;
mod upgrade;

use std::process::ExitCode;

use crate::cli::{Arguments, Command, Listen};
use crate::context::{CommandError, load_settings};
use crate::{demo, import, output};

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, CommandError> {
    let Arguments { common, command } = arguments;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CommandError::io("starting the runtime"))?;
    runtime.block_on(async {
        match command {
            Command::Serve(listen) => serve::run(load_settings(&common, &listen)?.settings).await?,
            Command::Demo(arguments) => Box::pin(demo::run(&common, &arguments)).await?,
            Command::Import(import) => return import::run(&common, import).await,
            Command::Project(command) => project::run(&common, command).await?,
            Command::Grant(command) => grant::run(&common, command).await?,
            Command::Key(command) => key::run(&common, command).await?,
            Command::Token(command) => token::run(&common, command).await?,
            Command::Analytics(command) => analytics::run(&common, command).await?,
            Command::Collection(command) => collection::run(&common, command).await?,
            Command::Chain(command) => chain::run(&common, command).await?,
            Command::Log(log) => log::run(&common, log).await?,
            Command::Console(command) => console::run(&common, command).await?,
            Command::Status => status::run(&common).await?,
            Command::Backup { file } => backup::run(&common, &file).await?,
            Command::Restore(command) => restore::run(&common, &command).await?,
            Command::CopyFiles(command) => files::run(&common, command).await?,
            Command::Move(command) => moving::run(&common, command).await?,
            Command::Upgrade(command) => return upgrade::run(&common, &command).await,
            Command::Health(command) => health::run(&common, &command)?,
            Command::Doctor(command) => return doctor::run(&common, &command).await,
            Command::Openapi => output::print(true, bourse_server::document(), String::new)?,
            Command::Config { defaults } => config::run(&common, &Listen::default(), defaults)?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
