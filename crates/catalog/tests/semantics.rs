//! What the words of the interface mean, one by one.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeSet;

use bourse_catalog::{
    Collection, Column, Identity, Loader, OrderFilter, OrdersQuery, PreparedOrder, Query, Sort, Start,
    TokenFilter, Update,
};
use bourse_wire::{
    Address, Amount, ChainId, CollectionNumbers, Currency, DatedRate, OrderFacts, OrderSide, OrderStatus,
    ServiceName, Timestamp, TokenId,
};
use serde_json::Value;

const SELLER: Address = Address::ZERO;

fn at(second: i64) -> Timestamp {
    Timestamp::from_unix_nanos(i128::from(second) * 1_000_000_000)
}

fn coin(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

fn numbers() -> CollectionNumbers {
    CollectionNumbers::new(ChainId(1), coin(9))
}

fn currency(number: u8, rate: Option<&str>) -> Currency {
    Currency {
        chain_id: ChainId(1),
        contract_address: coin(number),
        name: String::new(),
        symbol: String::new(),
        decimals: 0,
        image_url: String::new(),
        rate: rate.map(|rate| DatedRate { rate: rate.parse().unwrap(), at: Timestamp::ZERO }),
    }
}

/// A listing of one of a token for so much of a currency.
fn listing(order_id: &str, token: u64, (amount, coin_number): (u64, u8)) -> OrderFacts {
    OrderFacts {
        side: OrderSide::Listing,
        token_id: Some(TokenId::from(token)),
        maker: SELLER,
        price_amount: Amount::from(amount),
        currency: coin(coin_number),
        ..OrderFacts::sample(order_id)
    }
}

/// Currency 1 is worth a dollar, 2 two dollars, and nobody knows what 3 is worth.
fn collection(orders: &[OrderFacts]) -> Collection {
    let identity =
        Identity { number: 1, chain: ChainId(1), address: coin(9), service: ServiceName::new("bourse") };
    let mut loader = Loader::new(&identity, at(0));
    loader.orders(&orders.iter().map(|order| PreparedOrder::new(numbers(), order)).collect::<Vec<_>>());
    loader.finish(1, &[currency(1, Some("1")), currency(2, Some("2")), currency(3, None)])
}

fn hold(collection: &mut Collection, token: u64, balance: u64) {
    let balances = vec![(TokenId::from(token), SELLER, Amount::from(balance))];
    collection.apply(&Update { balances, ..Update::default() });
}

/// The ids of the rows' orders by best price, or sorted otherwise.
fn sorted(collection: &Collection, filter: &OrderFilter, sort: Option<Sort>) -> Vec<String> {
    let (side, tokens, start) = (OrderSide::Listing, &TokenFilter::default(), Start::Skip(0));
    let query = Query { side, tokens, orders: filter, include_empty: false, sort, start, limit: 100 };
    let mut json = Vec::new();
    collection.write_rows(&mut json, &collection.query(&query));
    let rows: Vec<Value> = serde_json::from_slice(&json).unwrap();
    rows.iter().map(|row| row["listing"]["orderId"].as_str().unwrap().to_owned()).collect()
}

fn listed(collection: &Collection) -> Vec<String> {
    sorted(collection, &OrderFilter::default(), None)
}

fn listing_floor(collection: &Collection, filter: &OrderFilter) -> Option<String> {
    let row = collection.listing_floor(&TokenFilter::default(), filter)?;
    let mut json = Vec::new();
    collection.write_row(&mut json, row);
    let row: Value = serde_json::from_slice(&json).unwrap();
    Some(row["order"]["orderId"].as_str().unwrap().to_owned())
}

#[test]
fn an_order_counts_from_the_instant_of_its_beginning_to_the_one_before_its_end() {
    let mut collection =
        collection(&[OrderFacts { valid_from: at(10), valid_until: at(20), ..listing("a", 1, (5, 1)) }]);
    for (now, expected) in [(9, 0), (10, 1), (19, 1), (20, 0), (21, 0)] {
        collection.make_ready(at(now), None);
        assert_eq!(listed(&collection).len(), expected, "at {now}");
    }
}

#[test]
fn time_that_changes_something_makes_it_not_ready() {
    let mut collection = collection(&[OrderFacts { valid_until: at(20), ..listing("a", 1, (5, 1)) }]);
    assert!(collection.is_ready(at(19), None));
    assert!(!collection.is_ready(at(20), None));
    collection.make_ready(at(20), None);
    assert!(collection.is_ready(at(1_000), None));
}

#[test]
fn a_clock_that_is_set_back_finds_orders_as_they_were() {
    let mut collection =
        collection(&[OrderFacts { valid_from: at(10), valid_until: at(30), ..listing("a", 1, (5, 1)) }]);
    collection.make_ready(at(20), None);
    assert_eq!(listed(&collection), ["a"]);
    // A request that came a moment earlier changes nothing.
    collection.make_ready(at(5), None);
    assert_eq!((listed(&collection), collection.now()), (vec!["a".to_owned()], at(20)));
    assert!(collection.go_back(at(5)));
    assert_eq!(listed(&collection), [""; 0]);
    for (now, expected) in [(9, 0), (10, 1), (29, 1), (30, 0)] {
        collection.make_ready(at(now), None);
        assert_eq!(listed(&collection).len(), expected, "at {now}");
    }
}

/// What is over is not in memory: neither what ended there nor what had ended when it was loaded.
#[test]
fn a_clock_cannot_be_set_back_before_the_end_of_what_is_not_there() {
    let ending = OrderFacts { valid_until: at(20), ..listing("a", 1, (5, 1)) };
    let cancelled =
        OrderFacts { status: OrderStatus::Cancelled, valid_until: at(90), ..listing("b", 1, (5, 1)) };
    let mut ended = collection(&[ending.clone(), cancelled]);
    ended.make_ready(at(40), None);
    assert!(!ended.go_back(at(19)));
    assert_eq!(ended.now(), at(40));
    assert!(ended.go_back(at(20)));
    let mut put = collection(&[]);
    put.make_ready(at(40), None);
    put.go_back(at(30));
    put.apply(&Update { orders: vec![PreparedOrder::new(numbers(), &ending)], ..Update::default() });
    assert!(!put.go_back(at(19)) && put.go_back(at(20)));
}

#[test]
fn a_listing_rests_while_its_maker_lacks_the_token() {
    let mut collection = collection(&[listing("a", 1, (5, 1))]);
    hold(&mut collection, 1, 1);
    assert_eq!(listed(&collection), ["a"]);
    hold(&mut collection, 1, 0);
    assert_eq!(listed(&collection), [""; 0]);
    hold(&mut collection, 1, 7);
    assert_eq!(listed(&collection), ["a"]);
}

#[test]
fn balances_that_nobody_recorded_are_unknown_not_empty() {
    let mut collection = collection(&[listing("a", 1, (5, 1)), listing("b", 2, (6, 1))]);
    assert_eq!(listed(&collection), ["a", "b"]);
    // From now on, what nobody recorded is nothing.
    hold(&mut collection, 2, 1);
    assert_eq!(listed(&collection), ["b"]);
}

#[test]
fn what_nobody_can_price_comes_last_and_is_no_floor_unless_it_is_all_there_may_be() {
    let mut collection = collection(&[listing("a", 1, (1, 3)), listing("b", 2, (900, 1))]);
    assert_eq!(listed(&collection), ["b", "a"]);
    assert_eq!(listing_floor(&collection, &OrderFilter::default()).as_deref(), Some("b"));
    let only = |coins: &[u8]| OrderFilter {
        currencies: coins.iter().copied().map(coin).collect(),
        ..OrderFilter::default()
    };
    assert_eq!(listing_floor(&collection, &only(&[2, 3])), None);
    assert_eq!(listing_floor(&collection, &only(&[3])).as_deref(), Some("a"));
    collection.put_currencies(&[currency(3, Some("0.5"))]);
    assert_eq!(listing_floor(&collection, &OrderFilter::default()).as_deref(), Some("a"));
    assert_eq!(listed(&collection), ["a", "b"]);
}

#[test]
fn equal_prices_across_currencies_are_told_apart_by_token() {
    let mut orders: Vec<OrderFacts> =
        [(10, (2, 1)), (9, (1, 2)), (100, (2, 1))].map(|(token, price)| listing("", token, price)).into();
    for order in &mut orders {
        order.order_id = order.token_id.unwrap().to_string();
    }
    let collection = collection(&orders);
    assert_eq!(listed(&collection), ["9", "10", "100"]);
    let descending = Some(Sort { column: bourse_catalog::Column::Price, descending: true });
    assert_eq!(sorted(&collection, &OrderFilter::default(), descending), ["100", "10", "9"]);
}

#[test]
fn prices_are_of_one_unit_whatever_the_quantity() {
    let many = |order: OrderFacts| OrderFacts {
        quantity_initial: Amount::from(100),
        quantity_remaining: Amount::from(100),
        ..order
    };
    let collection = collection(&[listing("one", 1, (20, 1)), many(listing("hundred", 2, (10, 1)))]);
    assert_eq!(listed(&collection), ["hundred", "one"]);
}

#[test]
fn an_order_that_changes_often_leaves_nothing_behind() {
    let mut collection = collection(&[]);
    let change = |collection: &mut Collection, amount: u64| {
        let order = OrderFacts { valid_until: at(1_000_000), ..listing("a", 1, (amount, 1)) };
        collection
            .apply(&Update { orders: vec![PreparedOrder::new(numbers(), &order)], ..Update::default() });
    };
    let mut bytes_max = |changes: u64| {
        let bytes = (0..changes).map(|amount| {
            change(&mut collection, amount);
            collection.bytes()
        });
        bytes.max().unwrap()
    };
    let (at_first, at_last) = (bytes_max(5_000), bytes_max(30_000));
    assert!(at_last < at_first + (256 << 10), "{at_last} bytes, first {at_first}");
    collection.make_ready(at(1_000_000), None);
    assert_eq!(listed(&collection), [""; 0]);
}

/// The ids of the orders of token 1 by when they were first seen, page by page.
fn by_creation(collection: &Collection, side: OrderSide, descending: bool) -> Vec<String> {
    let (filter, sort) = (OrderFilter::default(), Some(Sort { column: Column::CreatedAt, descending }));
    let (mut found, mut start) = (Vec::new(), Start::Skip(0));
    loop {
        let query =
            OrdersQuery { token: TokenId::from(1_u64), side, filter: &filter, sort, start, limit: 13 };
        let mut json = Vec::new();
        let next = collection.write_orders(&mut json, &query);
        let page: Vec<Value> = serde_json::from_slice(&json).unwrap();
        found.extend(page.iter().map(|order| order["orderId"].as_str().unwrap().to_owned()));
        let Some(position) = next else { return found };
        start = Start::After(position);
    }
}

/// Whether they are few or very many, and while they come, rest and go.
#[test]
fn orders_of_a_token_are_listed_by_creation() {
    let made = |number: u64| OrderFacts {
        // Many are of the same time, where their names tell which comes first.
        created_at: at(i64::try_from(number * 7 % 40).unwrap()),
        side: if number.is_multiple_of(3) { OrderSide::Offer } else { OrderSide::Listing },
        ..listing(&format!("{number:03}"), 1, (1 + number % 11, 1))
    };
    let mut collection = collection(&[]);
    let mut there = BTreeSet::new();
    let mut change = |numbers: &[u64], of: &dyn Fn(OrderFacts) -> OrderFacts, are_there: bool| {
        let orders = numbers.iter().map(|number| PreparedOrder::new(self::numbers(), &of(made(*number))));
        collection.apply(&Update { orders: orders.collect(), ..Update::default() });
        for number in numbers {
            if are_there {
                there.insert(*number)
            } else {
                there.remove(number)
            };
        }
        for side in [OrderSide::Listing, OrderSide::Offer] {
            let of_side = there.iter().map(|number| made(*number)).filter(|order| order.side == side);
            let mut keys: Vec<_> = of_side.map(|order| (order.created_at, order.order_id)).collect();
            keys.sort();
            let mut expected: Vec<String> = keys.into_iter().map(|(_, id)| id).collect();
            assert_eq!(by_creation(&collection, side, false), expected);
            expected.reverse();
            assert_eq!(by_creation(&collection, side, true), expected);
        }
    };
    let of = |step: usize| (0..300).step_by(step).collect::<Vec<u64>>();
    let cancelled = |order| OrderFacts { status: OrderStatus::Cancelled, ..order };
    let resting = |order| OrderFacts { valid_from: at(1_000), ..order };
    let dearer = |order| OrderFacts { price_amount: Amount::from(90), ..order };
    change(&of(30), &|order| order, true);
    change(&of(1), &|order| order, true);
    change(&of(7), &dearer, true);
    change(&of(4), &resting, false);
    change(&of(2), &cancelled, false);
    change(&of(4), &|order| order, true);
    change(&(20..300).collect::<Vec<u64>>(), &cancelled, false);
    change(&of(3), &|order| order, true);
    change(&of(1), &cancelled, false);
}

/// The zero time is before all others, in the order of creation as everywhere, while orders come and go.
#[test]
fn orders_of_no_known_time_come_first_by_creation() {
    const TOKENS: u64 = 600;
    let made = |token: u64| {
        let created_at =
            if token.is_multiple_of(2) { Timestamp::ZERO } else { at(1_000 + i64::try_from(token).unwrap()) };
        OrderFacts { created_at, ..listing(&format!("{token}"), token, (token + 1, 1)) }
    };
    let orders: Vec<OrderFacts> = (0..TOKENS).map(made).collect();
    let mut collection = collection(&orders);
    collection.make_ready(at(0), Some(Column::CreatedAt));
    let again: Vec<PreparedOrder> = [3, 10, 400]
        .map(|token| PreparedOrder::new(numbers(), &OrderFacts { price_amount: 7_000.into(), ..made(token) }))
        .into();
    collection.apply(&Update { orders: again, ..Update::default() });
    let by_creation = Sort { column: Column::CreatedAt, descending: false };
    let expected: Vec<String> = (0..100).map(|index| format!("{}", 2 * index)).collect();
    assert_eq!(sorted(&collection, &OrderFilter::default(), Some(by_creation)), expected);
}

/// Damage is found before it comes to this; but whatever comes is refused, and never a panic.
#[test]
fn half_of_what_was_kept_is_refused_wherever_it_ends() {
    let mut whole = collection(&[listing("a", 1, (5, 1)), listing("b", 2, (3, 2))]);
    hold(&mut whole, 1, 7);
    whole.make_ready(at(0), Some(Column::Name));
    let mut bytes = Vec::new();
    whole.keep(&mut bytes).unwrap();
    let identity =
        Identity { number: 1, chain: ChainId(1), address: coin(9), service: ServiceName::new("bourse") };
    let currencies = [currency(1, Some("1")), currency(2, Some("2")), currency(3, None)];
    for end in 0..bytes.len() {
        assert!(Collection::read_kept(&identity, &currencies, &mut &bytes[..end]).is_err(), "{end}");
    }
    let read = Collection::read_kept(&identity, &currencies, &mut &bytes[..]).unwrap();
    assert_eq!(read.digest(at(0)).differences(&whole.digest(at(0))), [""; 0]);
    assert_eq!((listed(&read), read.has_order_of_names()), (listed(&whole), true));
}

/// However many tokens there are, an offer for any of them is one entry.
#[test]
fn an_offer_for_any_token_takes_the_place_of_one_order() {
    const OFFERS: usize = 500;
    let offer = |number: usize| OrderFacts {
        side: OrderSide::Offer,
        token_id: None,
        ..listing(&format!("any {number}"), 0, (number as u64, 1))
    };
    let grown = |tokens: u64| {
        let listings: Vec<OrderFacts> =
            (0..tokens).map(|token| listing(&token.to_string(), token, (5, 1))).collect();
        let mut collection = collection(&listings);
        let before = collection.bytes();
        let orders = (0..OFFERS).map(|number| PreparedOrder::new(numbers(), &offer(number))).collect();
        collection.apply(&Update { orders, ..Update::default() });
        (collection.bytes() - before, collection)
    };
    let ((few, _), (many, collection)) = (grown(2_000), grown(20_000));
    // A vector that doubles may take twice as much.
    assert!(many < 3 * few, "{few} bytes beside few tokens, {many} beside many");
    let count = collection.count_orders(TokenId::from(7_u64), OrderSide::Offer, &OrderFilter::default());
    assert_eq!(count, OFFERS);
}

#[test]
fn the_best_orders_of_tokens_are_sorted_by_what_they_are_worth() {
    let orders = [
        listing("a", 1, (10, 1)),
        listing("b", 1, (4, 2)),
        listing("c", 2, (7, 1)),
        listing("of unknown worth", 3, (1, 3)),
        OrderFacts { side: OrderSide::Offer, ..listing("offer", 1, (900, 1)) },
    ];
    let collection = collection(&orders);
    let tokens = [3, 2, 1, 77].map(TokenId::from);
    let top = |side, descending| {
        let found = collection.top_orders(&tokens, side, &OrderFilter::default(), descending);
        found.into_iter().map(|key| key.order_id).collect::<Vec<_>>()
    };
    assert_eq!(top(OrderSide::Listing, false), ["c", "b", "of unknown worth"]);
    assert_eq!(top(OrderSide::Listing, true), ["a", "c", "of unknown worth"]);
    assert_eq!(top(OrderSide::Offer, true), ["offer"]);
}
