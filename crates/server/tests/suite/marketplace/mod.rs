//! Collectibles, orders and search, as callers see them.

mod active_orders;
mod checkout_options_marketplace;
mod clock;
mod collection_offers;
mod generate_buy_transaction;
mod generate_cancel_transaction;
mod generate_listing_and_offer_transaction;
mod generate_members;
mod generate_sell_transaction;
mod lenient_requests;
mod list_collectibles;
mod memory;
mod older_names;
mod order_filters;
mod orders_of_collection;
mod page_numbers;
mod page_positions;
mod price_order;
mod primary_sales;
mod property_filters;
mod record_members;
mod refused_filters;
mod several_services;
mod token_filters;
mod trading;
mod unknown_collections;

use bourse_store::Change;
use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::actor::{Actor, Answer};
pub(crate) use crate::support::orders::{
    ANA, BEN, COIN, DOLLAR, SHELL, TOMORROW, balance, commit, listing, market, offer, order, orders, put,
    with,
};
use crate::support::seed::{self, RELICS};

fn token(id: u64, name: &str) -> Change {
    seed::token_of(json!({ "tokenId": id.to_string(), "name": name }))
}

/// Asks about [`RELICS`] with A's key.
pub(crate) async fn ask(app: &TestApp, operation: &str, members: Value) -> Answer {
    ask_as(&app.project_a.key, operation, members).await
}

async fn ask_as(actor: &Actor, operation: &str, members: Value) -> Answer {
    let body = with(json!({ "chainId": "polygon", "contractAddress": RELICS }), members);
    actor.call(operation, body).await
}

/// Lists collectibles that have a listing.
async fn listed(app: &TestApp, filter: Value) -> Vec<String> {
    let body = json!({ "side": "listing", "filter": filter });
    tokens(&ask(app, "Marketplace/ListCollectibles", body).await.ok())
}

/// The tokens of a page of collectibles.
fn tokens(answer: &Value) -> Vec<String> {
    let rows = answer["collectibles"].as_array().unwrap_or_else(|| panic!("no collectibles: {answer}"));
    rows.iter().map(|row| row["metadata"]["tokenId"].as_str().unwrap().to_owned()).collect()
}

/// The ids of orders that some member of an answer lists.
fn order_ids(answer: &Value, member: &str) -> Vec<String> {
    let orders = answer[member].as_array().unwrap_or_else(|| panic!("no {member}: {answer}"));
    orders.iter().map(|order| order["orderId"].as_str().unwrap().to_owned()).collect()
}

/// The ids of the orders in the three places of a collectible.
fn slots(collectible: &Value) -> [Option<&str>; 3] {
    ["order", "listing", "offer"].map(|slot| collectible[slot]["orderId"].as_str())
}
