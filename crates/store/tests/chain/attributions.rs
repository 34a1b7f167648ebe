//! Who stated what, where it was a chain.

use bourse_store::{Attribution, AttributionPage, Author};
use bourse_wire::{Marketplace, OrderKey};

use crate::stage::{Stage, approval, collection, filled, listing, transfer};

async fn of_collection(stage: &Stage) -> Vec<Attribution> {
    stage.store.attributions(collection(0), AttributionPage::newest(50)).await.unwrap()
}

/// The blocks that stated changes of an order, the newest first.
async fn blocks_of(stage: &Stage, order_id: &str) -> Vec<Option<u64>> {
    let key = OrderKey { marketplace: Marketplace::OwnV2, order_id: order_id.to_owned() };
    let page = AttributionPage::newest(50);
    let found = stage.store.order_attributions(collection(0), key, page).await.unwrap();
    let block = |attribution: Attribution| match attribution.author {
        Author::Chain { block } => block,
        other => panic!("{other:?}"),
    };
    found.found.into_iter().map(block).collect()
}

#[tokio::test]
async fn orders_are_stated_by_blocks_and_nothing_else_is_kept() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1), approval(1, true)], &[transfer(2, 0, 1)]]).await;
    assert_eq!(of_collection(&stage).await, [], "of what chains state only orders are kept");
    let before = stage.newest().number;
    stage.grow(&[&[listing(5, 1, 1)], &[listing(6, 1, 2)], &[transfer(3, 0, 2)]]).await;
    stage.grow(&[&[filled(5, 2, 2)]]).await;
    let found = of_collection(&stage).await;
    let summary: Vec<_> = found.iter().map(|found| (found.orders, found.author.clone(), found.at)).collect();
    let block = |number: u64| Author::Chain { block: Some(number) };
    let time = |number: u64| stage.at(number).block.at;
    assert_eq!(summary, [(1, block(before + 4), time(before + 4)), (2, block(before + 3), time(before + 3))]);
    assert_eq!(blocks_of(&stage, "5").await, [Some(before + 4), Some(before + 1)]);
    assert_eq!(
        blocks_of(&stage, "6").await,
        [Some(before + 2)],
        "its own block, not the last that came along"
    );

    stage.replace(before + 3, 1, &[&[]]).await;
    assert_eq!(blocks_of(&stage, "5").await.len(), 3, "that a block no longer counts changes it too");
    assert_eq!(of_collection(&stage).await.len(), 3);
}
