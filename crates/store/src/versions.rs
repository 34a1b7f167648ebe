//! Which versions collections have. Of many at once some may not be known: what fails of one keeps nobody from the others.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bourse_wire::ProjectId;

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::{Pending, Store};
use crate::collections::{CollectionId, Mark};
use crate::columns::selection;
use crate::session::list;

/// Collections that one statement asks for.
pub(crate) const IDS_PER_READ: usize = 1_000;
/// How long the nodes of a cluster may take: the coordinator waits for half a minute for one that is silent.
const NODES_TIMEOUT: Duration = Duration::from_secs(2);

selection! {
    struct HasVersion {
        collection_id: CollectionId,
    }
}

/// The versions of some collections.
#[derive(Debug, Default)]
pub struct Versions {
    /// Those that could be read, in no order. What is neither here nor below is not stored.
    pub found: Vec<(CollectionId, Mark)>,
    /// Those that could not, together where one reason is that of all.
    pub failed: Vec<(Vec<CollectionId>, StoreError)>,
}

impl Store {
    /// The versions of these collections, in no order.
    pub fn versions(&self, ids: Vec<CollectionId>) -> Pending<'_, Vec<(CollectionId, Mark)>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let mut versions = Vec::with_capacity(ids.len());
                // A statement takes only so many arguments.
                for group in ids.chunks(IDS_PER_READ) {
                    let ids = list(group.len(), 0);
                    let sql = format!("FROM collection_versions WHERE collection_id IN ({ids})");
                    let args = group.iter().map(|id| Arg::from(id.0)).collect();
                    let found: Vec<(HasVersion, Mark)> = session.select(sql, args).await?;
                    versions.extend(found.into_iter().map(|(found, mark)| (found.collection_id, mark)));
                }
                Ok(versions)
            })
        })
    }

    /// The versions of these collections, as far as they can be read: together, and where that fails, in smaller parts. Fails
    /// only where nobody can be asked.
    pub async fn versions_apart(&self, ids: Vec<CollectionId>) -> Result<Versions, StoreError> {
        let mut versions = Versions::default();
        let mut parts: Vec<Vec<CollectionId>> = ids.chunks(IDS_PER_READ).map(<[_]>::to_vec).collect();
        while let Some(part) = parts.pop() {
            let read = self.patiently(self.versions(part.clone())).await;
            match read {
                Ok(found) => versions.found.extend(found),
                Err(error @ (StoreError::Away | StoreError::Closed)) => return Err(error),
                Err(error) => match self.smaller(&part, &error).await {
                    Some(smaller) => parts.extend(smaller),
                    None => versions.failed.push((part, error)),
                },
            }
        }
        Ok(versions)
    }

    /// The versions of what is counted of these projects, as far as they can be read.
    pub async fn counts_versions_apart(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<Vec<(ProjectId, Result<Mark, StoreError>)>, StoreError> {
        match self.patiently(self.counts_versions_of(projects.clone())).await {
            Ok(found) => {
                let found: HashMap<ProjectId, Mark> = found.into_iter().collect();
                let mark = |project| Ok(found.get(&project).copied().unwrap_or_default());
                return Ok(projects.into_iter().map(|project| (project, mark(project))).collect());
            }
            Err(error @ (StoreError::Away | StoreError::Closed)) => return Err(error),
            Err(_) => {}
        }
        let mut versions = Vec::with_capacity(projects.len());
        for project in projects {
            let found = self.patiently(self.counts_versions_of(vec![project])).await;
            let newest = found.map(|found| found.first().map(|(_, mark)| *mark).unwrap_or_default());
            versions.push((project, newest));
        }
        Ok(versions)
    }

    /// Waits for nodes of a cluster for so long and no longer.
    pub(crate) async fn patiently<T>(&self, read: Pending<'_, T>) -> Result<T, StoreError> {
        if !self.is_distributed() {
            return read.await;
        }
        let silent = || StoreError::Unavailable("a node of the cluster does not answer".into());
        tokio::time::timeout(NODES_TIMEOUT, read).await.unwrap_or_else(|_| Err(silent()))
    }

    /// Smaller parts of what could not be read together: what lives on each node where a node may be away, and else halves,
    /// which leads to the one that makes no sense. `None` where all that is left fails for one reason.
    async fn smaller(&self, part: &[CollectionId], error: &StoreError) -> Option<Vec<Vec<CollectionId>>> {
        if part.len() < 2 {
            return None;
        }
        if !error.is_unavailable() {
            let (first, second) = part.split_at(part.len() / 2);
            return Some(vec![first.to_vec(), second.to_vec()]);
        }
        let nodes =
            if self.is_distributed() { self.by_node(part.to_vec()).await.ok()? } else { return None };
        (nodes.len() > 1).then_some(nodes)
    }

    /// These collections, those of each node of the cluster together. Only the coordinator is asked.
    fn by_node(&self, ids: Vec<CollectionId>) -> Pending<'_, Vec<Vec<CollectionId>>> {
        self.read(move |mut session| {
            Box::pin(async move {
                selection! {
                    struct Placed {
                        collection: u64 = "number",
                        node: u64 = "CAST(placed.groupid AS BIGINT)",
                    }
                }
                let numbers: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
                let sql = format!(
                    "FROM UNNEST(ARRAY[{}]::BIGINT[]) AS number JOIN pg_dist_placement AS placed
                        ON placed.shardid = get_shard_id_for_distribution_column('collection_versions', number)",
                    numbers.join(",")
                );
                let mut nodes: BTreeMap<u64, Vec<CollectionId>> = BTreeMap::new();
                for Placed { collection, node } in session.select(sql, args![]).await? {
                    nodes.entry(node).or_default().push(CollectionId(collection));
                }
                Ok(nodes.into_values().collect())
            })
        })
    }
}
