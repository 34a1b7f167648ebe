//! What calls say, word by word as the ABI lays them out.

use alloy_primitives::{B256, Bytes, U256};
use bourse_wire::{Address, Amount, OrderFacts, OrderInput, OrderSide, ServiceName};
use proptest::prelude::*;
use serde_json::json;

use super::{COLLECTION, MAKER, MARKET, address, word, word_of};
use crate::own::{Own, OwnContracts};
use crate::testing::requested;
use crate::{
    Act, Call, Fill, NewOrder, OrderSeed, Permission, Protocol, Refusal, RequestedFee, Royalty, StoredOrder,
    Trade,
};

const BUYER: Address = address(0xb0);
const SHOP: Address = address(0x5a);
const DOLLAR: Address = address(0xd0);
const HELPER: Address = address(0x4e);
const COIN: Address = Address::ZERO;
const NO_FEES: [RequestedFee; 0] = [];

/// An order as importers give it.
fn order(id: &str, price: u64, currency: Address) -> OrderFacts {
    let members = json!({ "orderId": id, "marketplace": "service_marketplace_v2", "side": "listing",
        "collectionContractAddress": COLLECTION, "tokenId": "5", "createdBy": MAKER,
        "priceAmount": price.to_string(), "priceCurrencyAddress": currency, "quantityInitial": "100",
        "validUntil": "2030-01-01T00:00:00Z" });
    let input: OrderInput = bourse_wire::from_value(members).unwrap();
    input.facts(&ServiceName::new("bourse")).unwrap()
}

fn offer(id: &str, price: u64) -> OrderFacts {
    OrderFacts { side: OrderSide::Offer, ..order(id, price, DOLLAR) }
}

fn fee(amount: u64, receiver: Address) -> RequestedFee {
    requested(amount.into(), receiver)
}

fn v2() -> Own {
    Own::v2(MARKET, None)
}

/// The calls that fill some units of each order.
fn fill(own: &Own, orders: &[(&OrderFacts, u64)], fees: &[RequestedFee]) -> Result<Vec<Call>, Refusal> {
    let fills = orders.iter().map(|(order, quantity)| Fill::new(own, stored(order), (*quantity).into()));
    let trade = Trade::new(COLLECTION, fills.collect::<Result<_, _>>()?, fees, BUYER)?;
    own.fill(&trade, &[]).map(|plan| plan.calls)
}

fn stored(order: &OrderFacts) -> StoredOrder<'_> {
    StoredOrder { facts: order, native: None }
}

/// The call that makes an order.
fn make(own: &Own, order: &NewOrder) -> Result<Call, Refusal> {
    let making = own.make_order(order, OrderSeed { salt: U256::ZERO, now: 0, answers: &[] })?;
    let Act::Call(call) = making.act else { panic!("these orders are not signed") };
    Ok(call)
}

/// The data of a call: a selector and words.
fn data(selector: u32, words: &[B256]) -> Vec<u8> {
    let mut data = selector.to_be_bytes().to_vec();
    data.extend(words.concat());
    data
}

/// `acceptRequest` of an order by [`BUYER`] with some fees.
fn accept(id: u64, quantity: u64, fees: &[(u64, Address)]) -> Vec<u8> {
    let count = fees.len() as u64;
    let mut words =
        vec![word(id), word(quantity), word_of(BUYER), word(5 * 32), word((6 + count) * 32), word(count)];
    words.extend(fees.iter().map(|(amount, _)| word(*amount)));
    words.push(word(count));
    words.extend(fees.iter().map(|(_, receiver)| word_of(*receiver)));
    data(0xe6bd_720e, &words)
}

/// The lists of a batch for [`BUYER`], without fees, behind so many words.
fn batch(before: &[B256], orders: &[(u64, u64)]) -> Vec<B256> {
    let count = orders.len() as u64;
    let head = before.len() as u64 + 5;
    let starts = [0, 1 + count, 2 + 2 * count, 3 + 3 * count, 4 + 3 * count];
    let mut words = before.to_vec();
    words.extend(starts.map(|start| word((head + start) * 32)));
    words.push(word(count));
    words.extend(orders.iter().map(|(id, _)| word(*id)));
    words.push(word(count));
    words.extend(orders.iter().map(|(_, quantity)| word(*quantity)));
    words.push(word(count));
    words.extend(orders.iter().map(|_| word_of(BUYER)));
    words.extend([word(0), word(0)]);
    words
}

