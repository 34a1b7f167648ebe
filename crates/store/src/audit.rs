//! The audit log: who administered what, when, and from where. An entry is written in the transaction of the act, so that
//! there is neither without the other. It names no secrets, and outlives whom it names.

use std::fmt;
use std::net::IpAddr;

use bourse_wire::{ProjectId, RecordId, Timestamp};

use crate::StoreError;
use crate::args::args;
use crate::attributions::{CredentialId, Sender};
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Insert, record};
use crate::extent::Extent;
use crate::metadata_queue::{instant, millis};
use crate::people::Account;
use crate::session::Session;

/// Who administers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The service itself, as its settings say.
    Service,
    /// Whoever has the command line, where the service runs.
    CommandLine,
    /// Somebody in the console.
    Account {
        /// Number of their account.
        id: RecordId,
        /// By which they signed in.
        email: String,
    },
    /// A program, with a credential of a project.
    Program(Sender),
    /// Somebody whom only a newer version of the program knows, by their number there.
    Unknown(u8),
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service => f.write_str("the service"),
            Self::CommandLine => f.write_str("command line"),
            Self::Account { email, .. } => f.write_str(email),
            Self::Program(sender) => sender.fmt(f),
            Self::Unknown(_) => f.write_str("somebody whom only a newer version knows"),
        }
    }
}

impl Identity {
    /// Its kind in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::CommandLine => "command-line",
            Self::Account { .. } => "account",
            Self::Program(_) => "program",
            Self::Unknown(_) => "unknown",
        }
    }

    fn number(&self) -> u8 {
        match self {
            Self::Service => SERVICE,
            Self::CommandLine => COMMAND_LINE,
            Self::Account { .. } => ACCOUNT,
            Self::Program(_) => PROGRAM,
            Self::Unknown(number) => *number,
        }
    }
}

const SERVICE: u8 = 0;
const COMMAND_LINE: u8 = 1;
const ACCOUNT: u8 = 2;
const PROGRAM: u8 = 3;

/// Who does an administrative act, when, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Who.
    pub identity: Identity,
    /// From which address, where there is one.
    pub address: Option<IpAddr>,
    /// When.
    pub at: Timestamp,
}

impl Actor {
    /// The operator, from the command line.
    pub fn command_line(at: Timestamp) -> Self {
        Self { identity: Identity::CommandLine, address: None, at }
    }

    /// The service itself.
    pub fn service(at: Timestamp) -> Self {
        Self { identity: Identity::Service, address: None, at }
    }

    /// Somebody in the console.
    pub fn account(account: &Account, address: Option<IpAddr>, at: Timestamp) -> Self {
        let identity = Identity::Account { id: account.id, email: account.email.clone() };
        Self { identity, address, at }
    }
}

/// Declares the acts: each with its word in the log, and what is said of who did it.
macro_rules! acts {
    ($($(#[$meta:meta])* $act:ident = $word:literal, $sentence:literal;)*) => {
        /// An administrative act. Every one there is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Act {
            $($(#[$meta])* $act,)*
        }

        impl Act {
            /// Every act.
            pub const ALL: &'static [Self] = &[$(Self::$act),*];

            /// Its word, as it is stored and exported.
            pub fn word(self) -> &'static str {
                match self { $(Self::$act => $word,)* }
            }

            /// What was done, for people.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$act => $sentence,)* }
            }
        }
    };
}

acts! {
    /// A project was made.
    ProjectCreated = "project-created", "made a project";
    /// A project got another name.
    ProjectRenamed = "project-renamed", "renamed a project";
    /// A project was given an access key.
    KeyCreated = "key-created", "made an access key";
    /// An access key took the place of another.
    KeyRotated = "key-rotated", "rotated an access key";
    /// An access key got another name or other limits.
    KeyChanged = "key-changed", "changed an access key";
    /// An access key was stopped from working.
    KeyDisabled = "key-disabled", "disabled an access key";
    /// A project was given a secret token.
    TokenCreated = "token-created", "made a secret token";
    /// A secret token was stopped from working.
    TokenRevoked = "token-revoked", "revoked a secret token";
    /// A project may state something from then on.
    GrantAdded = "grant-added", "granted";
    /// A project may no longer state something.
    GrantRemoved = "grant-removed", "took a grant back";
    /// Somebody was invited.
    InviteCreated = "invite-created", "invited somebody";
    /// An invitation was taken back.
    InviteRevoked = "invite-revoked", "revoked an invitation";
    /// An invitation was accepted.
    InviteAccepted = "invite-accepted", "accepted an invitation";
    /// Somebody got an account.
    AccountCreated = "account-created", "made an account";
    /// An account was removed.
    AccountRemoved = "account-removed", "removed an account";
    /// An account got another password.
    PasswordChanged = "password-changed", "changed a password";
    /// An account asks for a second factor from then on.
    SecondFactorOn = "second-factor-on", "switched a second factor on";
    /// The password alone lets somebody in again.
    SecondFactorOff = "second-factor-off", "switched a second factor off";
    /// An account got other recovery codes.
    RecoveryCodesRenewed = "recovery-codes-renewed", "renewed recovery codes";
    /// Somebody signed in.
    SignedIn = "signed-in", "signed in";
    /// Somebody was not let in, once or more often within an hour.
    SignInRefused = "sign-in-refused", "refused to sign somebody in";
    /// Somebody ended all their sessions.
    SessionsEnded = "sessions-ended", "ended all sessions";
    /// A member may do something else.
    RoleChanged = "role-changed", "changed the role of a member";
    /// A member was taken out of a project.
    MemberRemoved = "member-removed", "removed a member";
    /// The chain of a collection is followed from then on.
    CollectionFollowed = "collection-followed", "followed a collection";
    /// The chain of a collection is no longer followed, or not for a project.
    CollectionLeft = "collection-left", "stopped following a collection";
    /// What happens in a collection is counted for a project from then on.
    MarketJoined = "market-joined", "put a collection into a market";
    /// A project's storefront looks otherwise, or trades or sells something else.
    StorefrontChanged = "storefront-changed", "changed the storefront of a project";
    /// An address is told what happens from then on.
    WebhookAdded = "webhook-added", "added a webhook";
    /// A webhook goes elsewhere, tells of something else, or was paused or resumed.
    WebhookChanged = "webhook-changed", "changed a webhook";
    /// An address is no longer told what happens.
    WebhookRemoved = "webhook-removed", "removed a webhook";
    /// A wallet was taken out of everything that is counted of a project.
    WalletForgotten = "wallet-forgotten", "had a wallet forgotten";
    /// What a chain stated was forgotten, to be read anew.
    ChainResynced = "chain-resynced", "had a chain read anew";
    /// Currencies were made known, or told to be something else.
    CurrenciesStated = "currencies-stated", "stated currencies";
    /// What currencies are worth was stated, once or more often within an hour.
    RatesStated = "rates-stated", "stated rates";
}

impl Act {
    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|act| act.word() == word)
    }
}

