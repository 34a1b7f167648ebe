//! Each order in which a collection is shown, page by page, and how many tokens each filter leaves: as operations tell it.

use std::collections::BTreeMap;

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::person::{Person, open_shop};
use crate::anvil::{alloy_address, mintCall};
use crate::http::Credential;
use crate::market::{Market, order, wait};

/// More than two pages.
const TOKENS: u64 = 56;
/// Words of the address, with what they mean to operations.
const SORTS: [(&str, Option<(&str, &str)>); 6] = [
    ("", None),
    ("-price", Some(("price", "DESC"))),
    ("-created", Some(("createdAt", "DESC"))),
    ("id", Some(("tokenId", "ASC"))),
    ("-id", Some(("tokenId", "DESC"))),
    ("name", Some(("name", "ASC"))),
];

/// A shop with tokens of which every second is for sale, some for the same price, in two currencies.
struct Shop {
    market: Market,
    collection: Address,
}

impl Shop {
    fn open() -> Self {
        let market = Market::open();
        let seller = market.seller();
        let collection = market.singles(seller);
        for token in 2..=TOKENS {
            let call = mintCall { to: alloy_address(seller), tokenId: U256::from(token) };
            market.anvil.send(seller, collection, &call);
        }
        market.wait_followed(collection);
        describe(&market, collection);
        for token in (1..=TOKENS).step_by(2) {
            let steps = token * 7 % 11 + 1;
            let (currency, price) = match token % 3 {
                0 => (market.currency, steps * 250_000_000),
                _ => (Address::ZERO, steps * 125_000_000_000_000_000),
            };
            let listing = order(&token.to_string(), "1", currency, &price.to_string());
            market.list(seller, collection, "ERC721", &listing);
        }
        let shop = Self { market, collection };
        let listed = || shop.count(&json!({ "includeEmpty": false }));
        wait("all listings are known", listed, |count| *count == TOKENS / 2);
        open_shop(&shop.market, &json!({}));
        shop
    }

    fn ask(&self, operation: &str, members: Value) -> Value {
        let mut body = members;
        body["chainId"] = json!("31337");
        body["contractAddress"] = json!(self.collection);
        self.market.server().call(operation, Credential::Key(&self.market.project.key), &body).ok()
    }

    fn count(&self, filter: &Value) -> u64 {
        let asked = json!({ "side": "listing", "filter": filter });
        self.ask("Marketplace/GetCountOfFilteredCollectibles", asked)["count"].as_u64().unwrap()
    }

    /// All tokens, as the operation tells them.
    fn told(&self, filter: &Value, sort: Option<(&str, &str)>) -> Vec<String> {
        let mut page = json!({ "pageSize": 200 });
        if let Some((column, order)) = sort {
            page["sort"] = json!([{ "column": column, "order": order }]);
        }
        let asked = json!({ "side": "listing", "filter": filter, "page": page });
        let rows = self.ask("Marketplace/ListCollectibles", asked)["collectibles"].take();
        let number = |row: &Value| row["metadata"]["tokenId"].as_str().unwrap().to_owned();
        rows.as_array().unwrap().iter().map(number).collect()
    }

    /// All tokens as the pages show them, and how many pages these are.
    fn shown(&self, person: &Person<'_>, query: &str) -> (Vec<String>, usize) {
        person.opens(self.collection, query);
        let (mut all, mut pages) = (Vec::new(), 1);
        loop {
            let script = "return [[...document.querySelectorAll('.results [data-token]')].map((one) => one.dataset.token), \
                document.querySelector('a[rel=next]')?.getAttribute('href') ?? null]";
            let page = person.browser.run(script);
            let tokens = page[0].as_array().unwrap().iter();
            all.extend(tokens.map(|token| token.as_str().unwrap().to_owned()));
            let Some(next) = page[1].as_str() else { return (all, pages) };
            let path = next.splitn(4, '/').nth(3).unwrap();
            person.goes(&format!("/{path}"));
            pages += 1;
        }
    }
}

