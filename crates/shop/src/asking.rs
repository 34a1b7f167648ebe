//! Who looks at which shop, and how their page asks for what it shows: by the shop's public key, as any program could.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OriginalUri, RawPathParams};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use bourse_pages::records::{Currencies, Currency};
use bourse_server::limits::Bucket;
use bourse_server::{Guest, Peer, StorefrontParts, origin_of, site_address};
use bourse_store::CollectionKey;
use bourse_wire::{
    Address, ChainId, ContractInfo, ProjectId, ShopCollectionTerms, Storefront, Text, TokenId,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::words::Words;
use crate::{PREFIX, Shop};

/// What the address of a picture ends with.
pub(crate) const PICTURE: &str = "/image";
/// What a page counts for, in pictures, beside the operations that it asks.
pub(crate) const PAGE_COST: u64 = 10;
/// What each of these counts for: a page of many collections is dear.
const OPERATION_COST: u64 = 1;
/// Characters of a currency's symbol, which whoever tells of one chooses, and which a page has many times.
const SYMBOL_CHARS: usize = 12;

/// Somebody before a page of a shop.
pub(crate) struct Visit {
    pub(crate) shop: Arc<Shop>,
    pub(crate) parts: Arc<StorefrontParts>,
    pub(crate) words: Arc<Words>,
    /// The path and the query that were asked for.
    pub(crate) uri: OriginalUri,
    /// The tag of the page that the browser has.
    pub(crate) known: Option<String>,
    names: Vec<(String, String)>,
    pub(crate) peer: Option<IpAddr>,
    storefront: Storefront,
}

/// How collections trade in a shop, and what it sells.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Market {
    market_collections: Vec<Trading>,
    shop_collections: Vec<ShopCollectionTerms>,
}

/// A contract of a shop that mints tokens for whoever pays, and where its page is.
pub(crate) struct SaleRef {
    pub(crate) chain: ChainId,
    pub(crate) items: Address,
    pub(crate) contract: Address,
    pub(crate) name: String,
    pub(crate) path: String,
}

/// How a collection trades.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trading {
    pub(crate) chain_id: ChainId,
    pub(crate) items_address: Address,
    pub(crate) contract_type: String,
    pub(crate) fee_percentage: f64,
    pub(crate) currency_options: Vec<Address>,
    pub(crate) destination_marketplace: String,
    private: bool,
}

/// A collection of a shop, and where its pages are.
pub(crate) struct CollectionRef {
    pub(crate) key: CollectionKey,
    pub(crate) trading: Trading,
    /// The network's name, or the chain's number where it has none.
    pub(crate) network: String,
    pub(crate) path: String,
}

impl CollectionRef {
    /// The body of a question about it.
    pub(crate) fn body(&self, members: Value) -> Value {
        body_of(self.key, members)
    }

    /// The path of a token's page.
    pub(crate) fn token(&self, token: TokenId) -> String {
        format!("{}/{token}", self.path)
    }

    /// The path of a token's picture.
    pub(crate) fn picture(&self, token: TokenId) -> String {
        format!("{}/{token}{PICTURE}", self.path)
    }
}

/// The body of a question about a contract.
pub(crate) fn body_of(key: CollectionKey, mut members: Value) -> Value {
    members["chainId"] = json!(key.chain.to_string());
    members["contractAddress"] = json!(key.address);
    members
}

impl FromRequestParts<Arc<Shop>> for Visit {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shop: &Arc<Shop>) -> Result<Self, Refusal> {
        let peer = Peer::of(&parts.extensions);
        let is_picture = parts.uri.path().ends_with(PICTURE);
        admit(shop, peer, if is_picture { 1 } else { PAGE_COST })?;
        let names = RawPathParams::from_request_parts(parts, shop).await.map_err(|_| Refusal::Missing)?;
        let names: Vec<(String, String)> =
            names.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let project = names.iter().find(|(name, _)| name == "project").map(|(_, text)| text.as_str());
        let project = project.and_then(|text| text.parse::<u64>().ok());
        let project = project.and_then(|number| ProjectId::try_from(number).ok()).ok_or(Refusal::Missing)?;
        // Pages of one host share what browsers keep and what wallets allow: at another shop's host this one is not shown.
        if shop
            .backstage
            .project_at(host_in(&parts.headers, &parts.uri))
            .await?
            .is_some_and(|other| other != project)
        {
            return Err(Refusal::Missing);
        }
        let consists_of = shop.backstage.storefront(project).await?;
        let storefront = open_shop(&consists_of).ok_or(Refusal::Missing)?;
        let words = shop.languages.of_tag(storefront.site.language.as_str());
        let words = words.unwrap_or_else(|| shop.languages.of_browser(&parts.headers));
        let uri = OriginalUri::from_request_parts(parts, shop).await.map_err(|_| Refusal::Missing)?;
        Ok(Self {
            shop: Arc::clone(shop),
            parts: consists_of,
            words,
            uri,
            known: text_of(&parts.headers, header::IF_NONE_MATCH),
            names,
            peer,
            storefront,
        })
    }
}

