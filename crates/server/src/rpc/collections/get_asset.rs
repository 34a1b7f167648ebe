//! Reads an asset.

use super::types::{AssetAnswer, AssetRequest, asset};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: AssetRequest) -> Result<AssetAnswer, Failure> {
    let record = call.app.store.asset(call.scope(), request.asset_id).await?;
    Ok(AssetAnswer { asset: asset(&call.app, call.caller.project(), record) })
}
