//! Names and labels of provisions.

use super::provision::{Category, Provision};
use super::rng::Rng;

/// Varieties that suit anything on sale.
const VARIETIES: [&str; 25] = [
    "Harbour",
    "Smoked",
    "Midwinter",
    "Saffron",
    "Sea-Salt",
    "Old Town",
    "Wild",
    "Monastery",
    "Double",
    "Festival",
    "Sunday",
    "Captain's",
    "Black",
    "Golden",
    "Orchard",
    "First-Press",
    "Ember",
    "Lighthouse",
    "Fisherwife's",
    "Northern",
    "Moonlit",
    "Blue",
    "Pilgrim",
    "Twelve-Day",
    "Clover",
];

const TAGS: [&str; 10] = [
    "fresh",
    "preserved",
    "guild-mark",
    "festival",
    "bulk",
    "vegan",
    "contraband",
    "gift",
    "long-voyage",
    "local",
];

/// Every hundredth kind or so was named by a trader from further away.
const FOREIGN: [(&str, &str); 12] = [
    ("桜の塩漬け", "春の港で一週間だけ作られる。"),
    ("ほうじ茶の缶", "船番の夜を温める、香ばしい一杯。"),
    ("干し柿ひと連なり", "軒先で冬を越した甘さ。"),
    ("تمر بالزعفران", "تمر محشو بالزعفران من سوق الليل."),
    ("عسل السدر", "عسل داكن من وادٍ بعيد، يُباع بالملعقة."),
    ("Μέλι θυμαρίσιο", "Θυμαρίσιο μέλι από τα βράχια πάνω από το λιμάνι."),
    ("Παστέλι με σουσάμι", "Σουσάμι και μέλι, τυλιγμένα σε φύλλο λεμονιάς."),
    ("Пряник портовый", "Медовый пряник с печатью гавани."),
    ("Чай с чабрецом", "Крепкий чай для долгой вахты."),
    ("🍋 Lemons, one crate", "Keeps scurvy off and the cook cheerful. 🍋🍋🍋"),
    ("🧀 The Big One", "Two people to carry, one ship to finish. 🧀⚓"),
    ("Crème de la Digue à l'abricot", "Née d'une erreur, gardée par gourmandise."),
];

/// Name and variety of a provision.
pub(super) fn name(provision: &Provision) -> (String, &'static str) {
    // Ten stalls, four things each, 25 varieties: exactly one name per number of the deal.
    let at = usize::try_from(provision.deal).unwrap_or(0);
    let variety = VARIETIES[at / 40 % VARIETIES.len()];
    if let Some((name, _)) = foreign(provision) {
        return ((*name).to_owned(), variety);
    }
    (format!("{variety} {}", things(provision.category)[at / 10 % 4]), variety)
}

/// The label on the jar.
pub(super) fn description(provision: &Provision, rng: &mut Rng) -> String {
    if let Some((_, story)) = foreign(provision) {
        return (*story).to_owned();
    }
    let making = rng.pick(match provision.category {
        Category::Bread => &["Baked before the gulls wake.", "Proved for two tides, baked in one."],
        Category::Cheese => {
            &["Washed in brine and turned by hand.", "Ripened in the cellar under the customs house."]
        }
        Category::Fish => &["Cold-smoked over driftwood.", "Caught at dawn, salted by noon."],
        Category::Fruit => {
            &["Picked from the terraces above the breakwater.", "Sun on one side, sea wind on the other."]
        }
        Category::Tea => &["Dried on the roof of the tea house.", "Best with a view and without hurry."],
        Category::Spirit => {
            &["Laid down in barrels that have crossed the line twice.", "Pour slowly, store lying."]
        }
        Category::Honey => {
            &["From the hives on the sea wall.", "The bees fly over heather and never over water."]
        }
        Category::Candle => {
            &["Dipped forty times, burns for nine hours.", "Made of beeswax from the sea wall."]
        }
        Category::Rope => &["Laid in one length on the long ropewalk.", "Tarred, stretched and sworn at."],
        Category::Spice => &["Ground to order on Spice Row.", "A pinch is a portion; a spoon is a dare."],
    });
    let use_ = rng.pick(&[
        "Enough for a crew of four or one navigator.",
        "Every ship carries some; no ship carries enough.",
        "Stamped by the guild, which vouches for weight and temper.",
        "Trades well in the northern ports.",
        "Most welcome between two watches.",
        "Sold by the piece at the fair, by the crate on the quay.",
    ]);
    format!("{making} {use_}")
}

/// Search tags of a provision.
pub(super) fn tags(provision: &Provision, rng: &mut Rng) -> Vec<String> {
    let start = rng.index(TAGS.len());
    let mut tags = vec![provision.category.name().to_lowercase()];
    tags.extend((0..=rng.index(3)).map(|step| TAGS[(start + step * 3) % TAGS.len()].to_owned()));
    tags
}

fn foreign(provision: &Provision) -> Option<&'static (&'static str, &'static str)> {
    if !provision.number.is_multiple_of(83) {
        return None;
    }
    FOREIGN.get(usize::try_from(provision.number / 83 - 1).ok()?)
}

fn things(category: Category) -> [&'static str; 4] {
    match category {
        Category::Bread => ["Rye Loaf", "Ship's Biscuit", "Seed Cake", "Braided Bread"],
        Category::Cheese => ["Wheel", "Wedge", "Curd Cheese", "Washed-Rind Cheese"],
        Category::Fish => ["Herring", "Mackerel", "Eel", "Cod Roe"],
        Category::Fruit => ["Apples", "Quinces", "Preserved Plums", "Medlars"],
        Category::Tea => ["Black Tea", "Mint Tea", "Watch-Keeper's Blend", "Rosehip Infusion"],
        Category::Spirit => ["Perry", "Plum Brandy", "Grog", "Elderflower Cordial"],
        Category::Honey => ["Honey", "Comb Honey", "Mead", "Beeswax Balm"],
        Category::Candle => ["Pillar Candle", "Taper", "Storm Candle", "Votive Light"],
        Category::Rope => ["Hawser", "Signal Line", "Heaving Line", "Net Twine"],
        Category::Spice => ["Pepper", "Cardamom", "Mustard Seed", "Sea Fennel"],
    }
}
