//! Plain addresses beside RPC: what contracts' token URIs point at, uploaded files, uploads.

mod hosted;
mod live;
mod params;
mod upload;

pub use hosted::{FILE_POLICY, PublicFile};
pub(crate) use hosted::{public_file, read_content, read_file};
pub use params::is_file_path;
pub use upload::{AssetOwner, StoredFile};
pub(crate) use upload::{set_file, set_file_of_member, store_file};

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::{get, put};
use bourse_wire::{Code, Error};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::dispatch::{Side, bounded, error_response, permit_at, response};
use crate::door::Peer;
use crate::failure::Failure;
use crate::limits::Bucket;
use crate::openapi;

/// One plain address.
struct Plain {
    path: &'static str,
    method: &'static str,
    summary: &'static str,
    credential: &'static str,
    tag: &'static str,
}

const COLLECTION: &str = "/projects/{project}/collections/{collection}";
const TOKEN: &str = "/projects/{project}/collections/{collection}/tokens/{token}";
const TOKEN_ASSET: &str = "/projects/{project}/collections/{collection}/tokens/{token}/asset/{field}";
const TOKEN_UPLOAD: &str = "/projects/{project}/collections/{collection}/tokens/{token}/upload/{asset}";
const ASSET: &str = "/projects/{project}/collections/{collection}/assets/{asset}";
const ASSET_UPLOAD: &str = "/projects/{project}/collections/{collection}/assets/{asset}/upload";
const LIVE: &str = "/live/{network}/{contract}";
const LIVE_TOKEN: &str = "/live/{network}/{contract}/{token}";

/// Every plain address, for the documentation; [`routes`] binds the same paths.
const ALL: [Plain; 8] = [
    Plain {
        path: COLLECTION,
        method: "get",
        summary: "The metadata of a published collection; `.json` may follow.",
        credential: "none",
        tag: "Collections",
    },
    Plain {
        path: TOKEN,
        method: "get",
        summary: "The metadata of a token of a published collection, by decimal id or by the 64 hexadecimal digits of \
            ERC-1155; `.json` may follow.",
        credential: "none",
        tag: "Collections",
    },
    Plain {
        path: TOKEN_ASSET,
        method: "get",
        summary: "The file that stands for a member (image, video, …) of a token's metadata.",
        credential: "none",
        tag: "Collections",
    },
    Plain {
        path: ASSET,
        method: "get",
        summary: "The file of an asset.",
        credential: "none",
        tag: "Collections",
    },
    Plain {
        path: TOKEN_UPLOAD,
        method: "put",
        summary: "Uploads a file for a token: for the asset of this id, or for this metadata member. Multipart, field \
            `file`.",
        credential: "secret token",
        tag: "Collections",
    },
    Plain {
        path: ASSET_UPLOAD,
        method: "put",
        summary: "Uploads the file of an asset. Multipart, field `file`.",
        credential: "secret token",
        tag: "Collections",
    },
    Plain {
        path: LIVE,
        method: "get",
        summary: "What happens in a collection, as server-sent events; the access key may be the field `key` of the address.",
        credential: "access key",
        tag: "Marketplace",
    },
    Plain {
        path: LIVE_TOKEN,
        method: "get",
        summary: "What happens to one token, likewise.",
        credential: "access key",
        tag: "Marketplace",
    },
];

/// The plain addresses, each request within the service's bounds.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let upload_bytes_max = app.settings.limits.upload_bytes_max;
    Router::new()
        .route(COLLECTION, get(hosted::collection))
        .route(TOKEN, get(hosted::token))
        .route(TOKEN_ASSET, get(hosted::token_asset))
        .route(ASSET, get(hosted::asset))
        .route(LIVE, get(live::open))
        .route(LIVE_TOKEN, get(live::open))
        .route(TOKEN_UPLOAD, put(upload::token))
        .route(ASSET_UPLOAD, put(upload::asset))
        // Room for the multipart frame around the file; the file itself is measured as it is read.
        .layer(DefaultBodyLimit::max(upload_bytes_max.saturating_add(64 * 1024)))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(app), guard))
}

/// The same bounds as for operations: so many requests at once, and so many a minute from one address.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let _permit = match permit_at(&app, Side::Addresses) {
        Ok(permit) => permit,
        Err(error) => return error_response(&app, error.into(), HeaderMap::new()),
    };
    let peer = Peer::of(request.extensions());
    let allowance = peer.and_then(|peer| app.limiter.take(Bucket::of_address(peer), 1, app.clock.steady()));
    if let Some(allowance) = allowance.filter(|allowance| allowance.refused) {
        let headers = HeaderMap::from_iter([(header::RETRY_AFTER, allowance.reset_seconds.into())]);
        let message = format!("{} requests a minute are used up", allowance.limit);
        return error_response(&app, Error::new(Code::RateLimited, message).into(), headers);
    }
    let limits = &app.settings.limits;
    let limit_ms =
        if request.method() == Method::PUT { limits.upload_timeout_ms } else { limits.request_timeout_ms };
    match bounded(limit_ms, next.run(request)).await {
        Ok(response) => response,
        Err(error) => error_response(&app, error.into(), HeaderMap::new()),
    }
}

/// JSON, or why there is none.
fn answer(app: &App, result: Result<Vec<u8>, Failure>) -> Response {
    match result {
        Ok(json) => response(app, StatusCode::OK, HeaderMap::new(), json.into()),
        Err(failure) => error_response(app, failure, HeaderMap::new()),
    }
}

/// The plain addresses in the OpenAPI document.
pub(crate) fn documentation() -> Map<String, Value> {
    let mut paths: Map<String, Value> = Map::new();
    for plain in ALL {
        let parameters: Vec<Value> = plain
            .path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
            .collect();
        let mut operation = json!({
            "operationId": operation_id(&plain),
            "tags": [plain.tag],
            "summary": plain.summary,
            "x-credential": plain.credential,
            "parameters": parameters,
            "responses": { "200": { "description": "Done." }, "default": openapi::error_response() },
        });
        if plain.method == "put" {
            let file = json!({ "type": "object", "required": ["file"], "properties": {
                "file": { "type": "string", "format": "binary", "description": "The file." },
            } });
            operation["requestBody"] =
                json!({ "required": true, "content": { "multipart/form-data": { "schema": file } } });
        }
        paths.insert(plain.path.to_owned(), json!({ plain.method: operation }));
    }
    paths
}

fn operation_id(plain: &Plain) -> String {
    let words = plain.path.split(['/', '{', '}']).filter(|word| !word.is_empty());
    std::iter::once(plain.method).chain(words).collect::<Vec<_>>().join("_")
}
