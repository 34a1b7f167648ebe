//! Who said what: the author of every version of a collection, and of every change to an order.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bourse_wire::{Address, Marketplace, OrderKey, ProjectId, RecordId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::collections::{CollectionId, CollectionKey, find};
use crate::columns::{Insert, record, selection};
use crate::commit::Changed;
use crate::metadata_queue::{instant, millis};
use crate::session::Session;
use crate::together::Statement;

/// Orders of a version that its attribution names; how many there are it counts.
const ORDERS_NAMED: usize = 10;

/// Versions that are forgotten in one transaction, so that nobody waits long.
const PRUNED_AT_ONCE: u64 = 500;

/// Versions that are read at once to find an order in them, and versions and orders that are looked through until whoever
/// asks has to ask for more.
const READ_AT_ONCE: u64 = 100;
const LOOKED_THROUGH_MAX: u64 = 300_000;

/// By what right a request of a project was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialId {
    /// An access key, by its number.
    AccessKey(RecordId),
    /// A secret token, by its own id.
    SecretToken(Arc<str>),
    /// The session of a member in the console, by the number of their account.
    Account(RecordId),
}

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AccessKey(id) => write!(f, "key {id}"),
            Self::SecretToken(id) => write!(f, "token {id}"),
            Self::Account(id) => write!(f, "account {id}"),
        }
    }
}

impl FromStr for CredentialId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |id: &str| id.parse::<u64>().ok().and_then(|id| RecordId::try_from(id).ok());
        let found = match text.split_once(' ') {
            Some(("key", id)) => number(id).map(Self::AccessKey),
            Some(("token", id)) => Some(Self::SecretToken(id.into())),
            Some(("account", id)) => number(id).map(Self::Account),
            _ => None,
        };
        found.ok_or_else(|| format!("`{text}` is no credential"))
    }
}

/// The project that a request came from, and by what right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The project.
    pub project: ProjectId,
    /// The credential.
    pub credential: CredentialId,
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "project {} ({})", self.project, self.credential)
    }
}

/// Who states something of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// Its chain, in the blocks up to this one; no block where it was asked for its present state.
    Chain {
        /// The block.
        block: Option<u64>,
    },
    /// Who fetches the metadata that contracts link to.
    Fetcher,
    /// The operator of the service, from the command line.
    Operator,
    /// A project that was granted it.
    Steward(Sender),
    /// Whoever signed it, and who passed it on.
    Wallet {
        /// The wallet; none where several signed.
        wallet: Option<Address>,
        /// Through whom it came.
        sender: Sender,
    },
    /// Somebody whom only a newer version of the program knows, by their number there.
    Unknown(u8),
}

impl Author {
    /// Its kind in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Chain { .. } => "chain",
            Self::Fetcher => "fetcher",
            Self::Operator => "operator",
            Self::Steward(_) => "steward",
            Self::Wallet { .. } => "wallet",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The project that sent it, which is nobody else's business.
    pub fn sender(&self) -> Option<&Sender> {
        match self {
            Self::Steward(sender) | Self::Wallet { sender, .. } => Some(sender),
            Self::Chain { .. } | Self::Fetcher | Self::Operator | Self::Unknown(_) => None,
        }
    }

    /// Who it is as everybody may know it: without naming projects.
    pub fn public_name(&self) -> String {
        match self {
            Self::Chain { block: Some(block) } => format!("the chain, block {block}"),
            Self::Chain { block: None } => "the chain".to_owned(),
            Self::Fetcher => "the metadata that was fetched".to_owned(),
            Self::Operator => "the operator".to_owned(),
            Self::Steward(_) => "a steward".to_owned(),
            Self::Wallet { wallet: Some(wallet), .. } => format!("wallet {wallet}"),
            Self::Wallet { wallet: None, .. } => "several wallets".to_owned(),
            Self::Unknown(_) => "somebody whom only a newer version knows".to_owned(),
        }
    }

