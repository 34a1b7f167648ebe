//! What is looked at in a JSON text before it is parsed: how deep it nests, and names that would be taken for something
//! else than names.
//!
//! The library passes numbers and raw texts along as objects with a member of a private name. A text that has such a
//! member itself would have the library parse a string in its place, as deep as that likes, whatever this looks at.

use serde_json::Value;

use crate::{Code, Error};

/// What the library's private names begin with.
const PRIVATE: &str = "$serde_json::private::";

/// The most levels that the library reads, whatever is allowed.
pub const JSON_DEPTH_LIMIT: usize = 128;

/// Why a text is not taken as JSON.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// It nests deeper than so many levels.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    /// A member has a private name of the library.
    #[error("`{0:.64}` is not a name that a member may have")]
    PrivateName(String),
    /// It is no JSON.
    #[error("not JSON: {0}")]
    Unreadable(serde_json::Error),
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Self {
        match &error {
            JsonError::TooDeep(_) => Self::new(Code::BadRequest, format!("the body is {error}")),
            JsonError::PrivateName(_) => Self::new(Code::BadRequest, error.to_string()),
            JsonError::Unreadable(cause) => {
                Self::new(Code::BadRequest, "not JSON").with_cause(cause.to_string())
            }
        }
    }
}

/// Parses a text that somebody else wrote, of at most so many levels.
pub fn parse_json(text: &[u8], depth_max: usize) -> Result<Value, JsonError> {
    check_shape(text, depth_max)?;
    serde_json::from_slice(text).map_err(JsonError::Unreadable)
}

/// Refuses a text that nests deeper than so many levels, or that has a private name of the library.
pub fn check_shape(text: &[u8], depth_max: usize) -> Result<(), JsonError> {
    // Most texts have fewer brackets than levels are allowed, strings included, and nothing that a private name could be
    // written with. That is found out much sooner.
    let (mut opening, mut suspicious) = (0_usize, 0_usize);
    for byte in text {
        opening += usize::from(matches!(byte, b'{' | b'['));
        suspicious += usize::from(matches!(byte, b'$' | b'\\'));
    }
    if opening <= depth_max && suspicious == 0 {
        return Ok(());
    }
    look_closely(text, depth_max)
}

fn look_closely(text: &[u8], depth_max: usize) -> Result<(), JsonError> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > depth_max {
                    return Err(JsonError::TooDeep(depth_max));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_string(text, at);
                check_name(text, at, end)?;
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Where the string that begins here is over, its last quotation mark included.
fn end_of_string(text: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Refuses a string that is the name of a member, and a private one, with whatever escapes it is written.
fn check_name(text: &[u8], begin: usize, end: usize) -> Result<(), JsonError> {
    let is_name = text[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
    let string = &text[begin..end];
    if !is_name || !string.iter().any(|byte| matches!(byte, b'$' | b'\\')) {
        return Ok(());
    }
    match serde_json::from_slice::<String>(string) {
        Ok(name) if name.starts_with(PRIVATE) => Err(JsonError::PrivateName(name)),
        // What cannot be read is for the parser to refuse, which says where it is.
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        check_shape(text.as_bytes(), 4).is_err()
    }

    #[test]
    fn private_names_are_refused_however_they_are_written() {
        let deep = "[".repeat(200);
        for name in [
            "$serde_json::private::RawValue",
            "$serde_json::private::Number",
            r"\u0024serde_json::private::RawValue",
            r"$\u0073erde_json::private::RawValue",
            r"$serde_json\u003A:private::RawValue",
        ] {
            assert!(refused(&format!(r#"{{"{name}":"{deep}"}}"#)), "{name}");
            assert!(refused(&format!(r#"{{"a":[{{"{name}" : 1}}]}}"#)), "{name}");
            assert!(refused(&format!("{{\"a\":\"\\\\\",\"{name}\"\n:1}}")), "{name}");
        }
    }

    #[test]
    fn values_and_other_names_may_have_anything_in_them() {
        for text in [
            r#"{"a":"$serde_json::private::RawValue"}"#,
            r#"["$serde_json::private::RawValue"]"#,
            r#"{"$serde":1,"\\$":2,"\"":3,"$":"$"}"#,
            r#"{"a":"\\\": {[[[[[["}"#,
            r#"{"$serde_json::privat":1}"#,
        ] {
            assert!(!refused(text), "{text}");
        }
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert!(!refused(r#"{"a":"[[[[[[\"[[[["}"#));
        assert!(!refused("[[[[]]]]"));
        assert!(refused("[[[[[]]]]]"));
        assert!(!refused("[[[[]]],[[[]]],[[[]]]]"));
        assert!(refused(&"[".repeat(100_000)));
    }

    #[test]
    fn texts_that_end_early_are_left_to_the_parser() {
        for text in ["", "\"", r#""\"#, r#"{"$"#, r#"{"$\u00"#, r#"{"$\"#] {
            assert!(!refused(text), "{text}");
            assert!(parse_json(text.as_bytes(), 4).is_err(), "{text}");
        }
    }
}
