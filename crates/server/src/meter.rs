//! Compute units: metered per project, service and day, held against the month's quota, flushed in batches.

mod counts;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bourse_store::{ProjectScope, Store, StoreError, UsageTotal};
use bourse_wire::{Day, ProjectId, Timestamp};
use futures_util::stream::{self, StreamExt as _};

use self::counts::Counts;
use crate::entropy;
use crate::route::Service;
use crate::settings::Quotas;

/// Nodes of a cluster at which usage is stored at once.
const NODES_AT_ONCE: usize = 4;
/// How long nodes are stored at; what comes to no turn within that is first at another time. Others wait for a node that is slow.
const TURN: Duration = Duration::from_secs(3);

/// What is left of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    pub(crate) refused: bool,
}

/// Counts units in memory and hands them to the store from time to time. What it counted it tells as a sum, by a name that nobody else
/// has, until it is known to be stored: so nothing is lost, and nothing counts twice.
pub(crate) struct Meter {
    quotas: Quotas,
    /// The name of this server for as long as it runs.
    server: String,
    counts: Mutex<Counts>,
    /// Held by whoever stores what was counted.
    storing: tokio::sync::Mutex<()>,
}

impl Meter {
    pub(crate) fn new(quotas: Quotas) -> Self {
        Self {
            quotas,
            server: entropy::word(),
            counts: Mutex::default(),
            storing: tokio::sync::Mutex::default(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Units of a service that a project has in a month; 0 for no limit.
    pub(crate) fn quota(&self, service: Service) -> u64 {
        self.quotas.of(service.short())
    }

    /// Charges a call to its project, or refuses it; `None` when the service has no quota.
    pub(crate) fn charge(
        &self,
        project: ProjectId,
        service: Service,
        cost: u64,
        now: Timestamp,
    ) -> Option<Quota> {
        let today = Day::of(now);
        let limit = self.quota(service);
        let mut counts = self.counts();
        if limit > 0 {
            counts.note_charged(project);
        }
        let used = counts.used(project, service, today.first_of_month());
        let refused = limit > 0 && *used + cost > limit;
        if !refused {
            *used += cost;
        }
        let remaining = limit.saturating_sub(*used);
        if !refused && cost > 0 {
            counts.count(project, service, today, cost);
        }
        (limit > 0).then_some(Quota { limit, remaining, refused })
    }

    /// Takes over what all projects used this month before the start. Where that cannot be read, it is taken over of each project once
    /// that is used.
    pub(crate) async fn begin(&self, store: &Store, now: Timestamp) {
        if !self.has_quota() {
            return;
        }
        let month = Day::of(now).first_of_month();
        match store.metered_since(month).await {
            Ok(totals) => {
                let used = |total: UsageTotal| {
                    Some(((total.project, Service::from_short(&total.service)?), total.units))
                };
                self.counts().begin(month, totals.into_iter().filter_map(used));
            }
            Err(error) => error.log("reading what was used this month"),
        }
    }

    /// Stores what was counted, then takes over what the projects used this month that were used here since the last time: other
    /// servers add to it. What of a project cannot be stored, or read, is kept for the next time, and keeps nobody else from it; so is
    /// what whoever calls this does not wait for.
    pub(crate) async fn flush(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        let _alone = self.storing.lock().await;
        let waiting = self.counts().waiting();
        if waiting.is_empty() {
            return Ok(());
        }
        let nodes = store.projects_by_node(waiting).await?.into_iter();
        let mut flushing = stream::iter(nodes.map(|projects| self.flush_node(store, projects, now)))
            .buffer_unordered(NODES_AT_ONCE);
        let mut flushed = Ok(());
        while let Some(ended) = flushing.next().await {
            flushed = flushed.and(ended);
        }
        self.counts().forget_before(Day::of(now));
        flushed
    }

    /// The same of projects that are on one node, until that turns out to be away.
    async fn flush_node(
        &self,
        store: &Store,
        projects: Vec<ProjectId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let began = Instant::now();
        let mut flushed = Ok(());
        let parts = self.counts().parts(projects);
        for part in parts {
            let ended = self.flush_part(store, &part, now).await;
            let is_away = ended
                .as_ref()
                .is_err_and(|error| error.is_unavailable() || matches!(error, StoreError::Closed));
            flushed = flushed.and(ended);
            if is_away || began.elapsed() >= TURN {
                break;
            }
        }
        flushed
    }

    async fn flush_part(&self, store: &Store, part: &[ProjectId], now: Timestamp) -> Result<(), StoreError> {
        let told = self.counts().tell(part);
        if !told.is_empty() {
            let line =
                |(project, counter): &(ProjectId, counts::Counter)| counter.line(*project, &self.server);
            store.put_metered(told.iter().map(line).collect()).await?;
            self.counts().note_stored(&told);
        }
        let to_read = self.counts().to_read(part);
        let scopes = to_read.into_iter().map(ProjectScope::for_counting).collect();
        let month = Day::of(now).first_of_month();
        let mut taken_over = Ok(());
        for (project, totals) in store.metered_apart(scopes, month).await {
            match totals {
                Ok(totals) => self.counts().take_over(project, totals, month),
                Err(error) => taken_over = Err(error),
            }
        }
        taken_over
    }

    fn has_quota(&self) -> bool {
        Service::ALL.into_iter().any(|service| self.quota(service) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layers, load};

    #[test]
    fn every_service_has_a_quota_and_nothing_else_has() {
        let variables = vec![("BOURSE_QUOTAS__INGEST".to_owned(), "7".to_owned())];
        let loaded = load(Layers { variables, ..Layers::default() }).unwrap();
        let named = loaded.effective.iter().filter_map(|setting| setting.key.strip_prefix("quotas."));
        assert!(named.eq(Service::ALL.map(Service::short)));
        let meter = Meter::new(loaded.settings.quotas);
        let quotas = Service::ALL.map(|service| meter.quota(service));
        assert_eq!(quotas.iter().sum::<u64>(), 7);
        assert_eq!(meter.quota(Service::Ingest), 7);
    }
}
