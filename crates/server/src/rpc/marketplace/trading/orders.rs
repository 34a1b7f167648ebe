//! Orders that a request names: read anew, and refused when they cannot be filled as asked.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use alloy_primitives::U256;
use bourse_market::Standing;
use bourse_protocols::native::{cover_inquiries, is_covered};
use bourse_protocols::{OrderTerms, StoredOrder};
use bourse_wire::{
    Address, Amount, Error, Marketplace, OrderFacts, OrderKey, OrderSide, OrderStatus, TokenId,
};

use super::desk::refused;
use super::{Desk, ORDERS_MAX, OrderData};
use crate::failure::Failure;
use crate::rpc::ingest::signed::why_over;

/// Who fills orders, and which.
pub(crate) struct FillRequest {
    /// The orders and how much of each.
    pub(crate) data: Vec<OrderData>,
    /// What they must be.
    pub(crate) side: OrderSide,
    /// The member that names who fills them.
    pub(crate) member: &'static str,
    /// Who does.
    pub(crate) taker: Address,
}

/// An order that somebody fills.
pub(crate) struct ChosenOrder {
    /// The order.
    pub(crate) facts: OrderFacts,
    /// What was signed of it.
    pub(crate) native: Option<String>,
    /// How much of it.
    pub(crate) quantity: Amount,
    /// The token; an offer may be for any.
    pub(crate) token_id: Option<TokenId>,
}

impl ChosenOrder {
    /// The order, and what is kept of it.
    pub(crate) fn stored(&self) -> StoredOrder<'_> {
        StoredOrder { facts: &self.facts, native: self.native.as_deref() }
    }
}

/// The names of orders, each once.
pub(crate) fn ids_of(orders: &[ChosenOrder]) -> Vec<String> {
    let mut ids: Vec<String> = orders.iter().map(|chosen| chosen.facts.order_id.clone()).collect();
    // One that is filled with several tokens comes several times, in a row.
    ids.dedup();
    ids
}

/// The orders that a request names and how much of each, once it is sure that they can be filled right now. An order
/// that is named several times comes once, with all that is asked of it.
pub(crate) async fn read_chosen(desk: &Desk, request: FillRequest) -> Result<Vec<ChosenOrder>, Failure> {
    let FillRequest { data, side, member, taker } = request;
    match data.len() {
        0 => return Err(Error::invalid("ordersData", "must name an order").into()),
        count if count > ORDERS_MAX => {
            let reason = format!("{count} entries where at most {ORDERS_MAX} are allowed");
            return Err(Error::invalid("ordersData", reason).into());
        }
        _ if taker == Address::ZERO => {
            return Err(Error::invalid(member, "must not be the zero address").into());
        }
        _ => {}
    }
    let ids = data.iter().map(|order| order.order_id.as_str().to_owned());
    let known = read(desk, ids.collect()).await?;
    let natives = read_natives(desk, known.keys().cloned()).await?;
    let mut orders: Vec<ChosenOrder> = Vec::with_capacity(data.len());
    for (index, asked) in data.iter().enumerate() {
        let Some(facts) = known.get(asked.order_id.as_str()) else {
            return Err(missing(desk, index, asked.order_id.as_str()).await?.into());
        };
        check_chosen(index, asked, facts, side)?;
        if facts.maker == taker {
            let reason = format!("{taker} made order {} and cannot fill it", facts.order_id);
            return Err(Error::invalid(member, reason).into());
        }
        let token_id = facts.token_id.or(asked.token_id);
        let same = |chosen: &&mut ChosenOrder| {
            chosen.facts.order_id == facts.order_id && chosen.token_id == token_id
        };
        match orders.iter_mut().find(same) {
            Some(chosen) => chosen.quantity = add(index, chosen.quantity, asked.quantity)?,
            None => orders.push(ChosenOrder {
                facts: facts.clone(),
                native: natives.get(&facts.order_id).cloned(),
                quantity: asked.quantity,
                token_id,
            }),
        }
    }
    for chosen in &orders {
        check_fillable(desk, &chosen.facts, asked_of(&orders, &chosen.facts.order_id))?;
    }
    check_together(desk, &orders)?;
    check_standing(desk, &orders).await?;
    Ok(orders)
}

