//! The access key that everybody may try the service with: it reads, so much a minute from each address and so much a day in all.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use bourse_settings::Trial as Settings;
use bourse_wire::{Code, Day, Error, Timestamp};

use crate::limits::{Allowance, Bucket, RateLimiter};
use crate::route::{Effect, Route};

/// The key, and what was used with it through this server.
pub(crate) struct Trial {
    key: String,
    by_address: RateLimiter,
    units_per_day: u64,
    used: Mutex<Used>,
}

/// What was used on a day.
#[derive(Default)]
struct Used {
    day: Option<Day>,
    units: u64,
}

impl Trial {
    /// The key that the settings offer, if they offer one.
    pub(crate) fn offered(settings: &Settings) -> Option<Self> {
        let key = settings.access_key.trim();
        (!key.is_empty()).then(|| Self {
            key: key.to_owned(),
            by_address: RateLimiter::new(settings.rate_per_minute),
            units_per_day: settings.units_per_day,
            used: Mutex::default(),
        })
    }

    /// Whether a key is this one.
    pub(crate) fn is_key(&self, key: Option<&str>) -> bool {
        key == Some(self.key.as_str())
    }

    /// Refuses what nobody may do who only tries.
    pub(crate) fn check(route: &Route) -> Result<(), Error> {
        if route.effect == Effect::Reads {
            return Ok(());
        }
        let message = "the trial key reads only: an access key of a project of your own may do more";
        Err(Error::new(Code::PermissionDenied, message))
    }

    /// Takes what a call costs from what its address has a minute; `None` when there is no limit.
    pub(crate) fn take(&self, peer: Option<IpAddr>, cost: u64, now: Timestamp) -> Option<Allowance> {
        self.by_address.take(peer.map_or(Bucket::Name(0), Bucket::of_address), cost, now)
    }

    /// Takes it from what everybody together has a day.
    pub(crate) fn charge(&self, cost: u64, now: Timestamp) -> Result<(), Error> {
        let today = Day::of(now);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.day != Some(today) {
            *used = Used { day: Some(today), units: 0 };
        }
        if self.units_per_day > 0 && used.units.saturating_add(cost) > self.units_per_day {
            let message = format!(
                "the {} compute units a day of the trial key are used up: try again tomorrow, or with a key of your own",
                self.units_per_day
            );
            return Err(Error::new(Code::QuotaExceeded, message));
        }
        used.units += cost;
        Ok(())
    }
}
