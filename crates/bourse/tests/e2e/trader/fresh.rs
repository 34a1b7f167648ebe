//! A server that knows nothing yet tells the same as one that lived through everything.

use std::collections::{BTreeMap, BTreeSet};

use bourse_store::testing::facts_rows;
use bourse_wire::ChainId;
use serde_json::{Value, json};

use super::Trader;
use super::compare::look;
use super::orders::Order;
use super::scene::Scene;
use super::trades::NEXT_CENTURY;
use crate::instance::{seen_within, within};
use crate::process::WAIT_MAX;

/// When a server first saw what somebody signed, and as of which block it asked about it, is its own affair.
const OWN_AFFAIRS: [&str; 5] = ["blockNumber", "createdAt", "updatedAt", "orderCreatedAt", "orderUpdatedAt"];

impl Trader {
    /// Compares the server with a new one, which is told only what people signed.
    pub(super) fn compare_with_fresh(&mut self) {
        self.outlive_orders();
        self.agree(true);
        let fresh = self.scene.anew();
        fresh.stage.catch_up();
        let mut known = Vec::new();
        for order in &self.orders {
            let Some(signed) = &order.signed else {
                known.push(order.clone());
                continue;
            };
            let answer =
                fresh.stage.market.marketplace_answer("Execute", &json!({ "params": signed.params }));
            let is_active = self.seen.get(&order.id).is_some_and(super::Ours::is_active);
            let is_good = is_active && !self.ahead.contains(&order.id);
            // What is over is nothing to begin with.
            assert!(answer.status == 200 || !is_good, "{order:?}: {answer:?}");
            if answer.status == 200 {
                known.push(order.clone());
            }
        }
        let differences = || {
            let (_, now) = fresh.head();
            look(&fresh, self.rules.as_ref(), &known, (&fresh.ours(&known), now)).differences
        };
        seen_within(WAIT_MAX, "a new server and the contracts differ", differences, BTreeMap::is_empty);
        seen_within(WAIT_MAX, "a new server tells the same", || self.unlike(&fresh, &known), Vec::is_empty);
    }

    /// Waits until the last order has ended that ends soon: while two servers are asked one after the other, nothing changes.
    fn outlive_orders(&self) {
        let ends = self.orders.iter().map(|order| order.expiry).filter(|end| *end < NEXT_CENTURY);
        let Some(last) = ends.max() else { return };
        within(WAIT_MAX, "orders have ended", || super::now() > last);
    }

    /// Lists of which the two differ.
    fn unlike(&self, fresh: &Scene, known: &[Order]) -> Vec<String> {
        let is_signed = known.iter().any(|order| order.signed.is_some());
        let lists = |scene: &Scene, token| {
            let mut orders = scene.lists(token);
            orders.retain(|order| !self.ahead.contains(order["orderId"].as_str().unwrap()));
            if is_signed {
                orders.iter_mut().for_each(forget_own_affairs);
            }
            orders
        };
        let mut unlike = Vec::new();
        for token in self.tokens() {
            let (lived, new) = (lists(&self.scene, token), lists(fresh, token));
            if lived != new {
                unlike.push(format!("{token:?}: {lived:?} and {new:?}"));
            }
        }
        if !is_signed {
            let facts = |scene: &Scene| -> BTreeSet<String> {
                let instance = &scene.stage.market.instance;
                let rows =
                    instance.with_store(async |store| facts_rows(store, ChainId(31_337)).await.unwrap());
                rows.iter().map(|row| without_idle_royalty(row)).collect()
            };
            unlike.extend(facts(&self.scene).symmetric_difference(&facts(fresh)).cloned());
        }
        unlike
    }
}

/// A row without the royalty of an order that nobody can fill: a server asks about those only where it finds a change at one
/// that can be filled, and a collection may have none.
fn without_idle_royalty(row: &str) -> String {
    let can_be_filled = row.contains("status: Active") && !row.contains("quantity_remaining: 0,");
    let royalty = row.find("fee_bps: ").zip(row.find("valid_from: "));
    match royalty.filter(|_| !can_be_filled) {
        Some((start, end)) => format!("{}{}", &row[..start], &row[end..]),
        None => row.to_owned(),
    }
}

fn forget_own_affairs(order: &mut Value) {
    for member in OWN_AFFAIRS {
        order[member] = Value::Null;
    }
}
