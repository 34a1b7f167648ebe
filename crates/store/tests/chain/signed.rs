//! Signed orders: put by people, and then told of by a chain.

use alloy_primitives::{B256, U256};
use bourse_market::facts::{Block, Fact, OrderFilled, OrderPublished, OrderRef};
use bourse_market::{Numbers, Revoked, Series, Standing};
use bourse_store::testing::{batch, operator, write_number, write_undo};
use bourse_store::{Change, Settled, SignedOrder};
use bourse_wire::{Amount, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus};
use serde_json::json;

use crate::stage::{CHAIN, Stage, account, collection, transfer};

pub(crate) const MARKET: Marketplace = Marketplace::Opensea;

/// A listing of ten units of token 1 by the first account, which its seventh counter is for.
pub(crate) fn signed(id: &str) -> SignedOrder {
    let facts = OrderFacts {
        marketplace: MARKET,
        side: OrderSide::Listing,
        token_id: Some(1.into()),
        maker: account(1),
        price_amount: 100.into(),
        quantity_initial: 10.into(),
        quantity_remaining: 10.into(),
        operator: Some(account(0xee)),
        ..OrderFacts::sample(id)
    };
    let nonces = json!({ "contract": account(0xdd), "numbers": [["counter", "7"]] });
    let nonces = serde_json::from_value(nonces).unwrap();
    SignedOrder { facts, native: format!("{{\"id\":\"{id}\"}}"), nonces }
}

pub(crate) fn key(id: &str) -> OrderKey {
    OrderKey { marketplace: MARKET, order_id: id.to_owned() }
}

pub(crate) async fn put(stage: &Stage, order: SignedOrder) {
    let change = Change::SignedOrder(Box::new(order));
    stage.store.commit(batch(collection(0), vec![change])).await.unwrap();
}

pub(crate) async fn order(stage: &Stage, id: &str) -> OrderFacts {
    let keys = vec![key(id)];
    stage.store.orders_by_key(stage.id, keys).await.unwrap().pop().unwrap()
}

pub(crate) async fn state(stage: &Stage, id: &str) -> (OrderStatus, Amount) {
    let order = order(stage, id).await;
    (order.status, order.quantity_remaining)
}

/// The names of the orders that a chain is to be asked about.
pub(crate) async fn unsettled(stage: &Stage) -> Vec<String> {
    let orders = stage.store.unsettled_orders(CHAIN, 100).await.unwrap();
    for order in &orders {
        assert_eq!(order.collection, collection(0));
        assert_eq!(order.native, signed(&order.facts.order_id).native);
    }
    let mut names: Vec<String> = orders.into_iter().map(|order| order.facts.order_id).collect();
    names.sort();
    names
}

pub(crate) async fn settle(
    stage: &Stage,
    at: Block,
    id: &str,
    standing: impl Into<Option<Standing>>,
) -> bool {
    let collection = collection(0);
    let standing = standing.into();
    let settled = Settled { collection, key: key(id), standing, covered: None, is_ahead: false };
    stage.store.settle_orders(CHAIN, at, vec![settled]).await.unwrap()
}

pub(crate) fn filled(id: &str, quantity: u64) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: MARKET,
        order_ref: OrderRef::Id(id.to_owned()),
        taker: account(2),
        recipient: account(2),
        token_id: Some(1.into()),
        quantity: quantity.into(),
        remaining: None,
    }))
}

pub(crate) fn open(remaining: u64) -> Standing {
    Standing::Open { remaining: remaining.into() }
}

#[tokio::test]
async fn the_chain_is_asked_again_by_whoever_wants_to_know() {
    let mut stage = Stage::new().await;
    for id in ["a", "b", "over"] {
        put(&stage, signed(id)).await;
        assert!(settle(&stage, stage.newest(), id, open(7)).await);
    }
    stage.grow(&[&[filled("over", 7)]]).await;
    let ask = async |ids: &[&str]| {
        let keys = ids.iter().map(|id| key(id)).collect();
        stage.store.ask_again(collection(0), keys).await.unwrap()
    };
    assert_eq!(ask(&["a", "over", "nobody knows it"]).await, 1, "what is over stays so");
    assert_eq!(unsettled(&stage).await, ["a"]);
    assert_eq!(ask(&["a", "a", "b"]).await, 1, "one that waits already does not wait twice");
    assert_eq!(unsettled(&stage).await, ["a", "b"]);
    assert_eq!(ask(&["a", "b"]).await, 0);
    assert!(settle(&stage, stage.newest(), "a", open(3)).await);
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 3.into()));
    let elsewhere = stage.store.ask_again(collection(7), vec![key("a")]).await.unwrap();
    assert_eq!((elsewhere, unsettled(&stage).await), (0, vec!["b".to_owned()]));
}

