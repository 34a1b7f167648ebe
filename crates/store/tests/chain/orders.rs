//! Orders that a chain states.

use alloy_primitives::U256;
use bourse_market::facts::{Fact, OrderMade};
use bourse_market::{OpenOffer, OpenOffers, Terms};
use bourse_random::Random;
use bourse_store::testing::{batch, changes_since, make_orders, most_rows};
use bourse_store::{Backing, Change, Payer};
use bourse_wire::ActivityAction::{self, Listing, ListingCancel, Mint, Sale};
use bourse_wire::{Amount, ChainId, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus, Timestamp};

use crate::stage::{Stage, account, approval, collection, filled, listing, transfer};

fn key(id: &str) -> OrderKey {
    OrderKey { marketplace: Marketplace::OwnV2, order_id: id.to_owned() }
}

async fn order(stage: &Stage, id: &str) -> Option<OrderFacts> {
    stage.store.orders_by_key(stage.id, vec![key(id)]).await.unwrap().pop()
}

async fn actions(stage: &Stage) -> Vec<ActivityAction> {
    let activities = stage.store.activities(stage.id, None, None, 100).await.unwrap();
    activities.into_iter().rev().map(|activity| activity.facts.action).collect()
}

#[tokio::test]
async fn an_order_is_made_filled_undone_and_filled_otherwise() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[transfer(1, 0, 1), listing(5, 1, 1)], &[filled(5, 2, 1)]]).await;
    let found = order(&stage, "5").await.unwrap();
    assert_eq!((found.quantity_remaining, found.block_number), (1.into(), 102));
    assert_eq!(found.operator, Some(account(0xee)));
    assert_eq!(actions(&stage).await, [Mint, Listing, Sale]);
    let cancelled = Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: "5".to_owned() };
    stage.replace(101, 1, &[&[cancelled]]).await;
    let found = order(&stage, "5").await.unwrap();
    assert_eq!((found.quantity_remaining, found.status), (3.into(), OrderStatus::Cancelled));
    assert_eq!(actions(&stage).await, [Mint, Listing, ListingCancel]);
    stage.replace(100, 2, &[&[]]).await;
    assert_eq!((order(&stage, "5").await, actions(&stage).await), (None, vec![]));
    Stage::assert_same(&stage.facts().await, &stage.facts_from_scratch().await, "after three forks");
}

#[tokio::test]
async fn approvals_cover_listings_and_are_undone() {
    let mut stage = Stage::new().await;
    let backing = async |stage: &Stage| order(stage, "5").await.unwrap().backing;
    stage.grow(&[&[approval(1, true), listing(5, 1, 1)]]).await;
    assert_eq!(backing(&stage).await, None);
    stage.grow(&[&[approval(1, false)]]).await;
    assert_eq!(backing(&stage).await, Some(Amount::ZERO));
    let for_token = Fact::TokenApproval { token_id: 1.into(), operator: account(0xee) };
    stage.grow(&[&[for_token]]).await;
    assert_eq!(backing(&stage).await, None);
    stage.grow(&[&[transfer(1, 1, 2)]]).await;
    assert_eq!(backing(&stage).await, Some(Amount::ZERO));
    stage.replace(103, 1, &[&[]]).await;
    assert_eq!(backing(&stage).await, None);
    stage.replace(102, 2, &[&[]]).await;
    assert_eq!(backing(&stage).await, Some(Amount::ZERO));
    stage.replace(101, 3, &[&[]]).await;
    assert_eq!(backing(&stage).await, None);
}

#[tokio::test]
async fn an_approval_of_the_token_itself_outlives_that_of_all_tokens() {
    let mut stage = Stage::new().await;
    let for_token = Fact::TokenApproval { token_id: 1.into(), operator: account(0xee) };
    stage.grow(&[&[approval(1, true), listing(5, 1, 1), listing(6, 1, 2), for_token]]).await;
    stage.grow(&[&[approval(1, false)]]).await;
    assert_eq!(order(&stage, "5").await.unwrap().backing, None);
    assert_eq!(order(&stage, "6").await.unwrap().backing, Some(Amount::ZERO));
    stage.grow(&[&[approval(1, true)]]).await;
    assert_eq!(order(&stage, "6").await.unwrap().backing, None);
    stage.grow(&[&[transfer(1, 1, 2)]]).await;
    assert_eq!(order(&stage, "5").await.unwrap().backing, None, "all tokens are approved");
}

