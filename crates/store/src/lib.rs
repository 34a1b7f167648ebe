//! The truth on disk: SQLite (embedded) and PostgreSQL (and Citus) behind one interface.
//!
//! Statements are written once, in the SQL both engines accept; what differs sits in [`backend`] under equal names.
//! Everything that changes a collection goes through [`Store::commit`]; everything a project owns is reached with
//! a [`ProjectScope`].

mod activities;
mod analytics;
mod args;
mod attributions;
mod audiences;
mod audit;
pub mod backend;
mod breaker;
mod chain;
mod changes;
mod collections;
mod columns;
mod commit;
mod consents;
mod contracts;
mod credentials;
mod currencies;
mod error;
mod events;
mod extent;
mod feed;
mod follow;
mod grants;
mod health;
mod holdings;
mod hosted;
mod load;
mod lookout;
mod market_projects;
mod metadata_queue;
mod metered;
mod migrate;
mod minutes;
mod moving;
mod order_activities;
mod order_parts;
mod orders;
mod people;
mod projects;
mod put_orders;
mod rate_uses;
mod recent;
mod replica;
mod revisions;
mod rounds;
mod row;
mod row_values;
mod scope;
mod servers;
mod session;
mod storefronts;
mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
mod together;
mod transfers;
mod troubles;
mod undated;
mod upgrade;
mod usage;
mod versions;
mod webhooks;

pub use activities::Activity;
pub use analytics::{
    BatchMark, Chunk, ChunkKey, Counts, CountsCommit, CountsCommitted, CountsCursor, RetentionDays,
};
pub use attributions::{Attribution, AttributionPage, Author, CredentialId, OrderAttributions, Sender};
pub use audiences::{AudienceChanges, AudienceContractInput, AudienceImport, AudienceView, Registration};
pub use audit::{Act, Actor, AuditPage, AuditRecord, Identity};
pub use backend::{DatabaseUrl, OpenOptions, Pending, Store, copy_sqlite};
pub use chain::{
    Backing, BalanceChanges, BlockFacts, Blocks, BlocksCommitted, ChainError, ChainState, ChangesQuery,
    Followed, HeldSample, History, HistoryCommitted, LeaseHeld, LeaseHolder, LeaseSeen, OfferScope,
    OrderFees, OwnOrders, Payer, ProjectFollow, Settled, Unsettled,
};
pub use changes::Changes;
pub use collections::{CollectionId, CollectionKey, Holders, Mark, StoredToken};
pub use commit::{Batch, Change, Changed, Committed};
pub use consents::GivenConsent;
pub use contracts::StoredContract;
pub use credentials::{AccessKeyRecord, KeyTerms, SecretTokenRecord};
pub use error::StoreError;
pub use events::{Event, EventKind};
pub use extent::Extent;
pub use feed::{ChangedBalances, Happened, Happening, News, Place, Since, Touched};
pub use follow::Watcher;
pub use grants::{Grant, Reach, Subject};
pub use health::{MigrationState, SchemaState, Worker};
pub use holdings::{Holding, Holdings, KnownCollection};
pub use hosted::{
    AssetFile, AssetRecord, FileChange, HostedCollection, HostedToken, HostedTokenEdit, NewHostedToken,
    Upload, Visibility,
};
pub use load::{Balance, Part};
pub use lookout::{Look, Lookout};
pub use market_projects::{Market, MarketCollection, MarketNews, MarketStep};
pub use metadata_queue::{Due, Fetched, Outcome, Queued};
pub use metered::{METERED_PREFIX, MeteredLine};
pub use migrate::{Layout, Migration};
pub use moving::{Digest, Move, MoveError};
pub use orders::{OpenSignedOrders, SignedOrder};
pub use people::{
    Account, Confirmation, Invite, Invited, Member, NewAccount, NewInvite, NewPendingSignIn, NewSession,
    OpenInvite, ProofHash, Role, SecondFactor, ShownCode,
};
pub use projects::Project;
pub use rate_uses::{RateUse, RatesExchanged};
pub use replica::Replica;
pub use rounds::{InMemory, Round};
pub use scope::ProjectScope;
pub use servers::ServerRow;
pub use storefronts::StoredStorefront;
pub use tasks::{Refresh, RefreshReason, RefreshTask, Refreshed, RefreshedThing};
pub use transfers::{Transfer, TransferPlace, TransfersOf, TransfersQuery};
pub use troubles::Troubles;
pub use upgrade::Upgrade;
pub use usage::{DayUsage, UsageLine, UsageTotal};
pub use versions::Versions;
pub use webhooks::{
    DeadLetter, DeliveringServer, LineKey, NewLetter, NewWebhook, Sent, Webhook, WebhookChanges, WebhookLine,
};