/// A server of before that was known stores it as it is for most.
#[tokio::test]
async fn an_order_that_is_put_again_says_whether_it_is_filled_whole() {
    let mut stage = Stage::new().await;
    for is_asked in [false, true] {
        let id = if is_asked { "asked" } else { "new" };
        put(&stage, signed(id)).await;
        if is_asked {
            assert!(settle(&stage, stage.newest(), id, open(7)).await);
        }
        let before = order(&stage, id).await;
        assert!(!before.is_whole);
        let mut again = signed(id);
        again.facts.is_whole = true;
        put(&stage, again).await;
        assert_eq!(order(&stage, id).await, OrderFacts { is_whole: true, ..before });
    }
    stage.grow(&[&[filled("asked", 7)]]).await;
    assert_eq!(state(&stage, "asked").await.1, Amount::ZERO, "it is the same order otherwise");
}

#[tokio::test]
async fn the_chain_is_asked_once_and_then_told_by_logs() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    assert_eq!(unsettled(&stage).await, ["a"]);
    // Three units were filled before the order was known, and two more in a block that is not read yet.
    assert!(settle(&stage, stage.newest(), "a", open(7)).await);
    assert!(unsettled(&stage).await.is_empty());
    stage.grow(&[&[filled("a", 2)]]).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 5.into()));
    let known = order(&stage, "a").await;
    put(&stage, signed("a")).await;
    assert_eq!(order(&stage, "a").await, known, "it is known");
    assert!(unsettled(&stage).await.is_empty());
    stage.grow(&[&[filled("a", 5)]]).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, Amount::ZERO));
}

#[tokio::test]
async fn what_was_said_of_another_block_is_not_taken() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    let before = stage.newest();
    stage.grow(&[&[filled("a", 2)]]).await;
    // The node said this before the fill that is known already.
    settle(&stage, before, "a", open(10)).await;
    let elsewhere = Block { hash: B256::repeat_byte(9), ..stage.newest() };
    assert!(!settle(&stage, elsewhere, "a", open(10)).await);
    assert_eq!((state(&stage, "a").await.1, unsettled(&stage).await), (8.into(), vec!["a".to_owned()]));
    assert!(settle(&stage, stage.newest(), "a", open(8)).await);
    assert_eq!(state(&stage, "a").await.1, 8.into());
}

#[tokio::test]
async fn blocks_that_are_taken_back_have_the_chain_asked_again() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[]]).await;
    put(&stage, signed("a")).await;
    settle(&stage, stage.newest(), "a", open(6)).await;
    stage.grow(&[&[filled("a", 2)]]).await;
    stage.replace(101, 1, &[&[]]).await;
    assert_eq!((state(&stage, "a").await.1, unsettled(&stage).await.len()), (6.into(), 0), "as logs tell");
    stage.replace(100, 2, &[&[]]).await;
    assert_eq!(unsettled(&stage).await, ["a"], "what was filled before may not be now");
    settle(&stage, stage.newest(), "a", open(10)).await;
    assert_eq!(state(&stage, "a").await.1, 10.into());
}

/// Asking about many orders may take longer than a block.
#[tokio::test]
async fn an_answer_counts_although_blocks_came_meanwhile() {
    let mut stage = Stage::new().await;
    for id in ["a", "b", "c"] {
        put(&stage, signed(id)).await;
    }
    let (at, asked) = stage.store.questions(CHAIN, 100).await.unwrap().unwrap();
    assert_eq!((at, asked.len()), (stage.newest(), 3));
    let approval = Fact::Approval { owner: account(1), operator: account(0xee), approved: false };
    stage.grow(&[&[filled("b", 1)], &[]]).await;
    assert!(settle(&stage, at, "a", open(7)).await);
    assert!(settle(&stage, at, "b", open(7)).await);
    assert_eq!(state(&stage, "a").await.1, 7.into());
    assert_eq!(state(&stage, "b").await.1, 9.into(), "a log told of it since");
    assert_eq!(unsettled(&stage).await, ["b", "c"]);
    stage.grow(&[&[approval]]).await;
    settle(&stage, at, "c", open(7)).await;
    assert_eq!(unsettled(&stage).await, ["b", "c"], "what was said before an approval is not mixed with it");
    // It is undone with the block that it was said of, and not with one after it.
    stage.replace(101, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await.1, 7.into());
}

