//! What each kind of fact does; [`model`] compares whole sequences with something simpler.

mod model;
mod signed;

use alloy_primitives::{B256, U256};
use bourse_wire::{ActivityAction, Timestamp};

use super::*;

const CURRENCY: Address = Address::ZERO;

pub(super) fn account(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

pub(super) fn block(number: u64) -> Block {
    let at = Timestamp::from_unix_nanos(i128::from(number) * 12_000_000_000);
    let hash = |number: u64| B256::from(U256::from(number));
    Block { number, hash: hash(number), parent: hash(number - 1), at }
}

pub(super) fn stated(log_index: u64, fact: Fact) -> StatedFact {
    StatedFact { collection: account(0xcc), tx_hash: B256::repeat_byte(7), log_index, part: 0, fact }
}

pub(super) fn transfer(token: u64, from: u8, to: u8, quantity: u64, single: bool) -> Fact {
    let (from, to, quantity) = (account(from), account(to), quantity.into());
    Fact::Transfer { token_id: token.into(), from, to, quantity, single }
}

pub(super) fn made(order_id: u64, side: OrderSide, maker: u8, operator: u8, token: u64) -> Fact {
    Fact::OrderMade(Box::new(OrderMade {
        marketplace: Marketplace::OwnV2,
        order_id: order_id.to_string(),
        side,
        maker: account(maker),
        operator: account(operator),
        token_id: Some(token.into()),
        quantity: 5.into(),
        price_amount: 100.into(),
        currency: CURRENCY,
        valid_until: Timestamp::from_unix_nanos(1_000_000_000_000_000),
        fees: vec![
            FeeEntry { kind: "royalty".to_owned(), recipient_address: account(9), bps: 250 },
            FeeEntry { kind: "marketplace".to_owned(), recipient_address: account(8), bps: 100 },
        ],
    }))
}

fn listing(order_id: u64, maker: u8, operator: u8, token: u64) -> Fact {
    made(order_id, OrderSide::Listing, maker, operator, token)
}

fn filled(order_id: u64, taker: u8, recipient: u8, quantity: u64, remaining: u64) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: Marketplace::OwnV2,
        order_ref: OrderRef::Id(order_id.to_string()),
        taker: account(taker),
        recipient: account(recipient),
        token_id: None,
        quantity: quantity.into(),
        remaining: Some(remaining.into()),
    }))
}

fn cancelled(order_id: u64) -> Fact {
    Fact::OrderCancelled { marketplace: Marketplace::OwnV2, order_id: order_id.to_string() }
}

fn approval(owner: u8, operator: u8, approved: bool) -> Fact {
    Fact::Approval { owner: account(owner), operator: account(operator), approved }
}

fn token_approval(token: u64, operator: u8) -> Fact {
    Fact::TokenApproval { token_id: token.into(), operator: account(operator) }
}

/// What one block with these facts makes of nothing.
fn outcome(facts: Vec<Fact>) -> Outcome {
    let mut ledger = Ledger::default();
    for (index, fact) in (0..).zip(facts) {
        ledger.apply(&block(7), &stated(index, fact));
    }
    ledger.finish()
}

fn backing(facts: Vec<Fact>) -> Option<Amount> {
    outcome(facts).orders[0].backing
}

#[test]
fn tokens_are_made_and_change_hands() {
    let outcome =
        outcome(vec![transfer(1, 0, 1, 5, false), transfer(1, 1, 2, 2, false), transfer(1, 2, 0, 1, false)]);
    let held = |account_number, amount: u64| ((1.into(), account(account_number)), amount.into());
    assert_eq!(outcome.balances, [held(1, 3), held(2, 1)]);
    assert_eq!(outcome.tokens, [1.into()]);
    let actions: Vec<_> = outcome.activities.iter().map(|activity| activity.action).collect();
    assert_eq!(actions, [ActivityAction::Mint, ActivityAction::Transfer, ActivityAction::Transfer]);
    let mint = &outcome.activities[0];
    assert_eq!((mint.from, mint.to, mint.quantity), (Address::ZERO, Some(account(1)), 5.into()));
    assert_eq!((mint.at, mint.created_at, mint.log_index), (block(7).at, block(7).at, 0));
    assert_eq!(mint.tx_hash, format!("0x{}", "07".repeat(32)));
    assert_eq!(mint.unique_hash, format!("0x{}:mint:1:0", "07".repeat(32)));
}

