//! Currencies that are put are stored at once.

use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::{put, taken};
use crate::support::TestApp;
use crate::support::seed::UNKNOWN;

#[tokio::test]
async fn currencies_are_stored() {
    let app = TestApp::start().await;
    let coin = |name: &str, rate: Value| json!({ "contractAddress": UNKNOWN, "name": name, "symbol": "C", "decimals": 18, "exchangeRate": rate });
    let body = json!({ "chainId": "polygon", "currencies": [coin("Coin", json!("0.25"))] });
    assert_eq!(put(&app, "PutCurrencies", body.clone()).await, taken(1, 1));
    assert_eq!(put(&app, "PutCurrencies", body).await, taken(1, 0));
    let body = json!({ "chainId": 137, "currencies": [coin("Coin", json!(null))] });
    assert_eq!(put(&app, "PutCurrencies", body).await, taken(1, 1));
    let [currency] = &app.store.currencies().await.unwrap()[..] else { panic!("not one currency") };
    assert_eq!((currency.chain_id, currency.name.as_str()), (ChainId(137), "Coin"));
    assert_eq!((currency.decimals, &currency.rate), (18, &None));
}
