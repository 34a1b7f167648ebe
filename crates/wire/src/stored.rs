//! Stored records of tokens and contracts as answers show them: the text that is stored, and after it where it comes from
//! and a status in any case. Both follow from the text, so that they take no memory while it waits to be read.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What was fetched from where the contract says it is.
const FETCHED: &[u8] = br#","source":"contract"}"#;
/// What somebody brought, which is all there: nobody fetches anything.
const IMPORTED: &[u8] = br#","source":"import","status":"AVAILABLE"}"#;
/// What is kept in a hosted collection that the contract is linked with. It alone says so itself, with a status.
const KEPT_HERE: &[u8] = br#","source":"hosted"}"#;

/// The word for what is kept in a hosted collection.
pub const HOSTED: &str = "hosted";

/// How many bytes more than its text a record has in an answer, at most.
pub const STORED_EXTRA_BYTES: usize = IMPORTED.len();

/// How tokens without attributes were written once. Answers say that there are none in a list.
static NO_ATTRIBUTES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""attributes":null"#));

/// What is looked at where a token may have been written so.
#[derive(Deserialize)]
struct Attributed<'t> {
    #[serde(borrow)]
    attributes: &'t RawValue,
}

/// Appends the stored text of a token or a contract as answers show it.
pub fn write_stored(out: &mut Vec<u8>, text: &[u8]) {
    // A record has an id at least.
    let Some(members) = text.strip_suffix(b"}") else { return out.extend_from_slice(text) };
    match no_attributes(text) {
        Some(null) => {
            out.extend_from_slice(&members[..null]);
            out.extend_from_slice(b"[]");
            out.extend_from_slice(&members[null + NULL.len()..]);
        }
        None => out.extend_from_slice(members),
    }
    let end: &[u8] = if is_hosted(text) {
        b"}"
    } else if tells_status(members) {
        FETCHED
    } else {
        IMPORTED
    };
    out.extend_from_slice(end);
}

/// Whether a stored record is what a hosted collection says. Its source comes last, where nothing of what callers wrote is.
pub fn is_hosted(text: &[u8]) -> bool {
    text.ends_with(KEPT_HERE)
}

const NULL: &str = "null";

/// Where a token says that it has no attributes, if it says so itself and not somewhere inside.
fn no_attributes(text: &[u8]) -> Option<usize> {
    NO_ATTRIBUTES.find(text)?;
    let text = std::str::from_utf8(text).ok()?;
    let told = serde_json::from_str::<Attributed<'_>>(text).ok()?.attributes.get();
    (told == NULL).then(|| told.as_ptr().addr() - text.as_ptr().addr())
}

/// Whether members have a status among them: it comes last but for times, so that nothing needs to be searched for it. What
/// callers wrote is not taken for it, as every quote in that is escaped.
fn tells_status(members: &[u8]) -> bool {
    let mut rest = members;
    while let Some(value) = rest.strip_suffix(b"\"") {
        let Some(start) = value.iter().rposition(|&byte| byte == b'"') else { return false };
        let name = &value[..start];
        if name.ends_with(br#","status":"#) {
            return true;
        }
        let times: [&[u8]; 3] = [br#","updatedAt":"#, br#","queuedAt":"#, br#","lastFetched":"#];
        let Some(before) = times.into_iter().find_map(|time| name.strip_suffix(time)) else { return false };
        rest = before;
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{MetadataStatus, Timestamp, TokenMetadata};

    fn shown(token: &TokenMetadata) -> Value {
        let text = token.to_json().unwrap();
        let mut out = Vec::new();
        write_stored(&mut out, text.as_bytes());
        assert!(out.len() <= text.len() + STORED_EXTRA_BYTES);
        let said = String::from_utf8(out).unwrap();
        assert_eq!(said.matches(r#""source":"#).count(), 1, "{said}");
        serde_json::from_str(&said).unwrap()
    }

    #[test]
    fn a_status_that_is_stored_is_the_one_that_is_told() {
        for status in MetadataStatus::ALL {
            for (queued_at, last_fetched) in [(None, None), (Some(Timestamp::ZERO), Some(Timestamp::ZERO))] {
                let token = TokenMetadata {
                    status: Some(*status),
                    queued_at,
                    last_fetched,
                    ..TokenMetadata::default()
                };
                let shown = shown(&token);
                assert_eq!((&shown["source"], &shown["status"]), (&json!("contract"), &json!(status)));
            }
        }
    }

    #[test]
    fn what_was_brought_is_available_whatever_it_says_of_itself() {
        let claims = json!({ "status": "REFRESHING", "x": "\",\"status\":\"REFRESHING\"" });
        let claims = claims.as_object().unwrap().clone();
        let tokens = [
            TokenMetadata::default(),
            TokenMetadata { description: r#"","status":"REFRESHING"#.to_owned(), ..TokenMetadata::default() },
            TokenMetadata { attributes: Some(vec![claims.clone()]), ..TokenMetadata::default() },
            TokenMetadata { properties: Some(claims), ..TokenMetadata::default() },
        ];
        for token in tokens {
            let shown = shown(&token);
            assert_eq!(
                (&shown["source"], &shown["status"]),
                (&json!("import"), &json!("AVAILABLE")),
                "{shown}"
            );
        }
    }

    #[test]
    fn what_is_hosted_says_so_itself() {
        let hosted = TokenMetadata {
            status: Some(MetadataStatus::Available),
            source: HOSTED.to_owned(),
            ..TokenMetadata::default()
        };
        assert!(is_hosted(hosted.to_json().unwrap().as_bytes()));
        let told = shown(&hosted);
        assert_eq!((&told["source"], &told["status"]), (&json!("hosted"), &json!("AVAILABLE")));
        let claims = json!({ "source": "hosted" });
        let claims = claims.as_object().unwrap().clone();
        let tokens = [
            TokenMetadata {
                background_color: r#"","source":"hosted"}"#.to_owned(),
                ..TokenMetadata::default()
            },
            TokenMetadata { properties: Some(claims), ..TokenMetadata::default() },
        ];
        for token in tokens {
            assert!(!is_hosted(token.to_json().unwrap().as_bytes()));
        }
    }

    #[test]
    fn what_was_written_without_attributes_has_none_in_a_list() {
        let shown = |text: &str| {
            let mut out = Vec::new();
            write_stored(&mut out, text.as_bytes());
            assert!(out.len() <= text.len() + STORED_EXTRA_BYTES);
            serde_json::from_slice::<Value>(&out).unwrap()
        };
        let inside = r#"{"tokenId":"1","properties":{"attributes":null},"attributes":[{"attributes":null}],"updatedAt":"x"}"#;
        assert_eq!(shown(inside)["properties"]["attributes"], Value::Null);
        assert_eq!(shown(inside)["attributes"], json!([{ "attributes": null }]));
        let both = r#"{"tokenId":"1","properties":{"attributes":null},"attributes":null,"updatedAt":"x"}"#;
        assert_eq!(shown(both)["properties"]["attributes"], Value::Null);
        assert_eq!((&shown(both)["attributes"], &shown(both)["updatedAt"]), (&json!([]), &json!("x")));
        assert_eq!(shown(r#"{"tokenId":"1","attributes":null}"#)["attributes"], json!([]));
    }

    #[test]
    fn what_is_no_record_stays_as_it_is() {
        let mut out = Vec::new();
        write_stored(&mut out, b"null");
        assert_eq!(out, b"null");
    }
}