#[test]
fn money_is_one_token_of_which_all_is_exact() {
    let paid = |from: u8, to: u8, amount: Amount| Fact::Paid { from: account(from), to: account(to), amount };
    let all = Amount::MAX;
    let but_one = Amount::from(all.value() - U256::from(1));
    let outcome =
        outcome(vec![paid(0, 1, all), paid(1, 2, 1.into()), paid(1, 3, 0.into()), paid(1, 1, but_one)]);
    let held = |account_number, amount: Amount| ((Fact::MONEY, account(account_number)), amount);
    assert_eq!(outcome.balances, [held(1, but_one), held(2, 1.into())]);
    assert_eq!(outcome.tokens, [Fact::MONEY]);
    assert_eq!(outcome.activities.len(), 3);
    let mint = &outcome.activities[0];
    let told = (mint.action, mint.quantity, mint.block_number, mint.block_hash);
    assert_eq!(told, (ActivityAction::Mint, all, Some(7), Some(block(7).hash)));
}

#[test]
fn what_was_held_before_the_collection_was_followed_is_not_owed() {
    let outcome = outcome(vec![transfer(1, 1, 2, 4, false), transfer(1, 2, 3, 9, false)]);
    let held = |account_number, amount: u64| ((1.into(), account(account_number)), amount.into());
    assert_eq!(outcome.balances, [held(2, 0), held(3, 9)]);
    assert_eq!(outcome.tokens, [1.into()], "a token that comes from nowhere is one");
}

#[test]
fn moving_nothing_is_nothing() {
    assert_eq!(outcome(vec![transfer(1, 1, 2, 0, true)]), Outcome::default());
}

#[test]
fn balances_stay_within_what_can_be_written() {
    let much = |to| Fact::Transfer {
        token_id: 1.into(),
        from: Address::ZERO,
        to: account(to),
        quantity: Amount::MAX,
        single: false,
    };
    assert_eq!(outcome(vec![much(1), much(1)]).balances, [((1.into(), account(1)), Amount::MAX)]);
}

#[test]
fn an_order_is_what_the_chain_says_at_the_time_of_its_block() {
    let outcome = outcome(vec![listing(3, 1, 9, 4)]);
    let [order] = <[OrderFacts; 1]>::try_from(outcome.orders).unwrap();
    let at = block(7).at;
    assert_eq!((order.status, order.block_number, order.fee_bps), (OrderStatus::Active, 7, 350));
    assert_eq!((order.valid_from, order.order_created_at, order.order_updated_at), (at, at, at));
    assert_eq!((order.created_at, order.updated_at, order.operator), (at, at, Some(account(9))));
    assert_eq!((order.quantity_initial, order.quantity_remaining), (5.into(), 5.into()));
    let [activity] = <[ActivityFacts; 1]>::try_from(outcome.activities).unwrap();
    assert_eq!((activity.action, activity.from, activity.to), (ActivityAction::Listing, account(1), None));
    assert_eq!((activity.quantity, activity.price_amount), (5.into(), Some(100.into())));
}

#[test]
fn a_fill_is_a_sale_between_two_that_are_known() {
    let sale = |facts| {
        let outcome = outcome(facts);
        let sale = outcome.activities.last().unwrap();
        assert_eq!(sale.action, ActivityAction::Sale);
        (sale.from, sale.to.unwrap(), sale.quantity, outcome.orders[0].quantity_remaining)
    };
    let parties = |from, to| (account(from), account(to), 2.into(), 3.into());
    assert_eq!(sale(vec![listing(3, 1, 9, 4), filled(3, 5, 6, 2, 3)]), parties(1, 6));
    assert_eq!(sale(vec![listing(3, 1, 9, 4), filled(3, 5, 0, 2, 3)]), parties(1, 5));
    assert_eq!(sale(vec![made(3, OrderSide::Offer, 1, 9, 4), filled(3, 5, 6, 2, 3)]), parties(5, 1));
    let whole = outcome(vec![listing(3, 1, 9, 4), filled(3, 5, 6, 5, 0)]);
    assert_eq!(
        (whole.orders[0].status, whole.orders[0].quantity_remaining),
        (OrderStatus::Active, Amount::ZERO)
    );
}

