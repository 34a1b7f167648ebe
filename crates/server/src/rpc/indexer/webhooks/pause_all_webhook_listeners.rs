//! Pauses the project's webhooks.

use super::types::{All, Done};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: All) -> Result<Done, Failure> {
    let chain = call.named_chain(request.chain_id.as_ref())?;
    call.app.store.set_webhooks_active(call.scope(), chain, false, call.actor()).await?;
    Ok(Done::new())
}
