//! What logs state.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolCall as _;
use bourse_market::facts::{Fact, OrderFilled, OrderRef};
use bourse_market::{Numbers, Revoked, Series};
use bourse_wire::{Address, Marketplace, TokenId};
use serde_json::{Value, json};

use super::case;
use crate::native::{NativeOrder, Proof};
use crate::seaport::abi::fulfillAdvancedOrderCall;
use crate::testing::{self, MAKER, admit, admitted, fill, log, newest, person, protocol, text, vectors};
use crate::{Scope, Statement};

/// What the logs of one transaction state.
fn decoded(names: &[&str]) -> Vec<Statement> {
    let protocol = protocol(&case("an order is cancelled"));
    let logs: Vec<(&str, Address)> = names.iter().map(|name| (*name, protocol.contract())).collect();
    testing::decoded(&*protocol, "seaport", &logs)
}

fn filled(token: u64, quantity: u64) -> Statement {
    let order = OrderFilled {
        marketplace: Marketplace::Opensea,
        order_ref: OrderRef::Id(text(&vectors("seaport")["logs"]["id"]).to_owned()),
        taker: person(0xb0),
        recipient: Address::ZERO,
        token_id: Some(TokenId::from(token)),
        quantity: quantity.into(),
        remaining: None,
    };
    let (concerns, fact) = (Scope::Collection(person(0xc0)), Fact::OrderFilled(Box::new(order)));
    Statement { log: 0, scope: concerns, fact }
}

#[test]
fn orders_are_filled() {
    assert_eq!(decoded(&["listingFilled"]), [filled(7, 4)]);
    assert_eq!(decoded(&["offerFilled"]), [filled(77, 1)]);
    assert_eq!(decoded(&["bundleFilled"]), [], "orders for several tokens are not kept");
}

const THROUGH_A_CONDUIT: &str = "four of ten units, with a fee that is scaled";

#[test]
fn orders_that_their_makers_publish_need_no_signature() {
    let case = case(THROUGH_A_CONDUIT);
    let put = admitted(&case).remove(0);
    let [Statement { scope: concerns, fact: Fact::OrderPublished(order), .. }] = &decoded(&["validated"])[..]
    else {
        panic!("nothing was published")
    };
    assert_eq!(*concerns, Scope::Collection(put.collection));
    assert_eq!((&order.facts, &order.nonces), (&put.facts, &put.nonces));
    let published = NativeOrder { text: order.native.clone(), ..put };
    let opensea = protocol(&case);
    let call = fill(&*opensea, &[published], &case["fill"]).unwrap().calls.remove(0);
    let mut expected =
        fulfillAdvancedOrderCall::abi_decode(&text(&case["fill"]["data"]).parse::<Bytes>().unwrap()).unwrap();
    expected.advancedOrder.signature = Bytes::new();
    assert_eq!(call.data, Bytes::from(expected.abi_encode()));
}

#[test]
fn an_order_of_a_counter_that_moved_is_published_once_the_chain_tells_the_counter() {
    let case = case("a token for a currency, through the conduit");
    let (put, opensea) = (admitted(&case).remove(0), protocol(&case));
    let log = testing::log(&vectors("seaport")["logs"]["validatedLater"], opensea.contract());
    let question = opensea.log_question(&log).unwrap();
    assert_eq!((question.collection, question.inquiry.to), (put.collection, opensea.contract()));
    let answered = |counter: u64| {
        let answer = Bytes::from(U256::from(counter).to_be_bytes::<32>());
        opensea.answered_log(&log, &[Some(answer)])
    };
    let Some(Fact::OrderPublished(order)) = answered(7) else { panic!("nothing was published") };
    assert_eq!((&order.facts, &order.nonces), (&put.facts, &put.nonces));
    assert_eq!(answered(8), None, "its maker has gone on, and it is over");
    assert_eq!(opensea.answered_log(&log, &[None]), None);
    let certain = testing::log(&vectors("seaport")["logs"]["validated"], opensea.contract());
    assert_eq!(opensea.log_question(&certain), None, "nobody is asked for what the log tells");
}

#[test]
fn what_was_published_is_told_only_where_it_is_certain() {
    assert_eq!(decoded(&["validatedLater"]), [], "it is for a counter that the log does not tell");
    let magic_eden = newest(Marketplace::MagicEden);
    let logs = [("validated", magic_eden.contract())];
    assert_eq!(testing::decoded(&*magic_eden, "seaport", &logs), [], "the conduit is of another marketplace");
    // Nobody is believed who only says so.
    let mut order = case(THROUGH_A_CONDUIT)["orders"][0].clone();
    order["native"]["isPublished"] = json!(true);
    order["signature"] = json!(null);
    assert_eq!(admit(&*protocol(&case(THROUGH_A_CONDUIT)), &order).unwrap().proof, Proof::Held);
    order["signature"] = case(THROUGH_A_CONDUIT)["orders"][0]["signature"].clone();
    assert_eq!(
        admit(&*protocol(&case(THROUGH_A_CONDUIT)), &order).unwrap(),
        admitted(&case(THROUGH_A_CONDUIT)).remove(0)
    );
}

#[test]
fn orders_are_taken_back() {
    let marketplace = Marketplace::Opensea;
    let order_id = text(&vectors("seaport")["logs"]["id"]).to_owned();
    let maker = MAKER.parse().unwrap();
    let contract = protocol(&case("a token for the chain's own currency")).contract();
    let numbers = Numbers::Below(U256::MAX - U256::from(5));
    let revoked = Revoked { contract, series: Series::Counter, numbers };
    let concerns = Scope::EveryCollection;
    assert_eq!(
        decoded(&["cancelled", "bundleFilled", "counter"]),
        [
            Statement { log: 0, scope: concerns, fact: Fact::OrderCancelled { marketplace, order_id } },
            Statement { log: 2, scope: concerns, fact: Fact::OrdersRevoked { marketplace, maker, revoked } },
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
    let error = protocol.decode_logs(&[&log]).remove(0).unwrap_err();
    assert_eq!((error.index, error.address), (3, protocol.contract()));
    for topic in protocol.log_topics() {
        let bare = bourse_market::facts::Log { topics: vec![*topic], ..log.clone() };
        assert!(protocol.decode_logs(&[&bare])[0].is_err());
    }
}