/// What was done to what.
pub(crate) struct Entry {
    pub(crate) act: Act,
    /// The project that it concerns, whose owners may read of it.
    pub(crate) project: Option<ProjectId>,
    /// What was made, changed or removed.
    pub(crate) subject: String,
    /// What else is to be known; mostly empty.
    pub(crate) detail: String,
}

impl Entry {
    pub(crate) fn new(act: Act, subject: impl fmt::Display) -> Self {
        Self { act, project: None, subject: subject.to_string(), detail: String::new() }
    }

    pub(crate) fn of(self, project: ProjectId) -> Self {
        Self { project: Some(project), ..self }
    }

    pub(crate) fn with(self, detail: impl fmt::Display) -> Self {
        Self { detail: detail.to_string(), ..self }
    }
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Number of the entry; later ones have higher ones.
    pub id: u64,
    /// Who did it, when, and from where.
    pub actor: Actor,
    /// What was done, as it is stored and exported.
    pub word: String,
    /// The same, where this version of the program knows it: a newer one that writes to the same log knows more.
    pub act: Option<Act>,
    /// The project that it concerns, if it concerns one.
    pub project: Option<ProjectId>,
    /// What was made, changed or removed.
    pub subject: String,
    /// What else is to be known; mostly empty.
    pub detail: String,
}

impl AuditRecord {
    /// What was done, for people.
    pub fn sentence(&self) -> &str {
        self.act.map_or(self.word.as_str(), |act| act.sentence())
    }
}

/// Which entries are read, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct AuditPage {
    /// Only those before the entry of this number.
    pub before: Option<u64>,
    /// So many at most.
    pub limit: u64,
}

impl Store {
    /// The audit log, the newest first.
    pub fn audit(&self, extent: Extent, page: AuditPage) -> Pending<'_, Vec<AuditRecord>> {
        self.read(move |mut session| {
            Box::pin(async move {
                // Two statements, as each needs an index of its own.
                let of_project = match extent {
                    Extent::Project(_) => "project_id = $3",
                    Extent::Everything => "$3 = 0",
                };
                let sql = format!(
                    "FROM audit WHERE audit_id < $1 AND {of_project} ORDER BY audit_id DESC LIMIT $2"
                );
                let before = page.before.unwrap_or(i64::MAX as u64);
                let args = args![before, page.limit, extent.project_number()];
                let rows: Vec<AuditRow> = session.select(sql, args).await?;
                rows.into_iter().map(AuditRow::entry).collect()
            })
        })
    }

    /// Forgets what was done before a time; tells how many entries.
    pub fn prune_audit(&self, before: Timestamp) -> Pending<'_, u64> {
        self.write(move |mut session| {
            Box::pin(async move {
                session.execute("DELETE FROM audit WHERE done_at < $1", args![millis(before)]).await
            })
        })
    }
}

