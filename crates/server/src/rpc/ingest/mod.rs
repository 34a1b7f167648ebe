//! Getting data in.

pub(crate) mod cancel_orders;
mod ending;
mod intake;
pub(crate) mod invalidate_orders;
mod known;
mod one_pass;
pub(crate) mod put_balances;
pub(crate) mod put_contracts;
pub(crate) mod put_currencies;
pub(crate) mod put_orders;
pub(crate) mod put_tokens;
pub(crate) mod signed;
pub(crate) mod track_events;
mod types;
