//! A turn of a line: what is new is delivered, one after the other, until there is nothing more, a delivery fails, or others have
//! waited long enough.

use std::time::Duration;

use bourse_chain::fetch::GetError;
use bourse_store::{
    Actor, CollectionKey, Happened, LineKey, NewLetter, Sent, StoreError, Webhook, WebhookLine,
};
use bourse_wire::Timestamp;

use super::board::Outcome;
use super::message::Message;
use super::steps::{ACTIVITIES_MAX, Step, Unsent};
use crate::app::App;
use crate::event_log::{LogSource, is_wanted};

/// How long a turn takes before another line has the place, once something was delivered.
const TURN_MAX: Duration = Duration::from_secs(1);
/// Messages that one turn delivers.
const DELIVERIES_MAX: u64 = ACTIVITIES_MAX;
/// The status by which a receiver says that it wants nothing any more.
const GONE: u16 = 410;

/// What a delivery came to.
enum Delivery {
    /// It arrived, or was put aside: the next may follow.
    Done,
    /// The turn is over.
    Over(Outcome),
}

/// Gives a line its turn.
pub(super) async fn turn(app: &App, key: LineKey) -> Result<Outcome, StoreError> {
    let began = app.clock.passed();
    let Some(mut held) = held(app, key).await? else { return Ok(Outcome::Lost) };
    let unsent = Unsent::read(app, &held.0.filters, &held.2).await?;
    let (mut source, mut deliveries) = (None, 0);
    for step in unsent.steps {
        if !is_wanted(&held.0.filters, &step.what) {
            continue;
        }
        let is_long = deliveries == DELIVERIES_MAX || app.clock.passed().saturating_sub(began) > TURN_MAX;
        if deliveries > 0 && is_long {
            return Ok(Outcome::More);
        }
        if !begin(app, &mut held.2, &step.what).await? {
            return Ok(Outcome::Lost);
        }
        let of = match source {
            Some(source) => source,
            None => *source.insert(LogSource::read(app, held.1, key.collection).await?),
        };
        if let Delivery::Over(outcome) = deliver(app, &held, of, step).await? {
            return Ok(outcome);
        }
        deliveries += 1;
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

/// Before something is taken back, that is noted: what failed so far is what was to be told then, and not this. False where the
/// line is not this server's any more.
async fn begin(app: &App, line: &mut WebhookLine, what: &Happened) -> Result<bool, StoreError> {
    if matches!(what, Happened::Added(_)) || line.sent.told > 0 {
        return Ok(true);
    }
    let begun = line.sent.begun();
    let is_held = app.store.webhook_sent(line, &app.webhooks.server, begun).await?;
    (line.sent, line.failures) = (begun, 0);
    Ok(is_held)
}

async fn deliver(
    app: &App,
    (webhook, _, line): &Held,
    source: LogSource,
    Step { what, after }: Step,
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
            let change = (webhook.url.clone(), why);
            app.store.pause_webhook(line, server, change, Actor::service(now)).await?;
            return Ok(Delivery::Over(Outcome::Lost));
        }
        Err(failure) => failure,
    };
    if line.failures + 1 >= app.settings.webhooks.attempts_max {
        return give_up(app, line, (message, failure), after).await;
    }
    let failed_at = app.now();
    let due_at =
        later(failed_at, patience(app, line.failures).max(failure.retry_after().unwrap_or_default()));
    let is_held = app.store.webhook_failed(line, server, said(&failure), (failed_at, due_at)).await?;
    Ok(Delivery::Over(if is_held { Outcome::Later { failed_at, due_at } } else { Outcome::Lost }))
}

/// Puts aside what was tried as often as anything is.
async fn give_up(
    app: &App,
    line: &WebhookLine,
    (message, failure): (Message, GetError),
    after: Sent,
) -> Result<Delivery, StoreError> {
    let letter = NewLetter {
        message: message.name,
        body: message.body,
        failure: said(&failure),
        failed_at: app.now(),
        most: app.settings.webhooks.dead_letters_max,
    };
    if !app.store.webhook_given_up(line, &app.webhooks.server, after, letter).await? {
        return Ok(Delivery::Over(Outcome::Lost));
    }
    app.webhooks.metrics.dead.inc();
    Ok(Delivery::Done)
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
