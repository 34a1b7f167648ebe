//! Files that belong to hosted collections and tokens.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::{RecordId, Text, Timestamp, TokenId};

/// A file of a collection or of one of its tokens.
///
/// Members after `url` are left out when they have no value: a null breaks existing clients.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    /// Asset id.
    pub id: RecordId,
    /// The collection it belongs to.
    pub collection_id: RecordId,
    /// The token it belongs to; absent for an asset of the whole collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
    /// Where the file is served; empty until one is uploaded.
    #[serde(default)]
    pub url: String,
    /// The metadata member the file stands for: image, video, audio, `animation_url`.
    pub metadata_field: String,
    /// Name of the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filename: String,
    /// Size of the file in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub filesize: u64,
    /// Media type of the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mime_type: String,
    /// Width of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u64>,
    /// Height of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u64>,
    /// When the asset last changed.
    pub updated_at: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Serialize for Asset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        if let Some(token_id) = &self.token_id {
            map.serialize_entry("tokenId", token_id)?;
        }
        map.serialize_entry("url", &self.url)?;
        map.serialize_entry("metadataField", &self.metadata_field)?;
        if !self.filename.is_empty() {
            // Go clients read `filename`, TypeScript ones `name`.
            map.serialize_entry("filename", &self.filename)?;
            map.serialize_entry("name", &self.filename)?;
        }
        if !is_zero(&self.filesize) {
            map.serialize_entry("filesize", &self.filesize)?;
            map.serialize_entry("mimeType", &self.mime_type)?;
        }
        if let (Some(width), Some(height)) = (self.width, self.height) {
            map.serialize_entry("width", &width)?;
            map.serialize_entry("height", &height)?;
        }
        map.serialize_entry("updatedAt", &self.updated_at)?;
        map.end()
    }
}

/// What a caller says of an asset. Size, type and dimensions are read off the uploaded file, never taken from here.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AssetInput {
    /// Asset id, to update one.
    pub id: Option<RecordId>,
    /// The collection it belongs to.
    pub collection_id: Option<RecordId>,
    /// The token it belongs to.
    pub token_id: Option<TokenId>,
    /// The metadata member the file stands for.
    pub metadata_field: Option<Text<64>>,
    /// Name of the file.
    pub filename: Option<Text<256>>,
    /// Other spelling of `filename`.
    pub name: Option<Text<256>>,
}
