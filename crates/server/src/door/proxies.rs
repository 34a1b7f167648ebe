//! Whom a request comes from, where proxies stand between.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

use crate::settings::TrustedProxies;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a request comes from. Each proxy appends whom it was asked by to the header, so that it is read from
/// its end, for as long as whoever wrote it is trusted; what comes before that may be anybody's invention.
pub(super) fn client(proxies: &TrustedProxies, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let mut client = peer.to_canonical();
    let lines = headers.get_all(FORWARDED_FOR).iter().map(|line| line.to_str().unwrap_or_default());
    let named: Vec<&str> = lines.flat_map(|line| line.split(',')).collect();
    for text in named.into_iter().rev() {
        if !proxies.contain(client) {
            break;
        }
        let Some(address) = read(text.trim()) else { break };
        client = address;
    }
    client
}

/// An address, with a port where the proxy writes one.
fn read(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().map(|address: SocketAddr| address.ip()).ok());
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_of(peer: &str, lines: &[&str]) -> String {
        let proxies = ["10.0.0.0/8", "::1", "192.0.2.7"].map(str::to_owned).to_vec();
        let proxies = TrustedProxies::try_from(proxies).unwrap();
        let lines = lines.iter().map(|line| (FORWARDED_FOR, line.parse().unwrap()));
        client(&proxies, peer.parse().unwrap(), &lines.collect()).to_string()
    }

    #[test]
    fn only_what_trusted_proxies_wrote_counts() {
        let cases: [(&str, &[&str], &str); 9] = [
            ("203.0.113.5", &["198.51.100.1"], "203.0.113.5"),
            ("10.1.2.3", &[], "10.1.2.3"),
            ("10.1.2.3", &["198.51.100.1"], "198.51.100.1"),
            ("10.1.2.3", &["198.51.100.9, 198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.1.2.3", &["198.51.100.9", "198.51.100.1"], "198.51.100.1"),
            ("::ffff:192.0.2.7", &["198.51.100.1:4711"], "198.51.100.1"),
            ("::1", &["[2001:db8::1]:80"], "2001:db8::1"),
            ("::1", &["198.51.100.1, unknown"], "::1"),
            ("::1", &["10.0.0.1"], "10.0.0.1"),
        ];
        for (peer, lines, expected) in cases {
            assert_eq!(client_of(peer, lines), expected, "{peer} {lines:?}");
        }
    }
}
