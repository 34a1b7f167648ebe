//! Which contract's token metadata a hosted collection serves. A link is with its project, and once more in a table that tells
//! of a contract who linked it: that one is on the coordinator of a cluster, so that it needs no node.

use bourse_wire::{Address, ChainId, ContractCollection, Error, Page, ProjectId, RecordId, Timestamp};

use super::collections::require as require_collection;
use super::link_queue::ask;
use super::said::hold_hosted;
use crate::args::args;
use crate::audit::Actor;
use crate::backend::{Pending, Sequence, Store};
use crate::collections::{find, hold_contract};
use crate::columns::{Insert, or_nothing, or_replace, record, selection};
use crate::market_projects::join_linked;
use crate::session::Session;
use crate::{CollectionKey, ProjectScope, StoreError};

/// The links that are missing by their contracts.
const MISSING: &str = "FROM contract_collections LEFT JOIN contract_links
    ON contract_links.project_id = contract_collections.project_id
    AND contract_links.chain_id = contract_collections.chain_id
    AND contract_links.contract_address = contract_collections.contract_address
    WHERE contract_links.project_id IS NULL";

record! { ContractCollection: "contract_collections" ("project_id, chain_id, contract_address") {
    id = "link_id",
    chain_id,
    contract_address,
    collection_id = "hosted_collection_id",
} }

record! {
    /// A link by its contract.
    struct ContractLink: "contract_links" ("project_id, chain_id, contract_address") {
        chain_id: ChainId,
        contract_address: Address,
        hosted_collection_id: RecordId,
    }
}

selection! {
    /// A link that its contract's table does not have.
    struct Missing {
        project_id: ProjectId = "contract_collections.project_id",
        chain_id: ChainId = "contract_collections.chain_id",
        contract_address: Address = "contract_collections.contract_address",
    }
}

impl Store {
    /// Adds the links that are missing by their contracts, and what follows from each; tells how many they were. A server that
    /// knows nothing of that table makes such links, while it still runs beside newer ones.
    pub async fn complete_links(&self, now: Timestamp) -> Result<u64, StoreError> {
        let missing: Vec<Missing> =
            self.read(|mut session| Box::pin(async move { session.select(MISSING, args![]).await })).await?;
        let mut added = 0;
        for Missing { project_id, chain_id, contract_address } in missing {
            let contract = CollectionKey { chain: chain_id, address: contract_address };
            added += u64::from(self.complete_link(project_id, contract, Actor::service(now)).await?);
        }
        Ok(added)
    }

