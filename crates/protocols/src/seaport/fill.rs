//! The calls that fill orders.

use alloy_primitives::ruint::UintTryTo as _;
use alloy_primitives::{B256, U256};
use bourse_wire::{Address, Amount, OrderSide};
use serde_json::Value;

use super::Seaport;
use super::abi::{
    AdditionalRecipient, AdvancedOrder, BasicOrderParameters, ConsiderationItem, CriteriaResolver,
    FulfillmentComponent, OrderParameters, fulfillAdvancedOrderCall, fulfillAvailableAdvancedOrdersCall,
    fulfillBasicOrderCall,
};
use super::order::{Item, SeaportOrder};
use super::tips::{Part, Tip, common_divisor, is_money, spread};
use crate::native;
use crate::trade::sum;
use crate::{Call, Permission, Plan, Refusal, StoredOrder, Trade};

/// What the contract does with fees of several orders: each is a share of one of them.
const FEES_MAY_BE_LEFT_OUT: &str = "the contract leaves out orders that somebody else was quicker to fill, and with them \
                                    the fees that they carry";

/// The side of what an order asks for, in the words of the contract.
const CONSIDERATION: u8 = 1;

impl Seaport {
    pub(super) fn plan(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        let mut parts = Vec::with_capacity(trade.fills.len());
        let mut answers = answers.iter();
        for fill in &trade.fills {
            let mut part = Self::part(fill.stored(), fill.quantity)?;
            let order_id = || fill.order.order_id.clone();
            if part.signed.must_be_agreed() {
                let answer = answers.next().ok_or_else(|| Refusal::Held { order_id: order_id() })?;
                let agreed = self.agree(part.signed, trade.taker, answer);
                part.signed = agreed.map_err(|fault| Refusal::Source { order_id: order_id(), fault })?;
            }
            let token_id = match (part.asks_for_any(), fill.token_id) {
                (true, None) => return Err(Refusal::AnyToken { order_id: order_id() }),
                (true, Some(token)) => Some(token.value()),
                (false, _) => None,
            };
            parts.push(Part { token_id, ..part });
        }
        spread(&mut parts, &trade.fees)?;
        let conduit = self.taker_conduit(trade);
        let basic = match parts.as_slice() {
            // What is bought in the short form goes to whoever sends it.
            [one] if !trade.is_sent_by_another => one.basic(conduit.0),
            _ => None,
        };
        let is_basic = basic.is_some();
        // A marketplace that agrees may name who sends.
        let is_open = !parts.iter().any(|part| part.signed.must_be_agreed());
        let call = match (basic, parts.as_slice()) {
            (Some(parameters), _) => Call::of(self.domain.contract, &fulfillBasicOrderCall { parameters }),
            (None, [one]) => {
                let call = fulfillAdvancedOrderCall {
                    advancedOrder: one.advanced()?,
                    criteriaResolvers: one.resolvers(0),
                    fulfillerConduitKey: conduit.0,
                    recipient: trade.taker.bytes().into(),
                };
                Call::of(self.domain.contract, &call)
            }
            (None, many) => Call::of(self.domain.contract, &available(many, conduit.0, trade.taker)?),
        };
        let permissions = permissions(trade, &parts, conduit.1, is_basic)?;
        let call = call.paying(trade.currency, trade.total()?.value());
        Ok(Plan {
            permissions,
            calls: vec![call],
            anybody_may_send: trade.side == OrderSide::Listing && is_open && !is_basic,
            note: (parts.len() > 1 && !trade.fees.is_empty()).then_some(FEES_MAY_BE_LEFT_OUT),
        })
    }

