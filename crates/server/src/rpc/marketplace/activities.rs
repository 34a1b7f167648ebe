//! What happened in a collection, or to one collectible: one file for two operations that differ in the token only.

use bourse_market::write_formatted;
use bourse_store::{CollectionId, CollectionKey};
use bourse_wire::{
    ActivityAction, Address, Amount, ChainId, ChainRef, CollectionNumbers, Currency, ServiceName, Timestamp,
    TokenId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, NEWEST_FIRST, PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;

/// Of which collection.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListCollectionActivitiesRequest")]
pub(crate) struct CollectionRequest {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// Which page.
    page: Option<PageInput>,
}
request!(CollectionRequest);

/// Of which collectible.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListCollectibleActivitiesRequest")]
pub(crate) struct CollectibleRequest {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    contract_address: Address,
    /// The token.
    token_id: TokenId,
    /// Which page.
    page: Option<PageInput>,
}
request!(CollectibleRequest);

/// A page of what happened.
#[derive(JsonSchema)]
#[schemars(rename = "ListActivitiesAnswer")]
#[expect(dead_code, reason = "documents what is written part by part")]
pub(crate) struct Answer {
    /// What happened, the newest first.
    activities: Vec<Activity>,
    /// The page.
    page: PageAnswer<'static>,
}

/// Something that happened.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Activity {
    /// A number for it, the same in every answer.
    id: u64,
    /// Its number in the collection, which pages go by; what came to be known later has a higher one.
    #[serde(skip)]
    #[schemars(skip)]
    place: u64,
    /// The collection's number.
    collection_id: u64,
    /// A number for the token, the same in every answer; 0 when it is about no single token.
    collectible_id: u64,
    /// Chain.
    chain_id: ChainId,
    /// Contract of the collection.
    contract_address: Address,
    /// The token; null for an offer on any token of the collection.
    token_id: Option<TokenId>,
    /// What it was.
    action: ActivityAction,
    /// Transaction in which it happened; empty when that is not known.
    tx_hash: String,
    /// Where it comes from.
    source: String,
    /// Who did it: the maker, the seller, the former holder; the zero address when that is not known.
    from: Address,
    /// Whom it went to, when somebody is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Address>,
    /// How much of the token.
    quantity: Amount,
    /// Decimals of the quantity.
    quantity_decimals: u8,
    /// For which price, when there was one.
    #[serde(flatten)]
    price: Option<Price>,
    /// When it happened.
    activity_created_at: Timestamp,
    /// Position among the logs of its block, 0 when it did not happen on a chain.
    log_index: u64,
    /// A name that nothing else in the collection has.
    unique_hash: String,
    /// When it was first seen.
    created_at: Timestamp,
    /// The same: what happened does not change.
    updated_at: Timestamp,
}

/// A price.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Price {
    /// Price of one unit, in base units of the currency.
    price_amount: Amount,
    /// The same in whole units.
    price_amount_formatted: String,
    /// The currency; the zero address is the chain's own.
    price_currency_address: Address,
    /// Decimals of the currency; 0 when it is not known.
    price_decimals: u8,
}

pub(crate) async fn of_collection(call: Call, request: CollectionRequest) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    list(&call.app, key, None, request.page).await
}

pub(crate) async fn of_collectible(call: Call, request: CollectibleRequest) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    list(&call.app, key, Some(request.token_id), request.page).await
}

async fn list(
    app: &App,
    key: CollectionKey,
    token: Option<TokenId>,
    page: Option<PageInput>,
) -> Result<Vec<u8>, Failure> {
    // A place is the number of an activity.
    let page = PagePlan::<u64>::new(page, &app.settings.limits)?.in_order(&NEWEST_FIRST)?;
    page.begin.check_distance()?;
    let mut activities = match app.store.collection(key).await? {
        Some(id) => read(app, key, (id, token), &page).await?,
        None => Vec::new(),
    };
    let more = activities.len() > page.limit();
    activities.truncate(page.limit());
    let mut answer = begin_answer(br#"{"activities":"#);
    serde_json::to_writer(&mut answer, &activities)?;
    page.write(&mut answer, activities.last().filter(|_| more).map(|last| last.place))?;
    answer.push(b'}');
    Ok(answer)
}

/// The activities of a page, and one more when there is one.
async fn read(
    app: &App,
    key: CollectionKey,
    (id, token): (CollectionId, Option<TokenId>),
    page: &PagePlan<u64>,
) -> Result<Vec<Activity>, Failure> {
    let before = match page.begin {
        Begin::Skip(0) => None,
        Begin::Skip(count) => match app.store.activity_number(id, token, count - 1).await? {
            None => return Ok(Vec::new()),
            last_skipped => last_skipped,
        },
        Begin::After(last) => Some(last),
    };
    let found = app.store.activities(id, token, before, page.limit() as u64 + 1).await?;
    let currencies = app.resident.currencies(key.chain);
    let record = |activity| record(activity, (key, id), &currencies, &app.service_name);
    Ok(found.into_iter().map(record).collect())
}

/// Something that happened, as it is listed.
pub(crate) fn record(
    activity: bourse_store::Activity,
    (key, id): (CollectionKey, CollectionId),
    currencies: &[Currency],
    service: &ServiceName,
) -> Activity {
    let facts = activity.facts;
    let numbers = CollectionNumbers::new(key.chain, key.address);
    Activity {
        id: numbers.activity(activity.id),
        place: activity.id,
        collection_id: id.number(),
        collectible_id: facts.token_id.map_or(0, |token| numbers.token(token)),
        chain_id: key.chain,
        contract_address: key.address,
        token_id: facts.token_id,
        action: facts.action,
        tx_hash: facts.tx_hash,
        source: facts.marketplace.source_word(service),
        from: facts.from,
        to: facts.to,
        quantity: facts.quantity,
        quantity_decimals: facts.quantity_decimals,
        price: facts.price_amount.zip(facts.currency).map(|(amount, currency)| {
            let known = currencies.iter().find(|known| known.contract_address == currency);
            Price::new(amount, currency, known.map_or(0, |known| known.decimals))
        }),
        activity_created_at: facts.at,
        log_index: facts.log_index,
        unique_hash: facts.unique_hash,
        created_at: facts.created_at,
        updated_at: facts.created_at,
    }
}

impl Activity {
    /// Its number, the same in every answer.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Price {
    fn new(amount: Amount, currency: Address, decimals: u8) -> Self {
        let mut formatted = Vec::new();
        write_formatted(&mut formatted, amount.to_string().as_bytes(), decimals);
        Self {
            price_amount: amount,
            price_amount_formatted: String::from_utf8_lossy(&formatted).into_owned(),
            price_currency_address: currency,
            price_decimals: decimals,
        }
    }
}