/// The orders of the marketplace by these names, as they are stored now.
async fn read(desk: &Desk, ids: Vec<String>) -> Result<HashMap<String, OrderFacts>, Failure> {
    let keys = ids.into_iter().map(|order_id| OrderKey { marketplace: desk.marketplace, order_id }).collect();
    let found = desk.call.app.store.orders_by_key(desk.id, keys).await?;
    Ok(found.into_iter().map(|facts| (facts.order_id.clone(), facts)).collect())
}

/// What was signed of those of these orders that are signed.
async fn read_natives(
    desk: &Desk,
    ids: impl Iterator<Item = String>,
) -> Result<HashMap<String, String>, Failure> {
    if desk.marketplace.is_own() {
        return Ok(HashMap::new());
    }
    let keys = ids.map(|order_id| OrderKey { marketplace: desk.marketplace, order_id }).collect();
    let found = desk.call.app.store.natives_by_key(desk.id, keys).await?;
    Ok(found.into_iter().map(|(key, native)| (key.order_id, native)).collect())
}

/// The order of the marketplace by this name, and what was signed of it.
pub(crate) async fn read_one(desk: &Desk, id: &str) -> Result<Option<ChosenOrder>, Failure> {
    let Some(facts) = read(desk, vec![id.to_owned()]).await?.remove(id) else { return Ok(None) };
    let native = read_natives(desk, [id.to_owned()].into_iter()).await?.remove(id);
    let (quantity, token_id) = (facts.quantity_remaining, facts.token_id);
    Ok(Some(ChosenOrder { facts, native, quantity, token_id }))
}

/// Refuses orders that are not what was signed, or not what their contract keeps, and those that the chain no longer lets
/// be filled, where somebody can be asked. All is asked at once.
async fn check_standing(desk: &Desk, orders: &[ChosenOrder]) -> Result<(), Failure> {
    let (mut protocols, mut asked) = (Vec::new(), Vec::new());
    for chosen in orders {
        let protocol = desk.protocol_of(chosen.stored())?;
        protocols.push(protocol);
        asked.push(protocol.standing_inquiries(chosen.stored()).map_err(refused)?);
        // Our own contracts look at the collection themselves.
        let is_signed = chosen.native.is_some();
        asked.push(if is_signed { cover_inquiries(desk.key.address, &chosen.facts) } else { Vec::new() });
    }
    let answers = desk.call.app.chains.ask_each(desk.key.chain, asked).await;
    let is_anybody_there = answers.is_some() || has_node(desk);
    let mut answers = answers.unwrap_or_default().into_iter();
    for (chosen, protocol) in orders.iter().zip(protocols) {
        let (of_order, of_collection) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        let standing = match is_covered(&chosen.facts, &of_collection) {
            Some(false) => Some(Standing::Uncovered),
            Some(true) | None => protocol.standing(chosen.stored(), &of_order),
        };
        check_open(&chosen.facts, standing, asked_of(orders, &chosen.facts.order_id))?;
        let terms = protocol.terms(chosen.stored(), &of_order).map_err(refused)?;
        if terms.is_none() && is_anybody_there {
            return Err(untold(&chosen.facts, protocol.contract()).into());
        }
        check_terms(desk, chosen, terms.as_ref())?;
    }
    Ok(())
}

/// Whether the settings name a node of the chain, which may be silent.
fn has_node(desk: &Desk) -> bool {
    let network = desk.call.app.settings.networks.get(desk.key.chain.0);
    network.is_some_and(|network| !network.rpc_urls.is_empty())
}

