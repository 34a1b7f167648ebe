//! What became of each project's requests, for its people to look at: how many there were in each hour of the last day,
//! which errors, and the last of them. It is in memory only, so it is what this server saw since its start.
//!
//! A request that is answered costs a look into a table that is never locked, and an addition. Only an error takes a lock,
//! which is its project's own. Everything has its bound: projects, kinds of errors, errors, and the length of a message.

mod hours;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use bourse_wire::{Code, Error, ProjectId, Timestamp};
use hashbrown::HashMap;

use crate::route::{Route, Service};
pub use hours::HOURS;
use hours::{Hours, hour_of};

/// Projects that are remembered. At their fullest, each takes about 30 KB.
const PROJECTS_MAX: usize = 1_000;
/// Pairs of an operation and a code that are counted apart for a project.
const KINDS_MAX: usize = 40;
/// Errors of a project that are remembered as they were.
const LATEST_MAX: usize = 50;
/// What is kept of a message: it may repeat what somebody sent.
const MESSAGE_CHARS_MAX: usize = 240;

/// The outcomes of all projects.
pub struct Outcomes {
    since: Timestamp,
    projects: ArcSwap<HashMap<ProjectId, Arc<Record>>>,
    /// The hour in which there was no room for another project; nobody looks again before it is over.
    full_in: AtomicU64,
}

/// The outcomes of a project.
#[derive(Default)]
struct Record {
    requests: Hours,
    failed: Hours,
    errors: Mutex<Errors>,
}

#[derive(Default)]
struct Errors {
    kinds: HashMap<(OperationName, Code), Hours>,
    latest: VecDeque<FailedRequest>,
}

/// The name of an operation.
pub type OperationName = (Service, &'static str);

/// A request that was answered with an error, as its caller got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// When it was answered.
    pub at: Timestamp,
    /// What was called.
    pub operation: OperationName,
    /// Which error it was.
    pub code: Code,
    /// What the error said, shortened.
    pub message: String,
    /// The name under which the log has it.
    pub request_id: String,
}

/// How often an operation failed with a code, by hour, the oldest first.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorCount {
    /// What was called.
    pub operation: OperationName,
    /// Which error it was.
    pub code: Code,
    /// How often, by hour.
    pub hours: [u64; HOURS],
}

/// What became of a project's requests.
pub struct LastDay {
    /// When the oldest hour began.
    pub first: Timestamp,
    /// All requests by hour, the oldest first.
    pub requests: [u64; HOURS],
    /// Those that were answered with an error.
    pub failed: [u64; HOURS],
    /// The errors of the last day, the most frequent first.
    pub kinds: Vec<ErrorCount>,
    /// The last errors, the newest first.
    pub latest: Vec<FailedRequest>,
}

impl Outcomes {
    pub(crate) fn new(since: Timestamp) -> Self {
        Self { since, projects: ArcSwap::default(), full_in: AtomicU64::new(u64::MAX) }
    }

    /// When this server began to remember.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Counts a request that was answered as asked.
    pub(crate) fn note_answer(&self, project: ProjectId, at: Timestamp) {
        self.with(project, hour_of(at), |record| record.requests.add(hour_of(at)));
    }

    /// Counts a request that was answered with an error, and remembers it.
    pub(crate) fn note_error(&self, project: ProjectId, request: FailedRequest) {
        let hour = hour_of(request.at);
        self.with(project, hour, |record| {
            record.requests.add(hour);
            record.failed.add(hour);
            record.errors().add(request, hour);
        });
    }

    /// What became of a project's requests; `None` when none was seen, or when there was no room to remember it.
    pub fn of(&self, project: ProjectId, now: Timestamp) -> Option<LastDay> {
        let record = self.projects.load().get(&project).map(Arc::clone)?;
        let hour = hour_of(now);
        let errors = record.errors();
        let kind = |((operation, code), hours): (&(OperationName, Code), &Hours)| ErrorCount {
            operation: *operation,
            code: *code,
            hours: hours.up_to(hour),
        };
        let mut kinds: Vec<ErrorCount> = errors.kinds.iter().map(kind).collect();
        kinds.retain(|kind| kind.sum() > 0);
        kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.sum()), kind.operation.1, kind.code.word().number));
        let first = (i128::from(hour) + 1 - HOURS as i128) * 3600 * 1_000_000_000;
        Some(LastDay {
            first: Timestamp::from_unix_nanos(first),
            requests: record.requests.up_to(hour),
            failed: record.failed.up_to(hour),
            kinds,
            latest: errors.latest.iter().rev().cloned().collect(),
        })
    }

    fn with(&self, project: ProjectId, hour: u64, note: impl FnOnce(&Record)) {
        if let Some(record) = self.projects.load().get(&project) {
            return note(record);
        }
        if self.full_in.load(Ordering::Relaxed) != hour {
            self.admit(project, hour);
        }
        if let Some(record) = self.projects.load().get(&project) {
            note(record);
        }
    }

    /// Makes room for a project: where there is none left, that of one which nobody heard of for a day.
    fn admit(&self, project: ProjectId, hour: u64) {
        self.projects.rcu(|known| {
            let mut known = HashMap::clone(known);
            if known.len() >= PROJECTS_MAX {
                known.retain(|_, record| !record.requests.is_quiet(hour));
            }
            if known.len() < PROJECTS_MAX {
                known.entry(project).or_default();
            } else {
                self.full_in.store(hour, Ordering::Relaxed);
            }
            known
        });
    }
}

impl Record {
    fn errors(&self) -> MutexGuard<'_, Errors> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Errors {
    fn add(&mut self, request: FailedRequest, hour: u64) {
        let kind = (request.operation, request.code);
        if self.kinds.len() >= KINDS_MAX && !self.kinds.contains_key(&kind) {
            self.kinds.retain(|_, hours| !hours.is_quiet(hour));
        }
        if self.kinds.len() < KINDS_MAX || self.kinds.contains_key(&kind) {
            self.kinds.entry(kind).or_default().add(hour);
        }
        if self.latest.len() >= LATEST_MAX {
            self.latest.pop_front();
        }
        self.latest.push_back(request);
    }
}

impl FailedRequest {
    pub(crate) fn new(at: Timestamp, route: &Route, error: &Error, request_id: &str) -> Self {
        Self {
            at,
            operation: (route.service, route.name),
            code: error.code,
            message: shortened(&error.message),
            request_id: request_id.to_owned(),
        }
    }
}

impl ErrorCount {
    /// All of the last day.
    pub fn sum(&self) -> u64 {
        self.hours.iter().sum()
    }
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests;
