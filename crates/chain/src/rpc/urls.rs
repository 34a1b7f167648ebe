//! Where nodes are.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

/// Where a node is asked. Providers put keys into paths, so that no more than scheme and host is ever shown.
#[derive(Clone)]
pub struct NodeUrl(Url);

/// Why a text is no address of a node.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the URL of a node begins with http:// or https:// and names a host")]
pub struct NodeUrlError;

impl NodeUrl {
    /// The whole address, with what may be secret.
    pub(crate) fn whole(&self) -> &Url {
        &self.0
    }
}

impl FromStr for NodeUrl {
    type Err = NodeUrlError;

    fn from_str(text: &str) -> Result<Self, NodeUrlError> {
        let url: Url = text.parse().map_err(|_| NodeUrlError)?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(Self(url)).ok_or(NodeUrlError)
    }
}

impl fmt::Display for NodeUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.0, self.0.scheme(), formatter)
    }
}

impl fmt::Debug for NodeUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Where a node tells of new blocks. It is shown as little of as of the other.
#[derive(Clone)]
pub struct SocketUrl {
    /// The same with the scheme of the request that opens a connection.
    over_http: Url,
}

/// Why a text is no address of a socket.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the URL of a node's socket begins with ws:// or wss:// and names a host")]
pub struct SocketUrlError;

impl SocketUrl {
    /// Where the connection is asked for, with what may be secret.
    pub(super) fn over_http(&self) -> &Url {
        &self.over_http
    }

    fn scheme(&self) -> &'static str {
        if self.over_http.scheme() == "https" { "wss" } else { "ws" }
    }
}

impl FromStr for SocketUrl {
    type Err = SocketUrlError;

    fn from_str(text: &str) -> Result<Self, SocketUrlError> {
        // Such a URL is parsed by the same rules, and has the same ports.
        let url: Url = text.parse().map_err(|_| SocketUrlError)?;
        let scheme = match url.scheme() {
            "ws" => "http",
            "wss" => "https",
            _ => return Err(SocketUrlError),
        };
        let over_http = url.as_str().replacen(url.scheme(), scheme, 1).parse();
        let over_http: Url = over_http.map_err(|_| SocketUrlError)?;
        over_http.has_host().then_some(Self { over_http }).ok_or(SocketUrlError)
    }
}

impl fmt::Display for SocketUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.over_http, self.scheme(), formatter)
    }
}

impl fmt::Debug for SocketUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

fn show(url: &Url, scheme: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(formatter, "{scheme}://{}", url.host_str().unwrap_or_default())?;
    url.port().map_or(Ok(()), |port| write!(formatter, ":{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_named_without_what_may_be_secret() {
        for (text, shown, asked) in [
            (
                "wss://hunter2@h.example/v3/hunter2?key=hunter2",
                "wss://h.example",
                "https://hunter2@h.example/v3/",
            ),
            ("ws://127.0.0.1:8545", "ws://127.0.0.1:8545", "http://127.0.0.1:8545/"),
            ("wss://h.example:443/x", "wss://h.example", "https://h.example/x"),
            ("ws://[::1]:8546/ws", "ws://[::1]:8546", "http://[::1]:8546/ws"),
        ] {
            let url: SocketUrl = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), format!("{url:?}").as_str()), (shown, shown));
            assert!(url.over_http().as_str().starts_with(asked), "{}", url.over_http());
        }
        for wrong in ["", "h.example", "https://h.example", "http://h.example", "ws://", "wss://", "ftp://h"]
        {
            assert_eq!(wrong.parse::<SocketUrl>().err(), Some(SocketUrlError), "{wrong}");
        }
    }
}
