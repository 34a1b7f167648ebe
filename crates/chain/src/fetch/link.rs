//! What contracts say about where metadata is.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bourse_wire::TokenId;
use percent_encoding::percent_decode_str;
use reqwest::Url;

/// The longest link that does not hold the metadata itself, in bytes.
const LINK_BYTES_MAX: usize = 8 * 1024;
/// Characters of an Arweave transaction's name.
const TRANSACTION_CHARS: usize = 43;
/// Characters of a content's name in its first form, and at least in its second.
const CID_V0_CHARS: usize = 46;
const CID_V1_CHARS_MIN: usize = 50;
const CID_CHARS_MAX: usize = 128;

/// Where metadata is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// At an address of the web.
    Web(Url),
    /// In IPFS: the content's name, and a path within it.
    Ipfs(String),
    /// In Arweave: the transaction's name, and a path within it.
    Arweave(String),
    /// Here: the link holds it.
    Inline(Vec<u8>),
}

/// Why a link leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// There is none.
    #[error("the link is empty")]
    Empty,
    /// It is longer than a link may be.
    #[error("the link has {bytes} bytes where at most {bytes_max} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest that is allowed.
        bytes_max: usize,
    },
    /// It is of a kind that is not followed.
    #[error("links of the kind `{0}` are not followed")]
    Scheme(String),
    /// It cannot be read.
    #[error("the link cannot be read: {0}")]
    Malformed(String),
}

/// Where the contents of IPFS and Arweave are on the web: addresses that a name is appended to, best first.
#[derive(Clone, Debug, Default)]
pub struct Gateways {
    /// For IPFS.
    pub ipfs: Vec<Url>,
    /// For Arweave.
    pub arweave: Vec<Url>,
}

impl Gateways {
    /// Reads the addresses of gateways: of the web, and with a slash at the end, as names are appended to them.
    pub fn read(ipfs: &[String], arweave: &[String]) -> Result<Self, LinkError> {
        let read = |text: &String| match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && text.ends_with('/') => Ok(url),
            Ok(_) | Err(_) => Err(LinkError::Malformed(format!("{text:?} is no gateway"))),
        };
        let all = |texts: &[String]| texts.iter().map(read).collect::<Result<Vec<Url>, _>>();
        Ok(Self { ipfs: all(ipfs)?, arweave: all(arweave)? })
    }
}

impl Link {
    /// Reads what a contract said. `{id}` stands for the token's id, as ERC-1155 has it.
    pub fn read(text: &str, token: Option<TokenId>, inline_bytes_max: usize) -> Result<Self, LinkError> {
        let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
        if text.is_empty() {
            return Err(LinkError::Empty);
        }
        if text.starts_with('{') && !text.starts_with("{id}") {
            return bounded(text, inline_bytes_max).map(|text| Self::Inline(text.as_bytes().to_vec()));
        }
        if let Some(rest) = strip_scheme(text, "data:") {
            // Base64 takes four letters for three bytes, and percent signs three letters for one.
            let rest = bounded(rest, inline_bytes_max.saturating_mul(3).saturating_add(LINK_BYTES_MAX))?;
            let body = read_data(rest)?;
            return match body.len() {
                bytes if bytes > inline_bytes_max => {
                    Err(LinkError::TooLong { bytes, bytes_max: inline_bytes_max })
                }
                _ => Ok(Self::Inline(body)),
            };
        }
        let text = bounded(text, LINK_BYTES_MAX)?;
        let text = match token {
            Some(token) => text.replace("{id}", &format!("{:064x}", token.value())),
            None => text.to_owned(),
        };
        Self::read_name(&text)
    }

    fn read_name(text: &str) -> Result<Self, LinkError> {
        if let Some(rest) = strip_scheme(text, "ipfs://").or_else(|| strip_scheme(text, "ipfs:")) {
            return read_ipfs(rest);
        }
        if let Some(rest) = strip_scheme(text, "ar://") {
            return read_arweave(rest);
        }
        if text.starts_with("/ipfs/") || starts_with_cid(text) {
            return read_ipfs(text);
        }
        let url = Url::parse(text).map_err(|error| LinkError::Malformed(error.to_string()))?;
        match url.scheme() {
            "http" | "https" => Ok(Self::Web(url)),
            other => Err(LinkError::Scheme(other.to_owned())),
        }
    }

