//! Sums of amounts, as PostgreSQL makes them: its numbers have as many digits as there are.

use alloy_primitives::U256;
use bourse_wire::{BPS_WHOLE, Marketplace};

/// What remains of some offers takes of their makers' money, as text: what `OpenOffer` of the market says of each, added up.
/// The largest amount stands for all that are larger.
pub(crate) fn offer_costs() -> String {
    let own = Marketplace::ALL.iter().filter(|marketplace| marketplace.is_own());
    let own: Vec<String> = own.map(|marketplace| marketplace.number().to_string()).collect();
    let units = "CAST(orders.quantity_remaining AS NUMERIC)";
    let price = format!("CAST(orders.price_amount AS NUMERIC) * {units}");
    let royalty = format!("LEAST(GREATEST(orders.fee_bps, 0), {BPS_WHOLE})");
    format!(
        "CAST(LEAST(COALESCE(SUM({price} + CASE WHEN orders.marketplace IN ({})
        THEN DIV({price} * {royalty}, {BPS_WHOLE}) ELSE {units} - 1 END), 0), {}) AS TEXT)",
        own.join(", "),
        U256::MAX
    )
}
