//! What the importer and the people who try the demo rely on.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use bourse_protocols::native::{Proof, SubmittedOrder};
use bourse_protocols::venues::Registry;
use bourse_wire::{Address, ChainId, Marketplace, OrderFacts, OrderSide, ServiceName};
use serde_json::Value;

use super::holdings::WALLETS;
use super::orders::{LISTINGS, OFFERS, STALE_EVERY};
use super::people::wallet;
use super::{AUDIENCE_NAME, CHAIN_ID, CONTRACTS, DemoContext, RELICS_ADDRESS, hosted, lines};

const ORDER_FIELDS: [&str; 26] = [
    "orderId",
    "marketplace",
    "source",
    "side",
    "status",
    "chainId",
    "originName",
    "collectionContractAddress",
    "tokenId",
    "createdBy",
    "priceAmount",
    "priceCurrencyAddress",
    "priceDecimals",
    "quantityInitial",
    "quantityRemaining",
    "quantityDecimals",
    "feeBps",
    "feeBreakdown",
    "validFrom",
    "validUntil",
    "blockNumber",
    "orderCreatedAt",
    "orderUpdatedAt",
    "createdAt",
    "updatedAt",
    "type",
];

/// Generated once: the tests only read it.
static RECORDS: LazyLock<Vec<Value>> = LazyLock::new(|| lines(&context()).collect());

fn context() -> DemoContext {
    DemoContext {
        project_id: 7,
        now_unix: 1_790_000_000,
        own_marketplace_v1: "bourse_marketplace_v1".to_owned(),
        own_marketplace_v2: "bourse_marketplace_v2".to_owned(),
        registry: registry(),
    }
}

fn registry() -> Registry {
    Registry::new([(ChainId(CHAIN_ID), Vec::new())])
}

/// Orders by what they are.
fn stated() -> Vec<&'static Value> {
    of_type("order").into_iter().filter(|order| order.get("native").is_none()).collect()
}

/// What signed orders are, once it is seen that their makers signed them.
fn signed() -> Vec<(Address, OrderFacts)> {
    let read = |order: &&Value| {
        let native = order.get("native")?.as_object()?;
        let marketplace =
            Marketplace::parse(text(order, "marketplace"), &ServiceName::new("bourse")).unwrap();
        let venue = registry().venue(ChainId(CHAIN_ID), marketplace).unwrap();
        let submitted = SubmittedOrder { native, signature: Some(text(order, "signature")) };
        let admitted = venue.read_order(submitted).unwrap();
        assert_eq!(admitted.proof, Proof::Signed, "{order}");
        Some((admitted.collection, admitted.facts))
    };
    of_type("order").iter().filter_map(read).collect()
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap()
}

fn of_type(kind: &str) -> Vec<&'static Value> {
    RECORDS.iter().filter(|record| record["type"] == kind).collect()
}

fn fields(record: &Value) -> &'static [&'static str] {
    match text(record, "type") {
        "currency" => &["chainId", "contractAddress", "name", "symbol", "decimals"],
        "contract" => {
            &["chainId", "address", "contractType", "name", "logoURI", "bytecodeHash", "extensions"]
        }
        "token" => {
            &["contractAddress", "tokenId", "name", "description", "image", "properties", "attributes"]
        }
        "balance" => &["chainId", "contractAddress", "tokenId", "account", "balance"],
        "order" if record.get("native").is_some() => &["chainId", "marketplace", "native", "signature"],
        "order" => &ORDER_FIELDS,
        "event" => &["projectId", "wallet", "kind", "at", "id"],
        "usage" => &["projectId", "service", "day", "units", "id"],
        "audience" => &["projectId", "name", "contacts", "contracts"],
        other => panic!("unknown record type {other}"),
    }
}

#[test]
fn equal_contexts_give_equal_lines() {
    assert!(lines(&context()).eq(RECORDS.iter().cloned()));
    assert_eq!(hosted(), hosted());
}

#[test]
fn every_line_has_the_fields_of_its_type() {
    let mut count = 0;
    let mut images = 0;
    for record in RECORDS.iter() {
        count += 1;
        for field in fields(record) {
            assert!(record.get(field).is_some(), "{field} is missing in {record}");
        }
        if let Some(image) = record.get("image").and_then(Value::as_str) {
            images += 1;
            assert!((500..=1200).contains(&image.len()), "{} bytes in {record}", image.len());
            assert!(
                image.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>#\"".contains(&byte)),
                "{image}"
            );
        }
    }
    assert!(images > 2_000, "{images} tokens");
    assert!((15_000..60_000).contains(&count), "{count} lines");
}

#[test]
fn tokens_are_distinct_and_some_ids_are_huge() {
    let tokens = of_type("token");
    let ids: HashSet<_> =
        tokens.iter().map(|token| (text(token, "contractAddress"), text(token, "tokenId"))).collect();
    assert_eq!(ids.len(), tokens.len());
    assert_eq!(ids.iter().filter(|(_, id)| id.len() > 15).count(), 6);
}

