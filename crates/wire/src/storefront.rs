//! What a project's storefront looks like, and what it trades and sells. Everything may be left out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Address, ChainId, Error, JsonObject, Text};

/// The most collections of each kind that a storefront may say something of.
const COLLECTIONS_MAX: usize = 200;
/// The most links at the end of a page.
const FOOTER_MAX: usize = 20;
/// The most that an operator may take of a trade, in basis points.
const FEE_BPS_MAX: u16 = 5_000;
/// The most entries of any other list.
const ENTRIES_MAX: usize = 200;

/// A storefront as its project wants it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Storefront {
    /// The host that it is served at, such as `shop.example`, by which it is found too. Only one project has it.
    pub domain: Text<253>,
    /// Looks, names, and the wallets that people may use.
    pub settings: StorefrontSettings,
    /// The page on which collections trade.
    pub market: StorefrontPage,
    /// The page on which they are sold.
    pub shop: StorefrontPage,
    /// Of collections that trade, what is not as usual. All collections of the project's market trade, those that are not named
    /// here as well.
    pub market_collections: Vec<MarketCollectionTerms>,
    /// Collections that are sold.
    pub shop_collections: Vec<ShopCollectionTerms>,
    /// The pages that this service itself serves to buyers.
    #[serde(skip_serializing_if = "StorefrontSite::is_usual")]
    pub site: StorefrontSite,
}

/// Pages for buyers at `/shop/{projectId}`, served by this service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorefrontSite {
    /// Whether there are any. They ask with `settings.accessKey`, which everybody can read in them.
    pub enabled: bool,
    /// What is sold here, in a sentence or two, for people and for search engines.
    pub description: Text<512>,
    /// The colour of links and buttons, such as `#0a6259`.
    pub accent: Text<7>,
    /// The language of the pages, such as `en`; what browsers ask for when it is empty.
    pub language: Text<16>,
    /// What the operator takes of each trade, in basis points, where nothing is said of the collection.
    pub fee_bps: u16,
    /// Who gets that, and what is said of collections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee_receiver: Option<Address>,
    /// Marketplaces whose orders are shown; all when there are none.
    pub marketplaces: Vec<Text<64>>,
    /// Links at the end of every page.
    pub footer: Vec<FooterLink>,
}

/// A link at the end of every page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FooterLink {
    /// What it says.
    pub label: Text<64>,
    /// Where it leads.
    pub url: Text<2048>,
}

impl Default for Storefront {
    /// What a project has that never said anything: a market, and no shop.
    fn default() -> Self {
        Self {
            domain: Text::default(),
            settings: StorefrontSettings::default(),
            market: StorefrontPage { enabled: true, ..StorefrontPage::default() },
            shop: StorefrontPage::default(),
            market_collections: Vec::new(),
            shop_collections: Vec::new(),
            site: StorefrontSite::default(),
        }
    }
}

/// A page of a storefront.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorefrontPage {
    /// Whether there is one.
    pub enabled: bool,
    /// Link to the picture across it.
    pub banner_url: Text<2048>,
    /// Link to the picture that others show for it.
    pub og_image: Text<2048>,
    /// Whether it is for whoever has a key of the project only.
    pub private: bool,
}

/// Looks, names and wallets of a storefront.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorefrontSettings {
    /// Colours, radii and the like, as the storefront reads them.
    pub style: JsonObject,
    /// Who publishes it, as they call themselves.
    pub publisher_id: Text<256>,
    /// Title; the project's name when it is empty.
    pub title: Text<256>,
    /// Where else its people are.
    pub socials: StorefrontSocials,
    /// Link to the small picture of browser tabs.
    pub favicon_url: Text<2048>,
    /// Wallets that people may use.
    pub wallet_options: StorefrontWallets,
    /// Link to the logo.
    pub logo_url: Text<2048>,
    /// Link to the font.
    pub font_url: Text<2048>,
    /// The public access key that the storefront asks with, where it is to be handed out with these settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_key: Option<Text<64>>,
    /// Whether people may pay through Trails.
    pub is_trails_enabled: bool,
}

/// Where the people of a storefront are elsewhere: links or names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorefrontSocials {
    /// X, formerly Twitter.
    pub twitter: Text<512>,
    /// Discord.
    pub discord: Text<512>,
    /// Web site.
    pub website: Text<512>,
    /// `TikTok`.
    pub tiktok: Text<512>,
    /// Instagram.
    pub instagram: Text<512>,
    /// `YouTube`.
    pub youtube: Text<512>,
}

