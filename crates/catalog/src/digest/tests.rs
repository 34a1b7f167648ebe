//! Whatever goes wrong in one place of a collection, its digest names that place.

use bourse_wire::{
    Address, Amount, ChainId, CollectionNumbers, Currency, OrderFacts, OrderSide, ServiceName, TokenId,
};

use super::*;
use crate::book::PreparedOrder;
use crate::collection::{Identity, Update};
use crate::filter::Value;
use crate::loader::{Loader, TokenPreparer};
use crate::properties::Shape;
use crate::query::Column;
use crate::sorted_list::SortedList;

const NOW: Timestamp = Timestamp::ZERO;

fn account(number: u8) -> Address {
    Address::from_bytes([number; 20])
}

fn token(id: u64, power: u64) -> (TokenId, String) {
    let metadata =
        format!(r#"{{"tokenId":"{id}","name":"Axe {id}","properties":{{"power":{power},"kind":"axe"}}}}"#);
    (TokenId::from(id), metadata)
}

fn listing(order_id: &str, id: u64, price: u64) -> OrderFacts {
    OrderFacts {
        side: OrderSide::Listing,
        token_id: Some(TokenId::from(id)),
        maker: account(1),
        price_amount: Amount::from(price),
        currency: account(9),
        ..OrderFacts::sample(order_id)
    }
}

fn prepared(facts: &OrderFacts) -> PreparedOrder {
    PreparedOrder::new(CollectionNumbers::new(ChainId(1), account(200)), facts)
}

fn coin(decimals: u8) -> Currency {
    let (name, symbol, image_url) = (String::new(), String::new(), String::new());
    Currency {
        chain_id: ChainId(1),
        contract_address: account(9),
        name,
        symbol,
        decimals,
        image_url,
        rate: None,
    }
}

/// Three tokens, two of them listed by who holds them.
fn collection() -> Collection {
    let service = ServiceName::new("bourse");
    let identity = Identity { number: 1, chain: ChainId(1), address: account(200), service };
    let mut loader = Loader::new(&identity, NOW);
    let mut preparer = TokenPreparer::default();
    let tokens = [token(1, 10), token(2, 20), token(3, 30)];
    loader.contract("{}".to_owned());
    loader.tokens(tokens.into_iter().map(|(id, text)| preparer.prepare(id, text)).collect());
    loader.balances(&[1, 2].map(|id: u64| (TokenId::from(id), account(1), Amount::from(1_u64))));
    loader.orders(&[prepared(&listing("a", 1, 5)), prepared(&listing("b", 2, 6))]);
    let mut collection = loader.finish(1, &[coin(0)]);
    collection.make_ready(NOW, Some(Column::Name));
    collection.make_ready(NOW, Some(Column::CreatedAt));
    collection
}

fn differences(change: impl FnOnce(&mut Collection)) -> Vec<&'static str> {
    let mut changed = collection();
    change(&mut changed);
    changed.digest(NOW).differences(&collection().digest(NOW))
}

#[test]
fn what_was_said_otherwise_is_named() {
    assert_eq!(differences(|_| {}), [""; 0]);
    let said = |update: Update| differences(|collection| collection.apply(&update));
    let nothing = Update::default;
    assert_eq!(said(Update { contract: Some(String::new()), ..nothing() }), ["contract"]);
    let text = r#"{"tokenId":"3","name":"Axe 3","decimals":1,"properties":{"power":30,"kind":"axe"}}"#;
    assert_eq!(said(Update { tokens: vec![(3_u64.into(), text.to_owned())], ..nothing() }), ["tokens"]);
    assert_eq!(said(Update { tokens: vec![token(3, 31)], ..nothing() }), ["tokens", "properties"]);
    let held = vec![(TokenId::from(3_u64), account(2), Amount::from(1_u64))];
    assert_eq!(said(Update { balances: held, ..nothing() }), ["holders"]);
    let resold = vec![prepared(&listing("b", 2, 4))];
    assert_eq!(said(Update { orders: resold, ..nothing() }), ["orders", "prices"]);
    assert_eq!(
        differences(|collection| collection.put_currencies(&[coin(2)])),
        ["currencies"],
        "what nobody knows the worth of is in the same order"
    );
}

#[test]
fn an_index_that_lost_something_is_named() {
    let power = [("power", Shape::Single, Value::Int(20))];
    assert_eq!(differences(|collection| collection.properties.own().remove(1, &power)), ["properties"]);
    let kind = [("kind", Shape::Single, Value::Text("sword".into()))];
    assert_eq!(differences(|collection| collection.properties.own().add(1, &kind)), ["properties"]);
    assert_eq!(differences(|collection| collection.names.own().put(1, "Sword")), ["names"]);
    let lost = |collection: &mut Collection| {
        let (book, context) = collection.book_and_around();
        let OrderFacts { marketplace, order_id, .. } = listing("a", 1, 5);
        book.remove(marketplace, &order_id, context);
    };
    assert_eq!(differences(lost), ["orders", "prices"]);
    let unsorted = |collection: &mut Collection| {
        let by_name = collection.by_name.as_mut();
        by_name.map(|by_name| by_name.own().remove((1, 0.0), |a, b| a.cmp(&b)));
    };
    assert_eq!(differences(unsorted), ["order of names"]);
}

