//! Orders that their marketplace must agree to: asking for it, and putting the answer into the order.

use alloy_primitives::{Address as RawAddress, Bytes};
use alloy_sol_types::{SolCall as _, SolStruct as _};
use bourse_wire::{Address, OrderSide};
use serde_json::{Value, json};

use super::Seaport;
use super::abi::{
    AdvancedOrder, OrderComponents, OrderParameters, fulfillAdvancedOrderCall,
    fulfillAvailableAdvancedOrdersCall,
};
use super::order::SeaportOrder;
use crate::logs::address;
use crate::native::{
    self, Api, Data, SourceFault, SourceRequest, ask_reservoir, data, member, opensea_chain, read_reservoir,
    same,
};
use crate::{Fill, Refusal, Trade};

/// What a marketplace gives when it agrees.
struct Agreed {
    signature: Bytes,
    extra_data: Bytes,
}

impl Seaport {
    /// What to ask so that all orders of a trade can be filled.
    pub(super) fn ask(&self, trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
        let mut requests = Vec::new();
        for fill in &trade.fills {
            let signed: SeaportOrder = native::read_stored(fill.stored())?;
            if !signed.must_be_agreed() {
                continue;
            }
            let held = || Refusal::Held { order_id: fill.order.order_id.clone() };
            let api = self.api.ok_or_else(held)?;
            if !trade.fees.is_empty() {
                return Err(Refusal::NoFees { protocol: api.name() });
            }
            requests.push(match api {
                Api::Reservoir => ask_reservoir(fill, trade.collection, trade.taker),
                Api::OpenSea | Api::X2y2 | Api::Blur => self.ask_opensea(trade, fill).ok_or_else(held)?,
            });
        }
        Ok(requests)
    }

    fn ask_opensea(&self, trade: &Trade<'_>, fill: &Fill<'_>) -> Option<SourceRequest> {
        let chain = opensea_chain(self.domain.chain)?;
        let order =
            json!({ "hash": fill.order.order_id, "chain": chain, "protocol_address": self.domain.contract });
        let fulfiller = json!({ "address": trade.taker });
        Some(match trade.side {
            OrderSide::Listing => SourceRequest::new(
                "/api/v2/listings/fulfillment_data",
                json!({ "listing": order, "fulfiller": fulfiller, "units_to_fill": fill.quantity,
                    "include_optional_creator_fees": false }),
            ),
            OrderSide::Offer | OrderSide::Unknown => {
                let token = json!({ "asset_contract_address": trade.collection, "token_id": fill.token_id });
                SourceRequest::new(
                    "/api/v2/offers/fulfillment_data",
                    json!({ "offer": order, "fulfiller": fulfiller, "consideration": token,
                        "units_to_fill": fill.quantity, "include_optional_creator_fees": false }),
                )
            }
        })
    }

    /// The order with what the marketplace gave for it.
    pub(super) fn agree(
        &self,
        signed: SeaportOrder,
        taker: Address,
        answer: &Value,
    ) -> Result<SeaportOrder, SourceFault> {
        let agreed = match self.api {
            Some(Api::Reservoir) => self.read_calls(&signed, answer)?,
            _ => self.read_opensea(&signed, answer)?,
        };
        check_fulfiller(&agreed.extra_data, taker)?;
        let extra_data = Data(agreed.extra_data);
        // A restricted order is of no use without what its zone wants to see.
        if signed.is_restricted() && extra_data.0.is_empty() {
            return Err(SourceFault::Missing { member: "extraData" });
        }
        Ok(SeaportOrder { signature: Data(agreed.signature), extra_data, ..signed })
    }

