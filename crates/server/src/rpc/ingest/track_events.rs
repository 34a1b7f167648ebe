//! Counts what wallets did.

use bourse_wire::{Code, Error, ProjectId, Text, from_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::types::Rejected;
use crate::call::Call;
use crate::counting::{BatchId, EventBatch, TrackedEvent};
use crate::failure::Failure;
use crate::ingest::{EventInput, Rejection};
use crate::route::request;

/// The events to count.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TrackEventsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// The name of the batch within the project: the same batch again counts nothing.
    batch_id: Text<128>,
    /// The events: at most 10000 with a secret token, 100 with an access key.
    #[schemars(with = "Vec<EventInput>")]
    events: Vec<Value>,
}
request!(Request, project_id);

/// What became of the events.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TrackEventsAnswer")]
pub(crate) struct Answer {
    /// How many events are counted now.
    accepted: usize,
    /// How many had been counted before, by their ids.
    known: usize,
    /// The events that cannot be counted, in their order. Corrected, they go into another batch.
    rejected: Vec<Rejected>,
    /// Whether the whole batch had been counted before, so that nothing was done now.
    replayed: bool,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    check(&call, &request)?;
    let mut events = Vec::with_capacity(request.events.len());
    let mut rejected = Vec::new();
    for (index, event) in request.events.into_iter().enumerate() {
        match read(event, &call) {
            Ok(event) => events.push(event),
            Err(rejection) => rejected.push(Rejected::new(index, rejection)),
        }
    }
    if events.is_empty() {
        return Ok(Answer { accepted: 0, known: 0, rejected, replayed: false });
    }
    let batch = EventBatch { id: BatchId::Given(request.batch_id.into_string()), events };
    let tracked = call.app.counting.track(call.scope(), batch, call.now).await;
    let tracked = tracked.map_err(|error| Failure::from(&*error))?;
    Ok(Answer { accepted: tracked.counted, known: tracked.known, rejected, replayed: tracked.replayed })
}

fn check(call: &Call, request: &Request) -> Result<(), Error> {
    if !call.caller.is_meant_for_service() {
        let message = "this access key may not send events: it takes a secret token, or a key that was made for it, \
            with `bourse key create PROJECT --service ingest`";
        return Err(Error::new(Code::PermissionDenied, message));
    }
    if request.batch_id.as_str().is_empty() {
        return Err(Error::invalid("batchId", "must not be empty: it tells a batch that is sent again"));
    }
    let limits = &call.app.settings.analytics;
    let count_max = if call.caller.is_secret() { limits.events_max } else { limits.events_by_key_max };
    if request.events.len() > count_max {
        let reason =
            format!("{} events where at most {count_max} are allowed in one call", request.events.len());
        return Err(Error::invalid("events", reason));
    }
    Ok(())
}

fn read(event: Value, call: &Call) -> Result<TrackedEvent, Rejection> {
    let input: EventInput = from_value(event)?;
    input.tracked(call.now)
}
