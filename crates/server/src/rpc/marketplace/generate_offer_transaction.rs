//! The steps to make an offer.

use bourse_wire::{Address, ChainRef, ContractType, Error, OrderSide, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::trading::creating::{CreateReq, MakeRequest, make};
use super::trading::{AdditionalFee, Answer};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// What to offer for, and who does.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GenerateOfferTransactionRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    collection_address: Address,
    /// Who pays, and gets the tokens.
    maker: Address,
    /// The standard of the collection; it may be left out where it is known.
    contract_type: Option<ContractType>,
    /// Where the offer goes.
    orderbook: Text<64>,
    /// The offer.
    offer: CreateReq,
    /// What it is for: `item`, which is meant when it is left out, or `collection`, any token of the collection, where the
    /// marketplace has that.
    offer_type: Option<Text<64>>,
    /// Shares of the price for others, instead of who sells: at most 10, where the marketplace has that.
    additional_fees: Option<Vec<AdditionalFee>>,
    /// The kind of wallet: one that makes approvals by itself gets no step for it.
    wallet_type: Option<Text<64>>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let is_for_any = match request.offer_type.as_ref().map(Text::as_str) {
        None | Some("" | "unknown" | "item") => false,
        Some("collection") => true,
        Some(_) => return Err(Error::invalid("offerType", "must be `item` or `collection`").into()),
    };
    let making = MakeRequest {
        chain: request.chain_id,
        collection: request.collection_address,
        side: OrderSide::Offer,
        maker: request.maker,
        maker_member: "maker",
        contract_type: request.contract_type,
        orderbook: request.orderbook,
        order: request.offer,
        is_for_any,
        fees: request.additional_fees,
        wallet: request.wallet_type,
    };
    make(call, making).await
}
