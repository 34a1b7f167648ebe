//! A turn of a line: what is new is delivered, one after the other, until there is nothing more or a delivery fails.

use std::time::Duration;

use bourse_chain::fetch::GetError;
use bourse_store::{
    Actor, CollectionKey, Happened, Happening, LineKey, Mark, NewLetter, ProjectScope, Sent, Since,
    StoreError, Webhook, WebhookChanges, WebhookLine,
};
use bourse_wire::Timestamp;

use super::board::Outcome;
use super::message::Message;
use crate::app::App;
use crate::event_log::{LogSource, is_wanted};

/// Activities that are read in one go.
const ACTIVITIES_MAX: u64 = 50;
/// The status by which a receiver says that it wants nothing any more.
const GONE: u16 = 410;

/// Something that happened, and how much is delivered once it is.
struct Step {
    what: Happened,
    after: Sent,
}

/// What is new behind a cursor.
struct Unsent {
    steps: Vec<Step>,
    /// How much is delivered once all of it is.
    end: Sent,
    mark: Mark,
    more: bool,
}

/// What a delivery came to.
enum Delivery {
    /// It arrived, or was put aside: the next may follow.
    Done,
    /// The turn is over.
    Over(Outcome),
}

/// Gives a line its turn.
pub(super) async fn turn(app: &App, key: LineKey) -> Result<Outcome, StoreError> {
    let Some(mut held) = held(app, key).await? else { return Ok(Outcome::Lost) };
    let unsent = unsent(app, key, held.2.sent).await?;
    let mut source = None;
    for Step { what, after } in unsent.steps {
        if !is_wanted(&held.0.filters, &what) {
            continue;
        }
        let of = match source {
            Some(source) => source,
            None => *source.insert(LogSource::read(app, held.1, key.collection).await?),
        };
        if let Delivery::Over(outcome) = deliver(app, &held, of, (what, after)).await? {
            return Ok(outcome);
        }
        // The project may have changed it meanwhile, and another server may deliver by now.
        let Some(still) = self::held(app, key).await? else { return Ok(Outcome::Lost) };
        held = still;
    }
    let line = &held.2;
    if line.sent != unsent.end && !app.store.webhook_sent(line, &app.webhooks.server, unsent.end).await? {
        return Ok(Outcome::Lost);
    }
    Ok(if unsent.more { Outcome::More } else { Outcome::CaughtUp(unsent.mark) })
}

type Held = (Webhook, CollectionKey, WebhookLine);

async fn held(app: &App, key: LineKey) -> Result<Option<Held>, StoreError> {
    app.store.webhook_line(key, app.webhooks.server.clone()).await
}

async fn unsent(app: &App, key: LineKey, sent: Sent) -> Result<Unsent, StoreError> {
    let since = Since { place: sent.place, ..Since::default() };
    let news = app.store.news(key.collection, since, ACTIVITIES_MAX).await?;
    // A database that was set back has less than was told, and what was taken back may be forgotten.
    let Some(news) = news.filter(|news| news.place >= sent.place) else {
        let (mark, place) = app.store.news_end(key.collection).await?;
        let end = Sent { place, told: 0 };
        return Ok(Unsent { steps: vec![Step { what: Happened::Anew, after: end }], end, mark, more: false });
    };
    let end = Sent { place: news.place, told: 0 };
    Ok(Unsent { steps: steps(news.happened, sent), end, mark: news.mark, more: news.more })
}

/// What is left of what happened behind a cursor. Of what was taken back together only the last is behind all of it: of the others
/// it is counted how many were delivered.
fn steps(happened: Vec<Happening>, sent: Sent) -> Vec<Step> {
    let mut after = Sent { place: sent.place, told: 0 };
    let step = |Happening { resume, what, .. }| {
        let told = if resume == after.place { after.told + 1 } else { 0 };
        after = Sent { place: resume, told };
        Step { what, after }
    };
    let is_left = |step: &Step| step.after.place != sent.place || step.after.told > sent.told;
    happened.into_iter().map(step).filter(is_left).collect()
}

