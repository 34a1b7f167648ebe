//! Published collections, tokens and files.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bourse_store::AssetRecord;
use bourse_wire::{Error, RecordId, TokenId, TokenMetadata};
use futures_util::TryStreamExt as _;

use super::answer;
use super::params::Params;
use crate::app::App;
use crate::dispatch::{error_response, response};
use crate::failure::Failure;
use crate::rpc::collections::types;
use crate::static_answer::names_tag;

/// What a served file may do: an SVG is a document, but not one with scripts in our origin.
pub const FILE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/// An uploaded file that anybody may have.
#[derive(Clone, Debug)]
pub struct PublicFile {
    content_hash: String,
}

impl PublicFile {
    /// The hash of what it holds, which another file does not have.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }
}

pub(super) async fn collection(State(app): State<Arc<App>>, params: Params) -> Response {
    answer(&app, collection_json(&app, &params).await)
}

pub(super) async fn token(State(app): State<Arc<App>>, params: Params) -> Response {
    answer(&app, token_json(&app, &params).await)
}

pub(super) async fn asset(State(app): State<Arc<App>>, params: Params, headers: HeaderMap) -> Response {
    let found = find_asset(&app, &params).await;
    serve(&app, &params, found, &headers).await
}

pub(super) async fn token_asset(State(app): State<Arc<App>>, params: Params, headers: HeaderMap) -> Response {
    let found = find_token_asset(&app, &params).await;
    serve(&app, &params, found, &headers).await
}

async fn collection_json(app: &App, params: &Params) -> Result<Vec<u8>, Failure> {
    let (scope, id) = (params.reader()?, params.id("collection")?);
    let hosted = app.store.hosted_collection(scope, id).await?;
    if hosted.private && !params.is_owner() {
        return Err(not_published(id).into());
    }
    let collection = types::collection(app, scope, hosted).await?;
    Ok(serde_json::to_vec(&collection.metadata)?)
}

async fn token_json(app: &App, params: &Params) -> Result<Vec<u8>, Failure> {
    let (scope, id, token) = (params.reader()?, params.id("collection")?, params.token()?);
    check_visible(app, params, id, Some(token)).await?;
    let hosted = app.store.hosted_token(scope, id, token).await?;
    let token = types::token(app, scope, id, hosted).await?.token;
    // Wallets read this as what the token's contract points at.
    Ok(serde_json::to_vec(&TokenMetadata { source: String::new(), status: None, ..token })?)
}

/// An asset that is hidden reads like one that is not there.
async fn find_asset(app: &App, params: &Params) -> Result<AssetRecord, Failure> {
    let (collection, id) = (params.id("collection")?, params.id("asset")?);
    check_visible(app, params, collection, None).await?;
    let asset = app.store.asset(params.reader()?, id).await?;
    let missing = || Error::not_found(format_args!("asset {id}")).into();
    if asset.collection != collection {
        return Err(missing());
    }
    check_visible(app, params, collection, asset.token_id).await.map_err(|failure| match failure {
        Failure::Refused(_) => missing(),
        Failure::Storage { .. } | Failure::HeldElsewhere(_) | Failure::Internal(_) => failure,
    })?;
    Ok(asset)
}

/// The newest file for a member of a token's metadata.
async fn find_token_asset(app: &App, params: &Params) -> Result<AssetRecord, Failure> {
    let (collection, token) = (params.id("collection")?, params.token()?);
    check_visible(app, params, collection, Some(token)).await?;
    let assets = app.store.assets_of(params.reader()?, collection, Some(token)).await?;
    let field = params.text("field");
    let newest = assets.into_iter().rev().find(|asset| asset.metadata_field == field && asset.file.is_some());
    newest.ok_or_else(|| Error::not_found(format_args!("asset {field:.64} of token {token}")).into())
}

/// Only the owner sees a private collection, or a private token of a public one; for others there is none.
async fn check_visible(
    app: &App,
    params: &Params,
    collection: RecordId,
    token: Option<TokenId>,
) -> Result<(), Failure> {
    if params.is_owner() {
        return Ok(());
    }
    let scope = params.reader()?;
    if app.store.hosted_collection(scope, collection).await?.private {
        return Err(not_published(collection).into());
    }
    if let Some(token) = token
        && app.store.hosted_token(scope, collection, token).await?.private
    {
        return Err(Error::not_found(format_args!("token {token} of collection {collection}")).into());
    }
    Ok(())
}

fn not_published(collection: RecordId) -> Error {
    Error::not_found(format_args!("collection {collection}"))
}

async fn serve(
    app: &Arc<App>,
    params: &Params,
    asset: Result<AssetRecord, Failure>,
    request: &HeaderMap,
) -> Response {
    let file = match asset {
        Ok(asset) => read_file(app, asset, request).await,
        Err(failure) => Err(failure),
    };
    match file {
        Ok((status, mut headers, body)) => {
            // Another file may be uploaded for the same asset, so caches ask, and mostly hear that nothing changed. What
            // an owner sees may be hidden from others, so it is not for shared caches.
            let caches = if params.is_owner() { "private, no-cache" } else { "public, no-cache" };
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caches));
            response(app, status, headers, body)
        }
        Err(failure) => error_response(app, failure, HeaderMap::new()),
    }
}

/// The file of an asset as it is sent; only that it is as before to who has it.
pub(crate) async fn read_file(
    app: &Arc<App>,
    asset: AssetRecord,
    request: &HeaderMap,
) -> Result<(StatusCode, HeaderMap, Body), Failure> {
    let missing = || Error::not_found(format_args!("file of asset {}", asset.id));
    let file = asset.file.clone().ok_or_else(missing)?;
    let tag = format!("\"{}\"", file.content_hash);
    let text = |value: &str| HeaderValue::from_str(value).map_err(|error| Failure::Internal(Box::new(error)));
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, text(&file.mime_type)?),
        (header::ETAG, text(&tag)?),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILE_POLICY)),
    ]);
    if request.get(header::IF_NONE_MATCH).is_some_and(|known| names_tag(known, &tag)) {
        return Ok((StatusCode::NOT_MODIFIED, headers, Body::empty()));
    }
    let content = app.files.read(&file.content_hash).await?;
    headers.insert(header::CONTENT_LENGTH, content.length.into());
    Ok((StatusCode::OK, headers, Body::from_stream(content.pieces)))
}

/// The uploaded file at a plain address, as somebody without a credential finds it.
pub(crate) async fn public_file(app: &App, path: &str) -> Result<PublicFile, Failure> {
    let params = Params::of_file(path).ok_or_else(|| Error::not_found(format_args!("file {path}")))?;
    let is_asset = !params.text("asset").is_empty();
    let asset =
        if is_asset { find_asset(app, &params).await? } else { find_token_asset(app, &params).await? };
    let missing = || Error::not_found(format_args!("file of asset {}", asset.id));
    let file = asset.file.as_ref().ok_or_else(missing)?;
    Ok(PublicFile { content_hash: file.content_hash.clone() })
}

/// What a file holds, where that has so many bytes at most.
pub(crate) async fn read_content(app: &App, file: &PublicFile, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let too_large = || {
        Failure::from(Error::invalid("file", format!("has more than the {bytes_max} bytes that are read")))
    };
    let mut content = app.files.read(&file.content_hash).await?;
    let length = usize::try_from(content.length).ok().filter(|length| *length <= bytes_max);
    let mut whole = Vec::with_capacity(length.ok_or_else(too_large)?);
    while let Some(piece) = content.pieces.try_next().await? {
        if whole.len() + piece.len() > bytes_max {
            return Err(too_large());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}
