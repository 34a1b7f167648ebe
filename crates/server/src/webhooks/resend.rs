//! Sending again what was put aside, by hand.

use bourse_store::ProjectScope;
use bourse_wire::RecordId;

use super::turn::said;
use crate::app::App;
use crate::failure::Failure;

/// Sends a message that was put aside to its listener as that is now, whatever else is on its way there. It is forgotten when it
/// arrives; why it did not is returned.
pub(crate) async fn resend(
    app: &App,
    scope: ProjectScope,
    letter: RecordId,
) -> Result<Option<String>, Failure> {
    let letter = app.store.dead_letter(scope, letter).await?;
    let webhook = app.store.webhook(scope, letter.listener).await?;
    match app.webhooks.send(&webhook, (&letter.message, &letter.body), app.now()).await {
        Ok(()) => {
            app.store.forget_dead_letter(scope, letter.id).await?;
            Ok(None)
        }
        Err(failure) => {
            let failure = said(&failure);
            app.store.note_dead_letter(scope, letter.id, failure.clone(), app.now()).await?;
            Ok(Some(failure))
        }
    }
}
