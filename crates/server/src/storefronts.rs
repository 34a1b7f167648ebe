//! What the storefronts of projects consist of, kept for a moment: every page of a storefront asks for it first.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use bourse_store::{MarketCollection, Project, ProjectScope, Store, StoreError, StoredStorefront};
use bourse_wire::{ProjectId, Timestamp};

/// How long what was read is believed: so late may a server show what was changed through another one.
const BELIEVED_NANOS: i128 = 2_000_000_000;
/// Storefronts that are kept at most.
const KEPT_MAX: usize = 1_000;
/// Collections of a project's market that are shown at most.
const COLLECTIONS_MAX: u64 = 200;

/// A project, what it said of its storefront, and what is in its market.
pub struct Parts {
    /// The project.
    pub project: Project,
    /// What it said, if it said anything.
    pub stored: Option<StoredStorefront>,
    /// What is in its market.
    pub collections: Vec<MarketCollection>,
}

/// The storefronts, and when they were read.
#[derive(Default)]
pub(crate) struct Storefronts(RwLock<HashMap<ProjectId, (Timestamp, Arc<Parts>)>>);

impl Storefronts {
    /// What the storefront of a project consists of.
    pub(crate) async fn find(
        &self,
        store: &Store,
        scope: ProjectScope,
        now: Timestamp,
    ) -> Result<Arc<Parts>, StoreError> {
        if let Some(parts) = self.believed(scope.project(), now) {
            return Ok(parts);
        }
        let project = store.project(scope.project()).await?;
        let stored = store.storefront(scope).await?;
        let collections = store.market_collections(scope, 0, COLLECTIONS_MAX).await?;
        let parts = Arc::new(Parts { project, stored, collections });
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(scope.project(), (now, Arc::clone(&parts)));
        Ok(parts)
    }

    /// Forgets what was read of a project, which this process has just changed.
    pub(crate) fn forget(&self, project: ProjectId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&project);
    }

    fn believed(&self, project: ProjectId, now: Timestamp) -> Option<Arc<Parts>> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (read_at, parts) = kept.get(&project)?;
        let age = now.unix_nanos() - read_at.unix_nanos();
        (0..BELIEVED_NANOS).contains(&age).then(|| Arc::clone(parts))
    }
}
