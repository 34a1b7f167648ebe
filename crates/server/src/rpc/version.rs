//! Which build answers, for services whose clients ask.

use std::sync::LazyLock;

use bourse_wire::ChainId;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::failure::Failure;
use crate::openapi;
use crate::route::{Handler, Route, Service};

/// Which build answers.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    /// Version of the protocol, that is of how operations are called.
    webrpc_version: &'static str,
    /// Version of the interface: the same as that of the service.
    schema_version: &'static str,
    /// Hash of the OpenAPI document. It differs where any operation or record does.
    schema_hash: &'static str,
    /// Version of the service.
    app_version: &'static str,
}

/// The version.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VersionAnswer")]
struct Answer {
    version: Version,
}

/// The operation of a service.
pub(crate) fn operation(service: Service) -> Route {
    Route::for_anybody::<Answer>(service, "Version", "Which build answers.", Handler::Open(handle))
}

fn handle(_: &App, _: Option<ChainId>) -> Result<Vec<u8>, Failure> {
    Ok(serde_json::to_vec(&Answer { version: Version::of_this_build() })?)
}

impl Version {
    /// The build that answers.
    pub(crate) fn of_this_build() -> Self {
        // Made once: the document is large, and anybody may ask.
        static HASH: LazyLock<String> =
            LazyLock::new(|| const_hex::encode(&Sha256::digest(openapi::document().to_string())[..20]));
        let (app_version, schema_hash) = (env!("CARGO_PKG_VERSION"), HASH.as_str());
        Self { webrpc_version: "v1", schema_version: app_version, schema_hash, app_version }
    }
}
