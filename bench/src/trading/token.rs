//! A token of the collection.

use serde_json::{Value, json};

use super::property::{Number, Text};
use super::words;
use super::{CHAIN_ID, CONTRACT};
use crate::skew::Skew;
use bourse_random::Random;

/// A token, as little of it as the rest follows from. Its id is its place in the collection plus one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    first_word: usize,
    second_word: usize,
    texts: [usize; Text::ALL.len()],
    numbers: [u64; Number::ALL.len()],
    /// The account that holds it.
    pub(crate) owner: usize,
}

/// What is drawn by a power law: who holds a token, and the words of its name.
#[derive(Debug)]
pub(super) struct TokenSkews {
    owners: Skew,
    first_words: Skew,
    second_words: Skew,
}

impl TokenSkews {
    /// For tokens of so many accounts.
    pub(super) fn new(owners: usize) -> Self {
        let (first_words, second_words) = (Skew::new(words::FIRST.len()), Skew::new(words::SECOND.len()));
        Self { owners: Skew::new(owners), first_words, second_words }
    }
}

impl Token {
    /// One more token.
    pub(super) fn draw(skews: &TokenSkews, random: &mut Random) -> Self {
        Self {
            first_word: skews.first_words.draw(random),
            second_word: skews.second_words.draw(random),
            texts: Text::ALL.map(|property| property.draw(random)),
            numbers: Number::ALL.map(|property| random.between(1, property.max())),
            owner: skews.owners.draw(random),
        }
    }

    /// The value of a property, as a place in the list of its values.
    pub(crate) fn text(&self, property: Text) -> usize {
        self.texts[property as usize]
    }

    /// The value of a property.
    pub(crate) fn number(&self, property: Number) -> u64 {
        self.numbers[property as usize]
    }

    /// The name without the number at its end.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", words::FIRST[self.first_word], words::SECOND[self.second_word])
    }

    /// The record to import.
    pub(crate) fn record(&self, index: usize) -> Value {
        let token_id = token_id(index);
        let words = self.words();
        let text = |property: Text| property.value(self.text(property));
        let number = |property: Number| self.number(property);
        json!({
            "type": "token",
            "chainId": CHAIN_ID,
            "contractAddress": CONTRACT,
            "tokenId": token_id,
            "name": format!("{words} #{token_id}"),
            "description": format!(
                "One of the wardens and wanderers of the trading floor, seen at {} with a {} on the head.",
                text(Text::Background), text(Text::Headwear)
            ),
            "image": format!("https://assets.example.com/floor/{token_id}/portrait.webp"),
            // Both shapes that are found in the wild.
            "attributes": [
                { "trait_type": "Background", "value": text(Text::Background) },
                { "trait_type": "Body", "value": text(Text::Body) },
                { "trait_type": "Headwear", "value": text(Text::Headwear) },
                { "Rarity": text(Text::Rarity) },
                { "trait_type": "Level", "value": number(Number::Level), "display_type": "number" },
                { "Power": number(Number::Power) },
            ],
            "updatedAt": "2025-01-01T00:00:00Z",
        })
    }
}

/// The id of the token at this place.
pub(crate) fn token_id(index: usize) -> String {
    (index + 1).to_string()
}
