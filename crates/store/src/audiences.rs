//! Audiences with their contacts and linked contracts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use bourse_wire::{
    Address, Audience, AudienceContract, ChainId, Code, Contact, ContactInput, ContractSource, Error,
    ProjectId, RecordId, Text, Timestamp,
};

use crate::args::{Arg, args};
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Insert, or_replace_different, record, selection};
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

/// What is to be different of an audience; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AudienceChanges {
    /// Its name.
    pub name: Option<Text<256>>,
    /// Whether wallets may sign themselves up.
    pub registration_open: Option<bool>,
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

// The project is the first argument of every statement that selects these: a subquery that took it from the row beside it
// would ask all nodes of a cluster.
selection! { Audience {
    id = "audience_id",
    project_id,
    name,
    registration_open,
    created_at,
    updated_at,
    deleted_at = "CAST(NULL AS TEXT)",
    contact_count = "(SELECT COUNT(*) FROM audience_contacts
        WHERE audience_contacts.project_id = $1
        AND audience_contacts.audience_id = audiences.audience_id)",
} }

selection! {
    /// An audience whose contacts are read anyway.
    struct Uncounted {
        id: RecordId = "audiences.audience_id",
        project_id: ProjectId = "audiences.project_id",
        name: String = "audiences.name",
        registration_open: bool = "audiences.registration_open",
        created_at: Timestamp = "audiences.created_at",
        updated_at: Timestamp = "audiences.updated_at",
    }
}

record! {
    struct ContactRow: "audience_contacts" ("project_id, audience_id, address") {
        contact_id: RecordId,
        audience_id: RecordId,
        address: Address,
        name: String,
        email: String,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

record! {
    struct ContractRow: "audience_contracts" ("project_id, audience_id, chain_id, contract_address") {
        contract_id: RecordId,
        audience_id: RecordId,
        chain_id: ChainId,
        contract_address: Address,
        contract_name: String,
        contract_type: String,
        source: ContractSource,
        items_contract_address: Option<Address>,
        abi: String,
        bytecode: String,
        bytecode_hash: String,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

/// Rows with a contact each, and rows with a contract each: one at least of either part, for the audience.
const VIEW: &str = "FROM audiences CROSS JOIN (SELECT 1 AS part UNION ALL SELECT 2) AS parts
    LEFT JOIN audience_contacts ON parts.part = 1 AND audience_contacts.project_id = audiences.project_id
    AND audience_contacts.audience_id = audiences.audience_id
    LEFT JOIN audience_contracts ON parts.part = 2 AND audience_contracts.project_id = audiences.project_id
    AND audience_contracts.audience_id = audiences.audience_id
    WHERE audiences.project_id = $1 AND audiences.audience_id = $2
    ORDER BY audience_contacts.contact_id, audience_contracts.contract_id";

type ViewRow = (Uncounted, Option<ContactRow>, Option<ContractRow>);

/// An audience out of the rows that [`VIEW`] gives; none where there are none.
fn view_of(scope: ProjectScope, rows: Vec<ViewRow>) -> Option<AudienceView> {
    let (mut audience, mut contacts, mut contracts) = (None, Vec::new(), Vec::new());
    for (found, contact, contract) in rows {
        audience = Some(found);
        contacts.extend(contact.map(ContactRow::contact));
        contracts.extend(contract.map(|contract| contract.linked(scope.project())));
    }
    let Uncounted { id, project_id, name, registration_open, created_at, updated_at } = audience?;
    let contact_count = contacts.len() as u64;
    let deleted_at = None;
    let audience = Audience {
        id,
        project_id,
        name,
        contact_count,
        registration_open,
        created_at,
        updated_at,
        deleted_at,
    };
    Some(AudienceView { audience, contacts, contracts })
}

impl ContactRow {
    fn contact(self) -> Contact {
        let Self { contact_id: id, audience_id, address, name, email, created_at, updated_at } = self;
        Contact { id, audience_id, name, address, email, created_at, updated_at }
    }
}

impl ContractRow {
    fn linked(self, project_id: ProjectId) -> AudienceContract {
        AudienceContract {
            id: self.contract_id,
            project_id,
            contract_name: self.contract_name,
            contract_address: self.contract_address,
            contract_type: self.contract_type,
            chain_id: self.chain_id,
            source: self.source,
            items_contract_address: self.items_contract_address,
            abi: self.abi,
            bytecode: self.bytecode,
            bytecode_hash: self.bytecode_hash,
            audience_id: self.audience_id,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// Somebody who signs up.
#[derive(Clone, Debug)]
pub struct Registration {
    /// What they say of themselves.
    pub contact: ContactInput,
    /// Contacts that the audience may have.
    pub contacts_max: u64,
}

impl Store {
    /// A project's audiences, oldest first.
    pub fn audiences(&self, scope: ProjectScope) -> Pending<'_, Vec<Audience>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM audiences WHERE project_id = $1 ORDER BY audience_id";
                session.select(sql, args![scope.project()]).await
            })
        })
    }

