//! Counts what wallets did.

use bourse_wire::{Code, Error, ProjectId, Text, from_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::records_body::{Claims, RecordsBody};
use super::types::Rejected;
use crate::call::Call;
use crate::counting::{BatchId, EventBatch, TrackedEvent};
use crate::failure::Failure;
use crate::ingest::{EventInput, Rejection};

/// The events to count.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TrackEventsRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<R> {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// The name of the batch within the project: the same batch again counts nothing.
    batch_id: Text<128>,
    /// The events: at most 10000 with a secret token, 100 with an access key.
    #[schemars(with = "Vec<EventInput>")]
    events: Vec<R>,
}

impl<R> Claims for Body<R> {
    fn claimed_project(&self) -> Option<ProjectId> {
        self.project_id
    }
}

/// A request with events.
pub(crate) type Request = RecordsBody<Body<EventInput>, Body<Value>>;

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
    match request {
        RecordsBody::Read(body) => track(&call, body, |event| event.tracked(call.now)).await,
        RecordsBody::Raw(body) => {
            track(&call, body, |event| from_value::<EventInput>(event)?.tracked(call.now)).await
        }
    }
}

async fn track<R>(
    call: &Call,
    body: Body<R>,
    read: impl Fn(R) -> Result<TrackedEvent, Rejection>,
) -> Result<Answer, Failure> {
    check(call, body.batch_id.as_str(), body.events.len())?;
    let mut events = Vec::with_capacity(body.events.len());
    let mut rejected = Vec::new();
    for (index, event) in body.events.into_iter().enumerate() {
        match read(event) {
            Ok(event) => events.push(event),
            Err(rejection) => rejected.push(Rejected::new(index, rejection)),
        }
    }
    if events.is_empty() {
        return Ok(Answer { accepted: 0, known: 0, rejected, replayed: false });
    }
    let batch = EventBatch { id: BatchId::Given(body.batch_id.into_string()), events };
    let counting = &call.app.counting;
    // Nothing waits to be counted, and would be counted later, when the answer is to come again.
    let prepared = counting.prepare(call.scope(), call.now, call.app.settings.limits.load_patience()).await;
    prepared.map_err(|error| Failure::from(&error))?;
    let tracked = counting.track(call.scope(), batch, call.now).await;
    let tracked = tracked.map_err(|error| Failure::from(&*error))?;
    Ok(Answer { accepted: tracked.counted, known: tracked.known, rejected, replayed: tracked.replayed })
}

fn check(call: &Call, batch_id: &str, events: usize) -> Result<(), Error> {
    if !call.caller.is_meant_for_service() {
        let message = "this access key may not send events: it takes a secret token, or a key that was made for it, \
            with `bourse key create PROJECT --service ingest`";
        return Err(Error::new(Code::PermissionDenied, message));
    }
    if batch_id.is_empty() {
        return Err(Error::invalid("batchId", "must not be empty: it tells a batch that is sent again"));
    }
    let limits = &call.app.settings.analytics;
    let count_max = if call.caller.is_secret() { limits.events_max } else { limits.events_by_key_max };
    if events > count_max {
        let reason = format!("{events} events where at most {count_max} are allowed in one call");
        return Err(Error::invalid("events", reason));
    }
    Ok(())
}
