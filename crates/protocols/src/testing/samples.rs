//! One list of all orders that others made, whichever family they are of.

use std::sync::Arc;

use bourse_wire::Marketplace;
use serde_json::{Value, json};

use super::{admit, cases, families, newest, protocol, text, vectors};
use crate::Protocol;
use crate::native::NativeOrder;

/// An order that others made.
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) protocol: Arc<dyn Protocol>,
    /// As it is put.
    pub(super) order: Value,
    pub(super) admitted: NativeOrder,
}

/// An order of each case of all families, those that are kept by their marketplaces among them.
pub(super) fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for family in families() {
        for case in cases(&family) {
            let name = format!("{family}: {}", text(&case["name"]));
            samples.push(sample(name, protocol(&case), case["orders"][0].clone()));
        }
    }
    let held = vectors("held");
    for (marketplace, orders) in [
        (Marketplace::Opensea, vec![held["seaport"]["opensea"].clone()]),
        (Marketplace::MagicEden, vec![held["seaport"]["magic_eden"].clone()]),
        (Marketplace::PaymentProcessor, vec![held["payment_processor"].clone()]),
        (Marketplace::Blur, vec![held["blur"]["orders"][0].clone(), held["blur"]["real"].clone()]),
        (
            Marketplace::X2y2,
            vec![json!({ "native": held["x2y2"]["order"] }), json!({ "native": held["x2y2"]["offer"] })],
        ),
    ] {
        for order in orders {
            let protocol = newest(marketplace);
            samples.push(sample(format!("held: {marketplace:?}"), protocol, order));
        }
    }
    samples
}

fn sample(name: String, protocol: Arc<dyn Protocol>, order: Value) -> Sample {
    let admitted = admit(&*protocol, &order).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    Sample { name, protocol, order, admitted }
}
