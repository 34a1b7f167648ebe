//! What the operations answer, as far as the pages show it.

use std::collections::HashMap;

use bourse_wire::{
    ActivityAction, Address, Amount, ContractInfo, FeeEntry, Timestamp, TokenId, TokenMetadata,
};
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::CollectionRef;
use crate::access::Member;
use crate::operations::unless_missing;
use crate::refusal::Refusal;

/// A token with its best orders.
#[derive(Deserialize)]
pub(super) struct Collectible {
    pub(super) metadata: TokenMetadata,
    pub(super) listing: Option<Order>,
    pub(super) offer: Option<Order>,
}

/// A listing or an offer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Order {
    pub(super) order_id: String,
    pub(super) marketplace: String,
    pub(super) created_by: Address,
    pub(super) price_amount: Amount,
    pub(super) price_amount_formatted: String,
    pub(super) price_currency_address: Address,
    #[serde(rename = "priceUSD")]
    pub(super) price_usd: Number,
    #[serde(rename = "priceUSDFormatted")]
    pub(super) price_usd_formatted: String,
    pub(super) quantity_available: Amount,
    pub(super) quantity_available_formatted: String,
    pub(super) fee_bps: i64,
    pub(super) fee_breakdown: Vec<FeeEntry>,
    pub(super) valid_until: Timestamp,
    pub(super) created_at: Timestamp,
}

/// Something that happened.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Activity {
    pub(super) action: ActivityAction,
    pub(super) tx_hash: String,
    pub(super) source: String,
    pub(super) from: Address,
    pub(super) to: Option<Address>,
    pub(super) quantity: Amount,
    pub(super) price_amount: Option<Amount>,
    pub(super) price_amount_formatted: Option<String>,
    pub(super) price_currency_address: Option<Address>,
    pub(super) activity_created_at: Timestamp,
}

/// A page as answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    pub(super) page: u64,
    pub(super) page_size: u64,
    pub(super) more: bool,
    pub(super) after: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Count {
    pub(super) count: u64,
}

/// A property of a collection's tokens.
#[derive(Deserialize)]
pub(super) struct Facet {
    pub(super) name: String,
    /// The lowest and the highest value, of whole numbers.
    pub(super) min: Option<i64>,
    pub(super) max: Option<i64>,
    #[serde(default)]
    pub(super) counts: Vec<ValueCount>,
}

/// How many tokens have a value.
#[derive(Deserialize)]
pub(super) struct ValueCount {
    pub(super) value: Value,
    pub(super) count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Currency {
    pub(super) contract_address: Address,
    pub(super) symbol: String,
    pub(super) name: String,
    pub(super) decimals: u8,
}

/// The currencies of a chain.
pub(super) struct Currencies {
    pub(super) all: Vec<Currency>,
    indexes: HashMap<Address, usize>,
}

impl Currencies {
    pub(super) async fn ask(member: &Member, collection: &CollectionRef) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        struct Answer {
            currencies: Vec<Currency>,
        }
        let body = json!({ "chainId": collection.key.chain.to_string() });
        let Answer { currencies: all } = member.ask_as("Marketplace/ListCurrencies", &body).await?;
        Ok(Self::new(all))
    }

    pub(super) fn new(all: Vec<Currency>) -> Self {
        let indexes = all.iter().enumerate().map(|(index, known)| (known.contract_address, index)).collect();
        Self { all, indexes }
    }

    pub(super) fn get(&self, address: Address) -> Option<&Currency> {
        self.indexes.get(&address).and_then(|index| self.all.get(*index))
    }
}

/// What is known of a contract; nothing when nobody said anything of it.
pub(super) async fn contract_info(
    member: &Member,
    collection: &CollectionRef,
) -> Result<Option<ContractInfo>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        contract_info: ContractInfo,
    }
    let answer = member.ask_as::<Answer>("Metadata/GetContractInfo", &collection.body(json!({}))).await;
    Ok(unless_missing(answer)?.map(|answer| answer.contract_info))
}

/// How many tokens a collection has.
pub(super) async fn token_count(member: &Member, collection: &CollectionRef) -> Result<u64, Refusal> {
    let body = collection.body(json!({}));
    Ok(member.ask_as::<Count>("Marketplace/GetCountOfAllCollectibles", &body).await?.count)
}

/// The cheapest listing of a collection, and of which token it is.
pub(super) async fn floor(
    member: &Member,
    collection: &CollectionRef,
) -> Result<Option<(TokenId, Order)>, Refusal> {
    #[derive(Deserialize)]
    struct Answer {
        collectible: Collectible,
    }
    let answer = member.ask_as::<Answer>("Marketplace/GetFloorOrder", &collection.body(json!({}))).await;
    let found = unless_missing(answer)?.map(|answer| answer.collectible);
    Ok(found.and_then(|found| Some((found.metadata.token_id, found.listing?))))
}

/// The metadata of a token as it is answered, text by text.
pub(super) async fn token_json(
    member: &Member,
    collection: &CollectionRef,
    token: TokenId,
) -> Result<Value, Refusal> {
    let body = collection.body(json!({ "tokenIDs": [token] }));
    let mut answer = member.ask("Metadata/GetTokenMetadata", &body).await?;
    let found = answer.get_mut("tokenMetadata").and_then(|tokens| tokens.get_mut(0)).map(Value::take);
    if let Some(found) = found {
        return Ok(found);
    }
    // One that only orders or balances name has no metadata, and a page all the same.
    let body = collection.body(json!({ "tokenId": token }));
    let answer = unless_missing(member.ask("Marketplace/GetCollectible", &body).await)?;
    let found = answer.and_then(|mut answer| answer.get_mut("metadata").map(Value::take));
    found.ok_or_else(|| Refusal::missing("token"))
}
