//! What should be seen to before real money is taken: the check-list of `bourse doctor --shop`.

mod followed;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bourse_chain::Node as _;
use bourse_chain::rpc::{HttpNode, HttpOptions, NodeUrl};
use bourse_server::auth::AccessKey;
use bourse_server::settings::{Network, Settings};
use bourse_server::{Clock, check_site_key, origin_of, site_address};
use bourse_store::{
    AccessKeyRecord, CollectionKey, Project, ProjectScope, Store, StoreError, StoredStorefront,
};
use bourse_wire::{Address, ChainId, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};

use super::backup::LAST_BACKUP;
use super::doctor::Check;

/// How long a node may take to answer.
const NODE_TIMEOUT: Duration = Duration::from_secs(10);
/// How old the last backup may be, in days.
const BACKUP_DAYS_MAX: i64 = 7;
/// Collections of a project's market that are looked at.
const COLLECTIONS_MAX: u64 = 200;
/// What is wrong of several things is told of so many.
const TOLD_MAX: usize = 5;

/// A project that has a storefront.
struct Shop {
    project: Project,
    storefront: StoredStorefront,
    keys: Vec<AccessKeyRecord>,
    collections: Vec<CollectionKey>,
    /// Whether there are more, which are not looked at.
    has_more: bool,
}

/// Everything of the list, in the order in which one sees to it.
pub(super) async fn checks(settings: &Settings) -> Vec<Check> {
    let Ok(store) = Store::connect(&settings.database_url(), settings.open_options()).await else {
        // Said by the checks of the database already.
        return Vec::new();
    };
    let check = |name, result| Check { name, result };
    let mut checks = vec![check("public address", check_address(settings))];
    checks.push(check(
        "administrators",
        check_people(&store).await.unwrap_or_else(|error| Err(error.to_string())),
    ));
    checks.push(check("last backup", check_backup(settings, Clock::system().now())));
    match shops(&store).await {
        Err(error) => checks.push(check("storefronts", Err(error.to_string()))),
        Ok(shops) => {
            checks.push(check("storefronts", check_storefronts(&shops)));
            checks.push(check("fees", check_fees(&shops)));
            checks.push(check("access keys", check_keys(settings, &shops)));
            checks.push(check("chain nodes", check_nodes(settings, &shops).await));
            checks.push(check(
                "contracts",
                followed::check(settings, &store, &shops)
                    .await
                    .unwrap_or_else(|error| Err(error.to_string())),
            ));
        }
    }
    store.close().await;
    checks
}

async fn shops(store: &Store) -> Result<Vec<Shop>, StoreError> {
    let mut shops = Vec::new();
    for project in store.projects().await? {
        let scope = ProjectScope::of_operator(project.id);
        if let Some(storefront) = store.storefront(scope).await? {
            let keys = store.access_keys(scope).await?;
            let mut collections: Vec<CollectionKey> = store
                .market_collections(scope, 0, COLLECTIONS_MAX + 1)
                .await?
                .into_iter()
                .map(|collection| collection.key)
                .collect();
            let has_more = collections.len() as u64 > COLLECTIONS_MAX;
            if has_more {
                collections.pop();
            }
            let sold = storefront.storefront.market_collections.iter();
            collections.extend(
                sold.map(|terms| CollectionKey { chain: terms.chain_id, address: terms.items_address }),
            );
            collections.sort_unstable();
            collections.dedup();
            shops.push(Shop { project, storefront, keys, collections, has_more });
        }
    }
    Ok(shops)
}

/// Several findings as one.
fn all(wrong: &[String], fine: String) -> Result<String, String> {
    if wrong.is_empty() { Ok(fine) } else { Err(wrong[..wrong.len().min(TOLD_MAX)].join("; ")) }
}