#[tokio::test]
async fn those_who_wait_longest_are_asked_about_first() {
    let mut stage = Stage::new().await;
    put(&stage, signed("c")).await;
    stage.grow(&[&[]]).await;
    put(&stage, signed("b")).await;
    stage.grow(&[&[]]).await;
    put(&stage, signed("a")).await;
    let next = async |stage: &Stage| {
        let (_, asked) = stage.store.questions(CHAIN, 1).await.unwrap().unwrap();
        asked[0].facts.order_id.clone()
    };
    assert_eq!(next(&stage).await, "c");
    stage.grow(&[&[]]).await;
    settle(&stage, stage.newest(), "c", Standing::NotYet).await;
    assert_eq!(next(&stage).await, "b", "one that waits for its maker lets others go first");
    settle(&stage, stage.newest(), "b", open(10)).await;
    assert_eq!(next(&stage).await, "a");
}

#[tokio::test]
async fn orders_end_as_the_chain_says() {
    let stage = Stage::new().await;
    for id in ["a", "b", "c", "d"] {
        put(&stage, signed(id)).await;
    }
    settle(&stage, stage.newest(), "a", Some(Standing::Filled)).await;
    settle(&stage, stage.newest(), "b", Some(Standing::Cancelled)).await;
    settle(&stage, stage.newest(), "c", Some(Standing::Uncovered)).await;
    settle(&stage, stage.newest(), "d", None).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, Amount::ZERO));
    assert_eq!(state(&stage, "b").await, (OrderStatus::Cancelled, 10.into()));
    assert_eq!(order(&stage, "c").await.backing, Some(Amount::ZERO));
    assert_eq!(state(&stage, "d").await, (OrderStatus::Active, 10.into()));
    // A marketplace that only tells that an order is over does not undo that it was filled.
    settle(&stage, stage.newest(), "a", Some(Standing::Cancelled)).await;
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, Amount::ZERO));
    settle(&stage, stage.newest(), "b", open(10)).await;
    assert_eq!(state(&stage, "b").await.0, OrderStatus::Cancelled, "somebody took it back");
}

#[tokio::test]
async fn an_order_that_somebody_called_a_ghost_is_good_again_when_it_is_put_again() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    stage.grow(&[&[filled("a", 4)]]).await;
    for (status, then) in
        [(OrderStatus::Inactive, OrderStatus::Active), (OrderStatus::Cancelled, OrderStatus::Cancelled)]
    {
        let ghost = OrderFacts { status, ..order(&stage, "a").await };
        let changes = vec![Change::Order(Box::new(ghost))];
        stage.store.commit(batch(collection(0), changes)).await.unwrap();
        assert_eq!(state(&stage, "a").await, (status, 6.into()));
        put(&stage, signed("a")).await;
        assert_eq!(state(&stage, "a").await, (then, 6.into()));
    }
}

#[tokio::test]
async fn orders_that_a_chain_tells_of_are_kept_whole_until_it_takes_them_back() {
    let mut stage = Stage::new().await;
    let SignedOrder { facts, native, nonces } = signed("a");
    let published = Fact::OrderPublished(Box::new(OrderPublished { facts, native: native.clone(), nonces }));
    stage.grow(&[std::slice::from_ref(&published)]).await;
    let found = order(&stage, "a").await;
    assert_eq!((found.block_number, found.operator), (101, Some(account(0xee))));
    let key = key("a");
    let natives = stage.store.natives_by_key(stage.id, vec![key.clone()]).await.unwrap();
    assert_eq!(natives.get(&key), Some(&native));
    assert_eq!(unsettled(&stage).await, ["a"], "whether its maker lets the token be moved is asked");
    stage.grow(&[&[filled("a", 3)]]).await;
    assert_eq!(state(&stage, "a").await.1, 7.into());
    stage.replace(100, 1, &[&[]]).await;
    assert!(stage.store.orders_by_key(stage.id, vec![key]).await.unwrap().is_empty());
    assert!(unsettled(&stage).await.is_empty());
    // One that somebody put stays theirs.
    put(&stage, signed("a")).await;
    stage.grow(&[&[published]]).await;
    assert_eq!(order(&stage, "a").await.block_number, 0);
}

