//! The table, the registry, and the choice of a contract.

mod known;

use std::sync::Arc;

use alloy_primitives::{B256, keccak256};
use bourse_wire::{ChainId, Marketplace, ServiceName};
use serde_json::{Value, json};

use super::{Ability, Deployment, Registry, Venue, known, profiles, table};
use crate::native::{Domain, NativeOrder, OrderFault, SubmittedOrder};
use crate::seaport::{Conduit, Seaport};
use crate::testing::{admitted, case, stored, text};

fn venue(marketplace: Marketplace) -> Arc<Venue> {
    Registry::default().venue(ChainId(1), marketplace).unwrap()
}

fn admit(venue: &Venue, order: &Value) -> Result<NativeOrder, OrderFault> {
    let native = order["native"].as_object().unwrap();
    venue.read_order(SubmittedOrder { native, signature: order["signature"].as_str() })
}

#[test]
fn all_marketplaces_are_in_the_table() {
    let numbered = (0..).map_while(Marketplace::from_number).filter(|known| *known != Marketplace::Unknown);
    let profiles = profiles();
    let listed: Vec<Marketplace> = profiles.iter().map(|profile| profile.marketplace).collect();
    assert_eq!(listed, numbered.collect::<Vec<_>>());
    for profile in profiles.iter().filter(|profile| !profile.marketplace.is_own()) {
        assert!(!known(profile.marketplace, ChainId(1)).is_empty(), "{}", profile.protocol);
        assert!(known(profile.marketplace, ChainId(31337)).is_empty(), "{}", profile.protocol);
    }
}

/// What nobody fills in parts is not shown as available in part. Contracts of Blur would fill parts, but its service sells none.
#[test]
fn marketplaces_without_parts_fill_orders_whole() {
    for profile in profiles().iter().filter(|profile| profile.marketplace != Marketplace::Blur) {
        let is_whole = profile.abilities.partial == Ability::No;
        assert_eq!(profile.marketplace.fills_whole(), is_whole, "{}", profile.protocol);
    }
}

/// Whoever sells must let in the marketplaces of which ledgers believe so, and no others.
#[test]
fn sellers_let_in_the_marketplaces_that_have_grants() {
    let granted = keccak256("ApprovalsGranted(address,address[])");
    for marketplace in profiles().iter().map(|profile| profile.marketplace) {
        let venue = venue(marketplace);
        let mut protocols = venue.protocols().iter();
        let reads_grants = protocols.any(|protocol| protocol.log_topics().contains(&granted));
        assert_eq!(marketplace.has_grants(), reads_grants, "{marketplace:?}");
    }
}

#[test]
fn the_documentation_has_the_table() {
    let documented = include_str!("../../../../docs/marketplaces.md");
    let table = table(&ServiceName::new("bourse"));
    assert!(documented.contains(&table), "docs/marketplaces.md must contain:\n{table}");
}

#[test]
fn signatures_tell_which_contract_an_order_is_for() {
    let venue = venue(Marketplace::PaymentProcessor);
    for version in ["2", "2.1"] {
        let case =
            case("payment_processor", &format!("a token for the chain's own currency, version {version}"));
        let order = admit(&venue, &case["orders"][0]).unwrap();
        assert_eq!(order, admitted(&case)[0]);
        assert_eq!(
            venue.protocol_of(stored(&order)).unwrap().contract().to_string(),
            text(&case["contract"])
        );
        let mut unknown = case["orders"][0].clone();
        unknown["native"]["nonce"] = json!("77");
        assert_eq!(admit(&venue, &unknown).unwrap_err(), OrderFault::WhichContract);
        unknown["native"]["protocolAddress"] = case["contract"].clone();
        assert!(admit(&venue, &unknown).is_ok());
        unknown["native"]["protocolAddress"] = json!("0x0000000000000000000000000000000000000001");
        assert!(matches!(admit(&venue, &unknown), Err(OrderFault::Contract { .. })));
    }
}

#[test]
fn one_marketplace_may_speak_two_protocols() {
    let venue = venue(Marketplace::MagicEden);
    let seaport = case("seaport", "a token for the chain's own currency");
    let order = admit(&venue, &seaport["orders"][0]).unwrap();
    assert_eq!(order.facts.marketplace, Marketplace::MagicEden);
    let processor = case("payment_processor", "a token for the chain's own currency, version 2");
    let order = admit(&venue, &processor["orders"][0]).unwrap();
    assert_eq!(order.facts.marketplace, Marketplace::MagicEden);
    // What is wrong with an order is told by the protocol that it is of.
    let mut wrong = seaport["orders"][0].clone();
    wrong["native"]["orderType"] = json!(4);
    assert!(matches!(admit(&venue, &wrong), Err(OrderFault::Kind { member: "orderType", .. })));
}

