//! Signed orders that nobody vouches for: whoever has an access key may send them. Their makers signed them, which does not
//! say that they have what they sell, or the money that they offer.

use std::collections::HashSet;

use alloy_primitives::Bytes;
use bourse_protocols::native::means;
use bourse_store::{CollectionKey, OpenSignedOrders, SignedOrder};
use bourse_wire::{Address, Amount, OrderFacts, OrderKey, OrderSide, Timestamp};

use super::signed::Checked;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::ingest::{Reason, Rejection};
use crate::limits::Allowance;
use crate::resident::Residence;
use crate::settings::Limits;

/// Refuses an order of a caller who has sent as many as may be sent in a minute.
pub(crate) fn check_rate(call: &Call) -> Result<(), Rejection> {
    let taken = call.app.stranger_orders.take(call.caller.bucket(), 1, call.app.clock.steady());
    let Some(Allowance { limit, reset_seconds, .. }) = taken.filter(|allowance| allowance.refused) else {
        return Ok(());
    };
    let message = format!(
        "{limit} signed orders a minute are taken with one access key, or from a project that is no steward of their \
         collections: try again in {reset_seconds} s"
    );
    Err(Rejection::new(Reason::TooMany, message))
}

/// Says of orders what their makers are known to be able to give, by what was answered to [`means_inquiries`] of each, or for
/// listings by the balances that were stated. Where that is not known, or is nothing, an order is not active.
///
/// [`means_inquiries`]: bourse_protocols::native::means_inquiries
pub(super) async fn back(
    app: &App,
    collection: CollectionKey,
    orders: &mut [Checked],
    answers: &[Vec<Option<Bytes>>],
) -> Result<(), Failure> {
    let slot = match app.resident.find(collection).await? {
        Residence::Resident(slot) => Some(slot),
        Residence::Missing | Residence::Stored(_) => None,
    };
    for ((_, order), answers) in orders.iter_mut().zip(answers) {
        let Ok(SignedOrder { facts, .. }) = order else { continue };
        let sold = facts.token_id.filter(|_| facts.side == OrderSide::Listing);
        let stated = || sold.and_then(|token| slot.as_ref()?.read().held(&facts.maker, token));
        let units = means(facts, answers).or_else(stated).unwrap_or(Amount::ZERO);
        facts.backing = (units < facts.quantity_remaining).then_some(units);
    }
    Ok(())
}

/// Refuses orders of makers who have too many, and those that are not active where too many are kept. Whoever has what
/// they sell is never refused because of those who have not.
pub(super) async fn limit(
    app: &App,
    collection: CollectionKey,
    now: Timestamp,
    orders: &mut [Checked],
) -> Result<(), Failure> {
    let Some(id) = app.store.collection(collection).await? else { return Ok(()) };
    let good = || orders.iter().filter_map(|(_, order)| Some(&order.as_ref().ok()?.facts));
    let makers: HashSet<Address> = good().map(|facts| facts.maker).collect();
    let known = app.store.orders_by_key(id, good().map(OrderFacts::key).collect()).await?;
    let known: HashSet<OrderKey> = known.iter().map(OrderFacts::key).collect();
    let OpenSignedOrders { mut of_makers, mut unbacked } =
        app.store.open_signed_orders(id, makers.into_iter().collect(), now).await?;
    for (_, order) in orders {
        let Ok(SignedOrder { facts, .. }) = order else { continue };
        if known.contains(&facts.key()) {
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
    Ok(())
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
