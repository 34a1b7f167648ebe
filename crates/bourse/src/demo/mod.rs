//! Runs the service with data to look at.

mod credentials;
pub(crate) mod data;
mod fill;
mod greeting;

pub(crate) use credentials::FILE as CREDENTIALS_FILE;

use bourse_server::Clock;
use bourse_server::settings::Settings;
use bourse_wire::Day;

use crate::commands::serve;
use crate::context::CommandError;
use crate::output;

/// Fills an empty data directory, or takes up what an earlier start filled, and serves it.
pub(crate) async fn run(mut settings: Settings) -> Result<(), CommandError> {
    serve::start_logging(&settings)?;
    let credentials = fill::open(&settings).await?;
    // One that the settings name goes first.
    if settings.trial.access_key.is_empty() {
        settings.trial.access_key.clone_from(&credentials.trial_key);
    }
    let trial_key = settings.trial.access_key.clone();
    let opened = serve::open(settings).await?;
    let today = Day::of(Clock::system().now());
    output::print(false, &serde_json::Value::Null, || greeting::text(&credentials, &trial_key, today))?;
    serve::serve(opened).await
}
