//! Uploading files.

use std::sync::Arc;

use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{Multipart, State};
use axum::http::StatusCode;
use axum::response::Response;
use bourse_store::{AssetFile, AssetRecord, ProjectScope, Upload};
use bourse_wire::{Asset, AssetInput, Code, Error, RecordId, Text, TokenId};
use bytes::Bytes;

use super::answer;
use super::params::Params;
use crate::app::App;
use crate::body::BodyMemory;
use crate::failure::Failure;
use crate::files::{Claim, FileError};
use crate::rpc::collections::types;
use crate::unused_files;

type Form = Result<Multipart, MultipartRejection>;

pub(super) async fn asset(State(app): State<Arc<App>>, params: Params, form: Form) -> Response {
    answer(&app, upload_asset(&app, &params, form).await)
}

pub(super) async fn token(State(app): State<Arc<App>>, params: Params, form: Form) -> Response {
    answer(&app, upload_for_token(&app, &params, form).await)
}

async fn upload_asset(app: &Arc<App>, params: &Params, form: Form) -> Result<Vec<u8>, Failure> {
    let (scope, collection, id) = (params.writer()?, params.id("collection")?, params.id("asset")?);
    let known = app.store.asset(scope, id).await?;
    if known.collection != collection {
        return Err(Error::not_found(format_args!("asset {id} of collection {collection}")).into());
    }
    let upload = take_file(app, scope, form).await?;
    written(&set_file(app, scope, id, upload).await?)
}

/// For the asset of this id, or for the metadata member of this name, whose asset is made when there is none.
async fn upload_for_token(app: &Arc<App>, params: &Params, form: Form) -> Result<Vec<u8>, Failure> {
    let (scope, collection, token) = (params.writer()?, params.id("collection")?, params.token()?);
    app.store.hosted_token(scope, collection, token).await?;
    let (owner, wanted) = (AssetOwner { collection, token: Some(token) }, params.text("asset"));
    let assets = app.store.assets_of(scope, collection, Some(token)).await?;
    let matches = |asset: &AssetRecord| asset.id.to_string() == wanted || asset.metadata_field == wanted;
    let known = assets.into_iter().rev().find(matches);
    if let Some(asset) = known {
        let upload = take_file(app, scope, form).await?;
        return written(&set_file(app, scope, asset.id, upload).await?);
    }
    if wanted.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::not_found(format_args!("asset {wanted:.64} of token {token}")).into());
    }
    let field: Text<64> = wanted.parse().map_err(|error| Error::invalid("metadataField", error))?;
    // Before the asset is made: a file that is refused leaves nothing behind.
    let upload = take_file(app, scope, form).await?;
    written(&set_file_of_member(app, scope, owner, field, upload).await?)
}

fn written(asset: &Asset) -> Result<Vec<u8>, Failure> {
    Ok(serde_json::to_vec(&serde_json::json!({ "asset": asset }))?)
}

/// What an asset belongs to.
#[derive(Clone, Copy)]
pub struct AssetOwner {
    /// The hosted collection.
    pub collection: RecordId,
    /// A token of it; `None` for the collection itself.
    pub token: Option<TokenId>,
}

/// A file that is stored, but belongs to no asset yet.
pub struct StoredFile {
    file: AssetFile,
    claim: Claim,
    filename: String,
}

/// Gives a stored file to the newest asset for a member of the metadata, which is made when there is none.
pub(crate) async fn set_file_of_member(
    app: &Arc<App>,
    scope: ProjectScope,
    owner: AssetOwner,
    field: Text<64>,
    upload: StoredFile,
) -> Result<Asset, Failure> {
    let assets = app.store.assets_of(scope, owner.collection, owner.token).await?;
    let known = assets.into_iter().rev().find(|asset| asset.metadata_field == field.as_str());
    let id = if let Some(asset) = known {
        asset.id
    } else {
        let input = AssetInput {
            collection_id: Some(owner.collection),
            token_id: owner.token,
            metadata_field: Some(field),
            ..AssetInput::default()
        };
        app.store.create_asset(scope, input, app.clock.now()).await?.id
    };
    set_file(app, scope, id, upload).await
}

