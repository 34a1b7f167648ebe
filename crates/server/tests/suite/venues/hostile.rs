//! Native forms that nobody means well with: each is refused with a reason, and never a failure of ours.

use serde_json::{Value, json};

use super::{families, first_of, listed, put, signed, text, vectors, venues};
use crate::support::TestApp;

/// An order of each family.
fn one_of_each() -> Vec<Value> {
    let held = vectors("held");
    let mut orders: Vec<Value> =
        families().map(|family| first_of(family, "a token for the chain's own currency")).collect();
    orders.push(first_of("zerox", "some units"));
    orders.push(signed("opensea", &held["seaport"]["opensea"]));
    orders.push(signed("blur", &held["blur"]["orders"][0]));
    orders.push(signed("x2y2", &json!({ "native": held["x2y2"]["order"] })));
    orders
}

/// Values that have no business in any member.
fn strange() -> Vec<Value> {
    let over = format!("1{}", "0".repeat(78));
    let deep = (0..20).fold(json!([]), |inner, _| json!([inner]));
    let wide: Value = (0..2000).collect::<Vec<u32>>().into();
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!("-1"),
        json!(1.5),
        json!("1.5"),
        json!("1e18"),
        json!(1e300),
        json!(over),
        json!(format!("0x1{}", "0".repeat(64))),
        json!(""),
        json!("0x"),
        json!("0x1"),
        json!("0xzz"),
        json!(format!("0x{}", "ab".repeat(19))),
        json!(format!("0x{}", "ab".repeat(33))),
        json!(format!("0x{}", "ab".repeat(5000))),
        json!("x".repeat(5000)),
        json!("\u{0}"),
        json!("١"),
        json!({}),
        json!([]),
        json!({ "native": {} }),
        json!([[]]),
        deep,
        wide,
    ]
}

/// Every place in a value, as a path.
fn places(value: &Value, at: &str) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(place, item)| (place.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    let deeper = inner.iter().flat_map(|(name, value)| places(value, &format!("{at}/{name}")));
    std::iter::once(at.to_owned()).chain(deeper).collect()
}

/// Fails unless each of these is refused for a reason, or taken because the change makes no difference.
async fn check(app: &TestApp, orders: &[Value]) -> usize {
    let answer = put(app, orders.iter().cloned()).await;
    let rejected = answer["rejected"].as_array().unwrap();
    for one in rejected {
        let (reason, message) = (text(&one["reason"]), text(&one["message"]));
        assert!(!reason.is_empty() && !message.is_empty() && message.len() < 600, "{one}");
    }
    rejected.len()
}

#[tokio::test]
async fn any_value_in_any_place_is_refused_or_means_nothing() {
    let app = venues().await;
    let (mut all, mut refused) = (0, 0);
    for order in one_of_each() {
        for place in places(&order, "") {
            let mut orders = Vec::new();
            for value in strange() {
                let mut changed = order.clone();
                *changed.pointer_mut(&place).unwrap() = value;
                orders.push(changed);
            }
            all += orders.len();
            refused += check(&app, &orders).await;
        }
    }
    // What is left are members that may be missing, and other spellings of the same.
    assert!(refused * 100 > all * 90, "{refused} of {all}");
    // Nothing else than the orders of the vectors was taken.
    let known: Vec<Value> =
        listed(&app, "listing", "5").await.iter().map(|order| order["priceAmount"].clone()).collect();
    assert!(known.iter().all(|price| price == "1000" || price == "1076"), "{known:?}");
}

#[tokio::test]
async fn members_may_be_missing_or_too_many() {
    let app = venues().await;
    for order in one_of_each() {
        let mut orders = Vec::new();
        for name in order["native"].as_object().unwrap().keys() {
            let mut without = order.clone();
            without["native"].as_object_mut().unwrap().remove(name);
            orders.push(without);
        }
        let mut wide = order.clone();
        for number in 0..5000 {
            wide["native"][format!("m{number}")] = json!(number);
        }
        orders.push(wide);
        check(&app, &orders).await;
    }
}

#[tokio::test]
async fn what_nests_too_deep_is_refused_before_it_is_read() {
    let app = venues().await;
    for depth in [100, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let body =
            format!(r#"{{"orders":[{{"chainId":1,"marketplace":"opensea","native":{{"offer":{deep}}}}}]}}"#);
        let answer = app.project_a.token.post("/rpc/Ingest/PutOrders", body).await;
        assert_eq!(answer.status, 400, "{}", answer.json);
    }
}

#[tokio::test]
async fn long_lists_cost_nothing() {
    let app = venues().await;
    let mut order = first_of("seaport", "a token for the chain's own currency");
    let item = order["native"]["consideration"][0].clone();
    order["native"]["consideration"] = (0..3000).map(|_| item.clone()).collect();
    let answer = put(&app, [order]).await;
    let message = text(&answer["rejected"][0]["message"]);
    assert!(message.starts_with("native.consideration: 3000 entries where at most"), "{message}");
    let mut order = signed("blur", &vectors("held")["blur"]["orders"][0]);
    order["native"]["proof"] = (0..5000).map(|_| json!(format!("0x{}", "11".repeat(32)))).collect();
    let answer = put(&app, [order]).await;
    assert!(text(&answer["rejected"][0]["message"]).starts_with("native.proof: 5000 entries"), "{answer}");
}
