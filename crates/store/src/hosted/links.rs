//! Which contract's token metadata a hosted collection serves.

use bourse_wire::{Address, ChainId, ContractCollection, Error, Page, RecordId};

use super::collections::require as require_collection;
use crate::args::args;
use crate::backend::{Sequence, Store};
use crate::collections::find;
use crate::market_projects::join_linked;
use crate::row::Row;
use crate::session::Session;
use crate::{CollectionKey, ProjectScope, StoreError};

const COLUMNS: &str = "SELECT link_id, chain_id, contract_address, hosted_collection_id
    FROM contract_collections WHERE project_id = $1";

impl Store {
    /// Links a contract with a collection.
    pub async fn create_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
        collection: RecordId,
    ) -> Result<ContractCollection, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require_collection(&mut session, scope, collection).await?;
                let id = session.next_id(Sequence::Link).await?;
                let sql = "INSERT INTO contract_collections
                    (project_id, link_id, chain_id, contract_address, hosted_collection_id)
                    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project_id, chain_id, contract_address) DO NOTHING";
                let args = args![scope.project(), id, contract.chain, contract.address, collection];
                if session.execute(sql, args).await? == 0 {
                    let reason = format!("contract {} is linked already: update the link instead", contract.address);
                    return Err(Error::conflict(reason).into());
                }
                let id = find(&mut session, contract).await?;
                join_linked(&mut session, scope.project(), id).await?;
                require(&mut session, scope, contract).await
            })
        })
        .await
    }

    /// The link of a contract.
    pub async fn contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
    ) -> Result<ContractCollection, StoreError> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, scope, contract).await }))
            .await
    }

    /// One page of a project's links, or of one collection's, oldest first, read one beyond the page.
    pub async fn contract_collections(
        &self,
        scope: ProjectScope,
        collection: Option<RecordId>,
        page: &Page,
    ) -> Result<Vec<ContractCollection>, StoreError> {
        let (limit, offset) = (page.page_size + 1, page.offset());
        self.read(move |mut session| {
            Box::pin(async move {
                let (sql, args) = match collection {
                    None => {
                        let sql = format!("{COLUMNS} ORDER BY link_id LIMIT $2 OFFSET $3");
                        (sql, args![scope.project(), limit, offset])
                    }
                    Some(collection) => {
                        require_collection(&mut session, scope, collection).await?;
                        let sql = format!(
                            "{COLUMNS} AND hosted_collection_id = $4 ORDER BY link_id LIMIT $2 OFFSET $3"
                        );
                        (sql, args![scope.project(), limit, offset, collection])
                    }
                };
                session.all(sql, args).await?.iter().map(link).collect()
            })
        })
        .await
    }

    /// Links a contract with another collection.
    pub async fn update_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
        collection: RecordId,
    ) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, contract).await?;
                require_collection(&mut session, scope, collection).await?;
                let sql = "UPDATE contract_collections SET hosted_collection_id = $4
                    WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
                let args = args![scope.project(), contract.chain, contract.address, collection];
                session.execute(sql, args).await.map(drop)
            })
        })
        .await
    }

    /// Unlinks a contract.
    pub async fn delete_contract_collection(
        &self,
        scope: ProjectScope,
        contract: CollectionKey,
    ) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, contract).await?;
                let sql = "DELETE FROM contract_collections
                    WHERE project_id = $1 AND chain_id = $2 AND contract_address = $3";
                session.execute(sql, args![scope.project(), contract.chain, contract.address]).await.map(drop)
            })
        })
        .await
    }
}

async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    contract: CollectionKey,
) -> Result<ContractCollection, StoreError> {
    let sql = format!("{COLUMNS} AND chain_id = $2 AND contract_address = $3");
    let row = session.first(sql, args![scope.project(), contract.chain, contract.address]).await?;
    let missing = || Error::not_found(format_args!("link of contract {}", contract.address));
    link(&row.ok_or_else(missing)?)
}

fn link(row: &Row) -> Result<ContractCollection, StoreError> {
    Ok(ContractCollection {
        id: row.id(0, "link id")?,
        chain_id: ChainId(row.u64(1, "chain id")?),
        contract_address: row.parse::<Address>(2, "contract address")?,
        collection_id: row.id(3, "collection id")?,
    })
}
