//! Removing files that no asset has any more: after something was deleted or replaced, and whatever else is found while all
//! files are looked through. [`crate::files`] tells why nothing is removed that somebody needs.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::files::RemovalError;

/// Removes those of these contents that no asset has. What fails is logged: whoever looks through all files tries again. Whoever
/// deleted an asset waits for no longer than a quarter of what a request may take, as the database has done what they want.
pub(crate) async fn remove(app: &Arc<App>, hashes: impl IntoIterator<Item = String>) {
    let hashes: Vec<String> = hashes.into_iter().collect();
    if hashes.is_empty() {
        return;
    }
    let task = Arc::clone(app);
    // As a task of its own, so that somebody who hangs up does not leave content set aside.
    let removal = tokio::spawn(async move {
        if let Err(error) = task.files.remove_unused(&task.store, &hashes, task.now()).await {
            tracing::warn!(%error, "removing files of deleted assets");
        }
    });
    let patience = Duration::from_millis(app.settings.limits.request_timeout_ms / 4);
    if let Ok(Err(error)) = tokio::time::timeout(patience, removal).await {
        tracing::warn!(%error, "removing files of deleted assets");
    }
}

/// Looks through all files, and removes what no asset has. Tells how many were removed.
pub(crate) async fn sweep(app: &App) -> Result<usize, RemovalError> {
    app.store.recount_files().await?;
    app.files.sweep(&app.store, app.now()).await
}