    /// An audience with its contacts and contracts, read from one state of the database: by one statement, which need not begin
    /// anything and end it.
    pub fn audience(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, AudienceView> {
        self.read(move |mut session| {
            Box::pin(async move {
                let rows = session.select(VIEW, args![scope.project(), id]).await?;
                view_of(scope, rows).ok_or_else(|| missing(id))
            })
        })
    }

    /// Makes an audience. Names are told apart within a project. Nobody may sign up to it but by the project's word.
    pub fn create_audience(
        &self,
        scope: ProjectScope,
        name: Text<256>,
        now: Timestamp,
    ) -> Pending<'_, Audience> {
        self.create(scope, name, false, now)
    }

    /// Makes an audience to which wallets may sign themselves up.
    pub fn create_open_audience(
        &self,
        scope: ProjectScope,
        name: Text<256>,
        now: Timestamp,
    ) -> Pending<'_, Audience> {
        self.create(scope, name, true, now)
    }

    fn create(
        &self,
        scope: ProjectScope,
        name: Text<256>,
        is_open: bool,
        now: Timestamp,
    ) -> Pending<'_, Audience> {
        self.write(move |mut session| {
            Box::pin(async move {
                crate::projects::require(&mut session, scope.project()).await?;
                let sql = "INSERT INTO audiences (project_id, audience_id, name, registration_open, created_at, updated_at)
                    VALUES ($1, $2, $3, $5, $4, $4) ON CONFLICT (project_id, name) DO NOTHING";
                let id = session.next_id(Sequence::Audience).await?;
                let args = args![scope.project(), id, name.as_str(), now, is_open];
                if session.execute(sql, args).await? == 0 {
                    return Err(name_taken(name.as_str()));
                }
                let id = id.try_into().map_err(|error| StoreError::corrupt("audience id", error))?;
                require(&mut session, scope, id).await
            })
        })
    }

    /// Changes the name of an audience, or whether wallets may sign themselves up.
    pub fn update_audience(
        &self,
        scope: ProjectScope,
        id: RecordId,
        changes: AudienceChanges,
        now: Timestamp,
    ) -> Pending<'_, Audience> {
        self.write(move |mut session| {
            Box::pin(async move {
                let before = require(&mut session, scope, id).await?;
                let name = changes.name.map_or(before.name, Text::into_string);
                if find_by_name(&mut session, scope, &name).await?.is_some_and(|other| other != id) {
                    return Err(name_taken(&name));
                }
                let is_open = changes.registration_open.unwrap_or(before.registration_open);
                let sql = "UPDATE audiences SET name = $3, registration_open = $5, updated_at = $4
                    WHERE project_id = $1 AND audience_id = $2";
                session.execute(sql, args![scope.project(), id, name, now, is_open]).await?;
                require(&mut session, scope, id).await
            })
        })
    }

    /// Deletes an audience with its contacts and contract links.
    pub fn delete_audience(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                let sql = "DELETE FROM audiences WHERE project_id = $1 AND audience_id = $2";
                session.execute(sql, args![scope.project(), id]).await.map(drop)
            })
        })
    }

    /// Adds contacts, all or none. A contact that is there already takes the new name and e-mail.
    pub fn add_contacts(
        &self,
        scope: ProjectScope,
        id: RecordId,
        contacts: Vec<ContactInput>,
        now: Timestamp,
    ) -> Pending<'_, u64> {
        self.write(move |mut session| {
            Box::pin(async move {
                require(&mut session, scope, id).await?;
                put_contacts(&mut session, scope, id, contacts, now).await
            })
        })
    }

    /// Refuses an audience that is not open for registration.
    pub fn check_registration(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, ()> {
        self.read(move |mut session| Box::pin(async move { require_open(&mut session, scope, id).await }))
    }

    /// Signs somebody up to an audience that is open for that, or changes what they said of themselves: what they leave out
    /// stays as it is. Nobody new is taken where there are so many already.
    pub fn register_contact(
        &self,
        scope: ProjectScope,
        id: RecordId,
        registration: Registration,
        now: Timestamp,
    ) -> Pending<'_, ()> {
        let Registration { contact, contacts_max } = registration;
        self.write(move |mut session| {
            Box::pin(async move {
                require_open(&mut session, scope, id).await?;
                let known = find_contact(&mut session, scope, id, contact.address).await?;
                if known.is_none() && has_contacts(&mut session, scope, id, contacts_max).await? {
                    let message = format!("audience {id} is full: no more than {contacts_max} can sign up");
                    return Err(Error::conflict(message).into());
                }
                let (name, email) = match known {
                    Some(ContactRow { name, email, .. }) => {
                        (said_before("contact name", &name)?, said_before("contact e-mail", &email)?)
                    }
                    None => (None, None),
                };
                let contact = ContactInput {
                    address: contact.address,
                    name: contact.name.or(name),
                    email: contact.email.or(email),
                };
                put_contacts(&mut session, scope, id, vec![contact], now).await.map(drop)
            })
        })
    }

    /// The contact of a wallet in an audience that is open for registration.
    pub fn registered_contact(
        &self,
        scope: ProjectScope,
        id: RecordId,
        address: Address,
    ) -> Pending<'_, Option<Contact>> {
        self.read(move |mut session| {
            Box::pin(async move {
                require_open(&mut session, scope, id).await?;
                Ok(find_contact(&mut session, scope, id, address).await?.map(ContactRow::contact))
            })
        })
    }

    /// How many contacts an audience has that is open for registration.
    pub fn registered_count(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, u64> {
        self.read(move |mut session| {
            Box::pin(async move {
                require_open(&mut session, scope, id).await?;
                let sql = "SELECT COUNT(*) FROM audience_contacts WHERE project_id = $1 AND audience_id = $2";
                Ok(session.value(sql, args![scope.project(), id]).await?.unwrap_or(0))
            })
        })
    }

    /// Removes contacts; those that are not there are no error.
    pub fn remove_contacts(
        &self,
        scope: ProjectScope,
        id: RecordId,
        contacts: Vec<RecordId>,
        now: Timestamp,
    ) -> Pending<'_, u64> {
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
    }

    /// Makes an audience of this name or adds to the one there is; tells how many records are different now.
    pub fn import_audience(
        &self,
        scope: ProjectScope,
        import: AudienceImport,
        now: Timestamp,
    ) -> Pending<'_, u64> {
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
    session.value(sql, args![scope.project(), name]).await
}

