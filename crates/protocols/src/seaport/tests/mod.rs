//! Against orders, calls and logs that others made, and against hostile orders.

mod agreed;
mod family;
mod hostile;
mod interface;
mod logs;
mod totals;

use serde_json::Value;

use crate::testing::{self, check_calls, check_orders};

fn case(name: &str) -> Value {
    testing::case("seaport", name)
}

#[test]
fn orders_have_the_names_and_signers_that_others_find() {
    check_orders("seaport");
}

#[test]
fn calls_are_those_that_others_make() {
    check_calls("seaport");
}
