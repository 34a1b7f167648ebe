//! The currencies that orders may be priced in.

use bourse_wire::{Address, ChainId, ChainRef, Currency, Timestamp, stable_number};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Of which chain.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListCurrenciesRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name; every chain when none is named and several are configured.
    chain_id: Option<ChainRef>,
}
request!(Request);

/// The currencies.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListCurrenciesAnswer")]
pub(crate) struct Answer {
    /// The currencies, by chain and address.
    pub(super) currencies: Vec<CurrencyRecord>,
}

/// A currency.
#[expect(clippy::struct_excessive_bools, reason = "clients know them one by one")]
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Currency")]
pub(crate) struct CurrencyRecord {
    /// A number for it, the same in every answer.
    id: u64,
    /// Chain.
    chain_id: ChainId,
    /// Contract address; the zero address is the chain's own currency.
    contract_address: Address,
    /// Always `active`.
    status: &'static str,
    /// Name.
    name: String,
    /// Symbol.
    symbol: String,
    /// Decimals of its base unit.
    decimals: u8,
    /// Link to its logo.
    image_url: String,
    /// US dollars a whole unit, with all its digits; 0 when it is not known.
    #[schemars(with = "f64")]
    exchange_rate: Number,
    /// When that was told; the zero time when it is not known.
    exchange_rate_updated_at: Timestamp,
    /// Whether it is what prices on the chain are in when nothing is said: the chain's own currency is.
    default_chain_currency: bool,
    /// Whether it is the chain's own currency.
    native_currency: bool,
    /// Whether listings on OpenSea can ask for it: in any currency.
    opensea_listing: bool,
    /// Whether offers on OpenSea can pay it: in any but the chain's own, which cannot be promised.
    opensea_offer: bool,
    /// Always the zero time.
    created_at: Timestamp,
    /// Always the zero time.
    updated_at: Timestamp,
    /// Always 0.
    refresh_metadata_job: u64,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let resident = &call.app.resident;
    let lists = match call.named_chain(request.chain_id.as_ref())? {
        Some(chain) => {
            call.check_known(chain).await?;
            vec![resident.currencies(chain)]
        }
        None => resident.all_currencies(),
    };
    let currencies = lists.iter().flat_map(|list| list.iter()).map(record);
    Ok(Answer { currencies: currencies.collect::<Result<_, _>>()? })
}

pub(super) fn record(currency: &Currency) -> Result<CurrencyRecord, Failure> {
    let is_native = currency.contract_address == Address::ZERO;
    let told = currency.rate.as_ref();
    let rate = told.map(|told| told.rate.to_string().parse()).transpose()?;
    let (chain, address) = (currency.chain_id.0.to_be_bytes(), currency.contract_address.to_string());
    Ok(CurrencyRecord {
        id: stable_number(&[&chain, address.as_bytes()]),
        chain_id: currency.chain_id,
        contract_address: currency.contract_address,
        status: "active",
        name: currency.name.clone(),
        symbol: currency.symbol.clone(),
        decimals: currency.decimals,
        image_url: currency.image_url.clone(),
        exchange_rate: rate.unwrap_or_else(|| Number::from(0)),
        exchange_rate_updated_at: told.map(|told| told.at).unwrap_or_default(),
        default_chain_currency: is_native,
        native_currency: is_native,
        opensea_listing: true,
        opensea_offer: !is_native,
        created_at: Timestamp::ZERO,
        updated_at: Timestamp::ZERO,
        refresh_metadata_job: 0,
    })
}
