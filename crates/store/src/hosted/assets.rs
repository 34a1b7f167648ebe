//! Assets: files that belong to hosted collections and tokens.

use bourse_wire::{Asset, AssetInput, Error, ProjectId, RecordId, Text, Timestamp, TokenId};

use super::collections::{require as require_collection, touch};
use super::files::{count_deleted, count_replaced};
use super::link_queue::{Concerned, ask_of_collection};
use super::tokens::require as require_token;
use crate::args::{Arg, args};
use crate::backend::{Pending, Sequence, Store};
use crate::columns::{Insert, record};
use crate::session::Session;
use crate::{ProjectScope, StoreError};

/// An asset as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct AssetRecord {
    /// Asset id.
    pub id: RecordId,
    /// The collection it belongs to.
    pub collection: RecordId,
    /// The token it belongs to; none for an asset of the whole collection.
    pub token_id: Option<TokenId>,
    /// The metadata member it stands for.
    pub metadata_field: String,
    /// Name of the file.
    pub filename: String,
    /// What was uploaded, if anything yet.
    pub file: Option<AssetFile>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// An uploaded file, as it was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetFile {
    /// SHA-256 of the content, in hexadecimal: where the file is kept.
    pub content_hash: String,
    /// Size in bytes.
    pub filesize: u64,
    /// Media type.
    pub mime_type: String,
    /// Width and height of an image, in pixels.
    pub dimensions: Option<(u64, u64)>,
}

/// A file that was uploaded for an asset.
#[derive(Clone, Debug)]
pub struct Upload {
    /// What it was found to be.
    pub file: AssetFile,
    /// What it was called where it came from.
    pub filename: String,
    /// What all files of the project may take, in bytes; `None` for no limit.
    pub project_bytes_max: Option<u64>,
}

/// What became of an asset that a file was uploaded for.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The asset.
    pub asset: AssetRecord,
    /// The content that it had before, if it was another one. Other assets may still have it.
    pub replaced: Option<String>,
}

record! {
    pub(super) struct AssetRow: "hosted_assets" ("project_id, asset_id") {
        asset_id: RecordId,
        hosted_collection_id: RecordId,
        token_id: Option<TokenId>,
        metadata_field: String,
        filename: String,
        content_hash: Option<String>,
        filesize: u64,
        mime_type: String,
        width: Option<u64>,
        height: Option<u64>,
        updated_at: Timestamp,
    }
}

impl From<AssetRow> for AssetRecord {
    fn from(row: AssetRow) -> Self {
        let (filesize, mime_type, dimensions) = (row.filesize, row.mime_type, row.width.zip(row.height));
        let file = |content_hash| AssetFile { content_hash, filesize, mime_type, dimensions };
        Self {
            id: row.asset_id,
            collection: row.hosted_collection_id,
            token_id: row.token_id,
            metadata_field: row.metadata_field,
            filename: row.filename,
            file: row.content_hash.map(file),
            updated_at: row.updated_at,
        }
    }
}

impl AssetRecord {
    /// The asset as clients see it, of a project of a service at an address.
    pub fn shown(self, project: ProjectId, public_url: &str) -> Asset {
        let Self { id, collection, file, .. } = self;
        let url = match &file {
            Some(_) => format!("{public_url}/projects/{project}/collections/{collection}/assets/{id}"),
            None => String::new(),
        };
        let dimensions = file.as_ref().and_then(|file| file.dimensions);
        Asset {
            id,
            collection_id: collection,
            token_id: self.token_id,
            url,
            metadata_field: self.metadata_field,
            filename: self.filename,
            filesize: file.as_ref().map_or(0, |file| file.filesize),
            width: dimensions.map(|(width, _)| width),
            height: dimensions.map(|(_, height)| height),
            mime_type: file.map(|file| file.mime_type).unwrap_or_default(),
            updated_at: self.updated_at,
        }
    }
}

