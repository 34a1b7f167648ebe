//! What happens through the service: orders that are made, filled and taken back.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::Trader;
use super::deed::{Deed, Outcome, Wish};
use super::orders::{Order, Signed};
use super::rules::Skill;
use crate::anvil::balanceOfCall;
use crate::venues::{executed, ids};

/// The end of an order that has none soon.
pub(super) const NEXT_CENTURY: u64 = 4_102_444_800;

/// What a maker changes of an order to be signed, so that it is filled whole or not at all.
fn make_whole(steps: &mut Value) {
    for step in steps.as_array_mut().unwrap().iter_mut().filter(|step| step["id"] == json!("signEIP712")) {
        for order in ["/signature/value/orderType", "/post/body/native/orderType"] {
            *step.pointer_mut(order).unwrap() = json!(0);
        }
    }
}

/// Why steps could not be carried out.
struct Stuck(String);

/// What carrying out steps made.
#[derive(Default)]
struct Made {
    /// The order's name and what makes it, where it was signed.
    order: Option<(String, Signed)>,
    /// What the transactions cost besides what they pay.
    gas: U256,
}

impl Trader {
    /// Has somebody ask the service for something, and do what it says.
    pub(super) fn trade(&mut self, deed: &Deed) -> Outcome {
        match deed {
            Deed::List(wish) => self.make(wish, true),
            Deed::Offer(wish) => self.make(wish, false),
            Deed::Buy { who, picks, fees } => self.fill_listings(*who, picks, fees),
            Deed::Sell { who, pick, token, fees } => self.fill_offer(*who, pick, *token, fees),
            Deed::Cancel { id } => self.take_back(id),
            _ => self.happen(deed),
        }
    }

    fn make(&mut self, wish: &Wish, is_listing: bool) -> Outcome {
        let Wish { who, collection, token, units, is_whole, currency, price, seconds } = *wish;
        let kind = if self.scene.is_many(collection) { "ERC1155" } else { "ERC721" };
        let expiry = seconds.map_or(NEXT_CENTURY, |seconds| super::now() + seconds);
        let order = json!({ "tokenId": token.unwrap_or_default().to_string(), "quantity": units.to_string(),
            "currencyAddress": currency, "pricePerToken": price.to_string(), "expiry": expiry.to_string() });
        let mut body = json!({ "collectionAddress": collection, "contractType": kind,
            "orderbook": self.scene.venue.word, "walletType": "unknown" });
        let operation = if is_listing {
            (body["owner"], body["listing"]) = (json!(who), order);
            "GenerateListingTransaction"
        } else {
            (body["maker"], body["offer"]) = (json!(who), order);
            body["offerType"] = json!(if token.is_none() { "collection" } else { "item" });
            "GenerateOfferTransaction"
        };
        let can_pay_or_deliver = match token {
            Some(token) if is_listing => self.held(who, collection, token) >= units,
            // With the largest royalty that there is.
            _ => !is_listing && self.money(currency, who) >= 2 * price * units,
        };
        // One that ends soon may be over before it is made.
        let is_owed = can_pay_or_deliver && seconds.is_none();
        let mut steps = match self.ask(operation, &body, is_owed) {
            Ok(steps) => steps,
            Err(refused) => return refused,
        };
        if is_whole {
            make_whole(&mut steps);
        }
        match self.carry_out(who, &steps) {
            Ok(made) => {
                let order = made.order.map(|(id, signed)| Order {
                    id,
                    maker: who,
                    is_listing,
                    collection,
                    token,
                    units,
                    is_whole: is_whole || !self.can(Skill::Parts),
                    currency,
                    price,
                    expiry,
                    signed: Some(signed),
                });
                self.orders.extend(order);
                Outcome::Done
            }
            Err(stuck) => Self::excuse(&stuck, [expiry]),
        }
    }