fn paid(call: &Call) -> (Address, Amount, Amount) {
    (call.to, call.value, call.price)
}

#[test]
fn the_contracts_are_where_clients_look_for_them() {
    let usual = OwnContracts::default();
    assert_eq!(usual.v1.to_string(), "0xb537a160472183f2150d42eb1c3dd6684a55f74c");
    assert_eq!(usual.v2.to_string(), "0xfdb42a198a932c8d3b506ffa5e855bc4b348a712");
}

#[test]
fn one_order_with_native_currency_and_a_fee() {
    let order = order("12", 1000, COIN);
    let calls = fill(&v2(), &[(&order, 3)], &[fee(250, SHOP)]).unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].data, accept(12, 3, &[(75, SHOP)]));
    assert_eq!(paid(&calls[0]), (MARKET, 3075.into(), 3075.into()));
}

#[test]
fn several_orders_in_one_call_where_there_is_a_function_for_it() {
    let (a, b, c) = (order("1", 10, DOLLAR), order("2", 20, DOLLAR), order("3", 30, DOLLAR));
    let orders = [(&a, 1), (&b, 2), (&c, 3)];
    let calls = fill(&Own::v1(MARKET), &orders, &NO_FEES).unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].data, data(0xa93c_5317, &batch(&[], &[(1, 1), (2, 2), (3, 3)])));
    assert_eq!(paid(&calls[0]), (MARKET, 0.into(), 140.into()));
    // A batch would take the fee three times.
    let calls = fill(&v2(), &orders, &[fee(1000, SHOP)]).unwrap();
    assert_eq!(calls.len(), 3, "the fee of 14 is more than the first order can carry");
    assert_eq!(calls[0].data, accept(1, 1, &[(10, SHOP)]));
    assert_eq!(calls[1].data, accept(2, 2, &[(4, SHOP)]));
    assert_eq!(calls[2].data, accept(3, 3, &[]));
    assert_eq!(calls.iter().map(|call| call.price).collect::<Vec<_>>(), [20, 44, 90].map(Amount::from));
    let calls = fill(&v2(), &orders, &[fee(500, SHOP)]).unwrap();
    assert_eq!(calls.len(), 2, "one carries the fee of 7, the others need nothing");
    assert_eq!(calls[0].data, accept(1, 1, &[(7, SHOP)]));
    assert_eq!(calls[1].data, data(0xa93c_5317, &batch(&[], &[(2, 2), (3, 3)])));
    assert_eq!(calls.iter().map(|call| call.price).collect::<Vec<_>>(), [17, 130].map(Amount::from));
}

#[test]
fn several_orders_with_native_currency() {
    let (a, b) = (order("1", 10, COIN), order("2", 20, COIN));
    let orders = [(&a, 1), (&b, 2)];
    let calls = fill(&v2(), &orders, &NO_FEES).unwrap();
    assert_eq!(
        calls.iter().map(paid).collect::<Vec<_>>(),
        [10, 40].map(|paid| (MARKET, paid.into(), paid.into()))
    );
    assert_eq!(calls[1].data, accept(2, 2, &[]));
    let calls = fill(&Own::v2(MARKET, Some(HELPER)), &orders, &NO_FEES).unwrap();
    assert_eq!(calls.iter().map(paid).collect::<Vec<_>>(), [(HELPER, 50.into(), 50.into())]);
    assert_eq!(calls[0].data, data(0x8c70_80c9, &batch(&[word_of(MARKET)], &[(1, 1), (2, 2)])));
    // The helper has no use for a currency that is not the chain's own.
    let (a, b) = (order("1", 10, DOLLAR), order("2", 20, DOLLAR));
    let calls = fill(&Own::v2(MARKET, Some(HELPER)), &[(&a, 1), (&b, 2)], &NO_FEES).unwrap();
    assert_eq!(calls.iter().map(paid).collect::<Vec<_>>(), [(MARKET, 0.into(), 50.into())]);
}