#[tokio::test]
async fn all_orders_of_a_maker_below_a_number_are_taken_back() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[listing(8, 1, 1), listing(9, 1, 2), listing(7, 2, 3)], &[listing(10, 1, 1)]]).await;
    let below = Fact::OrdersInvalidated {
        marketplace: Marketplace::OwnV2,
        maker: account(1),
        below: "10".parse().unwrap(),
    };
    stage.grow(&[&[below]]).await;
    let mut status = Vec::new();
    for id in ["7", "8", "9", "10"] {
        status.push(order(&stage, id).await.unwrap().status);
    }
    let (active, cancelled) = (OrderStatus::Active, OrderStatus::Cancelled);
    assert_eq!(status, [active, cancelled, cancelled, active]);
}

#[tokio::test]
async fn putting_an_order_leaves_what_only_the_chain_states() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[approval(1, false), listing(5, 1, 1)]]).await;
    let stated = order(&stage, "5").await.unwrap();
    assert_eq!(stated.backing, Some(Amount::ZERO));
    let put = OrderFacts { price_amount: 7.into(), operator: None, backing: None, ..stated.clone() };
    let changes = vec![Change::Order(Box::new(put))];
    stage.store.commit(batch(collection(0), changes)).await.unwrap();
    assert_eq!(order(&stage, "5").await, Some(OrderFacts { price_amount: 7.into(), ..stated }));
}

/// What a maker's money in a currency is expected to pay through an operator, wherever that is.
#[tokio::test]
async fn the_offers_that_the_same_money_stands_behind_are_found() {
    let mut stage = Stage::new().await;
    let Fact::OrderMade(listed) = listing(5, 1, 1) else { panic!() };
    let offer = |id: &str, change: &dyn Fn(&mut OrderMade)| {
        let mut offer = OrderMade { side: OrderSide::Offer, order_id: id.to_owned(), ..(*listed).clone() };
        change(&mut offer);
        Fact::OrderMade(Box::new(offer))
    };
    let facts = [
        Fact::OrderMade(listed.clone()),
        offer("6", &|offer| offer.price_amount = 2_000.into()),
        offer("7", &|offer| (offer.maker, offer.price_amount) = (account(9), 3_000.into())),
        offer("8", &|offer| (offer.currency, offer.price_amount) = (account(9), 4_000.into())),
        offer("9", &|offer| (offer.operator, offer.price_amount) = (account(9), 5_000.into())),
        offer("10", &|offer| offer.price_amount = 6_000.into()),
        offer("11", &|offer| offer.price_amount = 7_000.into()),
        filled(10, 2, 0),
    ];
    stage.grow(&[&facts]).await;
    let payer = Payer { maker: listed.maker, currency: listed.currency, operator: listed.operator };
    let of = async |payer: Payer, chain: ChainId| {
        let OpenOffers { count, cost } = stage.store.offers_of(chain, payer, Timestamp::ZERO).await.unwrap();
        (count, cost.to::<u64>())
    };
    let chain = collection(0).chain;
    assert_eq!(of(payer, chain).await, (2, 3 * (2_000 + 7_000)));
    assert_eq!(of(Payer { maker: account(9), ..payer }, chain).await, (1, 3 * 3_000));
    assert_eq!(of(Payer { currency: account(9), ..payer }, chain).await, (1, 3 * 4_000));
    assert_eq!(of(Payer { operator: account(9), ..payer }, chain).await, (1, 3 * 5_000));
    assert_eq!(of(payer, ChainId(chain.0 + 1)).await, (0, 0));
}

