//! Compute units: metered per project, service and day, held against the month's quota, flushed in batches.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bourse_store::{Store, StoreError};
use bourse_wire::{Day, ProjectId, Timestamp};
use hashbrown::HashMap;

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

#[derive(Default)]
struct Counts {
    /// Not in the store yet.
    pending: HashMap<(ProjectId, Service, Day), u64>,
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
        if counts.month.is_some_and(|month| month != today.first_of_month()) {
            counts.month = Some(today.first_of_month());
            counts.used.clear();
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

    /// Stores what was counted, then takes over the month's sums, which other servers add to. What cannot be stored
    /// is kept for the next time.
    pub(crate) async fn flush(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut self.counts().pending);
        if !pending.is_empty() {
            let lines = pending
                .iter()
                .map(|((project, service, day), units)| (*project, service.short().to_owned(), *day, *units));
            if let Err(error) = store.add_metered(lines.collect()).await {
                let mut counts = self.counts();
                for (key, units) in pending {
                    *counts.pending.entry(key).or_default() += units;
                }
                return Err(error);
            }
        }
        if self.has_quota() { self.take_over_sums(store, now).await } else { Ok(()) }
    }

    fn has_quota(&self) -> bool {
        Service::ALL.into_iter().any(|service| self.quota(service) > 0)
    }

    async fn take_over_sums(&self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        let month = Day::of(now).first_of_month();
        let totals = store.metered_since(month).await?;
        let mut counts = self.counts();
        let mut used: HashMap<(ProjectId, Service), u64> = totals
            .into_iter()
            .filter_map(|total| Some(((total.project, Service::from_short(&total.service)?), total.units)))
            .collect();
        for ((project, service, day), units) in &counts.pending {
            if *day >= month {
                *used.entry((*project, *service)).or_default() += units;
            }
        }
        counts.month = Some(month);
        counts.used = used;
        Ok(())
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