/// Gives a stored file to an asset. What it had before is removed, and so is the file itself where it is refused.
pub(crate) async fn set_file(
    app: &Arc<App>,
    scope: ProjectScope,
    id: RecordId,
    StoredFile { file, claim, filename }: StoredFile,
) -> Result<Asset, Failure> {
    let bytes_max = app.settings.limits.project_files_bytes_max;
    let content = file.content_hash.clone();
    let upload = Upload { file, filename, project_bytes_max: (bytes_max > 0).then_some(bytes_max) };
    let changed = app.store.set_asset_file(scope, id, upload, app.clock.now()).await;
    // Whatever came of it, the database knows by now.
    claim.end().await;
    let freed = match &changed {
        Ok(change) => change.replaced.clone(),
        Err(_) => Some(content),
    };
    unused_files::remove(app, freed).await;
    Ok(types::asset(app, scope.project(), changed?.asset))
}

/// Stores the form's file.
async fn take_file(app: &Arc<App>, scope: ProjectScope, form: Form) -> Result<StoredFile, Failure> {
    let bytes_max = app.settings.limits.upload_bytes_max;
    let message = "the body is not a multipart form";
    let mut form =
        form.map_err(|error| Error::new(Code::BadRequest, message).with_cause(error.body_text()))?;
    while let Some(field) = form.next_field().await.map_err(|error| unreadable(&error, message, bytes_max))? {
        if field.name() != Some("file") {
            continue;
        }
        let filename = field.file_name().unwrap_or_default().to_owned();
        let mut memory = BodyMemory::new(app, Some(scope.project()));
        let content = read_field(field, bytes_max, &mut memory).await?;
        return store_file(app, &filename, content).await;
    }
    Err(Error::invalid("file", "is required: the form has no field of this name").into())
}

/// The name without the folders that some clients send along.
fn last_segment(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

async fn read_field(
    mut field: Field<'_>,
    bytes_max: usize,
    memory: &mut BodyMemory<'_>,
) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    loop {
        match field.chunk().await {
            Ok(None) => return Ok(content),
            Ok(Some(chunk)) if content.len() + chunk.len() > bytes_max => return Err(too_large(bytes_max)),
            Ok(Some(chunk)) => {
                memory.hold(content.len() + chunk.len())?;
                content.extend_from_slice(&chunk);
            }
            Err(error) => return Err(unreadable(&error, "the file could not be read", bytes_max)),
        }
    }
}

/// Why a form could not be read: it is larger than the limit, or not a form.
fn unreadable(error: &MultipartError, message: &str, bytes_max: usize) -> Error {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large(bytes_max);
    }
    Error::new(Code::BadRequest, message).with_cause(error.body_text())
}

fn too_large(bytes_max: usize) -> Error {
    Error::new(Code::BodyTooLarge, format!("the file is larger than {bytes_max} bytes"))
}

/// Stores a file, if it is one of those that may be uploaded.
pub(crate) async fn store_file(
    app: &Arc<App>,
    filename: &str,
    content: impl Into<Bytes>,
) -> Result<StoredFile, Failure> {
    let filename: Text<256> =
        last_segment(filename).try_into().map_err(|error| Error::invalid("filename", error))?;
    let (content, bytes_max) = (content.into(), app.settings.limits.upload_bytes_max);
    if content.len() > bytes_max {
        return Err(too_large(bytes_max).into());
    }
    match app.files.put(content, app.now()).await {
        Ok((file, claim)) => Ok(StoredFile { file, claim, filename: filename.into_string() }),
        Err(FileError::Refused(error)) => Err(error.into()),
        Err(FileError::Io(error)) => Err(error.into()),
    }
}
