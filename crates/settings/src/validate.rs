//! Rules that a type cannot express, and those between settings.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bourse_chain::rpc::{NodeUrl, NodeUrlError, SocketUrl, SocketUrlError};
use bourse_wire::{JSON_DEPTH_LIMIT, ServiceName};
use secrecy::{ExposeSecret as _, SecretString};

use crate::error::{Assignment, Problem};
use crate::merged::Merged;
use crate::networks::BUILT_IN;
use crate::{DatabaseRead, FilesPlace, Following, Network, Settings};

/// A signing key of HMAC-SHA256 shorter than its output is weaker than the algorithm.
const JWT_SECRET_BYTES_MIN: usize = 32;

/// Far beyond any machine, and well below the number at which a semaphore panics.
const CONCURRENT_REQUESTS_LIMIT: usize = 1_000_000;

/// Asking more often would only keep nodes busy.
const POLL_MIN: Duration = Duration::from_millis(10);

/// Whoever tells rates, or royalties, may count requests.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// What undoes a block is kept for each, and a search for the fork goes through all of them.
const REORG_WINDOW_MAX: u64 = 10_000;
/// Far beyond what hosts put up with, and well below the number at which a semaphore panics.
const FETCHES_LIMIT: usize = 10_000;

/// Callers wait while a service is asked again.
const ATTEMPTS_LIMIT: u32 = 10;

/// Longest name of a network, in characters.
const NETWORK_NAME_CHARS_MAX: usize = 64;

/// Everything that is wrong with settings of the right types.
pub(super) fn problems(settings: &Settings, merged: &Merged) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut check = |key: &str, reason: Result<(), String>| {
        if let Err(reason) = reason {
            found.push(Problem::Invalid { at: merged.assignment(key), reason });
        }
    };
    // The key of a rule is the path of the field that it is about, so that none can be misspelled.
    macro_rules! check {
        ($section:ident . $field:ident, $rule:expr) => {
            check(concat!(stringify!($section), ".", stringify!($field)), $rule(&settings.$section.$field))
        };
    }
    check!(service.name, |name: &String| service_name(name));
    check!(server.public_url, |url: &String| public_url(url));
    check!(server.peer_address, |address: &String| peer_address(address));
    check!(storage.data, |path: &PathBuf| ensure(!path.as_os_str().is_empty(), "must not be empty"));
    check!(storage.connections_max, |number: &u32| ensure(
        *number >= 2,
        "must be at least 2: one of them waits for changes"
    ));
    check!(storage.database_read, |_: &DatabaseRead| ensure(
        settings.replica_url().is_none() || settings.storage.sqlite_file().is_none(),
        "is for a database in PostgreSQL: storage.database names a SQLite file"
    ));
    check!(s3.endpoint, |url: &String| source_url(url).and_then(|()| ensure(
        !url.contains('@'),
        "must have no user: the key is s3.access_key_id and s3.secret_access_key"
    )));
    if matches!(settings.storage.files, FilesPlace::Bucket { .. }) {
        check!(s3.region, |region: &String| signable(region));
        check!(s3.access_key_id, |key: &SecretString| signable(key.expose_secret()));
        check!(s3.secret_access_key, |key: &SecretString| signable(key.expose_secret()));
        let most = settings.limits.request_timeout_ms / 2;
        check!(s3.timeout_ms, |timeout_ms: &u64| ensure(
            (1..=most).contains(timeout_ms),
            &format!(
                "must be from 1 to half of limits.request_timeout_ms, {most}: callers hear what is away"
            )
        ));
    }
    check!(auth.jwt_secret, jwt_secret);
    check!(limits.json_depth_max, at_most(JSON_DEPTH_LIMIT));
    check!(limits.concurrent_requests_max, at_most(CONCURRENT_REQUESTS_LIMIT));
    check!(cors.origins, origins);
    check!(metadata.ipfs_gateways, gateways);
    check!(metadata.arweave_gateways, gateways);
    check!(metadata.allowed_hosts, hosts);
    check!(metadata.fetches_max, at_most(FETCHES_LIMIT));
    check!(metadata.fetches_per_host_max, at_most(FETCHES_LIMIT));
    check!(webhooks.allowed_hosts, hosts);
    check!(webhooks.deliveries_max, at_most(FETCHES_LIMIT));
    check!(sources.attempts_max, at_most(ATTEMPTS_LIMIT));
    for source in settings.sources.services() {
        let name = source.marketplace.word(&ServiceName::new("service"));
        check(&format!("sources.{name}_url"), source_url(source.url.expose_secret()));
        let is_sendable =
            source.key.expose_secret().bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        check(&format!("sources.{name}_key"), ensure(is_sendable, "must consist of printable ASCII"));
    }
    found.extend(ordered_pairs(settings, merged));
    found.extend(networks(settings, merged));
    found
}

