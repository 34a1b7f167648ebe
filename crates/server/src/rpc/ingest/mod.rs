//! Getting data in.

pub(crate) mod cancel_orders;
mod end_orders;
mod intake;
pub(crate) mod invalidate_orders;
pub(crate) mod put_balances;
pub(crate) mod put_contracts;
pub(crate) mod put_currencies;
pub(crate) mod put_orders;
pub(crate) mod put_tokens;
mod records_body;
pub(crate) mod signed;
mod stored_records;
pub(crate) mod track_events;
mod types;
