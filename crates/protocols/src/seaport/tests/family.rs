//! Random trades on Seaport and its forks.

use std::sync::Arc;

use alloy_primitives::U256;
use alloy_sol_types::SolCall as _;
use bourse_wire::{Address, Marketplace, OrderSide};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::seaport::abi::{
    AdvancedOrder, BasicOrderParameters, fulfillAdvancedOrderCall, fulfillAvailableAdvancedOrdersCall,
    fulfillBasicOrderCall,
};
use crate::testing::family::{
    DrawnOrder, Family, MAKER, SHARER, TokenMove, check, collection, drawn, fees, few, signature,
};
use crate::testing::newest;
use crate::{Call, Protocol, Refusal};

const MARKETPLACES: [Marketplace; 4] =
    [Marketplace::Opensea, Marketplace::MagicEden, Marketplace::Mintify, Marketplace::Alienswap];

struct Seaport(Marketplace);

fn item(kind: u8, token: Address, id: u64, amount: u64, recipient: Option<Address>) -> Value {
    let mut item = json!({ "itemType": kind, "token": token, "identifierOrCriteria": id,
        "startAmount": amount.to_string(), "endAmount": amount.to_string() });
    if let Some(recipient) = recipient {
        item["recipient"] = json!(recipient);
    }
    item
}

/// Which items are tokens, by their type.
fn is_token(kind: u8) -> bool {
    kind > 1
}

fn basic(parameters: &BasicOrderParameters) -> TokenMove {
    let is_offer = parameters.basicOrderType / 4 > 3;
    let others = parameters.additionalRecipients.iter().map(|other| other.amount);
    let (token, units, paid) = if is_offer {
        let (token, units) = (parameters.considerationIdentifier, parameters.considerationAmount);
        (token, units, parameters.offerAmount)
    } else {
        let paid = others.fold(parameters.considerationAmount, |sum, amount| sum + amount);
        (parameters.offerIdentifier, parameters.offerAmount, paid)
    };
    TokenMove { token: token.to(), units: units.to(), paid }
}

fn advanced(order: &AdvancedOrder) -> TokenMove {
    assert_eq!(Address::from_bytes(order.parameters.offerer.into_array()), MAKER);
    let part = |amount: U256| {
        let product = amount * U256::from(order.numerator);
        assert_eq!(product % U256::from(order.denominator), U256::ZERO, "contracts refuse fractions");
        product / U256::from(order.denominator)
    };
    let [offered] = order.parameters.offer.as_slice() else { panic!("one thing") };
    if is_token(offered.itemType) {
        let money = order.parameters.consideration.iter();
        let paid = money.map(|item| part(item.startAmount)).fold(U256::ZERO, |sum, amount| sum + amount);
        let units = part(offered.startAmount).to();
        return TokenMove { token: offered.identifierOrCriteria.to(), units, paid };
    }
    let mut tokens = order.parameters.consideration.iter().filter(|item| is_token(item.itemType));
    let (token, None) = (tokens.next().unwrap(), tokens.next()) else { panic!("one token") };
    let units = part(token.startAmount).to();
    TokenMove { token: token.identifierOrCriteria.to(), units, paid: part(offered.startAmount) }
}

impl Family for Seaport {
    fn protocol(&self) -> Arc<dyn Protocol> {
        newest(self.0)
    }

    fn order(&self, drawn: &DrawnOrder, salt: usize) -> Value {
        let (money, token) = (u8::from(!drawn.is_native), if drawn.is_multiple { 3 } else { 2 });
        let (whole, share) = (drawn.whole(), drawn.unit_share * drawn.units);
        let currency = drawn.currency();
        let mut consideration = Vec::new();
        let offer = if drawn.side == OrderSide::Listing {
            consideration.push(item(money, currency, 0, whole - share, Some(MAKER)));
            item(token, collection(), drawn.token, drawn.units, None)
        } else {
            consideration.push(item(token, collection(), drawn.token, drawn.units, Some(MAKER)));
            item(money, currency, 0, whole, None)
        };
        if share > 0 {
            consideration.push(item(money, currency, 0, share, Some(SHARER)));
        }
        let native = json!({ "offerer": MAKER, "zone": Address::ZERO, "offer": [offer], "consideration": consideration,
            "orderType": u8::from(drawn.is_multiple), "startTime": 1, "endTime": 2, "zoneHash": format!("0x{:064x}", 0),
            "salt": salt, "conduitKey": format!("0x{:064x}", 0), "counter": 0 });
        json!({ "native": native, "signature": signature() })
    }

    fn moved(&self, call: &Call) -> Vec<TokenMove> {
        if let Ok(call) = fulfillBasicOrderCall::abi_decode(&call.data) {
            return vec![basic(&call.parameters)];
        }
        if let Ok(call) = fulfillAdvancedOrderCall::abi_decode(&call.data) {
            return vec![advanced(&call.advancedOrder)];
        }
        let call = fulfillAvailableAdvancedOrdersCall::abi_decode(&call.data).unwrap();
        call.advancedOrders.iter().map(advanced).collect()
    }

    fn may_refuse(&self, refusal: &Refusal, drawn: &[DrawnOrder], fees: u64) -> bool {
        match refusal {
            Refusal::FeeFraction { .. } => fees > 0 && drawn.iter().any(|drawn| drawn.traded < drawn.units),
            Refusal::FeeSum { .. } => fees > 0 && drawn[0].side == OrderSide::Offer,
            _ => false,
        }
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn purchases_add_up(drawn in drawn(OrderSide::Listing), fees in fees(), place in 0..4_usize) {
        check(&Seaport(MARKETPLACES[place]), &drawn, &fees)?;
    }

    #[test]
    fn sales_add_up(drawn in drawn(OrderSide::Offer), fees in fees(), place in 0..4_usize) {
        check(&Seaport(MARKETPLACES[place]), &drawn, &fees)?;
    }
}