/// Which wallets people may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StorefrontWallets {
    /// Which kind.
    pub wallet_type: WalletKind,
    /// Who proves who somebody is, by name.
    pub oidc_issuers: BTreeMap<String, Text<512>>,
    /// Ways to connect a wallet, by their names.
    pub connectors: Vec<Text<64>>,
    /// Whether wallets that announce themselves to the page are shown.
    #[serde(rename = "includeEIP6963Wallets")]
    pub include_eip6963_wallets: bool,
    /// Of a wallet of one's own, where it is and what it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecosystem: Option<EcosystemWallet>,
    /// Of a wallet within the page, who lets people in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedded: Option<EmbeddedWallet>,
}

impl Default for StorefrontWallets {
    fn default() -> Self {
        Self {
            wallet_type: WalletKind::Universal,
            oidc_issuers: BTreeMap::new(),
            connectors: Vec::new(),
            include_eip6963_wallets: true,
            ecosystem: None,
            embedded: None,
        }
    }
}

/// A kind of wallet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum WalletKind {
    /// Any.
    #[default]
    Universal,
    /// Within the page.
    Embedded,
    /// Of one's own.
    Ecosystem,
}

/// A wallet of one's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EcosystemWallet {
    /// Where it is.
    pub wallet_url: Text<2048>,
    /// What it is called.
    pub wallet_app_name: Text<256>,
    /// Its logo on light ground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_light_url: Option<Text<2048>>,
    /// Its logo on dark ground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_dark_url: Option<Text<2048>>,
}

/// A wallet within the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EmbeddedWallet {
    /// The key of its tenant.
    pub tenant_key: Text<512>,
    /// Whether an e-mail address is enough.
    pub email_enabled: bool,
    /// Who else lets people in.
    pub providers: Vec<WalletProvider>,
}

/// Somebody who lets people in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WalletProvider {
    /// Who.
    pub iss: Text<512>,
    /// For whom.
    pub aud: Text<512>,
}

/// How a collection trades in a storefront.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketCollectionTerms {
    /// Its chain.
    pub chain_id: ChainId,
    /// Its contract.
    pub items_address: Address,
    /// Whether it is left out.
    #[serde(default)]
    pub hidden: bool,
    /// Link to the picture across its page.
    #[serde(default)]
    pub banner_url: Text<2048>,
    /// What the storefront takes of a trade, in percent.
    #[serde(default)]
    pub fee_percentage: f64,
    /// Currencies to trade in; all that are known of its chain when there are none.
    #[serde(default)]
    pub currency_options: Vec<Address>,
    /// Where new orders go; the service's own marketplace when it is empty.
    #[serde(default)]
    pub destination_marketplace: Text<64>,
    /// Which properties may be filtered by, in which order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_settings: Option<FilterSettings>,
    /// Its place among the others, the lowest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<i32>,
    /// Whether it is for whoever has a key of the project only.
    #[serde(default)]
    pub private: bool,
}

/// Which properties of a collection may be filtered by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FilterSettings {
    /// Names of properties in their order.
    pub filter_order: Vec<Text<256>>,
    /// What is left out.
    pub exclusions: Vec<FilterExclusion>,
}

/// Something that nobody filters by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilterExclusion {
    /// The property.
    pub key: Text<256>,
    /// All of it, or a value.
    pub condition: FilterCondition,
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Text<256>>,
}

/// What of a property is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FilterCondition {
    /// All of it.
    EntireKey,
    /// One value.
    SpecificValue,
}

/// A collection that a storefront sells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShopCollectionTerms {
    /// Its chain.
    pub chain_id: ChainId,
    /// The contract of what is sold.
    pub items_address: Address,
    /// The contract that sells it.
    pub sale_address: Address,
    /// What it is called.
    #[serde(default)]
    pub name: Text<256>,
    /// Link to the picture across its page.
    #[serde(default)]
    pub banner_url: Text<2048>,
    /// Tokens that are shown.
    #[serde(default)]
    pub token_ids: Vec<Text<78>>,
    /// Tokens that the storefront shows in its own way.
    #[serde(default)]
    pub custom_token_ids: Vec<Text<78>>,
    /// Its place among the others, the lowest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<i32>,
    /// Whether it is for whoever has a key of the project only.
    #[serde(default)]
    pub private: bool,
}

