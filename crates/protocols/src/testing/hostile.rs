//! Orders of all families with something wrong in them: refused by name, or taken for what they say, and never a panic.

use alloy_primitives::U256;
use bourse_wire::{Amount, TokenId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::samples::{Sample, samples};
use super::{admit, person, requested, stored};
use crate::native::{NativeOrder, Proof};
use crate::{Consent, ConsentAnswers, Fill, Protocol, Trade};

/// The paths to everything inside of a value, outer before inner.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut inside = |name: String, inner: &Value| {
        let path = format!("{path}/{name}");
        found.push(path.clone());
        paths(inner, &path, found);
    };
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                inside(name.clone(), inner);
            }
        }
        Value::Array(items) => {
            for (place, inner) in items.iter().enumerate() {
                inside(place.to_string(), inner);
            }
        }
        _ => {}
    }
}

fn paths_of(sample: &Sample) -> Vec<String> {
    let mut found = Vec::new();
    paths(&sample.order["native"], "", &mut found);
    found
}

fn changed(sample: &Sample, path: &str, value: Value) -> Value {
    let mut order = sample.order.clone();
    // An outer change may have taken an inner member away.
    if let Some(member) = order["native"].pointer_mut(path) {
        *member = value;
    }
    order
}

/// Something inside of so many lists.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

/// What cannot stand where a value does.
fn wrong_types(value: &Value) -> Vec<Value> {
    let wrong = match value {
        Value::Array(_) => vec![json!("text"), json!(5), json!(true), json!({})],
        Value::Object(_) => vec![json!("text"), json!(5), json!(true), json!([])],
        Value::Bool(_) => vec![json!("text"), json!(5), json!(1.5), json!([]), json!({})],
        _ => vec![
            json!([]),
            json!({}),
            json!([value]),
            json!(-1),
            json!(1.5),
            json!(1e300),
            json!("text"),
            json!(""),
        ],
    };
    wrong.into_iter().chain([nested(100)]).collect()
}

/// Numbers and data at the edges of what contracts can hold, and beyond.
fn edges() -> impl Strategy<Value = Value> {
    let over = format!("1{}", "0".repeat(78));
    prop_oneof![
        Just(json!(0)),
        Just(json!("0")),
        Just(json!(U256::MAX.to_string())),
        Just(json!(format!("{:#x}", U256::MAX))),
        Just(json!((U256::MAX - U256::ONE).to_string())),
        Just(json!((U256::ONE << 255_usize).to_string())),
        Just(json!((U256::ONE << 128_usize).to_string())),
        Just(json!(over)),
        Just(json!(null)),
        Just(json!(u64::MAX)),
        Just(json!("0x")),
        Just(json!(format!("0x{}", "ff".repeat(20)))),
        Just(json!(format!("0x{}", "ff".repeat(32)))),
        Just(json!(format!("0x{}", "00".repeat(5000)))),
        Just(json!([])),
        any::<u64>().prop_map(|number| json!(number.to_string())),
        any::<u8>().prop_map(|number| json!(number)),
        any::<[u8; 32]>().prop_map(|bytes| json!(U256::from_be_bytes(bytes).to_string())),
    ]
}

/// Does everything with an order that can be done, with answers that make no sense.
fn exercise(protocol: &dyn Protocol, order: &NativeOrder) -> Result<(), TestCaseError> {
    let facts = &order.facts;
    prop_assert_ne!(facts.quantity_initial, Amount::ZERO);
    prop_assert!((0..=10_000).contains(&facts.fee_bps), "{} of 10000", facts.fee_bps);
    prop_assert!(facts.valid_from < facts.valid_until || facts.valid_until == facts.valid_from);
    let again: Value = serde_json::from_str(&order.text).unwrap();
    prop_assert_eq!(&admit(protocol, &json!({ "native": again })).unwrap(), order);
    let nonsense = [Some(vec![0xff; 32].into()), None, Some(vec![1].into())];
    let _ = (protocol.cancel(stored(order)), protocol.standing_inquiries(stored(order)));
    let _ = protocol.standing(stored(order), &nonsense);
    let consent = |subject: &str| Consent { subject: subject.to_owned(), proof: "{}".to_owned(), until: 9 };
    let consents = vec![consent("login"), consent(&facts.order_id)];
    let whole = protocol.fill_price(stored(order), facts.quantity_initial).ok();
    for quantity in [facts.quantity_initial, Amount::from(1), Amount::ZERO, Amount::MAX] {
        let is_some = quantity != Amount::ZERO && quantity <= facts.quantity_initial;
        let Ok(mut fill) = Fill::new(protocol, stored(order), quantity) else { continue };
        prop_assert!(is_some, "{} of {}", quantity, facts.quantity_initial);
        prop_assert!(fill.price <= whole.unwrap_or(U256::MAX), "a part is no dearer than all");
        fill.token_id = fill.token_id.or(Some(TokenId::from(U256::MAX)));
        for amount in [0, 250, u64::MAX] {
            let fees = [requested(amount.into(), person(1))];
            let Ok(trade) = Trade::new(order.collection, vec![fill], &fees, person(0xb0)) else { continue };
            let trade = trade.with_consents(consents.clone());
            let heard = ConsentAnswers { chain: &nonsense, service: &[json!([])], now: u64::MAX };
            let _ = (
                protocol.consent_questions(&trade),
                protocol.missing_consents(&trade, heard),
                protocol.source_requests(&trade),
            );
            let Ok(plan) = protocol.fill(&trade, &[json!({ "steps": [], "buys": [{}], "data": 5 })]) else {
                continue;
            };
            let total = plan.calls.iter().fold(U256::ZERO, |sum, call| sum + call.price.value());
            prop_assert_eq!(total, trade.total().unwrap().value());
        }
    }
    Ok(())
}

