//! Orders, calls and logs that others made; `vectors/README.md` tells how.

pub(crate) mod family;
mod hostile;
mod samples;

use std::sync::Arc;

use alloy_primitives::{B256, Bytes};
use bourse_market::facts::Log;
use bourse_wire::{Address, Amount, BPS_WHOLE, ChainId, Marketplace, ServiceName, TokenId};
use serde_json::{Value, json};

use crate::native::{NativeOrder, OrderFault, Proof, SubmittedOrder};
use crate::venues::known;
use crate::{
    Consent, ConsentOutcome, ConsentSignature, FeeSize, Fill, Plan, Protocol, Refusal, RequestedFee,
    Statement, StoredOrder, Trade,
};

/// Who made all orders of the vectors.
pub(crate) const MAKER: &str = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a";

fn all_vectors() -> Value {
    serde_json::from_str(include_str!("../../vectors/vectors.json")).unwrap()
}

/// The vectors of a family.
pub(crate) fn vectors(family: &str) -> Value {
    all_vectors()[family].clone()
}

/// The families that have cases.
fn families() -> Vec<String> {
    let all = all_vectors();
    let families = all.as_object().unwrap().iter().filter(|(_, family)| family["cases"].is_array());
    families.map(|(name, _)| name.clone()).collect()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// The marketplace of a vector as it is commonly deployed.
pub(crate) fn protocol(case: &Value) -> Arc<dyn Protocol> {
    let chain = ChainId(case["chainId"].as_u64().unwrap());
    let marketplace = Marketplace::parse(text(&case["marketplace"]), &ServiceName::new("bourse")).unwrap();
    let named: Option<Address> = case["contract"].as_str().map(|contract| contract.parse().unwrap());
    let mut known = known(marketplace, chain).into_iter();
    known.find(|known| named.is_none_or(|named| known.contract() == named)).unwrap()
}

/// A marketplace as it is commonly deployed on the first chain, by the contract that new orders are for.
pub(crate) fn newest(marketplace: Marketplace) -> Arc<dyn Protocol> {
    known(marketplace, ChainId(1)).remove(0)
}

/// The cases of a family.
pub(crate) fn cases(family: &str) -> Vec<Value> {
    vectors(family)["cases"].as_array().unwrap().clone()
}

/// A case by its name.
pub(crate) fn case(family: &str, name: &str) -> Value {
    cases(family).into_iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("{name}"))
}

/// The orders of a case, all of which must be taken.
pub(crate) fn admitted(case: &Value) -> Vec<NativeOrder> {
    let protocol = protocol(case);
    let orders = case["orders"].as_array().unwrap().iter();
    orders.map(|order| admit(&*protocol, order).unwrap_or_else(|fault| panic!("{fault}: {case}"))).collect()
}

/// What is kept of an order.
pub(crate) fn stored(order: &NativeOrder) -> StoredOrder<'_> {
    StoredOrder { facts: &order.facts, native: Some(&order.text) }
}

/// An order of a case with one member changed, by its path.
pub(crate) fn changed(case: &Value, path: &str, value: Value) -> Value {
    let mut order = case["orders"][0].clone();
    *order["native"].pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
    order
}

/// Checks that orders have the names and signers that others find, and that what is kept reads the same.
pub(crate) fn check_orders(family: &str) {
    for case in cases(family) {
        let protocol = protocol(&case);
        for (order, vector) in admitted(&case).iter().zip(case["orders"].as_array().unwrap()) {
            let name = text(&case["name"]);
            assert_eq!(order.facts.order_id, text(&vector["id"]), "{name}");
            match case.get("question") {
                Some(data) => {
                    let Proof::Ask(question) = &order.proof else { panic!("{name}") };
                    assert_eq!(question.data.to_string(), text(data), "{name}");
                }
                None => assert_eq!(order.proof, Proof::Signed, "{name}"),
            }
            assert_eq!(order.facts.maker.to_string(), MAKER, "{name}");
            let again: Value = serde_json::from_str(&order.text).unwrap();
            assert_eq!(admit(&*protocol, &json!({ "native": again })).unwrap(), *order, "{name}");
        }
    }
}

/// Checks that calls are those that others make.
pub(crate) fn check_calls(family: &str) {
    for case in cases(family) {
        let (protocol, orders, name) = (protocol(&case), admitted(&case), text(&case["name"]).to_owned());
        if let Some(filling) = case.get("fill") {
            let plan = fill(&*protocol, &orders, filling).unwrap();
            let [call] = plan.calls.as_slice() else { panic!("{name}: {} calls", plan.calls.len()) };
            assert_eq!(call.data.to_string(), text(&filling["data"]), "{name}");
            assert_eq!(call.to.to_string(), text(&filling["to"]), "{name}");
            assert_eq!(call.value.to_string(), text(&filling["value"]), "{name}");
            assert_eq!(call.price.to_string(), text(&filling["price"]), "{name}");
        }
        if let Some(cancel) = case.get("cancel") {
            let call = protocol.cancel(stored(&orders[0])).unwrap();
            assert_eq!(call.data.to_string(), text(&cancel["data"]), "{name}");
            assert_eq!(call.to.to_string(), text(&cancel["to"]), "{name}");
        }
    }
}