impl Storefront {
    /// Refuses what no storefront can be.
    pub fn check(&self) -> Result<(), Error> {
        check_domain(self.domain.as_str())?;
        self.settings.check()?;
        self.site.check()?;
        for (name, page) in [("market", &self.market), ("shop", &self.shop)] {
            check_link(&format!("storefront.{name}.bannerUrl"), page.banner_url.as_str())?;
            check_link(&format!("storefront.{name}.ogImage"), page.og_image.as_str())?;
        }
        check_count("storefront.marketCollections", self.market_collections.len(), COLLECTIONS_MAX)?;
        check_count("storefront.shopCollections", self.shop_collections.len(), COLLECTIONS_MAX)?;
        for (index, collection) in self.market_collections.iter().enumerate() {
            collection.check(&format!("storefront.marketCollections[{index}]"))?;
        }
        for (index, collection) in self.shop_collections.iter().enumerate() {
            collection.check(&format!("storefront.shopCollections[{index}]"))?;
        }
        Ok(())
    }
}

impl StorefrontSite {
    /// Whether nothing was said of it.
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    fn check(&self) -> Result<(), Error> {
        check_count("storefront.site.footer", self.footer.len(), FOOTER_MAX)?;
        check_count("storefront.site.marketplaces", self.marketplaces.len(), ENTRIES_MAX)?;
        for (index, link) in self.footer.iter().enumerate() {
            check_link(&format!("storefront.site.footer[{index}].url"), link.url.as_str())?;
        }
        if self.fee_bps > FEE_BPS_MAX {
            let reason = format!("{} basis points are more than {FEE_BPS_MAX}", self.fee_bps);
            return Err(Error::invalid("storefront.site.feeBps", reason));
        }
        if self.fee_bps > 0 && self.fee_receiver.is_none() {
            return Err(Error::invalid("storefront.site.feeReceiver", "is required where a fee is taken"));
        }
        let accent = self.accent.as_str();
        let digits = accent.strip_prefix('#').unwrap_or_default();
        let is_colour = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if accent.is_empty() || is_colour {
            return Ok(());
        }
        Err(Error::invalid("storefront.site.accent", "is no colour: write one such as #0a6259"))
    }
}

impl StorefrontSettings {
    fn check(&self) -> Result<(), Error> {
        let wallets = &self.wallet_options;
        let ecosystem = wallets.ecosystem.as_ref();
        let own_wallet = ecosystem.map_or("", |wallet| wallet.wallet_url.as_str());
        for (member, link) in [
            ("faviconUrl", self.favicon_url.as_str()),
            ("logoUrl", self.logo_url.as_str()),
            ("fontUrl", self.font_url.as_str()),
            ("walletOptions.ecosystem.walletUrl", own_wallet),
        ] {
            check_link(&format!("storefront.settings.{member}"), link)?;
        }
        let providers = wallets.embedded.as_ref().map_or(0, |wallet| wallet.providers.len());
        for (member, count) in [
            ("walletOptions.connectors", wallets.connectors.len()),
            ("walletOptions.oidcIssuers", wallets.oidc_issuers.len()),
            ("walletOptions.embedded.providers", providers),
        ] {
            check_count(&format!("storefront.settings.{member}"), count, ENTRIES_MAX)?;
        }
        Ok(())
    }
}

impl MarketCollectionTerms {
    /// A collection that trades as usual.
    pub fn usual(chain_id: ChainId, items_address: Address) -> Self {
        Self {
            chain_id,
            items_address,
            hidden: false,
            banner_url: Text::default(),
            fee_percentage: 0.0,
            currency_options: Vec::new(),
            destination_marketplace: Text::default(),
            filter_settings: None,
            sort_order: None,
            private: false,
        }
    }

    fn check(&self, member: &str) -> Result<(), Error> {
        check_link(&format!("{member}.bannerUrl"), self.banner_url.as_str())?;
        check_count(&format!("{member}.currencyOptions"), self.currency_options.len(), ENTRIES_MAX)?;
        if !(0.0..=100.0).contains(&self.fee_percentage) {
            let reason = format!("{} is not between 0 and 100", self.fee_percentage);
            return Err(Error::invalid(&format!("{member}.feePercentage"), reason));
        }
        let Some(FilterSettings { filter_order, exclusions }) = &self.filter_settings else { return Ok(()) };
        check_count(&format!("{member}.filterSettings.filterOrder"), filter_order.len(), ENTRIES_MAX)?;
        check_count(&format!("{member}.filterSettings.exclusions"), exclusions.len(), ENTRIES_MAX)
    }
}

