//! The steps to buy collectibles.

use bourse_wire::{Address, ChainRef, OrderSide, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::trading::{
    AdditionalFee, Desk, ELSEWHERE, FillAnswer, FillRequest, Handout, Next, OrderData, Simulation, StepId,
    VenueRequest, batches, fees_of, ids_of, read_chosen,
};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// What to buy, and for whom.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GenerateBuyTransactionRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    collection_address: Address,
    /// Who pays, and gets the tokens.
    buyer: Address,
    /// Where the listings are.
    marketplace: Text<64>,
    /// The listings and how much of each: at most 50, all in one currency.
    orders_data: Vec<OrderData>,
    /// Shares for others, on top of the price: at most 10.
    additional_fees: Option<Vec<AdditionalFee>>,
    /// The kind of wallet; it makes no difference to a purchase.
    wallet_type: Option<Text<64>>,
    /// Whether the steps go to another service, which may first give the buyer what they lack, and sends them: they are not
    /// tried then, and name the buyer where the marketplace lets them.
    use_with_trails: Option<bool>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<FillAnswer, Failure> {
    let venue = VenueRequest {
        chain: request.chain_id.as_ref(),
        collection: request.collection_address,
        member: "marketplace",
        marketplace: &request.marketplace,
    };
    batches(request.wallet_type.as_ref(), &call.app.service_name)?;
    let desk = Desk::open(call, venue).await?;
    let (data, taker) = (request.orders_data, request.buyer);
    let filling = FillRequest { data, side: OrderSide::Listing, member: "buyer", taker };
    let orders = read_chosen(&desk, filling).await?;
    let protocol = desk.protocol_of_all(&orders)?;
    let trade = desk.trade(protocol, &orders, &fees_of(request.additional_fees)?, taker).await?;
    let is_sent_by_another = request.use_with_trails == Some(true);
    let trade = if is_sent_by_another { trade.sent_by_another() } else { trade };
    let plan = match desk.next(protocol, trade).await? {
        Next::Sign(steps) => return Ok(FillAnswer::to_sign(steps)),
        Next::Send(plan) => plan,
    };
    let approvals = desk.approvals(taker, &plan.permissions).await?;
    let handout = Handout {
        member: "buyer",
        wallet: taker,
        approvals,
        approves_itself: false,
        id: StepId::Buy,
        calls: plan.calls,
        note: plan.note.map(str::to_owned),
        orders: ids_of(&orders),
    };
    let answer = if is_sent_by_another {
        handout.told(Simulation::none(ELSEWHERE))
    } else {
        desk.hand_out(handout).await?
    };
    Ok(FillAnswer::new(answer, plan.anybody_may_send))
}
