//! Hosted collections.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::token::put;
use crate::{Address, Asset, ChainId, JsonObject, ProjectId, RecordId, Text, Timestamp};

/// A collection whose metadata a project hosts here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    /// Collection id.
    pub id: RecordId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Name, description and the like.
    pub metadata: CollectionMetadata,
    /// Whether it is hidden from the public addresses.
    pub private: bool,
    /// How many tokens it has.
    pub token_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The public addresses of its metadata.
    #[serde(rename = "baseURIs")]
    pub base_uris: CollectionBaseUris,
    /// Files of the collection itself.
    pub assets: Vec<Asset>,
}

/// The public addresses of a hosted collection's metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollectionBaseUris {
    /// What the contract's `contractURI` should answer.
    #[serde(rename = "contractMetadataURI")]
    pub contract: String,
    /// What the contract's base URI should be; a token id follows.
    #[serde(rename = "tokenMetadataURI")]
    pub token: String,
}

/// The metadata of a hosted collection.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionMetadata {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Link to the image.
    pub image: String,
    /// Link to the collection's own page.
    pub external_link: String,
    /// Free-form properties, or null.
    pub properties: Option<JsonObject>,
    /// Attributes, or null.
    pub attributes: Option<Vec<JsonObject>>,
}

impl CollectionMetadata {
    /// Points an empty image at the file that was uploaded for it; of several, oldest first, the last counts.
    pub fn link_assets(&mut self, assets: &[Asset]) {
        let has_file = |asset: &&Asset| asset.metadata_field == "image" && !asset.url.is_empty();
        if let Some(image) = assets.iter().rev().find(has_file)
            && self.image.is_empty()
        {
            self.image.clone_from(&image.url);
        }
    }
}

impl Serialize for CollectionMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("description", &self.description)?;
        map.serialize_entry("image", &self.image)?;
        map.serialize_entry("externalLink", &self.external_link)?;
        map.serialize_entry("external_link", &self.external_link)?;
        map.serialize_entry("properties", &self.properties)?;
        map.serialize_entry("attributes", &self.attributes)?;
        map.end()
    }
}

/// What a caller says of a collection; members left out keep their value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionInput {
    /// Collection id, to update one.
    pub id: Option<RecordId>,
    /// Name, description and the like.
    pub metadata: Option<CollectionMetadataInput>,
    /// Whether it is hidden from the public addresses; a new collection is, unless told otherwise.
    pub private: Option<bool>,
}

/// What a caller says of a collection's metadata; members left out keep their value.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionMetadataInput {
    /// Name.
    pub name: Option<Text<2048>>,
    /// Description.
    pub description: Option<Text<65536>>,
    /// Link to the image.
    pub image: Option<Text<262_144>>,
    /// Link to the collection's own page.
    pub external_link: Option<Text<8192>>,
    /// Free-form properties; an empty object clears them.
    pub properties: Option<JsonObject>,
    /// Attributes; an empty list clears them.
    pub attributes: Option<Vec<JsonObject>>,
}

impl CollectionMetadataInput {
    /// Writes what was said over a record.
    pub fn apply(self, metadata: &mut CollectionMetadata) {
        put(&mut metadata.name, self.name);
        put(&mut metadata.description, self.description);
        put(&mut metadata.image, self.image);
        put(&mut metadata.external_link, self.external_link);
        if let Some(properties) = self.properties {
            metadata.properties = Some(properties).filter(|map| !map.is_empty());
        }
        if let Some(attributes) = self.attributes {
            metadata.attributes = Some(attributes).filter(|list| !list.is_empty());
        }
    }
}

/// A contract whose token metadata a hosted collection serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractCollection {
    /// Link id.
    pub id: RecordId,
    /// Chain of the contract.
    pub chain_id: ChainId,
    /// Address of the contract.
    pub contract_address: Address,
    /// The collection that serves it.
    pub collection_id: RecordId,
}
