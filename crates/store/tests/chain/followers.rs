//! What followers of a collection see of its chain.

use bourse_store::testing::{batch, changes_since, load_all};
use bourse_store::{Author, Balance, Batch, Change, Changes};
use bourse_wire::{Amount, Marketplace, MetadataStatus, OrderKey, TokenMetadata};

use crate::stage::{Stage, account, collection, listing, transfer};

async fn version(stage: &Stage) -> u64 {
    stage.store.versions(vec![stage.id]).await.unwrap()[0].1.version
}

async fn changes(stage: &Stage, since: u64) -> Option<Changes> {
    changes_since(&stage.store, stage.id, since).await.unwrap()
}

#[tokio::test]
async fn each_commit_is_one_version_with_what_it_changed() {
    let mut stage = Stage::new().await;
    assert_eq!(version(&stage).await, 0, "blocks that state nothing change nothing");
    stage.grow(&[&[transfer(1, 0, 1)], &[], &[listing(5, 1, 1)]]).await;
    let found = changes(&stage, 0).await.unwrap();
    assert_eq!((found.version, found.tokens.len(), found.balances.len(), found.orders.len()), (1, 1, 1, 1));
    let status = Some(MetadataStatus::NotAvailable);
    let token = TokenMetadata { token_id: 1.into(), status, ..TokenMetadata::default() };
    assert_eq!(found.tokens[0].metadata, token.to_json().unwrap());
    let everything = load_all(&stage.store, stage.id).await.unwrap();
    assert_eq!(found, everything);
    stage.grow(&[&[], &[]]).await;
    assert_eq!(version(&stage).await, 1);
}

#[tokio::test]
async fn an_order_that_is_undone_is_gone_and_balances_are_zero() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1)]]).await;
    stage.grow(&[&[transfer(1, 1, 2), listing(5, 2, 1)]]).await;
    stage.replace(101, 1, &[&[]]).await;
    let found = changes(&stage, 2).await.unwrap();
    assert_eq!((found.version, found.orders.len(), found.tokens.len()), (3, 0, 0));
    assert_eq!(found.gone_orders, [OrderKey { marketplace: Marketplace::OwnV2, order_id: "5".to_owned() }]);
    let mut balances = found.balances;
    balances.sort_by_key(|held| held.account);
    let held = |number, amount: u64| Balance {
        token_id: 1.into(),
        account: account(number),
        balance: amount.into(),
    };
    assert_eq!(balances, [held(1, 1), held(2, 0)]);
}

#[tokio::test]
async fn a_token_that_is_undone_makes_followers_load_everything() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1)]]).await;
    stage.grow(&[&[transfer(2, 0, 1)]]).await;
    stage.replace(101, 1, &[&[]]).await;
    assert_eq!(changes(&stage, 2).await, None);
    let everything = load_all(&stage.store, stage.id).await.unwrap();
    assert_eq!((everything.version, everything.tokens.len()), (3, 1));
    stage.grow(&[&[transfer(3, 0, 1)]]).await;
    assert_eq!(changes(&stage, 3).await.unwrap().tokens.len(), 1, "from there on they follow again");
}

#[tokio::test]
async fn an_order_for_a_token_that_nothing_else_tells_of_does_too() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1)], &[listing(5, 2, 77)]]).await;
    stage.replace(101, 1, &[&[]]).await;
    assert_eq!(changes(&stage, 1).await, None);
}

#[tokio::test]
async fn balances_that_nobody_knows_any_more_do_too() {
    let mut stage = Stage::new().await;
    let metadata = TokenMetadata { token_id: 1.into(), ..TokenMetadata::default() }.to_json().unwrap();
    let changed = vec![Change::Token { token_id: 1.into(), metadata }];
    stage.store.commit(batch(collection(0), changed)).await.unwrap();
    stage.grow(&[&[transfer(1, 0, 1)]]).await;
    stage.replace(100, 1, &[&[]]).await;
    assert_eq!(changes(&stage, 2).await, None);
    let everything = load_all(&stage.store, stage.id).await.unwrap();
    assert_eq!((everything.tokens.len(), everything.balances.len()), (1, 0), "the token was there before");
}

#[tokio::test]
async fn what_was_fetched_of_a_token_outlives_a_fork_that_makes_it_again() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1)]]).await;
    let fetched = r#"{"tokenId":"1","name":"fetched"}"#;
    let changed = vec![Change::Token { token_id: 1.into(), metadata: fetched.to_owned() }];
    let fetch = Batch { author: Author::Fetcher, ..batch(collection(0), changed) };
    stage.store.commit(fetch).await.unwrap();
    stage.replace(100, 1, &[&[transfer(1, 0, 2)]]).await;
    let tokens = stage.store.tokens(stage.id, vec![1.into()]).await.unwrap();
    assert_eq!(tokens[0].metadata, fetched);
    let found = changes(&stage, 2).await.unwrap();
    assert_eq!(found.balances.iter().filter(|held| held.balance > Amount::ZERO).count(), 1);
    stage.replace(100, 2, &[&[]]).await;
    assert_eq!(stage.store.tokens(stage.id, vec![1.into()]).await.unwrap(), []);
}
