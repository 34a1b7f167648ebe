//! Random purchases add up to the last unit.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{HELPER, SHOP, V2, address, buy, fills, market_with, number, sold, steps};
use crate::marketplace::{COIN, DOLLAR, with};
use crate::support::random::check;

/// Orders of the market: price and currency, told apart by being even or odd.
const PRICES: [u64; 8] = [1, 7, 999, 10_000, 123_456_789, 5, 70_000, 1_000_000_007];

#[test]
fn what_is_paid_is_the_price_and_the_fees() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let orders = (0..).zip(PRICES).map(|(id, price): (u64, u64)| {
        let currency = if id % 2 == 0 { COIN } else { DOLLAR };
        with(sold(&id.to_string(), price), json!({ "priceCurrencyAddress": currency }))
    });
    let settings = [("networks.polygon.batch_helper", HELPER)];
    let app = runtime.block_on(market_with(&settings, None, orders));
    // Each of four orders may be taken several times; the same ones of the other currency when the flag is set.
    let strategy =
        (vec((0..4_usize, 1..4_u64), 1..4), vec((0..2500_u64, any::<bool>()), 0..4), any::<bool>());
    check(150, &strategy, |(chosen, fees, is_native)| {
        let place = |index: usize| 2 * index + usize::from(!is_native);
        let names: Vec<String> = chosen.iter().map(|(index, _)| place(*index).to_string()).collect();
        let asked: Vec<(&str, u64)> =
            names.iter().zip(&chosen).map(|(name, (_, quantity))| (name.as_str(), *quantity)).collect();
        let price: u128 =
            chosen.iter().map(|(index, quantity)| u128::from(PRICES[place(*index)] * quantity)).sum();
        // A share, or ten thousand and some as an amount.
        let amounts: Vec<u64> =
            fees.iter().map(|(amount, is_share)| if *is_share { *amount } else { amount + 10_001 }).collect();
        let fee: u128 = amounts
            .iter()
            .map(|amount| u128::from(*amount))
            .map(|amount| if amount <= 10_000 { price * amount / 10_000 } else { amount })
            .sum();
        let member = |amount: &u64| if *amount <= 10_000 { "amount" } else { "amountInBaseUnits" };
        let listed: Vec<Value> = amounts
            .iter()
            .map(|amount| json!({ member(amount): amount.to_string(), "receiver": SHOP }))
            .collect();
        let answer = runtime.block_on(buy(&app, &asked, json!({ "additionalFees": listed })));
        if fee > price {
            return assert_eq!(answer.refusal(), (400, 2001), "{}", answer.json);
        }
        let steps = steps(answer);
        let bought = if is_native {
            steps.as_slice()
        } else {
            assert_eq!((address(&steps[0].words[0]).as_str(), number(&steps[0].words[1])), (V2, price + fee));
            &steps[1..]
        };
        assert_eq!(bought.iter().map(|step| step.price).sum::<u128>(), price + fee);
        let value: u128 = bought.iter().map(|step| step.value).sum();
        assert_eq!(value, if is_native { price + fee } else { 0 });
        let filled: Vec<_> = bought.iter().flat_map(fills).collect();
        assert_eq!(filled.iter().flat_map(|one| &one.fees).map(|(amount, _)| amount).sum::<u128>(), fee);
        for (index, name) in names.iter().enumerate() {
            let all =
                asked.iter().filter(|(other, _)| other == name).map(|(_, quantity)| u128::from(*quantity));
            let order = filled.iter().filter(|one| one.order.to_string() == *name);
            assert_eq!(
                order.map(|one| one.quantity).collect::<Vec<_>>(),
                [all.sum::<u128>()],
                "order {index}"
            );
        }
    });
}
