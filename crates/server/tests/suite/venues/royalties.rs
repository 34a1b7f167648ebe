//! Offers that whoever takes them must tell the royalty of.

use std::sync::Arc;

use serde_json::json;

use super::{COLLECTION, TAKER, ask, case, put, signed, taken, text, venues_with};
use crate::support::chain::FakeChain;

#[tokio::test]
async fn the_token_itself_tells_what_its_makers_get() {
    let case = case("payment_processor", "an offer is taken, version 2.1");
    let chain = Arc::new(FakeChain { is_operator: Some(true), ..FakeChain::default() });
    let app = venues_with(&[], Some(Arc::clone(&chain))).await;
    taken(&put(&app, [signed("payment_processor", &case["orders"][0])]).await);
    let orders = json!([{ "orderId": case["orders"][0]["id"], "quantity": "1" }]);
    let body = json!({ "seller": TAKER, "marketplace": "payment_processor", "ordersData": orders });
    let sell = async || {
        let answer = ask(&app, "GenerateSellTransaction", body.clone()).await.ok();
        text(&answer["steps"][0]["data"]).to_owned()
    };
    // Nobody can be asked: no more than nothing goes to whom the offer names.
    assert_eq!(sell().await, text(&case["fill"]["data"]));
    // 51 of 1000 are 510 basis points, behind the 250 of the marketplace.
    chain.says(COLLECTION, "royaltyInfo(uint256,uint256)", &[1, 51]);
    chain.says(text(&case["contract"]), "masterNonces(address)", &[2]);
    chain.says(text(&case["contract"]), "isNonceUsed(address,uint256)", &[0]);
    let (before, told) = (format!("{:064x}{:064x}", 250, 0), format!("{:064x}{:064x}", 250, 510));
    assert_eq!(sell().await, text(&case["fill"]["data"]).replacen(&before, &told, 1));
}