#[test]
fn wrong_types_are_refused_in_every_member() {
    for sample in samples() {
        for path in paths_of(&sample) {
            let value = sample.order["native"].pointer(&path).unwrap().clone();
            for wrong in wrong_types(&value) {
                let shown = format!(
                    "{} {path} {}",
                    sample.name,
                    wrong.to_string().chars().take(40).collect::<String>()
                );
                match admit(&*sample.protocol, &changed(&sample, &path, wrong)) {
                    Ok(taken) => assert_eq!(taken, sample.admitted, "{shown}"),
                    Err(fault) => assert!(!fault.to_string().is_empty(), "{shown}"),
                }
            }
        }
    }
}

#[test]
fn long_lists_and_texts_are_refused() {
    for sample in samples() {
        for path in paths_of(&sample) {
            let value = sample.order["native"].pointer(&path).unwrap();
            let long = match value {
                Value::Array(items) => json!(vec![items.first().cloned().unwrap_or(json!("0x")); 10_000]),
                Value::String(text) => json!(format!("{text}{}", "0".repeat(1_000_000))),
                _ => continue,
            };
            let refused = admit(&*sample.protocol, &changed(&sample, &path, long));
            assert!(refused.is_err(), "{} {path}", sample.name);
            assert!(refused.unwrap_err().to_string().len() < 1000, "{} {path}", sample.name);
        }
    }
}

#[test]
fn members_that_nobody_knows_change_nothing() {
    for sample in samples() {
        for value in [nested(100), json!(-1.5), json!(vec![0; 10_000])] {
            let mut order = sample.order.clone();
            order["native"]["somethingElse"] = value;
            assert_eq!(admit(&*sample.protocol, &order).unwrap(), sample.admitted, "{}", sample.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What is taken although it was changed is nobody's signature, unless it comes to the same; and whatever it says,
    /// it adds up.
    #[test]
    fn edges_are_refused_or_add_up(
        sample: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), edges()), 1..4),
    ) {
        thread_local!(static SAMPLES: Vec<Sample> = samples());
        SAMPLES.with(|samples| {
            let sample = sample.get(samples);
            let paths = paths_of(sample);
            let mut order = sample.order.clone();
            for (place, value) in changes {
                if let Some(member) = order["native"].pointer_mut(place.get(&paths).as_str()) {
                    *member = value;
                }
            }
            let Ok(taken) = admit(&*sample.protocol, &order) else { return Ok(()) };
            if taken.proof == Proof::Signed {
                prop_assert_eq!(&taken.facts.order_id, &sample.admitted.facts.order_id);
                prop_assert_eq!(&taken.facts, &sample.admitted.facts);
            }
            exercise(&*sample.protocol, &taken)
        })?;
    }

    /// Any signature at all is refused, or not by the maker's key.
    #[test]
    fn signatures_of_nobody_are_seen(sample: prop::sample::Index, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        thread_local!(static SAMPLES: Vec<Sample> = samples());
        SAMPLES.with(|samples| {
            let sample = sample.get(samples);
            let mut order = sample.order.clone();
            order["signature"] = json!(format!("0x{}", alloy_primitives::hex::encode(bytes)));
            if let Ok(taken) = admit(&*sample.protocol, &order) {
                prop_assert_ne!(taken.proof, Proof::Signed);
            }
            Ok(())
        })?;
    }
}
