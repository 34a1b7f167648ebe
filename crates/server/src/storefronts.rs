//! What the storefronts of projects consist of, and which is at a host, kept for a moment: every page of a storefront asks for both
//! first.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use bourse_store::{
    AccessKeyRecord, MarketCollection, Project, ProjectScope, Store, StoreError, StoredStorefront,
};
use bourse_wire::{ProjectId, Storefront, Timestamp};

use crate::auth::origin_allowed;
use crate::route::Service;
use crate::settings::Settings;

/// How long what was read is believed: so late may a server show what was changed through another one.
const BELIEVED_NANOS: i128 = 2_000_000_000;
/// Storefronts that are kept at most, and as many hosts.
const KEPT_MAX: usize = 1_000;
/// The longest name of a host, with its port.
const HOST_BYTES_MAX: usize = 260;
/// Collections of a project's market that are shown at most.
const COLLECTIONS_MAX: u64 = 200;

/// A project, what it said of its storefront, and what is in its market.
pub struct Parts {
    /// The project.
    pub project: Project,
    /// What it said, if it said anything.
    pub stored: Option<StoredStorefront>,
    /// What is in its market.
    pub collections: Vec<MarketCollection>,
}

/// What the pages that this service serves to buyers ask, so that their key must be good for it.
pub const SITE_SERVICES: [Service; 3] = [Service::Marketplace, Service::Metadata, Service::Indexer];

/// The address under which the pages of a storefront are known: that of its host, or of the whole service where it names none.
pub fn site_address(storefront: &Storefront, settings: &Settings) -> String {
    let public = settings.public_url();
    match storefront.domain.as_str() {
        "" => public,
        domain => format!("{}://{domain}", scheme_of(&public)),
    }
}

/// The origin of an address as browsers send it: scheme, host, and the port where it is not the usual one, in small letters.
pub fn origin_of(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("https", address));
    let (scheme, host) = (scheme.to_ascii_lowercase(), rest.split('/').next().unwrap_or_default());
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(usual_port(&scheme)).unwrap_or(&host);
    format!("{scheme}://{host}")
}

/// The port that is not said, as it follows from the scheme.
fn usual_port(scheme: &str) -> &'static str {
    if scheme == "http" { ":80" } else { ":443" }
}

/// Whether a host is the one of the whole service.
pub(crate) fn is_public_host(host: &str, settings: &Settings) -> bool {
    let public = settings.public_url();
    let origin = origin_of(&public);
    let named = origin.split_once("://").map_or("", |(_, host)| host);
    plain_host(host, &public) == plain_host(named, &public)
}

fn scheme_of(address: &str) -> &str {
    address.split_once("://").map_or("https", |(scheme, _)| scheme)
}

/// A host as requests are known by it: in small letters, without the dot of its root and the port that its scheme has anyway.
pub(crate) fn plain_host(host: &str, public_url: &str) -> String {
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(usual_port(scheme_of(public_url))).unwrap_or(&host);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => format!("{}:{port}", name.trim_end_matches('.')),
        _ => host.trim_end_matches('.').to_owned(),
    }
}

/// Whether the pages of a storefront can ask with a key, from the origin that they are at; what is wrong with it otherwise.
pub fn check_site_key(key: &AccessKeyRecord, origin: &str) -> Result<(), String> {
    let names = &key.allowed_services;
    let is_lacking =
        |service: &Service| !names.is_empty() && !names.iter().any(|name| service.takes_key_of(name));
    let lacking: Vec<&str> =
        SITE_SERVICES.iter().filter(|one| is_lacking(one)).map(|one| one.short()).collect();
    if !lacking.is_empty() {
        let all = SITE_SERVICES.map(Service::short).join(", ");
        return Err(format!(
            "does not work for {}, which the pages ask: one that is limited to services needs {all}",
            lacking.join(" and ")
        ));
    }
    if !origin_allowed(key.require_origin, &key.allowed_origins, Some(origin)) {
        return Err(format!("does not work from {origin}, where the pages are: make one that does"));
    }
    Ok(())
}