    /// Who it is as the operator and administrators may know it.
    pub fn full_name(&self) -> String {
        match self {
            Self::Steward(sender) => sender.to_string(),
            Self::Wallet { sender, .. } => format!("{}, through {sender}", self.public_name()),
            Self::Chain { .. } | Self::Fetcher | Self::Operator | Self::Unknown(_) => self.public_name(),
        }
    }

    fn number(&self) -> u8 {
        match self {
            Self::Chain { .. } => CHAIN,
            Self::Fetcher => FETCHER,
            Self::Operator => OPERATOR,
            Self::Steward(_) => STEWARD,
            Self::Wallet { .. } => WALLET,
            Self::Unknown(number) => *number,
        }
    }
}

const CHAIN: u8 = 0;
const FETCHER: u8 = 1;
const OPERATOR: u8 = 2;
const STEWARD: u8 = 3;
const WALLET: u8 = 4;

/// Who made a version of a collection, when, and how many records are different since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// The version.
    pub version: u64,
    /// When it was said: for chains, when the block was made.
    pub at: Timestamp,
    /// Who said it.
    pub author: Author,
    /// Whether it is about the contract's information.
    pub contract: bool,
    /// How many tokens.
    pub tokens: u64,
    /// How many balances.
    pub balances: u64,
    /// How many orders.
    pub orders: u64,
    /// How many activities that no order tells of.
    pub activities: u64,
    /// Some of the orders, when there are many.
    pub order_keys: Vec<OrderKey>,
}

/// What was said of one order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderAttributions {
    /// What was found, the newest first.
    pub found: Vec<Attribution>,
    /// Before which version there may be more; `None` when everything was looked through.
    pub more_before: Option<u64>,
}

/// Which attributions are read, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct AttributionPage {
    /// Only those of versions before this one.
    pub before: Option<u64>,
    /// So many at most.
    pub limit: u64,
}

impl AttributionPage {
    /// The newest.
    pub fn newest(limit: u64) -> Self {
        Self { before: None, limit }
    }

    fn end(self) -> u64 {
        self.before.unwrap_or(i64::MAX as u64)
    }
}

impl Store {
    /// Who said what of a collection, the newest first. Nothing for a collection that is not known.
    pub fn attributions(
        &self,
        collection: CollectionKey,
        page: AttributionPage,
    ) -> Pending<'_, Vec<Attribution>> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                let Some(id) = find(&mut session, collection).await? else { return Ok(Vec::new()) };
                let sql = "FROM attributions WHERE collection_id = $1 AND version < $2
                    ORDER BY version DESC LIMIT $3";
                let rows: Vec<AttributionRow> =
                    session.select(sql, args![id.0, page.end(), page.limit]).await?;
                rows.into_iter().map(AttributionRow::attribution).collect()
            })
        })
    }

    /// Who said what of an order, the newest first. Versions are looked through for it, so many at most: writing is what
    /// must be quick, and this is asked rarely.
    pub fn order_attributions(
        &self,
        collection: CollectionKey,
        order: OrderKey,
        page: AttributionPage,
    ) -> Pending<'_, OrderAttributions> {
        self.snapshot(move |mut session| {
            Box::pin(async move {
                match find(&mut session, collection).await? {
                    Some(id) => look_through(&mut session, id, &order, page).await,
                    None => Ok(OrderAttributions::default()),
                }
            })
        })
    }

    /// The collections of which somebody said something before a time. To be looked for apart from forgetting it: nobody
    /// waits for whoever reads.
    pub fn attributed_before(&self, before: Timestamp) -> Pending<'_, Vec<CollectionId>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let ids: Vec<u64> = session
                    .values("SELECT collection_id FROM collections ORDER BY collection_id", args![])
                    .await?;
                let mut found = Vec::new();
                for id in ids {
                    // Versions mostly follow each other in time, so that only the oldest is looked at. What old blocks
                    // stated later waits until those before it are forgotten.
                    let sql =
                        "SELECT said_at FROM attributions WHERE collection_id = $1 ORDER BY version LIMIT 1";
                    let oldest: Option<i64> = session.value(sql, args![id]).await?;
                    if oldest.is_some_and(|oldest| oldest < millis(before)) {
                        found.push(CollectionId(id));
                    }
                }
                Ok(found)
            })
        })
    }

    /// Forgets who said what of a collection before a time, some of it: tells how many versions, and is to be called again
    /// until it is none.
    pub fn prune_attributions(&self, id: CollectionId, before: Timestamp) -> Pending<'_, u64> {
        self.write(move |mut session| Box::pin(async move { prune(&mut session, id, before).await }))
    }
}

