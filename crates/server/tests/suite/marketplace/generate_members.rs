//! Every member of every request for steps does something, or is refused by name: nobody loses money by what was dropped
//! in silence.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::trading::{CLEO, SHOP, data, market, sold, wanted};
use crate::marketplace::{ANA, COIN, DOLLAR};
use crate::support::TestApp;
use crate::support::seed::RELICS;

/// An operation: a request that it answers, and other values for each of its members, by its path.
struct Trial {
    operation: &'static str,
    body: Value,
    members: Vec<(&'static str, Value)>,
}

/// Members that clients send and that the document says to make no difference.
const NO_DIFFERENCE: [(&str, &str); 1] = [("GenerateBuyTransaction", "walletType")];

const NOBODY: &str = "0x0000000000000000000000000000000000000000";
const OTHER: &str = "0x00000000000000000000000000000000000000e9";

fn fees() -> Value {
    json!([{ "amount": "1000", "receiver": SHOP }])
}

fn trials() -> Vec<Trial> {
    vec![filling("Buy", "buyer", "77"), filling("Sell", "seller", "78"), listing(), offer(), cancelling()]
}

fn filling(name: &str, who: &'static str, order: &str) -> Trial {
    let is_purchase = name == "Buy";
    let mut members = vec![
        ("chainId", json!("amoy")),
        ("collectionAddress", json!(OTHER)),
        (who, json!(OTHER)),
        ("marketplace", json!("service_marketplace_v1")),
        ("ordersData[].orderId", json!("79")),
        ("ordersData[].quantity", json!("2")),
        ("ordersData[].tokenId", json!("2")),
        ("additionalFees[].amount", json!("500")),
        ("additionalFees[].amountInBaseUnits", json!("500")),
        ("additionalFees[].receiver", json!(OTHER)),
        ("useWithTrails", json!(true)),
    ];
    if !is_purchase {
        members.push(("walletType", json!("sequence")));
    }
    Trial {
        operation: if is_purchase { "GenerateBuyTransaction" } else { "GenerateSellTransaction" },
        body: json!({ "chainId": "polygon", "collectionAddress": RELICS, who: CLEO,
            "marketplace": "service_marketplace_v2", "ordersData": data(&[(order, 1)]), "additionalFees": fees(),
            "walletType": "unknown" }),
        members,
    }
}

fn listing() -> Trial {
    making("GenerateListingTransaction", "owner", "listing")
}

fn offer() -> Trial {
    let Trial { operation, body, mut members } = making("GenerateOfferTransaction", "maker", "offer");
    members.push(("offerType", json!("collection")));
    Trial { operation, body, members }
}

fn making(operation: &'static str, who: &'static str, side: &'static str) -> Trial {
    let paths = match side {
        "listing" => [
            "listing.tokenId",
            "listing.quantity",
            "listing.expiry",
            "listing.currencyAddress",
            "listing.pricePerToken",
        ],
        _ => [
            "offer.tokenId",
            "offer.quantity",
            "offer.expiry",
            "offer.currencyAddress",
            "offer.pricePerToken",
        ],
    };
    let values = [json!("2"), json!("8"), json!("1743465601"), json!(COIN), json!("12")];
    let mut members: Vec<_> = paths.into_iter().zip(values).collect();
    members.extend([
        ("chainId", json!("amoy")),
        ("collectionAddress", json!(OTHER)),
        (who, json!(NOBODY)),
        ("contractType", json!("ERC721")),
        ("orderbook", json!("service_marketplace_v1")),
        ("additionalFees[].amount", json!("1000")),
        ("additionalFees[].amountInBaseUnits", json!("1")),
        ("additionalFees[].receiver", json!(SHOP)),
        ("walletType", json!("sequence")),
    ]);
    Trial {
        operation,
        body: json!({ "chainId": "polygon", "collectionAddress": RELICS, who: CLEO, "contractType": "ERC1155",
            "orderbook": "service_marketplace_v2", "walletType": "unknown",
            side: { "tokenId": "1", "quantity": "7", "expiry": "1743465600", "currencyAddress": DOLLAR,
                "pricePerToken": "11" } }),
        members,
    }
}

fn cancelling() -> Trial {
    Trial {
        operation: "GenerateCancelTransaction",
        body: json!({ "chainId": "polygon", "collectionAddress": RELICS, "maker": ANA,
            "marketplace": "service_marketplace_v2", "orderId": "77" }),
        members: vec![
            ("chainId", json!("amoy")),
            ("collectionAddress", json!(OTHER)),
            ("maker", json!(OTHER)),
            ("marketplace", json!("service_marketplace_v1")),
            ("orderId", json!("80")),
        ],
    }
}

/// Puts a value where a path leads. What is not there yet is made: a list has one entry.
fn changed(body: &Value, path: &str, value: Value) -> Value {
    let mut body = body.clone();
    let mut place = &mut body;
    for name in path.split('.') {
        match name.strip_suffix("[]") {
            Some(list) => {
                if place[list].is_null() {
                    place[list] = fees();
                }
                place = &mut place[list][0];
            }
            None => place = &mut place[name],
        }
    }
    *place = value;
    body
}

/// The paths of all members of a schema of requests, and what the document says of those.
fn paths(document: &Value, schema: &Value, before: &str, found: &mut Vec<(String, String)>) {
    let schema = match schema["$ref"].as_str() {
        Some(name) => &document["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    };
    let mut choices = schema["anyOf"].as_array().into_iter().flatten();
    if let Some(choice) = choices.find(|choice| choice["type"] != "null") {
        return paths(document, choice, before, found);
    }
    if !schema["items"].is_null() {
        return paths(document, &schema["items"], &format!("{before}[]"), found);
    }
    let members = schema["properties"].as_object().into_iter().flatten();
    let count = found.len();
    for (name, member) in members {
        let path = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        paths(document, member, &path, found);
    }
    if found.len() == count {
        let said = schema["description"].as_str().unwrap_or_default();
        found.push((before.to_owned(), said.to_owned()));
    }
}

async fn app() -> TestApp {
    market([sold("77", 10_000), sold("79", 20_000), wanted("78", 10_000)]).await
}

#[tokio::test]
async fn every_member_has_an_effect_or_is_refused() {
    let app = app().await;
    let document = app.anonymous.get("/openapi.json").await.ok();
    for Trial { operation, body, members } in trials() {
        let path = format!("/rpc/Marketplace/{operation}");
        let schema =
            &document["paths"][&path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        let mut known = Vec::new();
        paths(&document, schema, "", &mut known);
        let indifferent = |path: &str| NO_DIFFERENCE.contains(&(operation, path));
        for (path, said) in known.iter().filter(|(path, _)| indifferent(path)) {
            assert!(said.contains("makes no difference"), "{operation} {path}: {said}");
        }
        let known: BTreeSet<&str> =
            known.iter().map(|(path, _)| path.as_str()).filter(|path| !indifferent(path)).collect();
        let tried: BTreeSet<&str> = members.iter().map(|(path, _)| *path).collect();
        assert_eq!(known, tried, "{operation}: every member is tried, and there are no others");

        let ask = async |body: Value| {
            let answer = app.project_a.call(&format!("Marketplace/{operation}"), body).await;
            (answer.status, answer.json)
        };
        let (status, usual) = ask(body.clone()).await;
        assert_eq!(status, 200, "{operation}: {usual}");
        assert_eq!(ask(body.clone()).await.1, usual, "{operation}: the same is answered to the same");
        for (path, value) in members {
            let (status, answer) = ask(changed(&body, path, value.clone())).await;
            assert_ne!(answer, usual, "{operation}: {path} {value} makes no difference");
            assert!(status < 500, "{operation}: {path} {value}: {answer}");
        }
    }
}

/// What published clients can say beyond what all marketplaces can do.
#[tokio::test]
async fn what_a_marketplace_cannot_do_is_refused_by_name() {
    let app = app().await;
    for (trial, path, value, expected) in [
        (
            listing(),
            "additionalFees",
            fees(),
            "additionalFees: orders of this marketplace cannot pay anybody else",
        ),
        (
            offer(),
            "additionalFees",
            fees(),
            "additionalFees: orders of this marketplace cannot pay anybody else",
        ),
        (offer(), "offerType", json!("trait"), "offerType: must be `item` or `collection`"),
        (offer(), "offer.tokenId", Value::Null, "offer.tokenId: must name the token"),
    ] {
        let body = changed(&trial.body, path, value);
        let answer = app.project_a.call(&format!("Marketplace/{}", trial.operation), body).await;
        let said = answer.json["msg"].as_str().unwrap_or_default();
        assert!(answer.status == 400 && said.starts_with(expected), "{path}: {}", answer.json);
    }
    let any = changed(&offer().body, "offerType", json!("collection"));
    for (token, expected) in [
        (json!("1"), "offer.tokenId: must be left out, or 0, of an offer for any token of the collection"),
        (json!("0"), "offerType: this marketplace has no offers for any token of a collection"),
        (Value::Null, "offerType: this marketplace has no offers for any token of a collection"),
    ] {
        let answer = app
            .project_a
            .call("Marketplace/GenerateOfferTransaction", changed(&any, "offer.tokenId", token))
            .await;
        let said = answer.json["msg"].as_str().unwrap_or_default();
        assert!(answer.status == 400 && said.starts_with(expected), "{}", answer.json);
    }
    // What changes nothing is no wish.
    let body = changed(&offer().body, "offerType", json!("item"));
    let body = changed(&body, "additionalFees", json!([]));
    assert_eq!(app.project_a.call("Marketplace/GenerateOfferTransaction", body).await.status, 200);
}
