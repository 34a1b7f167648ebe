//! The table, the addresses, and the choice of a contract.

use bourse_wire::{ChainId, Marketplace, ServiceName};
use serde_json::{Value, json};

use super::{Floor, Kind, VENUES, configured, deployments, table};
use crate::native::{Admitted, Submitted, Unfit};
use crate::testing::{admitted, case, kept, text};

fn floor(marketplace: Marketplace) -> Floor {
    let chain = ChainId(1);
    Floor::new(marketplace, chain, &deployments(marketplace, chain)).unwrap()
}

fn admit(floor: &Floor, order: &Value) -> Result<Admitted, Unfit> {
    let native = order["native"].as_object().unwrap();
    floor.admit(Submitted { native, signature: order["signature"].as_str() })
}

#[test]
fn all_marketplaces_are_in_the_table() {
    let known = (0..).map_while(Marketplace::from_number).filter(|known| *known != Marketplace::Unknown);
    assert_eq!(VENUES.map(|venue| venue.marketplace).to_vec(), known.collect::<Vec<_>>());
    for venue in VENUES.iter().filter(|venue| !venue.marketplace.is_own()) {
        assert!(!deployments(venue.marketplace, ChainId(1)).is_empty(), "{}", venue.protocol);
        assert!(deployments(venue.marketplace, ChainId(31337)).is_empty(), "{}", venue.protocol);
    }
}

#[test]
fn the_documentation_has_the_table() {
    let documented = include_str!("../../../../docs/marketplaces.md");
    let table = table(&ServiceName::new("bourse"));
    assert!(documented.contains(&table), "docs/marketplaces.md must contain:\n{table}");
}

#[test]
fn conduits_are_where_they_are_known_to_be() {
    let addresses = |marketplace| {
        let protocols = deployments(marketplace, ChainId(1));
        let Kind::Seaport { conduits, .. } = &protocols[0].kind else { panic!("{marketplace:?}") };
        conduits.iter().map(|conduit| conduit.address.to_string()).collect::<Vec<_>>()
    };
    let opensea =
        ["0x1e0049783f008a0085193e00003d00cd54003c71", "0x963f00d3ff000064ffcba824b800c0000000c300"];
    assert_eq!(addresses(Marketplace::Opensea), opensea);
    assert_eq!(addresses(Marketplace::MagicEden), ["0x2052f8a2ff46283b30084e5d84c89a2fdbe7f74b"]);
}

#[test]
fn signatures_tell_which_contract_an_order_is_for() {
    let floor = floor(Marketplace::PaymentProcessor);
    for version in ["2", "2.1"] {
        let case =
            case("payment_processor", &format!("a token for the chain's own currency, version {version}"));
        let order = admit(&floor, &case["orders"][0]).unwrap();
        assert_eq!(order, admitted(&case)[0]);
        assert_eq!(floor.protocol_of(kept(&order)).unwrap().contract().to_string(), text(&case["contract"]));
        let mut unknown = case["orders"][0].clone();
        unknown["native"]["nonce"] = json!("77");
        assert_eq!(admit(&floor, &unknown).unwrap_err(), Unfit::WhichContract);
        unknown["native"]["protocolAddress"] = case["contract"].clone();
        assert!(admit(&floor, &unknown).is_ok());
        unknown["native"]["protocolAddress"] = json!("0x0000000000000000000000000000000000000001");
        assert!(matches!(admit(&floor, &unknown), Err(Unfit::Contract { .. })));
    }
}

#[test]
fn one_marketplace_may_speak_two_protocols() {
    let floor = floor(Marketplace::MagicEden);
    let seaport = case("seaport", "a token for the chain's own currency");
    let order = admit(&floor, &seaport["orders"][0]).unwrap();
    assert_eq!(order.facts.marketplace, Marketplace::MagicEden);
    let processor = case("payment_processor", "a token for the chain's own currency, version 2");
    let order = admit(&floor, &processor["orders"][0]).unwrap();
    assert_eq!(order.facts.marketplace, Marketplace::MagicEden);
    // What is wrong with an order is told by the protocol that it is of.
    let mut wrong = seaport["orders"][0].clone();
    wrong["native"]["orderType"] = json!(4);
    assert!(matches!(admit(&floor, &wrong), Err(Unfit::Kind { member: "orderType", .. })));
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
        let (marketplace, deployment) = configured(&text).unwrap();
        assert!(text.starts_with(&marketplace.word(&ServiceName::new("service"))));
        assert_eq!(deployment.contract.to_string(), a);
        assert_eq!(deployment.protocol(marketplace, ChainId(5)).contract().to_string(), a);
    }
    let (_, mintify) = configured(&format!("mintify {a} {key}@{b}")).unwrap();
    let Kind::Seaport { conduits, signed_for, .. } = mintify.kind else { panic!("Seaport") };
    assert_eq!((conduits[0].address.to_string().as_str(), signed_for), (b, ("MintifyExchange", "1.6")));
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
        assert_eq!(configured(text).unwrap_err(), reason);
    }
}
