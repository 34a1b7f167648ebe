//! Runs the service with data to look at.

mod credentials;
pub(crate) mod data;
mod fill;
mod greeting;
mod node;
mod projects;
mod sale;

pub(crate) use credentials::FILE as CREDENTIALS_FILE;

use bourse_server::Clock;
use bourse_wire::Day;

use crate::cli::{Common, Demo};
use crate::commands::serve;
use crate::context::{CommandError, demo_key, load_settings};
use crate::output;

/// Fills an empty data directory, or takes up what an earlier start filled, and serves it; where a node is named, on its chain.
pub(crate) async fn run(common: &Common, arguments: &Demo) -> Result<(), CommandError> {
    if let Some(url) = &arguments.node {
        let key = demo_key(arguments.key_file.as_deref())?;
        return node::run(common, arguments, url, key).await;
    }
    let mut settings = load_settings(common, &arguments.listen)?.settings;
    serve::start_logging(&settings)?;
    let credentials = fill::open(&settings).await?;
    // One that the settings name goes first.
    if settings.trial.access_key.is_empty() {
        settings.trial.access_key.clone_from(&credentials.trial_key);
    }
    let trial_key = settings.trial.access_key.clone();
    let chains = if sale::is_told(&settings) { Some(sale::tell(&mut settings)?) } else { None };
    let opened = serve::open_asking(settings, chains).await?;
    let today = Day::of(Clock::system().now());
    output::print(false, &serde_json::Value::Null, || greeting::text(&credentials, &trial_key, today))?;
    serve::serve(opened).await
}
