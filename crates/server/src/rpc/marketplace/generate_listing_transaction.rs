//! The steps to make a listing.

use bourse_wire::{Address, ChainRef, ContractType, OrderSide, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::trading::creating::{CreateReq, MakeRequest, make};
use super::trading::{AdditionalFee, Answer};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// What to sell, and who does.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GenerateListingTransactionRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    collection_address: Address,
    /// Who has the tokens.
    owner: Address,
    /// The standard of the collection; it may be left out where it is known.
    contract_type: Option<ContractType>,
    /// Where the listing goes.
    orderbook: Text<64>,
    /// The listing.
    listing: CreateReq,
    /// Shares of the price for others, instead of the owner: at most 10, where the marketplace has that.
    additional_fees: Option<Vec<AdditionalFee>>,
    /// The kind of wallet: one that makes approvals by itself gets no step for it.
    wallet_type: Option<Text<64>>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let making = MakeRequest {
        chain: request.chain_id,
        collection: request.collection_address,
        side: OrderSide::Listing,
        maker: request.owner,
        maker_member: "owner",
        contract_type: request.contract_type,
        orderbook: request.orderbook,
        order: request.listing,
        is_for_any: false,
        fees: request.additional_fees,
        wallet: request.wallet_type,
    };
    make(call, making).await
}
