//! What happened, in the form of the published indexer's clients.

use bourse_store::{Activity as StoredActivity, CollectionId, CollectionKey, Happened, StoreError};
use bourse_wire::{ActivityAction, Address, ChainId, ContractType, EventFilter, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::rpc::marketplace::activities::{self, Activity};

/// A block that is not known.
const NO_BLOCK: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";

/// The contract of which something happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSource {
    pub(crate) key: CollectionKey,
    pub(crate) id: CollectionId,
    contract_type: ContractType,
}

impl LogSource {
    /// A contract with what it says of its standard; nothing else of it is told.
    pub(crate) async fn read(app: &App, key: CollectionKey, id: CollectionId) -> Result<Self, StoreError> {
        #[derive(Deserialize)]
        struct Standard {
            r#type: ContractType,
        }
        let text = app.store.contract(id).await?;
        let standard = text.and_then(|text| serde_json::from_str::<Standard>(&text).ok());
        let contract_type = standard.map(|standard| standard.r#type).unwrap_or_default();
        Ok(Self { key, id, contract_type })
    }
}

/// What became of something that happened.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "EventLogType")]
enum Turn {
    /// It happened.
    #[serde(rename = "BLOCK_ADDED")]
    Added,
    /// It did not: its block no longer counts.
    #[serde(rename = "BLOCK_REMOVED")]
    Removed,
    /// Nobody knows any more what of it did not.
    #[serde(rename = "UNKNOWN")]
    Anew,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventLogDataType")]
enum Kind {
    /// A token changed hands.
    #[serde(rename = "TOKEN_TRANSFER")]
    Transfer,
    /// Something else.
    #[serde(rename = "EVENT")]
    Other,
}

/// What happened, or did not after all.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventLog {
    /// Its number.
    id: u64,
    /// Its name, the same when it is taken back.
    uid: String,
    /// What became of it.
    r#type: Turn,
    /// Chain.
    chain_id: ChainId,
    /// Height of its block; 0 where that is not known.
    block_number: u64,
    /// Name of its block; zeros where that is not known.
    block_hash: String,
    /// Never known.
    parent_block_hash: &'static str,
    /// Contract.
    contract_address: Address,
    /// Its standard.
    contract_type: ContractType,
    /// Transaction; empty where it happened in none.
    txn_hash: String,
    /// Never known.
    txn_index: u64,
    /// Place of its log in its block.
    txn_log_index: u64,
    /// Whether a token changed hands by it.
    log_data_type: Kind,
    /// When it happened.
    ts: Timestamp,
    /// All of it; null where nobody knows any more what did not happen.
    activity: Option<Activity>,
}

impl EventLog {
    /// Something that happened, or did not. What concerns everything is called `name`.
    pub(crate) fn new(app: &App, source: LogSource, what: Happened, name: &str) -> Self {
        match what {
            Happened::Added(activity) => Self::of(app, source, Turn::Added, activity),
            Happened::Removed(activity) => Self::of(app, source, Turn::Removed, activity),
            Happened::Anew => Self::anew(app, source, name),
        }
    }

    fn of(app: &App, source: LogSource, turn: Turn, activity: StoredActivity) -> Self {
        let LogSource { key, id, contract_type } = source;
        let facts = &activity.facts;
        let (uid, txn_hash, ts) = (facts.unique_hash.clone(), facts.tx_hash.clone(), facts.at);
        let (block_number, txn_log_index) = (facts.block_number.unwrap_or(0), facts.log_index);
        let block_hash = facts.block_hash.map_or_else(|| NO_BLOCK.to_owned(), |hash| hash.to_string());
        let log_data_type = match facts.action {
            ActivityAction::Transfer | ActivityAction::Mint => Kind::Transfer,
            ActivityAction::Sale
            | ActivityAction::Unknown
            | ActivityAction::Listing
            | ActivityAction::Offer
            | ActivityAction::ListingCancel
            | ActivityAction::OfferCancel => Kind::Other,
        };
        let currencies = app.resident.currencies(key.chain);
        let record = activities::record(activity, (key, id), &currencies, &app.service_name);
        Self {
            id: record.id(),
            uid,
            r#type: turn,
            chain_id: key.chain,
            block_number,
            block_hash,
            parent_block_hash: NO_BLOCK,
            contract_address: key.address,
            contract_type,
            txn_hash,
            txn_index: 0,
            txn_log_index,
            log_data_type,
            ts,
            activity: Some(record),
        }
    }

    /// Whoever kept anything had better ask for all of it again.
    fn anew(app: &App, source: LogSource, name: &str) -> Self {
        Self {
            id: 0,
            uid: name.to_owned(),
            r#type: Turn::Anew,
            chain_id: source.key.chain,
            block_number: 0,
            block_hash: NO_BLOCK.to_owned(),
            parent_block_hash: NO_BLOCK,
            contract_address: source.key.address,
            contract_type: source.contract_type,
            txn_hash: String::new(),
            txn_index: 0,
            txn_log_index: 0,
            log_data_type: Kind::Other,
            ts: app.now(),
            activity: None,
        }
    }
}

/// A filter that is asked often.
#[derive(Debug)]
pub(crate) struct Sieve {
    filter: EventFilter,
    actions: Vec<ActivityAction>,
}

impl Sieve {
    pub(crate) fn new(filter: EventFilter) -> Self {
        Self { actions: filter.actions(), filter }
    }

    /// Whether everything that happens in its contracts is let through.
    pub(crate) fn is_open(&self) -> bool {
        let EventFilter { events, accounts, token_ids, .. } = &self.filter;
        events.is_empty() && accounts.is_empty() && token_ids.is_empty()
    }

    /// Whether something is let through.
    pub(crate) fn lets_through(&self, what: &Happened) -> bool {
        is_let_through((&self.filter, &self.actions), what)
    }
}

/// Whether a filter lets something through.
pub(crate) fn is_wanted(filter: &EventFilter, what: &Happened) -> bool {
    is_let_through((filter, &filter.actions()), what)
}

/// That nobody knows any more what happened concerns everybody.
fn is_let_through((filter, actions): (&EventFilter, &[ActivityAction]), what: &Happened) -> bool {
    let facts = match what {
        Happened::Added(activity) | Happened::Removed(activity) => &activity.facts,
        Happened::Anew => return true,
    };
    let has = |account: &Address| *account == facts.from || Some(*account) == facts.to;
    (filter.events.is_empty() || actions.contains(&facts.action))
        && (filter.accounts.is_empty() || filter.accounts.iter().any(has))
        && (filter.token_ids.is_empty()
            || facts.token_id.is_some_and(|token| filter.token_ids.contains(&token)))
}
