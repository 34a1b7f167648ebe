//! Assets: files that belong to hosted collections and tokens.

use bourse_wire::{AssetInput, Error, RecordId, Text, Timestamp, TokenId};

use super::collections::{require as require_collection, touch};
use super::tokens::require as require_token;
use crate::args::{Arg, args};
use crate::backend::{Sequence, Store};
use crate::row::Row;
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

const COLUMNS: &str =
    "SELECT asset_id, hosted_collection_id, token_id, metadata_field, filename, content_hash,
    filesize, mime_type, width, height, updated_at FROM hosted_assets WHERE project_id = $1";

impl Store {
    /// Makes an asset that a file can then be uploaded for.
    pub async fn create_asset(
        &self,
        scope: ProjectScope,
        input: AssetInput,
        now: Timestamp,
    ) -> Result<AssetRecord, StoreError> {
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
                let field = input.metadata_field.map_or_else(|| "image".to_owned(), Text::into_string);
                let filename = input.filename.or(input.name).unwrap_or_default().into_string();
                let sql = "INSERT INTO hosted_assets (project_id, asset_id, hosted_collection_id, token_id,
                    metadata_field, filename, filesize, mime_type, updated_at)
                    VALUES ($1, $2, $3, $4, $5, $6, 0, '', $7)";
                let args = args![scope.project(), id, collection, input.token_id, field, filename, now];
                session.execute(sql, args).await?;
                let id = id.try_into().map_err(|error| StoreError::corrupt("asset id", error))?;
                require(&mut session, scope, id).await
            })
        })
        .await
    }

    /// One asset.
    pub async fn asset(&self, scope: ProjectScope, id: RecordId) -> Result<AssetRecord, StoreError> {
        self.read(move |mut session| Box::pin(async move { require(&mut session, scope, id).await })).await
    }

    /// The assets of a token, or of the collection itself, oldest first.
    pub async fn assets_of(
        &self,
        scope: ProjectScope,
        collection: RecordId,
        token: Option<TokenId>,
    ) -> Result<Vec<AssetRecord>, StoreError> {
        self.read(move |mut session| {
            Box::pin(async move {
                let mut args = args![scope.project(), collection];
                let which = if let Some(token) = token {
                    args.push(Arg::from(token));
                    "token_id = $3"
                } else {
                    "token_id IS NULL"
                };
                let sql = format!("{COLUMNS} AND hosted_collection_id = $2 AND {which} ORDER BY asset_id");
                session.all(sql, args).await?.iter().map(asset).collect()
            })
        })
        .await
    }

    /// Changes the member or the file name of an asset.
    pub async fn update_asset(
        &self,
        scope: ProjectScope,
        id: RecordId,
        input: AssetInput,
        now: Timestamp,
    ) -> Result<AssetRecord, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                let known = hold(&mut session, scope, id, now).await?;
                let field = input.metadata_field.map_or(known.metadata_field, Text::into_string);
                let filename = input.filename.or(input.name).map_or(known.filename, Text::into_string);
                let sql = "UPDATE hosted_assets SET metadata_field = $3, filename = $4, updated_at = $5
                    WHERE project_id = $1 AND asset_id = $2";
                session.execute(sql, args![scope.project(), id, field, filename, now]).await?;
                require(&mut session, scope, id).await
            })
        })
        .await
    }

    /// Notes which file was uploaded for an asset; its name too, when it had none.
    pub async fn set_asset_file(
        &self,
        scope: ProjectScope,
        id: RecordId,
        upload: (AssetFile, String),
        now: Timestamp,
    ) -> Result<AssetRecord, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                let known = hold(&mut session, scope, id, now).await?;
                let (file, filename) = upload;
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
                require(&mut session, scope, id).await
            })
        })
        .await
    }

    /// Deletes an asset. Its file stays, as another asset may have the same content.
    pub async fn delete_asset(
        &self,
        scope: ProjectScope,
        id: RecordId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                hold(&mut session, scope, id, now).await?;
                let sql = "DELETE FROM hosted_assets WHERE project_id = $1 AND asset_id = $2";
                session.execute(sql, args![scope.project(), id]).await.map(drop)
            })
        })
        .await
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

async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<AssetRecord, StoreError> {
    let sql = format!("{COLUMNS} AND asset_id = $2");
    let row = session.first(sql, args![scope.project(), id]).await?;
    asset(&row.ok_or_else(|| Error::not_found(format_args!("asset {id}")))?)
}

fn asset(row: &Row) -> Result<AssetRecord, StoreError> {
    let dimensions = row.opt_u64(8, "asset width")?.zip(row.opt_u64(9, "asset height")?);
    let file = match row.opt_text(5)? {
        None => None,
        Some(content_hash) => Some(AssetFile {
            content_hash,
            filesize: row.u64(6, "asset size")?,
            mime_type: row.text(7)?,
            dimensions,
        }),
    };
    Ok(AssetRecord {
        id: row.id(0, "asset id")?,
        collection: row.id(1, "collection id")?,
        token_id: row.opt_parse(2, "token id")?,
        metadata_field: row.text(3)?,
        filename: row.text(4)?,
        file,
        updated_at: row.parse(10, "asset time")?,
    })
}
