//! Making listings and offers.

use alloy_primitives::{Bytes, U256};
use bourse_protocols::native::{held, held_inquiries};
use bourse_protocols::{
    Act, NewOrder, OrderExtras, OrderMaking, OrderSeed, Permission, Refusal, funds_of, read_amount,
};
use bourse_wire::{Address, Amount, ChainRef, ContractInfo, ContractType, Error, OrderSide, Text, TokenId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    AdditionalFee, Answer, Desk, Handout, Step, StepId, VenueRequest, batches, check_holds, fees_of,
};
use crate::call::Call;
use crate::entropy;
use crate::failure::Failure;

/// An order to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CreateReqInput")]
pub(crate) struct CreateReq {
    /// The token; left out, or 0, of an offer for any token of the collection.
    token_id: Option<TokenId>,
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
    /// Whether it is for any token of the collection.
    pub(crate) is_for_any: bool,
    pub(crate) fees: Option<Vec<AdditionalFee>>,
    pub(crate) wallet: Option<Text<64>>,
}

/// The steps that make an order.
pub(crate) async fn make(call: Call, making: MakeRequest) -> Result<Answer, Failure> {
    let MakeRequest { chain, collection, side, maker, maker_member, order, is_for_any, wallet, .. } = making;
    let venue = VenueRequest {
        chain: chain.as_ref(),
        collection,
        member: "orderbook",
        marketplace: &making.orderbook,
    };
    let approves_itself = batches(wallet.as_ref(), &call.app.service_name)?;
    let desk = Desk::open(call, venue).await?;
    if maker == Address::ZERO {
        return Err(Error::invalid(maker_member, "must not be the zero address").into());
    }
    let is_multiple = is_multiple(&desk, making.contract_type)?;
    check(&desk, side, &order, is_multiple)?;
    let token_id = token_of(side, &order, is_for_any)?;
    let new = NewOrder {
        side,
        maker,
        collection,
        is_multiple,
        token_id,
        quantity: order.quantity,
        expiry: order.expiry,
        currency: order.currency_address,
        unit_price: order.price_per_token,
    };
    let extras = OrderExtras::new(&new, is_for_any, &fees_of(making.fees)?)
        .map_err(|refusal| refused(side, refusal))?;
    let protocol = desk.newest()?;
    let mut asked = protocol.order_inquiries(&new);
    let place = asked.len();
    asked.extend((side == OrderSide::Offer).then(|| funds_of(new.currency, maker)));
    let answers = desk.call.app.chains.ask_some(desk.key.chain, asked).await;
    let funds = read_amount(answers.get(place).and_then(Option::as_ref));
    let now = u64::try_from(desk.call.now.unix_seconds()).unwrap_or_default();
    let seed = OrderSeed { salt: U256::from_be_bytes(entropy::bytes::<32>()), now, answers: &answers };
    let made = protocol.make_special_order(&new, &extras, seed).map_err(|refusal| refused(side, refusal))?;
    if side == OrderSide::Listing {
        check_holds(&desk, maker_member, maker, [(token_id, order.quantity)])?;
    }
    if let Some(held) = funds.filter(|held| *held < made.funds) {
        return Err(lacking(&desk, &new, held, made.funds).into());
    }
    let handout = Handout {
        member: maker_member,
        wallet: maker,
        approvals: desk.approvals(maker, &made.permissions).await?,
        approves_itself,
        id: if side == OrderSide::Offer { StepId::CreateOffer } else { StepId::CreateListing },
        calls: Vec::new(),
        note: None,
        orders: Vec::new(),
    };
    Ok(hand_out(&desk, &new, made, handout).await?)
}

