//! Against orders, calls and logs that others made, and against hostile orders.

mod agreed;
mod family;
mod hostile;
mod logs;
mod totals;

use bourse_wire::ChainId;
use serde_json::Value;

use super::Seaport;
use super::venues::{magic_eden, opensea};
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

#[test]
fn conduits_are_where_they_are_known_to_be() {
    let addresses = |seaport: Option<Seaport>| {
        let conduits = seaport.unwrap().conduits;
        conduits.iter().map(|conduit| conduit.address.to_string()).collect::<Vec<_>>()
    };
    let of_opensea =
        ["0x1e0049783f008a0085193e00003d00cd54003c71", "0x963f00d3ff000064ffcba824b800c0000000c300"];
    assert_eq!(addresses(opensea(ChainId(1))), of_opensea);
    assert_eq!(addresses(magic_eden(ChainId(1))), ["0x2052f8a2ff46283b30084e5d84c89a2fdbe7f74b"]);
}
