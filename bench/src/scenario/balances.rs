//! `GetTokenBalances` and `GetTokenBalancesByContract`: what one account holds. Accounts are drawn by what they hold, so that the
//! few who hold very much are asked about most.

use serde_json::{Value, json};

use super::answer::same;
use super::draw::distinct;
use super::{Check, PAGE_SIZE, Request, Scenario};
use crate::error::Error;
use crate::trading::{CHAIN_ID, CONTRACT, TradedCollection, account};
use bourse_random::Random;

/// What an account holds, whatever contract it is of: read from memory where all contracts of the chain are there, as here the only
/// one is, and else from the database, by its index of accounts.
pub(crate) const OF_ACCOUNT: Scenario<TradedCollection> = Scenario {
    name: "balances",
    title: "tokens of one account, of all contracts",
    path: "/rpc/Indexer/GetTokenBalances",
    ratio_goal: 0.5,
    requests: |collection| {
        requests(collection, 106, |account| {
            json!({
                "chainId": CHAIN_ID, "accountAddress": account, "includeCollectionTokens": true,
                "page": { "pageSize": PAGE_SIZE },
            })
        })
    },
};

/// What an account holds of a contract: read from memory.
pub(crate) const OF_CONTRACT: Scenario<TradedCollection> = Scenario {
    name: "balances-by-contract",
    title: "tokens of one account, of one contract",
    path: "/rpc/Indexer/GetTokenBalancesByContract",
    ratio_goal: 0.5,
    requests: |collection| {
        requests(collection, 107, |account| {
            json!({
                "chainId": CHAIN_ID,
                "filter": { "contractAddresses": [CONTRACT], "accountAddresses": [account] },
                "omitMetadata": true,
                "page": { "pageSize": PAGE_SIZE },
            })
        })
    },
};

fn requests(collection: &TradedCollection, seed: u64, body: impl Fn(&str) -> Value) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut held =
        vec![0_usize; collection.tokens.iter().map(|token| token.owner + 1).max().unwrap_or_default()];
    for token in &collection.tokens {
        held[token.owner] += 1;
    }
    let drawn = distinct(|| {
        let owner = collection.tokens[random.index(collection.tokens.len())].owner;
        Some((owner, body(&account(owner)).to_string()))
    });
    let request = |(owner, body): (usize, String)| Request { body, check: has_rows(held[owner]) };
    drawn.into_iter().map(request).collect()
}

/// A page of what an account holds that holds so much.
fn has_rows(held: usize) -> Check {
    Box::new(move |answer| {
        let rows = answer["balances"].as_array().ok_or_else(|| Error::new("the answer has no balances"))?;
        same(&(rows.len(), answer["page"]["more"] == true), &(held.min(PAGE_SIZE), held > PAGE_SIZE))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{OF_ACCOUNT, OF_CONTRACT, has_rows};
    use crate::trading::TradedCollection;

    #[test]
    fn many_accounts_are_asked_about_and_some_hold_more_than_a_page() {
        let collection = TradedCollection::new(20_000);
        for scenario in [OF_ACCOUNT, OF_CONTRACT] {
            let requests = (scenario.requests)(&collection);
            assert!(requests.len() > 300, "{}", requests.len());
        }
        let check = has_rows(2);
        check(&json!({ "balances": [1, 2], "page": { "more": false } })).unwrap();
        assert!(check(&json!({ "balances": [1], "page": { "more": false } })).is_err());
        assert!(check(&json!({ "balances": [1, 2], "page": { "more": true } })).is_err());
    }
}
