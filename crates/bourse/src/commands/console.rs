//! Lets people into the console.

use bourse_console::administrator_link;
use bourse_wire::{Email, Error};
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

/// Switches the second factor of somebody off who lost it. The password is asked for as before.
pub(super) async fn second_factor_off(common: &Common, email: &str) -> Result<(), CommandError> {
    let email: Email = email.parse().map_err(|error| Error::invalid("email", error))?;
    let context = Context::open(common).await?;
    let account = context.store.account_by_email(&email).await?;
    let was_on = context.store.remove_second_factor(account.id).await?;
    context.store.close().await;
    print(common.json, &json!({ "email": account.email, "wasOn": was_on }), || {
        if was_on {
            format!("The second factor of {} is off: the password alone lets them in.", account.email)
        } else {
            format!("{} has no second factor.", account.email)
        }
    })
}
