//! What uploaded files take, and which of them somebody still has.

use std::collections::BTreeSet;

use bourse_wire::{Code, Error};

use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::columns::selection;
use crate::session::{Session, list};
use crate::{ProjectScope, StoreError};

/// Files of deleted assets of which whoever deleted them is told. All others are found by whoever looks through the files.
const FREED_MAX: u64 = 10_000;

/// What deleting some assets frees.
struct FreedBytes {
    bytes: u64,
}

selection! { FreedBytes { bytes = "CAST(COALESCE(SUM(filesize), 0) AS BIGINT)" } }

impl Store {
    /// What the files of a project take, in bytes. Content that several assets have counts for each.
    pub fn project_files_bytes(&self, scope: ProjectScope) -> Pending<'_, u64> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT bytes FROM project_files WHERE project_id = $1";
                Ok(session.value(sql, args![scope.project()]).await?.unwrap_or_default())
            })
        })
    }

    /// Which of these contents an asset of whichever project has.
    pub fn contents_in_use(&self, hashes: Vec<String>) -> Pending<'_, BTreeSet<String>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = format!(
                    "SELECT DISTINCT content_hash FROM hosted_assets WHERE content_hash IN ({})",
                    list(hashes.len(), 0)
                );
                let found: Vec<String> =
                    session.values(sql, hashes.into_iter().map(Arg::from).collect()).await?;
                Ok(found.into_iter().collect())
            })
        })
    }

    /// Counts the files of all projects anew, where the count is not what their assets say: a server of an older version
    /// beside this one does not count.
    pub fn recount_files(&self) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT projects.project_id FROM projects
                    LEFT JOIN (SELECT project_id, SUM(filesize) AS bytes FROM hosted_assets GROUP BY project_id) AS sums
                    ON sums.project_id = projects.project_id
                    LEFT JOIN project_files ON project_files.project_id = projects.project_id
                    WHERE COALESCE(sums.bytes, 0) <> COALESCE(project_files.bytes, 0) ORDER BY projects.project_id";
                let wrong: Vec<u64> = session.values(sql, vec![]).await?;
                for project in wrong {
                    // First this row is held, as every change does. What is summed up after that stays.
                    add_bytes(&mut session, project, 0).await?;
                    let sql = "SELECT CAST(COALESCE(SUM(filesize), 0) AS BIGINT) FROM hosted_assets
                        WHERE project_id = $1";
                    let bytes: Option<u64> = session.value(sql, args![project]).await?;
                    let sql = "UPDATE project_files SET bytes = $2 WHERE project_id = $1";
                    session.execute(sql, args![project, bytes.unwrap_or_default()]).await?;
                }
                Ok(())
            })
        })
    }
}

/// Counts a file in the place of another. More than a project may have is refused, and what takes less never is.
pub(super) async fn count_replaced(
    session: &mut Session<'_>,
    scope: ProjectScope,
    (old, new): (u64, u64),
    bytes_max: Option<u64>,
) -> Result<(), StoreError> {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let total = add_bytes(session, scope.project().get(), signed(new) - signed(old)).await?;
    match bytes_max {
        Some(most) if total > most && new > old => {
            let message = format!(
                "the files of project {} would take {total} bytes with this one, where {most} are allowed \
                (`limits.project_files_bytes_max`): delete assets that are not needed any more",
                scope.project()
            );
            Err(Error::new(Code::BodyTooLarge, message).into())
        }
        _ => Ok(()),
    }
}

/// Counts assets as deleted that are about to be, those that a condition on the columns of `hosted_assets` is true for, and
/// tells their contents.
pub(super) async fn count_deleted(
    session: &mut Session<'_>,
    scope: ProjectScope,
    condition: &str,
    args: Vec<Arg>,
) -> Result<Vec<String>, StoreError> {
    let rest = format!("FROM hosted_assets WHERE {condition}");
    let freed: Option<FreedBytes> = session.select_first(&rest, args.clone()).await?;
    let bytes = freed.map_or(0, |freed| freed.bytes);
    if bytes > 0 {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        add_bytes(session, scope.project().get(), -bytes).await?;
    }
    let sql = format!("SELECT DISTINCT content_hash {rest} AND content_hash IS NOT NULL LIMIT {FREED_MAX}");
    session.values(sql, args).await
}

/// Changes the count of a project, which is held until the transaction ends, and tells what it is now.
async fn add_bytes(session: &mut Session<'_>, project: u64, change: i64) -> Result<u64, StoreError> {
    let sum = "project_files.bytes + $3";
    let sql = format!(
        "INSERT INTO project_files (project_id, bytes) VALUES ($1, $2) ON CONFLICT (project_id) DO UPDATE
        SET bytes = CASE WHEN {sum} < 0 THEN 0 ELSE {sum} END RETURNING bytes"
    );
    let bytes = session.value(sql, args![project, change.max(0), change]).await?;
    Ok(bytes.unwrap_or_default())
}
