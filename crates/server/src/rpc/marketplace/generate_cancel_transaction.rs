//! The step by which a maker takes an order back.

use bourse_wire::{Address, ChainRef, Error, OrderStatus, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::trading::{Answer, Desk, Handout, StepId, VenueRequest, not_found, over, read_one};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which order, and whose.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GenerateCancelTransactionRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    collection_address: Address,
    /// Who made the order.
    maker: Address,
    /// Where it is.
    marketplace: Text<64>,
    /// The marketplace's own name for it.
    order_id: Text<256>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let venue = VenueRequest {
        chain: request.chain_id.as_ref(),
        collection: request.collection_address,
        member: "marketplace",
        marketplace: &request.marketplace,
    };
    let desk = Desk::open(call, venue).await?;
    let id = request.order_id.as_str();
    let chosen = read_one(&desk, id).await?.ok_or_else(|| not_found(&desk, id))?;
    let order = &chosen.facts;
    if order.maker != request.maker {
        let reason = format!("order {id} was made by {}, who alone can cancel it", order.maker);
        return Err(Error::invalid("maker", reason).into());
    }
    let (status, _) = desk.slot.read().state_of(order, desk.call.now);
    // One that sleeps can be taken back before it wakes.
    let is_live =
        matches!(status, OrderStatus::Active | OrderStatus::Inactive | OrderStatus::DecimalsMissing);
    if !is_live {
        return Err(Error::conflict(over(order, status)).into());
    }
    let protocol = desk.protocol_of(chosen.stored())?;
    let call = protocol.cancel(chosen.stored()).map_err(|refusal| Error::invalid("orderId", refusal))?;
    let handout = Handout {
        member: "maker",
        wallet: request.maker,
        approvals: Vec::new(),
        approves_itself: false,
        id: StepId::Cancel,
        calls: vec![call],
        note: None,
        orders: vec![id.to_owned()],
    };
    Ok(desk.hand_out(handout).await?)
}
