//! `SearchTokenMetadata`: a part of a name, in any case of letters.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::{PAGE_SIZE, list, more, same, text};
use super::draw::{MODEL_EVERY, distinct};
use super::{Request, Scenario};
use crate::error::Error;
use crate::trading::{CHAIN_ID, CONTRACT, TradedCollection};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<TradedCollection> = Scenario {
    name: "search",
    title: "first 30 tokens with 4 to 8 letters in their name",
    path: "/rpc/Metadata/SearchTokenMetadata",
    ratio_goal: 0.3,
    requests,
};

const SEED: u64 = 105;

fn requests(collection: &TradedCollection) -> Vec<Request> {
    let names = collection.names();
    let mut random = Random::new(SEED);
    let drawn = distinct(|| {
        let token = &collection.tokens[random.index(collection.tokens.len())];
        let part = part_of(&token.words(), &mut random)?;
        let body = search_body(&part);
        Some((part, body))
    });
    let request = |(index, (part, body)): (usize, (String, String))| {
        let matching = (index % MODEL_EVERY == 0).then(|| matching(&names, &part));
        Request { body, check: Box::new(move |answer| check(answer, &part, matching)) }
    };
    drawn.into_iter().enumerate().map(request).collect()
}

/// A part of a name with letters in any case; none where it would begin or end with a space.
fn part_of(words: &str, random: &mut Random) -> Option<String> {
    let length = 4 + random.index(5);
    let start = random.index(words.len().saturating_sub(length) + 1);
    let part = words.get(start..start + length)?;
    let mut mixed = |letter: char| {
        if random.below(2) == 0 { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    (part.trim() == part).then(|| part.chars().map(&mut mixed).collect())
}

fn search_body(part: &str) -> String {
    json!({
        "chainID": CHAIN_ID.to_string(),
        "contractAddress": CONTRACT,
        "filter": { "text": part },
        "page": { "page": 1, "pageSize": PAGE_SIZE },
    })
    .to_string()
}

/// How many tokens have the part in their name. It has no digits, so the number of a token cannot match.
fn matching(names: &HashMap<String, usize>, part: &str) -> usize {
    names.iter().filter(|(name, _)| contains(name, part)).map(|(_, count)| count).sum()
}

fn contains(name: &str, part: &str) -> bool {
    name.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
}

/// Which tokens come first is not promised; that all of them match is, and how many there are.
fn check(answer: &Value, part: &str, matching: Option<usize>) -> Result<(), Error> {
    let tokens = list(answer, "tokenMetadata")?;
    for token in tokens {
        let name = text(&token["name"], "name")?;
        if !contains(name, part) {
            return Err(Error::new(format!("{name} does not hold {part}")));
        }
    }
    let more = more(answer)?;
    match matching {
        Some(matching) => same(&(tokens.len(), more), &(matching.min(PAGE_SIZE), matching > PAGE_SIZE)),
        None if tokens.is_empty() => Err(Error::new(format!("no name holds {part}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, json};

    use super::{check, matching, part_of, requests};
    use crate::trading::TradedCollection;
    use bourse_random::Random;

    fn answer(names: &[&str], more: bool) -> Value {
        let tokens: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        json!({ "tokenMetadata": tokens, "page": { "pageSize": 30, "more": more } })
    }

    #[test]
    fn parts_have_four_to_eight_letters_of_the_name() {
        let mut random = Random::new(1);
        for part in (0..1_000).filter_map(|_| part_of("Ember Monk", &mut random)) {
            assert!((4..=8).contains(&part.len()) && "ember monk".contains(&part.to_lowercase()), "{part}");
        }
    }

    #[test]
    fn requests_are_different_even_on_small_data() {
        assert_eq!(requests(&TradedCollection::new(2_000)).len(), 1024);
    }

    #[test]
    fn names_must_match_and_be_all() {
        let names = HashMap::from([("Ember Warden".to_owned(), 2), ("Jade Monk".to_owned(), 5)]);
        assert_eq!(matching(&names, "R WaR"), 2);
        let both = answer(&["Ember Warden #1", "Ember Warden #7"], false);
        check(&both, "R WaR", Some(2)).unwrap();
        check(&both, "R WaR", Some(3)).unwrap_err();
        check(&answer(&["Jade Monk #1"], false), "R WaR", None).unwrap_err();
        check(&answer(&[], false), "R WaR", None).unwrap_err();
    }
}