    fn fill_listings(&mut self, who: Address, picks: &[(String, u64)], fees: &[u64]) -> Outcome {
        let orders: Vec<Order> = picks.iter().map(|(id, _)| self.order(id).clone()).collect();
        let (collection, currency) = (orders[0].collection, orders[0].currency);
        let body = json!({ "collectionAddress": collection, "buyer": who, "marketplace": self.scene.venue.word,
            "ordersData": data(picks, None), "additionalFees": self.shares(fees), "walletType": "unknown" });
        let price: u64 = picks.iter().zip(&orders).map(|((_, units), order)| units * order.price).sum();
        let is_rich = currency == Address::ZERO || self.money(currency, who) >= 2 * price + 100_000;
        // Listings of one token may rely on the same units.
        let is_one = picks.len() == 1;
        let is_owed = is_one && fees.is_empty() && is_rich && self.is_fillable(&picks[0], who);
        if !is_rich {
            // Whoever lacks the money for it is not spared the attempt, but here nobody tries.
            return Outcome::Nothing;
        }
        let steps = match self.ask("GenerateBuyTransaction", &body, is_owed) {
            Ok(steps) => steps,
            Err(refused) => return refused,
        };
        let before = self.wealth(currency, who);
        match self.carry_out(who, &steps) {
            Ok(Made { gas, .. }) => {
                let gas = if currency == Address::ZERO { gas } else { U256::ZERO };
                let told: U256 = prices(&steps).into_iter().sum();
                let paid = before - self.wealth(currency, who) - gas;
                assert_eq!(paid, told, "what the buyer paid: {steps}");
                Outcome::Done
            }
            Err(stuck) => Self::excuse(&stuck, orders.iter().map(|order| order.expiry)),
        }
    }

    fn fill_offer(&mut self, who: Address, pick: &(String, u64), token: u64, fees: &[u64]) -> Outcome {
        let order = self.order(&pick.0).clone();
        let token = order.token.unwrap_or(token);
        let body = json!({ "collectionAddress": order.collection, "seller": who,
            "marketplace": self.scene.venue.word, "ordersData": data(std::slice::from_ref(pick), Some(token)),
            "additionalFees": self.shares(fees), "walletType": "unknown" });
        let has_it = self.held(who, order.collection, token) >= pick.1;
        let is_owed = has_it && fees.is_empty() && self.is_fillable(pick, who);
        let steps = match self.ask("GenerateSellTransaction", &body, is_owed) {
            Ok(steps) => steps,
            Err(refused) => return refused,
        };
        match self.carry_out(who, &steps) {
            Ok(_) => Outcome::Done,
            Err(stuck) => Self::excuse(&stuck, [order.expiry]),
        }
    }

    fn take_back(&mut self, id: &str) -> Outcome {
        let order = self.order(id).clone();
        let body = json!({ "collectionAddress": order.collection, "maker": order.maker,
            "marketplace": self.scene.venue.word, "orderId": id });
        let is_owed = self.seen.get(id).is_some_and(super::Ours::is_active) && order.expiry == NEXT_CENTURY;
        let steps = match self.ask("GenerateCancelTransaction", &body, is_owed) {
            Ok(steps) => steps,
            Err(refused) => return refused,
        };
        match self.carry_out(order.maker, &steps) {
            Ok(_) => Outcome::Done,
            Err(stuck) => Self::excuse(&stuck, [order.expiry]),
        }
    }

    /// Whether nothing speaks against somebody's taking so much of an order.
    fn is_fillable(&self, (id, units): &(String, u64), who: Address) -> bool {
        let (order, Some(ours)) = (self.order(id), self.seen.get(id)) else { return false };
        let is_enough = !order.is_whole || *units == order.units;
        // One that is about to end may end before the answer.
        is_enough
            && !self.ahead.contains(id)
            && order.maker != who
            && *units <= ours.available
            && order.expiry == NEXT_CENTURY
    }

