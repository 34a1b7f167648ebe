//! HTTP requests to addresses that nobody vouches for.
//!
//! At every hop the address is read, its host is looked up, all that the host's name stands for is checked, and exactly
//! what was checked is connected to: the check is part of the lookup that connections are made with, so there is no
//! second lookup that could say something else. No redirect is followed here.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use tokio::sync::Semaphore;

use super::address;
use super::get::REDIRECTS_MAX;
use crate::tls;

/// Ports below this belong to services of other kinds, except those of the web.
const PORT_MIN: u16 = 1_024;
const WEB_PORTS: [u16; 2] = [80, 443];
/// Connections kept for the next request, for each host.
const IDLE_PER_HOST_MAX: usize = 4;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Names that are looked up at once by all of this process, of which the runtime has some hundreds of threads for all that waits.
static LOOKUPS: Semaphore = Semaphore::const_new(128);
/// How long a host may ask to be left alone.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// What may be fetched.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whether addresses without encryption are followed.
    pub plain_http: bool,
    /// Hosts, or hosts with a port, that are fetched from although their addresses are private, also without
    /// encryption.
    pub allowed_hosts: Vec<String>,
    /// What kinds of content are asked for, as the `Accept` header has it.
    pub accept: &'static str,
    /// The largest body, as sent and when inflated.
    pub body_bytes_max: usize,
    /// Time for everything, redirects included.
    pub timeout: Duration,
    /// Time to connect.
    pub connect_timeout: Duration,
}

/// Why there is no body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GetError {
    /// The address is not one to connect to.
    #[error("{0}")]
    Refused(String),
    /// The body is larger than it may be.
    #[error("the answer has more than {bytes_max} bytes")]
    TooLarge {
        /// The largest that is allowed.
        bytes_max: usize,
    },
    /// The body is compressed in a way that was not asked for, or wrongly.
    #[error("the answer is compressed in a way that cannot be read: {0}")]
    Encoding(String),
    /// One redirect after another.
    #[error("more than {REDIRECTS_MAX} redirects")]
    Redirects,
    /// The host says no.
    #[error("the host answers with status {status}")]
    Status {
        /// Its status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// It took too long.
    #[error("no answer within {} ms", .0.as_millis())]
    TooSlow(Duration),
    /// No connection, or it broke.
    #[error("the host cannot be reached: {0}")]
    Unreachable(String),
}

impl GetError {
    /// Whether it is of no use to ask again soon.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::TooLarge { .. } | Self::Encoding(_) | Self::Redirects)
    }

    /// Whether the host has trouble, rather than this one address.
    pub fn is_of_host(&self) -> bool {
        match self {
            Self::Status { status, .. } => *status == 429 || *status >= 500,
            Self::TooSlow(_) | Self::Unreachable(_) => true,
            Self::Refused(_) | Self::TooLarge { .. } | Self::Encoding(_) | Self::Redirects => false,
        }
    }

    /// How long the host wants to be left alone, when it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Who knows the addresses of a name.
pub trait Lookup: Send + Sync {
    /// Its addresses.
    fn lookup(&self, host: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;
}

/// The machine's own way. It ends when it likes, on threads that others need as well: of these lookups there are only so many.
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(in_place(&LOOKUPS, async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        }))
    }
}

/// Does something in one of so many places, which it has until it is over, whether or not anybody still waits for it.
async fn in_place<T: Send + 'static>(
    places: &'static Semaphore,
    work: impl Future<Output = std::io::Result<T>> + Send + 'static,
) -> std::io::Result<T> {
    let place = places.acquire().await.map_err(std::io::Error::other)?;
    let working = tokio::spawn(async move {
        let _place = place;
        work.await
    });
    working.await.map_err(std::io::Error::other)?
}

/// Looks names up and, unless everybody may, lets nobody connect to what is not public.
struct CheckedLookup {
    lookup: Arc<dyn Lookup>,
    only_public: bool,
}