#[test]
fn orders_name_known_tokens_and_their_fees_add_up() {
    let tokens: HashSet<_> = of_type("token")
        .iter()
        .map(|token| (text(token, "contractAddress"), text(token, "tokenId")))
        .collect();
    assert_eq!(of_type("order").len() as u64, LISTINGS + OFFERS);
    let mut order_ids = HashSet::new();
    let mut marketplaces = HashSet::new();
    let mut currencies = HashSet::new();
    for order in stated() {
        assert!(
            tokens.contains(&(text(order, "collectionContractAddress"), text(order, "tokenId"))),
            "{order}"
        );
        let fees = order["feeBreakdown"].as_array().unwrap();
        let sum: u64 = fees.iter().map(|fee| fee["bps"].as_u64().unwrap()).sum();
        assert_eq!(order["feeBps"], sum);
        let own = text(order, "marketplace").starts_with("bourse");
        assert!(own || order["status"] != "active", "what is not signed cannot be bought: {order}");
        let (id, hex) = (text(order, "orderId"), text(order, "orderId").starts_with("0x"));
        assert!(if own { id.parse::<u64>().is_ok() } else { hex && id.len() == 66 }, "{id}");
        assert!(order_ids.insert((text(order, "marketplace"), id)), "{id} twice");
        let (until, now) = (text(order, "validUntil"), "2026-09-21T14:13:20Z");
        assert_eq!(until <= now, order["status"] == "expired", "{order}");
        assert!(text(order, "validFrom") <= now && text(order, "updatedAt") <= now);
        marketplaces.insert(text(order, "marketplace"));
        currencies.insert(text(order, "priceCurrencyAddress"));
    }
    assert_eq!((marketplaces.len(), currencies.len()), (4, 5));
}

#[test]
fn orders_of_others_are_signed_by_who_makes_them() {
    let tokens: HashSet<_> = of_type("token")
        .iter()
        .map(|token| (text(token, "contractAddress"), text(token, "tokenId")))
        .collect();
    let orders = signed();
    assert!(orders.len() > 300, "{}", orders.len());
    let makers: HashSet<String> = (0..WALLETS).map(wallet).collect();
    let mut ids = HashSet::new();
    for (collection, order) in orders {
        let token = order.token_id.unwrap().to_string();
        assert!(tokens.contains(&(collection.to_string().as_str(), token.as_str())), "{order:?}");
        assert!(makers.contains(&order.maker.to_string()), "{order:?}");
        assert!(order.fee_bps >= 500 && order.valid_from < order.valid_until, "{order:?}");
        assert!(ids.insert(order.order_id));
    }
}

#[test]
fn makers_of_listings_hold_what_they_sell_but_for_the_stale_ones() {
    let balances: HashMap<_, u64> = of_type("balance")
        .iter()
        .map(|held| {
            let key = (text(held, "contractAddress"), text(held, "tokenId"), text(held, "account"));
            (key, text(held, "balance").parse().unwrap())
        })
        .collect();
    let holds = |collection: &str, token: &str, maker: &str, remaining: u64| {
        balances.get(&(collection, token, maker)).copied().unwrap_or(0) >= remaining
    };
    let stale = stated().into_iter().filter(|order| order["side"] == "listing").filter(|order| {
        let remaining = text(order, "quantityRemaining").parse().unwrap();
        let (collection, token) = (text(order, "collectionContractAddress"), text(order, "tokenId"));
        !holds(collection, token, text(order, "createdBy"), remaining)
    });
    let of_others = signed().into_iter().filter(|(_, order)| order.side == OrderSide::Listing);
    let stale_of_others = of_others.filter(|(collection, order)| {
        let (token, maker) = (order.token_id.unwrap().to_string(), order.maker.to_string());
        !holds(&collection.to_string(), &token, &maker, order.quantity_remaining.value().to())
    });
    assert_eq!((stale.count() + stale_of_others.count()) as u64, LISTINGS / STALE_EVERY);
}

#[test]
fn activity_ends_now_and_keeps_its_wallets() {
    let events = of_type("event");
    assert!((10_000..14_000).contains(&events.len()), "{} events", events.len());
    assert!(events.is_sorted_by_key(|event| text(event, "at")));
    assert!(events.iter().all(|event| text(event, "at") <= "2026-09-21T14:13:20Z"));
    let usage = of_type("usage");
    assert_eq!(usage.len(), 450);
    assert_eq!(text(usage[449], "day"), "2026-09-21");
    let ids: HashSet<_> = events.iter().chain(&usage).map(|record| text(record, "id")).collect();
    assert_eq!(ids.len(), events.len() + usage.len());
}

#[test]
fn both_collections_and_the_guest_list_are_there() {
    let contracts = of_type("contract");
    for (contract, (address, kind)) in contracts.iter().zip(CONTRACTS) {
        assert_eq!((text(contract, "address"), text(contract, "contractType")), (address, kind));
        assert_eq!(contract["chainId"], CHAIN_ID);
    }
    assert_eq!((contracts.len(), CONTRACTS[0].0), (2, RELICS_ADDRESS));
    let audiences = of_type("audience");
    assert_eq!(text(audiences[0], "name"), AUDIENCE_NAME);
    assert_eq!(audiences[0]["contacts"].as_array().map(Vec::len), Some(25));
    assert_eq!(audiences.len(), 2);
}

#[test]
fn hosted_files_belong_to_tokens_without_an_image() {
    let collection = hosted();
    assert_eq!((collection.tokens.len(), collection.assets.len()), (12, 3));
    for (index, token) in collection.tokens.iter().enumerate() {
        assert_eq!(token["tokenId"], (index + 1).to_string());
        let files = collection.assets.iter().filter(|asset| token["tokenId"] == asset.token_id).count();
        assert_eq!(token.get("image").is_none(), files == 1);
    }
    assert!(collection.assets[2].bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
}