fn check_address(settings: &Settings) -> Result<String, String> {
    let url = settings.server.public_url.as_str();
    match url.strip_prefix("https://") {
        Some(host) if !host.is_empty() => Ok(url.to_owned()),
        _ if url.is_empty() => {
            Err("server.public_url is empty: set it to the https:// address that people open".to_owned())
        }
        _ => Err(format!(
            "server.public_url is {url}: wallets and browsers want https://, which a proxy in front provides"
        )),
    }
}

async fn check_people(store: &Store) -> Result<Result<String, String>, StoreError> {
    let accounts = store.accounts().await?;
    let administrators: Vec<_> = accounts.into_iter().filter(|account| account.administrator).collect();
    if administrators.is_empty() {
        return Ok(Err(
            "nobody administers the console: `bourse console link` makes somebody an administrator"
                .to_owned(),
        ));
    }
    let mut wrong = Vec::new();
    for account in &administrators {
        let factor = store.second_factor(account.id).await?;
        if factor.is_none_or(|factor| factor.confirmed_at.is_none()) {
            wrong.push(format!(
                "{} signs in without a second factor: switch it on in the console, at Account",
                account.email
            ));
        }
    }
    Ok(all(&wrong, format!("{}, with a second factor", administrators.len())))
}

fn check_backup(settings: &Settings, now: Timestamp) -> Result<String, String> {
    if settings.storage.sqlite_file().is_none() {
        return Ok("of PostgreSQL they are made with its own tools, which is not seen from here".to_owned());
    }
    let never =
        || "no backup was made with `bourse backup` yet: make one, and have it made every day".to_owned();
    let made = read_backup(&settings.storage.data).ok_or_else(never)?;
    let days = (now.unix_seconds() - made.unix_seconds()) / 86_400;
    if days > BACKUP_DAYS_MAX {
        return Err(format!("the last one is of {made}, {days} days ago: have one made every day"));
    }
    Ok(format!("of {made}"))
}

fn read_backup(data: &Path) -> Option<Timestamp> {
    std::fs::read_to_string(data.join(LAST_BACKUP)).ok()?.trim().parse().ok()
}

fn check_storefronts(shops: &[Shop]) -> Result<String, String> {
    if shops.is_empty() {
        return Err(
            "no project has one: fill in the page Storefront of the project in the console".to_owned()
        );
    }
    let mut wrong = Vec::new();
    for shop in shops {
        let of = format!("project {} ({})", shop.project.id, shop.project.name.as_str());
        if shop.storefront.storefront.domain.as_str().is_empty() {
            wrong.push(format!("{of} names no domain: people find the storefront by it"));
        }
        if shop.collections.is_empty() {
            wrong.push(format!("{of} has no collection: add one to its market"));
        }
    }
    let domains: Vec<&str> = shops.iter().map(|shop| shop.storefront.storefront.domain.as_str()).collect();
    all(&wrong, domains.join(", "))
}

/// Whether somebody receives what is taken of trades.
fn check_fees(shops: &[Shop]) -> Result<String, String> {
    let (mut wrong, mut taken) = (Vec::new(), Vec::new());
    for shop in shops {
        let storefront = &shop.storefront.storefront;
        let takes = storefront.site.fee_bps > 0
            || storefront.market_collections.iter().any(|terms| terms.fee_percentage > 0.0);
        match storefront.site.fee_receiver {
            _ if !takes => {}
            Some(receiver) => taken.push(format!("those of project {} go to {receiver}", shop.project.id)),
            None => wrong.push(format!(
                "project {} takes fees that nobody receives: name site.feeReceiver of its storefront",
                shop.project.id
            )),
        }
    }
    let fine = if taken.is_empty() { "none is taken".to_owned() } else { taken.join(", ") };
    all(&wrong, fine)
}

