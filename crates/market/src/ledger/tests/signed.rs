//! What facts do to orders that were put signed, and that chains only fill and take back.

use alloy_primitives::U256;
use bourse_wire::{ActivityAction, OrderStatus};

use super::*;
use crate::nonces::{Nonces, Numbers, Revoked, Series};

const MARKET: Marketplace = Marketplace::LooksRare;
const MANAGER: u8 = 0xee;
const CONTRACT: Address = Address::from_bytes([0xc0; 20]);

/// An order as it was put: of maker 1, for five units of token 1 at 100 each.
fn put(order_id: &str, side: OrderSide, token: Option<u64>) -> OrderFacts {
    let Fact::OrderMade(made) = made(0, side, 1, MANAGER, 1) else { unreachable!() };
    let order = order_of(&block(1), &made);
    let token_id = token.map(Into::into);
    OrderFacts { order_id: order_id.to_owned(), marketplace: MARKET, token_id, ..order }
}

fn key(order_id: &str) -> OrderKey {
    OrderKey { marketplace: MARKET, order_id: order_id.to_owned() }
}

/// A ledger with orders by name, each with a counter and a nonce.
fn ledger(orders: &[(&str, OrderSide, Option<u64>, [u64; 2])]) -> Ledger {
    ledger_of(orders, None)
}

/// The same where so much covers each.
fn ledger_of(orders: &[(&str, OrderSide, Option<u64>, [u64; 2])], backing: Option<Amount>) -> Ledger {
    let mut ledger = Ledger::default();
    for (order_id, side, token, [counter, nonce]) in orders {
        ledger.load_order(OrderFacts { backing, ..put(order_id, *side, *token) });
        let numbers = [(Series::Counter, U256::from(*counter)), (Series::Nonce, U256::from(*nonce))];
        ledger.load_nonces(key(order_id), Nonces::new(CONTRACT, numbers));
    }
    ledger
}

fn applied(mut ledger: Ledger, facts: Vec<Fact>) -> Outcome {
    for (index, fact) in (0..).zip(facts) {
        ledger.apply(&block(7), &stated(index, fact));
    }
    ledger.finish()
}

fn revoked(maker: u8, series: Series, numbers: Numbers) -> Fact {
    let revoked = Revoked { contract: CONTRACT, series, numbers };
    Fact::OrdersRevoked { marketplace: MARKET, maker: account(maker), revoked }
}

/// The same by another contract of the marketplace, which counts for itself.
fn elsewhere(fact: &Fact) -> Fact {
    let Fact::OrdersRevoked { marketplace, maker, revoked } = *fact else { unreachable!() };
    let revoked = Revoked { contract: account(0xc1), ..revoked };
    Fact::OrdersRevoked { marketplace, maker, revoked }
}

fn filled(order_ref: OrderRef, token: u64, quantity: u64) -> Fact {
    Fact::OrderFilled(Box::new(OrderFilled {
        marketplace: MARKET,
        order_ref,
        taker: account(2),
        recipient: Address::ZERO,
        token_id: Some(token.into()),
        quantity: quantity.into(),
        remaining: None,
    }))
}

fn states(outcome: &Outcome) -> Vec<(&str, OrderStatus, String)> {
    let state = |order: &'_ OrderFacts| (order.status, order.quantity_remaining.to_string());
    outcome
        .orders
        .iter()
        .map(|order| {
            let (status, remaining) = state(order);
            (order.order_id.as_str(), status, remaining)
        })
        .collect()
}

const BOTH: [(&str, OrderSide, Option<u64>, [u64; 2]); 2] =
    [("a", OrderSide::Listing, Some(1), [3, 7]), ("b", OrderSide::Listing, Some(1), [4, 8])];

#[test]
fn numbers_take_orders_back() {
    let counter = revoked(1, Series::Counter, Numbers::Below(U256::from(4)));
    let outcome = applied(ledger(&BOTH), vec![counter]);
    assert_eq!(states(&outcome), [("a", OrderStatus::Cancelled, "5".to_owned())]);
    assert_eq!(outcome.activities[0].action, ActivityAction::ListingCancel);
    let nonce = revoked(1, Series::Nonce, Numbers::Exactly(U256::from(8)));
    assert_eq!(states(&applied(ledger(&BOTH), vec![nonce])), [("b", OrderStatus::Cancelled, "5".to_owned())]);
    for nobody in [
        revoked(2, Series::Nonce, Numbers::Exactly(U256::from(8))),
        revoked(1, Series::Group, Numbers::Below(U256::ZERO)),
        revoked(1, Series::Nonce, Numbers::Exactly(U256::from(9))),
        elsewhere(&revoked(1, Series::Counter, Numbers::Below(U256::from(9)))),
    ] {
        assert_eq!(applied(ledger(&BOTH), vec![nobody]), Outcome::default());
    }
}

