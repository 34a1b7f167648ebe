//! What relics are, and what they are made of.

/// What sort of thing a relic is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A struck coin.
    Coin,
    /// A postage stamp.
    Stamp,
    /// A two-handled jar.
    Amphora,
    /// A ship's compass.
    Compass,
    /// A harbour lantern.
    Lantern,
    /// A key to some forgotten door.
    Key,
    /// A bell.
    Bell,
    /// A sand glass.
    Hourglass,
}

impl Kind {
    /// All of them.
    pub(super) const ALL: [Self; 8] = [
        Self::Coin,
        Self::Stamp,
        Self::Amphora,
        Self::Compass,
        Self::Lantern,
        Self::Key,
        Self::Bell,
        Self::Hourglass,
    ];

    /// The word shown to people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Coin => "Coin",
            Self::Stamp => "Stamp",
            Self::Amphora => "Amphora",
            Self::Compass => "Compass",
            Self::Lantern => "Lantern",
            Self::Key => "Key",
            Self::Bell => "Bell",
            Self::Hourglass => "Hourglass",
        }
    }

    /// What such a thing may be made of.
    pub(super) fn materials(self) -> &'static [Material] {
        use Material::{Brass, Bronze, Copper, Gold, Iron, Ivory, Jade, Silver, Terracotta};
        match self {
            Self::Coin => &[Gold, Silver, Bronze, Copper],
            Self::Stamp => &[Ivory, Jade, Copper, Silver],
            Self::Amphora => &[Terracotta, Terracotta, Jade, Bronze],
            Self::Compass | Self::Lantern => &[Brass, Copper, Silver, Iron],
            Self::Key => &[Iron, Brass, Silver, Gold],
            Self::Bell => &[Bronze, Brass, Silver, Jade],
            Self::Hourglass => &[Brass, Ivory, Silver, Gold],
        }
    }
}

/// What a relic is made of; for a stamp, the ink.
#[derive(Clone, Copy, Debug)]
pub(super) enum Material {
    /// Yellow and untarnished.
    Gold,
    /// Cool and bright.
    Silver,
    /// Brown alloy of the old foundries.
    Bronze,
    /// Red metal.
    Copper,
    /// Yellow alloy of instrument makers.
    Brass,
    /// Black and heavy.
    Iron,
    /// Green stone.
    Jade,
    /// Fired clay.
    Terracotta,
    /// Vegetable ivory, cut from palm nuts.
    Ivory,
}

impl Material {
    /// The word shown to people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gold => "Gold",
            Self::Silver => "Silver",
            Self::Bronze => "Bronze",
            Self::Copper => "Copper",
            Self::Brass => "Brass",
            Self::Iron => "Iron",
            Self::Jade => "Jade",
            Self::Terracotta => "Terracotta",
            Self::Ivory => "Corozo",
        }
    }

    /// Light, middle and dark tone.
    pub(super) fn colours(self) -> [&'static str; 3] {
        match self {
            Self::Gold => ["#fea", "#eb4", "#961"],
            Self::Silver => ["#fff", "#bbc", "#567"],
            Self::Bronze => ["#ec9", "#a73", "#531"],
            Self::Copper => ["#fca", "#c64", "#732"],
            Self::Brass => ["#fe9", "#ca4", "#651"],
            Self::Iron => ["#abb", "#567", "#223"],
            Self::Jade => ["#ced", "#5a8", "#254"],
            Self::Terracotta => ["#eb8", "#c63", "#631"],
            Self::Ivory => ["#ffe", "#dca", "#864"],
        }
    }
}
