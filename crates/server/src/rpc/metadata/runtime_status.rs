//! How the service does.

use std::collections::BTreeMap;

use bourse_wire::ChainId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::failure::Failure;
use crate::rpc::runtime_status::RuntimeState;

/// How the service does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MetadataStatus {
    #[serde(flatten)]
    state: RuntimeState,
    /// The same as `uptime` for people, such as `3h5m0s`.
    uptime_string: String,
    /// Parts of the service that are started and stopped apart: there are none, so that it is empty.
    runnable: BTreeMap<String, serde_json::Value>,
}

/// How the service does.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MetadataRuntimeStatusAnswer")]
pub(crate) struct Answer {
    status: MetadataStatus,
}

pub(crate) fn handle(app: &App, _: Option<ChainId>) -> Result<Vec<u8>, Failure> {
    let state = RuntimeState::of(app);
    let uptime_string = in_words(state.uptime);
    let status = MetadataStatus { state, uptime_string, runnable: BTreeMap::new() };
    Ok(serde_json::to_vec(&Answer { status })?)
}

fn in_words(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_time_is_written_with_the_units_that_it_needs() {
        assert_eq!([0, 61, 3600, 100_000].map(in_words), ["0s", "1m1s", "1h0m0s", "27h46m40s"]);
    }
}