    /// The addresses to try, best first.
    pub fn urls(&self, gateways: &Gateways) -> Vec<Url> {
        let at = |bases: &[Url], path: &str| bases.iter().filter_map(|base| append(base, path)).collect();
        match self {
            Self::Web(url) => vec![url.clone()],
            Self::Ipfs(path) => at(&gateways.ipfs, path),
            Self::Arweave(path) => at(&gateways.arweave, path),
            Self::Inline(_) => Vec::new(),
        }
    }

    /// Who has to work for it: the host, or the kind of link when several hosts can.
    pub fn host(&self) -> &str {
        match self {
            Self::Web(url) => url.host_str().unwrap_or_default(),
            Self::Ipfs(_) => "ipfs:",
            Self::Arweave(_) => "ar:",
            Self::Inline(_) => "",
        }
    }
}

/// What follows the scheme, whatever its letter case.
fn strip_scheme<'a>(text: &'a str, scheme: &str) -> Option<&'a str> {
    let head = text.get(..scheme.len())?;
    head.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
}

fn bounded(text: &str, bytes_max: usize) -> Result<&str, LinkError> {
    if text.len() > bytes_max {
        return Err(LinkError::TooLong { bytes: text.len(), bytes_max });
    }
    Ok(text)
}

/// The address of a name at a gateway. A path that climbs out of its name has none.
fn append(base: &Url, path: &str) -> Option<Url> {
    let url = Url::parse(&format!("{base}{path}")).ok()?;
    let name = path.split(['/', '?', '#']).next().unwrap_or_default();
    url.as_str().starts_with(&format!("{base}{name}")).then_some(url)
}

fn starts_with_cid(text: &str) -> bool {
    is_cid(text.split(['/', '?', '#']).next().unwrap_or_default())
}

