//! The six properties of a token: four with words, two with numbers.

use bourse_random::Random;

const BACKGROUNDS: [&str; 12] = [
    "Harbour Mist",
    "Slate",
    "Old Brick",
    "Meadow",
    "Dusk",
    "Deep Sea",
    "Parchment",
    "Aurora",
    "Storm Front",
    "Lantern Light",
    "Gold Leaf",
    "Eclipse",
];
const BACKGROUND_SHARES: [u64; 12] = [24, 18, 14, 10, 8, 7, 6, 4, 3, 3, 2, 1];
const BODY_MATERIALS: [&str; 8] =
    ["Oak", "Bronze", "Granite", "Linen", "Leather", "Porcelain", "Bone", "Glass"];
const BODY_BUILDS: [&str; 5] = ["Slender", "Broad", "Stooped", "Towering", "Hooded"];
const HEADWEAR_STYLES: [&str; 12] = [
    "Plain",
    "Feathered",
    "Horned",
    "Winged",
    "Jewelled",
    "Torn",
    "Striped",
    "Fur-Lined",
    "Engraved",
    "Masked",
    "Laurelled",
    "Flaming",
];
const HEADWEAR_KINDS: [&str; 10] =
    ["Cap", "Helm", "Crown", "Hood", "Tricorn", "Turban", "Circlet", "Beret", "Visor", "Halo"];
const RARITIES: [&str; 5] = ["Common", "Uncommon", "Rare", "Epic", "Legendary"];
const RARITY_SHARES: [u64; 5] = [60, 28, 8, 3, 1];

/// A property whose values are words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// 12 values, the first of which every fourth token has.
    Background,
    /// 40 values, all as frequent.
    Body,
    /// 120 values, all as frequent.
    Headwear,
    /// 5 values, from 60 tokens of 100 to one.
    Rarity,
}

impl Text {
    /// All of them, in the order in which a token keeps its values.
    pub(crate) const ALL: [Self; 4] = [Self::Background, Self::Body, Self::Headwear, Self::Rarity];

    /// The name that tokens and filters use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Body => "Body",
            Self::Headwear => "Headwear",
            Self::Rarity => "Rarity",
        }
    }

    /// How many values there are.
    pub(crate) fn value_count(self) -> usize {
        match self {
            Self::Background => BACKGROUNDS.len(),
            Self::Body => BODY_MATERIALS.len() * BODY_BUILDS.len(),
            Self::Headwear => HEADWEAR_STYLES.len() * HEADWEAR_KINDS.len(),
            Self::Rarity => RARITIES.len(),
        }
    }

    /// The words of one value.
    pub(crate) fn value(self, index: usize) -> String {
        let pair = |first: &[&str], second: &[&str]| {
            format!("{} {}", first[index / second.len()], second[index % second.len()])
        };
        match self {
            Self::Background => BACKGROUNDS[index].to_owned(),
            Self::Body => pair(&BODY_MATERIALS, &BODY_BUILDS),
            Self::Headwear => pair(&HEADWEAR_STYLES, &HEADWEAR_KINDS),
            Self::Rarity => RARITIES[index].to_owned(),
        }
    }

    /// A value for one more token.
    pub(super) fn draw(self, random: &mut Random) -> usize {
        match self {
            Self::Background => random.weighted(&BACKGROUND_SHARES),
            Self::Rarity => random.weighted(&RARITY_SHARES),
            Self::Body | Self::Headwear => random.index(self.value_count()),
        }
    }
}

/// A property whose values are whole numbers from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    /// 1 to 100.
    Level,
    /// 1 to 10,000.
    Power,
}

impl Number {
    /// All of them, in the order in which a token keeps its values.
    pub(crate) const ALL: [Self; 2] = [Self::Level, Self::Power];

    /// The name that tokens and filters use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Level => "Level",
            Self::Power => "Power",
        }
    }

    /// The largest value.
    pub(crate) fn max(self) -> u64 {
        match self {
            Self::Level => 100,
            Self::Power => 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Text;

    #[test]
    fn values_are_as_many_as_promised_and_all_different() {
        for (property, count) in Text::ALL.into_iter().zip([12, 40, 120, 5]) {
            let values: BTreeSet<String> =
                (0..property.value_count()).map(|index| property.value(index)).collect();
            assert_eq!(values.len(), count, "{property:?}");
        }
    }
}
