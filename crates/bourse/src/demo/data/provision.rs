//! The ERC-1155 collection "Guild Provisions": a thousand kinds of things that every ship needs.

use serde_json::{Value, json};

use super::encode::{svg_uri, svg_uri_base64};
use super::rarity::Rarity;
use super::rng::Rng;
use super::{CHAIN_ID, DemoContext, PROVISIONS_ADDRESS, clock, provision_art, provision_text};

/// Number of kinds, with ids counted from 1.
pub(super) const TOTAL: u64 = 1_000;

/// Which stall a provision is sold at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Category {
    /// Baked things.
    Bread,
    /// Wheels and wedges.
    Cheese,
    /// Smoked, salted, dried.
    Fish,
    /// From the orchards above the town.
    Fruit,
    /// Leaves and herbs.
    Tea,
    /// Bottled things.
    Spirit,
    /// From the hives on the sea wall.
    Honey,
    /// Light.
    Candle,
    /// Cordage.
    Rope,
    /// By the sack.
    Spice,
}

impl Category {
    /// All stalls, in the order in which names are dealt out.
    pub(super) const ALL: [Self; 10] = [
        Self::Bread,
        Self::Cheese,
        Self::Fish,
        Self::Fruit,
        Self::Tea,
        Self::Spirit,
        Self::Honey,
        Self::Candle,
        Self::Rope,
        Self::Spice,
    ];

    /// The word shown to people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bread => "Bakery",
            Self::Cheese => "Dairy",
            Self::Fish => "Smokehouse",
            Self::Fruit => "Orchard",
            Self::Tea => "Tea House",
            Self::Spirit => "Cellar",
            Self::Honey => "Apiary",
            Self::Candle => "Chandlery",
            Self::Rope => "Ropewalk",
            Self::Spice => "Spice Row",
        }
    }

    /// Light and dark tone of the thing, in one of three varieties.
    pub(super) fn tones(self, look: u64) -> [&'static str; 2] {
        let variety = usize::try_from(look % 3).unwrap_or(0);
        match self {
            Self::Bread => [["#f3cf93", "#b0702c"], ["#e3b071", "#8a4d1c"], ["#c99a6b", "#5f3a1e"]][variety],
            Self::Cheese => [["#ffe98f", "#e8b23a"], ["#fff6d6", "#d9c48a"], ["#ffc46b", "#d97a26"]][variety],
            Self::Fish => [["#c9dbe6", "#5c7f96"], ["#ffcdb8", "#d9765a"], ["#e6dba8", "#8c7d3c"]][variety],
            Self::Fruit => [["#ff8f80", "#b3261e"], ["#d9ef7f", "#6a9a2b"], ["#ffd27a", "#e07a1f"]][variety],
            Self::Tea => [["#8fd0c0", "#2c6e63"], ["#a8b8f0", "#3f4f9c"], ["#f0b8a8", "#a8503c"]][variety],
            Self::Spirit => [["#8fc98a", "#2d5a34"], ["#d9a066", "#6b3a14"], ["#d08fb0", "#6b1f45"]][variety],
            Self::Honey => [["#ffd766", "#d98a12"], ["#ffeaa0", "#e0b030"], ["#e0a04a", "#8a4a12"]][variety],
            Self::Candle => [["#fffbe8", "#e0cfa0"], ["#f0a8a0", "#b0483c"], ["#a8c8e8", "#4a78a8"]][variety],
            Self::Rope => [["#efd9a8", "#94703a"], ["#d8d0c0", "#7a7060"], ["#e8b890", "#8a4f2a"]][variety],
            Self::Spice => [["#ff9a4a", "#a83a10"], ["#ffe066", "#b8860b"], ["#c8e08a", "#55702a"]][variety],
        }
    }
}