/// Why an order is not filled of which its contract keeps the terms and does not tell them. There may be no contract, and what is
/// sent to an address without code is lost.
fn untold(order: &OrderFacts, contract: Address) -> Error {
    let id = &order.order_id;
    Error::conflict(format!(
        "order {id}: no node of the network tells what contract {contract} keeps of it, so that it is not filled now"
    ))
}

/// Refuses an order of which the chain says that so much cannot be filled.
fn check_open(order: &OrderFacts, standing: Option<Standing>, quantity: Amount) -> Result<(), Error> {
    let id = &order.order_id;
    match standing {
        Some(Standing::Open { remaining }) if remaining < quantity => {
            let reason = format!("{quantity} units of order {id} where {remaining} can be filled right now");
            Err(Error::conflict(reason))
        }
        Some(Standing::Open { .. }) | None => Ok(()),
        Some(over) => Err(Error::conflict(format!("order {id}: {}", why_over(over, order.side)))),
    }
}

/// Refuses an order that is not what its maker made. Somebody could have meant to sell something else by it.
fn check_terms(desk: &Desk, chosen: &ChosenOrder, terms: Option<&OrderTerms>) -> Result<(), Error> {
    let difference = terms.and_then(|terms| terms.difference(desk.key.address, &chosen.facts));
    let Some(member) = difference else { return Ok(()) };
    let id = &chosen.facts.order_id;
    let (chain, collection, marketplace) = (desk.key.chain, desk.key.address, desk.word());
    tracing::error!(%chain, %collection, marketplace, order = id, member, "an order is not what its maker made");
    let reason = format!("order {id}: {member} is not what its maker made it, so that it is not sold");
    Err(Error::conflict(reason))
}

/// Why an order is not there: it may be on another marketplace.
async fn missing(desk: &Desk, index: usize, id: &str) -> Result<Error, Failure> {
    let everywhere = (0..)
        .map_while(Marketplace::from_number)
        .map(|marketplace| OrderKey { marketplace, order_id: id.to_owned() })
        .collect();
    let elsewhere = desk.call.app.store.orders_by_key(desk.id, everywhere).await?;
    Ok(match elsewhere.first() {
        Some(facts) => {
            let other = facts.marketplace.word(&desk.call.app.service_name);
            let reason = format!("order {id} is on {other}, not on {}", desk.word());
            Error::invalid(&format!("ordersData[{index}].orderId"), reason)
        }
        None => not_found(desk, id),
    })
}

pub(crate) fn not_found(desk: &Desk, id: &str) -> Error {
    let (word, key) = (desk.word(), desk.key);
    Error::not_found(format_args!(
        "order {id} of {word} in collection {} on chain {}",
        key.address, key.chain
    ))
}

/// Whether what is asked of an order is what the order is.
fn check_chosen(index: usize, asked: &OrderData, facts: &OrderFacts, side: OrderSide) -> Result<(), Error> {
    let refuse =
        |member: &str, reason: String| Err(Error::invalid(&format!("ordersData[{index}].{member}"), reason));
    let id = &facts.order_id;
    if facts.side != side {
        let (is, operation) = match facts.side {
            OrderSide::Offer => ("an offer", "GenerateSellTransaction"),
            OrderSide::Listing | OrderSide::Unknown => ("a listing", "GenerateBuyTransaction"),
        };
        return refuse("orderId", format!("order {id} is {is}: use {operation}"));
    }
    match (facts.token_id, asked.token_id) {
        (None, _) if facts.marketplace.is_own() => {
            return refuse("orderId", format!("order {id} is for any token, which cannot be filled here"));
        }
        (None, None) => {
            return refuse("tokenId", format!("order {id} is for any token: name the one to sell"));
        }
        (Some(token), Some(other)) if token != other => {
            return refuse("tokenId", format!("order {id} is for token {token}, not {other}"));
        }
        _ => {}
    }
    if asked.quantity == Amount::ZERO {
        return refuse("quantity", "must not be zero".to_owned());
    }
    Ok(())
}

