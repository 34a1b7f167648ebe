//! Grants: which projects are stewards of what all projects share.

use std::fmt;

use bourse_wire::{Address, ChainId, Error, ProjectId, Timestamp};

use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::collections::CollectionKey;
use crate::columns::{Insert, record};
use crate::hosted::ask_within;
use crate::revisions::Revision;
use crate::session::Session;
use crate::{ProjectScope, StoreError, projects};

/// What of the shared market a grant is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Subject {
    /// Tokens, balances and orders of collections, and following their chain.
    Collections,
    /// What contracts are called, and whether they are verified.
    Identity,
    /// Currencies and what they are worth.
    Currencies,
}

impl Subject {
    /// Every subject, in the order of their numbers.
    pub const ALL: &'static [Self] = &[Self::Collections, Self::Identity, Self::Currencies];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Collections => "collections",
            Self::Identity => "identity",
            Self::Currencies => "currencies",
        }
    }

    /// The subject of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|subject| subject.word() == word)
    }

    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// How far a grant reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// To all chains.
    Everywhere,
    /// To everything of one chain.
    Chain(ChainId),
    /// To one contract.
    Contract(CollectionKey),
}

/// That a project may state something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Of what.
    pub subject: Subject,
    /// How far.
    pub reach: Reach,
}

impl Grant {
    /// Whether it lets somebody state something of a contract.
    pub fn covers(&self, subject: Subject, contract: CollectionKey) -> bool {
        self.subject == subject
            && match self.reach {
                Reach::Everywhere => true,
                Reach::Chain(chain) => chain == contract.chain,
                Reach::Contract(granted) => granted == contract,
            }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.subject.word();
        match self.reach {
            Reach::Everywhere => write!(f, "{subject} of every chain"),
            Reach::Chain(chain) => write!(f, "{subject} of chain {chain}"),
            Reach::Contract(contract) => write!(f, "{subject} of {contract}"),
        }
    }
}

/// A grant as it is stored.
struct GrantRow {
    project: ProjectId,
    /// Number of the subject, which only a newer version of the program may know.
    subject: u8,
    chain: ChainId,
    contract: String,
    granted_at: Timestamp,
}

record! { GrantRow: "grants" ("project_id, subject, chain_id, contract_address") {
    project = "project_id",
    subject,
    chain = "chain_id",
    contract = "contract_address",
    granted_at,
} }

impl GrantRow {
    fn new(project: ProjectId, grant: Grant, granted_at: Timestamp) -> Self {
        let (chain, contract) = stored(grant.reach);
        Self { project, subject: grant.subject.number(), chain, contract, granted_at }
    }

    /// `None` for a right that this version of the program knows nothing of, so that nobody can use it here either.
    fn grant(&self) -> Result<Option<Grant>, StoreError> {
        let Some(subject) = Subject::from_number(self.subject) else { return Ok(None) };
        let reach = match (self.chain, self.contract.as_str()) {
            (ChainId(0), "") => Reach::Everywhere,
            (chain, "") => Reach::Chain(chain),
            (chain, address) => {
                let address: Address =
                    address.parse().map_err(|error| StoreError::corrupt("grant", error))?;
                Reach::Contract(CollectionKey { chain, address })
            }
        };
        Ok(Some(Grant { subject, reach }))
    }
}

/// Chain and contract as they are stored.
fn stored(reach: Reach) -> (ChainId, String) {
    match reach {
        Reach::Everywhere => (ChainId(0), String::new()),
        Reach::Chain(chain) => (chain, String::new()),
        Reach::Contract(CollectionKey { chain, address }) => (chain, address.to_string()),
    }
}

impl Store {
    /// What a project may state.
    pub fn grants(&self, scope: ProjectScope) -> Pending<'_, Vec<Grant>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM grants WHERE project_id = $1 ORDER BY subject, chain_id, contract_address";
                let rows: Vec<GrantRow> = session.select(sql, args![scope.project()]).await?;
                rows.iter().filter_map(|row| row.grant().transpose()).collect()
            })
        })
    }

    /// What every project may state.
    pub fn all_grants(&self) -> Pending<'_, Vec<(ProjectId, Grant)>> {
        self.read(|mut session| {
            Box::pin(async move {
                let rows: Vec<GrantRow> = session.select("FROM grants", args![]).await?;
                let grants = rows.iter().filter_map(|row| {
                    row.grant().map(|grant| grant.map(|grant| (row.project, grant))).transpose()
                });
                grants.collect()
            })
        })
    }

    /// Lets a project state something, from now on.
    pub fn add_grants(&self, scope: ProjectScope, grants: Vec<Grant>, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                projects::require(&mut session, scope.project()).await?;
                add(&mut session, scope.project(), grants, &actor).await
            })
        })
    }

    /// Takes a grant back. What was stated by right of it stays; what hosted collections say by right of it does not.
    pub fn remove_grant(&self, scope: ProjectScope, grant: Grant, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                Revision::Credentials.raise(&mut session).await?;
                let (chain, contract) = stored(grant.reach);
                let sql = "DELETE FROM grants
                    WHERE project_id = $1 AND subject = $2 AND chain_id = $3 AND contract_address = $4";
                let args = args![scope.project(), grant.subject.number(), chain, contract];
                if session.execute(sql, args).await? == 0 {
                    let project = scope.project();
                    return Err(Error::not_found(format_args!("such a grant of project {project}")).into());
                }
                // Hosted collections of the project no longer speak for what it may state nothing of.
                ask_within(&mut session, scope.project(), grant.reach, actor.at).await?;
                let entry = Entry::new(Act::GrantRemoved, grant).of(scope.project());
                audit::put(&mut session, &actor, entry).await
            })
        })
    }
}

async fn add(
    session: &mut Session<'_>,
    project: ProjectId,
    grants: Vec<Grant>,
    actor: &Actor,
) -> Result<(), StoreError> {
    Revision::Credentials.raise(session).await?;
    for grant in grants {
        let row = GrantRow::new(project, grant, actor.at);
        if session.insert_counting(Insert::of([row])?, "ON CONFLICT DO NOTHING").await? > 0 {
            ask_within(session, project, grant.reach, actor.at).await?;
            audit::put(session, actor, Entry::new(Act::GrantAdded, grant).of(project)).await?;
        }
    }
    Ok(())
}

/// Lets a project state everything if it is the only one: nobody else is there whose market it could bend.
pub(crate) async fn add_to_first(
    session: &mut Session<'_>,
    project: ProjectId,
    actor: &Actor,
) -> Result<(), StoreError> {
    if session.has("SELECT project_id FROM projects WHERE project_id <> $1 LIMIT 1", args![project]).await? {
        return Ok(());
    }
    let everything = Subject::ALL.iter().map(|subject| Grant { subject: *subject, reach: Reach::Everywhere });
    add(session, project, everything.collect(), actor).await
}
