//! The calls.

use serde_json::{Value, json};

/// Projects that host something. What one of them writes waits for what it wrote before, so there are several.
pub(super) const PROJECTS: u64 = 8;
/// Tokens that each of them hosts, and contacts of its audience.
pub(super) const TOKENS: u64 = 500;
pub(super) const CONTACTS: u64 = 10;

/// Contracts that something is stated of, for the same reason.
const CONTRACTS: u64 = 16;
/// Tokens and orders of each that are stated again and again.
const STATED: u64 = 1_000;
const BATCH: u64 = 100;

/// One kind of call.
pub(super) struct Kind {
    /// What it is called in the report.
    pub(super) name: &'static str,
    pub(super) path: &'static str,
    /// The body of the call of this number. No two write the same.
    pub(super) body: fn(u64) -> Value,
    /// Whether the first project calls, which may state what it likes, or all in turns.
    pub(super) is_of_market: bool,
}

pub(super) const KINDS: &[Kind] = &[
    Kind { name: "PutTokens of 1", path: "/rpc/Ingest/PutTokens", body: put_token, is_of_market: true },
    Kind { name: "PutTokens of 100", path: "/rpc/Ingest/PutTokens", body: put_tokens, is_of_market: true },
    Kind { name: "PutOrders of 100", path: "/rpc/Ingest/PutOrders", body: put_orders, is_of_market: true },
    Kind { name: "TrackEvents of 100", path: "/rpc/Ingest/TrackEvents", body: track, is_of_market: false },
    Kind { name: "GetToken", path: "/rpc/Collections/GetToken", body: get_token, is_of_market: false },
    Kind {
        name: "CreateToken",
        path: "/rpc/Collections/CreateToken",
        body: create_token,
        is_of_market: false,
    },
    Kind { name: "GetAudience", path: "/rpc/Builder/GetAudience", body: get_audience, is_of_market: false },
];

fn put_token(number: u64) -> Value {
    json!({ "tokens": [token(number, number)] })
}

fn put_tokens(number: u64) -> Value {
    let tokens = (0..BATCH).map(|place| token(number, number * BATCH / CONTRACTS + place));
    json!({ "tokens": tokens.collect::<Vec<_>>() })
}

fn token(number: u64, place: u64) -> Value {
    json!({
        "chainId": 137,
        "contractAddress": contract(number),
        "tokenId": (place % STATED).to_string(),
        "name": format!("Relic {place}, stated {number}"),
        "attributes": [{ "trait_type": "Rarity", "value": "rare" }, { "trait_type": "Level", "value": number % 90 }],
    })
}

fn put_orders(number: u64) -> Value {
    let orders = (0..BATCH).map(|place| order(number, (number * BATCH / CONTRACTS + place) % STATED));
    json!({ "orders": orders.collect::<Vec<_>>() })
}

fn order(number: u64, place: u64) -> Value {
    let made = "2025-01-01T00:00:00Z";
    json!({
        "orderId": format!("order-{}-{place}", number % CONTRACTS),
        "marketplace": "opensea",
        "side": "listing",
        "status": "active",
        "chainId": 137,
        "collectionContractAddress": contract(number),
        "tokenId": place.to_string(),
        "createdBy": account(place),
        "priceAmount": (1_000_000 + number).to_string(),
        "priceCurrencyAddress": account(0),
        "quantityInitial": "1",
        "quantityRemaining": "1",
        "feeBps": 0,
        "feeBreakdown": [],
        "validFrom": made,
        "validUntil": "2095-01-01T00:00:00Z",
        "blockNumber": 66_000_000,
        "orderCreatedAt": made,
        "orderUpdatedAt": made,
        "createdAt": made,
        "updatedAt": made,
    })
}

fn track(number: u64) -> Value {
    let event = |place: u64| {
        json!({
            "id": format!("event-{number}-{place}"),
            "wallet": account(number * BATCH + place),
            "kind": "session",
            "at": format!("2025-03-{:02}T10:00:00Z", number % 28 + 1),
        })
    };
    json!({ "batchId": format!("batch-{number}"), "events": (0..BATCH).map(event).collect::<Vec<_>>() })
}

fn get_token(number: u64) -> Value {
    json!({ "collectionId": number % PROJECTS + 1, "tokenId": (number / PROJECTS % TOKENS).to_string() })
}

/// A token that a collection does not have yet.
pub(super) fn create_token(number: u64) -> Value {
    hosted_token(number % PROJECTS, TOKENS + number / PROJECTS)
}

/// One that it is to have from the beginning.
pub(super) fn hosted_token(project: u64, place: u64) -> Value {
    let token = json!({ "tokenId": place.to_string(), "name": format!("Relic {place}"), "description": "Found in the hills." });
    json!({ "collectionId": project + 1, "token": token })
}

fn get_audience(number: u64) -> Value {
    json!({ "audienceId": number % PROJECTS + 1 })
}

fn contract(number: u64) -> String {
    account(0xc0_0000 + number % CONTRACTS)
}

/// An address.
pub(super) fn account(number: u64) -> String {
    format!("0x{number:040x}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{KINDS, account};

    #[test]
    fn no_two_calls_write_the_same() {
        for kind in KINDS.iter().filter(|kind| !kind.name.starts_with("Get")) {
            let bodies: HashSet<String> = (0..5_000).map(|number| (kind.body)(number).to_string()).collect();
            assert_eq!(bodies.len(), 5_000, "{}", kind.name);
        }
    }

    #[test]
    fn a_batch_names_everything_once() {
        for number in 0..500 {
            for (place, list) in
                [("tokens", super::put_tokens(number)), ("orders", super::put_orders(number))]
            {
                let list = list[place].as_array().unwrap();
                let ids: HashSet<String> = list.iter().map(|record| record["tokenId"].to_string()).collect();
                assert_eq!(ids.len(), 100);
            }
        }
    }

    #[test]
    fn accounts_are_addresses() {
        assert_eq!(account(255), "0x00000000000000000000000000000000000000ff");
    }
}
