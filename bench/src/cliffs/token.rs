//! A token of the skewed collection.

use bourse_random::Random;
use serde_json::{Value, json};

use crate::skew::Skew;
use crate::trading::words;

/// Words that one name of some thousands has.
pub(crate) const RARE_WORDS: [&str; 4] = ["Zephyr", "Quixotic", "Épée", "刀匠"];
/// One name of so many has a rare word.
const RARE_EVERY: u64 = 4_000;
/// Values of the property that has several hundred.
pub(crate) const FAMILIES: usize = 400;
/// Values of the property that has few.
pub(crate) const BACKGROUNDS: usize = 12;
/// The highest number that all tokens have one of.
pub(crate) const LEVEL_MAX: u64 = 100;
/// The highest number of a property that nearly all numbers are used of.
pub(crate) const SCORE_MAX: u64 = 100_000;
/// The highest number of a property that tokens may have several of.
pub(crate) const BONUS_MAX: u64 = 200;
/// The highest number by a power law.
pub(crate) const KILLS_MAX: usize = 10_000;

/// What values are drawn by.
#[derive(Debug)]
pub(crate) struct TokenSkews {
    words: Skew,
    families: Skew,
    backgrounds: Skew,
    kills: Skew,
}

impl TokenSkews {
    pub(crate) fn new() -> Self {
        Self {
            words: Skew::new(words::FIRST.len()),
            families: Skew::new(FAMILIES),
            backgrounds: Skew::new(BACKGROUNDS),
            kills: Skew::new(KILLS_MAX),
        }
    }
}

/// A token, as little of it as the rest follows from. Its id is its place in the collection plus one.
#[derive(Debug)]
pub(crate) struct Token {
    words: [&'static str; 2],
    family: usize,
    background: usize,
    level: u64,
    score: u64,
    kills: usize,
    bonuses: Vec<u64>,
}

impl Token {
    pub(crate) fn draw(skews: &TokenSkews, random: &mut Random) -> Self {
        let first = if random.one_in(RARE_EVERY) {
            *random.pick(&RARE_WORDS)
        } else {
            words::FIRST[skews.words.draw(random)]
        };
        let second = words::SECOND[skews.words.draw(random)];
        let bonuses = random.below(4);
        Self {
            words: [first, second],
            family: skews.families.draw(random),
            background: skews.backgrounds.draw(random),
            level: random.between(1, LEVEL_MAX),
            score: random.between(1, SCORE_MAX),
            kills: skews.kills.draw(random),
            bonuses: (0..bonuses).map(|_| random.between(1, BONUS_MAX)).collect(),
        }
    }

    /// The name of the token at a place.
    pub(crate) fn name(&self, index: usize) -> String {
        let [first, second] = self.words;
        format!("{first} {second} #{}", index + 1)
    }

    /// Its metadata.
    pub(crate) fn metadata(&self, index: usize) -> Value {
        let token_id = (index + 1).to_string();
        json!({
            "tokenId": token_id,
            "name": self.name(index),
            "description": format!("One of the many, of family {}.", self.family),
            "image": format!("https://assets.example.com/skewed/{token_id}/portrait.webp"),
            "attributes": [
                { "trait_type": "Family", "value": family(self.family) },
                { "trait_type": "Background", "value": background(self.background) },
                { "trait_type": "Level", "value": self.level },
                { "trait_type": "Score", "value": self.score },
                { "trait_type": "Kills", "value": self.kills },
                { "trait_type": "Bonus", "value": self.bonuses },
            ],
            "updatedAt": "2025-01-01T00:00:00Z",
        })
    }
}

/// A value of the property `Family`.
pub(crate) fn family(number: usize) -> String {
    format!("House {number}")
}

/// A value of the property `Background`.
pub(crate) fn background(number: usize) -> String {
    format!("Backdrop {number}")
}
