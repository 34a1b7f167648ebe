//! The members that listings of tokens have even where a token says nothing of them.

use std::sync::LazyLock;

use bourse_wire::{TokenId, TokenMetadata, write_stored};
use memchr::memmem::Finder;

/// Each with what it is then, in JSON.
const MEMBERS: [(&str, &str); 8] = [
    ("video", "\"\""),
    ("audio", "\"\""),
    ("imageData", "\"\""),
    ("externalUrl", "\"\""),
    ("backgroundColor", "\"\""),
    ("animationUrl", "\"\""),
    ("decimals", "0"),
    ("assets", "[]"),
];

/// All of them, as most tokens lack them.
static ALL: LazyLock<Vec<u8>> = LazyLock::new(|| written(Missing(u8::MAX)));

static FINDERS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
    MEMBERS.iter().map(|(name, _)| Finder::new(format!("\"{name}\":").as_bytes()).into_owned()).collect()
});

/// Which of the members a token lacks, a bit each: one byte beside its text, so that no text is longer for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing(u8);

impl Missing {
    /// Those that a token's metadata lacks.
    pub(crate) fn in_metadata(metadata: &str) -> Self {
        // Most have none of the words anywhere; those that have one may have it somewhere inside.
        if FINDERS.iter().all(|finder| finder.find(metadata.as_bytes()).is_none()) {
            return Self(u8::MAX);
        }
        let token: TokenMetadata = serde_json::from_str(metadata).unwrap_or_default();
        let texts = [
            &token.video,
            &token.audio,
            &token.image_data,
            &token.external_url,
            &token.background_color,
            &token.animation_url,
        ];
        let said = texts.map(|text| !text.is_empty()).into_iter();
        let said = said.chain([token.decimals.is_some(), !token.assets.is_empty()]);
        Self(said.enumerate().fold(0, |missing, (bit, is_said)| missing | (u8::from(!is_said) << bit)))
    }

    pub(crate) fn of_byte(byte: u8) -> Self {
        Self(byte)
    }

    pub(crate) fn byte(self) -> u8 {
        self.0
    }

    /// Appends metadata as answers show it, with the members that it lacks.
    pub(crate) fn write(self, out: &mut Vec<u8>, metadata: &[u8]) {
        write_stored(out, metadata);
        if out.pop_if(|last| *last == b'}').is_none() {
            return;
        }
        match self.0 {
            u8::MAX => out.extend_from_slice(&ALL),
            _ => out.extend_from_slice(&written(self)),
        }
        out.push(b'}');
    }

    /// The same for metadata that is not kept.
    pub(crate) fn write_of(out: &mut Vec<u8>, metadata: &str) {
        Self::in_metadata(metadata).write(out, metadata.as_bytes());
    }
}

/// Appends the metadata of a token of which nothing is known, with all members that listings of tokens have.
pub fn write_token_of_nobody(out: &mut Vec<u8>, token: TokenId) {
    Missing::write_of(out, &TokenMetadata::not_available(token).to_json().unwrap_or_default());
}

fn written(missing: Missing) -> Vec<u8> {
    let each = MEMBERS.iter().enumerate().filter(|(bit, _)| (missing.0 >> bit) & 1 == 1);
    each.flat_map(|(_, (name, value))| format!(",\"{name}\":{value}").into_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use bourse_wire::{JsonObject, TokenMetadata};
    use serde_json::{Value, json};

    use super::*;

    fn whole(token: &TokenMetadata) -> Value {
        let text = token.to_json().unwrap();
        let mut out = Vec::new();
        Missing::of_byte(Missing::in_metadata(&text).byte()).write(&mut out, text.as_bytes());
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn what_nobody_said_is_there_and_what_somebody_said_is_kept() {
        let none = whole(&TokenMetadata::default());
        for (name, value) in MEMBERS {
            assert_eq!(none[name].to_string(), value, "{name}");
        }
        let inside: JsonObject = json!({ "video": "inside" }).as_object().unwrap().clone();
        let some = TokenMetadata {
            properties: Some(inside),
            audio: "a".into(),
            image_data: "<svg/>".into(),
            decimals: Some(3),
            ..TokenMetadata::default()
        };
        let shown = whole(&some);
        assert_eq!(
            (&shown["audio"], &shown["imageData"], &shown["decimals"]),
            (&json!("a"), &json!("<svg/>"), &json!(3))
        );
        assert_eq!(
            (&shown["video"], &shown["assets"], &shown["properties"]["video"]),
            (&json!(""), &json!([]), &json!("inside"))
        );
        let text = String::from_utf8(serde_json::to_vec(&shown).unwrap()).unwrap();
        assert_eq!(text.matches("\"audio\"").count(), 1);
    }
}