/// The host that a request is for; newer versions of HTTP name it in the address.
pub(crate) fn host_in<'r>(headers: &'r HeaderMap, address: &'r Uri) -> &'r str {
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    named.or_else(|| address.authority().map(Authority::as_str)).unwrap_or_default()
}

/// Counts what an address asks for.
pub(crate) fn admit(shop: &Shop, peer: Option<IpAddr>, cost: u64) -> Result<(), Refusal> {
    let Some(peer) = peer else { return Ok(()) };
    let allowance = shop.visitors.take(Bucket::of_address(peer), cost, shop.backstage.now());
    if allowance.is_some_and(|allowance| allowance.refused) { Err(Refusal::TooMany) } else { Ok(()) }
}

/// The storefront of a project, if it is open to everybody.
pub(crate) fn open_shop(parts: &StorefrontParts) -> Option<Storefront> {
    let storefront = &parts.stored.as_ref()?.storefront;
    let is_open = storefront.site.enabled && storefront.settings.access_key.is_some();
    (is_open && storefront.market.enabled && !storefront.market.private).then(|| storefront.clone())
}

fn text_of(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

impl Visit {
    /// What the project said of its storefront.
    pub(crate) fn storefront(&self) -> &Storefront {
        &self.storefront
    }

    /// The public key that the shop asks with.
    pub(crate) fn key(&self) -> &str {
        self.storefront.settings.access_key.as_ref().map_or("", |key| key.as_str())
    }

    /// What the shop is called.
    pub(crate) fn title(&self) -> &str {
        match self.storefront.settings.title.as_str() {
            "" => &self.parts.project.name,
            title => title,
        }
    }

    /// The marketplaces whose orders are shown, as filters of operations name them: none for all.
    pub(crate) fn marketplaces(&self) -> &[Text<64>] {
        &self.storefront.site.marketplaces
    }

    /// The address of the shop's host, where it says which one.
    pub(crate) fn base(&self) -> String {
        site_address(&self.storefront, self.shop.backstage.settings())
    }

    /// The path of a page of this shop.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("{PREFIX}/{}{rest}", self.parts.project.id)
    }

    /// A part of the path by its name.
    pub(crate) fn part<T: std::str::FromStr>(&self, name: &str) -> Result<T, Refusal> {
        let found = self.names.iter().find(|(known, _)| known == name);
        found.and_then(|(_, text)| text.parse().ok()).ok_or(Refusal::Missing)
    }

    /// What is said by a key, in the visitor's language.
    pub(crate) fn say<'k>(&'k self, key: &'k str) -> &'k str {
        self.words.say(key)
    }

    /// Asks an operation, `ask("Marketplace/ListCollectibles", &body)`, and reads its answer.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, operation: &str, body: &Value) -> Result<T, Refusal> {
        admit(&self.shop, self.peer, OPERATION_COST)?;
        let origin = origin_of(&self.base());
        let guest = Guest { key: self.key(), origin: &origin, peer: self.peer };
        let answer = self.shop.backstage.ask_as_guest(guest, operation, body.to_string().into()).await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// What trades here and is for everybody.
    pub(crate) async fn market(&self) -> Result<Vec<CollectionRef>, Refusal> {
        let market: Market = self.ask("MarketplaceService/LookupMarketplace", &json!({})).await?;
        let shown = market.market_collections.into_iter().filter(|trading| !trading.private);
        Ok(shown.map(|trading| self.collection_of(trading)).collect())
    }

    /// What sells tokens here and is for everybody.
    pub(crate) async fn sales(&self) -> Result<Vec<SaleRef>, Refusal> {
        let page = &self.storefront.shop;
        if !page.enabled || page.private {
            return Ok(Vec::new());
        }
        let market: Market = self.ask("MarketplaceService/LookupMarketplace", &json!({})).await?;
        let networks = &self.shop.backstage.settings().networks;
        let sale = |terms: ShopCollectionTerms| SaleRef {
            chain: terms.chain_id,
            items: terms.items_address,
            contract: terms.sale_address,
            path: self.path(&format!("/sale/{}/{}", networks.label(terms.chain_id.0), terms.sale_address)),
            name: terms.name.into_string(),
        };
        Ok(market.shop_collections.into_iter().filter(|terms| !terms.private).map(sale).collect())
    }

    /// The sale that the path names, if this shop has it.
    pub(crate) async fn sale(&self) -> Result<SaleRef, Refusal> {
        let (chain, contract) = self.named()?;
        let mut sales = self.sales().await?.into_iter();
        sales.find(|sale| (sale.chain, sale.contract) == (chain, contract)).ok_or(Refusal::Missing)
    }

    /// The contract that the path names.
    fn named(&self) -> Result<(ChainId, Address), Refusal> {
        let chain: String = self.part("chain")?;
        let chain = self.shop.backstage.chain(&chain).map_err(|_| Refusal::Missing)?;
        Ok((chain, self.part("address")?))
    }

    /// The contract that the path names, if it trades here and is for everybody: as [`Self::market`] has it, without asking.
    pub(crate) fn shown_contract(&self) -> Result<CollectionKey, Refusal> {
        let (chain, address) = self.named()?;
        let key = CollectionKey { chain, address };
        let mut named = self.storefront.market_collections.iter();
        let is_shown = match named.find(|terms| (terms.chain_id, terms.items_address) == (chain, address)) {
            Some(terms) => !terms.hidden && !terms.private,
            None => self.parts.collections.iter().any(|known| known.key == key),
        };
        if is_shown { Ok(key) } else { Err(Refusal::Missing) }
    }

    /// What is sold by the contract that the path names, if it sells here and is for everybody: as [`Self::sales`] has it.
    pub(crate) fn sold_contract(&self) -> Result<CollectionKey, Refusal> {
        let (chain, contract) = self.named()?;
        let Storefront { shop: page, shop_collections: sold, .. } = &self.storefront;
        let is_it = |terms: &&ShopCollectionTerms| {
            (terms.chain_id, terms.sale_address) == (chain, contract) && !terms.private
        };
        let terms = sold.iter().find(is_it).filter(|_| page.enabled && !page.private);
        let terms = terms.ok_or(Refusal::Missing)?;
        Ok(CollectionKey { chain, address: terms.items_address })
    }

    fn collection_of(&self, trading: Trading) -> CollectionRef {
        let key = CollectionKey { chain: trading.chain_id, address: trading.items_address };
        let network = self.shop.backstage.settings().networks.label(key.chain.0);
        let path = self.path(&format!("/c/{network}/{}", key.address));
        CollectionRef { key, trading, network, path }
    }

    /// The collection that the path names, if this shop shows it.
    pub(crate) async fn collection(&self) -> Result<CollectionRef, Refusal> {
        let (chain, address) = self.named()?;
        let key = CollectionKey { chain, address };
        self.market().await?.into_iter().find(|shown| shown.key == key).ok_or(Refusal::Missing)
    }

    /// What is known of a contract; nothing when nobody said anything of it.
    pub(crate) async fn contract_info(
        &self,
        collection: &CollectionRef,
    ) -> Result<Option<ContractInfo>, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            contract_info: ContractInfo,
        }
        let answer = self.ask::<Answer>("Metadata/GetContractInfo", &collection.body(json!({}))).await;
        Ok(Refusal::unless_missing(answer)?.map(|answer| answer.contract_info))
    }

    /// The currencies of a collection's chain.
    pub(crate) async fn currencies(&self, collection: &CollectionRef) -> Result<Currencies, Refusal> {
        self.currencies_of(collection.key.chain).await
    }

    /// The currencies of a chain, none with a long symbol.
    pub(crate) async fn currencies_of(&self, chain: ChainId) -> Result<Currencies, Refusal> {
        #[derive(Deserialize)]
        struct Answer {
            currencies: Vec<Currency>,
        }
        let body = json!({ "chainId": chain.to_string() });
        let Answer { mut currencies } = self.ask("Marketplace/ListCurrencies", &body).await?;
        for currency in &mut currencies {
            currency.symbol = currency.symbol.chars().take(SYMBOL_CHARS).collect();
        }
        Ok(Currencies::new(currencies))
    }
}
