//! Audiences with their contacts and linked contracts.

use std::collections::BTreeMap;

use bourse_wire::{
    Address, Audience, AudienceContract, ChainId, Contact, ContactInput, ContractSource, Error, RecordId,
    Text, Timestamp,
};

use crate::args::{Arg, args};
use crate::backend::{Sequence, Store};
use crate::row::Row;
use crate::session::{Session, list};
use crate::{ProjectScope, StoreError};

/// An audience with everything in it.
#[derive(Clone, Debug, PartialEq)]
pub struct AudienceView {
    /// The audience itself.
    pub audience: Audience,
    /// Its contacts, oldest first.
    pub contacts: Vec<Contact>,
    /// Its linked contracts, oldest first.
    pub contracts: Vec<AudienceContract>,
}

/// An audience to make or to add to, known by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct AudienceImport {
    /// Name.
    pub name: Text<256>,
    /// Contacts to add.
    pub contacts: Vec<ContactInput>,
    /// Contracts to link.
    pub contracts: Vec<AudienceContractInput>,
}

/// A contract to link with an audience. A contract is known by its chain and address.
#[derive(Clone, Debug, PartialEq)]
pub struct AudienceContractInput {
    /// Chain.
    pub chain: ChainId,
    /// Address.
    pub address: Address,
    /// Name.
    pub name: String,
    /// Kind of contract.
    pub contract_type: String,
    /// How the project came by it.
    pub source: ContractSource,
    /// For a sale contract, the contract of the items sold.
    pub items_contract_address: Option<Address>,
    /// ABI as JSON text.
    pub abi: String,
    /// Code in hexadecimal.
    pub bytecode: String,
    /// Hash of the code.
    pub bytecode_hash: String,
}

const AUDIENCE_COLUMNS: &str = "SELECT audience_id, name, created_at, updated_at,
    (SELECT COUNT(*) FROM audience_contacts WHERE audience_contacts.project_id = audiences.project_id
        AND audience_contacts.audience_id = audiences.audience_id)
    FROM audiences WHERE project_id = $1";

impl Store {
    /// A project's audiences, oldest first.
    pub async fn audiences(&self, scope: ProjectScope) -> Result<Vec<Audience>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = format!("{AUDIENCE_COLUMNS} ORDER BY audience_id");
                let rows = session.all(sql, args![scope.project()]).await?;
                rows.iter().map(|row| audience(scope, row)).collect()
            })
        })
        .await
    }

    /// An audience with its contacts and contracts, read from one state of the database.
    pub async fn audience(&self, scope: ProjectScope, id: RecordId) -> Result<AudienceView, StoreError> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let audience = require(&mut session, scope, id).await?;
                let contacts = contacts_of(&mut session, scope, id).await?;
                let contracts = contracts_of(&mut session, scope, id).await?;
                Ok(AudienceView { audience, contacts, contracts })
            })
        })
        .await
    }

    /// Makes an audience. Names are told apart within a project.
    pub async fn create_audience(
        &self,
        scope: ProjectScope,
        name: Text<256>,
        now: Timestamp,
    ) -> Result<Audience, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                crate::projects::require(&mut session, scope.project()).await?;
                let sql = "INSERT INTO audiences (project_id, audience_id, name, created_at, updated_at)
                    VALUES ($1, $2, $3, $4, $4) ON CONFLICT (project_id, name) DO NOTHING";
                let id = session.next_id(Sequence::Audience).await?;
                if session.execute(sql, args![scope.project(), id, name.as_str(), now]).await? == 0 {
                    return Err(name_taken(name.as_str()));
                }
                let id = id.try_into().map_err(|error| StoreError::corrupt("audience id", error))?;
                require(&mut session, scope, id).await
            })
        })
        .await
    }

    /// Renames an audience.
    pub async fn update_audience(
        &self,
        scope: ProjectScope,
        id: RecordId,
        name: Text<256>,
        now: Timestamp,
    ) -> Result<Audience, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                if find_by_name(&mut session, scope, name.as_str()).await?.is_some_and(|other| other != id) {
                    return Err(name_taken(name.as_str()));
                }
                let sql = "UPDATE audiences SET name = $3, updated_at = $4
                    WHERE project_id = $1 AND audience_id = $2";
                session.execute(sql, args![scope.project(), id, name.as_str(), now]).await?;
                require(&mut session, scope, id).await
            })
        })
        .await
    }

    /// Deletes an audience with its contacts and contract links.
    pub async fn delete_audience(&self, scope: ProjectScope, id: RecordId) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                let sql = "DELETE FROM audiences WHERE project_id = $1 AND audience_id = $2";
                session.execute(sql, args![scope.project(), id]).await.map(drop)
            })
        })
        .await
    }

    /// Adds contacts, all or none. A contact that is there already takes the new name and e-mail.
    pub async fn add_contacts(
        &self,
        scope: ProjectScope,
        id: RecordId,
        contacts: Vec<ContactInput>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                put_contacts(&mut session, scope, id, contacts, now).await
            })
        })
        .await
    }

    /// Removes contacts; those that are not there are no error.
    pub async fn remove_contacts(
        &self,
        scope: ProjectScope,
        id: RecordId,
        contacts: Vec<RecordId>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                if contacts.is_empty() {
                    return Ok(0);
                }
                let sql = format!(
                    "DELETE FROM audience_contacts WHERE project_id = $1 AND audience_id = $2 AND contact_id IN ({})",
                    list(contacts.len(), 2)
                );
                let mut args = args![scope.project(), id];
                args.extend(contacts.into_iter().map(Arg::from));
                let removed = session.execute(sql, args).await?;
                touch(&mut session, scope, id, now).await?;
                Ok(removed)
            })
        })
        .await
    }

    /// Makes an audience of this name or adds to the one there is; tells how many records are different now.
    pub async fn import_audience(
        &self,
        scope: ProjectScope,
        import: AudienceImport,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let AudienceImport { name, contacts, contracts } = import;
        self.write(move |mut session| {
            Box::pin(async move {
                crate::projects::require(&mut session, scope.project()).await?;
                let id = session.next_id(Sequence::Audience).await?;
                let sql = "INSERT INTO audiences (project_id, audience_id, name, created_at, updated_at)
                    VALUES ($1, $2, $3, $4, $4) ON CONFLICT (project_id, name) DO NOTHING";
                let made = session.execute(sql, args![scope.project(), id, name.as_str(), now]).await?;
                let id = find_by_name(&mut session, scope, name.as_str())
                    .await?
                    .ok_or_else(|| StoreError::corrupt("audience", "made and gone"))?;
                let contacts = put_contacts(&mut session, scope, id, contacts, now).await?;
                let contracts = put_contracts(&mut session, scope, id, contracts, now).await?;
                Ok(made + contacts + contracts)
            })
        })
        .await
    }
}