fn ensure(holds: bool, reason: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(reason.to_owned()) }
}

fn at_most<N: Copy + PartialOrd + fmt::Display>(limit: N) -> impl Fn(&N) -> Result<(), String> {
    move |value| ensure(*value <= limit, &format!("must be at most {limit}, not {value}"))
}

fn peer_address(address: &str) -> Result<(), String> {
    let is_host = |host: &str| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let ipv6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_name = !host.is_empty() && host.chars().all(is_of_name);
        ipv6.map_or(is_name, |host| host.parse::<std::net::Ipv6Addr>().is_ok())
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_good = address.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && is_port(port));
    ensure(
        address.is_empty() || is_good,
        &format!("must be host:port, such as 10.0.0.7:4010, not `{address:.64}`"),
    )
}

fn service_name(name: &str) -> Result<(), String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let well_formed =
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 32 && name.chars().all(is_inner);
    ensure(well_formed, &format!("must be a small letter, then up to 31 of a-z, 0-9 and _, not {name:?}"))?;
    ensure(!matches!(name, "service" | "unknown"), &format!("must tell the installation apart, not {name:?}"))
}

fn public_url(url: &str) -> Result<(), String> {
    if url.is_empty() {
        return Ok(());
    }
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let reason = "must be empty or start with http:// or https:// and a host";
    let rest = rest.ok_or_else(|| reason.to_owned())?;
    ensure(!rest.is_empty() && !rest.starts_with(['/', ':', '?', '#']), reason)?;
    ensure(
        !rest.contains(|c: char| matches!(c, '?' | '#') || c.is_whitespace() || c.is_control()),
        "must have no query, no fragment and no spaces, since paths are appended to it",
    )
}

fn source_url(url: &str) -> Result<(), String> {
    ensure(
        url.is_empty() || url.parse::<NodeUrl>().is_ok() && !url.contains(['?', '#']),
        "must be empty, or begin with http:// or https://, name a host and have no query, since paths are appended to it",
    )
}

/// What a signature is made with goes into headers.
fn signable(text: &str) -> Result<(), String> {
    ensure(
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()),
        "must be of letters, digits and signs, and not empty, when storage.files names a bucket",
    )
}

fn jwt_secret(secret: &SecretString) -> Result<(), String> {
    let secret = secret.expose_secret();
    ensure(
        secret.is_empty() || secret.len() >= JWT_SECRET_BYTES_MIN,
        &format!("must be empty or at least {JWT_SECRET_BYTES_MIN} bytes long"),
    )
}

fn origins(origins: &[String]) -> Result<(), String> {
    let any = origins.iter().any(|origin| origin == "*");
    ensure(!any || origins.len() == 1, "must be \"*\" alone or a list without it")?;
    let wrong = origins.iter().find(|origin| *origin != "*" && !is_origin(origin));
    wrong.map_or(Ok(()), |origin| {
        Err(format!("must hold origins such as https://shop.example, without a path, not {origin:?}"))
    })
}

/// Browsers send scheme, host and port: an origin with a path would never match.
fn is_origin(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, host)| {
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | '?' | '#' | '@' | '*');
        !scheme.is_empty() && !host.is_empty() && scheme.chars().chain(host.chars()).all(plain)
    })
}

fn gateways(gateways: &[String]) -> Result<(), String> {
    let reason =
        |_| "must hold addresses such as https://ipfs.example/ipfs/, with a slash at the end".to_owned();
    bourse_chain::fetch::Gateways::read(gateways, &[]).map(drop).map_err(reason)
}

/// Hosts are compared with those of links, which have no scheme, no path and no user.
fn hosts(hosts: &[String]) -> Result<(), String> {
    let is_host = |host: &String| {
        !host.is_empty()
            && host.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '/' | '@' | '?' | '#' | '*'))
    };
    let wrong = hosts.iter().find(|host| !is_host(host));
    wrong.map_or(Ok(()), |host| {
        Err(format!("must hold hosts such as meta.intern or 10.0.0.5:8080, not {host:?}"))
    })
}

