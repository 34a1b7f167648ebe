//! Names and stories of relics.

use super::relic::Relic;
use super::relic_kinds::Kind;
use super::relic_scripts;
use super::rng::Rng;

/// Ports that relics come from; none of them is on a map.
pub(super) const ORIGINS: [&str; 16] = [
    "Saltmere",
    "Port Quillon",
    "Varnholm",
    "Candle Quay",
    "Isle of Wrens",
    "Old Tidewall",
    "Marrowgate",
    "Brinehythe",
    "Cape Sorrel",
    "Lantern Reach",
    "Ostergard",
    "Pilot's Rest",
    "Nine Moorings",
    "Whitlock Sound",
    "Amberstrand",
    "Gull Cathedral",
];

/// Tags beside kind and material.
pub(super) const TAGS: [&str; 14] = [
    "salvage",
    "signed",
    "museum-loan",
    "storm-of-92",
    "smuggled",
    "guild-hall",
    "first-auction",
    "restored",
    "cursed",
    "wedding-gift",
    "customs-seal",
    "chipped",
    "royal-post",
    "night-market",
];

/// People of the harbour who find things.
pub(super) const FINDERS: [&str; 12] = [
    "Ilse Maren",
    "Tobias Quay",
    "Widow Harrowgate",
    "Captain Anselm Roe",
    "Yusra al-Bahri",
    "Pim the diver",
    "Dr. Odile Fenwick",
    "Nikos Kalamaris",
    "Hana Shiomi",
    "Brother Caspian",
    "the twins Lark & Finch",
    "Zoya Beregovaya",
];

const ADJECTIVES: [&str; 30] = [
    "Weathered",
    "Drowned",
    "Gilded",
    "Quiet",
    "Moonlit",
    "Twice-Sold",
    "Forgotten",
    "Pilgrim's",
    "Admiral's",
    "Salt-Worn",
    "Whispering",
    "Unclaimed",
    "Smuggler's",
    "Borrowed",
    "Winter",
    "Stormbound",
    "Ferryman's",
    "Unlucky",
    "Blessed",
    "Crooked",
    "Sunken",
    "Harbourmaster's",
    "Last",
    "Patient",
    "Orphaned",
    "Midnight",
    "Restless",
    "Copperhand's",
    "Honest",
    "Tidal",
];

const FOUNDERS: [(&str, &str); 6] = [
    (
        "The Bourse Bell",
        "Rung on the first morning of the exchange and on no morning since. Whoever holds it may ask for silence once.",
    ),
    (
        "Founder's Ledger Key",
        "Opens the iron cupboard in which the very first ledger is kept. The ledger is empty; the key is not for sale.",
    ),
    (
        "Halfway Lantern",
        "Hung at the exact middle of the numbers, so that no one counting home should lose their way.",
    ),
    (
        "The Surveyor's Compass",
        "Points to the piece its owner wants most. Three owners have returned it, embarrassed.",
    ),
    ("One Past the Counting House", "Struck when the clerks ran out of columns and had to buy wider paper."),
    ("The Odd Penny", "A coin that other ledgers round away. Ours writes it down."),
];

/// The name of a relic; one in sixteen comes from a ledger in another language.
pub(super) fn name(relic: &Relic) -> String {
    if let Some((name, _)) = founder(relic) {
        return name.to_owned();
    }
    if let Some((name, _)) = foreign(relic) {
        return name;
    }
    let mut rng = Rng::keyed("relic name", relic.number);
    let adjective = rng.pick(&ADJECTIVES);
    let material = relic.material.name();
    let noun = noun(relic.kind, &mut rng);
    // The longer patterns rarely repeat, so they are used more.
    match rng.below(20) {
        0 => format!("{adjective} {noun}"),
        1 => format!("{noun} of {}", relic.origin),
        2..=4 => format!("{adjective} {material} {noun}"),
        5..=7 => format!("{material} {noun} of {}", relic.origin),
        8..=13 => format!("{adjective} {noun} of {}", relic.origin),
        _ => format!("{adjective} {material} {noun} of {}", relic.origin),
    }
}

