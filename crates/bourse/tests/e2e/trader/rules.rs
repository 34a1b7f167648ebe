//! What the trader must know of a marketplace.

use alloy_primitives::Bytes;
use alloy_sol_types::SolCall;
use bourse_wire::Address;
use serde_json::Value;

use super::orders::{Order, Ours, Theirs};
use super::scene::Scene;

/// What can be done at some marketplaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Skill {
    /// Listings may be in the chain's own currency.
    Native,
    /// Orders of several units are filled in parts.
    Parts,
    /// Or whole, as their makers have it.
    Whole,
    /// Buyers and sellers may pay shares to others.
    Fees,
    /// One can offer for any token of a collection.
    Any,
}

/// A marketplace, as its contracts are.
pub(super) trait Rules {
    /// What can be done here.
    fn skills(&self) -> &'static [Skill];

    /// Has somebody end all their orders at once, or those of a collection; false where there is no such thing.
    fn end_all(&self, scene: &Scene, who: Address, collection: Option<Address>) -> bool;

    /// Changes what the marketplace charges by itself, to so many basis points; false where it charges nothing.
    fn change_fees(&self, _scene: &Scene, _bps: u64) -> bool {
        false
    }

    /// Has the marketplace pay a royalty for a collection that tells none; false where there is no such thing.
    fn set_custom_royalty(&self, _scene: &Scene, _recipient: Address, _bps: u64) -> bool {
        false
    }

    /// The order that a log of the contract states, where contracts keep orders.
    fn read_log(&self, _log: &Value) -> Option<Order> {
        None
    }

    /// The hash by which such logs are known.
    fn order_topic(&self) -> Option<String> {
        None
    }

    /// What to ask contracts of an order, by what the service says of it.
    fn questions(&self, scene: &Scene, order: &Order, ours: Option<&Ours>) -> Vec<Question>;

    /// What the answers say.
    fn theirs(&self, asked: &Asked<'_>) -> Theirs;
}

/// An order, and what contracts answered of it.
pub(super) struct Asked<'a> {
    pub(super) scene: &'a Scene,
    pub(super) order: &'a Order,
    pub(super) ours: Option<&'a Ours>,
    /// The time of the newest block.
    pub(super) now: u64,
    pub(super) answers: &'a [Option<Bytes>],
}

impl Asked<'_> {
    /// What the contract returned to the question in this place; nothing when it failed.
    pub(super) fn returned<C: SolCall>(&self, place: usize) -> Option<C::Return> {
        let answer = self.answers[place].as_ref()?;
        Some(C::abi_decode_returns(answer).unwrap_or_else(|error| panic!("{}: {error}", C::SIGNATURE)))
    }

    /// A member of what was signed.
    pub(super) fn signed(&self, member: &str) -> &Value {
        &self.order.signed.as_ref().unwrap().value[member]
    }

    pub(super) fn is_expired(&self) -> bool {
        self.order.expiry <= self.now
    }
}

/// A call that changes nothing.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) to: Address,
    pub(super) data: Vec<u8>,
}

impl Question {
    pub(super) fn new(to: Address, call: &impl SolCall) -> Self {
        Self { to, data: call.abi_encode() }
    }
}