fn check_keys(settings: &Settings, shops: &[Shop]) -> Result<String, String> {
    let is_limited =
        |key: &AccessKeyRecord| !key.allowed_origins.is_empty() && !key.allowed_services.is_empty();
    let mut wrong = Vec::new();
    for shop in shops {
        let open = shop.keys.iter().filter(|key| key.active && !is_limited(key));
        wrong.extend(open.map(|key| {
            format!(
                "key {} of project {} works from everywhere or for every service: make one with --origin and --service (for pages that \
                are served here marketplace, metadata and indexer), as it is public, and disable this one",
                key.id, shop.project.id
            )
        }));
        wrong.extend(check_site(settings, shop).err());
    }
    all(&wrong, "all that work are limited to origins and services".to_owned())
}

/// Whether pages that are served here can ask what they show.
fn check_site(settings: &Settings, shop: &Shop) -> Result<(), String> {
    let storefront = &shop.storefront.storefront;
    let named = storefront.settings.access_key.as_ref().and_then(|key| AccessKey::parse(key.as_str()));
    let Some(hash) = named.map(|key| key.hash().to_string()).filter(|_| storefront.site.enabled) else {
        return Ok(());
    };
    let told = |reason: &str| format!("the key of the shop of project {} {reason}", shop.project.id);
    let key = shop.keys.iter().find(|key| key.active && key.hash == hash);
    let key = key.ok_or_else(|| told("is disabled, or none of the project's"))?;
    check_site_key(key, &origin_of(&site_address(storefront, settings))).map_err(|reason| told(&reason))
}

/// Whether each chain has a node that answers for it, and our marketplaces are there.
async fn check_nodes(settings: &Settings, shops: &[Shop]) -> Result<String, String> {
    let mut chains = BTreeMap::new();
    for key in shops.iter().flat_map(|shop| &shop.collections) {
        chains.insert(key.chain.0, settings.networks.get(key.chain.0));
    }
    let (mut wrong, mut fine) = (Vec::new(), Vec::new());
    for (chain, network) in chains {
        let Some(network) = network.filter(|network| !network.rpc_urls.is_empty()) else {
            wrong.push(format!(
                "chain {chain} has no node: set rpc_url of its network, so that it is followed"
            ));
            continue;
        };
        match check_node(network).await {
            Ok(()) if network.is_for_tests() => {
                fine.push(format!("{} (its coins are worth nothing)", network.name));
            }
            Ok(()) => fine.push(network.name.clone()),
            Err(reason) => wrong.push(format!("{}: {reason}", network.name)),
        }
    }
    all(&wrong, fine.join(", "))
}

/// One of a network's nodes.
fn node_at(url: &SecretString) -> Result<HttpNode, String> {
    let options = HttpOptions { timeout: NODE_TIMEOUT, ..HttpOptions::default() };
    let url = url.expose_secret().parse::<NodeUrl>().map_err(|error| error.to_string())?;
    HttpNode::new(url, options, Arc::new(AtomicU64::new(0))).map_err(|failure| failure.to_string())
}

async fn check_node(network: &Network) -> Result<(), String> {
    for url in &network.rpc_urls {
        let node = node_at(url)?;
        let ChainId(chain) =
            node.chain_id().await.map_err(|failure| format!("a node does not answer: {failure}"))?;
        if chain != network.id {
            return Err(format!("{} is of chain {chain}, not {}", node.url(), network.id));
        }
        check_contract(&node, network.own.v2).await?;
    }
    Ok(())
}

/// New orders go to the second of our marketplaces unless somebody says otherwise.
async fn check_contract(node: &HttpNode, contract: Address) -> Result<(), String> {
    let code: Result<String, _> = node.ask_one("eth_getCode", serde_json::json!([contract, "latest"])).await;
    match code {
        Ok(code) if code.len() > 2 => Ok(()),
        Ok(_) => Err(format!(
            "there is no contract at own_v2, {contract}: deploy contracts/src/Market.sol, or name where it is"
        )),
        Err(failure) => Err(format!("own_v2 cannot be looked at: {failure}")),
    }
}