/// Blocks come many at once when a follower catches up.
#[tokio::test]
async fn an_order_that_is_told_of_and_taken_back_at_once_is_over() {
    let SignedOrder { facts, native, nonces } = signed("a");
    let published = Fact::OrderPublished(Box::new(OrderPublished { facts, native, nonces }));
    let cancelled = Fact::OrderCancelled { marketplace: MARKET, order_id: "a".to_owned() };
    let counter = Fact::OrdersRevoked {
        marketplace: MARKET,
        maker: account(1),
        revoked: Revoked {
            contract: account(0xdd),
            series: Series::Counter,
            numbers: Numbers::Below(U256::from(8)),
        },
    };
    let blocks: [&[&[Fact]]; 3] = [
        &[&[published.clone(), cancelled.clone()]],
        &[std::slice::from_ref(&published), &[cancelled]],
        &[std::slice::from_ref(&published), &[counter]],
    ];
    for blocks in blocks {
        let mut stage = Stage::new().await;
        stage.grow(blocks).await;
        assert_eq!(state(&stage, "a").await.0, OrderStatus::Cancelled, "{blocks:?}");
    }
}

#[tokio::test]
async fn makers_take_orders_back_by_their_numbers() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    let moved = |maker, counter: u64| Fact::OrdersRevoked {
        marketplace: MARKET,
        maker: account(maker),
        revoked: Revoked {
            contract: account(0xdd),
            series: Series::Counter,
            numbers: Numbers::Below(U256::from(counter)),
        },
    };
    stage.grow(&[&[moved(2, 8), moved(1, 7)]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Active);
    stage.grow(&[&[moved(1, 8)]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Cancelled);
    stage.replace(101, 1, &[&[]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Active);
    let cancelled = Fact::OrderCancelled { marketplace: MARKET, order_id: "a".to_owned() };
    let other = Fact::OrderCancelled { marketplace: MARKET, order_id: "b".to_owned() };
    stage.grow(&[&[other, cancelled]]).await;
    assert_eq!(state(&stage, "a").await.0, OrderStatus::Cancelled);
}

#[tokio::test]
async fn listings_follow_approvals_of_their_operator() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1)]]).await;
    put(&stage, signed("a")).await;
    let approval = |approved| Fact::Approval { owner: account(1), operator: account(0xee), approved };
    stage.grow(&[&[approval(false)]]).await;
    assert_eq!(order(&stage, "a").await.backing, Some(Amount::ZERO));
    stage.grow(&[&[approval(true)]]).await;
    assert_eq!(order(&stage, "a").await.backing, None);
}

#[tokio::test]
async fn listings_are_covered_as_the_chain_says_until_logs_tell_more() {
    let mut stage = Stage::new().await;
    put(&stage, signed("a")).await;
    let settle = async |stage: &Stage, standing: Option<Standing>, covered| {
        let collection = collection(0);
        let settled = Settled { collection, key: key("a"), standing, covered, is_ahead: false };
        stage.store.settle_orders(CHAIN, stage.newest(), vec![settled]).await.unwrap();
        order(stage, "a").await.backing
    };
    assert_eq!(settle(&stage, Some(open(4)), Some(false)).await, Some(Amount::ZERO));
    assert_eq!(
        state(&stage, "a").await,
        (OrderStatus::Active, 4.into()),
        "what remains is told all the same"
    );
    let approval = Fact::Approval { owner: account(1), operator: account(0xee), approved: true };
    stage.grow(&[&[approval]]).await;
    assert_eq!(order(&stage, "a").await.backing, None);
    assert_eq!(settle(&stage, None, Some(false)).await, Some(Amount::ZERO));
    assert_eq!(settle(&stage, Some(open(4)), None).await, Some(Amount::ZERO), "nobody told");
    assert_eq!(settle(&stage, Some(open(4)), Some(true)).await, None);
    assert_eq!(settle(&stage, Some(Standing::Uncovered), Some(true)).await, Some(Amount::ZERO));
}

#[tokio::test]
async fn a_chain_that_starts_over_is_asked_again() {
    let stage = Stage::new().await;
    put(&stage, signed("a")).await;
    settle(&stage, stage.newest(), "a", open(10)).await;
    stage.store.resync_chain(CHAIN, operator()).await.unwrap();
    assert!(unsettled(&stage).await.is_empty(), "not before the collection has caught up");
    let first = stage.newest();
    stage.store.start_chain(CHAIN, first).await.unwrap();
    stage.history(collection(0), first.number, first.number, Vec::new()).await.unwrap();
    assert_eq!(unsettled(&stage).await, ["a"]);
    assert_eq!(state(&stage, "a").await, (OrderStatus::Active, 10.into()));
}

