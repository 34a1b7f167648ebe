//! Filters of what happens, as webhooks and streams have them.

use bourse_wire::{Error, EventFilter};

use crate::app::App;
use crate::rpc::metadata::check_batch;

/// Kinds of events that a filter may name.
const EVENTS_MAX: usize = 32;

/// Refuses a filter that tells of nothing, or names more than a filter may, by the member that it is.
pub(super) fn check_filter(
    app: &App,
    member: &str,
    contracts_max: usize,
    filter: &EventFilter,
) -> Result<(), Error> {
    let limits = &app.settings.limits;
    let check =
        |part: &str, things: &str, count, max| check_batch(&format!("{member}.{part}"), things, count, max);
    check("events", "kinds", filter.events.len(), EVENTS_MAX)?;
    check("contractAddresses", "contracts", filter.contract_addresses.len(), contracts_max)?;
    check("accounts", "accounts", filter.accounts.len(), limits.batch_contracts_max)?;
    check("tokenIDs", "token ids", filter.token_ids.len(), limits.batch_tokens_max)?;
    filter.check(member)
}
