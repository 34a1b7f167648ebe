use bourse_wire::{Marketplace, OrderKey};
use proptest::prelude::*;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(seconds) * 1_000_000_000)
}

fn listing() -> Terms {
    Terms {
        side: OrderSide::Listing,
        status: OrderStatus::Active,
        remaining: Amount::from(5),
        valid_from: at(10),
        valid_until: at(20),
        backing: None,
        is_whole: false,
    }
}

fn world(seconds: i64) -> World {
    World { now: at(seconds), currency_known: true, held: Some(Amount::from(3)) }
}

#[test]
fn orders_are_bound_by_what_covers_them() {
    let backed = |backing: u64| Terms { backing: Some(Amount::from(backing)), ..listing() };
    assert_eq!(backed(2).available(Some(Amount::from(3))), Amount::from(2));
    assert_eq!(backed(4).available(Some(Amount::from(3))), Amount::from(3));
    assert_eq!(backed(9).available(None), Amount::from(5));
    let offer = Terms { side: OrderSide::Offer, ..backed(2) };
    assert_eq!(offer.available(Some(Amount::ZERO)), Amount::from(2));
    assert_eq!(backed(0).status(world(15)), OrderStatus::Inactive);
    assert_eq!(backed(1).status(world(15)), OrderStatus::Active);
}

#[test]
fn listings_are_bound_by_what_the_maker_holds() {
    let held = |amount: u64| Some(Amount::from(amount));
    assert_eq!(listing().available(held(3)), Amount::from(3));
    assert_eq!(listing().available(held(9)), Amount::from(5));
    assert_eq!(listing().available(None), Amount::from(5));
    let offer = Terms { side: OrderSide::Offer, ..listing() };
    assert_eq!(offer.available(held(0)), Amount::from(5));
    assert_eq!(offer.status(World { held: held(0), ..world(15) }), OrderStatus::Active);
}

/// Five units of which three are there are none to whoever must take all five.
#[test]
fn what_is_filled_whole_is_not_available_in_part() {
    let whole = Terms { is_whole: true, ..listing() };
    for (held, available) in [(0, 0), (3, 0), (4, 0), (5, 5), (9, 5)] {
        assert_eq!(whole.available(Some(Amount::from(held))), Amount::from(available), "{held} held");
        let offer = Terms { side: OrderSide::Offer, backing: Some(Amount::from(held)), ..whole };
        assert_eq!(offer.available(None), Amount::from(available), "{held} paid");
    }
    assert_eq!(whole.available(None), Amount::from(5));
    assert_eq!(whole.status(world(15)), OrderStatus::Inactive);
    for marketplace in Marketplace::ALL {
        let key = OrderKey { marketplace: *marketplace, order_id: "1".to_owned() };
        let order = OrderFacts::unstated(key, OrderSide::Listing);
        let order = OrderFacts { quantity_initial: 5.into(), quantity_remaining: 5.into(), ..order };
        let order = OrderFacts { backing: Some(3.into()), ..order };
        let available = if marketplace.fills_whole() { 0 } else { 3 };
        assert_eq!(Terms::from(&order).available(None), Amount::from(available), "{marketplace:?}");
    }
}

#[test]
fn the_first_instant_is_active_and_the_last_one_expired() {
    let expected = [
        (9, OrderStatus::Inactive),
        (10, OrderStatus::Active),
        (19, OrderStatus::Active),
        (20, OrderStatus::Expired),
        (21, OrderStatus::Expired),
    ];
    for (seconds, status) in expected {
        assert_eq!(listing().status(world(seconds)), status, "{seconds}");
    }
}

#[test]
fn without_an_end_an_order_never_expires() {
    let endless = Terms { valid_until: Timestamp::ZERO, ..listing() };
    assert_eq!(endless.status(world(1 << 33)), OrderStatus::Active);
    assert_eq!(endless.next_change(at(9)), Some(at(10)));
    assert_eq!(endless.next_change(at(10)), None);
}

