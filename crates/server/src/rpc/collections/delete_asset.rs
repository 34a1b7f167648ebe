//! Deletes an asset.

use super::types::{AssetRequest, StatusAnswer};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: AssetRequest) -> Result<StatusAnswer, Failure> {
    call.app.store.delete_asset(call.scope(), request.asset_id, call.now).await?;
    Ok(StatusAnswer { status: true })
}
