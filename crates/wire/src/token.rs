//! Token metadata.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Asset, Error, JsonObject, MetadataStatus, Text, Timestamp, TokenId};

/// The longest name, in bytes.
const NAME_BYTES: usize = 2 * 1024;
/// The longest description, in bytes.
const DESCRIPTION_BYTES: usize = 64 * 1024;
/// The longest link or inline image (`data:` and the like), in bytes.
const LINK_BYTES: usize = 256 * 1024;
/// The longest colour, in bytes.
const COLOR_BYTES: usize = 64;
/// The largest whole record, as JSON, in bytes.
const RECORD_BYTES: usize = 512 * 1024;

/// What is known of a token.
///
/// Serialises as clients read it: the first seven members always, the others only when they have a value, and the
/// four with two spellings in both.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenMetadata {
    /// Token id.
    pub token_id: TokenId,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Link to the image, or the empty string.
    pub image: String,
    /// Link to a video.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub video: String,
    /// Link to an audio recording.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub audio: String,
    /// Free-form properties, or null.
    pub properties: Option<JsonObject>,
    /// Attributes: single-key objects or `{trait_type, value}`.
    #[serde(deserialize_with = "some_attributes")]
    #[schemars(with = "Vec<JsonObject>")]
    pub attributes: Option<Vec<JsonObject>>,
    /// The image itself, as SVG text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub image_data: String,
    /// Link to the token's own page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub external_url: String,
    /// Background colour, six hexadecimal digits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub background_color: String,
    /// Link to a multimedia file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub animation_url: String,
    /// Decimals of the token's quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u64>,
    /// When the metadata last changed; the zero time when that is not known.
    pub updated_at: Timestamp,
    /// Files that belong to the token.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assets: Vec<Asset>,
    /// Where the metadata comes from: `contract` when it was fetched from where the contract says it is, `import` when it
    /// was brought, `hosted` when it is kept in a hosted collection. Stored only of that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Whether it is there, or is being fetched. Not stored of what was brought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<MetadataStatus>,
    /// Since when it waits to be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<Timestamp>,
    /// When it was last fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fetched: Option<Timestamp>,
}

impl TokenMetadata {
    /// Of a token that is there, and of which nothing is known.
    pub fn not_available(token_id: TokenId) -> Self {
        Self { token_id, status: Some(MetadataStatus::NotAvailable), ..Self::default() }
    }

    /// The record as JSON text, as it is stored and served; refused when larger than a record may be.
    pub fn to_json(&self) -> Result<String, Error> {
        bounded_json("token", self)
    }

    /// Points the empty members that a file was uploaded for at that file; of several, oldest first, the last counts.
    pub fn link_assets(&mut self, assets: &[Asset]) {
        for asset in assets.iter().rev() {
            let member = match asset.metadata_field.as_str() {
                "image" => &mut self.image,
                "video" => &mut self.video,
                "audio" => &mut self.audio,
                "animation_url" | "animationUrl" => &mut self.animation_url,
                _ => continue,
            };
            if member.is_empty() {
                member.clone_from(&asset.url);
            }
        }
    }
}

impl Serialize for TokenMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tokenId", &self.token_id)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("description", &self.description)?;
        map.serialize_entry("image", &self.image)?;
        map.serialize_entry("properties", &self.properties)?;
        map.serialize_entry("attributes", self.attributes.as_deref().unwrap_or_default())?;
        let optional = [
            ("video", "", &self.video),
            ("audio", "", &self.audio),
            ("imageData", "image_data", &self.image_data),
            ("externalUrl", "external_url", &self.external_url),
            ("backgroundColor", "background_color", &self.background_color),
            ("animationUrl", "animation_url", &self.animation_url),
        ];
        for (name, other_spelling, value) in optional {
            if value.is_empty() {
                continue;
            }
            map.serialize_entry(name, value)?;
            if !other_spelling.is_empty() {
                map.serialize_entry(other_spelling, value)?;
            }
        }
        if let Some(decimals) = self.decimals {
            map.serialize_entry("decimals", &decimals)?;
        }
        if !self.assets.is_empty() {
            map.serialize_entry("assets", &self.assets)?;
        }
        if let Some(status) = &self.status {
            map.serialize_entry("status", status)?;
        }
        for (name, at) in [("queuedAt", self.queued_at), ("lastFetched", self.last_fetched)] {
            if let Some(at) = at {
                map.serialize_entry(name, &at)?;
            }
        }
        map.serialize_entry("updatedAt", &self.updated_at)?;
        if !self.source.is_empty() {
            map.serialize_entry("source", &self.source)?;
        }
        map.end()
    }
}

/// No attributes are none, however that is spelled.
fn some_attributes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<JsonObject>>, D::Error> {
    let attributes = Option::<Vec<JsonObject>>::deserialize(deserializer)?;
    Ok(attributes.filter(|attributes| !attributes.is_empty()))
}

