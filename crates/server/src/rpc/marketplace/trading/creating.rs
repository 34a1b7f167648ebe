//! Making listings and offers.

use alloy_primitives::U256;
use bourse_protocols::{Act, NewOrder, OrderSeed, Refusal, price_of};
use bourse_wire::{Address, Amount, ChainRef, ContractInfo, ContractType, Error, OrderSide, Text, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Desk, Step, StepId, VenueRequest, batches, check_holds};
use crate::call::Call;
use crate::chains::Royalty;
use crate::entropy;
use crate::failure::Failure;

/// An order to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CreateReqInput")]
pub(crate) struct CreateReq {
    /// The token.
    token_id: TokenId,
    /// How many units.
    quantity: Amount,
    /// When it ends, in seconds since 1970.
    expiry: Amount,
    /// The currency; the zero address is the chain's own.
    currency_address: Address,
    /// Price of one unit, in base units of the currency.
    price_per_token: Amount,
}

/// What a request says of an order to be made, and under which names.
pub(crate) struct MakeRequest {
    pub(crate) chain: Option<ChainRef>,
    pub(crate) collection: Address,
    pub(crate) side: OrderSide,
    /// Who makes it.
    pub(crate) maker: Address,
    /// The member that names the maker.
    pub(crate) maker_member: &'static str,
    pub(crate) contract_type: Option<ContractType>,
    pub(crate) orderbook: Text<64>,
    pub(crate) order: CreateReq,
    pub(crate) wallet: Option<Text<64>>,
}

/// The steps that make an order.
pub(crate) async fn make(call: Call, making: MakeRequest) -> Result<Answer, Failure> {
    let MakeRequest { chain, collection, side, maker, maker_member, order, wallet, .. } = making;
    let venue = VenueRequest {
        chain: chain.as_ref(),
        collection,
        member: "orderbook",
        marketplace: &making.orderbook,
    };
    let desk = Desk::open(call, venue).await?;
    if maker == Address::ZERO {
        return Err(Error::invalid(maker_member, "must not be the zero address").into());
    }
    let is_multiple = is_multiple(&desk, making.contract_type)?;
    check(&desk, side, &order, is_multiple)?;
    let mut new = NewOrder {
        side,
        maker,
        collection,
        is_multiple,
        token_id: order.token_id,
        quantity: order.quantity,
        expiry: order.expiry,
        currency: order.currency_address,
        unit_price: order.price_per_token,
        royalty: Amount::ZERO,
    };
    let protocol = desk.newest()?;
    new.royalty = royalty(&desk, protocol.contract(), &new).await?;
    let asked = protocol.order_inquiries(&new);
    let answers = if asked.is_empty() {
        Vec::new()
    } else {
        desk.call.app.chains.ask_all(desk.key.chain, asked).await.unwrap_or_default()
    };
    let now = u64::try_from(desk.call.now.unix_seconds()).unwrap_or_default();
    let seed = OrderSeed { salt: U256::from_be_bytes(entropy::bytes::<32>()), now, answers: &answers };
    let made = protocol.make_order(&new, seed).map_err(|refusal| refused(side, refusal))?;
    if side == OrderSide::Listing {
        check_holds(&desk, maker_member, maker, [(order.token_id, order.quantity)])?;
    }
    let approvals = if batches(wallet.as_ref(), &desk.call.app.service_name) {
        Vec::new()
    } else {
        desk.approvals(maker, &made.permissions).await
    };
    let id = if side == OrderSide::Offer { StepId::CreateOffer } else { StepId::CreateListing };
    match made.act {
        Act::Call(call) => Ok(Answer::of(approvals, id, &[call])),
        Act::Sign(signing) => {
            let step = Step::signature(*signing, side, desk.key.chain, &desk.word());
            Ok(Answer { steps: approvals.into_iter().chain([step]).collect() })
        }
    }
}

/// Whether the collection has many of each token: what the request says and what is known must agree.
fn is_multiple(desk: &Desk, asked: Option<ContractType>) -> Result<bool, Failure> {
    let info = desk.slot.read().contract().map(serde_json::from_str::<ContractInfo>).transpose()?;
    let known = info.map_or(ContractType::Unknown, |info| info.r#type);
    let asked = asked.unwrap_or_default();
    let agreed = match (asked, known) {
        (ContractType::Unknown, known) => known,
        (asked, ContractType::Unknown) => asked,
        (asked, known) if asked == known => known,
        (asked, known) => {
            let reason = format!("the collection is {known}, not {asked}");
            return Err(Error::invalid("contractType", reason).into());
        }
    };
    match agreed {
        ContractType::Erc1155 => Ok(true),
        ContractType::Erc721 => Ok(false),
        ContractType::Unknown | ContractType::Erc20 => {
            Err(Error::invalid("contractType", "must be ERC721 or ERC1155").into())
        }
    }
}

fn member(side: OrderSide, name: &str) -> String {
    format!("{}.{name}", side.word())
}

/// What the contract would refuse later.
fn check(desk: &Desk, side: OrderSide, order: &CreateReq, is_multiple: bool) -> Result<(), Error> {
    let refuse = |name: &str, reason: &str| Err(Error::invalid(&member(side, name), reason));
    let now = u64::try_from(desk.call.now.unix_seconds()).unwrap_or_default();
    let known = desk.call.app.resident.currencies(desk.key.chain);
    let is_known = known.iter().any(|currency| currency.contract_address == order.currency_address);
    match () {
        () if order.quantity == Amount::ZERO => refuse("quantity", "must not be zero"),
        () if !is_multiple && order.quantity != Amount::from(1) => {
            refuse("quantity", "must be 1 in a collection that has one of each token (ERC721)")
        }
        () if order.price_per_token == Amount::ZERO => refuse("pricePerToken", "must not be zero"),
        () if order.expiry <= Amount::from(now) => {
            refuse("expiry", "must be in the future, in seconds since 1970")
        }
        () if !is_known => {
            let reason = format!("currency {} is not known here", order.currency_address);
            refuse("currencyAddress", &reason)
        }
        () => Ok(()),
    }
}

fn refused(side: OrderSide, refusal: Refusal) -> Error {
    let name = match &refusal {
        // Nothing is wrong with the request.
        Refusal::Unknown { .. } => return Error::conflict(refusal.to_string()),
        Refusal::MakeElsewhere { .. } | Refusal::Replaced { .. } => {
            return Error::invalid("orderbook", refusal);
        }
        Refusal::Native => "currencyAddress",
        Refusal::Expiry => "expiry",
        Refusal::Uncountable { .. } => "quantity",
        _ => "pricePerToken",
    };
    Error::invalid(&member(side, name), refusal)
}

/// What the maker of an offer pays on top of the price. When nobody tells what that is, it is the most that the contract
/// lets it be, which is the price again.
async fn royalty(desk: &Desk, market: Address, order: &NewOrder) -> Result<Amount, Error> {
    let price = price_of(order.unit_price, order.quantity).map_err(|refusal| refused(order.side, refusal))?;
    let is_asked = order.side == OrderSide::Offer && desk.marketplace.is_own();
    if !is_asked {
        return Ok(Amount::ZERO);
    }
    let asked =
        Royalty { market, collection: order.collection, token_id: order.token_id, price: price.into() };
    let royalty = desk.call.app.chains.royalty(desk.key.chain, asked).await;
    Ok(royalty.unwrap_or(price.into()))
}