    /// Adds a link by its contract, if it is still there.
    fn complete_link(&self, project: ProjectId, contract: CollectionKey, actor: Actor) -> Pending<'_, bool> {
        self.write(move |mut session| {
            Box::pin(async move {
                hold_contract(&mut session, contract).await?;
                // Nobody unlinks it until the transaction ends.
                let sql = "UPDATE contract_collections SET hosted_collection_id = hosted_collection_id
                    WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
                let held: Option<ContractCollection> =
                    session.returning(sql, args![project, contract.chain, contract.address]).await?;
                let Some(ContractCollection { collection_id, .. }) = held else { return Ok(false) };
                put_link(&mut session, project, contract, collection_id).await?;
                ask(&mut session, contract, actor.at).await?;
                // Whoever made the collection meanwhile saw no link. One that is still to be made will see it.
                if find(&mut session, contract).await?.is_some() {
                    join_linked(&mut session, project, contract, &actor).await?;
                }
                Ok(true)
            })
        })
    }

    /// Links a contract with a collection.
    pub fn create_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
        collection: RecordId,
        actor: Actor,
    ) -> Pending<'_, ContractCollection> {
        self.write(move |mut session| {
            Box::pin(async move {
                hold_contract(&mut session, contract).await?;
                hold_hosted(&mut session, scope.project(), collection).await?;
                require_collection(&mut session, scope, collection).await?;
                let id = session.next_id(Sequence::Link).await?;
                let link = ContractCollection {
                    id: id.try_into().map_err(|error| StoreError::corrupt("link id", error))?,
                    chain_id: contract.chain,
                    contract_address: contract.address,
                    collection_id: collection,
                };
                let insert = Insert::owned(scope.project(), [&link])?;
                if session.insert_counting(insert, &or_nothing::<ContractCollection>()).await? == 0 {
                    let reason =
                        format!("contract {} is linked already: update the link instead", contract.address);
                    return Err(Error::conflict(reason).into());
                }
                put_link(&mut session, scope.project(), contract, collection).await?;
                ask(&mut session, contract, actor.at).await?;
                join_linked(&mut session, scope.project(), contract, &actor).await?;
                Ok(link)
            })
        })
    }

    /// The link of a contract.
    pub fn contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
    ) -> Pending<'_, ContractCollection> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, scope, contract).await }))
    }

    /// One page of a project's links, or of one collection's, oldest first, read one beyond the page.
    pub fn contract_collections(
        &self,
        scope: ProjectScope,
        collection: Option<RecordId>,
        page: &Page,
    ) -> Pending<'_, Vec<ContractCollection>> {
        let (limit, offset) = (page.page_size + 1, page.offset());
        self.read(move |mut session| {
            Box::pin(async move {
                let mut args = args![scope.project(), limit, offset];
                let of_collection = match collection {
                    None => "",
                    Some(collection) => {
                        require_collection(&mut session, scope, collection).await?;
                        args.extend(args![collection]);
                        "AND hosted_collection_id = $4"
                    }
                };
                let sql = format!(
                    "FROM contract_collections WHERE project_id = $1 {of_collection}
                    ORDER BY link_id LIMIT $2 OFFSET $3"
                );
                session.select(sql, args).await
            })
        })
    }

    /// Links a contract with another collection.
    pub fn update_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
        collection: RecordId,
        now: Timestamp,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, contract).await?;
                hold_hosted(&mut session, scope.project(), collection).await?;
                require_collection(&mut session, scope, collection).await?;
                let sql = "UPDATE contract_collections SET hosted_collection_id = $4
                    WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
                let args = args![scope.project(), contract.chain, contract.address, collection];
                if session.execute(sql, args).await? == 0 {
                    return Err(missing(contract));
                }
                put_link(&mut session, scope.project(), contract, collection).await?;
                ask(&mut session, contract, now).await
            })
        })
    }

    /// Unlinks a contract.
    pub fn delete_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
        now: Timestamp,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, contract).await?;
                for table in ["contract_collections", "contract_links"] {
                    let sql = format!(
                        "DELETE FROM {table} WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3"
                    );
                    let args = args![scope.project(), contract.chain, contract.address];
                    session.execute(sql, args).await?;
                }
                ask(&mut session, contract, now).await
            })
        })
    }
}

/// The projects that linked a contract. Whoever calls this holds the contract, and so does who links it.
pub(crate) async fn linking_projects(
    session: &mut Session<'_>,
    contract: CollectionKey,
) -> Result<Vec<ProjectId>, StoreError> {
    let sql = "SELECT project_id FROM contract_links WHERE chain_id = $1 AND contract_address = $2";
    session.values(sql, args![contract.chain, contract.address]).await
}

/// Forgets who linked what with a collection, whose links went with it. Before it was gone somebody might have linked one more.
pub(super) async fn forget_links(
    session: &mut Session<'_>,
    scope: ProjectScope,
    collection: RecordId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM contract_links WHERE project_id = $1 AND hosted_collection_id = $2";
    session.execute(sql, args![scope.project(), collection]).await.map(drop)
}

async fn put_link(
    session: &mut Session<'_>,
    project: ProjectId,
    contract: CollectionKey,
    collection: RecordId,
) -> Result<(), StoreError> {
    let link = ContractLink {
        chain_id: contract.chain,
        contract_address: contract.address,
        hosted_collection_id: collection,
    };
    session.insert(Insert::owned(project, [link])?, &or_replace::<ContractLink>(&[])).await
}

async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    contract: CollectionKey,
) -> Result<ContractCollection, StoreError> {
    let sql = "FROM contract_collections WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
    let args = args![scope.project(), contract.chain, contract.address];
    session.select_first(sql, args).await?.ok_or_else(|| missing(contract))
}

fn missing(contract: CollectionKey) -> StoreError {
    Error::not_found(format_args!("link of contract {}", contract.address)).into()
}
