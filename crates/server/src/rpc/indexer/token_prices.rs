//! What tokens are worth in US dollars: currencies by their rates, and the tokens of a collection by their cheapest listing. One
//! file for operations that differ in what they ask of it.

use bourse_market::Rate;
use bourse_store::CollectionKey;
use bourse_wire::{Address, Amount, ChainId, ChainRef, Currency, Error, Timestamp, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::check_sort;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PageInput, PagePlan};
use crate::resident::Patience;
use crate::route::request;
use crate::rpc::begin_answer;
use crate::rpc::marketplace::searchable_within;
use crate::rpc::metadata::check_batch;

/// Of what.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TokenPriceQueryInput")]
pub(crate) struct Query {
    /// A currency, the zero address for the chain's own; or a collection.
    contract_address: Address,
    /// A token of the collection; the cheapest of all when none is named.
    #[serde(rename = "tokenID")]
    token_id: Option<TokenId>,
}

/// Of what.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenPriceRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Of what.
    q: Query,
}
request!(Request);

/// Of what.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetTokenPricesRequest")]
pub(crate) struct SeveralRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Of what: at most 50.
    q: Vec<Query>,
}
request!(SeveralRequest);

/// Of all currencies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListTokenPricesRequest")]
pub(crate) struct ListRequest {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// Which page.
    page: Option<PageInput>,
}
request!(ListRequest);

/// What it is worth.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetTokenPriceAnswer")]
pub(crate) struct Answer {
    price: Price,
}

/// What each is worth.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GetTokenPricesAnswer")]
pub(crate) struct SeveralAnswer {
    /// In the order asked for.
    prices: Vec<Price>,
}

/// A page of prices.
#[derive(JsonSchema)]
#[schemars(rename = "ListTokenPricesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct ListAnswer {
    /// The currencies of the chain that have a rate.
    prices: Vec<Price>,
    /// The page.
    page: PageAnswer<'static>,
}

/// What a token is worth.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TokenPrice")]
pub(crate) struct Price {
    /// Its contract; the zero address for the chain's own currency.
    contract_address: Address,
    /// The token, where one was named.
    #[serde(rename = "tokenID", skip_serializing_if = "Option::is_none")]
    token_id: Option<TokenId>,
    /// What one is worth in US dollars: a whole unit of a currency, or what the cheapest listing asks for one token; `0` when
    /// that is not known.
    #[serde(rename = "priceUSD")]
    price_usd: String,
    /// When the rate was told that it follows from.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    Ok(Answer { price: price(&call, chain, request.q, &mut call.patience()).await? })
}

pub(crate) async fn several(call: Call, request: SeveralRequest) -> Result<SeveralAnswer, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    check_count(&call, request.q.len())?;
    Ok(SeveralAnswer { prices: prices(&call, chain, &request.q).await? })
}

pub(crate) async fn list(call: Call, request: ListRequest) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    // A place is the number of a currency in their list.
    let page = PagePlan::<u64>::new(request.page, &call.app.settings.limits)?;
    check_sort(&page)?;
    let (Begin::Skip(first) | Begin::After(first)) = page.begin;
    let currencies = call.app.resident.currencies(chain);
    let priced = currencies.iter().filter(|currency| currency.rate.is_some());
    let skipped = usize::try_from(first).unwrap_or(usize::MAX);
    let mut prices: Vec<Price> =
        priced.skip(skipped).take(page.limit() + 1).map(Price::of_currency).collect();
    if prices.is_empty() {
        call.check_known(chain).await?;
    }
    let more = prices.len() > page.limit();
    prices.truncate(page.limit());
    let mut answer = begin_answer(br#"{"prices":"#);
    serde_json::to_writer(&mut answer, &prices)?;
    page.write(&mut answer, more.then(|| first.saturating_add(prices.len() as u64)))?;
    answer.push(b'}');
    Ok(answer)
}

/// Refuses more than one request may ask for.
pub(super) fn check_count(call: &Call, count: usize) -> Result<(), Error> {
    check_batch("q", "tokens", count, call.app.settings.limits.batch_tokens_max)
}

/// What several are worth on a chain.
pub(super) async fn prices(call: &Call, chain: ChainId, queries: &[Query]) -> Result<Vec<Price>, Failure> {
    let (mut prices, mut patience) = (Vec::with_capacity(queries.len()), call.patience());
    for query in queries {
        prices.push(price(call, chain, *query, &mut patience).await?);
    }
    Ok(prices)
}

async fn price(call: &Call, chain: ChainId, query: Query, patience: &mut Patience) -> Result<Price, Failure> {
    let currencies = call.app.resident.currencies(chain);
    let known = |address: Address| currencies.iter().find(|known| known.contract_address == address);
    if let Some(currency) = known(query.contract_address) {
        return Ok(Price { token_id: query.token_id, ..Price::of_currency(currency) });
    }
    let key = CollectionKey { chain, address: query.contract_address };
    let cheapest = match searchable_within(call, key, patience).await? {
        Some(slot) => slot.read_at(call.now, None).await.cheapest(query.token_id),
        None => None,
    };
    let worth = cheapest.and_then(|(amount, currency)| Some((known(currency)?, amount)));
    Ok(Price {
        contract_address: query.contract_address,
        token_id: query.token_id,
        price_usd: worth.map_or_else(|| "0".to_owned(), |(currency, amount)| dollars(currency, amount)),
        updated_at: worth.and_then(|(currency, _)| Some(currency.rate.as_ref()?.at)),
    })
}

impl Price {
    fn of_currency(currency: &Currency) -> Self {
        Self {
            contract_address: currency.contract_address,
            token_id: None,
            price_usd: currency.rate.as_ref().map_or_else(|| "0".to_owned(), |told| told.rate.to_string()),
            updated_at: currency.rate.as_ref().map(|told| told.at),
        }
    }
}

/// What an amount of a currency is worth in US dollars; `0` where that is not known.
pub(super) fn dollars(currency: &Currency, amount: Amount) -> String {
    let rate = currency.rate.as_ref().and_then(|told| Rate::new(&told.rate, currency.decimals));
    let mut text = Vec::new();
    match rate {
        Some(rate) => rate.dollars(amount).write(&mut text),
        None => text.push(b'0'),
    }
    String::from_utf8_lossy(&text).into_owned()
}
