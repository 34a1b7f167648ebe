//! What the maker of a signed order has, and lets be taken: reckoned from balances and permissions, as no contract tells it.

use alloy_primitives::U256;
use alloy_sol_types::sol;

use super::orders::Order;
use super::rules::{Asked, Question};
use super::scene::Scene;
use crate::anvil::{Multi, alloy_address, balanceOfCall, ownerOfCall};

sol! {
    function isApprovedForAll(address owner, address operator) returns (bool);
    function getApproved(uint256 tokenId) returns (address);
    function allowance(address owner, address spender) returns (uint256);
}

/// How many questions it takes.
pub(super) const QUESTIONS: usize = 3;

/// What to ask of an order's maker.
pub(super) fn questions(scene: &Scene, order: &Order) -> [Question; QUESTIONS] {
    let (maker, token) = (alloy_address(order.maker), U256::from(order.token.unwrap_or_default()));
    let approved = Question::new(
        order.collection,
        &isApprovedForAllCall { owner: maker, operator: alloy_address(scene.venue.mover) },
    );
    if !order.is_listing {
        let held = Question::new(order.currency, &balanceOfCall { owner: maker });
        let spender = alloy_address(scene.spender);
        let allowed = Question::new(order.currency, &allowanceCall { owner: maker, spender });
        return [held, allowed, approved];
    }
    if order.collection == scene.multiples {
        let held = Multi::balanceOfCall { owner: maker, tokenId: token };
        let held = Question::new(order.collection, &held);
        return [held.clone(), approved, held];
    }
    let owner = Question::new(order.collection, &ownerOfCall { tokenId: token });
    [owner, approved, Question::new(order.collection, &getApprovedCall { tokenId: token })]
}

/// How many units the answers let be delivered, or paid for.
pub(super) fn units(asked: &Asked<'_>) -> u64 {
    let order = asked.order;
    if !order.is_listing {
        let held = asked.returned::<balanceOfCall>(0).unwrap();
        let allowed = asked.returned::<allowanceCall>(1).unwrap();
        return (held.min(allowed) / U256::from(order.price)).saturating_to();
    }
    let is_approved = asked.returned::<isApprovedForAllCall>(1).unwrap();
    if order.collection == asked.scene.multiples {
        let held = asked.returned::<Multi::balanceOfCall>(0).unwrap();
        return if is_approved { held.saturating_to() } else { 0 };
    }
    // A token that was burnt is nobody's.
    let Some(owner) = asked.returned::<ownerOfCall>(0) else { return 0 };
    let mover = alloy_address(asked.scene.venue.mover);
    let is_allowed = is_approved || asked.returned::<getApprovedCall>(2) == Some(mover);
    u64::from(owner == alloy_address(order.maker) && is_allowed)
}
