//! Ways to pay.

use serde_json::{Value, json};

use super::trading::{CLEO, market, sold, wanted};
use crate::marketplace::{ANA, listing, with};
use crate::support::TestApp;
use crate::support::seed::{RELICS, UNKNOWN};

async fn crypto(app: &TestApp, wallet: &str, orders: &[Value]) -> Value {
    let body = json!({ "chainId": "137", "wallet": wallet, "orders": orders, "additionalFee": 250 });
    let answer = app.project_a.call("Marketplace/CheckoutOptionsMarketplace", body).await.ok();
    let options = &answer["options"];
    assert_eq!(
        (&options["swap"], &options["nftCheckout"], &options["onRamp"]),
        (&json!([]), &json!([]), &json!([]))
    );
    options["crypto"].clone()
}

fn named(id: &str) -> Value {
    json!({ "contractAddress": RELICS, "orderId": id, "marketplace": "service_marketplace_v2" })
}

#[tokio::test]
async fn by_how_many_orders_can_be_bought() {
    let over = with(sold("2", 10), json!({ "status": "cancelled" }));
    let app = market([sold("1", 10), over, wanted("3", 10), listing("4", 1, 10)]).await;
    let elsewhere =
        json!({ "contractAddress": UNKNOWN, "orderId": "1", "marketplace": "service_marketplace_v2" });
    let opensea = json!({ "contractAddress": RELICS, "orderId": "4", "marketplace": "opensea" });
    assert_eq!(crypto(&app, CLEO, &[named("1")]).await, "all");
    assert_eq!(crypto(&app, CLEO, &[named("1"), named("1")]).await, "all");
    for other in [named("2"), named("3"), named("9"), elsewhere, opensea] {
        assert_eq!(crypto(&app, CLEO, std::slice::from_ref(&other)).await, "none", "{other}");
        assert_eq!(crypto(&app, CLEO, &[named("1"), other]).await, "partially");
    }
    assert_eq!(crypto(&app, ANA, &[named("1")]).await, "none", "it is her own");
    assert_eq!(crypto(&app, CLEO, &[]).await, "none");
    let many = vec![named("1"); 51];
    let body = json!({ "chainId": "137", "wallet": CLEO, "orders": many });
    let refused = app.project_a.call("Marketplace/CheckoutOptionsMarketplace", body).await;
    assert_eq!(refused.refusal(), (400, 2001));
    let body = json!({ "chainId": "nowhere", "wallet": CLEO, "orders": [] });
    let refused = app.project_a.call("Marketplace/CheckoutOptionsMarketplace", body).await;
    assert_eq!(refused.refusal(), (400, 2001));
}
