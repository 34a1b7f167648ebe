//! Who holds what, and how much there is.

mod balances;
mod gateway;
mod history;
mod market_orders;
mod nodes;
mod prices;
mod supplies;
mod updates;

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::market::put;
use crate::support::seed::{RELICS, contract_info};

/// A contract that nobody verified.
const MASKS: &str = "0x00000000000000000000000000000000000000ba";
/// One on another chain.
const ELSEWHERE: &str = "0x00000000000000000000000000000000000000bc";
const ANNA: &str = "0x00000000000000000000000000000000000000d1";
const BEN: &str = "0x00000000000000000000000000000000000000d2";
const NOBODY: &str = "0x00000000000000000000000000000000000000d3";

/// What accounts hold of a contract of a chain: token, account, how much.
async fn hold(app: &TestApp, chain: u64, contract: &str, held: &[(&str, &str, &str)]) {
    let balance = |(token, account, balance): &(&str, &str, &str)| {
        json!({
            "contractAddress": contract, "tokenId": token, "account": account, "balance": balance,
        })
    };
    let balances: Vec<Value> = held.iter().map(balance).collect();
    put(app, "PutBalances", json!({ "chainId": chain, "balances": balances })).await;
}

/// Two contracts on Polygon, of which one is verified, and one elsewhere.
async fn held() -> TestApp {
    let app = TestApp::start().await;
    let mut masks = contract_info(MASKS, "Masks");
    masks["type"] = json!("ERC721");
    masks["extensions"]["verified"] = json!(false);
    put(&app, "PutContracts", json!({ "chainId": 137, "contracts": [masks] })).await;
    // The number of a collection follows from when it came: the one between the others is of another chain.
    hold(&app, 137, RELICS, &[("1", ANNA, "7"), ("1", BEN, "3"), ("2", ANNA, "1"), ("10", ANNA, "5")]).await;
    hold(&app, 80002, ELSEWHERE, &[("1", ANNA, "2"), ("2", ANNA, "2")]).await;
    hold(&app, 137, MASKS, &[("4", ANNA, "1"), ("5", BEN, "1"), ("6", ANNA, "0")]).await;
    app
}

/// Contract, token and balance of each row.
fn rows(balances: &Value) -> Vec<(String, String, String)> {
    let text = |row: &Value, member: &str| row[member].as_str().unwrap_or("-").to_owned();
    let row = |row: &Value| (text(row, "contractAddress"), text(row, "tokenID"), text(row, "balance"));
    balances.as_array().unwrap().iter().map(row).collect()
}

fn row(contract: &str, token: &str, balance: &str) -> (String, String, String) {
    (contract.to_owned(), token.to_owned(), balance.to_owned())
}
