//! The storefront of a project: its looks, what trades in it, and what it sells. What a project never said follows from the
//! collections of its market, so that there is a storefront as soon as there is one of these.

use bourse_store::{MarketCollection as StoredCollection, ProjectScope};
use bourse_wire::{
    Address, ChainId, Error, FilterSettings, MarketCollectionTerms, Marketplace, ProjectId,
    ShopCollectionTerms, Storefront, StorefrontPage, StorefrontSettings, Text, Timestamp, stable_number,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::storefronts::Parts;

/// Whose storefront: the project of the credential's, or the one that is at a host.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LookupMarketplaceRequest")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// A host, such as `shop.example`, where no project is given.
    domain: Option<Text<253>>,
    /// Who looks; everybody sees the same.
    #[serde(rename = "userAddress")]
    _user_address: Option<Address>,
}
request!(Request, project_id);

/// A storefront.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LookupMarketplaceAnswer")]
pub(crate) struct Answer {
    /// Its looks and its pages.
    marketplace: MarketplaceRecord,
    /// What trades, in its order.
    market_collections: Vec<MarketCollection>,
    /// What is sold, in its order.
    shop_collections: Vec<ShopCollection>,
}

/// Looks and pages of a storefront.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StorefrontMarketplace")]
struct MarketplaceRecord {
    /// The project.
    project_id: ProjectId,
    /// Looks, names and wallets.
    settings: StorefrontSettings,
    /// Where collections trade.
    market: StorefrontPage,
    /// Where they are sold.
    shop: StorefrontPage,
    /// When the project first said anything of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    /// When it last did.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
}

/// A collection that trades.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StorefrontMarketCollection")]
struct MarketCollection {
    /// A number for it, the same in every answer.
    id: u64,
    /// The project.
    project_id: ProjectId,
    /// Chain.
    chain_id: ChainId,
    /// Contract.
    items_address: Address,
    /// What kind of contract it is.
    contract_type: String,
    /// Link to the picture across its page.
    banner_url: String,
    /// What the storefront takes of a trade, in percent.
    fee_percentage: f64,
    /// Currencies to trade in.
    currency_options: Vec<Address>,
    /// Where new orders go.
    destination_marketplace: String,
    /// Which properties may be filtered by, in which order.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_settings: Option<FilterSettings>,
    /// Its place among the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_order: Option<i32>,
    /// Whether it is for whoever has a key of the project only.
    private: bool,
}

/// A collection that is sold.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StorefrontShopCollection")]
struct ShopCollection {
    /// A number for it, the same in every answer.
    id: u64,
    /// The project.
    project_id: ProjectId,
    #[serde(flatten)]
    terms: ShopCollectionTerms,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let own = call.caller.project();
    let project = match &request.domain {
        Some(domain) if request.project_id.is_none() && !domain.as_str().is_empty() => {
            let found = call.app.store.project_at(domain.as_str().to_ascii_lowercase()).await?;
            found.ok_or_else(|| nowhere(domain.as_str()))?
        }
        _ => own,
    };
    let scope = if project == own { call.scope() } else { ProjectScope::for_public_reads(project) };
    let parts = call.app.storefronts.find(&call.app.store, scope, call.now).await?;
    let mut storefront = parts.stored.as_ref().map(|stored| stored.storefront.clone()).unwrap_or_default();
    if project != own {
        storefront = public(storefront);
        if !storefront.market.enabled && !storefront.shop.enabled {
            let domain = request.domain.as_ref().map_or("", Text::as_str);
            return Err(nowhere(domain).into());
        }
    }
    Ok(answer(&call, &parts, storefront, project == own))
}

fn nowhere(domain: &str) -> Error {
    Error::not_found(format_args!("a storefront at {domain}"))
}

/// What everybody may see of a storefront.
fn public(mut storefront: Storefront) -> Storefront {
    for page in [&mut storefront.market, &mut storefront.shop] {
        if page.private {
            *page = StorefrontPage { private: true, ..StorefrontPage::default() };
        }
    }
    storefront
}