#[test]
fn fees_of_offers_come_out_of_the_price() {
    let offer = offer("9", 1000);
    let calls = fill(&v2(), &[(&offer, 2)], &[fee(100, SHOP)]).unwrap();
    assert_eq!(calls[0].data, accept(9, 2, &[(20, SHOP)]));
    assert_eq!(paid(&calls[0]), (MARKET, 0.into(), 2000.into()));
}

#[test]
fn fees_leave_room_for_royalties() {
    let royal = OrderFacts { fee_bps: 500, ..order("1", 1_000_000, DOLLAR) };
    let carried = |amount| fill(&v2(), &[(&royal, 1)], &[fee(amount, SHOP)]);
    assert!(carried(950_000).is_ok());
    let most = U256::from(950_000);
    assert_eq!(carried(950_001).unwrap_err(), Refusal::FeeSum { fees: U256::from(950_001), most });
    // Of an offer the maker pays the royalty on top.
    let royal = OrderFacts { fee_bps: 500, ..offer("1", 1_000_000) };
    let carried = |amount| fill(&v2(), &[(&royal, 1)], &[fee(amount, SHOP)]);
    assert!(carried(1_000_000).is_ok());
    assert!(carried(1_000_001).is_err());
}

#[test]
fn what_cannot_be_is_refused() {
    let (coin, dollar, name) = (order("1", 10, COIN), order("2", 10, DOLLAR), order("0xab", 10, DOLLAR));
    assert_eq!(fill(&v2(), &[], &NO_FEES).unwrap_err(), Refusal::Empty);
    let mixed = Refusal::Currencies { first: COIN, other: DOLLAR };
    assert_eq!(fill(&v2(), &[(&coin, 1), (&dollar, 1)], &NO_FEES).unwrap_err(), mixed);
    assert_eq!(fill(&v2(), &[(&dollar, 1), (&offer("3", 1), 1)], &NO_FEES).unwrap_err(), Refusal::Sides);
    assert_eq!(fill(&Own::v1(MARKET), &[(&coin, 1)], &NO_FEES).unwrap_err(), Refusal::Native);
    let native = OrderFacts { side: OrderSide::Offer, ..coin };
    assert_eq!(fill(&v2(), &[(&native, 1)], &NO_FEES).unwrap_err(), Refusal::Native);
    let order_id = "0xab".to_owned();
    assert_eq!(
        fill(&v2(), &[(&name, 1)], &NO_FEES).unwrap_err(),
        Refusal::OrderId { order_id: order_id.clone() }
    );
    assert_eq!(v2().cancel(stored(&name)).unwrap_err(), Refusal::OrderId { order_id });
}

#[test]
fn amounts_beyond_256_bits_are_refused() {
    let huge = OrderFacts { price_amount: Amount::MAX, ..order("1", 1, DOLLAR) };
    let one = order("2", 1, DOLLAR);
    assert_eq!(fill(&v2(), &[(&huge, 2)], &NO_FEES).unwrap_err(), Refusal::Overflow);
    assert_eq!(fill(&v2(), &[(&huge, 1), (&one, 1)], &NO_FEES).unwrap_err(), Refusal::Overflow);
    assert_eq!(fill(&v2(), &[(&huge, 1)], &[fee(1, SHOP)]).unwrap_err(), Refusal::Overflow);
    assert_eq!(fill(&v2(), &[(&huge, 1)], &NO_FEES).unwrap()[0].price, Amount::MAX);
}

fn new_order(side: OrderSide, currency: Address) -> NewOrder {
    NewOrder {
        side,
        maker: MAKER,
        collection: COLLECTION,
        is_multiple: true,
        token_id: 5.into(),
        quantity: 7.into(),
        expiry: 1_735_689_600.into(),
        currency,
        unit_price: 11.into(),
    }
}

#[test]
fn orders_are_made_and_taken_back() {
    let call = make(&v2(), &new_order(OrderSide::Listing, COIN)).unwrap();
    let words =
        [word(1), word(1), word_of(COLLECTION), word(5), word(7), word(1_735_689_600), word(0), word(11)];
    assert_eq!(call.data, data(0xdd0d_e6ec, &words));
    assert_eq!(paid(&call), (MARKET, 0.into(), 77.into()));
    let single = NewOrder { is_multiple: false, ..new_order(OrderSide::Offer, DOLLAR) };
    let call = make(&Own::v1(MARKET), &single).unwrap();
    assert_eq!(call.data[4..68], [word(0), word(0)].concat());
    let call = v2().cancel(stored(&order("12", 1, COIN))).unwrap();
    assert_eq!(call.data, data(0x3015_394c, &[word(12)]));
    assert_eq!(paid(&call), (MARKET, 0.into(), 0.into()));
}