/// What a caller says of a token; members left out keep their value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenInput {
    /// Token id.
    pub token_id: Option<TokenId>,
    /// Name.
    pub name: Option<Text<NAME_BYTES>>,
    /// Description.
    pub description: Option<Text<DESCRIPTION_BYTES>>,
    /// Link to the image.
    pub image: Option<Text<LINK_BYTES>>,
    /// Link to a video.
    pub video: Option<Text<LINK_BYTES>>,
    /// Link to an audio recording.
    pub audio: Option<Text<LINK_BYTES>>,
    /// Free-form properties; an empty object clears them.
    pub properties: Option<JsonObject>,
    /// Attributes; an empty list clears them.
    pub attributes: Option<Vec<JsonObject>>,
    /// The image itself, as SVG text.
    pub image_data: Option<Text<LINK_BYTES>>,
    /// Link to the token's own page.
    pub external_url: Option<Text<LINK_BYTES>>,
    /// Background colour.
    pub background_color: Option<Text<COLOR_BYTES>>,
    /// Link to a multimedia file.
    pub animation_url: Option<Text<LINK_BYTES>>,
    /// Decimals of the token's quantity.
    pub decimals: Option<u8>,
    /// When the metadata last changed. Read by imports; elsewhere the service's own clock counts.
    pub updated_at: Option<Timestamp>,
}

impl TokenInput {
    /// Writes what was said over a record, leaving its id and time alone.
    pub fn apply(self, token: &mut TokenMetadata) {
        put(&mut token.name, self.name);
        put(&mut token.description, self.description);
        put(&mut token.image, self.image);
        put(&mut token.video, self.video);
        put(&mut token.audio, self.audio);
        put(&mut token.image_data, self.image_data);
        put(&mut token.external_url, self.external_url);
        put(&mut token.background_color, self.background_color);
        put(&mut token.animation_url, self.animation_url);
        if let Some(properties) = self.properties {
            token.properties = Some(properties).filter(|map| !map.is_empty());
        }
        if let Some(attributes) = self.attributes {
            token.attributes = Some(attributes).filter(|list| !list.is_empty());
        }
        if let Some(decimals) = self.decimals {
            token.decimals = Some(decimals.into());
        }
    }
}

/// A record as JSON text; refused when larger than a record may be.
pub(crate) fn bounded_json(what: &str, record: &impl Serialize) -> Result<String, Error> {
    let json = serde_json::to_string(record).map_err(|error| Error::invalid(what, error))?;
    if json.len() > RECORD_BYTES {
        let reason = format!("{} bytes as JSON where at most {RECORD_BYTES} are allowed", json.len());
        return Err(Error::invalid(what, reason));
    }
    Ok(json)
}

/// Replaces a text when another was given.
pub(crate) fn put<const BYTES: usize>(member: &mut String, given: Option<Text<BYTES>>) {
    if let Some(text) = given {
        *member = text.into_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<TokenInput, crate::Error> {
        crate::from_slice(json.as_bytes(), 16)
    }

    #[test]
    fn a_plain_token_shows_the_seven_members() {
        let json = TokenMetadata::default().to_json().unwrap();
        let expected = r#"{"tokenId":"0","name":"","description":"","image":"","properties":null,"attributes":[],"updatedAt":"0001-01-01T00:00:00Z"}"#;
        assert_eq!(json, expected);
    }

    #[test]
    fn two_spellings_go_out_and_either_comes_in() {
        let mut token = TokenMetadata::default();
        read(r#"{"image_data":"<svg/>","externalUrl":"https://a"}"#).unwrap().apply(&mut token);
        let json = token.to_json().unwrap();
        assert!(json.contains(r#""imageData":"<svg/>","image_data":"<svg/>""#), "{json}");
        let back: TokenMetadata = serde_json::from_str(&json).unwrap();
        assert_eq!(back, token);
    }

    #[test]
    fn what_is_fetched_says_how_far_it_is() {
        let token = TokenMetadata {
            status: Some(MetadataStatus::Refreshing),
            queued_at: Some(Timestamp::ZERO),
            ..TokenMetadata::default()
        };
        let json = token.to_json().unwrap();
        assert!(
            json.contains(r#""status":"REFRESHING","queuedAt":"0001-01-01T00:00:00Z","updatedAt""#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<TokenMetadata>(&json).unwrap(), token);
    }

    #[test]
    fn members_left_out_keep_their_value() {
        let mut token =
            TokenMetadata { name: "kept".into(), image: "gone".into(), ..TokenMetadata::default() };
        read(r#"{"name":null,"image":""}"#).unwrap().apply(&mut token);
        assert_eq!((token.name.as_str(), token.image.as_str()), ("kept", ""));
    }

    #[test]
    fn a_description_of_a_megabyte_is_refused_by_name() {
        let error = read(&format!(r#"{{"description":"{}"}}"#, "x".repeat(1 << 20))).unwrap_err();
        assert_eq!(error.message, "description: 1048576 bytes of text where at most 65536 are allowed");
    }
}
