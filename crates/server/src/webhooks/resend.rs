//! Sending again what was put aside, by hand.

use bourse_store::ProjectScope;
use bourse_wire::RecordId;

use super::turn::said;
use crate::app::App;
use crate::failure::Failure;

/// Why nothing is sent to a listener that is paused.
const PAUSED: &str = "the webhook is paused: resume it first";
/// Why nothing is sent while the project's places are taken.
const BUSY: &str = "as many messages of the project are under way as may be at once: try again shortly";

/// Sends a message that was put aside to its listener as that is now, whatever else is on its way there. It is forgotten when it
/// arrives; why it did not is returned.
pub(crate) async fn resend(
    app: &App,
    scope: ProjectScope,
    letter: RecordId,
) -> Result<Option<String>, Failure> {
    let letter = app.store.dead_letter(scope, letter).await?;
    let webhook = app.store.webhook(scope, letter.listener).await?;
    if !webhook.active {
        return Ok(Some(PAUSED.to_owned()));
    }
    let Ok(_place) = app.webhooks.places.take(Some(scope.project()), 1) else {
        return Ok(Some(BUSY.to_owned()));
    };
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