/// What a marketplace answers when it is asked for a royalty.
fn royalty(receiver: Address, amount: u64) -> Bytes {
    [word_of(receiver), word(amount)].concat().into()
}

/// What a marketplace answers when it is asked for an order that it does not have.
fn no_order() -> Bytes {
    [word(0); 10].concat().into()
}

#[test]
fn an_order_is_made_only_where_a_contract_answers() {
    let order = new_order(OrderSide::Listing, DOLLAR);
    let [asked, _] = &v2().order_inquiries(&order)[..] else {
        panic!("whether it is there, and the royalty")
    };
    assert_eq!((asked.to, asked.data.to_vec()), (MARKET, data(0x24dc_6bd0, &[word(0), word(1)])));
    let made = |answers: &[Option<Bytes>]| {
        v2().make_order(&order, OrderSeed { salt: U256::ZERO, now: 0, answers }).map(drop)
    };
    assert_eq!(made(&[]), Ok(()), "nobody can be asked");
    assert_eq!(made(&[Some(no_order()), None]), Ok(()));
    let nothing = || Err(Refusal::NoContract { contract: MARKET });
    assert_eq!(made(&[None, None]), nothing());
    assert_eq!(made(&[Some(Bytes::new()), Some(Bytes::new())]), nothing(), "an address without code");
}

#[test]
fn a_royalty_for_nobody_is_refused_before_it_is_burnt() {
    for (side, currency) in
        [(OrderSide::Listing, COIN), (OrderSide::Listing, DOLLAR), (OrderSide::Offer, DOLLAR)]
    {
        let made = |answers: &[Option<Bytes>]| {
            let seed = OrderSeed { salt: U256::ZERO, now: 0, answers };
            v2().make_order(&new_order(side, currency), seed).map(drop)
        };
        let there = || Some(no_order());
        assert_eq!(
            made(&[there(), Some(royalty(Address::ZERO, 5))]),
            Err(Refusal::LostRoyalty { amount: 5.into() })
        );
        assert_eq!(made(&[there(), Some(royalty(Address::ZERO, 0))]), Ok(()));
        let order = OrderFacts { side, ..order("1", 1000, currency) };
        let filled = |told: Option<Bytes>| {
            let mut fill = Fill::new(&v2(), stored(&order), 2.into()).unwrap();
            fill.chain_royalty = Royalty::read(told.as_ref());
            v2().fill(&Trade::new(COLLECTION, vec![fill], &NO_FEES, BUYER).unwrap(), &[]).map(drop)
        };
        assert_eq!(filled(Some(royalty(Address::ZERO, 5))), Err(Refusal::LostRoyalty { amount: 5.into() }));
        assert_eq!(filled(Some(royalty(SHOP, 5))), Ok(()));
    }
}

#[test]
fn what_must_be_allowed_is_told() {
    let answers = [Some(no_order()), Some(royalty(SHOP, 5))];
    let seed = OrderSeed { salt: U256::ZERO, now: 0, answers: &answers };
    let making = |side, currency| v2().make_order(&new_order(side, currency), seed).unwrap().permissions;
    let moving = Permission::Move { collection: COLLECTION, operator: MARKET };
    assert_eq!(making(OrderSide::Listing, COIN), [moving]);
    let spending =
        |amount: u64| Permission::Spend { currency: DOLLAR, spender: MARKET, amount: amount.into() };
    assert_eq!(making(OrderSide::Offer, DOLLAR), [spending(77 + 5)], "with the royalty on top");
    let silent = [Some(no_order()), None];
    let unknown = OrderSeed { answers: &silent, ..seed };
    let made = v2().make_order(&new_order(OrderSide::Offer, DOLLAR), unknown).unwrap();
    assert_eq!(made.permissions, [spending(77 * 2)], "the most that it can be");
    assert_eq!(made.funds, 77.into(), "the least that it can be");
    let made = v2().make_order(&new_order(OrderSide::Offer, DOLLAR), seed).unwrap();
    assert_eq!(made.funds, 82.into());
    let taking = |order: OrderFacts, fees: &[RequestedFee]| {
        let fills = vec![Fill::new(&v2(), stored(&order), 2.into()).unwrap()];
        v2().fill(&Trade::new(COLLECTION, fills, fees, BUYER).unwrap(), &[]).unwrap().permissions
    };
    assert_eq!(taking(order("1", 1000, DOLLAR), &[fee(100, SHOP)]), [spending(2020)]);
    assert_eq!(taking(order("1", 1000, COIN), &NO_FEES), []);
    assert_eq!(taking(offer("1", 1000), &NO_FEES), [moving]);
}