/// Whether a text can be the name of a content. It is not decoded: whoever has the content will say.
fn is_cid(text: &str) -> bool {
    let is_v0 = text.len() == CID_V0_CHARS && text.starts_with("Qm");
    let is_v1 = (CID_V1_CHARS_MIN..=CID_CHARS_MAX).contains(&text.len()) && text.starts_with(['b', 'k', 'z']);
    (is_v0 || is_v1) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn read_ipfs(text: &str) -> Result<Link, LinkError> {
    let mut path = text.trim_start_matches('/');
    // Written twice by some: ipfs://ipfs/NAME.
    while let Some(rest) = path.strip_prefix("ipfs/") {
        path = rest.trim_start_matches('/');
    }
    if !starts_with_cid(path) {
        return Err(LinkError::Malformed("it names no content of IPFS".to_owned()));
    }
    Ok(Link::Ipfs(path.to_owned()))
}

fn read_arweave(text: &str) -> Result<Link, LinkError> {
    let path = text.trim_start_matches('/');
    let name = path.split(['/', '?', '#']).next().unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.len() != TRANSACTION_CHARS || !name.bytes().all(is_name) {
        return Err(LinkError::Malformed("it names no transaction of Arweave".to_owned()));
    }
    Ok(Link::Arweave(path.to_owned()))
}

/// Reads what follows `data:`.
fn read_data(text: &str) -> Result<Vec<u8>, LinkError> {
    let (head, body) =
        text.split_once(',').ok_or_else(|| LinkError::Malformed("it has no comma".to_owned()))?;
    let is_base64 = head.split(';').skip(1).any(|word| word.trim().eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return Ok(percent_decode_str(body).collect());
    }
    let letters: Vec<u8> = percent_decode_str(body).filter(|byte| !byte.is_ascii_whitespace()).collect();
    let alphabet = if letters.contains(&b'-') || letters.contains(&b'_') {
        &alphabet::URL_SAFE
    } else {
        &alphabet::STANDARD
    };
    let lenient = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, lenient)
        .decode(letters)
        .map_err(|error| LinkError::Malformed(format!("its base64 is wrong: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CID: &str = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
    const CID_V1: &str = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
    const TRANSACTION: &str = "bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U";

    fn read(text: &str) -> Result<Link, LinkError> {
        Link::read(text, Some(TokenId::from(0x4c_ce0)), 1_000)
    }

    fn gateways() -> Gateways {
        let url = |text: &str| Url::parse(text).unwrap();
        Gateways {
            ipfs: vec![url("https://one.example/ipfs/"), url("https://two.example/")],
            arweave: vec![url("https://ar.example/")],
        }
    }

    fn urls(text: &str) -> Vec<String> {
        read(text).unwrap().urls(&gateways()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_gateway_is_an_address_to_append_to() {
        let read = |text: &str| Gateways::read(&[text.to_owned()], &[]);
        assert_eq!(read("https://ipfs.example/ipfs/").unwrap().ipfs.len(), 1);
        for text in ["", "ipfs.example/", "https://ipfs.example/ipfs", "ftp://ipfs.example/", "https:///"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_in_ipfs_however_they_are_written() {
        for text in [
            format!("ipfs://{CID}/7.json"),
            format!("IPFS://ipfs/{CID}/7.json"),
            format!("ipfs://ipfs/ipfs/{CID}/7.json"),
            format!("ipfs:///{CID}/7.json"),
            format!("ipfs:{CID}/7.json"),
            format!("/ipfs/{CID}/7.json"),
            format!(" {CID}/7.json\n"),
        ] {
            let expected = [
                format!("https://one.example/ipfs/{CID}/7.json"),
                format!("https://two.example/{CID}/7.json"),
            ];
            assert_eq!(urls(&text), expected, "{text}");
        }
        assert_eq!(read(CID_V1).unwrap().host(), "ipfs:");
        for text in
            ["ipfs://", "ipfs://Qm", "ipfs://../etc", &format!("ipfs://{CID}x/1"), &format!("ipfs://.{CID}")]
        {
            assert!(matches!(read(text), Err(LinkError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn a_path_does_not_climb_out_of_its_name() {
        assert_eq!(urls(&format!("ipfs://{CID}/../../admin")), Vec::<String>::new());
        assert_eq!(urls(&format!("ipfs://{CID}/%2e%2e/x")), Vec::<String>::new());
        assert_eq!(urls(&format!("ipfs://{CID}/a/../b")).len(), 2);
        assert_eq!(urls(&format!("ar://{TRANSACTION}/../x")), Vec::<String>::new());
    }

    #[test]
    fn names_in_arweave() {
        assert_eq!(
            urls(&format!("ar://{TRANSACTION}/1.json")),
            [format!("https://ar.example/{TRANSACTION}/1.json")]
        );
        for text in ["ar://short", "ar://", &format!("ar://{TRANSACTION}!")] {
            assert!(matches!(read(text), Err(LinkError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn the_id_is_sixty_four_small_digits() {
        let id = "000000000000000000000000000000000000000000000000000000000004cce0";
        assert_eq!(urls("https://a.example/{id}.json"), [format!("https://a.example/{id}.json")]);
        assert_eq!(urls(&format!("ipfs://{CID}/{{id}}"))[1], format!("https://two.example/{CID}/{id}"));
    }

    #[test]
    fn what_the_link_holds() {
        let inline = |text: &str| match read(text) {
            Ok(Link::Inline(body)) => String::from_utf8(body).unwrap(),
            other => panic!("{text}: {other:?}"),
        };
        for text in [
            "data:application/json;base64,eyJhIjoxfQ==",
            "data:application/json;charset=utf-8;base64,eyJhIjoxfQ",
            "DATA:;BASE64,eyJh\nIjoxfQ%3D%3D",
            "data:application/json,{\"a\":1}",
            "data:,%7B%22a%22%3A1%7D",
            "{\"a\":1}",
        ] {
            assert_eq!(inline(text), "{\"a\":1}", "{text}");
        }
        assert_eq!(inline("data:,100%"), "100%");
        assert_eq!(inline("data:,"), "");
        for text in ["data:", "data:application/json;base64", "data:;base64,!!!!", "data:;base64,A"] {
            assert!(matches!(read(text), Err(LinkError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        for text in [
            format!("data:,{}", "x".repeat(1_001)),
            format!("data:,{}", "x".repeat(1 << 20)),
            format!("data:;base64,{}", "QUFB".repeat(334)),
            format!("{{\"a\":\"{}\"}}", "x".repeat(1_000)),
            format!("https://a.example/{}", "x".repeat(LINK_BYTES_MAX)),
        ] {
            assert!(matches!(read(&text), Err(LinkError::TooLong { .. })), "{}", &text[..30]);
        }
    }

    #[test]
    fn other_kinds_are_not_followed() {
        for text in
            ["ftp://a.example/", "file:///etc/passwd", "gopher://a.example/", "javascript:alert(1)", "blob:x"]
        {
            assert!(matches!(read(text), Err(LinkError::Scheme(_))), "{text}");
        }
        assert_eq!(read(" \0"), Err(LinkError::Empty));
        assert!(matches!(read("metadata/1.json"), Err(LinkError::Malformed(_))));
    }
}
