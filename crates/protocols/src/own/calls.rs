//! The calls that trade.

use alloy_primitives::aliases::U96;
use alloy_primitives::{B256, U256};
use bourse_market::Standing;
use bourse_market::facts::Log;
use bourse_wire::{Address, Amount, Marketplace, OrderFacts, OrderSide};
use serde_json::Value;

use super::abi::{
    PayableHelper, RequestParams, acceptRequestBatchCall, acceptRequestCall, cancelRequestCall,
    createRequestCall,
};
use super::{Own, logs, standing};
use crate::native::{Answers, Inquiry};
use crate::trade::sum;
use crate::{
    Act, Call, Fee, Fill, LogError, NewOrder, OrderMaking, OrderSeed, OrderTerms, Permission, Plan, Protocol,
    Refusal, Royalty, Sale, Statement, StoredOrder, TopicFilter, Trade, price_of,
};

impl Protocol for Own {
    fn contract(&self) -> Address {
        self.contract
    }

    fn royalty_inquiry(&self, collection: Address, fill: &Fill<'_>) -> Option<Inquiry> {
        let (market, price) = (self.contract, fill.price.into());
        Some(Sale { market, collection, token_id: fill.token_id?, price }.inquiry())
    }

    /// The contract applies the fees of a batch to each of its orders, so orders that carry fees are filled one by one.
    /// They come first; the others follow in one batch where there is a function for it.
    fn fill(&self, trade: &Trade<'_>, _answers: &[Value]) -> Result<Plan, Refusal> {
        self.check_currency(trade.side, trade.currency)?;
        check_royalties(trade.fills.iter().filter_map(|fill| fill.chain_royalty))?;
        let (carrying, rest) = spread(trade)?;
        let mut calls = Vec::with_capacity(carrying.len() + 1);
        for (fill, fees) in &carrying {
            calls.push(self.accept_one(trade, fill, fees)?);
        }
        match rest.as_slice() {
            [_, _, ..] => match self.accept_many(trade, &rest)? {
                Some(call) => calls.push(call),
                None => {
                    for fill in &rest {
                        calls.push(self.accept_one(trade, fill, &[])?);
                    }
                }
            },
            [one] => calls.push(self.accept_one(trade, one, &[])?),
            [] => {}
        }
        let permissions = self.taker_permissions(trade)?;
        // Whoever sends a purchase pays, and the recipient of each order is named.
        Ok(Plan { permissions, calls, anybody_may_send: trade.side == OrderSide::Listing, note: None })
    }

    fn order_inquiries(&self, order: &NewOrder) -> Vec<Inquiry> {
        let (market, collection, token_id) = (self.contract, order.collection, order.token_id);
        let price = price_of(order.unit_price, order.quantity).map(Amount::from);
        let royalty = price.map(|price| Sale { market, collection, token_id, price }.inquiry());
        [standing::anything(market)].into_iter().chain(royalty).collect()
    }

    fn make_order(&self, order: &NewOrder, seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        self.check_currency(order.side, order.currency)?;
        // Where nobody can be asked there are no answers at all.
        if let Some(answer) = seed.answers.first()
            && !standing::is_market(answer.as_ref())
        {
            return Err(Refusal::NoContract { contract: self.contract });
        }
        let royalty = Royalty::read(seed.answers.get(1).and_then(Option::as_ref));
        check_royalties(royalty)?;
        let price = price_of(order.unit_price, order.quantity)?;
        let request = RequestParams {
            isListing: order.side == OrderSide::Listing,
            isERC1155: order.is_multiple,
            tokenContract: order.collection.bytes().into(),
            tokenId: order.token_id.value(),
            quantity: order.quantity.value(),
            expiry: seconds(order.expiry)?,
            currency: order.currency.bytes().into(),
            pricePerToken: order.unit_price.value(),
        };
        let call = Call::of(self.contract, &createRequestCall { request });
        let (permission, funds) = match order.side {
            // The maker of an offer pays the royalty on top. When nobody tells what that is, it is the most that the
            // contract lets it be, which is the price again.
            OrderSide::Offer => {
                let royalty = royalty.map(|royalty| royalty.amount.value());
                let most = price.saturating_add(royalty.unwrap_or(price)).into();
                let least = price.saturating_add(royalty.unwrap_or_default()).into();
                (Permission::spend(order.currency, self.contract, most), least)
            }
            OrderSide::Listing | OrderSide::Unknown => (Some(self.may_move(order.collection)), Amount::ZERO),
        };
        let act = Act::Call(Call { price: price.into(), ..call });
        Ok(OrderMaking { permissions: permission.into_iter().collect(), funds, act })
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let call = cancelRequestCall { requestId: number(stored.facts)? };
        Ok(Call::of(self.contract, &call))
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        self.ask(stored)
    }

    fn standing(&self, _stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        standing::standing(answers)
    }

    fn terms(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        Ok(standing::terms(stored.facts, answers))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn collection_topics(&self, collection: Address) -> Vec<TopicFilter> {
        logs::collection_topics(collection)
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(self, logs)
    }
}

impl Own {
    /// Only listings of the second version take the chain's own currency.
    fn check_currency(&self, side: OrderSide, currency: Address) -> Result<(), Refusal> {
        let takes_native = self.marketplace == Marketplace::OwnV2 && side == OrderSide::Listing;
        if currency == Address::ZERO && !takes_native { Err(Refusal::Native) } else { Ok(()) }
    }

