//! Lets people into the console.

use bourse_console::administrator_link;
use bourse_store::{Extent, OpenInvite};
use bourse_wire::{Email, Error};
use serde_json::{Value, json};

use crate::cli::{Common, ConsoleCommand};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

pub(super) async fn run(common: &Common, command: ConsoleCommand) -> Result<(), CommandError> {
    match command {
        ConsoleCommand::Link => link(common).await,
        ConsoleCommand::Invites => list(common).await,
        ConsoleCommand::Revoke { invite } => revoke(common, invite).await,
        ConsoleCommand::SecondFactorOff { email } => second_factor_off(common, &email).await,
    }
}

/// Makes a link for an administrator: the first one, or one for whom nobody else is there to invite.
async fn link(common: &Common) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let path = administrator_link(&context.store, context.actor()).await?;
    let link = format!("{}{path}", context.settings.public_url());
    print(common.json, &json!({ "link": link }), || {
        format!(
            "Whoever opens this link becomes an administrator. It works once, within three days:\n  {link}"
        )
    })
}

async fn list(common: &Common) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    let invites = context.store.open_invites(Extent::Everything, context.clock.now()).await?;
    print(common.json, &invites.iter().map(record).collect(), || {
        let rows = invites.iter().map(|invite| {
            let nobody = if invite.is_void { "somebody who is gone" } else { "the operator" };
            let by = invite.made_by.clone().unwrap_or_else(|| nobody.to_owned());
            [invite.id.clone(), invite.invited.to_string(), by, invite.expires_at.to_string()]
        });
        table(["ID", "AS", "BY", "UNTIL"], rows.collect())
    })
}

async fn revoke(common: &Common, invite: String) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    context.store.revoke_invite(Extent::Everything, invite.clone(), context.actor()).await?;
    print(common.json, &json!({ "inviteId": invite, "revoked": true }), || {
        format!("Invitation {invite} is revoked. Its link works no longer.")
    })
}

fn record(invite: &OpenInvite) -> Value {
    json!({
        "inviteId": invite.id,
        "role": invite.invited.to_string(),
        "madeBy": invite.made_by,
        "isVoid": invite.is_void,
        "createdAt": invite.created_at,
        "expiresAt": invite.expires_at,
    })
}

/// Switches the second factor of somebody off who lost it. The password is asked for as before.
async fn second_factor_off(common: &Common, email: &str) -> Result<(), CommandError> {
    let email: Email = email.parse().map_err(|error| Error::invalid("email", error))?;
    let context = Context::open(common).await?;
    let account = context.store.account_by_email(&email).await?;
    let was_on = context.store.remove_second_factor(account.id, context.actor()).await?;
    context.store.close().await;
    print(common.json, &json!({ "email": account.email, "wasOn": was_on }), || {
        if was_on {
            format!("The second factor of {} is off: the password alone lets them in.", account.email)
        } else {
            format!("{} has no second factor.", account.email)
        }
    })
}