fn name_taken(name: &str) -> StoreError {
    Error::conflict(format!("an audience named `{name}` exists: names are told apart within a project"))
        .into()
}

async fn find_by_name(
    session: &mut Session<'_>,
    scope: ProjectScope,
    name: &str,
) -> Result<Option<RecordId>, StoreError> {
    let sql = "SELECT audience_id FROM audiences WHERE project_id = $1 AND name = $2";
    let row = session.first(sql, args![scope.project(), name]).await?;
    row.map(|row| row.id(0, "audience id")).transpose()
}

async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<Audience, StoreError> {
    let sql = format!("{AUDIENCE_COLUMNS} AND audience_id = $2");
    let row = session.first(sql, args![scope.project(), id]).await?;
    audience(scope, &row.ok_or_else(|| Error::not_found(format_args!("audience {id}")))?)
}

async fn touch(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE audiences SET updated_at = $3 WHERE project_id = $1 AND audience_id = $2";
    session.execute(sql, args![scope.project(), id, now]).await.map(drop)
}

async fn put_contacts(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
    contacts: Vec<ContactInput>,
    now: Timestamp,
) -> Result<u64, StoreError> {
    // Of two contacts with one address the later counts; a statement must not touch a row twice.
    let latest: BTreeMap<Address, ContactInput> =
        contacts.into_iter().map(|contact| (contact.address, contact)).collect();
    let ids = session.next_ids(Sequence::Contact, latest.len() as u64).await?;
    let rows = latest
        .into_values()
        .zip(ids)
        .map(|(contact, contact_id)| {
            let name = contact.name.unwrap_or_default().into_string();
            let email = contact.email.map(|email| email.to_string()).unwrap_or_default();
            args![scope.project(), contact_id, id, contact.address, name, email, now, now]
        })
        .collect();
    let head = "INSERT INTO audience_contacts
        (project_id, contact_id, audience_id, address, name, email, created_at, updated_at)";
    let tail = "ON CONFLICT (project_id, audience_id, address) DO UPDATE SET
        name = excluded.name, email = excluded.email, updated_at = excluded.updated_at
        WHERE (audience_contacts.name, audience_contacts.email) <> (excluded.name, excluded.email)
        RETURNING contact_id";
    let changed = session.insert(head, tail, rows).await?.len() as u64;
    if changed > 0 {
        touch(session, scope, id, now).await?;
    }
    Ok(changed)
}

