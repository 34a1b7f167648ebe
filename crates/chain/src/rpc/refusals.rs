//! What nodes say when they refuse, and what it means. Words decide before numbers: providers use one code for many
//! things.

use std::time::Duration;

use crate::node::Failure;

/// What a refusal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// Too many blocks or logs at once.
    TooMuch,
    /// Too many requests.
    TooFast,
    /// It does not know a block; it may be behind, or the block may be gone.
    Unknown,
    /// It took too long; half of it may do.
    TooSlow,
    /// The caller may not ask at all.
    Forbidden,
}

/// Words, in lower case, that all have to be in what a node says. The first line that fits counts.
const KNOWN: &[(&[&str], Means)] = &[
    // Requests a second first: some of these texts also speak of ranges.
    (&["rate limit"], Means::TooFast),
    (&["too many requests"], Means::TooFast),
    (&["compute units per second"], Means::TooFast),
    (&["request limit reached"], Means::TooFast),
    (&["requests per second"], Means::TooFast),
    (&["daily request count exceeded"], Means::TooFast),
    (&["call rate limit"], Means::TooFast),
    // QuickNode: limited to a 10,000 range. BlockPI: limited to 1024 block range; BSC: to 0 - 50 blocks range.
    (&["eth_getlogs is limited to"], Means::TooMuch),
    // Alchemy: up to a 2K block range … this block range should work: [0x, 0x]. thirdweb: number of requested blocks.
    (&["eth_getlogs requests with up to"], Means::TooMuch),
    (&["log response size exceeded"], Means::TooMuch),
    (&["response size exceeded"], Means::TooMuch),
    (&["response is too big"], Means::TooMuch),
    (&["response too large"], Means::TooMuch),
    (&["response size should not greater than"], Means::TooMuch),
    // Infura, zkSync and many more.
    (&["query returned more than"], Means::TooMuch),
    (&["range", "exceeds limit of"], Means::TooMuch),
    // Tenderly.
    (&["is bigger than range limit"], Means::TooMuch),
    // reth, and providers that run it.
    (&["query exceeds max block range"], Means::TooMuch),
    (&["query exceeds max results"], Means::TooMuch),
    // geth and its family.
    (&["exceed maximum block range"], Means::TooMuch),
    (&["exceeded maximum block range"], Means::TooMuch),
    (&["exceeds maximum block range"], Means::TooMuch),
    (&["block range is larger than max"], Means::TooMuch),
    // erigon.
    (&["query block range exceeds server limit"], Means::TooMuch),
    (&["query returns too many logs"], Means::TooMuch),
    // nethermind.
    (&["too many logs requested"], Means::TooMuch),
    (&["max logs per response"], Means::TooMuch),
    // besu.
    (&["requested range exceeds maximum"], Means::TooMuch),
    // Ankr, Cloudflare, Chainstack, dRPC, publicnode, and others in passing.
    (&["block range is too wide"], Means::TooMuch),
    (&["too wide blocks range"], Means::TooMuch),
    (&["range too large"], Means::TooMuch),
    (&["range is too large"], Means::TooMuch),
    (&["block range too high"], Means::TooMuch),
    (&["block range too wide"], Means::TooMuch),
    (&["block range limit exceeded"], Means::TooMuch),
    (&["block range exceeds"], Means::TooMuch),
    (&["ranges over", "are not supported"], Means::TooMuch),
    (&["requested too many blocks"], Means::TooMuch),
    (&["can't query more than", "blocks"], Means::TooMuch),
    (&["maximum block range"], Means::TooMuch),
    (&["limit the query to at most", "blocks"], Means::TooMuch),
    (&["backend response too large"], Means::TooMuch),
    (&["please narrow your", "range"], Means::TooMuch),
    (&["too many results"], Means::TooMuch),
    (&["please use smaller", "range"], Means::TooMuch),
    // Behind, or gone. anvil says BlockOutOfRangeError; geth that a range extends beyond its head.
    (&["unknown block"], Means::Unknown),
    (&["block not found"], Means::Unknown),
    (&["header not found"], Means::Unknown),
    (&["header for hash not found"], Means::Unknown),
    (&["blockoutofrange"], Means::Unknown),
    (&["beyond current head"], Means::Unknown),
    (&["invalid block range"], Means::Unknown),
    (&["cannot find block"], Means::Unknown),
    (&["one of the blocks specified in filter"], Means::Unknown),
    (&["requested data not available"], Means::Unknown),
    (&["after last accepted block"], Means::Unknown),
    (&["could not find block"], Means::Unknown),
    (&["missing trie node"], Means::Unknown),
    // Slow.
    (&["query timeout exceeded"], Means::TooSlow),
    (&["request timed out"], Means::TooSlow),
    (&["timed out"], Means::TooSlow),
    (&["execution timeout"], Means::TooSlow),
    (&["query duration"], Means::TooSlow),
    (&["gateway time-out"], Means::TooSlow),
    (&["context deadline exceeded"], Means::TooSlow),
    // No way in.
    (&["invalid api key"], Means::Forbidden),
    (&["must be authenticated"], Means::Forbidden),
    (&["unauthorized"], Means::Forbidden),
    (&["api key", "disabled"], Means::Forbidden),
    (&["method not found"], Means::Forbidden),
    (&["does not exist/is not available"], Means::Forbidden),
    (&["method not available"], Means::Forbidden),
    (&["unsupported method"], Means::Forbidden),
];

