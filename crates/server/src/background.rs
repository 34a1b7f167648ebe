//! What goes on beside requests: following the store, and flushing what was metered.

use std::sync::Arc;
use std::time::Duration;

use bourse_store::StoreError;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;

/// How long to wait before watching the store again after it failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The background tasks of a running service.
pub struct Background {
    app: Arc<App>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Background {
    /// Starts them.
    pub fn start(app: &Arc<App>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(until(stopped.clone(), follow(Arc::clone(app))));
        tasks.spawn(until(stopped, flush(Arc::clone(app))));
        Self { app: Arc::clone(app), stop, tasks }
    }

    /// Stops them, and stores what is still only in memory.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        log_failure("storing what was metered", flush_once(&self.app).await);
        self.app.store.close().await;
    }
}

async fn until(mut stopped: watch::Receiver<bool>, task: impl Future<Output = ()>) {
    tokio::select! {
        () = task => {}
        // An error means that the sender is gone, which is a stop as well.
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
}

/// Takes over what anyone changes in the store, for ever.
async fn follow(app: Arc<App>) {
    loop {
        log_failure("following the store", follow_until_failure(&app).await);
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

async fn follow_until_failure(app: &App) -> Result<(), StoreError> {
    let mut watcher = app.store.watch().await?;
    loop {
        // Also before the first wait: something may have changed since it was loaded.
        app.credentials.refresh(&app.store).await?;
        app.resident.refresh(&app.store).await?;
        watcher.changed().await?;
    }
}

/// Stores what was metered from time to time, for ever.
async fn flush(app: Arc<App>) {
    let interval = Duration::from_millis(app.settings.limits.metering_flush_ms);
    loop {
        tokio::time::sleep(interval).await;
        log_failure("storing what was metered", flush_once(&app).await);
    }
}

async fn flush_once(app: &App) -> Result<(), StoreError> {
    app.meter.flush(&app.store, app.clock.now()).await?;
    app.credentials.flush_last_use(&app.store).await
}

/// These tasks go on whatever happens: the next round tries again.
fn log_failure(what: &'static str, result: Result<(), StoreError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "{what}");
    }
}