async fn put_contracts(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
    contracts: Vec<AudienceContractInput>,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let latest: BTreeMap<(ChainId, Address), AudienceContractInput> =
        contracts.into_iter().map(|contract| ((contract.chain, contract.address), contract)).collect();
    let ids = session.next_ids(Sequence::Contract, latest.len() as u64).await?;
    let rows = latest
        .into_values()
        .zip(ids)
        .map(|(contract, contract_id)| {
            args![
                scope.project(),
                contract_id,
                id,
                contract.chain,
                contract.address,
                contract.name,
                contract.contract_type,
                contract.source.word(),
                contract.items_contract_address,
                contract.abi,
                contract.bytecode,
                contract.bytecode_hash,
                now,
                now,
            ]
        })
        .collect();
    let head = "INSERT INTO audience_contracts (project_id, contract_id, audience_id, chain_id, contract_address,
        contract_name, contract_type, source, items_contract_address, abi, bytecode, bytecode_hash, created_at,
        updated_at)";
    let tail = "ON CONFLICT (project_id, audience_id, chain_id, contract_address) DO UPDATE SET
        contract_name = excluded.contract_name, contract_type = excluded.contract_type, source = excluded.source,
        items_contract_address = excluded.items_contract_address, abi = excluded.abi, bytecode = excluded.bytecode,
        bytecode_hash = excluded.bytecode_hash, updated_at = excluded.updated_at
        WHERE (audience_contracts.contract_name, audience_contracts.contract_type, audience_contracts.source,
            COALESCE(audience_contracts.items_contract_address, ''), audience_contracts.abi,
            audience_contracts.bytecode, audience_contracts.bytecode_hash)
            <> (excluded.contract_name, excluded.contract_type, excluded.source,
            COALESCE(excluded.items_contract_address, ''), excluded.abi, excluded.bytecode, excluded.bytecode_hash)
        RETURNING contract_id";
    Ok(session.insert(head, tail, rows).await?.len() as u64)
}

async fn contacts_of(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<Vec<Contact>, StoreError> {
    let sql = "SELECT contact_id, name, address, email, created_at, updated_at FROM audience_contacts
        WHERE project_id = $1 AND audience_id = $2 ORDER BY contact_id";
    let rows = session.all(sql, args![scope.project(), id]).await?;
    let contact = |row: &Row| {
        Ok(Contact {
            id: row.id(0, "contact id")?,
            audience_id: id,
            name: row.text(1)?,
            address: row.parse(2, "contact address")?,
            email: row.text(3)?,
            created_at: row.parse(4, "contact time")?,
            updated_at: row.parse(5, "contact time")?,
        })
    };
    rows.iter().map(contact).collect()
}

async fn contracts_of(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<Vec<AudienceContract>, StoreError> {
    let sql = "SELECT contract_id, contract_name, contract_address, contract_type, chain_id, source,
        items_contract_address, abi, bytecode, bytecode_hash, created_at, updated_at FROM audience_contracts
        WHERE project_id = $1 AND audience_id = $2 ORDER BY contract_id";
    let rows = session.all(sql, args![scope.project(), id]).await?;
    let contract = |row: &Row| {
        Ok(AudienceContract {
            id: row.id(0, "contract id")?,
            project_id: scope.project(),
            contract_name: row.text(1)?,
            contract_address: row.parse(2, "contract address")?,
            contract_type: row.text(3)?,
            chain_id: ChainId(row.u64(4, "chain id")?),
            source: row.parse(5, "contract source")?,
            items_contract_address: row.opt_parse(6, "contract address")?,
            abi: row.text(7)?,
            bytecode: row.text(8)?,
            bytecode_hash: row.text(9)?,
            audience_id: id,
            created_at: row.parse(10, "contract time")?,
            updated_at: row.parse(11, "contract time")?,
        })
    };
    rows.iter().map(contract).collect()
}

fn audience(scope: ProjectScope, row: &Row) -> Result<Audience, StoreError> {
    Ok(Audience {
        id: row.id(0, "audience id")?,
        project_id: scope.project(),
        name: row.text(1)?,
        created_at: row.parse(2, "audience time")?,
        updated_at: row.parse(3, "audience time")?,
        contact_count: row.u64(4, "contact count")?,
    })
}
