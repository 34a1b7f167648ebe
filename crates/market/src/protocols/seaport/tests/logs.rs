//! What logs state.

use alloy_primitives::U256;
use bourse_wire::{Address, Marketplace, TokenId};
use serde_json::Value;

use super::case;
use crate::facts::{Fact, OrderFilled, Which};
use crate::protocols::native::{Numbers, Revoked, Series};
use crate::protocols::testing::{self, MAKER, log, person, protocol, text, vectors};
use crate::protocols::{Concerns, Decoded};

/// What the logs of one transaction state.
fn decoded(names: &[&str]) -> Vec<Decoded> {
    let protocol = protocol(&case("an order is cancelled"));
    let logs: Vec<(&str, Address)> = names.iter().map(|name| (*name, protocol.contract())).collect();
    testing::decoded(&*protocol, "seaport", &logs)
}

fn filled(token: u64, quantity: u64) -> Decoded {
    let order = OrderFilled {
        marketplace: Marketplace::Opensea,
        which: Which::Id(text(&vectors("seaport")["logs"]["id"]).to_owned()),
        taker: person(0xb0),
        recipient: Address::ZERO,
        token_id: Some(TokenId::from(token)),
        quantity: quantity.into(),
        remaining: None,
    };
    let (concerns, fact) = (Concerns::Collection(person(0xc0)), Fact::OrderFilled(Box::new(order)));
    Decoded { place: 0, concerns, fact }
}

#[test]
fn orders_are_filled() {
    assert_eq!(decoded(&["listingFilled"]), [filled(7, 4)]);
    assert_eq!(decoded(&["offerFilled"]), [filled(77, 1)]);
    assert_eq!(decoded(&["bundleFilled"]), [], "orders for several tokens are not kept");
}

#[test]
fn orders_are_taken_back() {
    let marketplace = Marketplace::Opensea;
    let order_id = text(&vectors("seaport")["logs"]["id"]).to_owned();
    let maker = MAKER.parse().unwrap();
    let contract = protocol(&case("a token for the chain's own currency")).contract();
    let numbers = Numbers::AllBut(U256::MAX - U256::from(5));
    let revoked = Revoked { contract, series: Series::Counter, numbers };
    let concerns = Concerns::EveryCollection;
    assert_eq!(
        decoded(&["cancelled", "bundleFilled", "counter"]),
        [
            Decoded { place: 0, concerns, fact: Fact::OrderCancelled { marketplace, order_id } },
            Decoded { place: 2, concerns, fact: Fact::OrdersRevoked { marketplace, maker, revoked } },
        ]
    );
}

#[test]
fn logs_of_the_name_alone_are_told_apart() {
    let (protocol, vectors) = (protocol(&case("an order is cancelled")), vectors("seaport"));
    let mut cut = vectors["logs"]["listingFilled"].clone();
    let data = text(&cut["data"]);
    cut["data"] = Value::from(&data[..data.len() - 64]);
    let log = log(&cut, protocol.contract());
    let error = protocol.decode(&[&log]).remove(0).unwrap_err();
    assert_eq!((error.index, error.address), (3, protocol.contract()));
    for topic in protocol.topics() {
        let bare = crate::facts::Log { topics: vec![*topic], ..log.clone() };
        assert!(protocol.decode(&[&bare])[0].is_err());
    }
}
