//! `GetTokenMetadataBatch` with as many tokens as one request may name, chosen at random.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::data::{CHAIN_ID, CONTRACT, TOKENS};
use crate::error::{Context, Error};
use crate::random::Random;
use crate::scenario::Scenario;

/// See the module.
pub(crate) const SCENARIO: Scenario = Scenario {
    title: "50 random tokens of 100,000",
    path: "/rpc/Metadata/GetTokenMetadataBatch",
    ratio_goal: 0.5,
    bodies,
    check,
};

const REQUESTS: usize = 256;
const TOKENS_PER_REQUEST: usize = 50;
const SEED: u64 = 50;

fn bodies() -> Vec<String> {
    let mut random = Random::new(SEED);
    (0..REQUESTS).map(|_| body(&mut random)).collect()
}

fn body(random: &mut Random) -> String {
    let mut token_ids = Vec::with_capacity(TOKENS_PER_REQUEST);
    while token_ids.len() < TOKENS_PER_REQUEST {
        let token_id = (1 + random.below(TOKENS)).to_string();
        if !token_ids.contains(&token_id) {
            token_ids.push(token_id);
        }
    }
    json!({ "chainID": CHAIN_ID.to_string(), "contractTokenMap": { CONTRACT: token_ids } }).to_string()
}

/// The answer must hold each token that was asked for, once, with a name and a description.
fn check(request: &str, response: &[u8]) -> Result<(), Error> {
    let request: Value = serde_json::from_str(request).context(|| "reading the request".to_owned())?;
    let response: Value = serde_json::from_slice(response).context(|| "reading the answer".to_owned())?;
    let wanted: BTreeSet<&str> =
        list(&request["contractTokenMap"]).iter().filter_map(Value::as_str).collect();
    let tokens = list(&response["contractTokenMetadata"]);
    let complete = tokens.iter().filter(|token| is_text(&token["name"]) && is_text(&token["description"]));
    let found: BTreeSet<&str> = complete.filter_map(|token| token["tokenId"].as_str()).collect();
    if tokens.len() == TOKENS_PER_REQUEST && found == wanted {
        return Ok(());
    }
    let (count, right) = (tokens.len(), found.intersection(&wanted).count());
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

    use super::{REQUESTS, bodies, check, list};
    use crate::data::CONTRACT;

    fn answer(request: &str, take: usize) -> Vec<u8> {
        let request: Value = serde_json::from_str(request).unwrap();
        let token = |id: &Value| json!({ "tokenId": id, "name": "n", "description": "d" });
        let tokens: Vec<Value> = list(&request["contractTokenMap"]).iter().take(take).map(token).collect();
        json!({ "contractTokenMetadata": { CONTRACT: tokens } }).to_string().into_bytes()
    }

    #[test]
    fn requests_are_the_same_every_time_and_all_different() {
        let mut requests = bodies();
        assert_eq!(requests, bodies());
        requests.sort();
        requests.dedup();
        assert_eq!(requests.len(), REQUESTS);
    }

    #[test]
    fn only_the_tokens_that_were_asked_for_are_right() {
        let requests = bodies();
        check(&requests[0], &answer(&requests[0], 50)).unwrap();
        check(&requests[0], &answer(&requests[0], 49)).unwrap_err();
        check(&requests[0], &answer(&requests[1], 50)).unwrap_err();
        check(&requests[0], b"{}").unwrap_err();
    }
}
