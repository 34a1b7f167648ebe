//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not to be connected to, or nothing when it is public.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

/// Ranges that are not public: the first address, how many bits of it count, and what they are.
const NOT_PUBLIC_V4: [([u8; 4], u32, &str); 15] = [
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "of a carrier's own network"),
    ([127, 0, 0, 0], 8, "of this machine"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved"),
    ([192, 0, 2, 0], 24, "for documentation"),
    ([192, 88, 99, 0], 24, "of a relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "for benchmarks"),
    ([198, 51, 100, 0], 24, "for documentation"),
    ([203, 0, 113, 0], 24, "for documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    let within = |start: [u8; 4], bits: u32| {
        let difference = address.to_bits() ^ Ipv4Addr::from(start).to_bits();
        difference.leading_zeros() >= bits
    };
    NOT_PUBLIC_V4.into_iter().find(|(start, bits, _)| within(*start, *bits)).map(|(_, _, what)| what)
}

/// Of the addresses that are given out, those that are not public or stand for another one: first two segments, how
/// many bits of them count, and what they are.
const NOT_PUBLIC_V6: [([u16; 2], u32, &str); 4] = [
    // Teredo, benchmarks, identifiers that are no places.
    ([0x2001, 0], 23, "reserved"),
    ([0x2001, 0xdb8], 32, "for documentation"),
    ([0x2002, 0], 16, "of a tunnel to another address"),
    ([0x3fff, 0], 20, "for documentation"),
];

/// Only what is given out as global unicast is public. All others are refused as a whole: this machine, private and
/// local ones, multicast, and the ways to write an IPv4 address as one of IPv6 (mapped, compatible, translated).
fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    let [first, second, ..] = address.segments();
    let bits = |first: u16, second: u16| u32::from(first) << 16 | u32::from(second);
    let within = |start: [u16; 2], length: u32| {
        (bits(first, second) ^ bits(start[0], start[1])).leading_zeros() >= length
    };
    if !within([0x2000, 0], 3) {
        return Some("not global");
    }
    NOT_PUBLIC_V6.into_iter().find(|(start, length, _)| within(*start, *length)).map(|(_, _, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_public(text: &str) -> bool {
        refusal(text.parse().unwrap_or_else(|_| panic!("{text}"))).is_none()
    }

    #[test]
    fn the_first_and_the_last_of_every_range_is_refused_and_their_neighbours_are_not() {
        let ranges = [
            ("0.0.0.0", "0.255.255.255", "", "1.0.0.0"),
            ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
            ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
            ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
            ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
            ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
            ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
            ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
            ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
            ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
            ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
            ("224.0.0.0", "255.255.255.255", "223.255.255.255", ""),
            ("2001::", "2001:1ff:ffff::", "", "2001:200::"),
            ("2001:db8::", "2001:db8:ffff::1", "2001:db7::", "2001:db9::"),
            ("2002::", "2002:ffff::1", "2001:ffff::", "2003::"),
            ("3fff::", "3fff:fff:ffff::", "3ffe::", "3fff:1000::"),
        ];
        for (first, last, before, after) in ranges {
            assert!(!is_public(first) && !is_public(last), "{first} {last}");
            for outside in [before, after].into_iter().filter(|text| !text.is_empty()) {
                assert!(is_public(outside), "{outside}");
            }
        }
    }

    #[test]
    fn every_way_around_is_refused() {
        for text in [
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:2::1",
            "2002:7f00:1::",
            "5f00::1",
            "4000::1",
            "169.254.169.254",
            "255.255.255.255",
        ] {
            assert!(!is_public(text), "{text}");
        }
        for text in
            ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:80e::200e", "2001:4860:4860::8888"]
        {
            assert!(is_public(text), "{text}");
        }
    }
}
