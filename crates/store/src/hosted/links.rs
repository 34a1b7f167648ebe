//! Which contract's token metadata a hosted collection serves. A link is with its project, and once more in a table that tells
//! of a contract who linked it: that one is on the coordinator of a cluster, so that it needs no node.

use bourse_wire::{Address, ChainId, ContractCollection, Error, Page, ProjectId, RecordId};

use super::collections::require as require_collection;
use crate::args::args;
use crate::audit::Actor;
use crate::backend::{Pending, Sequence, Store};
use crate::collections::hold_contract;
use crate::columns::{Insert, or_nothing, or_replace, record};
use crate::market_projects::join_linked;
use crate::session::Session;
use crate::{CollectionKey, ProjectScope, StoreError};

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

impl Store {
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
                hold_contract(&mut session, contract).await?;
                put_link(&mut session, scope, contract, collection).await?;
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
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, contract).await?;
                require_collection(&mut session, scope, collection).await?;
                let sql = "UPDATE contract_collections SET hosted_collection_id = $4
                    WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
                let args = args![scope.project(), contract.chain, contract.address, collection];
                if session.execute(sql, args).await? == 0 {
                    return Err(missing(contract));
                }
                put_link(&mut session, scope, contract, collection).await
            })
        })
    }

    /// Unlinks a contract.
    pub fn delete_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
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
                Ok(())
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
    scope: ProjectScope,
    contract: CollectionKey,
    collection: RecordId,
) -> Result<(), StoreError> {
    let link = ContractLink {
        chain_id: contract.chain,
        contract_address: contract.address,
        hosted_collection_id: collection,
    };
    session.insert(Insert::owned(scope.project(), [link])?, &or_replace::<ContractLink>(&[])).await
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
