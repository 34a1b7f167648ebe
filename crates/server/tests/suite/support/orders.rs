//! A market of one collection: its currencies, and orders and balances as the store takes them.

use bourse_store::testing::{batch, operator};
use bourse_store::{Change, Store};
use bourse_wire::{ChainId, Currency, DatedRate, OrderInput, ServiceName, Timestamp};
use serde_json::{Value, json};

use super::TestApp;
use super::seed::{RELICS, key};

/// The chain's own currency: 18 decimals, two US dollars a unit.
pub(crate) const COIN: &str = "0x0000000000000000000000000000000000000000";
/// Six decimals, one US dollar a unit.
pub(crate) const DOLLAR: &str = "0x00000000000000000000000000000000000000d0";
/// Nobody knows what it is worth.
pub(crate) const SHELL: &str = "0x00000000000000000000000000000000000000ff";
pub(crate) const ANA: &str = "0x00000000000000000000000000000000000000a1";
pub(crate) const BEN: &str = "0x00000000000000000000000000000000000000b2";
/// A day after every test begins.
pub(crate) const TOMORROW: &str = "2025-03-15T12:00:00Z";

/// A service that knows the three currencies and these changes of [`RELICS`].
pub(crate) async fn market(changes: Vec<Change>) -> TestApp {
    let prepare = async move |store: &Store, _: &_, _: &_| put(store, changes).await;
    TestApp::prepared(&[], prepare).await.0
}

pub(crate) async fn put(store: &Store, changes: Vec<Change>) {
    store.put_currencies(coins("2"), operator()).await.unwrap();
    commit(store, changes).await;
}

/// The three currencies, with this rate of [`COIN`].
pub(crate) fn coins(rate: &str) -> Vec<Currency> {
    vec![currency(COIN, 18, Some(rate)), currency(DOLLAR, 6, Some("1")), currency(SHELL, 0, None)]
}

pub(crate) async fn commit(store: &Store, changes: Vec<Change>) {
    store.commit(batch(key(RELICS), changes)).await.unwrap();
}

fn currency(address: &str, decimals: u8, rate: Option<&str>) -> Currency {
    Currency {
        chain_id: ChainId(137),
        contract_address: address.parse().unwrap(),
        name: "Money".to_owned(),
        symbol: "M".to_owned(),
        decimals,
        image_url: String::new(),
        rate: rate.map(|rate| DatedRate { rate: rate.parse().unwrap(), at: Timestamp::ZERO }),
    }
}

/// A listing of a token on OpenSea by [`ANA`], for so many base units of [`COIN`].
pub(crate) fn listing(id: &str, token: u64, price: u64) -> Value {
    json!({ "chainId": 137, "collectionContractAddress": RELICS, "orderId": id, "marketplace": "opensea",
        "side": "listing", "tokenId": token.to_string(), "createdBy": ANA, "priceAmount": price.to_string(),
        "priceCurrencyAddress": COIN, "validUntil": TOMORROW })
}

/// An offer for a token by [`BEN`], otherwise like a listing.
pub(crate) fn offer(id: &str, token: u64, price: u64) -> Value {
    with(listing(id, token, price), json!({ "side": "offer", "createdBy": BEN }))
}

/// A record with some members changed.
pub(crate) fn with(mut record: Value, change: Value) -> Value {
    let Value::Object(change) = change else { panic!("{change} is no object") };
    record.as_object_mut().unwrap().extend(change);
    record
}

pub(crate) fn order(members: Value) -> Change {
    let input: OrderInput = bourse_wire::from_value(members).unwrap();
    Change::Order(Box::new(input.facts(&ServiceName::new("bourse")).unwrap()))
}

pub(crate) fn orders(members: impl IntoIterator<Item = Value>) -> Vec<Change> {
    members.into_iter().map(order).collect()
}

pub(crate) fn balance(token: u64, account: &str, held: u64) -> Change {
    Change::Balance { token_id: token.into(), account: account.parse().unwrap(), balance: held.into() }
}