    /// The steps that the service answers, or why it has none. What is owed must not be refused.
    fn ask(&mut self, operation: &str, body: &Value, is_owed: bool) -> Result<Value, Outcome> {
        let answer = self.scene.stage.market.marketplace_answer(operation, body);
        if answer.status == 200 {
            let steps = answer.ok()["steps"].clone();
            assert!(
                steps.as_array().is_some_and(|steps| !steps.is_empty()),
                "{operation} {body}: {answer:?}"
            );
            return Ok(steps);
        }
        let said: Value = serde_json::from_str(&answer.body).unwrap();
        let why = said["cause"].as_str().or(said["message"].as_str()).unwrap_or_default();
        let is_told = answer.status < 500 && !why.is_empty();
        assert!(is_told && !is_owed, "{operation} {body} is refused, owed: {is_owed}: {answer:?}");
        Err(Outcome::Refused(format!("{operation}: {why}")))
    }

    /// Does what steps say, as a wallet does.
    fn carry_out(&mut self, who: Address, steps: &Value) -> Result<Made, Stuck> {
        let mut made = Made::default();
        let stage = &self.scene.stage;
        for step in steps.as_array().unwrap() {
            self.tally.steps += 1;
            if step["id"] != json!("signEIP712") {
                let cost = stage.market.anvil.try_perform(who, step);
                made.gas += cost.map_err(|why| Stuck(format!("{why}: {:?} of {steps}", ids(steps))))?;
                continue;
            }
            stage.catch_up();
            let params = executed(step, &stage.sign(who, &step["signature"]));
            let answer = stage.market.marketplace_answer("Execute", &json!({ "params": params }));
            if answer.status != 200 {
                return Err(Stuck(format!("Execute: {}", answer.body)));
            }
            let id = answer.ok()["orderId"].as_str().unwrap().to_owned();
            made.order = Some((id, Signed { value: step["signature"]["value"].clone(), params }));
        }
        Ok(made)
    }

    /// A step that fails is a mistake, unless an order has ended since the answer.
    fn excuse(stuck: &Stuck, ends: impl IntoIterator<Item = u64>) -> Outcome {
        let now = super::now();
        assert!(ends.into_iter().any(|end| end <= now), "a step failed: {}", stuck.0);
        Outcome::Late
    }

    /// Shares for the platform.
    fn shares(&self, fees: &[u64]) -> Value {
        let receiver = self.scene.stage.market.platform();
        let member = |fee: &u64| if *fee <= 10_000 { "amount" } else { "amountInBaseUnits" };
        fees.iter().map(|fee| json!({ member(fee): fee.to_string(), "receiver": receiver })).collect()
    }

    pub(super) fn order(&self, id: &str) -> &Order {
        self.orders.iter().find(|order| order.id == id).unwrap()
    }

    /// How much of a currency somebody has.
    pub(super) fn money(&self, currency: Address, who: Address) -> u64 {
        self.wealth(currency, who).saturating_to()
    }

    fn wealth(&self, currency: Address, who: Address) -> U256 {
        let anvil = &self.scene.stage.market.anvil;
        if currency == Address::ZERO {
            return anvil.native_balance(who);
        }
        anvil.ask(currency, &balanceOfCall { owner: crate::anvil::alloy_address(who) })
    }

    fn held(&self, who: Address, collection: Address, token: u64) -> u64 {
        self.held.get(&(who, collection, token)).copied().unwrap_or_default()
    }
}

/// Orders as requests name them.
fn data(picks: &[(String, u64)], token: Option<u64>) -> Value {
    let one = |(id, units): &(String, u64)| {
        let mut one = json!({ "orderId": id, "quantity": units.to_string() });
        if let Some(token) = token {
            one["tokenId"] = json!(token.to_string());
        }
        one
    };
    picks.iter().map(one).collect()
}

/// What steps say that they move, approvals aside.
fn prices(steps: &Value) -> Vec<U256> {
    let steps = steps.as_array().unwrap().iter();
    let fills = steps.filter(|step| step["id"] != json!("tokenApproval"));
    fills.map(|step| step["price"].as_str().unwrap().parse().unwrap()).collect()
}
