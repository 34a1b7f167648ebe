//! Signed orders that nobody vouches for: whoever has an access key may send them. Their makers signed them, which does not
//! say that they have what they sell, or the money that they offer.

use std::collections::{HashMap, HashSet};

use bourse_protocols::native::{means, means_inquiries};
use bourse_store::{CollectionKey, SignedOrder};
use bourse_wire::{Address, Amount, OrderFacts, OrderKey, OrderSide, Timestamp};

use super::stored_records;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{Reason, Rejection};
use crate::limits::Allowance;
use crate::resident::Residence;
use crate::settings::Limits;

/// An order, with its place in the request, or why it is not taken.
type Checked = (usize, Result<SignedOrder, Rejection>);

/// Refuses orders of a caller who has sent as many as may be sent in a minute.
pub(crate) fn check_rate(call: &Call, count: usize) -> Result<(), Rejection> {
    let taken = call.app.stranger_orders.take(call.caller.bucket(), count as u64, call.now);
    let Some(Allowance { limit, reset_seconds, .. }) = taken.filter(|allowance| allowance.refused) else {
        return Ok(());
    };
    let message = format!(
        "{limit} signed orders a minute are taken with one access key, or from a project that is no steward of their \
         collections: try again in {reset_seconds} s"
    );
    Err(Rejection::new(Reason::TooMany, message))
}

/// The orders with what their makers are known to be able to give: where that is not known, or is nothing, an order is kept
/// and not active. Orders beyond what is kept of strangers are refused.
pub(crate) async fn check(
    app: &App,
    collection: CollectionKey,
    now: Timestamp,
    orders: Vec<Checked>,
) -> Result<Vec<Checked>, Failure> {
    let backed = back(app, collection, orders).await?;
    limit(app, collection, now, backed).await
}

/// Asks the chain what makers can give, or looks at the balances that were stated.
async fn back(
    app: &App,
    collection: CollectionKey,
    mut orders: Vec<Checked>,
) -> Result<Vec<Checked>, Failure> {
    let facts = orders.iter().map(|(_, order)| order.as_ref().ok().map(|order| &order.facts));
    let asked = facts.map(|order| order.map(|order| means_inquiries(collection.address, order)));
    let answers = app.chains.ask_each(collection.chain, asked.map(Option::unwrap_or_default).collect()).await;
    let mut answers = answers.unwrap_or_default().into_iter();
    let slot = match app.resident.find(collection).await? {
        Residence::Resident(slot) => Some(slot),
        Residence::Missing | Residence::Stored(_) => None,
    };
    for (_, order) in &mut orders {
        let answers = answers.next().unwrap_or_default();
        let Ok(SignedOrder { facts, .. }) = order else { continue };
        let stated = || facts.token_id.and_then(|token| slot.as_ref()?.read().held(&facts.maker, token));
        let units = means(facts, &answers).or_else(|| if is_listing(facts) { stated() } else { None });
        let units = units.unwrap_or(Amount::ZERO);
        facts.backing = (units < facts.quantity_remaining).then_some(units);
    }
    Ok(orders)
}

fn is_listing(order: &OrderFacts) -> bool {
    order.side == OrderSide::Listing
}

/// Refuses orders of makers who have too many, and those that are not active where too many are kept. Whoever has what
/// they sell is never refused because of those who have not.
async fn limit(
    app: &App,
    collection: CollectionKey,
    now: Timestamp,
    mut orders: Vec<Checked>,
) -> Result<Vec<Checked>, Failure> {
    let fresh: Vec<OrderKey> =
        orders.iter().filter_map(|(_, order)| Some(order.as_ref().ok()?.facts.key())).collect();
    let known = stored_records::orders(app, collection, fresh).await?;
    let makers: HashSet<Address> =
        orders.iter().filter_map(|(_, order)| Some(order.as_ref().ok()?.facts.maker)).collect();
    let Some(id) = app.store.collection(collection).await? else { return Ok(orders) };
    let counts = app.store.open_signed_orders(id, makers.into_iter().collect(), now).await?;
    let (mut of_makers, mut unbacked): (HashMap<Address, u64>, u64) = (counts.of_makers, counts.unbacked);
    for (_, order) in &mut orders {
        let Ok(SignedOrder { facts, .. }) = order else { continue };
        if known.contains_key(&facts.key()) {
            continue;
        }
        let of_maker = of_makers.entry(facts.maker).or_default();
        if let Err(refused) = check_counts(&app.settings.limits, facts, *of_maker, unbacked) {
            *order = Err(refused);
            continue;
        }
        *of_maker += 1;
        unbacked += u64::from(is_unbacked(facts));
    }
    Ok(orders)
}

/// Whether the maker of an order is not known to have any of what it would give.
fn is_unbacked(order: &OrderFacts) -> bool {
    order.backing == Some(Amount::ZERO)
}

/// Refuses an order where its maker has so many, and so many are kept that are not active.
fn check_counts(limits: &Limits, order: &OrderFacts, of_maker: u64, unbacked: u64) -> Result<(), Rejection> {
    let message = if of_maker >= limits.maker_orders_max {
        format!(
            "{} has {of_maker} open orders in this collection, which is the most that are kept",
            order.maker
        )
    } else if is_unbacked(order) && unbacked >= limits.unbacked_orders_max {
        format!(
            "the collection has {unbacked} orders whose makers are not known to have what they would give, which is the \
             most that are kept, and this would be one more"
        )
    } else {
        return Ok(());
    };
    Err(Rejection::new(Reason::TooMany, message))
}
