//! Random orders: what is put, kept, priced and encoded belongs together.

use std::sync::Arc;

use alloy_primitives::U256;
use alloy_sol_types::SolCall as _;
use bourse_wire::{Address, Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::native::{NativeOrder, Proof};
use crate::seaport::abi::{
    AdvancedOrder, fulfillAdvancedOrderCall, fulfillAvailableAdvancedOrdersCall, fulfillBasicOrderCall,
};
use crate::testing::{admit, fill, newest};
use crate::{Plan, Protocol};

const MAKER: &str = "0x00000000000000000000000000000000000000aa";
const DOLLAR: &str = "0x00000000000000000000000000000000000000d0";
const COLLECTION: &str = "0x00000000000000000000000000000000000000c0";

fn opensea() -> Arc<dyn Protocol> {
    newest(Marketplace::Opensea)
}

fn thing(kind: u8, token: &str, id: u64, amount: u64, recipient: Option<&str>) -> Value {
    let mut thing = json!({ "itemType": kind, "token": token, "identifierOrCriteria": id.to_string(),
        "startAmount": amount.to_string(), "endAmount": amount.to_string() });
    if let Some(recipient) = recipient {
        thing["recipient"] = json!(recipient);
    }
    thing
}

/// An order for some units at a price for each, of which others get something.
#[derive(Clone, Debug)]
struct DrawnOrder {
    side: OrderSide,
    is_native: bool,
    units: u64,
    bought: u64,
    unit_price: u64,
    unit_fees: Vec<u64>,
}

impl DrawnOrder {
    fn order(&self, salt: usize) -> Value {
        let units = self.units;
        let (kind, currency) =
            if self.is_native { (0, "0x0000000000000000000000000000000000000000") } else { (1, DOLLAR) };
        let fees = self.unit_fees.iter().enumerate();
        let fees = fees.map(|(place, fee)| {
            thing(kind, currency, 0, fee * units, Some(&format!("0x{:040x}", 0xf000 + place)))
        });
        let (offer, first) = match self.side {
            OrderSide::Listing => (
                thing(3, COLLECTION, 7, units, None),
                thing(kind, currency, 0, self.unit_price * units, Some(MAKER)),
            ),
            _ => (
                thing(1, DOLLAR, 0, (self.unit_price + self.unit_fees.iter().sum::<u64>()) * units, None),
                thing(3, COLLECTION, 7, units, Some(MAKER)),
            ),
        };
        let consideration: Vec<Value> = std::iter::once(first).chain(fees).collect();
        let native = json!({ "offerer": MAKER, "zone": format!("0x{:040x}", 0), "offer": [offer],
            "consideration": consideration, "orderType": 1, "startTime": 1, "endTime": 2,
            "zoneHash": format!("0x{:064x}", 0), "salt": salt, "conduitKey": format!("0x{:064x}", 0), "counter": 0 });
        json!({ "native": native, "signature": format!("0x{}", "01".repeat(65)) })
    }

    /// What the buyer pays for the units that are bought, without fees on top.
    fn price(&self) -> u64 {
        (self.unit_price + self.unit_fees.iter().sum::<u64>()) * self.bought
    }
}

fn drawn(side: OrderSide) -> impl Strategy<Value = DrawnOrder> {
    let native = if side == OrderSide::Listing { any::<bool>().boxed() } else { Just(false).boxed() };
    (native, 1..50_u64, 0..50_u64, 1..1_000_000_u64, prop::collection::vec(1..10_000_u64, 0..4)).prop_map(
        move |(is_native, units, bought, unit_price, unit_fees)| {
            let bought = bought % units + 1;
            // Who sells to an offer gets at least half of it.
            let least = if side == OrderSide::Offer { unit_fees.iter().sum() } else { 0 };
            let unit_price = unit_price.max(least);
            DrawnOrder { side, is_native, units, bought, unit_price, unit_fees }
        },
    )
}

/// The orders in a call, with what is paid of each.
fn orders_in(plan: &Plan) -> Vec<AdvancedOrder> {
    let data = &plan.calls[0].data;
    if let Ok(call) = fulfillAdvancedOrderCall::abi_decode(data) {
        return vec![call.advancedOrder];
    }
    fulfillAvailableAdvancedOrdersCall::abi_decode(data).unwrap().advancedOrders
}

/// What of the currency the orders in a call ask for, all together.
fn asked_in(plan: &Plan) -> U256 {
    if let Ok(call) = fulfillBasicOrderCall::abi_decode(&plan.calls[0].data) {
        let others = call.parameters.additionalRecipients.iter().map(|other| other.amount);
        let is_offer = call.parameters.basicOrderType / 4 >= 4;
        let first = if is_offer { U256::ZERO } else { call.parameters.considerationAmount };
        return others.fold(first, |sum, amount| sum + amount);
    }
    let part = |order: &AdvancedOrder, amount: U256| {
        let product = amount * U256::from(order.numerator);
        assert_eq!(product % U256::from(order.denominator), U256::ZERO, "contracts refuse fractions");
        product / U256::from(order.denominator)
    };
    let mut sum = U256::ZERO;
    for order in orders_in(plan) {
        let money = order.parameters.consideration.iter().filter(|item| item.itemType < 2);
        sum += money.map(|item| part(&order, item.startAmount)).fold(U256::ZERO, |sum, amount| sum + amount);
    }
    sum
}

fn filling(drawn: &[DrawnOrder], fees: &[u64]) -> Value {
    let fee = |(place, amount): (usize, &u64)| json!({ "amount": amount.to_string(), "receiver": format!("0x{:040x}", 0x5000 + place) });
    let quantities: Vec<String> = drawn.iter().map(|drawn| drawn.bought.to_string()).collect();
    let fees: Vec<Value> = fees.iter().enumerate().map(fee).collect();
    json!({ "quantities": quantities, "taker": "0x00000000000000000000000000000000000000bb", "fees": fees })
}

fn put(drawn: &[DrawnOrder]) -> Vec<NativeOrder> {
    let orders =
        drawn.iter().enumerate().map(|(salt, drawn)| admit(&*opensea(), &drawn.order(salt)).unwrap());
    orders.collect()
}

proptest! {
    #[test]
    fn what_is_kept_is_what_was_put(drawn in drawn(OrderSide::Listing), offer in drawn(OrderSide::Offer)) {
        for drawn in [drawn, offer] {
            let order = put(std::slice::from_ref(&drawn)).remove(0);
            let stored: Value = serde_json::from_str(&order.text).unwrap();
            let again = admit(&*opensea(), &json!({ "native": stored })).unwrap();
            prop_assert_eq!(&again, &order);
            let facts = &order.facts;
            prop_assert!(matches!(order.proof, Proof::Ask(_)));
            prop_assert_eq!(facts.side, drawn.side);
            prop_assert_eq!(facts.quantity_initial, drawn.units.into());
            prop_assert_eq!(facts.price_amount.value() * U256::from(drawn.bought), U256::from(drawn.price()));
            let fees: u64 = drawn.unit_fees.iter().sum();
            let exact = fees * 10_000 / (drawn.unit_price + fees);
            let told = u64::try_from(facts.fee_bps).unwrap();
            prop_assert!(told <= exact && exact - told <= drawn.unit_fees.len() as u64, "each is rounded down");
            prop_assert_eq!(order.collection.to_string(), COLLECTION);
            prop_assert_eq!(facts.currency == Address::ZERO, drawn.is_native);
        }
    }

    /// What a seller gets is what the offers pay without what goes to others.
    #[test]
    fn sales_add_up(
        drawn in prop::collection::vec(drawn(OrderSide::Offer), 1..4),
        bps in prop::collection::vec(0..2000_u64, 0..3),
    ) {
        let orders = put(&drawn);
        let price: u64 = drawn.iter().map(DrawnOrder::price).sum();
        let others: u64 = drawn.iter().map(|drawn| drawn.unit_fees.iter().sum::<u64>() * drawn.bought).sum();
        let fees: u64 = bps.iter().map(|bps| price * bps / 10_000).sum();
        let plan = match fill(&*opensea(), &orders, &filling(&drawn, &bps)) {
            Ok(plan) => plan,
            Err(refusal) => {
                let text = refusal.to_string();
                let is_known = text.contains("cannot be paid exactly") || text.contains("the fees add up to");
                prop_assert!(is_known, "{}", text);
                return Ok(());
            }
        };
        prop_assert_eq!(plan.calls[0].price.value(), U256::from(price));
        prop_assert_eq!(plan.calls[0].value.value(), U256::ZERO);
        prop_assert_eq!(asked_in(&plan), U256::from(others + fees));
        prop_assert!(others + fees <= price);
    }
}