/// One kind of provision, before it becomes a record.
pub(super) struct Provision {
    /// 1 to [`TOTAL`], also the id on the chain.
    pub(super) number: u64,
    /// How rare it is.
    pub(super) rarity: Rarity,
    /// Which stall sells it.
    pub(super) category: Category,
    /// A permutation of the numbers, from which names are dealt so that no two are equal.
    pub(super) deal: u64,
    /// A number that the picture takes its small variations from.
    pub(super) look: u64,
}

impl Provision {
    /// The `number`-th provision, counted from 1.
    pub(super) fn new(number: u64) -> Self {
        let mut rng = Rng::keyed("provision", number);
        // 389 has no factor in common with 1,000, so this visits every value once.
        let deal = number * 389 % TOTAL;
        Self {
            number,
            rarity: Rarity::draw(&mut rng),
            category: Category::ALL[usize::try_from(deal % 10).unwrap_or(0)],
            deal,
            look: rng.below(10_000),
        }
    }

    /// Sold by weight in hundredths; nobody lists these, they show that decimals are kept.
    pub(super) fn by_weight(&self) -> bool {
        self.number.is_multiple_of(97)
    }

    /// The import line of this provision.
    pub(super) fn record(&self, context: &DemoContext) -> Value {
        let mut rng = Rng::keyed("provision record", self.number);
        let svg = provision_art::draw(self);
        let energy = rng.range(1, 40);
        let (name, variety) = provision_text::name(self);
        // Both spellings of a data URI are common; base64 is longer, so the simple pictures get it.
        let simple = matches!(self.category, Category::Bread | Category::Cheese | Category::Fish);
        let image = if simple { svg_uri_base64(&svg) } else { svg_uri(&svg) };
        let mut record = json!({
            "type": "token",
            "chainId": CHAIN_ID,
            "contractAddress": PROVISIONS_ADDRESS,
            "tokenId": self.number.to_string(),
            "name": name,
            "description": provision_text::description(self, &mut rng),
            "image": image,
            "properties": self.properties(energy, variety, &mut rng),
            "attributes": self.attributes(energy, variety, &mut rng),
            "updatedAt": clock::timestamp(context.now_unix - rng.below(25 * clock::DAY_SECONDS)),
        });
        if self.by_weight() {
            record["decimals"] = json!(2);
        }
        record
    }

    fn properties(&self, energy: u64, variety: &str, rng: &mut Rng) -> Value {
        let mut properties = json!({
            "rarity": self.rarity.name(),
            "stall": self.category.name(),
            "variety": variety,
            "energy": energy,
            "shelfLifeDays": rng.range(2, 400),
            "tags": provision_text::tags(self, rng),
            "tradeable": !rng.chance(40),
        });
        if rng.chance(400) {
            properties["recipe"] = json!({
                "serves": rng.range(1, 12),
                "needs": [
                    {"stall": rng.pick(&Category::ALL).name(), "count": rng.range(1, 5)},
                    {"stall": rng.pick(&Category::ALL).name(), "count": rng.range(1, 3)},
                ],
                "secret": rng.chance(100),
            });
        }
        // A buff is a number, a list or a promise, depending on who wrote it down.
        match rng.below(6) {
            0 => properties["buff"] = json!(rng.range(1, 20)),
            1 => properties["buff"] = json!(["morale", rng.range(1, 9)]),
            2 => properties["buff"] = json!("to be announced"),
            _ => {}
        }
        properties
    }

    fn attributes(&self, energy: u64, variety: &str, rng: &mut Rng) -> Value {
        if rng.chance(400) {
            return json!([
                {"rarity": self.rarity.name()},
                {"stall": self.category.name()},
                {"energy": energy},
                {"weightGrams": rng.range(50, 4_000)},
            ]);
        }
        json!([
            {"trait_type": "Rarity", "value": self.rarity.name()},
            {"trait_type": "Stall", "value": self.category.name()},
            {"trait_type": "Variety", "value": variety},
            {"trait_type": "Energy", "value": energy, "display_type": "number"},
        ])
    }
}
