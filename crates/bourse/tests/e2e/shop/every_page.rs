//! Every page on every screen, light and dark, before somebody with a wallet: everybody can use it, and nobody else is asked.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::ETHER;
use super::looks::{SCREENS, axe, check_access, check_requests, word};
use super::person::Person;
use crate::anvil::{alloy_address, mintCall};
use crate::http::Credential;
use crate::market::{Market, order, order_data, wait};

/// More than a page shows.
const TOKENS: u64 = 40;
/// Where nothing is ever asked for: not by pages, and not by the service, as it is in a network of its own.
const ELSEWHERE: &str = "http://127.0.0.1:1";

/// A market with all that pages can show: many tokens with names, texts and properties, some for sale, one sold and one wanted.
fn full() -> (Market, Address) {
    let market = Market::open();
    let collection = fill(&market);
    (market, collection)
}

/// Puts all of that into a market.
pub(super) fn fill(market: &Market) -> Address {
    let (seller, buyer) = (market.seller(), market.buyer());
    let collection = market.singles(seller);
    for token in 2..=TOKENS {
        let call = mintCall { to: alloy_address(seller), tokenId: U256::from(token) };
        market.anvil.send(seller, collection, &call);
    }
    wait("all tokens are known", || tokens(market, collection), |found| *found == TOKENS);
    // What the contract says of itself would stand in the place of what is put before it.
    wait("the contract was asked", || name(market, collection), |name| *name == "Relics");
    describe(market, collection);
    for token in 1..=9 {
        market.list(seller, collection, "ERC721", &order(&token.to_string(), "1", Address::ZERO, ETHER));
    }
    market.wait_listings(collection, "9", 1);
    let listing = market.wait_listings(collection, "5", 1).remove(0);
    let bought = market.purchase(buyer, collection, &order_data(&listing, "1"), &Value::Null);
    market.anvil.perform(buyer, &market.steps("GenerateBuyTransaction", &bought));
    market.wait_listings(collection, "5", 0);
    market.fund(buyer, 5_000_000);
    market.offer(buyer, collection, "ERC721", &order("1", "1", market.currency, "2000000"));
    market.wait_offers(collection, "1", 1);
    collection
}

/// How many tokens there are.
fn tokens(market: &Market, collection: Address) -> u64 {
    let body = json!({ "contractAddress": collection });
    let answer = market.marketplace_answer("GetCountOfAllCollectibles", &body);
    // A collection of which nothing is known is not there.
    if answer.status == 400 { 0 } else { answer.ok()["count"].as_u64().unwrap() }
}

/// What the collection is called.
fn name(market: &Market, collection: Address) -> Value {
    let body = json!({ "chainID": "31337", "contractAddress": collection });
    let answer =
        market.server().call("Metadata/GetContractInfo", Credential::Key(&market.project.key), &body);
    if answer.status == 200 { answer.ok()["contractInfo"]["name"].clone() } else { Value::Null }
}

/// Says of the collection and its tokens what contracts seldom say so fully; of one picture that it is elsewhere.
fn describe(market: &Market, collection: Address) {
    let token = |number: u64| {
        let drawn = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
        let image = match number % 3 {
            0 => format!("{ELSEWHERE}/{number}.png"),
            1 => drawn.to_owned(),
            _ => String::new(),
        };
        json!({ "chainId": 31337, "contractAddress": collection, "tokenId": number.to_string(), "image": image,
            "name": format!("A relic of the harbour, number {number}"), "description": "What the tide left. ".repeat(40),
            "attributes": [{ "trait_type": "Metal", "value": if number.is_multiple_of(2) { "Silver" } else { "Bronze" } },
                { "trait_type": "Age", "value": number * 10 }] })
    };
    let all: Vec<Value> = (1..=TOKENS).map(token).collect();
    let put = market.server().call("Ingest/PutTokens", market.secret(), &json!({ "tokens": all })).ok();
    assert_eq!(put["rejected"], json!([]));
    let about = json!({ "chainId": 31337, "address": collection, "contractType": "ERC721", "name": "Relics of the harbour",
        "extensions": { "description": "Found between the tides." } });
    let put =
        market.server().call("Ingest/PutContracts", market.secret(), &json!({ "contracts": [about] })).ok();
    assert_eq!(put["rejected"], json!([]));
}

/// Switches on a shop with all that its operator can say, of which pictures are elsewhere.
fn open(market: &Market) {
    let pictures = format!("{ELSEWHERE}/1.png");
    let storefront = json!({
        "settings": { "title": "Harbour", "accessKey": market.project.key, "logoUrl": pictures, "faviconUrl": pictures },
        "site": { "enabled": true, "description": "What the harbour left us.", "accent": "#ffd000", "feeBps": 250,
            "feeReceiver": market.platform(), "footer": [{ "label": "Imprint", "url": "https://harbour.example" }] },
    });
    market.server().call("Admin/PutStorefront", market.secret(), &json!({ "storefront": storefront })).ok();
}

#[test]
fn everybody_can_use_every_page_and_nobody_else_is_asked() {
    let (market, collection) = full();
    open(&market);
    let (axe, mut wrong) = (axe(), Vec::new());
    for (screen, colours) in SCREENS {
        let person = Person::with(&market, market.platform(), (screen, colours));
        let mut look = |page: &str| {
            let name = format!("{page}-{}-{}", word(screen), word(colours));
            wrong.extend(check_requests(&person.browser, &name));
            wrong.extend(check_access(&person.browser, &axe, &name));
        };
        let of_collection = |rest: &str| format!("/c/31337/{collection}{rest}");
        let pages = [
            ("home", String::new()),
            ("collection", of_collection("")),
            ("found", of_collection("?q=relic&p.Metal=Silver")),
            ("token", of_collection("/1")),
            ("sold", of_collection("/5")),
            ("account", format!("/a/{}", market.seller())),
            ("refused", of_collection("/77777")),
            ("empty-basket", "/basket".to_owned()),
        ];
        for (name, path) in &pages {
            person.goes(path);
            // Once the script has shown what it shows; there is none on the page of what is not there.
            if *name != "refused" {
                person.until("[data-connect], [data-account]");
            }
            look(name);
        }
        person.goes("");
        let logo = "return document.querySelector('.brand img').getBoundingClientRect().width";
        assert_eq!(person.browser.run(logo), 0, "the name stands alone");
        person.opens(collection, "/1");
        person.clicks("[data-act=basket]");
        person.until("[data-basket='1']");
        person.goes("/basket");
        person.until("[data-checkout]");
        look("basket");
        person.clicks("[data-checkout]");
        person.until("[data-confirm]");
        look("plan");
        person.opens(collection, "/1");
        person.clicks("[data-act=offer]");
        person.until("dialog [name=price]");
        look("offer");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
