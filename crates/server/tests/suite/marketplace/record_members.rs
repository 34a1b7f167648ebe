//! The records themselves, member by member.

use std::collections::BTreeSet;

use bourse_store::testing::{batch, operator};
use bourse_store::{CollectionKey, Store};
use bourse_wire::{ChainId, Currency};
use serde_json::{Value, json};

use super::{ANA, BEN, COIN, DOLLAR, SHELL, TOMORROW, ask, balance, listing, market, offer, order, with};
use crate::support::TestApp;
use crate::support::seed::{RELICS, token_of};

/// A token with every member that an order can give its collectible.
async fn one_of_each() -> TestApp {
    let fees = json!([
        { "kind": "royalty", "recipientAddress": BEN, "bps": 300 },
        { "kind": "marketplace", "recipientAddress": ANA, "bps": 200 },
    ]);
    let full = with(
        listing("77", 1, 0),
        json!({ "marketplace": "service_marketplace_v2", "priceAmount": "1000000000000000000", "feeBreakdown": fees,
            "quantityInitial": "900", "quantityRemaining": "750", "quantityDecimals": 2, "originName": "Harbour",
            "validFrom": "2025-03-01T00:00:00Z", "blockNumber": 42, "orderCreatedAt": "2025-03-01T00:00:01Z",
            "orderUpdatedAt": "2025-03-02T00:00:00.000000001Z", "createdAt": "2025-03-01T00:00:02Z",
            "updatedAt": "2025-03-02T00:00:03Z" }),
    );
    let plain = with(offer("quoted \"id\"\n", 1, 2_500_000), json!({ "priceCurrencyAddress": DOLLAR }));
    let metadata = json!({ "tokenId": "1", "name": "Bronze relic", "description": "An old thing",
        "image": "https://a.example/1.png", "properties": { "power": 7 },
        "attributes": [{ "trait_type": "Metal", "value": "Bronze" }], "updatedAt": "2024-11-01T08:18:33Z" });
    market(vec![token_of(metadata), balance(1, ANA, 500), order(full), order(plain)]).await
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "most of them are what is shown")]
async fn an_order_and_a_collectible() {
    let app = one_of_each().await;
    let listed = ask(&app, "Marketplace/ListListingsForCollectible", json!({ "tokenId": "1" })).await.ok();
    insta::assert_snapshot!(serde_json::to_string_pretty(&listed).unwrap(), @r#"
    {
      "listings": [
        {
          "id": 3551628679286835,
          "collectionId": 1,
          "collectibleId": 6539115042495530,
          "orderId": "77",
          "marketplace": "bourse_marketplace_v2",
          "source": "bourse_marketplace_v2",
          "side": "listing",
          "status": "active",
          "chainId": 137,
          "slug": "",
          "originName": "Harbour",
          "collectionContractAddress": "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712",
          "tokenId": "1",
          "createdBy": "0x00000000000000000000000000000000000000a1",
          "priceAmount": "1000000000000000000",
          "priceAmountFormatted": "1.0",
          "priceAmountNet": "950000000000000000",
          "priceAmountNetFormatted": "0.95",
          "priceCurrencyAddress": "0x0000000000000000000000000000000000000000",
          "priceDecimals": 18,
          "priceUSD": 2,
          "priceUSDFormatted": "2.00",
          "quantityInitial": "900",
          "quantityInitialFormatted": "9.0",
          "quantityRemaining": "750",
          "quantityRemainingFormatted": "7.5",
          "quantityAvailable": "500",
          "quantityAvailableFormatted": "5.0",
          "quantityDecimals": 2,
          "feeBps": 500,
          "feeBreakdown": [
            {
              "kind": "royalty",
              "recipientAddress": "0x00000000000000000000000000000000000000b2",
              "bps": 300
            },
            {
              "kind": "marketplace",
              "recipientAddress": "0x00000000000000000000000000000000000000a1",
              "bps": 200
            }
          ],
          "validFrom": "2025-03-01T00:00:00Z",
          "validUntil": "2025-03-15T12:00:00Z",
          "blockNumber": 42,
          "orderCreatedAt": "2025-03-01T00:00:01Z",
          "orderUpdatedAt": "2025-03-02T00:00:00.000000001Z",
          "createdAt": "2025-03-01T00:00:02Z",
          "updatedAt": "2025-03-02T00:00:03Z",
          "deletedAt": null
        }
      ],
      "page": {
        "page": 1,
        "pageSize": 30,
        "more": false
      }
    }
    "#);
    let mut shown = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok();
    for member in ["order", "listing"] {
        let order = shown["collectibles"][0][member].take();
        assert_eq!(order, listed["listings"][0], "{member}");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap(), @r#"
    {
      "collectibles": [
        {
          "metadata": {
            "tokenId": "1",
            "name": "Bronze relic",
            "description": "An old thing",
            "image": "https://a.example/1.png",
            "properties": {
              "power": 7
            },
            "attributes": [
              {
                "trait_type": "Metal",
                "value": "Bronze"
              }
            ],
            "updatedAt": "2024-11-01T08:18:33Z",
            "source": "import",
            "status": "AVAILABLE",
            "video": "",
            "audio": "",
            "imageData": "",
            "externalUrl": "",
            "backgroundColor": "",
            "animationUrl": "",
            "decimals": 0,
            "assets": []
          },
          "order": null,
          "listing": null,
          "offer": {
            "id": 287413191062659,
            "collectionId": 1,
            "collectibleId": 6539115042495530,
            "orderId": "quoted \"id\"\n",
            "marketplace": "opensea",
            "source": "external",
            "side": "offer",
            "status": "active",
            "chainId": 137,
            "slug": "",
            "originName": "",
            "collectionContractAddress": "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712",
            "tokenId": "1",
            "createdBy": "0x00000000000000000000000000000000000000b2",
            "priceAmount": "2500000",
            "priceAmountFormatted": "2.5",
            "priceAmountNet": "2500000",
            "priceAmountNetFormatted": "2.5",
            "priceCurrencyAddress": "0x00000000000000000000000000000000000000d0",
            "priceDecimals": 6,
            "priceUSD": 2.5,
            "priceUSDFormatted": "2.50",
            "quantityInitial": "1",
            "quantityInitialFormatted": "1",
            "quantityRemaining": "1",
            "quantityRemainingFormatted": "1",
            "quantityAvailable": "1",
            "quantityAvailableFormatted": "1",
            "quantityDecimals": 0,
            "feeBps": 0,
            "feeBreakdown": [],
            "validFrom": "0001-01-01T00:00:00Z",
            "validUntil": "2025-03-15T12:00:00Z",
            "blockNumber": 0,
            "orderCreatedAt": "0001-01-01T00:00:00Z",
            "orderUpdatedAt": "0001-01-01T00:00:00Z",
            "createdAt": "0001-01-01T00:00:00Z",
            "updatedAt": "0001-01-01T00:00:00Z",
            "deletedAt": null
          }
        }
      ],
      "page": {
        "page": 1,
        "pageSize": 30,
        "more": false
      }
    }
    "#);
}

/// Every member of the interface with its type, for an order that says as little as possible too.
#[tokio::test]
async fn every_member_has_its_type() {
    let app = one_of_each().await;
    let bare = json!({ "priceCurrencyAddress": SHELL, "validUntil": "0001-01-01T00:00:00Z" });
    let bare = order(with(listing("bare", 2, 7), bare));
    super::commit(&app.store, vec![bare, balance(2, ANA, 1)]).await;
    let answer = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok();
    let [full, bare] = answer["collectibles"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    for order in [&full["order"], &full["offer"], &bare["order"]] {
        check_order(order);
    }
    // A token that nobody described is there all the same.
    let metadata = json!({ "tokenId": "2", "name": "", "description": "", "image": "", "properties": null,
        "attributes": [], "updatedAt": "0001-01-01T00:00:00Z", "source": "contract", "status": "NOT_AVAILABLE",
        "video": "", "audio": "", "imageData": "", "externalUrl": "", "backgroundColor": "", "animationUrl": "",
        "decimals": 0, "assets": [] });
    assert_eq!(bare["metadata"], metadata);
    assert_eq!(bare["offer"], Value::Null);
    assert_eq!((&bare["order"]["priceUSD"], &bare["order"]["priceUSDFormatted"]), (&json!(0), &json!("")));
    assert_eq!(bare["order"]["orderCreatedAt"], bare["order"]["createdAt"]);
    assert_eq!(bare["order"]["validUntil"], "9999-12-30T22:00:00.999999999Z", "it never ends");
}

const TEXTS: &str = "orderId marketplace source side status slug originName tokenId priceAmountFormatted \
    priceAmountNetFormatted priceUSDFormatted quantityInitialFormatted quantityRemainingFormatted \
    quantityAvailableFormatted";
const NUMBERS: &str =
    "id collectionId collectibleId chainId priceDecimals quantityDecimals feeBps blockNumber priceUSD";
const AMOUNTS: &str = "priceAmount priceAmountNet quantityInitial quantityRemaining quantityAvailable";
const ADDRESSES: &str = "collectionContractAddress createdBy priceCurrencyAddress";
const TIMES: &str = "validFrom validUntil orderCreatedAt orderUpdatedAt createdAt updatedAt";

fn check_order(order: &Value) {
    let each = |names: &'static str| names.split_whitespace().map(move |name| (name, &order[name]));
    for (name, value) in each(TEXTS) {
        assert!(value.is_string(), "{name} {value}");
    }
    for (name, value) in each(NUMBERS) {
        assert!(value.is_number(), "{name} {value}");
    }
    for (name, value) in each(AMOUNTS) {
        let digits = value.as_str().unwrap_or_default();
        assert!(!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()), "{name} {value}");
    }
    for (name, value) in each(ADDRESSES) {
        let address = value.as_str().unwrap_or_default();
        assert!(address.len() == 42 && address == address.to_lowercase(), "{name} {value}");
    }
    let is_time =
        |value: &Value| value.as_str().is_some_and(|text| text.parse::<bourse_wire::Timestamp>().is_ok());
    assert!(each(TIMES).all(|(_, value)| is_time(value)), "{order}");
    assert!(order["feeBreakdown"].is_array(), "{order}");
    // An order that is there was not deleted, and that is said.
    assert_eq!(order.get("deletedAt"), Some(&Value::Null), "{order}");
    // And nothing else.
    let known = [TEXTS, NUMBERS, AMOUNTS, ADDRESSES, TIMES].iter();
    let known = known.flat_map(|names| names.split_whitespace()).count() + 2;
    assert_eq!(order.as_object().unwrap().len(), known, "{order}");
}

#[tokio::test]
async fn derived_values_follow_from_facts_balances_and_rates() {
    let app = one_of_each().await;
    let answer = ask(&app, "Marketplace/ListCollectibles", json!({ "side": "listing" })).await.ok();
    let row = &answer["collectibles"][0];
    for (pointer, expected) in [
        ("/listing/priceAmountFormatted", json!("1.0")),
        ("/listing/feeBps", json!(500)),
        ("/listing/priceAmountNet", json!("950000000000000000")),
        ("/listing/priceAmountNetFormatted", json!("0.95")),
        ("/listing/priceUSD", json!(2)),
        ("/listing/quantityInitialFormatted", json!("9.0")),
        ("/listing/quantityRemaining", json!("750")),
        ("/listing/quantityRemainingFormatted", json!("7.5")),
        ("/listing/quantityAvailable", json!("500")),
        ("/listing/quantityAvailableFormatted", json!("5.0")),
        ("/listing/marketplace", json!("bourse_marketplace_v2")),
        ("/listing/priceCurrencyAddress", json!(COIN)),
        ("/listing/validUntil", json!(TOMORROW)),
        ("/offer/priceAmountFormatted", json!("2.5")),
        ("/offer/priceAmountNet", json!("2500000")),
        ("/offer/priceUSD", json!(2.5)),
        ("/offer/quantityAvailable", json!("1")),
        ("/offer/orderId", json!("quoted \"id\"\n")),
    ] {
        let value = row.pointer(pointer).unwrap();
        let same = match (value.as_f64(), expected.as_f64()) {
            (Some(value), Some(expected)) => (value - expected).abs() < 1e-12,
            _ => *value == expected,
        };
        assert!(same, "{pointer}: {value} is not {expected}");
    }
    let ids = ["listing", "offer"].map(|slot| row[slot]["collectibleId"].clone());
    assert_eq!(ids[0], ids[1], "two orders of one token");
}

/// Collections with the same token ids and the same order ids, of which our own marketplaces count from 1 on every chain,
/// share no number; and a number is the same in every process.
#[tokio::test]
async fn numbers_are_those_of_one_collection() {
    let contracts = [RELICS, "0x00000000000000000000000000000000000000bb"];
    let collections = contracts.iter().flat_map(|contract| [(1, *contract), (137, *contract)]);
    let collections: Vec<(u64, &str)> = collections.collect();
    let currency = |chain| Currency {
        chain_id: ChainId(chain),
        contract_address: COIN.parse().unwrap(),
        name: String::new(),
        symbol: String::new(),
        decimals: 18,
        image_url: String::new(),
        rate: None,
    };
    let prepare = async |store: &Store, _: &_, _: &_| {
        store.put_currencies(vec![currency(1), currency(137)], operator()).await.unwrap();
        for (chain, contract) in &collections {
            let collection = CollectionKey { chain: ChainId(*chain), address: contract.parse().unwrap() };
            let own = json!({ "marketplace": "service_marketplace_v2", "chainId": chain,
                "collectionContractAddress": contract });
            let orders = [with(listing("1", 1, 5), own.clone()), with(offer("2", 1, 4), own)];
            let changes = orders.map(order).to_vec();
            store.commit(batch(collection, changes)).await.unwrap();
        }
    };
    let (app, ()) = TestApp::prepared(&[], prepare).await;
    let other = app.another().await;
    let mut seen = BTreeSet::new();
    for (chain, contract) in &collections {
        let token = json!({ "chainId": chain, "contractAddress": contract, "tokenId": "1" });
        let mut of_token = BTreeSet::new();
        for (operation, member) in [
            ("ListListingsForCollectible", "listings"),
            ("ListOffersForCollectible", "offers"),
            ("ListCollectibleActivities", "activities"),
        ] {
            let path = format!("Marketplace/{operation}");
            let answer = app.project_a.call(&path, token.clone()).await.ok();
            assert_eq!(answer, other.key.call(&path, token.clone()).await.ok(), "{operation}");
            let records = answer[member].as_array().unwrap();
            assert!(!records.is_empty(), "{operation}: {answer}");
            for record in records {
                let id = record["id"].as_u64().unwrap();
                assert!(id < 1 << 53 && seen.insert((member, id)), "{operation}: {record}");
                let numbers = ["collectionId", "collectibleId"].map(|name| record[name].as_u64().unwrap());
                of_token.insert(numbers);
            }
        }
        let [[collection, token]] = of_token.into_iter().collect::<Vec<_>>()[..] else {
            panic!("a token has one number")
        };
        assert!(seen.insert(("collection", collection)) && seen.insert(("token", token)), "{contract}");
    }
}