fn add(index: usize, sum: Amount, more: Amount) -> Result<Amount, Error> {
    let added = sum.value().checked_add(more.value()).map(Amount::from);
    let member = format!("ordersData[{index}].quantity");
    added.ok_or_else(|| Error::invalid(&member, "the quantities of one order add up to more than 2^256-1"))
}

/// How much of an order is asked for with all tokens that it is filled with.
fn asked_of(orders: &[ChosenOrder], id: &str) -> Amount {
    let asked = orders.iter().filter(|chosen| chosen.facts.order_id == id);
    asked.fold(U256::ZERO, |sum, chosen| sum.saturating_add(chosen.quantity.value())).into()
}

/// Whether so much of an order can be filled right now.
fn check_fillable(desk: &Desk, facts: &OrderFacts, quantity: Amount) -> Result<(), Error> {
    let (status, available) = desk.slot.read().state_of(facts, desk.call.now);
    let id = &facts.order_id;
    let reason = match status {
        OrderStatus::Active if quantity > available => {
            format!("{quantity} units of order {id} where {available} can be filled right now")
        }
        OrderStatus::Active => return Ok(()),
        OrderStatus::Inactive if desk.call.now < facts.valid_from => {
            format!("order {id} is not valid before {}", facts.valid_from)
        }
        OrderStatus::Inactive => match facts.side {
            OrderSide::Offer => format!(
                "order {id} is inactive: its maker lacks the money, or does not let the marketplace take it"
            ),
            OrderSide::Listing | OrderSide::Unknown => format!(
                "order {id} is inactive: its maker lacks the token, or does not let the marketplace move it"
            ),
        },
        OrderStatus::DecimalsMissing => {
            format!("order {id} asks for currency {}, which is not known here", facts.currency)
        }
        OrderStatus::Expired | OrderStatus::Cancelled | OrderStatus::Filled | OrderStatus::Unknown => {
            over(facts, status)
        }
    };
    Err(Error::conflict(reason))
}

/// Why nothing more can be done with an order that is over.
pub(crate) fn over(facts: &OrderFacts, status: OrderStatus) -> String {
    let id = &facts.order_id;
    match status {
        OrderStatus::Expired => format!("order {id} expired at {}", facts.valid_until),
        OrderStatus::Cancelled => format!("order {id} was cancelled by its maker"),
        OrderStatus::Filled => format!("order {id} is filled: nothing of it remains"),
        _ => format!("order {id} is {status}"),
    }
}

/// Refuses listings of which each could be filled, but not all of them: they may be for the same units.
fn check_together(desk: &Desk, orders: &[ChosenOrder]) -> Result<(), Error> {
    let listings = || orders.iter().filter(|chosen| chosen.facts.side == OrderSide::Listing);
    let makers: BTreeSet<Address> = listings().map(|chosen| chosen.facts.maker).collect();
    makers.into_iter().try_for_each(|maker| {
        let sold = listings().filter(|chosen| chosen.facts.maker == maker);
        let sold = sold.filter_map(|chosen| Some((chosen.token_id?, chosen.quantity)));
        check_holds(desk, "ordersData", maker, sold)
    })
}

/// Whether somebody holds the tokens that they are about to sell, as far as that is known.
pub(crate) fn check_holds(
    desk: &Desk,
    member: &str,
    owner: Address,
    sold: impl IntoIterator<Item = (TokenId, Amount)>,
) -> Result<(), Error> {
    let mut wanted: BTreeMap<_, Amount> = BTreeMap::new();
    for (token, quantity) in sold {
        let sum = wanted.entry(token).or_default();
        *sum = sum.value().saturating_add(quantity.value()).into();
    }
    let collection = desk.slot.read();
    for (token, quantity) in wanted {
        if let Some(held) = collection.held(&owner, token).filter(|held| *held < quantity) {
            let reason = format!("{member}: {owner} holds {held} of token {token}, not {quantity}");
            return Err(Error::conflict(reason));
        }
    }
    Ok(())
}