/// Says what the tokens are called, and gives them properties: two of words, and one of numbers.
fn describe(market: &Market, collection: Address) {
    let metals = ["Silver", "Bronze", "Gold"];
    let token = |number: u64| {
        let metal = metals[usize::try_from(number % 3).unwrap()];
        json!({ "chainId": 31337, "contractAddress": collection, "tokenId": number.to_string(),
            "name": format!("Relic {}", number * 37 % 101),
            "attributes": [{ "trait_type": "Metal", "value": metal },
                { "trait_type": "Origin", "value": if number.is_multiple_of(5) { "Harbour & Sons" } else { "Quay" } },
                { "trait_type": "Age", "value": number }] })
    };
    let all: Vec<Value> = (1..=TOKENS).map(token).collect();
    let put = market.server().call("Ingest/PutTokens", market.secret(), &json!({ "tokens": all })).ok();
    assert_eq!(put["rejected"], json!([]));
}

#[test]
fn every_order_is_that_of_the_operation_over_all_pages() {
    let shop = Shop::open();
    let person = Person::new(&shop.market, shop.market.buyer());
    for (word, sort) in SORTS {
        for (only, pages) in [("", 3), ("&only=1", 2)] {
            let query = format!("?sort={word}{only}");
            let expected = shop.told(&json!({ "includeEmpty": only.is_empty() }), sort);
            assert_eq!(shop.shown(&person, &query), (expected, pages), "{query}");
        }
    }
    // The form has these orders, and no other.
    person.opens(shop.collection, "");
    let offered = "return [...document.querySelectorAll('select[name=sort] option')].map((one) => one.value)";
    assert_eq!(person.browser.run(offered), json!(SORTS.map(|(word, _)| word)));
    person.browser.choose("select[name=sort]", "-id");
    person.browser.press("Apply");
    person.browser.wait_for_page("sort=-id");
    let first = "return document.querySelector('.results [data-token]').dataset.token";
    assert_eq!(person.browser.run(first), json!(TOKENS.to_string()));
}

#[test]
fn every_value_leaves_as_many_tokens_as_it_says() {
    let shop = Shop::open();
    let person = Person::new(&shop.market, shop.market.buyer());
    let values = |query: &str| -> BTreeMap<(String, String), String> {
        person.opens(shop.collection, query);
        let script = "return [...document.querySelectorAll('.filters .box:has(.count)')].map((box) => \
            [box.querySelector('input').name, box.querySelector('input').value, box.querySelector('.count').textContent])";
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = person.browser.run(script);
        all.as_array().unwrap().iter().map(|one| ((text(&one[0]), text(&one[1])), text(&one[2]))).collect()
    };
    let found = || person.browser.text_of(".summary h2");
    for given in [json!([]), json!([{ "name": "Metal", "type": "GENERIC", "values": ["Gold"] }])] {
        let is_gold = given != json!([]);
        let query = if is_gold { "?p.Metal=Gold" } else { "" };
        let counts = values(query);
        let asked = json!({ "includeCounts": true, "filter": { "properties": given } });
        let told = shop.ask("Metadata/GetTokenMetadataPropertyFilters", asked)["filters"].take();
        let mut compared = 0;
        for facet in told.as_array().unwrap() {
            for value in facet["counts"].as_array().unwrap() {
                // Of a property that is chosen, other values count as if nothing of it were.
                let name = facet["name"].as_str().unwrap();
                if facet["min"].is_null() && !(is_gold && name == "Metal") {
                    let key = (format!("p.{name}"), value["value"].as_str().unwrap().to_owned());
                    assert_eq!(counts[&key], value["count"].to_string(), "{key:?} {counts:?}");
                    compared += 1;
                }
            }
        }
        assert_eq!((counts.len(), compared), if is_gold { (5, 2) } else { (5, 5) });
        for ((field, value), count) in &counts {
            let gold = if is_gold && field != "p.Metal" { "&p.Metal=Gold" } else { "" };
            let value = value.replace('&', "%26").replace(' ', "+");
            person.opens(shop.collection, &format!("?{field}={value}{gold}"));
            assert_eq!(found(), format!("Found: {count}"), "{field} {value}");
        }
    }
    // Bounds, a text, and what is for sale of it.
    person.opens(shop.collection, "?min.Age=10&max.Age=19&only=1");
    let age = json!([{ "name": "Age", "type": "INT", "min": 10, "max": 19 }]);
    let count = shop.count(&json!({ "includeEmpty": false, "properties": age }));
    assert_eq!((count, found()), (5, "Found: 5".to_owned()));
    person.opens(shop.collection, "?q=relic+7");
    let count = shop.count(&json!({ "includeEmpty": true, "searchText": "relic 7" }));
    assert_eq!(found(), format!("Found: {count}"));
}
