//! Removing files that no asset has any more. [`super`] tells why nothing is removed that somebody needs.

use std::collections::BTreeSet;
use std::io;

use bourse_store::{Store, StoreError};
use bourse_wire::Timestamp;

use super::{Aside, Files};

/// Contents that the database is asked about at once.
const ASKED_AT_ONCE: usize = 500;

/// Files without an asset that are always removed.
const UNUSED_FEW: usize = 100;

/// Why files were not looked through to the end.
#[derive(Debug, thiserror::Error)]
pub enum RemovalError {
    /// The database could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The files could not be listed, set aside or removed.
    #[error(transparent)]
    Files(#[from] io::Error),
    /// Most files are nobody's.
    #[error(
        "{unused} of {all} files belong to no asset, so that the database is probably not the one of these files: none is \
         removed"
    )]
    AnotherDatabase {
        /// Files that belong to no asset.
        unused: usize,
        /// All that there are.
        all: usize,
    },
}

/// Whoever knows which contents assets have.
pub trait Registry: Sync {
    /// Those of these contents that an asset has.
    fn in_use(
        &self,
        hashes: Vec<String>,
    ) -> impl Future<Output = Result<BTreeSet<String>, StoreError>> + Send;
}

impl Registry for Store {
    async fn in_use(&self, hashes: Vec<String>) -> Result<BTreeSet<String>, StoreError> {
        self.contents_in_use(hashes).await
    }
}

impl Files {
    /// Removes those of these contents that no asset has; tells how many.
    pub async fn remove_unused(
        &self,
        registry: &impl Registry,
        hashes: &[String],
        now: Timestamp,
    ) -> Result<usize, RemovalError> {
        let mut removed = 0;
        for hashes in hashes.chunks(ASKED_AT_ONCE) {
            // Asked here as well, so that what many assets have is not set aside again and again.
            let used = registry.in_use(hashes.to_vec()).await?;
            for hash in hashes.iter().filter(|hash| !used.contains(*hash)) {
                if let Some(aside) = self.set_aside(hash, now).await? {
                    removed += usize::from(self.settle(registry, aside, now).await?);
                }
            }
        }
        Ok(removed)
    }

    /// Looks through all files, and removes what no asset has; tells how many. What is deleted takes its files along at
    /// once, so that little is left to be found: where it is most of all, the database is not the one of these files.
    pub async fn sweep(&self, registry: &impl Registry, now: Timestamp) -> Result<usize, RemovalError> {
        let time = self.time(now).await?;
        let (mut all, mut unused, mut set_aside) = (0, Vec::new(), Vec::new());
        for part in 0..=u8::MAX {
            let mut listed = self.list(part, time).await?;
            all += listed.contents.len() + listed.set_aside.len();
            set_aside.append(&mut listed.set_aside);
            for contents in listed.contents.chunks(ASKED_AT_ONCE) {
                let used = registry.in_use(contents.to_vec()).await?;
                unused.extend(contents.iter().filter(|hash| !used.contains(*hash)).cloned());
            }
            self.remove_abandoned(listed).await?;
        }
        if is_too_many(unused.len(), all) {
            return Err(RemovalError::AnotherDatabase { unused: unused.len(), all });
        }
        let mut removed = 0;
        for aside in set_aside {
            removed += usize::from(self.settle(registry, aside, now).await?);
        }
        Ok(removed + self.remove_unused(registry, &unused, now).await?)
    }

    /// Removes content that was set aside, or puts it back. Claims are looked for before the database is asked: a claim that
    /// is gone was ended by somebody whose asset the database then has. Holds are looked for after it: a backup that holds
    /// later copies a database in which nobody has the content.
    async fn settle(
        &self,
        registry: &impl Registry,
        aside: Aside,
        now: Timestamp,
    ) -> Result<bool, RemovalError> {
        let needed = self.is_needed(registry, &aside, now).await;
        match &needed {
            Ok(false) => self.remove(aside).await?,
            // Where it cannot be known, it is put back.
            Ok(true) | Err(_) => self.put_back(aside).await?,
        }
        needed.map(|needed| !needed)
    }

    async fn is_needed(
        &self,
        registry: &impl Registry,
        aside: &Aside,
        now: Timestamp,
    ) -> Result<bool, RemovalError> {
        Ok(self.is_claimed(aside, now).await?
            || !registry.in_use(vec![aside.hash.clone()]).await?.is_empty()
            || self.is_held(aside, now).await?)
    }
}

/// Whether so many files of all are more than what is left over when a process is killed.
fn is_too_many(unused: usize, all: usize) -> bool {
    unused > UNUSED_FEW && unused > all / 2
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
