//! An order as the test knows it, as the service tells it, and as its contract does.

use bourse_wire::Address;
use serde_json::Value;

/// An order as the test knows it: from what was signed, or from the log that states it.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) id: String,
    pub(super) maker: Address,
    pub(super) is_listing: bool,
    pub(super) collection: Address,
    /// None is any of the collection.
    pub(super) token: Option<u64>,
    pub(super) units: u64,
    /// Whether its contract fills all of it or nothing.
    pub(super) is_whole: bool,
    pub(super) currency: Address,
    /// Of one unit.
    pub(super) price: u64,
    pub(super) expiry: u64,
    /// What was signed, and what went to `Execute`; nothing of an order that its contract keeps.
    pub(super) signed: Option<Signed>,
}

/// What makes an order that no contract knows.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    pub(super) value: Value,
    pub(super) params: Value,
}

/// What the service tells of an order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ours {
    pub(super) status: String,
    pub(super) remaining: u64,
    pub(super) available: u64,
    pub(super) fee_bps: u64,
}

impl Ours {
    pub(super) fn read(order: &Value) -> Self {
        let number = |member: &str| order[member].as_str().unwrap().parse().unwrap();
        let status = order["status"].as_str().unwrap().to_owned();
        let (remaining, available) = (number("quantityRemaining"), number("quantityAvailable"));
        let is_active = status == "active";
        Self {
            status,
            remaining,
            available: if is_active { available } else { 0 },
            fee_bps: order["feeBps"].as_u64().unwrap(),
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.status == "active"
    }
}

/// What its contract says of an order.
#[derive(Clone, Debug)]
pub(super) enum Theirs {
    /// It stands. So much of it is left, so much can be filled right now, and where its contract charges a royalty, that.
    Standing { remaining: u64, available: u64, fee_bps: Option<u64> },
    /// It is over, and whoever knows the past calls it one of these.
    Over(&'static [&'static str]),
    /// It was signed with a number that its maker has not come to, or not any more as the chain took that back. For a while the
    /// service believes that the number is still to come, shows the order as it was, and lets nobody fill it.
    Ahead,
    /// The contract knows nothing of it: it may be over, or have never been.
    Unknown,
}

impl Theirs {
    /// How the service differs, if it does.
    pub(super) fn difference(&self, ours: Option<&Ours>) -> Option<String> {
        let is_same = match (self, ours) {
            (Self::Standing { remaining, available, fee_bps }, Some(ours)) => {
                let status = if *available == 0 { "inactive" } else { "active" };
                let is_fee_same = fee_bps.is_none_or(|bps| bps == ours.fee_bps);
                ours.status == status
                    && (ours.remaining, ours.available) == (*remaining, *available)
                    && is_fee_same
            }
            (Self::Over(statuses), Some(ours)) => statuses.contains(&ours.status.as_str()),
            (Self::Unknown, Some(ours)) => ["filled", "cancelled"].contains(&ours.status.as_str()),
            (Self::Ahead, Some(ours)) => ["active", "inactive", "cancelled"].contains(&ours.status.as_str()),
            (Self::Unknown, None) => true,
            (Self::Standing { .. } | Self::Over(_) | Self::Ahead, None) => false,
        };
        (!is_same).then(|| format!("the contract: {self:?}, the service: {ours:?}"))
    }
}