/// Of several servers some are of a newer version for a while, and know marketplaces that the others do not. Their orders are
/// left alone by whoever follows, whatever happens to their makers and tokens, and the chain goes on.
#[tokio::test]
async fn an_order_of_a_marketplace_that_only_a_newer_version_knows_stops_no_chain() {
    const NEWER: u8 = 200;
    let mut stage = Stage::new().await;
    let held = transfer(1, 0, 1);
    stage.grow(&[&[held]]).await;
    put(&stage, signed("a")).await;
    // Something that can be taken back, of this order and of the token.
    stage.grow(&[&[filled("a", 2)]]).await;
    for table in ["orders", "standing_queue"] {
        write_number(&stage.store, table, "marketplace", NEWER).await.unwrap();
    }
    write_undo(&stage.store, format!("[{},\"a\"", MARKET.number()), format!("[{NEWER},\"a\"")).await.unwrap();
    put(&stage, signed("b")).await;
    assert_eq!(unsettled(&stage).await, ["b"], "nobody is asked of what is not known");
    assert_eq!(stage.store.open_offers(CHAIN, vec![account(1)]).await.unwrap().len(), 0);
    // The maker takes orders back, and the token goes to somebody else.
    let numbers = Numbers::Below(U256::from(8));
    let revoked = Revoked { contract: account(0xdd), series: Series::Counter, numbers };
    let revoked = Fact::OrdersRevoked { marketplace: MARKET, maker: account(1), revoked };
    stage.grow(&[&[revoked, transfer(1, 1, 2)]]).await;
    assert_eq!(state(&stage, "b").await.0, OrderStatus::Cancelled);
    // Back before the fill of the one that is not known.
    let newest = stage.newest().number;
    stage.replace(newest - 2, 1, &[&[], &[], &[transfer(1, 1, 3)]]).await;
    assert_eq!(state(&stage, "b").await.0, OrderStatus::Active);
    let known = stage.store.orders_by_key(stage.id, vec![key("a")]).await.unwrap();
    assert_eq!(known, [], "it is where it was, under its own marketplace");
    let (sender, mut parts) = tokio::sync::mpsc::channel(16);
    stage.store.load(stage.id, sender).await.unwrap();
    let mut loaded = Vec::new();
    while let Some(part) = parts.recv().await {
        if let bourse_store::Part::Orders(orders) = part {
            loaded.extend(orders.into_iter().map(|order| order.order_id));
        }
    }
    assert_eq!(loaded, ["b"]);
}

/// One permission says nothing of the other: the chain is asked again, and what it was asked before does not count.
#[tokio::test]
async fn a_listing_that_needs_two_permissions_is_asked_about_at_either() {
    let mut stage = Stage::new().await;
    let facts = OrderFacts { marketplace: Marketplace::LooksRare, ..signed("a").facts };
    let key = facts.key();
    put(&stage, SignedOrder { facts, ..signed("a") }).await;
    let settle = async |stage: &Stage, at: Block, is_covered: bool| {
        let standing = if is_covered { open(10) } else { Standing::Uncovered };
        let (standing, covered) = (Some(standing), Some(is_covered));
        let settled =
            Settled { collection: collection(0), key: key.clone(), standing, covered, is_ahead: false };
        stage.store.settle_orders(CHAIN, at, vec![settled]).await.unwrap();
        let order = stage.store.orders_by_key(stage.id, vec![key.clone()]).await.unwrap().pop().unwrap();
        order.backing
    };
    let uncovered = Some(Amount::ZERO);
    let (owner, operator) = (account(1), account(0xee));
    let approval = Fact::Approval { owner, operator, approved: true };
    let grant = Fact::Grant { owner, manager: operator, granted: true };
    for fact in [grant, approval] {
        assert_eq!(settle(&stage, stage.newest(), false).await, uncovered);
        assert!(unsettled(&stage).await.is_empty());
        let before = stage.newest();
        stage.grow(&[std::slice::from_ref(&fact)]).await;
        assert_eq!(unsettled(&stage).await, ["a"], "{fact:?}");
        assert_eq!(settle(&stage, before, true).await, uncovered, "that was before {fact:?}");
        assert_eq!(unsettled(&stage).await, ["a"], "{fact:?}");
        assert_eq!(settle(&stage, stage.newest(), true).await, None);
        assert!(unsettled(&stage).await.is_empty());
        // What the chain takes back is neither known nor believed any more.
        stage.replace(before.number, 1, &[&[]]).await;
        assert_eq!(unsettled(&stage).await, ["a"], "{fact:?}");
    }
}