fn answer(call: &Call, parts: &Parts, storefront: Storefront, is_own: bool) -> Answer {
    let Storefront { mut settings, market, shop, market_collections, mut shop_collections, .. } = storefront;
    if settings.title.as_str().is_empty() {
        // A name of a project is no longer than a title.
        settings.title = parts.project.name.parse().unwrap_or_default();
    }
    let project_id = parts.project.id;
    let shows = |page: &StorefrontPage, is_private: bool| is_own || page.enabled && !is_private;
    let mut trading = trading(&parts.collections, market_collections);
    trading.retain(|(terms, _)| shows(&market, terms.private));
    shop_collections.retain(|terms| shows(&shop, terms.private));
    shop_collections.sort_by_key(|terms| place(terms.sort_order));
    let sold = |terms: ShopCollectionTerms| {
        let (chain, items) = (terms.chain_id, terms.items_address);
        ShopCollection { id: number("shop", project_id, chain, items), project_id, terms }
    };
    let traded = |(terms, info): (MarketCollectionTerms, Option<String>)| {
        market_collection(call, project_id, terms, info.as_deref())
    };
    let stored = parts.stored.as_ref();
    Answer {
        market_collections: trading.into_iter().map(traded).collect(),
        shop_collections: shop_collections.into_iter().map(sold).collect(),
        marketplace: MarketplaceRecord {
            project_id,
            settings,
            market,
            shop,
            created_at: stored.map(|stored| stored.created_at),
            updated_at: stored.map(|stored| stored.updated_at),
        },
    }
}

/// What trades, in its order, with what is known of each contract: the collections of the project's market, and others that it names.
fn trading(
    collections: &[StoredCollection],
    mut named: Vec<MarketCollectionTerms>,
) -> Vec<(MarketCollectionTerms, Option<String>)> {
    let mut found = Vec::with_capacity(collections.len());
    for StoredCollection { key, info } in collections {
        let is_this =
            |terms: &MarketCollectionTerms| (terms.chain_id, terms.items_address) == (key.chain, key.address);
        let terms = match named.iter().position(is_this) {
            Some(index) => named.remove(index),
            None => MarketCollectionTerms::usual(key.chain, key.address),
        };
        found.push((terms, info.clone()));
    }
    found.extend(named.into_iter().map(|terms| (terms, None)));
    found.retain(|(terms, _)| !terms.hidden);
    found.sort_by_key(|(terms, _)| place(terms.sort_order));
    found
}

/// Those without a place come last.
fn place(sort_order: Option<i32>) -> (bool, Option<i32>) {
    (sort_order.is_none(), sort_order)
}

fn market_collection(
    call: &Call,
    project_id: ProjectId,
    terms: MarketCollectionTerms,
    info: Option<&str>,
) -> MarketCollection {
    let (chain_id, items_address) = (terms.chain_id, terms.items_address);
    let currency_options = if terms.currency_options.is_empty() {
        // An empty list would let nobody trade.
        call.app.resident.currencies(chain_id).iter().map(|currency| currency.contract_address).collect()
    } else {
        terms.currency_options
    };
    let destination_marketplace = match terms.destination_marketplace.as_str() {
        "" => Marketplace::OwnV2.word(&call.app.service_name),
        named => named.to_owned(),
    };
    MarketCollection {
        id: number("market", project_id, chain_id, items_address),
        project_id,
        chain_id,
        items_address,
        contract_type: contract_type(info),
        banner_url: terms.banner_url.into_string(),
        fee_percentage: terms.fee_percentage,
        currency_options,
        destination_marketplace,
        filter_settings: terms.filter_settings,
        sort_order: terms.sort_order,
        private: terms.private,
    }
}

/// What kind of contract one is, by what is known of it.
fn contract_type(info: Option<&str>) -> String {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(default)]
        r#type: String,
    }
    let kind = info.and_then(|info| serde_json::from_str::<Kind>(info).ok());
    kind.map(|kind| kind.r#type).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "UNKNOWN".to_owned())
}

fn number(kind: &str, project: ProjectId, chain: ChainId, address: Address) -> u64 {
    let (project, chain) = (project.get().to_be_bytes(), chain.0.to_be_bytes());
    stable_number(&[kind.as_bytes(), &project, &chain, address.to_string().as_bytes()])
}
