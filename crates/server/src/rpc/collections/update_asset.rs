//! Changes an asset. What is read off its file (size, type, dimensions) cannot be changed.

use super::create_asset::Request;
use super::types::{AssetAnswer, asset, required_id};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: Request) -> Result<AssetAnswer, Failure> {
    let id = required_id(request.asset.id, "asset.id")?;
    let record = call.app.store.update_asset(call.scope(), id, request.asset, call.now).await?;
    Ok(AssetAnswer { asset: asset(&call.app, call.caller.project(), record) })
}
