//! What currencies are worth, and since when that is known.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::Store;
use bourse_store::testing::operator;
use bourse_wire::{Address, ChainId, Currency, DatedRate, Timestamp};
use support::database::open;

const CHAIN: ChainId = ChainId(1);

fn told(rate: &str, second: u64) -> DatedRate {
    DatedRate { rate: rate.parse().unwrap(), at: Timestamp::from_unix_seconds(second) }
}

fn currency(rate: Option<DatedRate>) -> Currency {
    Currency {
        chain_id: CHAIN,
        contract_address: Address::ZERO,
        name: "Ether".to_owned(),
        symbol: "ETH".to_owned(),
        decimals: 18,
        image_url: String::new(),
        rate,
    }
}

async fn stored(store: &Store) -> Option<DatedRate> {
    store.currencies().await.unwrap().remove(0).rate
}

#[tokio::test]
async fn a_rate_that_is_told_again_is_a_newer_one_and_no_difference() {
    let (_database, store) = open().await;
    assert_eq!(store.put_currencies(vec![currency(Some(told("2000", 5)))], operator()).await.unwrap(), 1);
    let revision = store.currencies_revision().await.unwrap();
    assert_eq!(store.put_currencies(vec![currency(Some(told("2000", 9)))], operator()).await.unwrap(), 0);
    assert_eq!(stored(&store).await, Some(told("2000", 9)));
    assert!(store.currencies_revision().await.unwrap() > revision, "servers show the newer time");
    assert_eq!(store.put_currencies(vec![currency(None)], operator()).await.unwrap(), 1);
    assert_eq!(stored(&store).await, None);
    assert_eq!(store.put_currencies(vec![currency(None)], operator()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_rate_alone_changes_nothing_else() {
    let (_database, store) = open().await;
    assert!(!store.set_rate(CHAIN, Address::ZERO, told("3000", 7)).await.unwrap());
    assert_eq!(store.currencies().await.unwrap(), []);
    store.put_currencies(vec![currency(None)], operator()).await.unwrap();
    let revision = store.currencies_revision().await.unwrap();
    assert!(store.set_rate(CHAIN, Address::ZERO, told("3000", 7)).await.unwrap());
    assert_eq!(store.currencies().await.unwrap(), [currency(Some(told("3000", 7)))]);
    assert!(store.currencies_revision().await.unwrap() > revision);
}

#[tokio::test]
async fn what_somebody_told_of_a_currency_stays_when_it_is_added() {
    let (_database, store) = open().await;
    let revision = store.currencies_revision().await.unwrap();
    assert_eq!(store.add_currencies(vec![currency(None)]).await.unwrap(), 1);
    assert!(store.currencies_revision().await.unwrap() > revision, "servers show it");
    let named = Currency { name: "Money".to_owned(), ..currency(Some(told("3000", 7))) };
    store.put_currencies(vec![named.clone()], operator()).await.unwrap();
    let revision = store.currencies_revision().await.unwrap();
    assert_eq!(store.add_currencies(vec![currency(None)]).await.unwrap(), 0);
    assert_eq!(store.currencies().await.unwrap(), [named]);
    assert_eq!(store.currencies_revision().await.unwrap(), revision);
}