/// A collection one of whose tokens has two listings, and one very many.
fn stacked() -> Collection {
    stacked_with(20)
}

fn stacked_with(many: u64) -> Collection {
    let mut collection = collection();
    let orders = (0..many).map(|number| prepared(&listing(&format!("of 1, {number}"), 1, 9 - number % 7)));
    let orders = orders.chain([prepared(&listing("of 2", 2, 3))]).collect();
    collection.apply(&Update { version: 2, orders, ..Update::default() });
    collection
}

#[test]
fn a_list_of_orders_that_lost_one_or_has_one_too_many_is_named() {
    let differences = |change: fn(&mut Collection)| {
        let mut changed = stacked();
        change(&mut changed);
        changed.digest(NOW).differences(&stacked().digest(NOW))
    };
    assert_eq!(differences(|_| {}), [""; 0]);
    let slots = |collection: &Collection, token: u64| -> Vec<u32> {
        let token = collection.tokens.find(token.into()).unwrap();
        collection.book.of_token(token, OrderSide::Listing).map(|(slot, _)| slot).collect()
    };
    assert_eq!((slots(&stacked(), 1).len(), slots(&stacked(), 2).len()), (21, 2));
    assert_eq!(differences(|collection| collection.book.forget_ranked(OrderSide::Listing)), ["orders"]);
    assert_eq!(differences(|collection| collection.book.forget_stacked(OrderSide::Listing)), ["orders"]);
    assert_eq!(differences(|collection| collection.book.stack_too_much(OrderSide::Listing)), ["orders"]);
    let unfound = |collection: &mut Collection| {
        let (_, metadata) = token(1, 10);
        collection.book.forget_further(OrderSide::Listing, &crate::properties::extract(&metadata));
    };
    assert_eq!(differences(unfound), ["orders", "prices"], "what further orders are found by");
}

#[test]
fn a_list_of_a_token_by_creation_that_lost_one_is_named() {
    let mut changed = stacked_with(100);
    assert_eq!(changed.digest(NOW).differences(&stacked_with(100).digest(NOW)), [""; 0]);
    changed.book.forget_stacked_by_creation(OrderSide::Listing);
    assert_eq!(changed.digest(NOW).differences(&stacked_with(100).digest(NOW)), ["orders"]);
}

#[test]
fn a_list_of_collection_offers_that_lost_one_is_named() {
    let offered = || {
        let mut collection = collection();
        let offer = |id: &str, price: u64| {
            let (side, token_id) = (OrderSide::Offer, None);
            prepared(&OrderFacts { side, token_id, ..listing(id, 1, price) })
        };
        let orders = vec![offer("any", 5), offer("any, less", 4)];
        collection.apply(&Update { version: 2, orders, ..Update::default() });
        collection
    };
    let mut changed = offered();
    assert_eq!(changed.digest(NOW).differences(&offered().digest(NOW)), [""; 0]);
    changed.book.forget_collection_offer();
    assert_eq!(changed.digest(NOW).differences(&offered().digest(NOW)), ["orders"]);
    let mut changed = offered();
    changed.book.forget_created_offer();
    assert_eq!(changed.digest(NOW).differences(&offered().digest(NOW)), ["orders"]);
}

#[test]
fn a_list_by_creation_that_is_out_of_order_or_not_whole_is_named() {
    let listed = |ordinals: &[u32]| {
        let entries: Vec<(u32, f64)> = ordinals.iter().map(|ordinal| (*ordinal, 0.0)).collect();
        let list = SortedList::from_sorted(&entries);
        differences(|collection| *collection.book.by_creation_mut(OrderSide::Listing) = Some(list))
    };
    assert_eq!(listed(&[0, 1]), [""; 0]);
    for (wrong, ordinals) in [
        ("out of order", &[1, 0][..]),
        ("one is missing", &[0]),
        ("one comes twice", &[0, 0]),
        ("one has no order", &[0, 1, 2]),
        ("one that has no order instead of one that has", &[0, 2]),
    ] {
        assert_eq!(listed(ordinals), ["order of creation"], "{wrong}");
    }
}

#[test]
fn a_list_of_orders_by_creation_that_lost_one_is_named() {
    let lost = |collection: &mut Collection| collection.book.forget_created(OrderSide::Listing);
    assert_eq!(differences(lost), ["orders"]);
}

#[test]
fn an_order_that_only_one_was_asked_for_is_no_difference() {
    let mut asked_less = collection();
    asked_less.by_name = None;
    for side in [OrderSide::Listing, OrderSide::Offer] {
        *asked_less.book.by_creation_mut(side) = None;
    }
    assert_eq!(asked_less.digest(NOW).differences(&collection().digest(NOW)), [""; 0]);
}

#[test]
fn who_changes_it_in_the_middle_is_noticed() {
    let mut collection = collection();
    let mut digester = Digester::new(&collection, NOW);
    assert_eq!(digester.step(&collection), Ok(None));
    collection.apply(&Update { version: 2, ..Update::default() });
    assert_eq!(digester.step(&collection), Err(ChangedMeanwhile));
}