/// The steps that make an order, once they were tried.
async fn hand_out(
    desk: &Desk,
    new: &NewOrder,
    made: OrderMaking,
    mut handout: Handout,
) -> Result<Answer, Error> {
    let OrderMaking { permissions, act, .. } = made;
    let signing = match act {
        Act::Sign(signing) => signing,
        Act::Call(call) => {
            handout.calls.push(call);
            return desk.hand_out(handout).await;
        }
    };
    // A wallet approves by itself with what it sends, and it sends no signature.
    handout.approves_itself = false;
    // Nobody refuses a signature, so that what whoever fills the order would meet is asked.
    let mut asked: Vec<_> = permissions.iter().map(|permission| permission.inquiry(new.maker)).collect();
    if new.side == OrderSide::Listing {
        asked.extend(held_inquiries(new.collection, new.token_id, new.maker));
    }
    let (simulation, answers) = desk.rehearse(&handout, asked).await?;
    check_signable(new, &permissions, &answers)
        .map_err(|reason| Error::conflict(format!("{}: {} {reason}", handout.member, new.maker)))?;
    let mut answer = handout.told(simulation);
    answer.steps.push(Step::signature(*signing, new.side, desk.key.chain, &desk.word()));
    Ok(answer)
}

/// Why an order would be of no use, by what contracts answer once all is approved that the steps approve.
fn check_signable(
    new: &NewOrder,
    permissions: &[Permission],
    answers: &[Option<Bytes>],
) -> Result<(), String> {
    let Some((of_permissions, of_token)) = answers.split_at_checked(permissions.len()) else { return Ok(()) };
    for (permission, answer) in permissions.iter().zip(of_permissions) {
        if answer.is_some() && !permission.is_given(answer.as_ref()) {
            return Err(format!("cannot let {permission}: the approval is sent, and is not there"));
        }
    }
    match held(new.maker, of_token).filter(|held| *held < new.quantity) {
        Some(held) => Err(format!("holds {held} of token {}, not {}", new.token_id, new.quantity)),
        None => Ok(()),
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

/// The token that an order is for. An offer for any token names none.
fn token_of(side: OrderSide, order: &CreateReq, is_for_any: bool) -> Result<TokenId, Error> {
    let refuse = |reason: &str| Err(Error::invalid(&member(side, "tokenId"), reason));
    match order.token_id {
        Some(token) if is_for_any && token != TokenId::from(0) => {
            refuse("must be left out, or 0, of an offer for any token of the collection")
        }
        None if !is_for_any => refuse("must name the token"),
        token => Ok(token.unwrap_or(TokenId::from(0))),
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

/// Why an offer is refused whose maker has less money than it takes: the contract would, and nobody could accept it.
fn lacking(desk: &Desk, new: &NewOrder, held: Amount, needed: Amount) -> Error {
    let missing = Amount::from(needed.value().saturating_sub(held.value()));
    let [held, needed, missing] = [held, needed, missing].map(|amount| desk.worded(amount, new.currency));
    let maker = new.maker;
    Error::conflict(format!(
        "maker: {maker} has {held} where this offer takes {needed}: {missing} are missing"
    ))
}

fn refused(side: OrderSide, refusal: Refusal) -> Error {
    let name = match &refusal {
        // Nothing is wrong with the request.
        Refusal::Unknown { .. } | Refusal::LostRoyalty { .. } | Refusal::NoContract { .. } => {
            return Error::conflict(refusal.to_string());
        }
        Refusal::MakeElsewhere { .. } | Refusal::Replaced { .. } => {
            return Error::invalid("orderbook", refusal);
        }
        Refusal::NoAnyToken => return Error::invalid("offerType", refusal),
        Refusal::NoShares
        | Refusal::FeeCount { .. }
        | Refusal::FeeReceiver { .. }
        | Refusal::FeeToMaker { .. }
        | Refusal::FeeSum { .. }
        | Refusal::FeeFraction { .. } => return Error::invalid("additionalFees", refusal),
        Refusal::Native => "currencyAddress",
        Refusal::Expiry => "expiry",
        Refusal::Uncountable { .. } => "quantity",
        _ => "pricePerToken",
    };
    Error::invalid(&member(side, name), refusal)
}
