//! The status of orders.

use bourse_wire::{Amount, OrderFacts, OrderSide, OrderStatus, Timestamp};

/// What an order's status follows from, apart from the world around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// Selling or buying.
    pub side: OrderSide,
    /// What its source said of its state.
    pub status: OrderStatus,
    /// Quantity not filled yet.
    pub remaining: Amount,
    /// Valid from.
    pub valid_from: Timestamp,
    /// Valid until; the zero time when it never ends.
    pub valid_until: Timestamp,
    /// What the maker's approvals or funds cover; `None` when nobody knows.
    pub backing: Option<Amount>,
    /// Whether it is filled whole or not at all.
    pub is_whole: bool,
}

/// The world around an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// The time.
    pub now: Timestamp,
    /// Whether its currency, and with it the decimals of its price, is known.
    pub currency_known: bool,
    /// What the maker of a listing holds of the token; `None` when nobody knows.
    pub held: Option<Amount>,
}

impl From<&OrderFacts> for Terms {
    fn from(facts: &OrderFacts) -> Self {
        Self {
            side: facts.side,
            status: facts.status,
            remaining: facts.quantity_remaining,
            valid_from: facts.valid_from,
            valid_until: facts.valid_until,
            backing: facts.backing,
            is_whole: facts.is_whole,
        }
    }
}

impl Terms {
    /// What can be filled right now: no more than what covers it, and of a listing no more than its maker holds, when
    /// that is known. Of an order that is filled whole that is all or nothing.
    pub fn available(&self, held: Option<Amount>) -> Amount {
        let covered = self.backing.map_or(self.remaining, |backing| self.remaining.min(backing));
        let available = match (self.side, held) {
            (OrderSide::Listing, Some(held)) => covered.min(held),
            (OrderSide::Listing, None) | (OrderSide::Offer | OrderSide::Unknown, _) => covered,
        };
        if self.is_whole && available < self.remaining { Amount::ZERO } else { available }
    }

    /// The order's status. The first that applies of: what the source said when that is not active, filled, expired,
    /// decimals missing, inactive before its time or with nothing to fill, active.
    pub fn status(&self, world: World) -> OrderStatus {
        match () {
            () if self.status != OrderStatus::Active => self.status,
            () if self.remaining == Amount::ZERO => OrderStatus::Filled,
            () if self.is_expired(world.now) => OrderStatus::Expired,
            () if !world.currency_known => OrderStatus::DecimalsMissing,
            () if world.now < self.valid_from => OrderStatus::Inactive,
            () if self.available(world.held) == Amount::ZERO => OrderStatus::Inactive,
            () => OrderStatus::Active,
        }
    }

    /// The next instant after `now` at which the passing of time alone changes the status, if any. When the maker
    /// lacks the token or the currency is not known, the status may stay the same then; it never changes earlier.
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        if self.is_over(now) {
            return None;
        }
        [self.valid_from, self.valid_until].into_iter().filter(|instant| *instant > now).min()
    }

    /// Whether no change of balances, rates or time can make it active again: its source says so, nothing remains, or
    /// its time is over.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.status != OrderStatus::Active || self.remaining == Amount::ZERO || self.is_expired(now)
    }

    /// The instant of the end itself is expired, as the contracts have it.
    fn is_expired(&self, now: Timestamp) -> bool {
        self.valid_until != Timestamp::ZERO && self.valid_until <= now
    }
}

#[cfg(test)]
mod tests;
