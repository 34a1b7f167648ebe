//! Removing files that no asset has any more: after something was deleted or replaced, and whatever else is found while all
//! files are looked through. [`crate::files`] tells why nothing is removed that somebody needs.

use std::io;
use std::sync::Arc;

use bourse_store::StoreError;
use tokio::task::JoinError;

use crate::app::App;
use crate::files::{Aside, Files};

/// Contents that the database is asked about at once.
const ASKED_AT_ONCE: usize = 500;

/// Files without an asset that are always removed.
const UNUSED_FEW: usize = 100;

/// Why files were not looked through to the end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemovalError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Task(#[from] JoinError),
    #[error(
        "{unused} of {all} files belong to no asset, so that the database is probably not the one of this data directory: \
         none is removed"
    )]
    AnotherDatabase { unused: usize, all: usize },
}

/// Removes those of these contents that no asset has. What fails is logged: whoever looks through all files tries again.
pub(crate) async fn remove(app: &Arc<App>, hashes: impl IntoIterator<Item = String>) {
    let hashes: Vec<String> = hashes.into_iter().collect();
    if hashes.is_empty() {
        return;
    }
    let task = Arc::clone(app);
    // As a task of its own, so that somebody who hangs up does not leave content set aside.
    let removed = tokio::spawn(async move { remove_unused(&task, &hashes).await }).await;
    match removed {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(%error, "removing files of deleted assets"),
        Err(error) => tracing::warn!(%error, "removing files of deleted assets"),
    }
}

/// Looks through all files, and removes what no asset has. Tells how many were removed. What is deleted takes its files along
/// at once, so that little is left to be found: where it is most of all, the database is not the one of these files.
pub(crate) async fn sweep(app: &Arc<App>) -> Result<usize, RemovalError> {
    app.store.recount_files().await?;
    let (mut all, mut unused, mut set_aside) = (0, Vec::new(), Vec::new());
    for part in 0..=u8::MAX {
        let now = app.now();
        let mut listed = on_disk(app, move |files| files.list(part, now)).await?;
        all += listed.contents.len() + listed.set_aside.len();
        set_aside.append(&mut listed.set_aside);
        for contents in listed.contents.chunks(ASKED_AT_ONCE) {
            let used = app.store.contents_in_use(contents.to_vec()).await?;
            unused.extend(contents.iter().filter(|hash| !used.contains(*hash)).cloned());
        }
        on_disk(app, move |_| listed.remove_abandoned()).await?;
    }
    if is_too_many(unused.len(), all) {
        return Err(RemovalError::AnotherDatabase { unused: unused.len(), all });
    }
    let mut removed = 0;
    for aside in set_aside {
        removed += usize::from(settle(app, aside).await?);
    }
    Ok(removed + remove_unused(app, &unused).await?)
}

/// Whether so many files of all are more than what is left over when a process is killed.
fn is_too_many(unused: usize, all: usize) -> bool {
    unused > UNUSED_FEW && unused > all / 2
}

async fn remove_unused(app: &Arc<App>, hashes: &[String]) -> Result<usize, RemovalError> {
    let mut removed = 0;
    for hashes in hashes.chunks(ASKED_AT_ONCE) {
        // Asked here as well, so that what many assets have is not set aside again and again.
        let used = app.store.contents_in_use(hashes.to_vec()).await?;
        for hash in hashes.iter().filter(|hash| !used.contains(*hash)) {
            let (name, now) = (hash.clone(), app.now());
            if let Some(aside) = on_disk(app, move |files| files.set_aside(&name, now)).await? {
                removed += usize::from(settle(app, aside).await?);
            }
        }
    }
    Ok(removed)
}

/// Removes content that was set aside, or puts it back. Claims are looked for before the database is asked: a claim that
/// is gone was ended by somebody whose asset the database then has.
async fn settle(app: &Arc<App>, aside: Aside) -> Result<bool, RemovalError> {
    let (hash, now) = (aside.hash.clone(), app.now());
    let used = match on_disk(app, move |files| files.is_claimed(&hash, now)).await {
        Ok(true) => Ok(true),
        Ok(false) => {
            let used = app.store.contents_in_use(vec![aside.hash.clone()]).await;
            used.map(|used| !used.is_empty()).map_err(RemovalError::from)
        }
        Err(error) => Err(error),
    };
    // Where that cannot be known, it is put back.
    let is_unused = matches!(used, Ok(false));
    on_disk(app, move |files| if is_unused { aside.remove() } else { files.put_back(&aside) }).await?;
    used.map(|used| !used)
}

async fn on_disk<T: Send + 'static>(
    app: &Arc<App>,
    act: impl FnOnce(&Files) -> io::Result<T> + Send + 'static,
) -> Result<T, RemovalError> {
    let app = Arc::clone(app);
    Ok(tokio::task::spawn_blocking(move || act(&app.files)).await??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_all_files_are_never_left_over() {
        assert!(!is_too_many(0, 0) && !is_too_many(100, 100), "few are removed in any case");
        assert!(!is_too_many(500, 1000), "a project may have been deleted by a process that was killed");
        assert!(is_too_many(501, 1000) && is_too_many(101, 101));
    }
}
