//! Pages of what a contract sells, told by a chain that says what the test wants.

use std::sync::Arc;

use alloy_primitives::{hex, keccak256};
use bourse_store::testing::batch;
use serde_json::json;

use crate::shops::{get, on};
use crate::sizes::{PAGE_BYTES_MAX, put_currencies, token, worst};
use crate::support::chain::FakeChain;
use crate::support::seed::{RELICS, key};
use crate::support::{TestApp, market};

const SALE: &str = "0x5a1e000000000000000000000000000000000001";
const SETTINGS: [(&str, &str); 2] = [
    ("networks.polygon.id", "137"),
    ("networks.polygon.sales", r#"["0x5a1e000000000000000000000000000000000001"]"#),
];
/// Tokens that are sold: more than a page has.
const SOLD: u64 = 60;
/// 2024-11-01T00:00:00Z, and ten years later.
const STARTS: u64 = 1_730_419_200;
const ENDS: u64 = 2_045_952_000;

fn number(number: u64) -> String {
    format!("{number:064x}")
}

/// Has the contract sell tokens for as much as there can be, and as many of them.
fn sells(chain: &FakeChain, most: &str) {
    let says = |function: &str, data: &str| {
        chain.says_data(SALE, &hex::encode(&keccak256(function)[..4]), data);
    };
    let terms = [most.to_owned(), most.to_owned(), number(STARTS), number(ENDS), number(0)].concat();
    says("globalSaleDetails()", &[number(1), number(SOLD), terms].concat());
    let coin = market::COIN.trim_start_matches("0x");
    says("paymentToken()", &format!("{coin:0>64}"));
    says("itemsContract()", &format!("{:0>64}", RELICS.trim_start_matches("0x")));
    says("isERC1155()", &number(1));
    says("itemCount()", &number(0));
    says("items(uint256,uint256)", &[number(32), number(0)].concat());
}

#[tokio::test]
async fn pages_of_sales_are_small_whatever_others_wrote() {
    let chain = Arc::new(FakeChain::default());
    sells(&chain, &format!("{}e", "f".repeat(63)));
    let asked = Arc::<FakeChain>::clone(&chain);
    let (app, ()) = TestApp::asking(&SETTINGS, Some(asked), async |store, _, _| {
        store.commit(batch(key(RELICS), (1..=SOLD).map(token).collect())).await.unwrap();
    })
    .await;
    put_currencies(&app).await;
    let name: String = worst(256).chars().take(200).collect();
    let sold = json!([{ "chainId": 137, "itemsAddress": RELICS, "saleAddress": SALE, "name": name }]);
    let storefront = json!({ "settings": { "title": name, "accessKey": app.project_a.key_text },
        "site": on(), "shop": { "enabled": true }, "shopCollections": sold });
    app.project_a.call("Admin/PutStorefront", json!({ "storefront": storefront })).await.ok();

    let (mut path, mut tokens) = (Some(format!("/shop/1/sale/polygon/{SALE}")), Vec::<String>::new());
    while let Some(asked) = path {
        let page = get(&app, &asked).await;
        let text = page.text();
        assert_eq!(page.status, 200, "{asked}: {text}");
        println!("{asked:.60}: {} bytes", page.body.len());
        assert!(page.body.len() < PAGE_BYTES_MAX, "{asked} has {} bytes", page.body.len());
        let cards = text.split("data-act=\"mint\" data-order=\"").skip(1);
        let orders = cards.map(|card| card.split('"').next().unwrap().replace("&quot;", "\""));
        tokens.extend(orders.map(|order| order.split("\"token\":\"").nth(1).unwrap().to_owned()));
        let next = text.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
        path = next.map(|next| next.replace("&amp;", "&"));
    }
    assert_eq!(tokens.len() as u64, SOLD, "each is on a page");
    let home = get(&app, "/shop/1").await;
    assert!(home.body.len() < PAGE_BYTES_MAX, "{} bytes", home.body.len());
    let wrong = get(&app, &format!("/shop/1/sale/polygon/{SALE}?after=x")).await.text();
    assert!(wrong.contains("role=\"alert\"") && wrong.len() < PAGE_BYTES_MAX, "{wrong}");
}
