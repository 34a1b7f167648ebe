//! Random trades of one family after another: what goes into calls comes out of them, and adds up.

use std::sync::Arc;

use alloy_primitives::U256;
use bourse_wire::{Address, Amount, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{admit, person, requested, stored};
use crate::native::NativeOrder;
use crate::{
    Call, Consent, ConsentAnswers, ConsentOutcome, ConsentQuestions, ConsentSignature, Fill, Permission,
    Plan, Protocol, Refusal, RequestedFee, Trade,
};

/// Who made all orders that are drawn.
pub(crate) const MAKER: Address = Address::from_bytes([0xaa; 20]);
/// Who gets a share with each order.
pub(crate) const SHARER: Address = Address::from_bytes([0x5a; 20]);
/// The collection of all orders that are drawn.
pub(crate) fn collection() -> Address {
    person(0xc0)
}

/// A currency with a contract.
pub(crate) fn dollar() -> Address {
    person(0xd0)
}

/// An order for some units of a token at a price for each, and how many of them are traded.
#[derive(Clone, Debug)]
pub(crate) struct DrawnOrder {
    pub(crate) side: OrderSide,
    pub(crate) is_native: bool,
    /// Whether there are many of the token.
    pub(crate) is_multiple: bool,
    pub(crate) token: u64,
    pub(crate) units: u64,
    pub(crate) traded: u64,
    pub(crate) unit_price: u64,
    /// What of the price of a unit goes to somebody else; never all of it.
    pub(crate) unit_share: u64,
}

impl DrawnOrder {
    pub(crate) fn currency(&self) -> Address {
        if self.is_native { Address::ZERO } else { dollar() }
    }

    /// What all units come to.
    pub(crate) fn whole(&self) -> u64 {
        self.unit_price * self.units
    }

    fn price(&self) -> u64 {
        self.unit_price * self.traded
    }
}

/// What a call does with one order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TokenMove {
    pub(crate) token: u64,
    pub(crate) units: u64,
    /// What the buyer pays: for the units, and on top.
    pub(crate) paid: U256,
}

/// A family of marketplaces of which orders can be drawn.
pub(crate) trait Family {
    fn protocol(&self) -> Arc<dyn Protocol>;

    /// An order as it is put. Nobody has signed it.
    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value;

    /// What a call does, read with nothing but the ABI. Without fees on top for offers.
    fn moved(&self, call: &Call) -> Vec<TokenMove>;

    /// What its own service answers to a trade.
    fn answers(&self, _trade: &Trade<'_>, _drawn: &[DrawnOrder]) -> Vec<Value> {
        Vec::new()
    }

    /// Whether it may refuse such a trade for this reason.
    fn may_refuse(&self, refusal: &Refusal, drawn: &[DrawnOrder], fees: u64) -> bool;
}

/// As many trades as tell something: each is encoded, read and hashed several times.
pub(crate) fn few() -> ProptestConfig {
    ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() }
}

/// A signature that can be read, and that nobody has made.
pub(crate) fn signature() -> String {
    format!("0x{}{}1b", "01".repeat(32), "02".repeat(32))
}

/// Orders of a side in one currency.
pub(crate) fn drawn(side: OrderSide) -> impl Strategy<Value = Vec<DrawnOrder>> {
    let one = (any::<bool>(), 0..1000_u64, 1..50_u64, any::<bool>(), 0..50_u64, 1..1_000_000_u64, 0..100_u64);
    (any::<bool>(), prop::collection::vec(one, 1..4)).prop_map(move |(is_native, all)| {
        let is_native = is_native && side == OrderSide::Listing;
        let drawn =
            all.into_iter().map(|(is_multiple, token, units, is_whole, traded, unit_price, share)| {
                let units = if is_multiple { units } else { 1 };
                let traded = if is_whole { units } else { traded % units + 1 };
                // No offer is taken of which others get more than half.
                let share = if side == OrderSide::Offer { share / 2 } else { share };
                let unit_share = unit_price * share / 100;
                DrawnOrder { side, is_native, is_multiple, token, units, traded, unit_price, unit_share }
            });
        drawn.collect()
    })
}

/// Fees as callers ask for them: few basis points, or amounts.
pub(crate) fn fees() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        3 => Just(Vec::new()),
        4 => prop::collection::vec(0..2000_u64, 1..3),
        1 => prop::collection::vec(10_001..100_000_u64, 1..3),
    ]
}

fn put(family: &dyn Family, drawn: &[DrawnOrder]) -> Vec<NativeOrder> {
    let put = |(salt, drawn): (usize, &DrawnOrder)| {
        let order = family.order(drawn, salt);
        admit(&*family.protocol(), &order).unwrap_or_else(|fault| panic!("{fault}: {order}"))
    };
    drawn.iter().enumerate().map(put).collect()
}

/// Everything that the taker must sign is signed.
fn signed(protocol: &dyn Protocol, trade: &Trade<'_>) -> Result<Vec<Consent>, Refusal> {
    let ConsentQuestions { inquiries, .. } = protocol.consent_questions(trade)?;
    let zero = vec![Some(vec![0; 32].into()); inquiries.len()];
    let challenge = [json!({ "message": "Sign in", "walletAddress": trade.taker() })];
    let wanted =
        protocol.missing_consents(trade, ConsentAnswers { chain: &zero, service: &challenge, now: 1000 })?;
    let take = |wanted: &crate::ConsentRequest| {
        let given = ConsentSignature {
            taker: trade.taker(),
            terms: &wanted.terms,
            signature: &signature(),
            now: 1000,
        };
        match protocol.accept_consent(given).unwrap() {
            ConsentOutcome::Given(consent, _) => consent,
            ConsentOutcome::AskSource(_) => {
                protocol.consent_from_source(&json!({ "accessToken": "token" }), 1000).unwrap()
            }
        }
    };
    Ok(wanted.iter().map(take).collect())
}