/// The story of a relic.
pub(super) fn description(relic: &Relic, year: u64) -> String {
    if let Some((_, story)) = founder(relic) {
        return story.to_owned();
    }
    if let Some((_, story)) = foreign(relic) {
        return story;
    }
    let mut rng = Rng::keyed("relic story", relic.number);
    let kind = relic.kind.name().to_lowercase();
    let finder = rng.pick(&FINDERS);
    let origin = relic.origin;
    let opening = match rng.below(6) {
        0 => format!("Raised from the silt off {origin} by {finder}."),
        1 => format!("A {kind} of {year}, entered in the books of {origin} as \"of no particular use\"."),
        2 => format!("{finder} traded a boat for this {kind} and never regretted it."),
        3 => format!("Made in {origin} in {year}, lost at cards the same winter."),
        4 => format!("Found behind a false wall in the customs house of {origin}."),
        _ => format!("Bought at the night market of {origin}, where nobody asks and nobody tells."),
    };
    format!("{opening} {} {}", middle(relic.kind, &mut rng), rng.pick(&ENDINGS))
}

fn founder(relic: &Relic) -> Option<(&'static str, &'static str)> {
    FOUNDERS.get(relic.founder()?).copied()
}

fn foreign(relic: &Relic) -> Option<(String, String)> {
    let mut rng = Rng::keyed("relic script", relic.number);
    rng.chance(62).then(|| relic_scripts::name_and_story(relic.kind, &mut rng))
}

fn noun(kind: Kind, rng: &mut Rng) -> &'static str {
    rng.pick(match kind {
        Kind::Coin => &["Crown", "Penny", "Ducat", "Ferry Token"],
        Kind::Stamp => &["Stamp", "Packet Stamp", "Harbour Due", "Night Mail Stamp"],
        Kind::Amphora => &["Amphora", "Oil Jar", "Wine Jar", "Votive Jar"],
        Kind::Compass => &["Compass", "Pocket Compass", "Ship's Compass", "Pathfinder"],
        Kind::Lantern => &["Lantern", "Pier Lamp", "Storm Lantern", "Watch Light"],
        Kind::Key => &["Key", "Sluice Key", "Chest Key", "Lighthouse Key"],
        Kind::Bell => &["Bell", "Fog Bell", "Deck Bell", "Chapel Bell"],
        Kind::Hourglass => &["Hourglass", "Watch Glass", "Half-Hour Glass", "Sand Clock"],
    })
}

fn middle(kind: Kind, rng: &mut Rng) -> &'static str {
    rng.pick(match kind {
        Kind::Coin => &[
            "The rim is worn smooth on one side, where a thumb has rested for years.",
            "It lands on its edge more often than it should.",
            "The mint mark shows a gull; the gull looks annoyed.",
        ],
        Kind::Stamp => &[
            "The gum still smells faintly of oranges.",
            "Printed a shade too dark, withdrawn within a week, treasured ever since.",
            "The postmark names a town that moved away.",
        ],
        Kind::Amphora => &[
            "Something inside still sounds like the sea.",
            "The potter's thumbprint sits just below the handle.",
            "It held lamp oil, then wine, then letters.",
        ],
        Kind::Compass => &[
            "The needle hesitates before it answers.",
            "North is engraved twice, once crossed out.",
            "It was built for a left-handed navigator.",
        ],
        Kind::Lantern => &[
            "It burns for an hour longer than its oil allows.",
            "The glass came from four different windows.",
            "Moths avoid it; cats do not.",
        ],
        Kind::Key => &[
            "No lock in the harbour admits to knowing it.",
            "Its teeth trace the skyline of the old town.",
            "It turns with a sound like a short laugh.",
        ],
        Kind::Bell => &[
            "Its note carries furthest in fog.",
            "Cast from the coins of a whole street.",
            "A hairline crack gives it a voice of its own.",
        ],
        Kind::Hourglass => &[
            "The sand runs slower on Sundays.",
            "It measures exactly one watch, or one long goodbye.",
            "A single grain of it is red.",
        ],
    })
}

const ENDINGS: [&str; 8] = [
    "Certificate of the fair enclosed.",
    "Sold as seen, and it is well worth seeing.",
    "Handle with clean hands and a clear conscience.",
    "The previous owner asks to be told where it goes.",
    "Listed in the harbour catalogue, third revision.",
    "Small repairs, honestly made.",
    "Comes with its box and half of its legend.",
    "No reserve, no returns, no regrets.",
];