/// Writes down an act, within its transaction.
pub(crate) async fn put(session: &mut Session<'_>, actor: &Actor, entry: Entry) -> Result<(), StoreError> {
    let (account, email, sender) = match &actor.identity {
        Identity::Service | Identity::CommandLine | Identity::Unknown(_) => (None, None, None),
        Identity::Account { id, email } => (Some(*id), Some(email.clone()), None),
        Identity::Program(sender) => (None, None, Some(sender.clone())),
    };
    // What a program of a project does concerns that project, if no other.
    let project_id = entry.project.or_else(|| sender.as_ref().map(|sender| sender.project));
    let (actor_project, actor_credential) = sender.map(|sender| (sender.project, sender.credential)).unzip();
    let row = AuditRow {
        audit_id: session.next_id(Sequence::Audit).await?,
        done_at: millis(actor.at),
        actor: actor.identity.number(),
        actor_account: account,
        actor_email: email,
        actor_project,
        actor_credential,
        address: actor.address.map(|address| address.to_string()),
        act: entry.act.word().to_owned(),
        project_id,
        subject: entry.subject,
        detail: entry.detail,
    };
    session.insert(Insert::of([row])?, "").await
}

/// Writes down what the service refuses to somebody, once for as often as it happens within so many milliseconds: the entry
/// then says how often. So whoever tries again and again fills no log.
pub(crate) async fn put_counted(
    session: &mut Session<'_>,
    actor: &Actor,
    entry: Entry,
    within_ms: i64,
) -> Result<(), StoreError> {
    let since = millis(actor.at).saturating_sub(within_ms);
    // Whoever counts at the same moment waits for this.
    let sql = "UPDATE audit SET detail = detail WHERE act = $1 AND done_at > $2 AND subject = $3";
    let args = args![entry.act.word(), since, entry.subject.as_str()];
    session.execute(sql, args.clone()).await?;
    let sql = "FROM audit WHERE act = $1 AND done_at > $2 AND subject = $3 ORDER BY audit_id DESC LIMIT 1";
    let Some(known) = session.select_first::<AuditRow>(sql, args).await? else {
        return put(session, actor, entry.with(times(1))).await;
    };
    let before: u64 = known.detail.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(1);
    let sql = "UPDATE audit SET detail = $2, address = $3 WHERE audit_id = $1";
    let address = actor.address.map(|address| address.to_string());
    session.execute(sql, args![known.audit_id, times(before.saturating_add(1)), address]).await.map(drop)
}

fn times(count: u64) -> String {
    if count == 1 { "1 time".to_owned() } else { format!("{count} times") }
}

/// Whether the same actor did this within so many milliseconds.
pub(crate) async fn has_recent(
    session: &mut Session<'_>,
    actor: &Actor,
    act: Act,
    within_ms: i64,
) -> Result<bool, StoreError> {
    let project = match &actor.identity {
        Identity::Program(sender) => Some(sender.project.get()),
        Identity::Service | Identity::CommandLine | Identity::Account { .. } | Identity::Unknown(_) => None,
    };
    let sql = "SELECT audit_id FROM audit WHERE act = $1 AND done_at > $2 AND actor = $3
        AND actor_project IS NOT DISTINCT FROM $4 LIMIT 1";
    let since = millis(actor.at).saturating_sub(within_ms);
    session.has(sql, args![act.word(), since, actor.identity.number(), project]).await
}

record! {
    struct AuditRow: "audit" ("audit_id") {
        audit_id: u64,
        done_at: i64,
        actor: u8,
        actor_account: Option<RecordId>,
        actor_email: Option<String>,
        actor_project: Option<ProjectId>,
        actor_credential: Option<CredentialId>,
        address: Option<String>,
        act: String,
        project_id: Option<ProjectId>,
        subject: String,
        detail: String,
    }
}

impl AuditRow {
    fn entry(self) -> Result<AuditRecord, StoreError> {
        let sender = self.actor_project.zip(self.actor_credential);
        let identity = match (self.actor, self.actor_account.zip(self.actor_email), sender) {
            (SERVICE, None, None) => Identity::Service,
            (COMMAND_LINE, None, None) => Identity::CommandLine,
            (ACCOUNT, Some((id, email)), None) => Identity::Account { id, email },
            (PROGRAM, None, Some((project, credential))) => Identity::Program(Sender { project, credential }),
            (number, _, _) if number > PROGRAM => Identity::Unknown(number),
            (number, _, _) => return Err(StoreError::corrupt("actor", number)),
        };
        let address = self.address.map(|text| text.parse()).transpose();
        let address = address.map_err(|error| StoreError::corrupt("address", error))?;
        Ok(AuditRecord {
            id: self.audit_id,
            actor: Actor { identity, address, at: instant(self.done_at) },
            act: Act::parse(&self.act),
            word: self.act,
            project: self.project_id,
            subject: self.subject,
            detail: self.detail,
        })
    }
}