    /// So many units of an order.
    pub(super) fn part(stored: StoredOrder<'_>, quantity: Amount) -> Result<Part, Refusal> {
        let signed: SeaportOrder = native::read_stored(stored)?;
        let order = stored.facts;
        let (quantity, whole) = (quantity.value(), order.quantity_initial.value());
        let order_id = order.order_id.clone();
        if quantity != whole && !signed.is_partial() {
            return Err(Refusal::Whole { order_id, quantity: whole });
        }
        let divisor = common_divisor(quantity, whole).max(U256::from(1));
        Ok(Part {
            order_id,
            signed,
            side: order.side,
            quantity,
            is_untouched: order.quantity_remaining == order.quantity_initial,
            numerator: (quantity / divisor).max(U256::from(1)),
            denominator: (whole / divisor).max(U256::from(1)),
            token_id: None,
            fees: Vec::new(),
        })
    }

    /// Through whom what the taker gives goes. The chain's own currency needs nobody.
    fn taker_conduit(&self, trade: &Trade<'_>) -> (B256, Address) {
        let pays_native = trade.side == OrderSide::Listing && trade.currency == Address::ZERO;
        if pays_native { (B256::ZERO, self.domain.contract) } else { self.usual_conduit() }
    }
}

/// What the taker must let the conduit do.
fn permissions(
    trade: &Trade<'_>,
    parts: &[Part],
    mover: Address,
    is_basic: bool,
) -> Result<Vec<Permission>, Refusal> {
    if trade.side == OrderSide::Listing {
        return Ok(Permission::spend(trade.currency, mover, trade.total()?).into_iter().collect());
    }
    let mut permissions = vec![Permission::Move { collection: trade.collection, operator: mover }];
    if !is_basic {
        // What an offer pays to others comes from whoever takes it, who has just been paid.
        let mut paid = sum(trade.fees.iter().map(|fee| fee.amount))?;
        for part in parts {
            paid = paid.checked_add(part.paid()?).ok_or(Refusal::Overflow)?;
        }
        permissions.extend(Permission::spend(trade.currency, mover, paid.into()));
    }
    Ok(permissions)
}

/// One call for many orders; those that can no longer be filled are left out.
fn available(
    parts: &[Part],
    conduit: B256,
    taker: Address,
) -> Result<fulfillAvailableAdvancedOrdersCall, Refusal> {
    let component = |order: usize, item: usize| {
        vec![FulfillmentComponent { orderIndex: U256::from(order), itemIndex: U256::from(item) }]
    };
    let mut orders = Vec::with_capacity(parts.len());
    let (mut given, mut asked) = (Vec::new(), Vec::new());
    for (place, part) in parts.iter().enumerate() {
        let order = part.advanced()?;
        given.extend((0..order.parameters.offer.len()).map(|item| component(place, item)));
        asked.extend((0..order.parameters.consideration.len()).map(|item| component(place, item)));
        orders.push(order);
    }
    Ok(fulfillAvailableAdvancedOrdersCall {
        advancedOrders: orders,
        criteriaResolvers: parts.iter().enumerate().flat_map(|(place, part)| part.resolvers(place)).collect(),
        offerFulfillments: given,
        considerationFulfillments: asked,
        fulfillerConduitKey: conduit,
        recipient: taker.bytes().into(),
        maximumFulfilled: U256::from(parts.len()),
    })
}

impl Part {
    /// Whether an offer is for any token.
    fn asks_for_any(&self) -> bool {
        let mut asked = self.signed.consideration.iter();
        asked.any(|asked| Item::of(asked.item_type).is_some_and(Item::is_any))
    }

    fn advanced(&self) -> Result<AdvancedOrder, Refusal> {
        let components = self.signed.components();
        let original = components.consideration.len();
        let tips = self.fees.iter().map(|tip| self.tip(*tip));
        let parameters = OrderParameters {
            offerer: components.offerer,
            zone: components.zone,
            offer: components.offer,
            consideration: components.consideration.into_iter().chain(tips).collect(),
            orderType: components.orderType,
            startTime: components.startTime,
            endTime: components.endTime,
            zoneHash: components.zoneHash,
            salt: components.salt,
            conduitKey: components.conduitKey,
            totalOriginalConsiderationItems: U256::from(original),
        };
        let uncountable =
            |_| Refusal::Uncountable { order_id: self.order_id.clone(), quantity: self.quantity };
        Ok(AdvancedOrder {
            parameters,
            numerator: self.numerator.uint_try_to().map_err(uncountable)?,
            denominator: self.denominator.uint_try_to().map_err(uncountable)?,
            signature: self.signed.signature.0.clone(),
            extraData: self.signed.extra_data.0.clone(),
        })
    }