#[test]
fn orders_that_the_contracts_cannot_keep_are_refused() {
    assert_eq!(make(&Own::v1(MARKET), &new_order(OrderSide::Listing, COIN)).unwrap_err(), Refusal::Native);
    assert_eq!(make(&v2(), &new_order(OrderSide::Offer, COIN)).unwrap_err(), Refusal::Native);
    let listing = new_order(OrderSide::Listing, DOLLAR);
    let last = Amount::from(U256::from(1) << 96_usize);
    assert_eq!(make(&v2(), &NewOrder { expiry: last, ..listing }).unwrap_err(), Refusal::Expiry);
    assert_eq!(make(&v2(), &NewOrder { expiry: Amount::MAX, ..listing }).unwrap_err(), Refusal::Expiry);
    assert_eq!(make(&v2(), &NewOrder { unit_price: Amount::MAX, ..listing }).unwrap_err(), Refusal::Overflow);
}

/// The fees in the data of an `acceptRequest`.
fn fees_in(call: &Call) -> u64 {
    let number = |index: usize| {
        let start = 4 + index * 32;
        u64::try_from(U256::from_be_slice(&call.data[start..start + 32])).unwrap()
    };
    let start = usize::try_from(number(3)).unwrap() / 32;
    (1..=usize::try_from(number(start)).unwrap()).map(|index| number(start + index)).sum()
}

proptest! {
    /// However fees are divided: each receiver gets its own, no order carries more than it may, and what the calls cost
    /// is the price and the fees.
    #[test]
    fn totals_add_up(
        prices in prop::collection::vec((1..1_000_000_u64, 1..50_u64, 0..=10_000_i64), 1..8),
        bps in prop::collection::vec(0..3000_u64, 0..4),
        is_native: bool,
    ) {
        let currency = if is_native { COIN } else { DOLLAR };
        let orders: Vec<(OrderFacts, u64)> = (0_u64..)
            .zip(&prices)
            .map(|(id, (price, quantity, fee_bps))| {
                (OrderFacts { fee_bps: *fee_bps, ..order(&id.to_string(), *price, currency) }, *quantity)
            })
            .collect();
        let given: Vec<(&OrderFacts, u64)> = orders.iter().map(|(order, quantity)| (order, *quantity)).collect();
        let fees: Vec<RequestedFee> = bps.iter().map(|bps| fee(*bps, SHOP)).collect();
        let price: u64 = prices.iter().map(|(price, quantity, _)| price * quantity).sum();
        let fee: u64 = bps.iter().map(|bps| price * bps / 10_000).sum();
        let room: u64 = prices
            .iter()
            .map(|(price, quantity, bps)| price * quantity - price * quantity * bps.unsigned_abs() / 10_000)
            .sum();
        let calls = fill(&v2(), &given, &fees);
        if fee > room {
            let expected = Refusal::FeeSum { fees: U256::from(fee), most: U256::from(room) };
            prop_assert_eq!(calls.unwrap_err(), expected);
            return Ok(());
        }
        let calls = calls.unwrap();
        let sum = calls.iter().map(|call| call.price.value()).fold(U256::ZERO, |sum, price| sum + price);
        prop_assert_eq!(sum, U256::from(price + fee));
        let native: U256 = calls.iter().map(|call| call.value.value()).fold(U256::ZERO, |sum, value| sum + value);
        prop_assert_eq!(native, if is_native { sum } else { U256::ZERO });
        let single = |call: &&Call| call.data[..4] == 0xe6bd_720e_u32.to_be_bytes();
        prop_assert_eq!(calls.iter().filter(single).map(fees_in).sum::<u64>(), fee);
    }
}