#[test]
fn every_chain_has_our_own_marketplaces_and_those_that_are_known_there() {
    let registry = Registry::new([(ChainId(1), Vec::new()), (ChainId(5), Vec::new())]);
    let marketplaces = |chain| registry.venues(ChainId(chain)).iter().map(|venue| venue.marketplace());
    assert_eq!(
        marketplaces(1).collect::<Vec<_>>(),
        profiles().iter().map(|of| of.marketplace).collect::<Vec<_>>()
    );
    assert_eq!(marketplaces(5).collect::<Vec<_>>(), [Marketplace::OwnV1, Marketplace::OwnV2]);
    assert_eq!(marketplaces(7).count(), 0, "it is no network here");
    assert!(registry.venue(ChainId(7), Marketplace::OwnV2).is_some());
    assert!(registry.venue(ChainId(8453), Marketplace::Opensea).is_some());
    assert!(registry.venue(ChainId(7), Marketplace::Opensea).is_none());
    assert!(registry.venue(ChainId(1), Marketplace::Unknown).is_none());
}

#[test]
fn settings_name_contracts() {
    let (a, b) = ("0x00000000000000000000000000000000000000a1", "0x00000000000000000000000000000000000000b2");
    let key = format!("0x{}", "07".repeat(32));
    for text in [
        format!("opensea {a}"),
        format!("mintify {a} {key}@{b}"),
        format!("looks_rare {a} {b}"),
        format!("zerox {a}"),
        format!("payment_processor {a} 1"),
        format!("payment_processor {a} 2.1"),
        format!("blur {a} {b}"),
        format!("x2y2 {a} {a} {b}"),
    ] {
        let deployment: Deployment = text.parse().unwrap();
        let marketplace = deployment.marketplace();
        assert!(text.starts_with(&marketplace.word(&ServiceName::new("service"))));
        assert_eq!(deployment.protocol(ChainId(5)).contract().to_string(), a);
        let registry = Registry::new([(ChainId(5), vec![deployment])]);
        let contracts = |chain| {
            registry.venue(ChainId(chain), marketplace).map(|venue| {
                venue.protocols().iter().map(|protocol| protocol.contract().to_string()).collect::<Vec<_>>()
            })
        };
        assert_eq!(contracts(5), Some(vec![a.to_owned()]));
        assert_ne!(contracts(1), Some(vec![a.to_owned()]), "another chain");
    }
    let mintify: Deployment = format!("mintify {a} {key}@{b}").parse().unwrap();
    let expected = Seaport {
        marketplace: Marketplace::Mintify,
        domain: Domain {
            name: "MintifyExchange".into(),
            version: "1.6".into(),
            chain: ChainId(5),
            contract: a.parse().unwrap(),
        },
        conduits: vec![Conduit { key: B256::repeat_byte(7), address: b.parse().unwrap() }],
        signed_zones: Vec::new(),
        api: None,
        fee_recipient: None,
    };
    assert_eq!(format!("{:?}", mintify.protocol(ChainId(5))), format!("{expected:?}"));
    for (text, reason) in [
        ("", "must be the name of a marketplace and its contract, with a space between"),
        ("opensea", "must be the name of a marketplace and its contract, with a space between"),
        ("nowhere 0x1", "`nowhere` is no marketplace of signed orders"),
        ("service_marketplace_v2 0x1", "`service_marketplace_v2` is no marketplace of signed orders"),
        ("zerox 0x1", "`0x1` is not an address: expected 0x and 40 hexadecimal digits"),
        ("zerox 0x0000000000000000000000000000000000000000", "must be a contract, not the zero address"),
        (&format!("looks_rare {a}"), "looks_rare needs the contract that moves tokens"),
        (&format!("payment_processor {a} 3"), "payment_processor needs its version, 1, 2 or 2.1"),
        (&format!("zerox {a} {b}"), &format!("nothing is known to follow the contract: `{b}`")),
        (&format!("opensea {a} {b}"), &format!("`{b}` is no conduit: it must be KEY@ADDRESS")),
    ] {
        assert_eq!(text.parse::<Deployment>().unwrap_err(), reason);
    }
}
