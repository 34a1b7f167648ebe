//! The calls that fill orders.

use alloy_primitives::{Bytes, U256};
use bourse_wire::{Address, Amount, OrderSide};

use super::abi::{
    self, batchBuyERC721sCall, batchBuyERC1155sCall, buyERC721Call, buyERC1155Call, sellERC721Call,
    sellERC1155Call,
};
use super::order::{Order, ZeroxOrder};
use super::{NAME, UNITS_BITS, Zerox};
use crate::native;
use crate::trade::sum;
use crate::{Call, Fill, Permission, Plan, Refusal, StoredOrder, Trade};

/// Listings of one kind of token, with what is bought of each.
struct Group<O> {
    orders: Vec<O>,
    signatures: Vec<abi::Signature>,
    amounts: Vec<u128>,
    price: U256,
}

impl<O> Default for Group<O> {
    fn default() -> Self {
        Self { orders: Vec::new(), signatures: Vec::new(), amounts: Vec::new(), price: U256::ZERO }
    }
}

impl<O> Group<O> {
    fn push(&mut self, order: O, signature: abi::Signature, fill: &Fill<'_>) -> Result<(), Refusal> {
        self.amounts.push(units(fill)?);
        self.orders.push(order);
        self.signatures.push(signature);
        self.price = sum([self.price, fill.price].into_iter())?;
        Ok(())
    }

    /// Nobody is called back.
    fn no_callbacks(&self) -> Vec<Bytes> {
        vec![Bytes::new(); self.orders.len()]
    }
}

/// What so many units cost, or for an offer what they pay, with the shares on top. What does not divide favours the
/// maker, as the contract has it, and each share is rounded down.
pub(super) fn price(stored: StoredOrder<'_>, signed: &ZeroxOrder, quantity: Amount) -> Result<U256, Refusal> {
    let (part, whole) = (quantity.value(), stored.facts.quantity_initial.value().max(U256::ONE));
    let divided = |amount: U256| {
        amount.checked_mul(part).map(|product| product.div_rem(whole)).ok_or(Refusal::Overflow)
    };
    let (price, rest) = divided(signed.erc20_token_amount.0)?;
    let rounded = signed.side() == OrderSide::Listing && !rest.is_zero();
    let mut amounts = vec![price, U256::from(rounded)];
    for fee in &signed.fees {
        amounts.push(divided(fee.amount.0)?.0);
    }
    sum(amounts.into_iter())
}

/// The order as the contract takes it.
pub(super) fn order(stored: StoredOrder<'_>, signed: &ZeroxOrder) -> Result<Order, Refusal> {
    let damaged = |reason: String| Refusal::Damaged { order_id: stored.facts.order_id.clone(), reason };
    signed.order().map_err(|error| damaged(error.to_string()))
}

fn units(fill: &Fill<'_>) -> Result<u128, Refusal> {
    let quantity = fill.quantity.value();
    if quantity.bit_len() > UNITS_BITS {
        return Err(Refusal::Uncountable { order_id: fill.order.order_id.clone(), quantity });
    }
    Ok(quantity.saturating_to())
}

impl Zerox {
    pub(super) fn plan(&self, trade: &Trade<'_>) -> Result<Plan, Refusal> {
        if !trade.fees.is_empty() {
            return Err(Refusal::NoFees { protocol: NAME });
        }
        let contract = self.domain.contract;
        let (mut ones, mut several) = (Group::default(), Group::default());
        let mut sales = Vec::new();
        for fill in &trade.fills {
            let signed: ZeroxOrder = native::read_stored(fill.stored())?;
            let damaged = |error: native::SignatureFault| Refusal::Damaged {
                order_id: fill.order.order_id.clone(),
                reason: error.to_string(),
            };
            let signature = signed.abi_signature().map_err(damaged)?;
            match (trade.side, order(fill.stored(), &signed)?) {
                (OrderSide::Listing, Order::One(order)) => ones.push(order, signature, fill)?,
                (OrderSide::Listing, Order::Units(order)) => several.push(order, signature, fill)?,
                (_, order) => sales.push(self.sell(trade.currency, fill, order, signature)?),
            }
        }
        let permissions = match trade.side {
            OrderSide::Listing => {
                Permission::spend(trade.currency, contract, trade.total()?).into_iter().collect()
            }
            OrderSide::Offer | OrderSide::Unknown => {
                vec![Permission::Move { collection: trade.collection, operator: contract }]
            }
        };
        let bought = [buy_ones(contract, trade.currency, ones), buy_units(contract, trade.currency, several)];
        // What is bought goes to whoever sends the call.
        let calls = bought.into_iter().flatten().chain(sales).collect();
        Ok(Plan { permissions, calls, ..Plan::default() })
    }

    fn sell(
        &self,
        currency: Address,
        fill: &Fill<'_>,
        order: Order,
        signature: abi::Signature,
    ) -> Result<Call, Refusal> {
        let any = || Refusal::AnyToken { order_id: fill.order.order_id.clone() };
        let token = fill.token_id.ok_or_else(any)?.value();
        let call = match order {
            Order::One(order) => Call::of(
                self.domain.contract,
                &sellERC721Call {
                    buyOrder: order,
                    signature,
                    erc721TokenId: token,
                    unwrapNativeToken: false,
                    callbackData: Bytes::new(),
                },
            ),
            Order::Units(order) => Call::of(
                self.domain.contract,
                &sellERC1155Call {
                    buyOrder: order,
                    signature,
                    erc1155TokenId: token,
                    erc1155SellAmount: units(fill)?,
                    unwrapNativeToken: false,
                    callbackData: Bytes::new(),
                },
            ),
        };
        Ok(call.paying(currency, fill.price))
    }
}

/// The call that buys tokens of which there is one each: of several, all or none. A call that leaves out what fails would
/// succeed with too little gas as well, and wallets find out by trying how much it takes.
fn buy_ones(contract: Address, currency: Address, group: Group<abi::ERC721Order>) -> Option<Call> {
    let call = match (group.orders.as_slice(), group.signatures.as_slice()) {
        ([], _) => return None,
        ([order], [signature]) => {
            let (sell_order, signature) = (order.clone(), signature.clone());
            let call = buyERC721Call { sellOrder: sell_order, signature, callbackData: Bytes::new() };
            Call::of(contract, &call)
        }
        _ => {
            let callbacks = group.no_callbacks();
            let call = batchBuyERC721sCall {
                sellOrders: group.orders,
                signatures: group.signatures,
                callbackData: callbacks,
                revertIfIncomplete: true,
            };
            Call::of(contract, &call)
        }
    };
    Some(call.paying(currency, group.price))
}

/// The same of tokens of which there are many each.
fn buy_units(contract: Address, currency: Address, group: Group<abi::ERC1155Order>) -> Option<Call> {
    let call = match (group.orders.as_slice(), group.signatures.as_slice(), group.amounts.as_slice()) {
        ([], ..) => return None,
        ([order], [signature], [amount]) => {
            let call = buyERC1155Call {
                sellOrder: order.clone(),
                signature: signature.clone(),
                erc1155BuyAmount: *amount,
                callbackData: Bytes::new(),
            };
            Call::of(contract, &call)
        }
        _ => {
            let callbacks = group.no_callbacks();
            let call = batchBuyERC1155sCall {
                sellOrders: group.orders,
                signatures: group.signatures,
                erc1155TokenAmounts: group.amounts,
                callbackData: callbacks,
                revertIfIncomplete: true,
            };
            Call::of(contract, &call)
        }
    };
    Some(call.paying(currency, group.price))
}
