//! Removes a webhook.

use super::types::{Done, One};
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: One) -> Result<Done, Failure> {
    call.app.store.remove_webhook(call.scope(), request.id, call.actor()).await?;
    Ok(Done::new())
}
