//! Functions and events have the names that the contract knows them by, as its published ABI has them.

use alloy_sol_types::{SolCall as _, SolEvent as _};

use crate::testing::check_names;
use crate::x2y2::abi::{EvCancel, EvInventory, inventoryStatusCall, runCall};

#[test]
fn names_are_those_of_the_contract() {
    check_names(&[
        (runCall::SELECTOR.as_slice(), "357a150b"),
        (inventoryStatusCall::SELECTOR.as_slice(), "912c860c"),
        (
            EvInventory::SIGNATURE_HASH.as_slice(),
            "3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33",
        ),
        (
            EvCancel::SIGNATURE_HASH.as_slice(),
            "5b0b06d07e20243724d90e17a20034972f339eb28bd1c9437a71999bd15a1e7a",
        ),
    ]);
}
