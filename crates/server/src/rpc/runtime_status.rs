//! How a service does, as its clients ask: what is the same of all services.

use bourse_wire::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;

/// How the service does. Each service adds what its own clients know.
#[derive(Serialize, JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimeState {
    /// Whether the database answers and the service goes on. While it is false, `/ready` tells why.
    #[serde(rename = "healthOK")]
    pub(crate) health_ok: bool,
    /// When this process began.
    start_time: Timestamp,
    /// Seconds since then.
    pub(crate) uptime: u64,
    /// Version of the service.
    ver: &'static str,
    /// Always empty: a build does not know its branch.
    branch: &'static str,
    /// Always empty: a build does not know its commit.
    commit_hash: &'static str,
}

impl RuntimeState {
    /// The state by what this process knows already. Anybody may ask, so that nobody else is asked for it.
    pub(crate) fn of(app: &App) -> Self {
        let seconds = app.now().unix_seconds().saturating_sub(app.started_at.unix_seconds());
        Self {
            health_ok: !app.is_stopping() && app.store().away_for().is_none(),
            start_time: app.started_at,
            uptime: seconds.max(0).unsigned_abs(),
            ver: env!("CARGO_PKG_VERSION"),
            branch: "",
            commit_hash: "",
        }
    }
}