/// Starts where every reason not to be active applies and takes away one after the other.
#[test]
fn reasons_have_their_precedence() {
    let mut terms = Terms { status: OrderStatus::Cancelled, remaining: Amount::ZERO, ..listing() };
    let mut world = World { now: at(20), currency_known: false, held: Some(Amount::ZERO) };
    assert_eq!(terms.status(world), OrderStatus::Cancelled);
    terms.status = OrderStatus::Active;
    assert_eq!(terms.status(world), OrderStatus::Filled);
    terms.remaining = Amount::from(1);
    assert_eq!(terms.status(world), OrderStatus::Expired);
    world.now = at(5);
    assert_eq!(terms.status(world), OrderStatus::DecimalsMissing);
    world.currency_known = true;
    assert_eq!(terms.status(world), OrderStatus::Inactive);
    world.now = at(15);
    assert_eq!(terms.status(world), OrderStatus::Inactive);
    world.held = None;
    assert_eq!(terms.status(world), OrderStatus::Active);
}

#[test]
fn time_changes_what_begins_and_what_ends() {
    assert_eq!(listing().next_change(at(9)), Some(at(10)));
    assert_eq!(listing().next_change(at(10)), Some(at(20)));
    assert_eq!(listing().next_change(at(20)), None);
    assert_eq!(Terms { status: OrderStatus::Filled, ..listing() }.next_change(at(9)), None);
    assert_eq!(Terms { remaining: Amount::ZERO, ..listing() }.next_change(at(9)), None);
    let ends_before_it_begins = Terms { valid_from: at(30), ..listing() };
    assert_eq!(ends_before_it_begins.next_change(at(9)), Some(at(20)));
}

#[test]
fn an_order_is_over_when_only_its_source_could_revive_it() {
    assert!(!listing().is_over(at(9)) && !listing().is_over(at(19)));
    assert!(listing().is_over(at(20)));
    assert!(Terms { remaining: Amount::ZERO, ..listing() }.is_over(at(15)));
    for status in OrderStatus::ALL {
        let over = Terms { status: *status, ..listing() }.is_over(at(15));
        assert_eq!(over, *status != OrderStatus::Active, "{status}");
    }
}

fn terms() -> impl Strategy<Value = Terms> {
    let end = prop_oneof![Just(Timestamp::ZERO), (0_i64..8).prop_map(at)];
    let status = prop_oneof![4 => Just(OrderStatus::Active), 1 => prop::sample::select(OrderStatus::ALL)];
    let backing = prop::option::of((0_u64..3).prop_map(Amount::from));
    (prop::sample::select(OrderSide::ALL), status, 0_u64..3, 0_i64..8, (end, backing, any::<bool>()))
        .prop_map(|(side, status, remaining, from, (valid_until, backing, is_whole))| Terms {
            side,
            status,
            remaining: Amount::from(remaining),
            valid_from: at(from),
            valid_until,
            backing,
            is_whole,
        })
}

fn worlds() -> impl Strategy<Value = World> {
    let held = prop::option::of((0_u64..3).prop_map(Amount::from));
    (0_i64..8, any::<bool>(), held).prop_map(|(now, currency_known, held)| World {
        now: at(now),
        currency_known,
        held,
    })
}

proptest! {
    #[test]
    fn active_means_that_nothing_is_in_the_way(terms in terms(), world in worlds()) {
        let begun = terms.valid_from <= world.now;
        let ended = terms.valid_until != Timestamp::ZERO && world.now >= terms.valid_until;
        // Of an order that is filled whole nothing may be missing, of others not everything.
        let least = if terms.is_whole { terms.remaining } else { Amount::from(1) };
        let short = terms.side == OrderSide::Listing && world.held.is_some_and(|held| held < least);
        let backed = terms.backing.is_none_or(|backing| backing >= least);
        let free = terms.status == OrderStatus::Active && terms.remaining > Amount::ZERO && begun && !ended
            && world.currency_known && !short && backed;
        prop_assert_eq!(terms.status(world) == OrderStatus::Active, free);
    }

    #[test]
    fn the_status_stays_until_the_next_change(terms in terms(), world in worlds()) {
        let status = |now| terms.status(World { now, ..world });
        let next = terms.next_change(world.now);
        prop_assert!(next.is_none_or(|next| next > world.now));
        for later in (0..10).map(at).filter(|later| *later > world.now && next.is_none_or(|next| *later < next)) {
            prop_assert_eq!(status(later), status(world.now));
        }
        if let Some(next) = next && world.currency_known && world.held.is_none() && terms.backing.is_none() {
            prop_assert_ne!(status(next), status(world.now));
        }
    }

    #[test]
    fn what_is_over_never_becomes_active(terms in terms(), world in worlds(), later in worlds()) {
        if terms.is_over(world.now) && later.now >= world.now {
            prop_assert_ne!(terms.status(later), OrderStatus::Active);
        }
    }
}
