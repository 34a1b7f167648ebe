//! Balances that are put are stored at once.

use bourse_wire::{Amount, TokenId};
use serde_json::json;

use super::{put, stored, taken};
use crate::support::TestApp;
use crate::support::seed::{ACCOUNT, RELICS};

#[tokio::test]
async fn balances_are_stored() {
    let app = TestApp::start().await;
    let balance = |token: u64, held: &str| json!({ "chainId": 137, "contractAddress": RELICS, "tokenId": token, "account": ACCOUNT, "balance": held });
    let largest = Amount::MAX.to_string();
    let body = json!({ "balances": [balance(1, "1"), balance(2, &largest), balance(1, "0")] });
    // Three records, two things: of two records of one thing the later counts.
    assert_eq!(put(&app, "PutBalances", body).await, taken(3, 2));
    let held: Vec<_> = stored(&app).await.balances.iter().map(|held| (held.token_id, held.balance)).collect();
    assert_eq!(held, [(TokenId::from(1), Amount::ZERO), (TokenId::from(2), Amount::MAX)]);
}