fn plan(
    family: &dyn Family,
    orders: &[NativeOrder],
    drawn: &[DrawnOrder],
    asked: &[u64],
) -> Result<Plan, Refusal> {
    let protocol = family.protocol();
    let mut fills = Vec::new();
    for (order, drawn) in orders.iter().zip(drawn) {
        fills.push(Fill::new(&*protocol, stored(order), Amount::from(drawn.traded))?);
    }
    let fee = |(place, amount): (usize, &u64)| {
        requested((*amount).into(), person(u8::try_from(place).unwrap() + 1))
    };
    let asked: Vec<RequestedFee> = asked.iter().enumerate().map(fee).collect();
    let trade = Trade::new(collection(), fills, &asked, person(0xb0))?;
    let consents = signed(&*protocol, &trade)?;
    let trade = trade.with_consents(consents);
    protocol.source_requests(&trade)?;
    protocol.fill(&trade, &family.answers(&trade, drawn))
}

/// Checks that what is put is kept and comes back, and that the trade of it adds up.
pub(crate) fn check(family: &dyn Family, drawn: &[DrawnOrder], asked: &[u64]) -> Result<(), TestCaseError> {
    let orders = put(family, drawn);
    for (order, drawn) in orders.iter().zip(drawn) {
        let again: Value = serde_json::from_str(&order.text).unwrap();
        prop_assert_eq!(&admit(&*family.protocol(), &json!({ "native": again })).unwrap(), order);
        let facts = &order.facts;
        prop_assert_eq!((facts.side, facts.maker, order.collection), (drawn.side, MAKER, collection()));
        prop_assert_eq!((facts.price_amount, facts.currency), (drawn.unit_price.into(), drawn.currency()));
        prop_assert_eq!(
            (facts.quantity_initial, facts.token_id),
            (drawn.units.into(), Some(drawn.token.into()))
        );
        check_whole(family, order, drawn)?;
    }
    let price: u64 = drawn.iter().map(DrawnOrder::price).sum();
    let fee = |asked: &u64| if *asked <= 10_000 { price * asked / 10_000 } else { *asked };
    let fees: u64 = asked.iter().map(fee).sum();
    let plan = match plan(family, &orders, drawn, asked) {
        Ok(plan) => plan,
        Err(refusal) => {
            prop_assert!(family.may_refuse(&refusal, drawn, fees), "{}", refusal);
            return Ok(());
        }
    };
    let is_listing = drawn[0].side == OrderSide::Listing;
    let total = U256::from(if is_listing { price + fees } else { price });
    let sum = |amounts: &mut dyn Iterator<Item = U256>| amounts.fold(U256::ZERO, |sum, amount| sum + amount);
    prop_assert_eq!(sum(&mut plan.calls.iter().map(|call| call.price.value())), total);
    let value = if drawn[0].is_native { total } else { U256::ZERO };
    prop_assert_eq!(sum(&mut plan.calls.iter().map(|call| call.value.value())), value);
    let mut moved: Vec<TokenMove> = plan.calls.iter().flat_map(|call| family.moved(call)).collect();
    prop_assert_eq!(sum(&mut moved.iter().map(|moved| moved.paid)), total);
    let mut units: Vec<(u64, u64)> = moved.drain(..).map(|moved| (moved.token, moved.units)).collect();
    let mut wanted: Vec<(u64, u64)> = drawn.iter().map(|drawn| (drawn.token, drawn.traded)).collect();
    units.sort_unstable();
    wanted.sort_unstable();
    prop_assert_eq!(units, wanted);
    check_permissions(&plan, drawn, total)
}

/// What is told to be filled whole is, and nothing else.
fn check_whole(family: &dyn Family, order: &NativeOrder, drawn: &DrawnOrder) -> Result<(), TestCaseError> {
    let price = family.protocol().fill_price(stored(order), drawn.traded.into());
    let is_refused = matches!(price, Err(Refusal::Whole { .. }));
    let is_part = drawn.traded != drawn.units;
    prop_assert_eq!(is_refused, is_part && order.facts.is_whole, "{:?}", price);
    Ok(())
}

/// Buyers let the exact amount be taken, and sellers the token.
fn check_permissions(plan: &Plan, drawn: &[DrawnOrder], total: U256) -> Result<(), TestCaseError> {
    let is_listing = drawn[0].side == OrderSide::Listing;
    match plan.permissions.as_slice() {
        [] => prop_assert!(is_listing && drawn[0].is_native),
        [Permission::Spend { currency, amount, .. }] if is_listing => {
            prop_assert_eq!((*currency, amount.value()), (dollar(), total));
        }
        [Permission::Move { collection: moved, .. }, ..] => {
            prop_assert_eq!((*moved, is_listing), (collection(), false));
        }
        others => prop_assert!(false, "{:?}", others),
    }
    Ok(())
}
