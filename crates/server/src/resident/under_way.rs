//! Loads under way: many may wait for one, and are told how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bourse_store::{CollectionId, StoreError};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio::time::error::Elapsed;

use super::Inner;
use super::install::Loaded;
use crate::forwarding::Elsewhere;

/// A load that many may wait for. It goes on when those who asked for it are gone.
pub(super) type Load = Shared<BoxFuture<'static, Result<Loaded, Arc<StoreError>>>>;

/// A load under way.
pub(super) struct UnderWay {
    load: Load,
    progress: Arc<LoadProgress>,
    /// Whether something was committed that it may not have seen.
    is_behind: bool,
    /// Whether it has read everything, and is about to end.
    is_closing: bool,
}

impl UnderWay {
    pub(super) fn begin<F>(load: F, progress: Arc<LoadProgress>) -> Self
    where
        F: Future<Output = Result<Loaded, StoreError>> + Send + 'static,
    {
        let flat = |joined: Result<Result<Loaded, StoreError>, _>| {
            // A load that panicked has told the log so.
            joined.unwrap_or(Err(StoreError::Closed)).map_err(Arc::new)
        };
        let load = tokio::spawn(load).map(flat).boxed().shared();
        Self { load, progress, is_behind: false, is_closing: false }
    }

    /// To wait for it, and to know how far it is.
    pub(super) fn shared(&mut self) -> (Load, Arc<LoadProgress>) {
        (self.load.clone(), Arc::clone(&self.progress))
    }

    /// Notes that something was committed, which it takes over before anybody is answered; the load to wait for when it is
    /// too late for that.
    pub(super) fn note_change(&mut self) -> Option<Load> {
        self.is_behind = true;
        self.is_closing.then(|| self.load.clone())
    }

    /// Notes that it has read everything; whether something was committed before that.
    pub(super) fn close(&mut self) -> bool {
        self.is_closing = true;
        self.is_behind
    }
}

/// How long a request still waits for collections that are being loaded: for all of them together, so that it ends before
/// its own time does.
pub(crate) struct Patience {
    pub(super) left: Duration,
    /// Where collections are looked for before they are loaded here, if anywhere.
    pub(super) elsewhere: Option<Arc<Elsewhere>>,
}

impl Patience {
    /// The same of a request that leaves to other servers what they hold.
    pub(crate) fn or_elsewhere(self, elsewhere: Option<Arc<Elsewhere>>) -> Self {
        Self { elsewhere, ..self }
    }

    /// Waits for a load, if there is time enough. Whoever finds it done needs no time.
    pub(super) async fn wait(&mut self, load: Load) -> Result<<Load as Future>::Output, Elapsed> {
        let started = Instant::now();
        let waited = tokio::time::timeout(self.left, load).await;
        self.left = self.left.saturating_sub(started.elapsed());
        waited
    }
}

/// How far a load is.
#[derive(Default)]
pub(super) struct LoadProgress {
    rows: AtomicU64,
    /// How many there are, once somebody wanted to know.
    all: OnceCell<u64>,
}

impl LoadProgress {
    pub(super) fn add(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }
}

impl Inner {
    /// How far a load is, for somebody who will not wait for its end.
    pub(super) async fn told_of(&self, progress: &LoadProgress, id: CollectionId) -> String {
        let counting = progress.all.get_or_try_init(|| self.store.rows(id));
        // Counting takes no longer than the first wait, or it is left.
        let counted = tokio::time::timeout(self.patience, counting).await;
        let rows = progress.rows.load(Ordering::Relaxed);
        match counted {
            Ok(Ok(all)) => format!("{rows} of {} rows", rows.max(*all)),
            _ => format!("{rows} rows so far"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(done: impl Future<Output = ()> + Send + 'static) -> Load {
        done.map(|()| Ok(Loaded::Done)).boxed().shared()
    }

    #[tokio::test]
    async fn several_loads_share_the_patience_of_one_request() {
        let mut patience = Patience { left: Duration::from_hours(1), elsewhere: None };
        let takes = Duration::from_millis(20);
        assert!(patience.wait(load(tokio::time::sleep(takes))).await.is_ok());
        assert!(patience.left + takes <= Duration::from_hours(1), "{:?} are left", patience.left);
        patience.left = takes;
        assert!(patience.wait(load(std::future::pending())).await.is_err());
        assert_eq!(patience.left, Duration::ZERO);
        assert!(patience.wait(load(std::future::pending())).await.is_err(), "nothing was left");
        assert!(patience.wait(load(std::future::ready(()))).await.is_ok(), "what is there needs no time");
    }
}
