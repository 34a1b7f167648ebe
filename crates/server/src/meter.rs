//! Compute units: metered per project, service and day, held against the month's quota, flushed in batches.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bourse_store::{ProjectScope, Store, StoreError, UsageTotal};
use bourse_wire::{Day, ProjectId, Timestamp};
use hashbrown::{HashMap, HashSet};

use crate::route::Service;
use crate::settings::Quotas;

/// What is left of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
    pub(crate) refused: bool,
}

/// Counts units in memory and hands them to the store from time to time.
pub(crate) struct Meter {
    quotas: Quotas,
    counts: Mutex<Counts>,
}

/// Whose units, of what, used when.
type Key = (ProjectId, Service, Day);
type Units = HashMap<Key, u64>;

#[derive(Default)]
struct Counts {
    /// Not in the store yet.
    pending: Units,
    /// Projects with a quota that were used here since it was last read what they used anywhere.
    charged: HashSet<ProjectId>,
    /// The month that `used` is of.
    month: Option<Day>,
    /// In the store, or on its way there.
    used: HashMap<(ProjectId, Service), u64>,
}

impl Meter {
    pub(crate) fn new(quotas: Quotas) -> Self {
        Self { quotas, counts: Mutex::default() }
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
        if counts.month != Some(today.first_of_month()) {
            counts.month = Some(today.first_of_month());
            counts.used.clear();
        }
        if limit > 0 {
            counts.charged.insert(project);
        }
        let used = counts.used.entry((project, service)).or_default();
        let refused = limit > 0 && *used + cost > limit;
        if !refused {
            *used += cost;
        }
        let remaining = limit.saturating_sub(*used);
        if !refused && cost > 0 {
            *counts.pending.entry((project, service, today)).or_default() += cost;
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
                let mut counts = self.counts();
                counts.month = Some(month);
                counts.used = totals.into_iter().filter_map(used).collect();
            }
            Err(error) => error.log("reading what was used this month"),
        }
    }

    /// Stores what was counted, then takes over what the projects used this month that were used here since the last time: other
    /// servers add to it. What of a project cannot be stored, or read, is kept for the next time, and keeps nobody else from it.
    pub(crate) async fn flush(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        let (pending, charged) = {
            let mut counts = self.counts();
            (std::mem::take(&mut counts.pending), std::mem::take(&mut counts.charged))
        };
        let stored = self.store_units(store, pending).await;
        stored.and(self.take_over_sums(store, charged, now).await)
    }

    /// All at once; and where that fails, of each project by itself.
    async fn store_units(&self, store: &Store, pending: Units) -> Result<(), StoreError> {
        let error = match add(store, &pending).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let mut projects: HashMap<ProjectId, Units> = HashMap::new();
        for (key, units) in pending {
            projects.entry(key.0).or_default().insert(key, units);
        }
        let is_over = matches!(error, StoreError::Away | StoreError::Closed) || projects.len() < 2;
        let mut stored = if is_over { Err(error) } else { Ok(()) };
        for units in projects.into_values() {
            let added = if is_over { None } else { Some(add(store, &units).await) };
            if added.as_ref().is_none_or(Result::is_err) {
                self.keep(units);
            }
            stored = stored.and(added.unwrap_or(Ok(())));
        }
        stored
    }

    fn keep(&self, units: Units) {
        let mut counts = self.counts();
        for (key, units) in units {
            *counts.pending.entry(key).or_default() += units;
        }
    }

    fn has_quota(&self) -> bool {
        Service::ALL.into_iter().any(|service| self.quota(service) > 0)
    }

    async fn take_over_sums(
        &self,
        store: &Store,
        projects: HashSet<ProjectId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let month = Day::of(now).first_of_month();
        let scopes = projects.into_iter().map(ProjectScope::for_counting).collect();
        let mut taken_over = Ok(());
        for (project, totals) in store.metered_apart(scopes, month).await {
            let mut counts = self.counts();
            match totals {
                Ok(totals) if counts.month == Some(month) => counts.take_over(project, totals, month),
                Ok(_) => {}
                Err(error) => {
                    counts.charged.insert(project);
                    taken_over = Err(error);
                }
            }
        }
        taken_over
    }
}

impl Counts {
    /// That a project used so much this month of what is stored.
    fn take_over(&mut self, project: ProjectId, totals: Vec<(String, u64)>, month: Day) {
        let mut used: HashMap<Service, u64> = totals
            .into_iter()
            .filter_map(|(service, units)| Some((Service::from_short(&service)?, units)))
            .collect();
        for ((of, service, day), units) in &self.pending {
            if *of == project && *day >= month {
                *used.entry(*service).or_default() += units;
            }
        }
        for service in Service::ALL {
            self.used.insert((project, service), used.get(&service).copied().unwrap_or_default());
        }
    }
}

/// Adds units to what is stored. Those that are there by now although somebody does not see them yet are not added again.
async fn add(store: &Store, units: &Units) -> Result<(), StoreError> {
    if units.is_empty() {
        return Ok(());
    }
    let line =
        |((project, service, day), units): (&Key, &u64)| (*project, service.short().to_owned(), *day, *units);
    match store.add_metered(units.iter().map(line).collect()).await {
        Err(error) if error.is_committed() => {
            error.log("storing what was metered");
            Ok(())
        }
        added => added,
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