impl Store {
    /// Makes an asset that a file can then be uploaded for.
    pub fn create_asset(
        &self,
        scope: ProjectScope,
        input: AssetInput,
        now: Timestamp,
    ) -> Pending<'_, AssetRecord> {
        self.write(move |mut session| {
            Box::pin(async move {
                let collection =
                    input.collection_id.ok_or_else(|| Error::invalid("asset.collectionId", "is required"))?;
                touch(&mut session, scope, collection, now).await?;
                match input.token_id {
                    Some(token) => drop(require_token(&mut session, scope, collection, token).await?),
                    None => drop(require_collection(&mut session, scope, collection).await?),
                }
                let id = session.next_id(Sequence::Asset).await?;
                let id = id.try_into().map_err(|error| StoreError::corrupt("asset id", error))?;
                let asset = new_asset(id, collection, input, now);
                session.insert(Insert::owned(scope.project(), [&asset])?, "").await?;
                Ok(asset.into())
            })
        })
    }

    /// One asset.
    pub fn asset(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, AssetRecord> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, scope, id).await }))
    }

    /// The assets of a token, or of the collection itself, oldest first.
    pub fn assets_of(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        token: Option<TokenId>,
    ) -> Pending<'_, Vec<AssetRecord>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let mut args = args![scope.project(), collection];
                let which = if let Some(token) = token {
                    args.push(Arg::from(token));
                    "token_id = $3"
                } else {
                    "token_id IS NULL"
                };
                let sql = format!(
                    "FROM hosted_assets WHERE project_id = $1 AND hosted_collection_id = $2 AND {which}
                    ORDER BY asset_id"
                );
                let rows: Vec<AssetRow> = session.select(sql, args).await?;
                Ok(rows.into_iter().map(AssetRecord::from).collect())
            })
        })
    }

    /// Changes the member or the file name of an asset.
    pub fn update_asset(
        &self,
        scope: ProjectScope,
        id: RecordId,
        input: AssetInput,
        now: Timestamp,
    ) -> Pending<'_, AssetRecord> {
        self.write(move |mut session| {
            Box::pin(async move {
                let known = hold(&mut session, scope, id, now).await?;
                let field = input.metadata_field.map_or(known.metadata_field, Text::into_string);
                let filename = input.filename.or(input.name).map_or(known.filename, Text::into_string);
                let sql = "UPDATE hosted_assets SET metadata_field = $3, filename = $4, updated_at = $5
                    WHERE project_id = $1 AND asset_id = $2";
                session.execute(sql, args![scope.project(), id, field, filename, now]).await?;
                ask(&mut session, scope, (known.collection, known.token_id), now).await?;
                require(&mut session, scope, id).await
            })
        })
    }

    /// Notes which file was uploaded for an asset; its name too, when it had none. It counts in the place of the one that
    /// was there.
    pub fn set_asset_file(
        &self,
        scope: ProjectScope,
        id: RecordId,
        upload: Upload,
        now: Timestamp,
    ) -> Pending<'_, FileChange> {
        self.write(move |mut session| {
            Box::pin(async move {
                let known = hold(&mut session, scope, id, now).await?;
                let Upload { file, filename, project_bytes_max } = upload;
                let old = known.file.as_ref().map_or(0, |file| file.filesize);
                count_replaced(&mut session, scope, (old, file.filesize), project_bytes_max).await?;
                let is_other = |known: &AssetFile| known.content_hash != file.content_hash;
                let replaced = known.file.filter(is_other).map(|known| known.content_hash);
                let filename = if known.filename.is_empty() { filename } else { known.filename };
                let sql =
                    "UPDATE hosted_assets SET content_hash = $3, filesize = $4, mime_type = $5, width = $6,
                    height = $7, filename = $8, updated_at = $9 WHERE project_id = $1 AND asset_id = $2";
                let (width, height) = file.dimensions.unzip();
                let args = args![
                    scope.project(),
                    id,
                    file.content_hash,
                    file.filesize,
                    file.mime_type,
                    width,
                    height,
                    filename,
                    now,
                ];
                session.execute(sql, args).await?;
                ask(&mut session, scope, (known.collection, known.token_id), now).await?;
                Ok(FileChange { asset: require(&mut session, scope, id).await?, replaced })
            })
        })
    }

    /// Deletes an asset. Tells the content that it had, which other assets may still have.
    pub fn delete_asset(
        &self,
        scope: ProjectScope,
        id: RecordId,
        now: Timestamp,
    ) -> Pending<'_, Vec<String>> {
        self.write(move |mut session| {
            Box::pin(async move {
                let known = hold(&mut session, scope, id, now).await?;
                let (this, args) = ("project_id = $1 AND asset_id = $2", args![scope.project(), id]);
                let freed = count_deleted(&mut session, scope, this, args.clone()).await?;
                session.execute(format!("DELETE FROM hosted_assets WHERE {this}"), args).await?;
                ask(&mut session, scope, (known.collection, known.token_id), now).await?;
                Ok(freed)
            })
        })
    }
}

/// The asset as it stays until the transaction ends, for changing it; its collection is noted as changed.
async fn hold(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
    now: Timestamp,
) -> Result<AssetRecord, StoreError> {
    let known = require(session, scope, id).await?;
    touch(session, scope, known.collection, now).await?;
    require(session, scope, id).await
}

/// Has contracts that are linked with the collection served with the files that it has by now.
async fn ask(
    session: &mut Session<'_>,
    scope: ProjectScope,
    (collection, token): (RecordId, Option<TokenId>),
    now: Timestamp,
) -> Result<(), StoreError> {
    ask_of_collection(session, (scope.project(), collection), Concerned::of(token), now).await
}

async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<AssetRecord, StoreError> {
    let sql = "FROM hosted_assets WHERE project_id = $1 AND asset_id = $2";
    let found: Option<AssetRow> = session.select_first(sql, args![scope.project(), id]).await?;
    let found = found.ok_or_else(|| Error::not_found(format_args!("asset {id}")))?;
    Ok(found.into())
}

/// An asset for which nothing was uploaded yet.
fn new_asset(id: RecordId, collection: RecordId, input: AssetInput, now: Timestamp) -> AssetRow {
    AssetRow {
        asset_id: id,
        hosted_collection_id: collection,
        token_id: input.token_id,
        metadata_field: input.metadata_field.map_or_else(|| "image".to_owned(), Text::into_string),
        filename: input.filename.or(input.name).unwrap_or_default().into_string(),
        content_hash: None,
        filesize: 0,
        mime_type: String::new(),
        width: None,
        height: None,
        updated_at: now,
    }
}