#[test]
fn fills_are_found_by_number_and_leave_less() {
    let order_ref = |number: u64, side| OrderRef::Numbered {
        contract: CONTRACT,
        maker: account(1),
        side,
        series: Series::Nonce,
        number: U256::from(number),
        others: Vec::new(),
    };
    let outcome = applied(ledger(&BOTH), vec![filled(order_ref(8, OrderSide::Listing), 1, 2)]);
    assert_eq!(states(&outcome), [("b", OrderStatus::Active, "3".to_owned())]);
    let sale = &outcome.activities[0];
    assert_eq!((sale.action, sale.from, sale.to), (ActivityAction::Sale, account(1), Some(account(2))));
    assert_eq!(sale.quantity, 2.into());
    // A number that is used up takes the others along, but not what was just filled.
    let used = vec![
        filled(order_ref(8, OrderSide::Listing), 1, 5),
        revoked(1, Series::Nonce, Numbers::Exactly(U256::from(8))),
    ];
    assert_eq!(states(&applied(ledger(&BOTH), used)), [("b", OrderStatus::Active, "0".to_owned())]);
    for other in [order_ref(9, OrderSide::Listing), order_ref(8, OrderSide::Offer)] {
        assert_eq!(applied(ledger(&BOTH), vec![filled(other, 1, 1)]).unknown_orders, 1);
    }
    assert_eq!(
        applied(ledger(&BOTH), vec![filled(order_ref(8, OrderSide::Listing), 2, 1)]).unknown_orders,
        1
    );
}

/// Of several orders that were to be filled at once the first could not be.
#[test]
fn fills_are_of_the_first_number_whose_order_is_for_the_token() {
    let orders = [
        ("a", OrderSide::Listing, Some(1), [3, 7]),
        ("b", OrderSide::Listing, Some(2), [3, 8]),
        ("c", OrderSide::Listing, Some(3), [3, 9]),
    ];
    let order_ref = |number: u64, others: &[u64]| OrderRef::Numbered {
        contract: CONTRACT,
        maker: account(1),
        side: OrderSide::Listing,
        series: Series::Nonce,
        number: U256::from(number),
        others: others.iter().map(|number| U256::from(*number)).collect(),
    };
    let burnt = |number: u64| revoked(1, Series::Nonce, Numbers::Exactly(U256::from(number)));
    let facts = vec![
        filled(order_ref(7, &[8, 9]), 2, 5),
        burnt(7),
        filled(order_ref(8, &[9]), 3, 5),
        burnt(8),
        burnt(9),
    ];
    let expected = [
        ("a", OrderStatus::Cancelled, "5".to_owned()),
        ("b", OrderStatus::Active, "0".to_owned()),
        ("c", OrderStatus::Active, "0".to_owned()),
    ];
    assert_eq!(states(&applied(ledger(&orders), facts)), expected);
}

#[test]
fn fills_are_found_by_price_where_nothing_else_tells() {
    let order_ref = |price: u64| OrderRef::Priced {
        contract: CONTRACT,
        maker: account(1),
        side: OrderSide::Listing,
        currency: CURRENCY,
        price: price.into(),
    };
    let outcome = applied(ledger(&BOTH), vec![filled(order_ref(300), 1, 3)]);
    assert_eq!(states(&outcome), [("a", OrderStatus::Active, "2".to_owned())]);
    for (price, quantity) in [(301, 3), (600, 6), (200, 3)] {
        assert_eq!(applied(ledger(&BOTH), vec![filled(order_ref(price), 1, quantity)]).unknown_orders, 1);
    }
}

#[test]
fn orders_are_published_once() {
    let published = |order_id: &str| {
        let numbers = [(Series::Counter, U256::from(1)), (Series::Nonce, U256::from(9))];
        let facts = OrderFacts { block_number: 0, ..put(order_id, OrderSide::Listing, Some(1)) };
        let (native, nonces) = ("{}".to_owned(), Nonces::new(CONTRACT, numbers));
        Fact::OrderPublished(Box::new(OrderPublished { facts, native, nonces }))
    };
    let outcome = applied(ledger(&BOTH), vec![published("a"), published("new")]);
    assert_eq!(states(&outcome), [("new", OrderStatus::Active, "5".to_owned())], "the other is known");
    assert_eq!(outcome.published.iter().map(|(key, ..)| key.clone()).collect::<Vec<_>>(), [key("new")]);
    assert_eq!((outcome.activities.len(), outcome.activities[0].action), (1, ActivityAction::Listing));
    assert_eq!(outcome.orders[0].block_number, 7);
    // What was approved counts, and so do its numbers.
    let uncovered = vec![approval(1, MANAGER, false), published("new")];
    let outcome = applied(ledger(&[]), uncovered);
    assert_eq!(outcome.orders[0].backing, Some(Amount::ZERO));
    let over = vec![published("new"), revoked(1, Series::Nonce, Numbers::Exactly(U256::from(9)))];
    assert_eq!(states(&applied(ledger(&[]), over)), [("new", OrderStatus::Cancelled, "5".to_owned())]);
}

