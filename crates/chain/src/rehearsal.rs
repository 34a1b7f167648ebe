//! Steps of a wallet, played through by a node before anybody sends them.

use std::time::Duration;

use alloy_primitives::{Bytes, U256};
use bourse_protocols::Call;
use bourse_protocols::native::Inquiry;
use bourse_wire::Address;

/// What a node is to play: what a wallet would send, and what is asked when all of it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsal {
    /// Who would send it.
    pub wallet: Address,
    /// What they would send, in its order.
    pub calls: Vec<Call>,
    /// How many of the calls, from the first on, are approvals.
    pub approvals: usize,
    /// What contracts are asked afterwards.
    pub asked: Vec<Inquiry>,
    /// The time, in seconds since 1970.
    pub now: u64,
    /// The block up to which the chain is known here: a node that does not know it yet says nothing of use.
    pub known: Option<u64>,
}

impl Rehearsal {
    /// How much of the chain's own currency goes with all calls.
    pub fn value(&self) -> U256 {
        self.calls.iter().fold(U256::ZERO, |sum, call| sum.saturating_add(call.value.value()))
    }

    /// Whether a call does the same however those before it end. One approval has nothing to do with another, unless the same
    /// contract takes both.
    pub(crate) fn stands_alone(&self, place: usize) -> bool {
        let before = &self.calls[..place];
        let is_elsewhere = || before.iter().all(|call| call.to != self.calls[place].to);
        place == 0 || place < self.approvals && is_elsewhere()
    }
}

/// How a node plays calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One after another, each with what those before have done.
    InOrder,
    /// Each for itself, as things are; only those that stand alone.
    Alone,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it should.
    Done,
    /// A contract refused it, with this data.
    Reverted(Bytes),
    /// Nobody knows.
    Untried,
}

/// What a node says of a rehearsal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// How much of the chain's own currency the wallet has.
    pub funds: U256,
    /// What became of each call.
    pub outcomes: Vec<Outcome>,
    /// What contracts answered afterwards; nothing where that is not known.
    pub answers: Vec<Option<Bytes>>,
    /// The oldest of the blocks that it goes by.
    pub block: u64,
}

impl Played {
    /// Nothing was tried but how much the wallet has.
    pub(crate) fn nothing(rehearsal: &Rehearsal, funds: U256, block: u64) -> Self {
        let outcomes = vec![Outcome::Untried; rehearsal.calls.len()];
        Self { funds, outcomes, answers: vec![None; rehearsal.asked.len()], block }
    }
}

/// Why one node did not play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unable {
    /// It does not know how to play in this way.
    Unknown,
    /// It did not answer, or not to the question.
    Failed {
        /// How long it wants to be left alone, when it says so.
        after: Option<Duration>,
        /// What is wrong.
        reason: String,
    },
    /// It did not play this rehearsal in time, or at all, which says nothing of others.
    Refused {
        /// What is wrong.
        reason: String,
    },
}

/// Why steps were not played. Whoever asked for them may read it, so that it tells nothing of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplayed {
    /// Nobody can be asked.
    #[error("no node of the network is configured")]
    NoNode,
    /// The operator does not want it.
    #[error("trying steps is switched off for this network")]
    Off,
    /// As many are being played as may be.
    #[error("too many steps are being tried right now")]
    Busy,
    /// No node said anything of use in time.
    #[error("no node of the network answered in time")]
    Silent,
    /// The node does not know yet what is known here.
    #[error("the node is behind what is known here")]
    Behind,
}
