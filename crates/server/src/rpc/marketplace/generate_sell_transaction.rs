//! The steps to sell collectibles to those who offer for them.

use bourse_protocols::Trade;
use bourse_wire::{Address, Amount, ChainRef, OrderSide, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::trading::{
    AdditionalFee, Desk, ELSEWHERE, FillAnswer, FillRequest, Handout, Next, OrderData, Simulation, StepId,
    VenueRequest, batches, check_holds, fees_of, ids_of, read_chosen, refused,
};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which offers to accept, and who sells.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GenerateSellTransactionRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    collection_address: Address,
    /// Who gives the tokens, and gets the money.
    seller: Address,
    /// Where the offers are.
    marketplace: Text<64>,
    /// The offers and how much of each: at most 50, all in one currency.
    orders_data: Vec<OrderData>,
    /// Shares for others, out of what the offers pay: at most 10.
    additional_fees: Option<Vec<AdditionalFee>>,
    /// The kind of wallet: one that makes approvals by itself gets no step for it.
    wallet_type: Option<Text<64>>,
    /// Whether the steps go to another service, which may first give the seller what they lack: they are not tried then.
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
    let approves_itself = batches(request.wallet_type.as_ref(), &call.app.service_name)?;
    let desk = Desk::open(call, venue).await?;
    let (data, taker) = (request.orders_data, request.seller);
    let filling = FillRequest { data, side: OrderSide::Offer, member: "seller", taker };
    let orders = read_chosen(&desk, filling).await?;
    let sold = orders.iter().filter_map(|chosen| Some((chosen.token_id?, chosen.quantity)));
    check_holds(&desk, "seller", taker, sold)?;
    let protocol = desk.protocol_of_all(&orders)?;
    let trade = desk.trade(protocol, &orders, &fees_of(request.additional_fees)?, taker).await?;
    let note = shares_note(&desk, &trade)?;
    let plan = match desk.next(protocol, trade).await? {
        Next::Sign(steps) => return Ok(FillAnswer::to_sign(steps)),
        Next::Send(plan) => plan,
    };
    let handout = Handout {
        member: "seller",
        wallet: taker,
        approvals: desk.approvals(taker, &plan.permissions).await?,
        approves_itself,
        id: StepId::Sell,
        calls: plan.calls,
        note: joined(note, plan.note),
        orders: ids_of(&orders),
    };
    if request.use_with_trails == Some(true) {
        return Ok(FillAnswer::new(handout.told(Simulation::none(ELSEWHERE)), plan.anybody_may_send));
    }
    Ok(FillAnswer::new(desk.hand_out(handout).await?, plan.anybody_may_send))
}

/// What of the price of a sale is not for the seller, where anything is.
fn shares_note(desk: &Desk, trade: &Trade<'_>) -> Result<Option<String>, Failure> {
    let (paid, shares) = (trade.total().map_err(refused)?, trade.shares().map_err(refused)?);
    if shares == Amount::ZERO {
        return Ok(None);
    }
    let left = Amount::from(paid.value().saturating_sub(shares.value()));
    let [paid, shares, left] = [paid, shares, left].map(|amount| desk.worded(amount, trade.currency()));
    let what = "without what the marketplace itself takes";
    Ok(Some(format!(
        "of {paid} about {shares} go to others, so that about {left} are for the seller, {what}"
    )))
}

fn joined(note: Option<String>, other: Option<&str>) -> Option<String> {
    match (note, other) {
        (Some(note), Some(other)) => Some(format!("{note}; {other}")),
        (note, other) => note.or_else(|| other.map(str::to_owned)),
    }
}