/// Checks that names by which contracts know functions and events are as they are published, in hexadecimal.
pub(crate) fn check_names(names: &[(&[u8], &str)]) {
    for (name, published) in names {
        assert_eq!(alloy_primitives::hex::encode(name), *published);
    }
}

/// What logs of a family's vectors state, written in one transaction.
pub(crate) fn decoded(protocol: &dyn Protocol, family: &str, logs: &[(&str, Address)]) -> Vec<Statement> {
    let vectors = vectors(family);
    let logs: Vec<Log> = logs.iter().map(|(name, writer)| log(&vectors["logs"][*name], *writer)).collect();
    let decoded = protocol.decode_logs(&logs.iter().collect::<Vec<_>>());
    decoded.into_iter().map(Result::unwrap).collect()
}

/// An address that ends with a byte.
pub(crate) fn person(last: u8) -> Address {
    let mut bytes = [0; 20];
    bytes[19] = last;
    Address::from_bytes(bytes)
}

/// Puts an order of a vector.
pub(crate) fn admit(protocol: &dyn Protocol, order: &Value) -> Result<NativeOrder, OrderFault> {
    let native = order["native"].as_object().unwrap();
    protocol.read_order(SubmittedOrder { native, signature: order["signature"].as_str() })
}

/// The plan that fills orders as a vector says.
pub(crate) fn fill(
    protocol: &dyn Protocol,
    orders: &[NativeOrder],
    filling: &Value,
) -> Result<Plan, Refusal> {
    fill_with(protocol, orders, filling, &[])
}

/// The same with what a source answered.
pub(crate) fn fill_with(
    protocol: &dyn Protocol,
    orders: &[NativeOrder],
    filling: &Value,
    answers: &[Value],
) -> Result<Plan, Refusal> {
    protocol.fill(&trade(protocol, orders, filling)?, answers)
}

/// A share as vectors write it: up to the whole in basis points, beyond that an amount of the currency.
pub(crate) fn requested(amount: Amount, receiver: Address) -> RequestedFee {
    let size = match u64::try_from(amount.value()) {
        Ok(bps) if bps <= BPS_WHOLE => FeeSize::Bps(bps),
        _ => FeeSize::Units(amount),
    };
    RequestedFee { size, receiver }
}

/// A trade as a vector says.
pub(crate) fn trade<'a>(
    protocol: &dyn Protocol,
    orders: &'a [NativeOrder],
    filling: &Value,
) -> Result<Trade<'a>, Refusal> {
    let mut fills = Vec::new();
    for (place, order) in orders.iter().enumerate() {
        let quantity: Amount = text(&filling["quantities"][place]).parse().unwrap();
        let mut fill = Fill::new(protocol, stored(order), quantity)?;
        let token = filling["tokens"][place].as_str().map(|token| token.parse::<TokenId>().unwrap());
        fill.token_id = token.or(fill.token_id);
        fills.push(fill);
    }
    let fees = filling["fees"].as_array().into_iter().flatten();
    let fees: Vec<RequestedFee> = fees
        .map(|fee| requested(text(&fee["amount"]).parse().unwrap(), text(&fee["receiver"]).parse().unwrap()))
        .collect();
    let taker = text(&filling["taker"]).parse().unwrap();
    let consents = filling["consents"].as_array().into_iter().flatten();
    let consents = consents.map(|given| consent(protocol, taker, given, &filling["now"])).collect();
    Ok(Trade::new(orders[0].collection, fills, &fees, taker)?.with_consents(consents))
}

/// What a taker signed in a vector, which must be their own signature.
fn consent(protocol: &dyn Protocol, taker: Address, given: &Value, now: &Value) -> Consent {
    let (terms, signature) = (given["terms"].as_object().unwrap(), text(&given["signature"]));
    let given = ConsentSignature { taker, terms, signature, now: now.as_u64().unwrap() };
    match protocol.accept_consent(given).unwrap() {
        ConsentOutcome::Given(consent, proof) => {
            assert_eq!(proof, Proof::Signed);
            consent
        }
        ConsentOutcome::AskSource(request) => panic!("{request:?}"),
    }
}

/// A log of a vector, as if a contract wrote it.
pub(crate) fn log(vector: &Value, address: Address) -> Log {
    let topics = vector["topics"].as_array().unwrap();
    Log {
        address,
        topics: topics.iter().map(|topic| text(topic).parse::<B256>().unwrap()).collect(),
        data: text(&vector["data"]).parse::<Bytes>().unwrap(),
        block_number: 7,
        block_hash: B256::repeat_byte(1),
        tx_hash: B256::repeat_byte(2),
        index: 3,
    }
}