/// A name stands for an address that is not public. Which one is not told: it may be nobody's business.
#[derive(Debug, thiserror::Error)]
#[error("the host's address is {0}")]
struct NotPublic(&'static str);

impl Resolve for CheckedLookup {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, only_public) = (self.lookup.lookup(name.as_str().to_owned()), self.only_public);
        Box::pin(async move {
            let found = found.await?;
            // One bad address refuses them all: which of them is connected to is not decided here.
            if only_public && let Some(what) = found.iter().copied().find_map(address::refusal) {
                return Err(NotPublic(what).into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Connects to what may be connected to.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) rules: Arc<Rules>,
    /// Connects to public addresses only.
    outside: Client,
    /// Connects to any address, for hosts that are allowed by name.
    inside: Client,
}

impl Guard {
    pub(super) fn new(rules: Rules, lookup: Arc<dyn Lookup>) -> Result<Self, GetError> {
        let outside = client(&rules, CheckedLookup { lookup: Arc::clone(&lookup), only_public: true })?;
        let inside = client(&rules, CheckedLookup { lookup, only_public: false })?;
        Ok(Self { rules: Arc::new(rules), outside, inside })
    }

    /// Refuses what can be refused without asking anybody.
    pub(super) fn check(&self, url: &Url) -> Result<(), GetError> {
        check(url, self.is_allowed(url), self.rules.plain_http)
    }

    /// Sends a request to an address, and returns the head of what it answers.
    pub(super) async fn send(
        &self,
        url: &Url,
        request: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Result<Response, GetError> {
        self.check(url)?;
        let is_allowed = self.is_allowed(url);
        let client = if is_allowed { &self.inside } else { &self.outside };
        // Compression is of no use for such small texts, and a way to send large ones.
        let request = request(client).header(ACCEPT_ENCODING, "identity");
        let response = request.send().await.map_err(|error| failure(&error))?;
        // Never the case, unless something between us and the socket does not keep to what was checked.
        let connected = response.remote_addr().map(|address| address.ip());
        match connected.and_then(address::refusal).filter(|_| !is_allowed) {
            Some(what) => Err(GetError::Refused(NotPublic(what).to_string())),
            None => Ok(response),
        }
    }

    fn is_allowed(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let with_port = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
        let is_it =
            |allowed: &String| allowed.eq_ignore_ascii_case(host) || allowed.eq_ignore_ascii_case(&with_port);
        self.rules.allowed_hosts.iter().any(is_it)
    }
}

fn client(rules: &Rules, lookup: CheckedLookup) -> Result<Client, GetError> {
    let unusable = |error: &dyn std::error::Error| GetError::Unreachable(format!("no encryption: {error}"));
    let tls = tls::config().map_err(|error| unusable(&error))?;
    Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(Arc::new(lookup))
        // A proxy of the environment would be asked to connect in our place, and checks nothing.
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .user_agent(concat!("bourse/", env!("CARGO_PKG_VERSION"), " (token metadata)"))
        .connect_timeout(rules.connect_timeout)
        .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .build()
        .map_err(|error| unusable(&error))
}

/// Refuses what can be refused without asking anybody. Hosts that are written as addresses are checked here: nobody
/// looks them up. The parser has turned every spelling (decimal, octal, hexadecimal, short) into the usual one.
fn check(url: &Url, is_allowed: bool, plain_http: bool) -> Result<(), GetError> {
    let refused = |reason: &str| Err(GetError::Refused(reason.to_owned()));
    match url.scheme() {
        "https" => {}
        "http" if plain_http || is_allowed => {}
        "http" => return refused("the link is not encrypted (http)"),
        _ => return refused("the redirect leads to something else than the web"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("the link holds a user name or a password");
    }
    if is_allowed {
        return Ok(());
    }
    let port = url.port_or_known_default().unwrap_or_default();
    if port < PORT_MIN && !WEB_PORTS.contains(&port) {
        return refused(&format!("port {port} is not one of the web"));
    }
    let host = url.host_str().unwrap_or_default();
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match literal.parse().ok().or_else(|| own_address(host)).and_then(address::refusal) {
        Some(what) => refused(&NotPublic(what).to_string()),
        None if host.is_empty() => refused("the link names no host"),
        None => Ok(()),
    }
}

/// The address of names that stand for the machine itself, whatever anybody who is asked says.
fn own_address(host: &str) -> Option<IpAddr> {
    let name = host.strip_suffix('.').unwrap_or(host);
    (name == "localhost" || name.ends_with(".localhost")).then(|| Ipv4Addr::LOCALHOST.into())
}

/// How long the host wants to be left alone. Only a number of seconds is read; with a date, we wait as after any failure.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

/// What went wrong below HTTP: the innermost reason says most.
pub(super) fn failure(error: &reqwest::Error) -> GetError {
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    if let Some(refused) = source.downcast_ref::<NotPublic>() {
        return GetError::Refused(refused.to_string());
    }
    let reason = if error.is_timeout() { "no connection in time".to_owned() } else { source.to_string() };
    GetError::Unreachable(reason.chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::FutureExt as _;

    use super::*;

    /// Answers once so, and then otherwise.
    struct Changing(Mutex<Vec<Vec<IpAddr>>>);

    impl Lookup for Changing {
        fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
            let answer = self.0.lock().unwrap().remove(0);
            Box::pin(async { Ok(answer) })
        }
    }

    #[tokio::test]
    async fn what_was_checked_is_what_is_connected_to_whatever_the_name_stands_for_later() {
        let public = ["93.184.215.14", "2606:4700::1111"].map(|text| text.parse().unwrap()).to_vec();
        let private = vec!["10.0.0.7".parse().unwrap()];
        let mixed = [public.clone(), private.clone()].concat();
        let lookup = Changing(Mutex::new(vec![public.clone(), private.clone(), mixed, private.clone()]));
        let lookup = Arc::new(lookup);
        let resolver = CheckedLookup { lookup: Arc::clone(&lookup) as Arc<dyn Lookup>, only_public: true };
        let resolve = async |resolver: &CheckedLookup| {
            let found = resolver.resolve("a.example".parse().unwrap()).await;
            found
                .map(|found| found.map(|address| address.ip()).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        assert_eq!(resolve(&resolver).await, Ok(public), "exactly what the one lookup said");
        assert_eq!(resolve(&resolver).await, Err("the host's address is private".to_owned()));
        assert_eq!(
            resolve(&resolver).await,
            Err("the host's address is private".to_owned()),
            "one bad one is enough"
        );
        let open = CheckedLookup { lookup, only_public: false };
        assert_eq!(resolve(&open).await, Ok(private));
    }

    #[tokio::test]
    async fn a_lookup_that_nobody_waits_for_keeps_its_place_until_it_ends() {
        static PLACES: Semaphore = Semaphore::const_new(1);
        let (answer, answered) = tokio::sync::oneshot::channel();
        let mut slow =
            Box::pin(in_place(&PLACES, async move { answered.await.map_err(std::io::Error::other) }));
        assert!(slow.as_mut().now_or_never().is_none());
        drop(slow);
        let mut next = Box::pin(in_place(&PLACES, async { Ok(2) }));
        tokio::task::yield_now().await;
        assert!(next.as_mut().now_or_never().is_none() && PLACES.available_permits() == 0);
        answer.send(1).unwrap();
        assert_eq!(next.await.unwrap(), 2);
    }

    #[test]
    fn names_of_the_machine_itself_are_refused_without_asking() {
        let refused = |url: &str| check(&url.parse().unwrap(), false, true).is_err();
        for own in
            ["http://localhost:8080/", "https://LOCALHOST", "https://localhost./", "https://a.localhost/b"]
        {
            assert!(refused(own), "{own}");
        }
        for other in ["https://localhost.example/", "https://notlocalhost/", "https://a.example/localhost"] {
            assert!(!refused(other), "{other}");
        }
    }

    #[test]
    fn a_host_may_ask_for_a_day_of_quiet_at_most() {
        let after = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(after("7"), Some(Duration::from_secs(7)));
        assert_eq!(after("99999999999"), Some(RETRY_AFTER_MAX));
        assert_eq!(after("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(after("-1"), None);
    }
}