/// Looks for an order in the versions of a collection, from the newest on.
async fn look_through(
    session: &mut Session<'_>,
    id: CollectionId,
    order: &OrderKey,
    page: AttributionPage,
) -> Result<OrderAttributions, StoreError> {
    let (mut found, mut before, mut looked_through) = (Vec::new(), page.end(), 0);
    while looked_through < LOOKED_THROUGH_MAX {
        let sql =
            "FROM attributions WHERE collection_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3";
        let rows: Vec<AttributionRow> = session.select(sql, args![id.0, before, READ_AT_ONCE]).await?;
        let is_last = (rows.len() as u64) < READ_AT_ONCE;
        for row in rows {
            before = row.version;
            looked_through += 1 + row.orders;
            let Some(mention) = row.order_keys.0.iter().find(|mention| mention.is_of(order)) else {
                continue;
            };
            let block = mention.block();
            let mut attribution = row.attribution()?;
            if let (Author::Chain { block: last }, Some(own)) = (&mut attribution.author, block) {
                *last = Some(own);
            }
            attribution.order_keys = vec![order.clone()];
            found.push(attribution);
            if found.len() as u64 >= page.limit {
                return Ok(OrderAttributions { found, more_before: Some(before) });
            }
        }
        if is_last {
            return Ok(OrderAttributions { found, more_before: None });
        }
    }
    Ok(OrderAttributions { found, more_before: Some(before) })
}

/// Forgets the oldest versions of a collection that are older than a time.
async fn prune(session: &mut Session<'_>, id: CollectionId, before: Timestamp) -> Result<u64, StoreError> {
    selection! {
        struct Version {
            version: u64,
            said_at: i64,
        }
    }
    let sql = "FROM attributions WHERE collection_id = $1 ORDER BY version LIMIT $2";
    let oldest: Vec<Version> = session.select(sql, args![id.0, PRUNED_AT_ONCE]).await?;
    let over = oldest.into_iter().take_while(|row| row.said_at < millis(before));
    let Some(last) = over.last() else { return Ok(0) };
    let sql = "DELETE FROM attributions WHERE collection_id = $1 AND version <= $2";
    session.execute(sql, args![id.0, last.version]).await
}

/// Who makes a version, and when.
#[derive(Clone, Debug)]
pub(crate) struct Authorship {
    pub(crate) author: Author,
    pub(crate) at: Timestamp,
    /// Which block stated a change to an order, where that is known.
    pub(crate) order_blocks: BTreeMap<OrderKey, u64>,
}

impl Authorship {
    pub(crate) fn new(author: Author, at: Timestamp) -> Self {
        Self { author, at, order_blocks: BTreeMap::new() }
    }
}

/// Writes down who made a version, within the transaction that makes it. A chain states something with every block: of
/// that only what concerns orders is kept.
pub(crate) fn statement(
    id: CollectionId,
    version: u64,
    changed: &Changed,
    authorship: &Authorship,
) -> Result<Option<Statement>, StoreError> {
    let is_of_chain = matches!(authorship.author, Author::Chain { .. });
    if changed.len() == 0 || (is_of_chain && changed.orders.is_empty()) {
        return Ok(None);
    }
    let row = Insert::owned(id, [AttributionRow::new(version, changed, authorship)])?;
    Ok(Some(Statement::insert(row)))
}