/// What a JSON-RPC error means; `detail` is what came along as its data.
pub(crate) fn classify(code: i64, message: &str, detail: &str) -> Failure {
    let said = format!("{message} {detail}").to_lowercase();
    let reason = format!("the node answered {code}: {}", shortened(message, detail));
    let known = KNOWN.iter().find(|(words, _)| words.iter().all(|word| said.contains(word)));
    match known.map(|(_, means)| *means) {
        Some(Means::TooMuch) => Failure::SmallerRange { suggested: suggested(&said), reason },
        Some(Means::TooSlow) => Failure::SmallerRange { suggested: None, reason },
        Some(Means::TooFast) => Failure::Retry { after: Some(Duration::from_secs(1)), reason },
        Some(Means::Unknown) => Failure::PossibleReorg { reason },
        Some(Means::Forbidden) => Failure::Stop { reason },
        // Infura's number for a limit, with words that nobody has seen yet.
        None if code == -32005 => Failure::SmallerRange { suggested: None, reason },
        None => Failure::Retry { after: None, reason },
    }
}

/// What a status of HTTP means, and what came along with it.
pub(crate) fn classify_status(status: u16, after: Option<Duration>, body: &str) -> Failure {
    let reason = format!("the node answered with status {status}: {}", shortened(body, ""));
    match status {
        // Too large, or a proxy that gave up waiting for its node.
        413 | 408 | 504 => Failure::SmallerRange { suggested: None, reason },
        429 => Failure::Retry { after: after.or(Some(Duration::from_secs(1))), reason },
        401 | 403 | 404 | 405 => Failure::Stop { reason },
        _ => Failure::Retry { after, reason },
    }
}

fn shortened(message: &str, detail: &str) -> String {
    let joined = if detail.is_empty() { message.to_owned() } else { format!("{message} ({detail})") };
    joined.chars().take(300).collect()
}

/// How many blocks the node would answer about: the length of a range that it names, or the one number that it names
/// as its limit.
fn suggested(said: &str) -> Option<u64> {
    named_range(said).or_else(|| named_limit(said)).filter(|blocks| *blocks > 0)
}

/// `[0xa, 0xb]`, or `with the range 10-20`.
fn named_range(said: &str) -> Option<u64> {
    let (from, to) = if let Some((_, rest)) = said.rsplit_once("range should work: [") {
        rest.split_once(']')?.0.split_once(',')?
    } else if let Some((_, rest)) = said.rsplit_once("with this block range [") {
        rest.split_once(']')?.0.split_once(',')?
    } else {
        let rest = said.rsplit_once("with the range ")?.1;
        rest.split_whitespace().next()?.split_once('-')?
    };
    number(to)?.checked_sub(number(from)?)?.checked_add(1)
}

/// The words after which, or before which, nodes name how many blocks they allow.
const LIMIT_AFTER: &[&str] = &[
    "limited to a ",
    "limited to 0 - ",
    "limited to ",
    "requests with up to a ",
    "exceeds limit of ",
    "bigger than range limit ",
    "max block range ",
    "maximum block range: ",
    "maximum block range ",
    "max block range = ",
    "server limit, narrow your filter: ",
    "the limit is ",
    "maximum is set to ",
    "max range: ",
    "max is ",
    "ranges over ",
    "range limit ",
    "requested blocks is ",
    "more than ",
    "at most ",
];

fn named_limit(said: &str) -> Option<u64> {
    // A number of results is no number of blocks.
    if said.contains("results") || said.contains("logs requested") || said.contains("too many logs") {
        return None;
    }
    let rest = LIMIT_AFTER.iter().find_map(|words| {
        let rest = said.rsplit_once(words)?.1;
        rest.starts_with(|first: char| first.is_ascii_digit()).then_some(rest)
    })?;
    let digits: String =
        rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
    let blocks: u64 = digits.parse().ok()?;
    let thousands = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',').starts_with('k');
    Some(if thousands { blocks.saturating_mul(1000) } else { blocks })
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['.', ',']);
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
}

#[cfg(test)]
mod tests;
