//! Bodies whose records are read along with them, which takes a fraction of the time of reading each by itself.

use std::borrow::Cow;

use bourse_wire::{Error, ProjectId, from_slice, from_slice_single_pass};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// A body with its records read, or as they were sent.
pub(crate) enum RecordsBody<R, G> {
    /// All records are read.
    Read(R),
    /// At least one must be read by itself, be it only to tell what is wrong with it.
    Raw(G),
}

/// A body that may name a project.
pub(crate) trait Claims {
    /// The project that it names.
    fn claimed_project(&self) -> Option<ProjectId>;
}

impl<R, G> crate::route::Request for RecordsBody<R, G>
where
    R: Claims + DeserializeOwned + JsonSchema + Send + 'static,
    G: Claims + DeserializeOwned + Send + 'static,
{
    fn claimed_project(&self) -> Option<ProjectId> {
        match self {
            Self::Read(body) => body.claimed_project(),
            Self::Raw(body) => body.claimed_project(),
        }
    }

    fn read(body: &[u8], depth_max: usize) -> Result<Self, Error> {
        match from_slice_single_pass(body, depth_max) {
            Some(body) => Ok(Self::Read(body)),
            None => from_slice(body, depth_max).map(Self::Raw),
        }
    }
}

impl<'de, R, G: Deserialize<'de>> Deserialize<'de> for RecordsBody<R, G> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        G::deserialize(deserializer).map(Self::Raw)
    }
}

impl<R: JsonSchema, G> JsonSchema for RecordsBody<R, G> {
    fn schema_name() -> Cow<'static, str> {
        R::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        R::json_schema(generator)
    }
}