#[test]
fn a_sale_tells_the_token_that_an_offer_for_any_was_filled_with() {
    let offer = [("o", OrderSide::Offer, None, [0, 1])];
    let outcome = applied(ledger(&offer), vec![filled(OrderRef::Id("o".to_owned()), 77, 1)]);
    let sale = &outcome.activities[0];
    assert_eq!((sale.token_id, sale.from, sale.to), (Some(77.into()), account(2), Some(account(1))));
    assert_eq!(states(&outcome), [("o", OrderStatus::Active, "4".to_owned())]);
}

/// What two facts leave of the listings: what covers each, and whether the chain is to be asked again.
fn allowed(ledger: Ledger, facts: Vec<Fact>) -> (Vec<Option<Amount>>, Vec<String>) {
    let backing = |facts: &OrderFacts| (facts.order_id.clone(), facts.backing);
    let before = ledger.by_maker.values().flatten().filter_map(|key| ledger.orders.get(key));
    let mut backings: BTreeMap<String, Option<Amount>> = before.map(backing).collect();
    let outcome = applied(ledger, facts);
    backings.extend(outcome.orders.iter().map(backing));
    let unsettled = outcome.unsettled.into_iter().map(|key| key.order_id).collect();
    (backings.into_values().collect(), unsettled)
}

fn grant(maker: u8, granted: bool) -> Fact {
    Fact::Grant { owner: account(maker), manager: account(MANAGER), granted }
}

const UNCOVERED: Option<Amount> = Some(Amount::ZERO);

/// Listings of which the chain said that they are not covered.
fn uncovered() -> Ledger {
    ledger_of(&BOTH, UNCOVERED)
}

#[test]
fn listings_need_their_marketplace_to_be_let_in() {
    let nobody: Vec<String> = Vec::new();
    let given = || vec![approval(1, MANAGER, true)];
    let after = |mut facts: Vec<Fact>, then: Fact| {
        facts.push(then);
        allowed(uncovered(), facts)
    };
    assert_eq!(allowed(ledger(&BOTH), vec![grant(1, false)]), (vec![UNCOVERED; 2], nobody.clone()));
    // The approval of the tokens is needed all the same.
    assert_eq!(
        after(vec![approval(1, MANAGER, false)], grant(1, true)),
        (vec![UNCOVERED; 2], nobody.clone())
    );
    assert_eq!(after(given(), grant(1, true)).0, [None, None]);
    assert_eq!(allowed(ledger(&BOTH), vec![grant(2, false)]), (vec![None; 2], nobody));
}

/// Neither permission is taken for the other: where nothing is known of one, the chain is asked.
#[test]
fn what_is_not_known_of_permissions_is_asked() {
    let both = vec!["a".to_owned(), "b".to_owned()];
    for fact in [grant(1, true), approval(1, MANAGER, true)] {
        assert_eq!(allowed(uncovered(), vec![fact.clone()]), (vec![UNCOVERED; 2], both.clone()), "{fact:?}");
        assert_eq!(allowed(ledger(&BOTH), vec![fact.clone()]), (vec![None; 2], both.clone()), "{fact:?}");
    }
    let one = Fact::TokenApproval { token_id: 1.into(), operator: account(MANAGER) };
    assert_eq!(allowed(uncovered(), vec![one.clone()]), (vec![UNCOVERED; 2], both));
    // With the token's own approval nothing is open but what the fact tells.
    let mut known = uncovered();
    known.load_token_approval(1.into(), account(MANAGER));
    assert_eq!(allowed(known, vec![grant(1, true)]), (vec![None; 2], Vec::new()));
}

/// What the chain was asked before the block is out of date, whether or not the block changes anything.
#[test]
fn what_permissions_touch_counts_as_stated() {
    for fact in [grant(1, true), grant(1, false), approval(1, MANAGER, true), approval(1, MANAGER, false)] {
        let mut ledger = ledger(&BOTH);
        ledger.begin_block(true);
        ledger.apply(&block(7), &stated(0, fact.clone()));
        let touched: Vec<OrderKey> = ledger.end_block().orders.into_keys().collect();
        assert_eq!(touched, [key("a"), key("b")], "{fact:?}");
    }
}
