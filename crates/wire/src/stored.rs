//! Stored records of tokens and contracts as answers show them: the text that is stored, and after it where it comes from
//! and a status in any case. Both follow from the text, so that they take no memory while it waits to be read.

/// What was fetched from where the contract says it is.
const FETCHED: &[u8] = br#","source":"contract"}"#;
/// What somebody brought, which is all there: nobody fetches anything.
const IMPORTED: &[u8] = br#","source":"import","status":"AVAILABLE"}"#;

/// How many bytes more than its text a record has in an answer, at most.
pub const STORED_EXTRA_BYTES: usize = IMPORTED.len();

/// Appends the stored text of a token or a contract as answers show it.
pub fn write_stored(out: &mut Vec<u8>, text: &[u8]) {
    // A record has an id at least.
    let Some(members) = text.strip_suffix(b"}") else { return out.extend_from_slice(text) };
    out.extend_from_slice(members);
    out.extend_from_slice(if tells_status(members) { FETCHED } else { IMPORTED });
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
    fn what_is_no_record_stays_as_it_is() {
        let mut out = Vec::new();
        write_stored(&mut out, b"null");
        assert_eq!(out, b"null");
    }
}
