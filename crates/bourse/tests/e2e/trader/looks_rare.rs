//! LooksRare: orders that are filled whole or not at all.

use alloy_primitives::{B256, U256};
use alloy_sol_types::sol;
use bourse_wire::Address;

use super::cover;
use super::orders::{Order, Ours, Theirs};
use super::rules::{Asked, Question, Rules, Skill};
use super::scene::Scene;
use crate::anvil::alloy_address;

sol! {
    function userBidAskNonces(address user) returns (uint256 bidNonce, uint256 askNonce);
    function userOrderNonce(address user, uint256 orderNonce) returns (bytes32);
    function hasUserApprovedOperator(address user, address operator) returns (bool);
    function incrementBidAskNonces(bool bid, bool ask);
    function updateStrategy(
        uint256 strategyId, bool isActive, uint16 standardProtocolFeeBp, uint16 minTotalFeeBp
    );
}

/// The most that the contract lets its strategy for usual orders charge.
const FEE_BPS_MAX: u64 = 200;

pub(super) struct LooksRare;

impl Rules for LooksRare {
    fn skills(&self) -> &'static [Skill] {
        &[Skill::Native]
    }

    fn end_all(&self, scene: &Scene, who: Address, _collection: Option<Address>) -> bool {
        let all = incrementBidAskNoncesCall { bid: true, ask: true };
        scene.stage.market.anvil.send(who, scene.venue.contract, &all);
        true
    }

    fn change_fees(&self, scene: &Scene, bps: u64) -> bool {
        let bps = u16::try_from(bps.min(FEE_BPS_MAX)).unwrap();
        let call = updateStrategyCall {
            strategyId: U256::ZERO,
            isActive: true,
            standardProtocolFeeBp: bps,
            minTotalFeeBp: bps,
        };
        let anvil = &scene.stage.market.anvil;
        anvil.send(anvil.account(0), scene.venue.contract, &call);
        true
    }

    fn questions(&self, scene: &Scene, order: &Order, _ours: Option<&Ours>) -> Vec<Question> {
        let (user, contract) = (alloy_address(order.maker), scene.venue.contract);
        let nonce = order.signed.as_ref().unwrap().value["orderNonce"].as_str().unwrap();
        let of_order = [
            Question::new(contract, &userOrderNonceCall { user, orderNonce: nonce.parse().unwrap() }),
            Question::new(contract, &userBidAskNoncesCall { user }),
            Question::new(
                scene.venue.mover,
                &hasUserApprovedOperatorCall { user, operator: alloy_address(contract) },
            ),
        ];
        cover::questions(scene, order).into_iter().chain(of_order).collect()
    }

    fn theirs(&self, asked: &Asked<'_>) -> Theirs {
        let order = asked.order;
        let used = asked.returned::<userOrderNonceCall>(cover::QUESTIONS).unwrap();
        let counters = asked.returned::<userBidAskNoncesCall>(cover::QUESTIONS + 1).unwrap();
        let is_moved = asked.returned::<hasUserApprovedOperatorCall>(cover::QUESTIONS + 2).unwrap();
        let counter = if order.is_listing { counters.askNonce } else { counters.bidNonce };
        let signed: U256 = asked.signed("globalNonce").as_str().unwrap().parse().unwrap();
        match () {
            // It keeps the same of an order that is filled and of one that was taken back.
            () if used != B256::ZERO => return Theirs::Over(&["filled", "cancelled"]),
            () if signed < counter => return Theirs::Over(&["cancelled"]),
            // The service gives up the hope for the number after a while; when its time is over, an order is over sooner.
            () if signed > counter && asked.is_expired() => return Theirs::Over(&["expired", "cancelled"]),
            () if signed > counter => return Theirs::Ahead,
            () if asked.is_expired() => return Theirs::Over(&["expired"]),
            () => {}
        }
        // It fills the whole or nothing.
        let is_covered = (is_moved || !order.is_listing) && cover::units(asked) >= order.units;
        let available = if is_covered { order.units } else { 0 };
        Theirs::Standing { remaining: order.units, available, fee_bps: None }
    }
}
