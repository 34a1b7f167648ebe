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
pub(crate) const NODES_TIMEOUT: Duration = Duration::from_secs(2);

selection! {
    struct HasVersion {
        collection_id: CollectionId,
    }
}

/// The versions of some collections, or of what is counted of some projects.
#[derive(Debug)]
pub struct Versions<Id = CollectionId> {
    /// Those that could be read, in no order. What is neither here nor below is not stored.
    pub found: Vec<(Id, Mark)>,
    /// Those that could not, together where one reason is that of all.
    pub failed: Vec<(Vec<Id>, StoreError)>,
}

/// What has versions.
trait Versioned: Copy {
    /// The table that places on a cluster follow from.
    const PLACED_BY: &'static str;

    fn number(self) -> u64;
}

impl Versioned for CollectionId {
    const PLACED_BY: &'static str = "collection_versions";

    fn number(self) -> u64 {
        self.0
    }
}

impl Versioned for ProjectId {
    const PLACED_BY: &'static str = "analytics_versions";

    fn number(self) -> u64 {
        self.get()
    }
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
        self.apart(&ids, |part| self.versions(part)).await
    }

    /// The versions of what is counted of these projects, likewise.
    pub async fn counts_versions_apart(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<Versions<ProjectId>, StoreError> {
        self.apart(&projects, |part| self.counts_versions_of(part)).await
    }

    async fn apart<'s, Id: Versioned>(
        &'s self,
        ids: &[Id],
        read: impl Fn(Vec<Id>) -> Pending<'s, Vec<(Id, Mark)>>,
    ) -> Result<Versions<Id>, StoreError> {
        let mut versions = Versions { found: Vec::new(), failed: Vec::new() };
        let mut parts: Vec<Vec<Id>> = ids.chunks(IDS_PER_READ).map(<[_]>::to_vec).collect();
        while let Some(part) = parts.pop() {
            match self.patiently(read(part.clone())).await {
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
    async fn smaller<Id: Versioned>(&self, part: &[Id], error: &StoreError) -> Option<Vec<Vec<Id>>> {
        if part.len() < 2 {
            return None;
        }
        if !error.is_unavailable() {
            let (first, second) = part.split_at(part.len() / 2);
            return Some(vec![first.to_vec(), second.to_vec()]);
        }
        if !self.is_distributed() {
            return None;
        }
        let nodes = self.nodes_of(Id::PLACED_BY, part.iter().map(|id| id.number()).collect()).await.ok()?;
        let mut parts: BTreeMap<u64, Vec<Id>> = BTreeMap::new();
        for id in part {
            parts.entry(*nodes.get(&id.number())?).or_default().push(*id);
        }
        (parts.len() > 1).then(|| parts.into_values().collect())
    }

    /// The node of the cluster that what belongs to each of these numbers is on. Only the coordinator is asked.
    pub(crate) fn nodes_of(&self, table: &'static str, numbers: Vec<u64>) -> Pending<'_, HashMap<u64, u64>> {
        self.read(move |mut session| {
            Box::pin(async move {
                selection! {
                    struct Placed {
                        number: u64 = "number",
                        node: u64 = "CAST(placed.groupid AS BIGINT)",
                    }
                }
                let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
                let sql = format!(
                    "FROM UNNEST(ARRAY[{}]::BIGINT[]) AS number JOIN pg_dist_placement AS placed
                        ON placed.shardid = get_shard_id_for_distribution_column('{table}', number)",
                    numbers.join(",")
                );
                let placed: Vec<Placed> = session.select(sql, args![]).await?;
                Ok(placed.into_iter().map(|Placed { number, node }| (number, node)).collect())
            })
        })
    }
}
