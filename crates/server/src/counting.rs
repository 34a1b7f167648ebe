//! The counting house as this service runs it: what it is given, and how its failures are told.

pub use bourse_counting::{
    BatchId, CountingError, CountingHouse, EventBatch, Retention, Surroundings, Tracked, TrackedEvent,
};
use bourse_store::Store;
use bourse_wire::{Code, Error};

use crate::clock::Clock;
use crate::entropy;
use crate::failure::Failure;
use crate::settings::Analytics;

/// What a counting house over a store is given.
pub fn surroundings(store: Store, retention: Retention, clock: Clock) -> Surroundings {
    let draw_stamp = || u64::from_be_bytes(entropy::bytes());
    Surroundings { store, retention, passed: Box::new(move || clock.passed()), draw_stamp }
}

/// How long what is kept beside the counts, as the settings say.
pub fn retention(settings: &Analytics) -> Retention {
    let Analytics { batches_days, event_ids_days, raw_events_days, .. } = *settings;
    Retention { batches_days, event_ids_days, raw_events_days }
}

impl From<&CountingError> for Failure {
    fn from(error: &CountingError) -> Self {
        match error {
            // Whoever waited at the same desk is told the same.
            CountingError::Store(error) => error.shared().into(),
            CountingError::Refused(refused) => {
                Self::Refused(Error::new(Code::InvalidArgument, refused.to_string()))
            }
            CountingError::Memory(_) | CountingError::Loading => {
                Self::Refused(Error::new(Code::Overloaded, error.to_string()))
            }
            CountingError::Corrupt(_) | CountingError::Interrupted => {
                Self::Internal(error.to_string().into())
            }
        }
    }
}
