//! The ERC-721 collection "Harbour Relics": 1,500 finds and six founders' pieces.

use serde_json::{Value, json};

use super::encode::{base64, bell_wav, svg_uri};
use super::rarity::Rarity;
use super::relic_kinds::{Kind, Material};
use super::relic_text;
use super::rng::Rng;
use super::{CHAIN_ID, DemoContext, RELICS_ADDRESS, clock, relic_art};

/// Number of relics with small ids, counted from 1.
pub(super) const FINDS: u64 = 1_500;
/// All relics, the founders' pieces included.
pub(super) const TOTAL: u64 = FINDS + FOUNDERS.len() as u64;

/// Ids at the edges where software that keeps token ids in machine words goes wrong; their stories stand in the same
/// order in [`relic_text`].
const FOUNDERS: [(&str, Kind); 6] = [
    ("115792089237316195423570985008687907853269984665640564039457584007913129639935", Kind::Bell),
    ("115792089237316195423570985008687907853269984665640564039457584007913129639934", Kind::Key),
    ("57896044618658097711785492504343953926634992332820282019728792003956564819968", Kind::Lantern),
    ("340282366920938463463374607431768211456", Kind::Compass),
    ("18446744073709551616", Kind::Coin),
    ("9007199254740993", Kind::Coin),
];

/// One relic, before it becomes a record.
pub(super) struct Relic {
    /// 1 to [`TOTAL`].
    pub(super) number: u64,
    /// Decimal id on the chain.
    pub(super) token_id: String,
    /// How rare it is.
    pub(super) rarity: Rarity,
    /// What it is.
    pub(super) kind: Kind,
    /// What it is made of.
    pub(super) material: Material,
    /// Where it was found.
    pub(super) origin: &'static str,
    /// A number that the picture takes its small variations from.
    pub(super) look: u64,
}

impl Relic {
    /// The `number`-th relic, counted from 1; those after [`FINDS`] are the founders' pieces.
    pub(super) fn new(number: u64) -> Self {
        let mut rng = Rng::keyed("relic", number);
        let founder = number.checked_sub(FINDS + 1).and_then(|at| FOUNDERS.get(usize::try_from(at).ok()?));
        let drawn_kind = rng.pick(&Kind::ALL);
        let kind = founder.map_or(drawn_kind, |(_, kind)| *kind);
        let drawn = Rarity::draw(&mut rng);
        Self {
            number,
            token_id: founder.map_or_else(|| number.to_string(), |(id, _)| (*id).to_owned()),
            rarity: if founder.is_some() { Rarity::Mythic } else { drawn },
            kind,
            material: rng.pick(kind.materials()),
            origin: rng.pick(&relic_text::ORIGINS),
            look: rng.below(10_000),
        }
    }

    /// Index among the founders' pieces.
    pub(super) fn founder(&self) -> Option<usize> {
        usize::try_from(self.number.checked_sub(FINDS + 1)?).ok()
    }

    /// The import line of this relic.
    pub(super) fn record(&self, context: &DemoContext) -> Value {
        let mut rng = Rng::keyed("relic record", self.number);
        let power = self.power(&mut rng);
        let year = rng.range(1620, 1910);
        let svg = relic_art::draw(self);
        let mut record = json!({
            "type": "token",
            "chainId": CHAIN_ID,
            "contractAddress": RELICS_ADDRESS,
            "tokenId": self.token_id,
            "name": relic_text::name(self),
            "description": relic_text::description(self, year),
            "image": svg_uri(&svg),
            "properties": self.properties(power, year, &mut rng),
            "attributes": self.attributes(power, year, &mut rng),
            "updatedAt": clock::timestamp(context.now_unix - rng.below(40 * clock::DAY_SECONDS)),
        });
        if rng.chance(300) {
            record["externalUrl"] = json!(format!("https://relics.example/catalogue/{}", self.token_id));
        }
        if rng.chance(250) {
            // The field wants six digits without a hash; the palette has three with one.
            let colour: String =
                self.rarity.backdrop().1.chars().skip(1).flat_map(|digit| [digit; 2]).collect();
            record["backgroundColor"] = json!(colour);
        }
        if rng.chance(15) {
            record["imageData"] = json!(svg);
        }
        if matches!(self.rarity, Rarity::Legendary | Rarity::Mythic) {
            record["animationUrl"] = json!(svg_uri(&relic_art::draw_animated(self)));
        }
        if matches!(self.kind, Kind::Bell) && matches!(self.rarity, Rarity::Epic | Rarity::Legendary) {
            let period = u32::try_from(rng.range(6, 14)).unwrap_or(8);
            record["audio"] = json!(format!("data:audio/wav;base64,{}", base64(&bell_wav(period))));
        }
        if self.founder().is_some() {
            record["video"] =
                json!(format!("https://media.relics.example/founders/{}.mp4", self.number - FINDS));
        }
        record
    }

    fn power(&self, rng: &mut Rng) -> u64 {
        let floor = match self.rarity {
            Rarity::Common => 5,
            Rarity::Uncommon => 20,
            Rarity::Rare => 38,
            Rarity::Epic => 55,
            Rarity::Legendary => 74,
            Rarity::Mythic => 92,
        };
        rng.range(floor, floor + 24).min(100)
    }

    fn properties(&self, power: u64, year: u64, rng: &mut Rng) -> Value {
        let mut properties = json!({
            "rarity": self.rarity.name(),
            "kind": self.kind.name(),
            "material": self.material.name(),
            "origin": self.origin,
            "power": power,
            "yearMinted": year,
            "tags": self.tags(rng),
            "sealed": rng.chance(350),
        });
        if rng.chance(700) {
            properties["provenance"] = json!({
                "finder": rng.pick(&relic_text::FINDERS),
                "ledgerPage": rng.range(1, 640),
                "insured": rng.chance(500),
                "appraisals": [rng.range(1901, 1960), rng.range(1961, 2024)],
            });
        }
        // Old ledgers graded in letters, new ones in points, and some pieces were never graded.
        match rng.below(4) {
            0 => properties["grade"] = json!(rng.pick(&["A", "A+", "B", "B+", "C"])),
            1 => properties["grade"] = json!(rng.range(4, 9)),
            2 => properties["grade"] = Value::Null,
            _ => {}
        }
        properties
    }

    fn tags(&self, rng: &mut Rng) -> Vec<String> {
        let mut tags = vec![self.kind.name().to_lowercase(), self.material.name().to_lowercase()];
        let extra = rng.index(relic_text::TAGS.len());
        for step in 0..rng.index(4) {
            tags.push(relic_text::TAGS[(extra + step * 5) % relic_text::TAGS.len()].to_owned());
        }
        tags
    }

    fn attributes(&self, power: u64, year: u64, rng: &mut Rng) -> Value {
        // The two shapes that marketplaces accept; studios use either.
        if rng.chance(250) {
            return json!([
                {"rarity": self.rarity.name()},
                {"material": self.material.name()},
                {"power": power},
                {"displayed": rng.chance(500)},
            ]);
        }
        json!([
            {"trait_type": "Rarity", "value": self.rarity.name()},
            {"trait_type": "Material", "value": self.material.name()},
            {"trait_type": "Origin", "value": self.origin},
            {"trait_type": "Power", "value": power, "display_type": "boost_number"},
            {"trait_type": "Year minted", "value": year, "display_type": "number"},
            {"trait_type": "Patina", "value": rng.range(1, 100), "display_type": "boost_percentage"},
        ])
    }
}