    /// A fee as another thing that the order asks for, in its own currency.
    fn tip(&self, tip: Tip) -> ConsiderationItem {
        let (item_type, token) = match self.side {
            OrderSide::Listing => {
                let asked = self.signed.consideration.first();
                asked.map_or((0, Address::ZERO), |asked| (asked.item_type, asked.token))
            }
            OrderSide::Offer | OrderSide::Unknown => {
                let offered = self.signed.offer.first();
                offered.map_or((0, Address::ZERO), |offered| (offered.item_type, offered.token))
            }
        };
        ConsiderationItem {
            itemType: item_type,
            token: token.bytes().into(),
            identifierOrCriteria: U256::ZERO,
            startAmount: tip.amount,
            endAmount: tip.amount,
            recipient: tip.recipient.bytes().into(),
        }
    }

    /// The token that an offer for any is filled with.
    fn resolvers(&self, order: usize) -> Vec<CriteriaResolver> {
        let is_any = |item_type: u8| Item::of(item_type).is_some_and(Item::is_any);
        let place = self.signed.consideration.iter().position(|asked| is_any(asked.item_type));
        let resolver = |(index, identifier)| CriteriaResolver {
            orderIndex: U256::from(order),
            side: CONSIDERATION,
            index: U256::from::<usize>(index),
            identifier,
            criteriaProof: Vec::new(),
        };
        place.zip(self.token_id).map(resolver).into_iter().collect()
    }

    /// The order in the short form that contracts have for the usual sale: one token for one currency, as a whole, of
    /// which the maker gets the first share. `None` when it is none.
    fn basic(&self, conduit: B256) -> Option<BasicOrderParameters> {
        let signed = &self.signed;
        let [offered] = signed.offer.as_slice() else { return None };
        let (first, others) = signed.consideration.split_first()?;
        let is_usual = self.is_whole()
            && self.is_untouched
            && signed.extra_data.0.is_empty()
            && first.recipient == signed.offerer
            && others.iter().all(|asked| is_money(asked.item_type));
        let route = match (Item::of(offered.item_type)?, Item::of(first.item_type)?) {
            (Item::Erc721, Item::Native) => 0,
            (Item::Erc1155, Item::Native) => 1,
            (Item::Erc721, Item::Erc20) => 2,
            (Item::Erc1155, Item::Erc20) => 3,
            (Item::Erc20, Item::Erc721) => 4,
            (Item::Erc20, Item::Erc1155) => 5,
            _ => return None,
        };
        let signed_recipients = others.iter().map(|asked| (asked.start_amount.0, asked.recipient));
        let tips = self.fees.iter().map(|tip| (tip.amount, tip.recipient));
        let recipient = |(amount, recipient): (U256, Address)| AdditionalRecipient {
            amount,
            recipient: recipient.bytes().into(),
        };
        is_usual.then(|| BasicOrderParameters {
            considerationToken: first.token.bytes().into(),
            considerationIdentifier: first.identifier_or_criteria.0,
            considerationAmount: first.start_amount.0,
            offerer: signed.offerer.bytes().into(),
            zone: signed.zone.bytes().into(),
            offerToken: offered.token.bytes().into(),
            offerIdentifier: offered.identifier_or_criteria.0,
            offerAmount: offered.start_amount.0,
            basicOrderType: signed.order_type + 4 * route,
            startTime: signed.start_time.0,
            endTime: signed.end_time.0,
            zoneHash: signed.zone_hash.0,
            salt: signed.salt.0,
            offererConduitKey: signed.conduit_key.0,
            fulfillerConduitKey: conduit,
            totalOriginalAdditionalRecipients: U256::from(others.len()),
            additionalRecipients: signed_recipients.chain(tips).map(recipient).collect(),
            signature: signed.signature.0.clone(),
        })
    }
}