async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<Audience, StoreError> {
    let sql = "FROM audiences WHERE project_id = $1 AND audience_id = $2";
    let found = session.select_first(sql, args![scope.project(), id]).await?;
    found.ok_or_else(|| missing(id))
}

/// Refuses an audience to which nobody may sign up.
async fn require_open(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<(), StoreError> {
    let sql = "SELECT registration_open FROM audiences WHERE project_id = $1 AND audience_id = $2";
    let is_open: Option<bool> = session.value(sql, args![scope.project(), id]).await?;
    if is_open.ok_or_else(|| missing(id))? {
        return Ok(());
    }
    Err(Error::new(Code::PermissionDenied, format!("audience {id} is not open for registration")).into())
}

async fn find_contact(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
    address: Address,
) -> Result<Option<ContactRow>, StoreError> {
    let sql = "FROM audience_contacts WHERE project_id = $1 AND audience_id = $2 AND address = $3";
    session.select_first(sql, args![scope.project(), id, address]).await
}

/// Whether an audience has so many contacts, of which no more are counted.
async fn has_contacts(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
    count: u64,
) -> Result<bool, StoreError> {
    let sql = "SELECT COUNT(*) FROM (
            SELECT address FROM audience_contacts WHERE project_id = $1 AND audience_id = $2 LIMIT $3
        ) AS counted";
    let some: Option<u64> = session.value(sql, args![scope.project(), id, count]).await?;
    Ok(some.unwrap_or(0) >= count)
}

/// What is stored of a contact, as it was read when it came; nothing where nothing was said.
fn said_before<T: FromStr<Err: fmt::Display>>(
    what: &'static str,
    text: &str,
) -> Result<Option<T>, StoreError> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error| StoreError::corrupt(what, error))
}

fn missing(id: RecordId) -> StoreError {
    Error::not_found(format_args!("audience {id}")).into()
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

fn record_ids(ids: Vec<u64>) -> Result<Vec<RecordId>, StoreError> {
    let record_id = |id| RecordId::try_from(id).map_err(|error| StoreError::corrupt("record id", error));
    ids.into_iter().map(record_id).collect()
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
    let ids = record_ids(session.next_ids(Sequence::Contact, latest.len() as u64).await?)?;
    let contacts = latest.into_values().zip(ids).map(|(contact, contact_id)| ContactRow {
        contact_id,
        audience_id: id,
        address: contact.address,
        name: contact.name.unwrap_or_default().into_string(),
        email: contact.email.map(|email| email.to_string()).unwrap_or_default(),
        created_at: now,
        updated_at: now,
    });
    let replace = or_replace_different::<ContactRow>(&["contact_id", "created_at"], &["updated_at"]);
    let changed = session.insert_counting(Insert::owned(scope.project(), contacts)?, &replace).await?;
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
    let ids = record_ids(session.next_ids(Sequence::Contract, latest.len() as u64).await?)?;
    let contracts = latest.into_values().zip(ids).map(|(contract, contract_id)| ContractRow {
        contract_id,
        audience_id: id,
        chain_id: contract.chain,
        contract_address: contract.address,
        contract_name: contract.name,
        contract_type: contract.contract_type,
        source: contract.source,
        items_contract_address: contract.items_contract_address,
        abi: contract.abi,
        bytecode: contract.bytecode,
        bytecode_hash: contract.bytecode_hash,
        created_at: now,
        updated_at: now,
    });
    let replace = or_replace_different::<ContractRow>(&["contract_id", "created_at"], &["updated_at"]);
    session.insert_counting(Insert::owned(scope.project(), contracts)?, &replace).await
}
