//! How records are read, without a store.

use serde_json::{Value, json};

use super::*;
use bourse_wire::{JsonObject, OrderStatus};

const ADDRESS: &str = "0x1111111111111111111111111111111111111111";

fn with_reader<T>(chains: Chains, read: impl FnOnce(&Reader<'_>) -> T) -> T {
    let (service, networks) = (ServiceName::new("bourse"), Networks::default());
    let (registry, now) = (networks.registry(), Timestamp::ZERO);
    read(&Reader { service: &service, networks: &networks, registry: &registry, chains, now })
}

fn members(value: Value) -> JsonObject {
    let Value::Object(members) = value else { panic!("{value} is no object") };
    members
}

fn order(change: Value) -> Result<bourse_wire::OrderFacts, Rejection> {
    let mut order =
        members(json!({ "orderId": "1", "marketplace": "opensea", "side": "listing", "chainId": 1,
        "collectionContractAddress": ADDRESS, "tokenId": "1", "createdBy": ADDRESS, "priceAmount": "1",
        "priceCurrencyAddress": ADDRESS, "validUntil": "2030-01-01T00:00:00Z" }));
    order.extend(members(change));
    with_reader(Chains::Named, |reader| reader.order(order)).map(|(_, facts)| facts)
}

#[test]
fn the_chain_of_a_record_is_its_own_or_the_requests_or_missing() {
    let chain = |chains, named: Option<&str>| {
        let named = named.map(|text| text.parse().unwrap());
        with_reader(chains, |reader| reader.chain(named.as_ref())).map_err(|rejection| rejection.reason)
    };
    let (polygon, mainnet) = (ChainId(137), ChainId(1));
    assert_eq!(chain(Chains::Named, Some("polygon")), Ok(polygon));
    assert_eq!(chain(Chains::Named, None), Err(Reason::InvalidFormat));
    assert_eq!(chain(Chains::Usually(mainnet), Some("137")), Ok(polygon));
    assert_eq!(chain(Chains::Usually(mainnet), None), Ok(mainnet));
    assert_eq!(chain(Chains::Only(polygon), Some("polygon")), Ok(polygon));
    assert_eq!(chain(Chains::Only(polygon), None), Ok(polygon));
    assert_eq!(chain(Chains::Only(mainnet), Some("polygon")), Err(Reason::WrongChain));
    assert_eq!(chain(Chains::Only(mainnet), Some("nowhere")), Err(Reason::UnknownChain));
}

#[test]
fn every_refusal_of_an_order_has_its_reason() {
    let reason = |change| order(change).unwrap_err().reason;
    let fee = |bps: i64| json!([{ "kind": "royalty", "recipientAddress": ADDRESS, "bps": bps }]);
    assert_eq!(reason(json!({ "marketplace": "Opensea" })), Reason::UnknownMarketplace);
    assert_eq!(reason(json!({ "priceAmount": "0" })), Reason::ZeroPrice);
    assert_eq!(reason(json!({ "priceAmount": "0", "side": "offer" })), Reason::ZeroPrice);
    assert_eq!(reason(json!({ "priceAmount": "-1" })), Reason::InvalidFormat);
    assert_eq!(reason(json!({ "validFrom": "2030-01-01T00:00:01Z" })), Reason::InvalidStartTime);
    assert_eq!(reason(json!({ "feeBps": 10_001 })), Reason::FeesTooHigh);
    assert_eq!(reason(json!({ "feeBps": -1 })), Reason::InvalidFormat);
    assert_eq!(reason(json!({ "feeBreakdown": fee(10_001) })), Reason::FeesTooHigh);
    assert_eq!(reason(json!({ "feeBreakdown": fee(-1) })), Reason::InvalidFormat);
    assert_eq!(reason(json!({ "side": "unknown" })), Reason::InvalidFormat);
    assert_eq!(reason(json!({ "tokenId": null })), Reason::InvalidFormat);
    assert_eq!(reason(json!({ "chainId": null })), Reason::InvalidFormat);
    assert_eq!(reason(json!({ "chainId": "nowhere" })), Reason::UnknownChain);
    assert_eq!(reason(json!({ "quantityRemaining": "2" })), Reason::InvalidFormat);
}

#[test]
fn history_and_orders_without_an_end_are_read() {
    let over = order(json!({ "validUntil": "2020-01-01T00:00:00Z", "status": "active" })).unwrap();
    assert_eq!(over.status, OrderStatus::Active);
    for (from, until) in
        [("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"), ("2030-01-01T00:00:00Z", "0001-01-01T00:00:00Z")]
    {
        order(json!({ "validFrom": from, "validUntil": until })).unwrap();
    }
}

#[test]
fn a_refusal_names_its_member() {
    let message = |change| order(change).unwrap_err().message;
    assert_eq!(message(json!({ "priceAmount": "0" })), "priceAmount: must not be zero");
    assert_eq!(
        message(json!({ "createdBy": {} })),
        "createdBy: expected account or contract address, found an object"
    );
    assert_eq!(message(json!({ "orderId": null })), "orderId: is required");
    let token = json!({ "chainId": 1, "contractAddress": ADDRESS, "name": "no id" });
    let rejected = with_reader(Chains::Named, |reader| reader.token(members(token))).unwrap_err();
    assert_eq!(rejected, Rejection::invalid("tokenId", "is required"));
    let token = json!({ "chainId": [], "contractAddress": ADDRESS, "tokenId": "1" });
    let rejected = with_reader(Chains::Named, |reader| reader.token(members(token))).unwrap_err();
    assert_eq!(rejected.message, "chainId: expected chain, by number or by name, found an array");
}

#[test]
fn currencies_have_no_more_decimals_than_amounts_hold() {
    let read = |decimals: u8| {
        let currency = json!({ "chainId": 1, "contractAddress": ADDRESS, "name": "Coin", "symbol": "COIN",
            "decimals": decimals });
        with_reader(Chains::Named, |reader| reader.currency(members(currency)))
    };
    assert_eq!(read(77).unwrap().decimals, 77);
    assert_eq!(read(78).unwrap_err().message, "decimals: 78 where at most 77 are allowed");
}

#[test]
fn a_record_larger_than_a_record_may_be_is_too_large() {
    let text = "x".repeat(200_000);
    let token = json!({ "chainId": 1, "contractAddress": ADDRESS, "tokenId": "1", "image": text, "video": text,
        "audio": text });
    let (_, token) = with_reader(Chains::Named, |reader| reader.token(members(token))).unwrap();
    assert_eq!(token_change(&token, true).unwrap_err().reason, Reason::TooLarge);
}