/// What was read, and when.
type Kept<K, V> = RwLock<HashMap<K, (Timestamp, V)>>;

/// The storefronts.
#[derive(Default)]
pub(crate) struct Storefronts {
    parts: Kept<ProjectId, Arc<Parts>>,
    hosts: Kept<String, Option<ProjectId>>,
}

impl Storefronts {
    /// What the storefront of a project consists of.
    pub(crate) async fn find(
        &self,
        store: &Store,
        scope: ProjectScope,
        now: Timestamp,
    ) -> Result<Arc<Parts>, StoreError> {
        if let Some(parts) = believed(&self.parts, &scope.project(), now) {
            return Ok(parts);
        }
        let project = store.project(scope.project()).await?;
        let stored = store.storefront(scope).await?;
        let collections = store.market_collections(scope, 0, COLLECTIONS_MAX).await?;
        let parts = Arc::new(Parts { project, stored, collections });
        keep(&self.parts, scope.project(), (now, Arc::clone(&parts)));
        Ok(parts)
    }

    /// The project whose storefront is at a host, as a request names it.
    pub(crate) async fn project_at(
        &self,
        store: &Store,
        (host, settings): (&str, &Settings),
        now: Timestamp,
    ) -> Result<Option<ProjectId>, StoreError> {
        if host.is_empty() || host.len() > HOST_BYTES_MAX {
            return Ok(None);
        }
        let host = plain_host(host, &settings.public_url());
        if let Some(known) = believed(&self.hosts, &host, now) {
            return Ok(known);
        }
        let found = store.project_at(host.clone()).await?;
        keep(&self.hosts, host, (now, found));
        Ok(found)
    }

    /// Forgets what was read of a project, which this process has just changed, and where it was.
    pub(crate) fn forget(&self, project: ProjectId) {
        self.parts.write().unwrap_or_else(PoisonError::into_inner).remove(&project);
        self.hosts.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn believed<K: Eq + Hash, V: Clone>(kept: &Kept<K, V>, key: &K, now: Timestamp) -> Option<V> {
    let kept = kept.read().unwrap_or_else(PoisonError::into_inner);
    let (read_at, known) = kept.get(key)?;
    let age = now.unix_nanos() - read_at.unix_nanos();
    (0..BELIEVED_NANOS).contains(&age).then(|| known.clone())
}

fn keep<K: Eq + Hash, V>(kept: &Kept<K, V>, key: K, read: (Timestamp, V)) {
    let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, read);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_as_browsers_name_it() {
        for (address, origin) in [
            ("https://bourse.example", "https://bourse.example"),
            ("https://Bourse.example:443/path", "https://bourse.example"),
            ("http://bourse.example:4010/path/more", "http://bourse.example:4010"),
            ("http://bourse.example:443", "http://bourse.example:443"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(origin_of(address), origin);
        }
    }

    #[test]
    fn a_host_is_the_same_however_it_is_written() {
        for (host, public_url, plain) in [
            ("SHOP.example", "https://bourse.example", "shop.example"),
            ("shop.example.", "https://bourse.example", "shop.example"),
            ("shop.example.:443", "https://bourse.example", "shop.example"),
            ("shop.example:80", "http://bourse.example", "shop.example"),
            ("shop.example:80", "https://bourse.example", "shop.example:80"),
            ("shop.example:8443", "https://bourse.example", "shop.example:8443"),
            ("shop.example.:8443", "https://bourse.example", "shop.example:8443"),
            ("[::1]", "http://[::1]:4010", "[::1]"),
            ("[::1]:80", "http://bourse.example", "[::1]"),
            ("[::1]:4010", "http://[::1]:4010", "[::1]:4010"),
        ] {
            assert_eq!(plain_host(host, public_url), plain);
        }
    }
}
