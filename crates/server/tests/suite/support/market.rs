//! Records put as a client puts them, and lists read as a client reads them.

use serde_json::{Value, json};

use super::TestApp;
use super::seed::{ACCOUNT, RELICS};

/// The chain's own currency.
pub(crate) const COIN: &str = "0x0000000000000000000000000000000000000000";
/// Three days after every test begins.
const LATER: &str = "2025-03-17T12:00:00Z";

/// Puts records with A's secret token; none may be rejected.
pub(crate) async fn put(app: &TestApp, operation: &str, body: Value) {
    let answer = app.project_a.call(&format!("Ingest/{operation}"), body).await.ok();
    assert_eq!(answer["rejected"], json!([]));
}

/// Puts an order: a listing of token 1 of [`RELICS`] on OpenSea, with some members changed.
pub(crate) async fn put_order(app: &TestApp, id: &str, change: Value) {
    let mut order = json!({
        "collectionContractAddress": RELICS, "orderId": id, "marketplace": "opensea", "side": "listing",
        "tokenId": "1", "createdBy": ACCOUNT, "priceAmount": "1500000000000000000", "validUntil": LATER,
        "priceCurrencyAddress": COIN, "quantityInitial": "5",
    });
    let Value::Object(change) = change else { panic!("{change} is no object") };
    order.as_object_mut().unwrap().extend(change);
    put(app, "PutOrders", json!({ "chainId": 137, "orders": [order] })).await;
}

/// Puts the chain's own currency: two US dollars a unit.
pub(crate) async fn put_coin(app: &TestApp) {
    let coin = json!({ "contractAddress": COIN, "name": "Coin", "symbol": "C", "decimals": 18, "exchangeRate": "2" });
    put(app, "PutCurrencies", json!({ "chainId": 137, "currencies": [coin] })).await;
}

/// The whole of a list, read in pages of a size by sending back the page that `next` names until there is no more,
/// and by counting pages. Both must come to the same.
pub(crate) async fn whole(
    app: &TestApp,
    operation: &str,
    body: &Value,
    member: &str,
    size: u64,
) -> Vec<Value> {
    let (mut items, mut pages) = (Vec::new(), 0);
    let mut body = body.clone();
    body["page"] = json!({ "pageSize": size });
    loop {
        let answer = app.project_a.call(operation, body.clone()).await.ok();
        let page = answer[member].as_array().unwrap();
        pages += 1;
        let counted = json!({ "page": pages, "pageSize": size });
        body["page"] = counted;
        assert_eq!(&app.project_a.call(operation, body.clone()).await.ok()[member], &answer[member]);
        items.extend(page.iter().cloned());
        let next = match &answer["page"] {
            Value::Null => answer["nextPage"].clone(),
            page if page["more"] == true => page.clone(),
            _ => Value::Null,
        };
        if next.is_null() {
            return items;
        }
        assert_eq!(page.len() as u64, size);
        body["page"] = next;
    }
}
