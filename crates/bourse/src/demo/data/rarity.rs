//! How rare a piece is, and what that means for its colours and its price.

use super::rng::Rng;

/// Rarity of a relic or a provision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rarity {
    /// Found on every stall.
    Common,
    /// Found on a good day.
    Uncommon,
    /// Kept under glass.
    Rare,
    /// Shown by appointment.
    Epic,
    /// Known by name.
    Legendary,
    /// The founders' pieces only.
    Mythic,
}

impl Rarity {
    /// Draws a rarity; the rarest is never drawn, it is given.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        *rng.weighted(&[
            (Self::Common, 500),
            (Self::Uncommon, 270),
            (Self::Rare, 140),
            (Self::Epic, 68),
            (Self::Legendary, 22),
        ])
    }

    /// The word shown to people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Common => "Common",
            Self::Uncommon => "Uncommon",
            Self::Rare => "Rare",
            Self::Epic => "Epic",
            Self::Legendary => "Legendary",
            Self::Mythic => "Mythic",
        }
    }

    /// Backdrop of a relic: centre and edge.
    pub(super) fn backdrop(self) -> (&'static str, &'static str) {
        match self {
            Self::Common => ("#8ab", "#456"),
            Self::Uncommon => ("#8ca", "#265"),
            Self::Rare => ("#8be", "#237"),
            Self::Epic => ("#b9e", "#427"),
            Self::Legendary => ("#fd8", "#831"),
            Self::Mythic => ("#f9c", "#214"),
        }
    }

    /// Signal colour of frames and plate rims.
    pub(super) fn rim(self) -> &'static str {
        match self {
            Self::Common => "#bcc",
            Self::Uncommon => "#6b8",
            Self::Rare => "#58e",
            Self::Epic => "#a6e",
            Self::Legendary => "#ea2",
            Self::Mythic => "#f6a",
        }
    }

    /// A typical price of one relic in millionths of a dollar.
    pub(super) fn relic_price_micros(self) -> u64 {
        match self {
            Self::Common => 4_000_000,
            Self::Uncommon => 11_000_000,
            Self::Rare => 38_000_000,
            Self::Epic => 140_000_000,
            Self::Legendary => 620_000_000,
            Self::Mythic => 4_800_000_000,
        }
    }

    /// A typical price of one unit of a provision in millionths of a dollar.
    pub(super) fn provision_price_micros(self) -> u64 {
        // Provisions come by the dozen, so a unit costs about a tenth of a relic.
        self.relic_price_micros() / 10
    }
}