/// What remains of offers is added up where they are, to the unit and whatever they are like; very many of them cost one row.
#[tokio::test]
async fn very_many_offers_of_one_maker_are_one_row() {
    let mut stage = Stage::new().await;
    stage.grow(&[&[listing(5, 1, 1)]]).await;
    let made = order(&stage, "5").await.unwrap();
    let mut random = Random::new(7);
    let now = Timestamp::from_unix_nanos(1_800_000_000_400_000_000);
    let amounts = ["1", "3", "999999999999999999", "340282366920938463463374607431768211456"];
    let amount = |random: &mut Random| random.pick(&amounts).parse::<Amount>().unwrap();
    let ends = [
        0,
        1_800_000_000_000_000_000,
        1_800_000_000_400_000_000,
        1_800_000_000_450_000_000,
        1_800_000_001_000_000_000,
    ]
    .map(|nanos| if nanos == 0 { Timestamp::ZERO } else { Timestamp::from_unix_nanos(nanos) });
    let offers: Vec<OrderFacts> = (0..50_000)
        .map(|number| OrderFacts {
            order_id: format!("offer {number}"),
            side: OrderSide::Offer,
            marketplace: *random.pick(&[Marketplace::OwnV1, Marketplace::OwnV2, Marketplace::Opensea]),
            price_amount: amount(&mut random),
            quantity_remaining: random.below(4).into(),
            fee_bps: *random.pick(&[-5, 0, 1, 250, 9_999, 20_000]),
            valid_until: *random.pick(&ends),
            backing: *random.pick(&[None, None, Some(Amount::ZERO), Some(1.into())]),
            ..made.clone()
        })
        .collect();
    make_orders(&stage.store, collection(0), offers.clone()).await.unwrap();
    let payer = Payer { maker: made.maker, currency: made.currency, operator: made.operator.unwrap() };
    let mut expected = OpenOffers::default();
    for offer in &offers {
        let terms = Terms::from(offer);
        if !terms.is_over(now) && terms.available(None) != Amount::ZERO {
            expected.add(OpenOffer {
                marketplace: offer.marketplace,
                price_amount: offer.price_amount,
                quantity_remaining: offer.quantity_remaining,
                fee_bps: offer.fee_bps,
            });
        }
    }
    assert!(expected.count > 10_000 && expected.cost < U256::MAX);
    assert_eq!(stage.store.offers_of(collection(0).chain, payer, now).await.unwrap(), expected);
    assert_eq!(most_rows("FROM orders CROSS JOIN collections"), Some(1));

    // As many as no number holds are as many as there are.
    let too_much = |id: &str| OrderFacts {
        order_id: id.to_owned(),
        price_amount: Amount::MAX,
        backing: None,
        quantity_remaining: 3.into(),
        valid_until: Timestamp::ZERO,
        ..offers[0].clone()
    };
    make_orders(&stage.store, collection(0), vec![too_much("a"), too_much("b")]).await.unwrap();
    let found = stage.store.offers_of(collection(0).chain, payer, now).await.unwrap();
    assert_eq!(found, OpenOffers { count: expected.count + 2, cost: U256::MAX });
}

#[tokio::test]
async fn what_covers_offers_is_put_and_listings_are_left_alone() {
    let mut stage = Stage::new().await;
    let Fact::OrderMade(mut offer) = listing(6, 1, 1) else { panic!() };
    offer.side = OrderSide::Offer;
    let mut over = offer.clone();
    over.order_id = "7".to_owned();
    let (offer, over) = (Fact::OrderMade(offer), Fact::OrderMade(over));
    stage.grow(&[&[listing(5, 1, 1), offer, over, filled(7, 2, 0)]]).await;
    let open = stage.store.open_offers(collection(0).chain, vec![account(1), account(2)]).await.unwrap();
    assert_eq!(open.iter().map(|(_, order)| order.order_id.as_str()).collect::<Vec<_>>(), ["6"]);
    let put = async |stage: &Stage, id: &str, backing: Option<u64>| {
        let units = backing.map(Amount::from);
        let backing = Backing { key: key(id), units };
        stage.store.set_backing(collection(0), stage.newest(), vec![backing]).await.unwrap()
    };
    assert_eq!((put(&stage, "6", Some(2)).await, put(&stage, "6", Some(2)).await), (1, 0));
    assert_eq!(order(&stage, "6").await.unwrap().backing, Some(2.into()));
    assert_eq!(changes_since(&stage.store, stage.id, 1).await.unwrap().unwrap().orders.len(), 1);
    assert_eq!((put(&stage, "5", Some(0)).await, put(&stage, "9", Some(0)).await), (0, 0));
    assert_eq!((put(&stage, "6", None).await, order(&stage, "6").await.unwrap().backing), (1, None));
}