    /// What a buyer, or a seller, must let the contract do.
    fn taker_permissions(&self, trade: &Trade<'_>) -> Result<Vec<Permission>, Refusal> {
        let permission = match trade.side {
            OrderSide::Listing => Permission::spend(trade.currency, self.contract, trade.total()?),
            OrderSide::Offer | OrderSide::Unknown => Some(self.may_move(trade.collection)),
        };
        Ok(permission.into_iter().collect())
    }

    fn may_move(&self, collection: Address) -> Permission {
        Permission::Move { collection, operator: self.contract }
    }

    fn accept_one(&self, trade: &Trade<'_>, fill: &Fill<'_>, fees: &[Fee]) -> Result<Call, Refusal> {
        let call = acceptRequestCall {
            requestId: number(fill.order)?,
            quantity: fill.quantity.value(),
            recipient: trade.taker.bytes().into(),
            additionalFees: fees.iter().map(|fee| fee.amount).collect(),
            additionalFeeRecipients: fees.iter().map(|fee| fee.receiver.bytes().into()).collect(),
        };
        let fees = sum(fees.iter().map(|fee| fee.amount))?;
        let price = match trade.side {
            OrderSide::Listing => fill.price.checked_add(fees).ok_or(Refusal::Overflow)?,
            // Out of what the offer pays.
            OrderSide::Offer | OrderSide::Unknown => fill.price,
        };
        Ok(Call::of(self.contract, &call).paying(trade.currency, price))
    }

    /// One call for several orders without fees; `None` when no contract has a function that does this.
    fn accept_many(&self, trade: &Trade<'_>, fills: &[Fill<'_>]) -> Result<Option<Call>, Refusal> {
        let ids = fills.iter().map(|fill| number(fill.order)).collect::<Result<Vec<U256>, _>>()?;
        let quantities: Vec<U256> = fills.iter().map(|fill| fill.quantity.value()).collect();
        let recipients = vec![trade.taker.bytes().into(); fills.len()];
        let price = sum(fills.iter().map(|fill| fill.price))?;
        if trade.currency != Address::ZERO {
            let call = acceptRequestBatchCall {
                requestIds: ids,
                quantities,
                recipients,
                additionalFees: Vec::new(),
                additionalFeeRecipients: Vec::new(),
            };
            return Ok(Some(Call::of(self.contract, &call).paying(trade.currency, price)));
        }
        let Some(helper) = self.payable_helper else { return Ok(None) };
        let call = PayableHelper::acceptRequestBatchCall {
            market: self.contract.bytes().into(),
            requestIds: ids,
            quantities,
            recipients,
            additionalFees: Vec::new(),
            additionalFeeRecipients: Vec::new(),
        };
        Ok(Some(Call::of(helper, &call).paying(trade.currency, price)))
    }
}

/// A time as the contract keeps it.
fn seconds(expiry: Amount) -> Result<U96, Refusal> {
    let seconds = u128::try_from(expiry.value()).map_err(|_| Refusal::Expiry)?;
    U96::try_from(seconds).map_err(|_| Refusal::Expiry)
}

/// The number that is the name of an order.
pub(super) fn number(order: &OrderFacts) -> Result<U256, Refusal> {
    let number: Result<Amount, _> = order.order_id.parse();
    number.map(Amount::value).map_err(|_| Refusal::OrderId { order_id: order.order_id.clone() })
}

/// An order with the fees that it carries.
type FillWithFees<'a> = (Fill<'a>, Vec<Fee>);

/// Divides the fees among the orders: the first carries all of them if the contract lets it, and what is too much for
/// it goes on to the next. Orders that carry some come first, then the others.
fn spread<'a>(trade: &Trade<'a>) -> Result<(Vec<FillWithFees<'a>>, Vec<Fill<'a>>), Refusal> {
    let (mut carrying, mut rest) = (Vec::new(), Vec::new());
    let mut fees = trade.fees.iter().copied();
    let mut left = fees.next();
    for fill in &trade.fills {
        let mut room = room_for_fees(fill);
        let mut carried = Vec::new();
        while let Some(fee) = left.filter(|_| !room.is_zero()) {
            let amount = fee.amount.min(room);
            carried.push(Fee { amount, ..fee });
            room -= amount;
            let unpaid = fee.amount - amount;
            left = if unpaid.is_zero() { fees.next() } else { Some(Fee { amount: unpaid, ..fee }) };
        }
        if carried.is_empty() {
            rest.push(*fill);
        } else {
            carrying.push((*fill, carried));
        }
    }
    if left.is_some() {
        let fees = sum(trade.fees.iter().map(|fee| fee.amount))?;
        return Err(Refusal::FeeSum { fees, most: sum(trade.fills.iter().map(room_for_fees))? });
    }
    Ok((carrying, rest))
}

/// Refuses what would pay nobody. The contract that is deployed does not look whom it pays a royalty.
fn check_royalties(royalties: impl IntoIterator<Item = Royalty>) -> Result<(), Refusal> {
    match royalties.into_iter().find(Royalty::is_lost) {
        Some(Royalty { amount, .. }) => Err(Refusal::LostRoyalty { amount }),
        None => Ok(()),
    }
}

/// The most fees that the contract lets an order carry: of a listing no more than is left when the royalty is paid; of
/// an offer, whose maker pays the royalty on top, no more than its price.
fn room_for_fees(fill: &Fill<'_>) -> U256 {
    match fill.order.side {
        OrderSide::Listing => {
            let royalty = fill.chain_royalty.map_or(fill.royalty, |royalty| royalty.amount);
            fill.price.saturating_sub(royalty.value())
        }
        OrderSide::Offer | OrderSide::Unknown => fill.price,
    }
}
