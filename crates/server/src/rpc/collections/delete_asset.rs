//! Deletes an asset.

use super::types::{AssetRequest, StatusAnswer};
use crate::call::Call;
use crate::failure::Failure;
use crate::unused_files;

pub(crate) async fn handle(call: Call, request: AssetRequest) -> Result<StatusAnswer, Failure> {
    let freed = call.app.store.delete_asset(call.scope(), request.asset_id, call.now).await?;
    unused_files::remove(&call.app, freed).await;
    Ok(StatusAnswer { status: true })
}