/// Pairs of numbers of which the first may not exceed the second: a fetch that outlasts its lease would be done twice,
/// and times that shrink, or a usual page larger than the largest, are slips.
fn ordered_pairs(settings: &Settings, merged: &Merged) -> Vec<Problem> {
    macro_rules! pair {
        ($section:ident . $less:ident <= $more:ident) => {{
            let (less, more) = (u64::from(settings.$section.$less), u64::from(settings.$section.$more));
            let key = |field| format!(concat!(stringify!($section), ".{}"), field);
            (less > more).then(|| Problem::Conflict {
                first: merged.assignment(&key(stringify!($less))),
                second: merged.assignment(&key(stringify!($more))),
                reason: format!("{less} is more than {more}"),
            })
        }};
    }
    let pairs = [
        pair!(limits.page_size_default <= page_size_max),
        pair!(metadata.timeout_ms <= lease_ms),
        pair!(metadata.retry_ms <= retry_ms_max),
        pair!(webhooks.retry_ms <= retry_ms_max),
    ];
    pairs.into_iter().flatten().collect()
}

fn networks(settings: &Settings, merged: &Merged) -> Vec<Problem> {
    let id_of = |name: &str| merged.assignment(&format!("networks.{name}.id"));
    let mut found = Vec::new();
    for network in &settings.networks {
        let at = id_of(&network.name);
        match BUILT_IN.iter().find(|(name, _)| *name == network.name) {
            Some((_, id)) if *id == network.id => {}
            Some((_, id)) => {
                let reason = format!("must be {id}, since the name is built in, not {}", network.id);
                found.push(Problem::Invalid { at, reason });
            }
            None => {
                if let Err(reason) = network_name(&network.name) {
                    let key = format!("networks.{}", network.name);
                    found.push(Problem::Invalid { at: Assignment { key, ..at }, reason });
                }
            }
        }
    }
    found.extend(settings.networks.iter().flat_map(|network| following(network, merged)));
    // Sorted by id, so networks of the same id are neighbours.
    let sorted: Vec<_> = settings.networks.iter().collect();
    found.extend(sorted.windows(2).filter(|pair| pair[0].id == pair[1].id).map(|pair| Problem::Conflict {
        first: id_of(&pair[0].name),
        second: id_of(&pair[1].name),
        reason: format!("both are network {}", pair[0].id),
    }));
    found
}

fn following(network: &Network, merged: &Merged) -> Vec<Problem> {
    let is_node = |url: &SecretString| url.expose_secret().parse::<NodeUrl>().is_ok();
    let is_socket = |url: &SecretString| url.expose_secret().parse::<SocketUrl>().is_ok();
    let tells_only = "only tells of new blocks: set `rpc_url` too, so that a node can be asked about them";
    let Following { poll, reorg_window_blocks, rpc_timeout, rates_interval, royalties_interval, .. } =
        network.following;
    let checks = [
        ("rpc_url", ensure(network.rpc_urls.iter().all(is_node), &NodeUrlError.to_string())),
        ("ws_url", ensure(network.ws_urls.iter().all(is_socket), &SocketUrlError.to_string())),
        ("ws_url", ensure(network.ws_urls.is_empty() || !network.rpc_urls.is_empty(), tells_only)),
        ("poll_ms", ensure(poll >= POLL_MIN, "must be at least 10")),
        (
            "reorg_window_blocks",
            ensure((1..=REORG_WINDOW_MAX).contains(&reorg_window_blocks), "must be between 1 and 10000"),
        ),
        ("rpc_timeout_ms", ensure(!rpc_timeout.is_zero(), "must be at least 1")),
        ("rates_interval_ms", ensure(rates_interval >= INTERVAL_MIN, "must be at least 1000")),
        (
            "simulation_timeout_ms",
            ensure(
                !network.simulating.timeout.is_zero(),
                "must be at least 1: `simulate = false` switches it off",
            ),
        ),
        ("royalties_interval_ms", ensure(royalties_interval >= INTERVAL_MIN, "must be at least 1000")),
    ];
    let wrong = checks.into_iter().filter_map(|(field, result)| Some((field, result.err()?)));
    wrong
        .map(|(field, reason)| {
            let at = merged.assignment(&format!("networks.{}.{field}", network.name));
            Problem::Invalid { at, reason }
        })
        .collect()
}

/// A name is part of addresses, and must not be taken for a chain id.
fn network_name(name: &str) -> Result<(), String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    ensure(
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.len() <= NETWORK_NAME_CHARS_MAX
            && name.chars().all(is_inner),
        "must be named by a letter, then letters, digits and hyphens, 64 in all at most",
    )
}
