//! The relics: a plain collection, as large as the big ones are, for metadata alone.

use serde_json::{Value, json};

use bourse_random::Random;

/// Tokens in the collection; their ids are 1 to this number.
pub(crate) const TOKENS: u64 = 100_000;

/// The chain of the collection.
pub(crate) const CHAIN_ID: u64 = 1;

/// The address of the collection, in the spelling in which requests name it.
pub(crate) const CONTRACT: &str = "0xbe9c4000000000000000000000000000000b0425";

const SEED: u64 = 0x0b00_75e0;

const RARITIES: [&str; 4] = ["Common", "Uncommon", "Rare", "Legendary"];
const CONDITIONS: [&str; 4] = ["Mint", "Near Mint", "Slightly Used", "Battle Scarred"];
const ELEMENTS: [&str; 5] = ["Ember", "Tide", "Gale", "Stone", "Aether"];
const KINDS: [&str; 6] = ["Helm", "Blade", "Lantern", "Compass", "Cloak", "Tome"];

/// The collection. It needs no state: all of it follows from the constants above.
#[derive(Debug)]
pub(crate) struct Relics;

impl Relics {
    /// The records to import.
    pub(crate) fn records() -> impl Iterator<Item = Value> {
        let mut random = Random::new(SEED);
        (1..=TOKENS).map(move |token_id| token(token_id, &mut random))
    }
}

fn token(token_id: u64, random: &mut Random) -> Value {
    let rarity = pick(&RARITIES, random);
    let condition = pick(&CONDITIONS, random);
    let element = pick(&ELEMENTS, random);
    let kind = pick(&KINDS, random);
    let power = 1 + random.below(100);
    let edition = 1 + random.below(5000);
    json!({
        "type": "token",
        "chainId": CHAIN_ID,
        "contractAddress": CONTRACT,
        "tokenId": token_id.to_string(),
        "name": format!("{element} {kind} #{token_id}"),
        "description": format!(
            "A {kind} of {element}, found in the vaults beneath the old exchange and kept in {condition} \
             condition. Edition {edition} of 5000."
        ),
        "image": format!("https://assets.example.com/relics/{token_id}/full.webp"),
        "attributes": [
            { "trait_type": "Rarity", "value": rarity },
            { "trait_type": "Condition", "value": condition },
            { "trait_type": "Element", "value": element },
            { "trait_type": "Power", "value": power, "display_type": "number" },
        ],
        "properties": { "rarity": rarity, "kind": kind, "power": power, "edition": edition, "tradable": true },
        "updatedAt": "2025-01-01T00:00:00Z",
    })
}

fn pick(words: &[&'static str], random: &mut Random) -> &'static str {
    words[random.index(words.len())]
}

#[cfg(test)]
mod tests {
    use super::{CONTRACT, SEED, token};
    use bourse_random::Random;

    #[test]
    fn a_line_is_the_same_every_time_and_about_700_bytes() {
        let line = |token_id| token(token_id, &mut Random::new(SEED)).to_string();
        for token_id in [1, 100_000] {
            assert_eq!(line(token_id), line(token_id));
            assert!((600..800).contains(&line(token_id).len()), "{} bytes", line(token_id).len());
        }
    }

    #[test]
    fn the_contract_is_an_address_in_small_letters() {
        let digits = CONTRACT.strip_prefix("0x").unwrap();
        assert_eq!(digits.len(), 40);
        assert!(digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    }
}
