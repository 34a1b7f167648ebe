//! `GetTokenMetadataBatch` with as many tokens as one request may name, chosen at random.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Request, Scenario};
use crate::error::Error;
use crate::relics::{CHAIN_ID, CONTRACT, Relics, TOKENS};
use bourse_random::Random;

/// See the module.
pub(crate) const SCENARIO: Scenario<Relics> = Scenario {
    name: "token-metadata-batch",
    title: "50 random tokens of 100,000",
    path: "/rpc/Metadata/GetTokenMetadataBatch",
    ratio_goal: 0.5,
    requests,
};

const REQUESTS: usize = 256;
const TOKENS_PER_REQUEST: usize = 50;
const SEED: u64 = 50;

fn requests(_relics: &Relics) -> Vec<Request> {
    let mut random = Random::new(SEED);
    (0..REQUESTS).map(|_| request(&mut random)).collect()
}

fn request(random: &mut Random) -> Request {
    let mut token_ids = Vec::with_capacity(TOKENS_PER_REQUEST);
    while token_ids.len() < TOKENS_PER_REQUEST {
        let token_id = (1 + random.below(TOKENS)).to_string();
        if !token_ids.contains(&token_id) {
            token_ids.push(token_id);
        }
    }
    let body = json!({ "chainID": CHAIN_ID.to_string(), "contractTokenMap": { CONTRACT: token_ids } });
    let wanted: BTreeSet<String> = token_ids.into_iter().collect();
    Request { body: body.to_string(), check: Box::new(move |answer| check(&wanted, answer)) }
}

/// The answer must hold each token that was asked for, once, with a name and a description.
fn check(wanted: &BTreeSet<String>, answer: &Value) -> Result<(), Error> {
    let tokens = list(&answer["contractTokenMetadata"]);
    let complete = tokens.iter().filter(|token| is_text(&token["name"]) && is_text(&token["description"]));
    let found: BTreeSet<String> =
        complete.filter_map(|token| token["tokenId"].as_str().map(ToOwned::to_owned)).collect();
    if tokens.len() == TOKENS_PER_REQUEST && found == *wanted {
        return Ok(());
    }
    let (count, right) = (tokens.len(), found.intersection(wanted).count());
    Err(Error::new(format!(
        "{TOKENS_PER_REQUEST} tokens were asked for, {count} answered, {right} of them right"
    )))
}

/// The list for our contract in a map from contracts to lists; empty when it is missing.
fn list(map: &Value) -> &[Value] {
    map[CONTRACT].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{REQUESTS, list, requests};
    use crate::relics::{CONTRACT, Relics};

    fn answer(request: &str, take: usize) -> Value {
        let request: Value = serde_json::from_str(request).unwrap();
        let token = |id: &Value| json!({ "tokenId": id, "name": "n", "description": "d" });
        let tokens: Vec<Value> = list(&request["contractTokenMap"]).iter().take(take).map(token).collect();
        json!({ "contractTokenMetadata": { CONTRACT: tokens } })
    }

    #[test]
    fn requests_are_the_same_every_time_and_all_different() {
        let bodies = || requests(&Relics).into_iter().map(|request| request.body).collect::<Vec<_>>();
        let mut distinct = bodies();
        assert_eq!(distinct, bodies());
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), REQUESTS);
    }

    #[test]
    fn only_the_tokens_that_were_asked_for_are_right() {
        let requests = requests(&Relics);
        let check = &requests[0].check;
        check(&answer(&requests[0].body, 50)).unwrap();
        check(&answer(&requests[0].body, 49)).unwrap_err();
        check(&answer(&requests[1].body, 50)).unwrap_err();
        check(&json!({})).unwrap_err();
    }
}