#[test]
fn orders_are_taken_back_one_by_one_and_together() {
    let one = outcome(vec![listing(3, 1, 9, 4), cancelled(3)]);
    assert_eq!(one.orders[0].status, OrderStatus::Cancelled);
    assert_eq!(one.activities[1].action, ActivityAction::ListingCancel);
    let below =
        Fact::OrdersInvalidated { marketplace: Marketplace::OwnV2, maker: account(1), below: U256::from(10) };
    let mut facts: Vec<Fact> = [2, 9, 10].into_iter().map(|id| listing(id, 1, 9, 4)).collect();
    facts.extend([listing(5, 2, 9, 4), made(8, OrderSide::Offer, 1, 9, 4), listing(7, 1, 9, 4)]);
    facts.extend([filled(7, 5, 5, 5, 0), below]);
    let together = outcome(facts);
    let gone = together.orders.iter().filter(|order| order.status == OrderStatus::Cancelled);
    assert_eq!(gone.map(|order| order.order_id.as_str()).collect::<Vec<_>>(), ["2", "8", "9"]);
    let names: BTreeSet<_> = together.activities.iter().map(|activity| &activity.unique_hash).collect();
    assert_eq!(names.len(), together.activities.len(), "each has a name of its own");
    let cancels = together.activities.iter().rev().take(3).map(|activity| activity.action);
    assert_eq!(
        cancels.collect::<Vec<_>>(),
        [ActivityAction::ListingCancel, ActivityAction::OfferCancel, ActivityAction::ListingCancel]
    );
}

#[test]
fn what_happens_to_orders_that_nobody_knows_is_counted() {
    let outcome = outcome(vec![filled(1, 2, 2, 1, 0), cancelled(2)]);
    assert_eq!(outcome, Outcome { unknown_orders: 2, ..Outcome::default() });
}

#[test]
fn a_listing_is_covered_while_its_operator_may_move_the_token() {
    let none = Some(Amount::ZERO);
    assert_eq!(backing(vec![listing(1, 1, 9, 4)]), None, "nothing is known, and the marketplace has looked");
    assert_eq!(backing(vec![approval(1, 9, false), listing(1, 1, 9, 4)]), none);
    assert_eq!(backing(vec![approval(1, 9, true), listing(1, 1, 9, 4)]), None);
    assert_eq!(backing(vec![listing(1, 1, 9, 4), approval(1, 9, false)]), none);
    assert_eq!(backing(vec![listing(1, 1, 9, 4), approval(1, 8, false), approval(2, 9, false)]), None);
    let revoked = || vec![listing(1, 1, 9, 4), approval(1, 9, false)];
    let then = |facts: &[Fact]| backing(revoked().into_iter().chain(facts.iter().cloned()).collect());
    assert_eq!(then(&[approval(1, 9, true)]), None);
    assert_eq!(then(&[token_approval(4, 9)]), None);
    assert_eq!(then(&[token_approval(4, 8)]), none);
    assert_eq!(then(&[token_approval(4, 9), token_approval(4, 8)]), none);
    assert_eq!(then(&[token_approval(4, 9), token_approval(4, 0)]), none);
    assert_eq!(then(&[token_approval(4, 9), transfer(4, 1, 2, 1, true)]), none);
    assert_eq!(then(&[token_approval(4, 9), transfer(4, 1, 2, 1, false)]), None);
    assert_eq!(then(&[token_approval(4, 9), approval(1, 9, true), transfer(4, 1, 2, 1, true)]), None);
}

#[test]
fn approvals_say_nothing_of_offers_and_of_orders_that_are_over() {
    assert_eq!(backing(vec![approval(1, 9, false), made(1, OrderSide::Offer, 1, 9, 4)]), None);
    assert_eq!(backing(vec![made(1, OrderSide::Offer, 1, 9, 4), approval(1, 9, false)]), None);
    assert_eq!(backing(vec![listing(1, 1, 9, 4), cancelled(1), approval(1, 9, false)]), None);
}

#[test]
fn a_block_that_does_and_undoes_changes_nothing() {
    let mut ledger = Ledger::default();
    ledger.load_approval(account(1), account(9), true);
    ledger.apply(&block(7), &stated(0, approval(1, 9, false)));
    ledger.apply(&block(7), &stated(1, approval(1, 9, true)));
    assert_eq!(ledger.finish(), Outcome::default());
}
