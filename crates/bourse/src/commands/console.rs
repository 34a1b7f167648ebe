//! Lets people into the console.

use bourse_console::administrator_link;
use serde_json::json;

use crate::cli::Common;
use crate::context::{CommandError, Context};
use crate::output::print;

/// Makes a link for an administrator: the first one, or one for whom nobody else is there to invite.
pub(super) async fn link(common: &Common) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let path = administrator_link(&context.store, context.clock.now()).await?;
    let link = format!("{}{path}", context.settings.public_url());
    print(common.json, &json!({ "link": link }), || {
        format!(
            "Whoever opens this link becomes an administrator. It works once, within three days:\n  {link}"
        )
    })
}
