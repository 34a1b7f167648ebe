//! What wallets did.

use bourse_analytics::is_countable;
use bourse_store::EventKind;
use bourse_wire::{Address, ProjectId, Text, Timestamp, from_slice_single_pass};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Rejection;
use crate::counting::TrackedEvent;

/// Something a wallet did.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventInput {
    /// The wallet; not the zero address.
    wallet: Address,
    /// session, transaction or market.
    kind: Text<32>,
    /// When it was; now, when nothing is said.
    at: Option<Timestamp>,
    /// Its name within the project: an event whose name was seen in the last days counts once.
    id: Option<Text<256>>,
    /// More about it. Only the action of a market event is looked at.
    properties: Option<EventPropertiesInput>,
}

/// More about an event.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventPropertiesInput {
    /// What kind of trade a market event was, such as buy or sell.
    action: Option<Text<32>>,
}

/// The line of an event in a file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventLine {
    r#type: Text<16>,
    project_id: ProjectId,
    wallet: Address,
    kind: Text<32>,
    at: Option<Timestamp>,
    id: Option<Text<256>>,
    properties: Option<EventPropertiesInput>,
}

impl EventInput {
    /// The project and the event of a line, of which there may be many millions, if one pass over it is enough. `None` says
    /// nothing: whatever else there is, right or wrong, is read like all other lines.
    pub fn from_line(line: &[u8], depth_max: usize) -> Option<(ProjectId, Self)> {
        // Most other lines are found out at a glance.
        if !std::str::from_utf8(line).is_ok_and(|line| line.contains("\"event\"")) {
            return None;
        }
        let EventLine { r#type, project_id, wallet, kind, at, id, properties } =
            from_slice_single_pass(line, depth_max)?;
        (r#type.as_str() == "event").then_some((project_id, Self { wallet, kind, at, id, properties }))
    }

    /// The event, when it can be counted. `now` is when it came.
    pub fn tracked(self, now: Timestamp) -> Result<TrackedEvent, Rejection> {
        let at = self.at.unwrap_or(now);
        self.at(at, now)
    }

    /// The event, when it says itself when it was.
    pub fn dated(self, now: Timestamp) -> Result<TrackedEvent, Rejection> {
        let at = self.at.ok_or_else(|| Rejection::invalid("at", "is required"))?;
        self.at(at, now)
    }

    fn at(self, at: Timestamp, now: Timestamp) -> Result<TrackedEvent, Rejection> {
        let kind = match self.kind.as_str() {
            "session" => EventKind::Session,
            "transaction" => EventKind::Transaction,
            "market" => EventKind::Market,
            other => {
                let message = format!("`{other}` is none of session, transaction, market");
                return Err(Rejection::invalid("kind", message));
            }
        };
        if self.wallet == Address::ZERO {
            return Err(Rejection::invalid("wallet", "the zero address is not a wallet"));
        }
        if !is_countable(at, now) {
            let reason = if at > now { "has not come yet" } else { "is before 2015" };
            return Err(Rejection::invalid("at", format!("{at} {reason}")));
        }
        let action = self.properties.and_then(|properties| properties.action);
        let boxed = |text: String| (!text.is_empty()).then(|| text.into_boxed_str());
        Ok(TrackedEvent {
            wallet: self.wallet,
            kind,
            at,
            id: self.id.and_then(|id| boxed(id.into_string())),
            action: action.and_then(|action| boxed(action.into_string())),
        })
    }
}
