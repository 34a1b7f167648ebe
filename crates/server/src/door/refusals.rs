//! What is not served: counted by kind, and told in the log without drowning it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// How often the log tells of one kind, at most.
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// Why a connection or a request was not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Refusal {
    /// There were as many connections as there may be.
    Connections,
    /// There were as many connections from one address as there may be.
    AddressConnections,
    /// A connection that got nowhere had to make room for another.
    MadeRoom,
    /// The headers of a request did not come in time.
    HeadTimeout,
    /// Nobody took an answer.
    WriteTimeout,
    /// The system has no descriptor left for another connection.
    Descriptors,
    /// There were as many requests at work as there may be.
    Requests,
    /// There were as many requests of one project at work as there may be.
    ProjectRequests,
    /// The bodies that were being read took as much memory as they may.
    Bodies,
}

impl Refusal {
    /// What happened, in words.
    fn words(self) -> &'static str {
        match self {
            Self::Connections => {
                "refused connections: there are as many as limits.connections_max, or the descriptors, allow"
            }
            Self::AddressConnections => {
                "refused connections: one address has as many as limits.connections_per_address_max allows"
            }
            Self::MadeRoom => "closed connections that got nowhere, to make room for others",
            Self::HeadTimeout => "closed connections whose request did not come in time",
            Self::WriteTimeout => "closed connections that did not take their answer",
            Self::Descriptors => "connections wait: the system has no descriptor left for them",
            Self::Requests => "refused requests: as many as limits.concurrent_requests_max are at work",
            Self::ProjectRequests => {
                "refused requests: a project has as many at work as limits.project_requests_max allows"
            }
            Self::Bodies => {
                "refused requests: bodies that are read take as much memory as limits.bodies_bytes_max"
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RefusalLabels {
    kind: Refusal,
}

/// The series of refusals.
pub(crate) type RefusalCounters = Family<RefusalLabels, Counter>;

/// Counts refusals, and logs each kind now and then.
#[derive(Default)]
pub(crate) struct Refusals {
    counters: RefusalCounters,
    logged: Mutex<HashMap<Refusal, Logged>>,
}

struct Logged {
    at: Instant,
    since: u64,
}

impl Refusals {
    /// The series to show.
    pub(crate) fn counters(&self) -> RefusalCounters {
        self.counters.clone()
    }

    /// Notes a refusal.
    pub(crate) fn note(&self, kind: Refusal) {
        self.counters.get_or_create(&RefusalLabels { kind }).inc();
        let now = Instant::now();
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match logged.get_mut(&kind) {
            Some(logged) if now.duration_since(logged.at) < LOGGED_EVERY => {
                logged.since += 1;
                return;
            }
            known => known.map_or(0, |logged| logged.since) + 1,
        };
        logged.insert(kind, Logged { at: now, since: 0 });
        drop(logged);
        tracing::warn!(kind = ?kind, count, "{}", kind.words());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_counted() {
        let refusals = Refusals::default();
        for _ in 0..3 {
            refusals.note(Refusal::Requests);
        }
        refusals.note(Refusal::Bodies);
        let count = |kind| refusals.counters.get_or_create(&RefusalLabels { kind }).get();
        assert_eq!((count(Refusal::Requests), count(Refusal::Bodies), count(Refusal::MadeRoom)), (3, 1, 0));
    }
}