/// The orders that a version changed, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Mentions(Vec<Mention>);

/// An order: number of the marketplace and order id, and the block that stated the change where a chain did.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Mention {
    Stated(u8, String, u64),
    Told(u8, String),
}

impl Mention {
    fn new(key: &OrderKey, block: Option<u64>) -> Self {
        let (marketplace, order_id) = (key.marketplace.number(), key.order_id.clone());
        match block {
            Some(block) => Self::Stated(marketplace, order_id, block),
            None => Self::Told(marketplace, order_id),
        }
    }

    fn parts(&self) -> (u8, &str) {
        match self {
            Self::Stated(marketplace, order_id, _) | Self::Told(marketplace, order_id) => {
                (*marketplace, order_id)
            }
        }
    }

    fn is_of(&self, key: &OrderKey) -> bool {
        self.parts() == (key.marketplace.number(), key.order_id.as_str())
    }

    fn block(&self) -> Option<u64> {
        match self {
            Self::Stated(_, _, block) => Some(*block),
            Self::Told(..) => None,
        }
    }

    /// `None` for an order of a marketplace that only a newer version of the program knows.
    fn key(&self) -> Option<OrderKey> {
        let (number, order_id) = self.parts();
        Some(OrderKey { marketplace: Marketplace::from_number(number)?, order_id: order_id.to_owned() })
    }
}

record! {
    struct AttributionRow: "attributions" ("collection_id, version") {
        version: u64,
        said_at: i64,
        author: u8,
        block_number: Option<u64>,
        wallet: Option<Address>,
        sender_project: Option<ProjectId>,
        sender_credential: Option<CredentialId>,
        contract: bool,
        tokens: u64,
        balances: u64,
        orders: u64,
        activities: u64,
        order_keys: Mentions,
    }
}

impl AttributionRow {
    fn new(version: u64, changed: &Changed, authorship: &Authorship) -> Self {
        let author = &authorship.author;
        let (block_number, wallet) = match author {
            Author::Chain { block } => (*block, None),
            Author::Wallet { wallet, .. } => (None, *wallet),
            Author::Fetcher | Author::Operator | Author::Steward(_) | Author::Unknown(_) => (None, None),
        };
        let orders = changed.orders.iter();
        let orders = orders.map(|key| Mention::new(key, authorship.order_blocks.get(key).copied()));
        Self {
            version,
            said_at: millis(authorship.at),
            author: author.number(),
            block_number,
            wallet,
            sender_project: author.sender().map(|sender| sender.project),
            sender_credential: author.sender().map(|sender| sender.credential.clone()),
            contract: changed.contract,
            tokens: changed.tokens.len() as u64,
            balances: changed.balances.len() as u64,
            orders: changed.orders.len() as u64,
            activities: changed.activities,
            order_keys: Mentions(orders.collect()),
        }
    }

    fn attribution(self) -> Result<Attribution, StoreError> {
        let sender = self.sender_project.zip(self.sender_credential);
        let sender = sender.map(|(project, credential)| Sender { project, credential });
        let author = match (self.author, sender) {
            (CHAIN, None) => Author::Chain { block: self.block_number },
            (FETCHER, None) => Author::Fetcher,
            (OPERATOR, None) => Author::Operator,
            (STEWARD, Some(sender)) => Author::Steward(sender),
            (WALLET, Some(sender)) => Author::Wallet { wallet: self.wallet, sender },
            (number, _) if number > WALLET => Author::Unknown(number),
            (number, _) => return Err(StoreError::corrupt("author", number)),
        };
        let order_keys = self.order_keys.0.iter().filter_map(Mention::key).take(ORDERS_NAMED).collect();
        Ok(Attribution {
            version: self.version,
            at: instant(self.said_at),
            author,
            contract: self.contract,
            tokens: self.tokens,
            balances: self.balances,
            orders: self.orders,
            activities: self.activities,
            order_keys,
        })
    }
}