    /// What was agreed to in a transaction that fills the order.
    fn read_calls(&self, signed: &SeaportOrder, answer: &Value) -> Result<Agreed, SourceFault> {
        for call in read_reservoir(answer)? {
            same("contract", &call.to, &self.domain.contract)?;
            let orders = if let Ok(one) = fulfillAdvancedOrderCall::abi_decode(&call.data) {
                vec![one.advancedOrder]
            } else if let Ok(many) = fulfillAvailableAdvancedOrdersCall::abi_decode(&call.data) {
                many.advancedOrders
            } else {
                continue;
            };
            let found = orders.into_iter().find(|order| is_of(&order.parameters, signed));
            if let Some(AdvancedOrder { signature, extraData, .. }) = found {
                return Ok(Agreed { signature, extra_data: extraData });
            }
        }
        Err(SourceFault::Missing { member: "steps" })
    }

    /// What OpenSea gives for an order: the parts of a call, which differ with the function, and the order itself.
    fn read_opensea(&self, signed: &SeaportOrder, answer: &Value) -> Result<Agreed, SourceFault> {
        if let Some(reason) = answer.pointer("/errors/0").and_then(Value::as_str) {
            return Err(SourceFault::Refused { reason: reason.to_owned() });
        }
        let order = member(answer, "/fulfillment_data/orders/0")?;
        let salt = member(order, "/parameters/salt")?.as_str().and_then(|text| text.parse().ok());
        same("order", &salt.unwrap_or_default(), &signed.salt)?;
        let sent = answer.pointer("/fulfillment_data/transaction").unwrap_or(&Value::Null);
        if let Some(to) = sent.get("to").and_then(Value::as_str) {
            same("contract", &to.parse().unwrap_or_default(), &self.domain.contract)?;
        }
        let input = sent.get("input_data").unwrap_or(&Value::Null);
        let call = ["/advancedOrder", "/orders/0", "/advancedOrders/0"];
        let call = call.iter().find_map(|path| input.pointer(path)).unwrap_or(input);
        Ok(Agreed {
            signature: data(call, "/signature").or_else(|_| data(order, "/signature"))?,
            // An order that anybody may fill has none.
            extra_data: data(call, "/extraData").or_else(|_| data(order, "/extraData")).unwrap_or_default(),
        })
    }
}

/// What signed zones want to see begins with the version, who may fill, and until when (SIP-7).
const FULFILLER: std::ops::Range<usize> = 1..21;
/// The shortest of it: behind those comes a signature.
const AGREEMENT_BYTES: usize = 93;

/// Refuses an agreement for somebody else. The zero address stands for anybody; what has another form is for the zone
/// alone to read.
fn check_fulfiller(extra_data: &Bytes, taker: Address) -> Result<(), SourceFault> {
    let is_known = extra_data.len() >= AGREEMENT_BYTES && extra_data[0] == 0;
    let Some(fulfiller) = extra_data.get(FULFILLER).filter(|_| is_known) else { return Ok(()) };
    let fulfiller = address(RawAddress::from_slice(fulfiller));
    if fulfiller == Address::ZERO { Ok(()) } else { same("taker", &fulfiller, &taker) }
}

impl SeaportOrder {
    /// Whether the marketplace must be asked for each fill: it keeps the signature, or its zone wants to see more. What zones
    /// want to see is for one fill, and soon over, so that none is ever kept.
    pub(super) fn must_be_agreed(&self) -> bool {
        self.is_held() || self.is_restricted()
    }
}

/// Whether parameters of a call are those of the order.
fn is_of(parameters: &OrderParameters, signed: &SeaportOrder) -> bool {
    let parameters = parameters.clone();
    let original: usize = parameters.totalOriginalConsiderationItems.saturating_to();
    let components = OrderComponents {
        offerer: parameters.offerer,
        zone: parameters.zone,
        offer: parameters.offer,
        consideration: parameters.consideration.into_iter().take(original).collect(),
        orderType: parameters.orderType,
        startTime: parameters.startTime,
        endTime: parameters.endTime,
        zoneHash: parameters.zoneHash,
        salt: parameters.salt,
        conduitKey: parameters.conduitKey,
        counter: signed.counter.0,
    };
    components.eip712_hash_struct() == signed.hash()
}