async fn deliver(
    app: &App,
    (webhook, _, line): &Held,
    source: LogSource,
    (what, after): (Happened, Sent),
) -> Result<Delivery, StoreError> {
    let message = Message::new(app, (line.key, source), what, after);
    let (now, server) = (app.now(), &app.webhooks.server);
    let sent = app.webhooks.send(webhook, (&message.name, &message.body), now).await;
    let failure = match sent {
        Ok(()) => {
            let is_held = app.store.webhook_sent(line, server, after).await?;
            return Ok(if is_held { Delivery::Done } else { Delivery::Over(Outcome::Lost) });
        }
        Err(GetError::Status { status: GONE, .. }) => {
            let why =
                format!("the receiver answers with status {GONE}, which says that it wants nothing more");
            let scope = ProjectScope::for_delivery(webhook.project);
            let changes = WebhookChanges { active: Some(false), pause: why, ..WebhookChanges::default() };
            app.store.update_webhook(scope, webhook.id, changes, Actor::service(now)).await?;
            return Ok(Delivery::Over(Outcome::Lost));
        }
        Err(failure) => failure,
    };
    let at = app.now();
    let is_last = line.failures + 1 >= app.settings.webhooks.attempts_max;
    if is_last {
        let most = app.settings.webhooks.dead_letters_max;
        let letter = NewLetter {
            message: message.name,
            body: message.body,
            failure: said(&failure),
            failed_at: at,
            most,
        };
        let is_held = app.store.webhook_given_up(line, server, after, letter).await?;
        if is_held {
            app.webhooks.metrics.dead.inc();
        }
        return Ok(if is_held { Delivery::Done } else { Delivery::Over(Outcome::Lost) });
    }
    let due_at = later(at, patience(app, line.failures).max(failure.retry_after().unwrap_or_default()));
    let is_held = app.store.webhook_failed(line, server, said(&failure), (at, due_at)).await?;
    Ok(Delivery::Over(if is_held { Outcome::Later(due_at) } else { Outcome::Lost }))
}

/// What went wrong, for people of the project.
pub(super) fn said(failure: &GetError) -> String {
    match failure {
        GetError::Status { status: 300..=399, .. } => format!("{failure}; redirects are not followed"),
        _ => failure.to_string(),
    }
}

/// How long to wait after so many failures.
fn patience(app: &App, failures: u64) -> Duration {
    let settings = &app.settings.webhooks;
    let doubled = u32::try_from(failures).ok().and_then(|failures| 2_u64.checked_pow(failures));
    let wait = doubled.and_then(|times| settings.retry_ms.checked_mul(times)).unwrap_or(u64::MAX);
    Duration::from_millis(wait.min(settings.retry_ms_max))
}

/// So long after an instant.
pub(super) fn later(at: Timestamp, wait: Duration) -> Timestamp {
    let wait = i128::try_from(wait.as_nanos()).unwrap_or(i128::MAX);
    Timestamp::from_unix_nanos(at.unix_nanos().saturating_add(wait))
}

#[cfg(test)]
mod tests {
    use bourse_store::Place;

    use super::*;

    fn place(retractions: u64, activity: u64) -> Place {
        Place { retractions, activity }
    }

    /// What happens where three are taken back together and one is added then, behind an activity.
    fn happened() -> Vec<Happening> {
        let before = place(0, 6);
        let after = place(1, 3);
        let at = |place, resume| Happening { place, resume, what: Happened::Anew };
        vec![at(after, before), at(after, before), at(after, after), at(place(1, 4), place(1, 4))]
    }

    fn left(told: u64) -> Vec<Sent> {
        let sent = Sent { place: place(0, 6), told };
        steps(happened(), sent).into_iter().map(|step| step.after).collect()
    }

    #[test]
    fn what_is_taken_back_together_is_counted() {
        let sent = |place, told| Sent { place, told };
        let whole = [sent(place(0, 6), 1), sent(place(0, 6), 2), sent(place(1, 3), 0), sent(place(1, 4), 0)];
        assert_eq!(left(0), whole);
        assert_eq!(left(1), whole[1..]);
        assert_eq!(left(2), whole[2..]);
    }
}