impl ShopCollectionTerms {
    fn check(&self, member: &str) -> Result<(), Error> {
        check_link(&format!("{member}.bannerUrl"), self.banner_url.as_str())?;
        check_count(&format!("{member}.tokenIds"), self.token_ids.len(), ENTRIES_MAX)?;
        check_count(&format!("{member}.customTokenIds"), self.custom_token_ids.len(), ENTRIES_MAX)?;
        let mut ids = self.token_ids.iter().chain(&self.custom_token_ids);
        let wrong = ids.find(|id| id.as_str().parse::<crate::TokenId>().is_err());
        match wrong {
            Some(id) => {
                Err(Error::invalid(&format!("{member}.tokenIds"), format!("`{}` is none", id.as_str())))
            }
            None => Ok(()),
        }
    }
}

fn check_count(member: &str, count: usize, most: usize) -> Result<(), Error> {
    if count <= most {
        return Ok(());
    }
    Err(Error::invalid(member, format!("{count} entries where at most {most} are allowed")))
}

/// What a page loads or leads to must not be a script.
fn check_link(member: &str, link: &str) -> Result<(), Error> {
    let schemes = ["https://", "http://", "ipfs://", "data:image/"];
    if link.is_empty() || schemes.iter().any(|scheme| link.starts_with(scheme)) {
        return Ok(());
    }
    Err(Error::invalid(member, "is no link: write one that begins with https://"))
}

/// A host as browsers name it, with a port where it has one.
fn check_domain(domain: &str) -> Result<(), Error> {
    let (host, port) = domain.split_once(':').unwrap_or((domain, "1"));
    let is_label = |label: &str| {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(is_word)
    };
    if domain.is_empty() || host.split('.').all(is_label) && port.parse::<u16>().is_ok() {
        return Ok(());
    }
    let reason = "is no host: write it in small letters and without https://, such as shop.example";
    Err(Error::invalid("storefront.domain", reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(change: impl FnOnce(&mut Storefront)) -> Result<(), String> {
        let mut storefront = Storefront::default();
        change(&mut storefront);
        storefront.check().map_err(|error| error.message)
    }

    #[test]
    fn nothing_is_a_storefront() {
        assert_eq!(serde_json::from_str::<Storefront>("{}").unwrap(), Storefront::default());
        assert_eq!(checked(|_| {}), Ok(()));
    }

    #[test]
    fn what_none_can_be_is_refused() {
        for domain in ["shop.example", "localhost:3000", "xn--bcher-kva.example", ""] {
            assert_eq!(checked(|storefront| storefront.domain = domain.parse().unwrap()), Ok(()), "{domain}");
        }
        for domain in
            ["https://shop.example", "Shop.example", "shop.example/", "a..b", ":80", "a:b", "a b", "é"]
        {
            assert!(checked(|storefront| storefront.domain = domain.parse().unwrap()).is_err(), "{domain}");
        }
        let script = |storefront: &mut Storefront| {
            storefront.settings.logo_url = "javascript:alert(1)".parse().unwrap();
        };
        assert!(checked(script).unwrap_err().contains("storefront.settings.logoUrl"));
        for accent in ["red", "#12345", "#12345g", "#é234", "0a6259", "#}*{}/*"] {
            let changed = checked(|storefront| storefront.site.accent = accent.parse().unwrap());
            assert!(changed.unwrap_err().contains("site.accent"), "{accent}");
        }
        assert_eq!(checked(|storefront| storefront.site.accent = "#0A6259".parse().unwrap()), Ok(()));
        let unpaid = checked(|storefront| storefront.site.fee_bps = 250);
        assert!(unpaid.unwrap_err().contains("feeReceiver"));
        let script = |storefront: &mut Storefront| {
            let url = "javascript:alert(1)".parse().unwrap();
            storefront.site.footer = vec![FooterLink { label: Text::default(), url }];
        };
        assert!(checked(script).unwrap_err().contains("site.footer[0]"));
        let fee = |fee: f64| {
            move |storefront: &mut Storefront| {
                let usual = MarketCollectionTerms::usual(ChainId(1), Address::ZERO);
                storefront.market_collections = vec![MarketCollectionTerms { fee_percentage: fee, ..usual }];
            }
        };
        assert_eq!(checked(fee(2.5)), Ok(()));
        for wrong in [-1.0, 100.5, f64::NAN] {
            assert!(checked(fee(wrong)).is_err(), "{wrong}");
        }
    }
}
