//! What every operation of the service takes and answers.

use bourse_wire::{ChainId, ChainRef, Error, JsonObject, Text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::call::Call;
use crate::ingest::{Chains, Reader, Reason, Rejection};

/// A name by which a request, sent again, is recognised.
pub(super) type IdempotencyKey = Text<128>;

/// What became of the records.
#[derive(Serialize, JsonSchema, Default)]
#[schemars(rename = "IngestAnswer")]
pub(crate) struct Answer {
    /// How many records were taken.
    pub(super) accepted: usize,
    /// How many things are different now; what was so already does not count.
    pub(super) changed: u64,
    /// The records that were not taken, in their order.
    pub(super) rejected: Vec<Rejected>,
    /// Whether everything had been taken before under the same `idempotencyKey`, so that nothing was done now.
    pub(super) replayed: bool,
}

/// A record that was not taken.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RejectedRecord")]
pub(crate) struct Rejected {
    /// Its place in the request, from 0.
    pub(super) index: usize,
    /// Why, for programs.
    reason: Reason,
    /// Why, for people.
    message: String,
}

impl Rejected {
    pub(super) fn new(index: usize, rejection: Rejection) -> Self {
        Self { index, reason: rejection.reason, message: rejection.message }
    }
}

/// The records of a request, as far as they can be read, each with its place.
pub(super) struct ReadRecords<T> {
    pub(super) accepted: Vec<(usize, T)>,
    pub(super) rejected: Vec<Rejected>,
}

/// Reads the records under a member of the request one by one, so that a bad one spoils no other.
pub(super) fn read<'c, T>(
    call: &'c Call,
    chain: Option<&ChainRef>,
    member: &str,
    records: Vec<Value>,
    read: impl Fn(&Reader<'c>, JsonObject) -> Result<T, Rejection>,
) -> Result<ReadRecords<T>, Error> {
    read_all(call, chain, member, records, |reader, record| match record {
        Value::Object(members) => read(reader, members),
        _ => Err(Rejection::new(Reason::InvalidFormat, "the record is not a JSON object")),
    })
}

/// Reads records of any form one by one.
pub(super) fn read_all<'c, R, T>(
    call: &'c Call,
    chain: Option<&ChainRef>,
    member: &str,
    records: Vec<R>,
    read: impl Fn(&Reader<'c>, R) -> Result<T, Rejection>,
) -> Result<ReadRecords<T>, Error> {
    check_count(call, member, records.len())?;
    let app = &call.app;
    let reader = Reader {
        service: &app.service_name,
        networks: &app.settings.networks,
        registry: &app.registry,
        chains: chains(call, chain)?,
        now: call.now,
    };
    let mut all = ReadRecords { accepted: Vec::with_capacity(records.len()), rejected: Vec::new() };
    for (index, record) in records.into_iter().enumerate() {
        match read(&reader, record) {
            Ok(record) => all.accepted.push((index, record)),
            Err(rejection) => all.rejected.push(Rejected::new(index, rejection)),
        }
    }
    Ok(all)
}

fn check_count(call: &Call, member: &str, count: usize) -> Result<(), Error> {
    let count_max = call.app.settings.limits.ingest_records_max;
    if count > count_max {
        let reason = format!("{count} records where at most {count_max} are allowed in one call");
        return Err(Error::invalid(member, reason));
    }
    Ok(())
}

/// A path that names a network speaks for every record; a body, or the only network there is, for those that name none.
fn chains(call: &Call, in_body: Option<&ChainRef>) -> Result<Chains, Error> {
    let only_configured = || call.app.settings.networks.only_configured().map(ChainId);
    Ok(match (in_body, call.network) {
        (_, Some(_)) => Chains::Only(call.chain(in_body)?),
        (Some(_), None) => Chains::Usually(call.chain(in_body)?),
        (None, None) => only_configured().map_or(Chains::Named, Chains::Usually),
    })
}
