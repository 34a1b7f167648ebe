//! Seaport and its forks.

use alloy_primitives::{B256, U256};
use alloy_sol_types::sol;
use bourse_wire::Address;

use super::cover;
use super::orders::{Order, Ours, Theirs};
use super::rules::{Asked, Question, Rules, Skill};
use super::scene::Scene;
use crate::anvil::alloy_address;

sol! {
    function getOrderStatus(bytes32 orderHash)
        returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize);
    function getCounter(address offerer) returns (uint256);
    function incrementCounter();
}

pub(super) struct Seaport;

impl Rules for Seaport {
    fn skills(&self) -> &'static [Skill] {
        &[Skill::Native, Skill::Parts, Skill::Whole, Skill::Fees, Skill::Any]
    }

    fn end_all(&self, scene: &Scene, who: Address, _collection: Option<Address>) -> bool {
        scene.stage.market.anvil.send(who, scene.venue.contract, &incrementCounterCall {});
        true
    }

    fn questions(&self, scene: &Scene, order: &Order, _ours: Option<&Ours>) -> Vec<Question> {
        let hash: B256 = order.id.parse().unwrap();
        let offerer = alloy_address(order.maker);
        let contract = scene.venue.contract;
        let of_order = [
            Question::new(contract, &getOrderStatusCall { orderHash: hash }),
            Question::new(contract, &getCounterCall { offerer }),
        ];
        cover::questions(scene, order).into_iter().chain(of_order).collect()
    }

    fn theirs(&self, asked: &Asked<'_>) -> Theirs {
        let status = asked.returned::<getOrderStatusCall>(cover::QUESTIONS).unwrap();
        let counter = asked.returned::<getCounterCall>(cover::QUESTIONS + 1).unwrap();
        let signed: U256 = asked.signed("counter").as_str().unwrap().parse().unwrap();
        let is_filled = !status.totalSize.is_zero() && status.totalFilled == status.totalSize;
        match () {
            () if is_filled => return Theirs::Over(&["filled"]),
            () if status.isCancelled || signed < counter => return Theirs::Over(&["cancelled"]),
            // The service gives up the hope for the number after a while; when its time is over, an order is over sooner.
            () if signed > counter && asked.is_expired() => return Theirs::Over(&["expired", "cancelled"]),
            () if signed > counter => return Theirs::Ahead,
            () if asked.is_expired() => return Theirs::Over(&["expired"]),
            () => {}
        }
        let units = U256::from(asked.order.units);
        let filled = (units * status.totalFilled).checked_div(status.totalSize).unwrap_or_default();
        let remaining: u64 = (units - filled).to();
        let covered = remaining.min(cover::units(asked));
        let available = if asked.order.is_whole && covered < remaining { 0 } else { covered };
        Theirs::Standing { remaining, available, fee_bps: None }
    }
}
