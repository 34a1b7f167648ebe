//! Steps are tried before they are handed out: a node plays them, and what would fail is refused in words.

use std::fmt::Write as _;

use alloy_primitives::Bytes;
use bourse_chain::{Outcome, Played, Rehearsal};
use bourse_market::in_words;
use bourse_protocols::native::Inquiry;
use bourse_protocols::{Call, reverts};
use bourse_wire::{Address, Amount, Error};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Desk, Step, StepId};

/// Why some steps are not tried though a node can be asked.
const PARTLY: &str = "the node does not tell what comes of a step after those before it";
/// Why those are not that another service is to send.
pub(crate) const ELSEWHERE: &str =
    "the steps go to another service, which may first give the wallet what it lacks";
/// The most orders that a refusal names.
const NAMED_MAX: usize = 3;

/// An approval among steps.
pub(crate) struct ApprovalStep {
    /// The call.
    pub(crate) call: Call,
    /// What it assumes.
    pub(crate) note: Option<String>,
}

/// Steps that are about to be handed out.
pub(crate) struct Handout {
    /// The member that names the wallet.
    pub(crate) member: &'static str,
    /// Whose steps they are.
    pub(crate) wallet: Address,
    /// What the wallet must approve first.
    pub(crate) approvals: Vec<ApprovalStep>,
    /// Whether the wallet approves by itself, so that there are no steps for it.
    pub(crate) approves_itself: bool,
    /// What the calls are for.
    pub(crate) id: StepId,
    /// The calls after that.
    pub(crate) calls: Vec<Call>,
    /// What they assume, in words.
    pub(crate) note: Option<String>,
    /// The orders that they are about.
    pub(crate) orders: Vec<String>,
}

/// Whether a node tried the steps.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "StepsSimulation")]
pub(crate) struct Simulation {
    /// How many of the transactions, from the first on, a node tried in their order; as things are, they succeed.
    steps: usize,
    /// Why not all of them were tried; left out when they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Simulation {
    /// Nothing was tried.
    pub(crate) fn none(why: impl Into<String>) -> Self {
        Self { steps: 0, note: Some(why.into()) }
    }
}

impl Handout {
    /// The answer with these steps.
    pub(crate) fn told(self, simulation: Simulation) -> Answer {
        let approvals = self.approvals.into_iter().filter(|_| !self.approves_itself);
        let approvals = approvals.map(|approval| Step::approval(&approval.call, approval.note));
        let calls =
            self.calls.iter().map(|call| Step::transaction(self.id, call).with_note(self.note.clone()));
        Answer { steps: approvals.chain(calls).collect(), simulation }
    }

    /// All calls, in the order to be made.
    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.approvals.iter().map(|approval| &approval.call).chain(&self.calls)
    }

    /// How many calls come before those that the wallet gets a step for.
    fn hidden(&self) -> usize {
        if self.approves_itself { self.approvals.len() } else { 0 }
    }

    /// Which one of all calls is, in words.
    fn name(&self, place: usize) -> String {
        let hidden = self.hidden();
        if place < hidden {
            return "the approval that the wallet makes by itself".to_owned();
        }
        let id = if place < self.approvals.len() { StepId::TokenApproval } else { self.id };
        let count = self.calls().count() - hidden;
        let mut name = format!("step {} of {count} ({}", place - hidden + 1, id.word());
        let orders = self.orders.iter().filter(|_| place >= self.approvals.len());
        for (index, order) in orders.take(NAMED_MAX).enumerate() {
            let before = match index {
                0 if self.orders.len() == 1 => " of order",
                0 => " of orders",
                _ => ",",
            };
            // Writing to a text cannot fail.
            let _ = write!(name, "{before} {order}");
        }
        if place >= self.approvals.len() && self.orders.len() > NAMED_MAX {
            let _ = write!(name, " and {} more", self.orders.len() - NAMED_MAX);
        }
        name.push(')');
        name
    }

    /// How many of the steps succeed. Refuses those that would not.
    fn judge(&self, desk: &Desk, played: &Played) -> Result<usize, Error> {
        let member = self.member;
        let needed = self
            .calls()
            .fold(Amount::ZERO, |sum, call| Amount::from(sum.value().saturating_add(call.value.value())));
        let held = Amount::from(played.funds);
        if held < needed {
            let missing = Amount::from(needed.value() - held.value());
            let [held, needed, missing] =
                [held, needed, missing].map(|amount| desk.worded(amount, Address::ZERO));
            return Err(Error::conflict(format!(
                "{member}: {} has {held} where these steps take {needed}: {missing} are missing, beside what the network \
                 takes for itself",
                self.wallet
            )));
        }
        let first = played.outcomes.iter().position(|outcome| *outcome != Outcome::Done);
        let tried = first.unwrap_or(played.outcomes.len());
        if let Some(Outcome::Reverted(data)) = played.outcomes.get(tried) {
            let (name, why) = (self.name(tried), reverts::in_words(data));
            return Err(Error::conflict(format!("{member}: {name} would fail right now: {why}")));
        }
        Ok(tried.saturating_sub(self.hidden()))
    }
}

impl Desk {
    /// The answer with steps, once a node has tried them.
    pub(crate) async fn hand_out(&self, handout: Handout) -> Result<Answer, Error> {
        let (simulation, _) = self.rehearse(&handout, Vec::new()).await?;
        Ok(handout.told(simulation))
    }

    /// Has a node try steps, and refuses those that would fail. What contracts answer to questions afterwards comes along,
    /// where somebody can be asked.
    pub(crate) async fn rehearse(
        &self,
        handout: &Handout,
        asked: Vec<Inquiry>,
    ) -> Result<(Simulation, Vec<Option<Bytes>>), Error> {
        let app = &self.call.app;
        let rehearsal = Rehearsal {
            wallet: handout.wallet,
            calls: handout.calls().cloned().collect(),
            approvals: handout.approvals.len(),
            asked,
            now: u64::try_from(self.call.now.unix_seconds()).unwrap_or_default(),
            known: self.newest_known().await,
        };
        if rehearsal.calls.is_empty() && rehearsal.asked.is_empty() {
            return Ok((Simulation::default(), Vec::new()));
        }
        let count = rehearsal.calls.len() - handout.hidden();
        let patience = app.settings.limits.load_patience();
        let played = match app.chains.play(self.key.chain, rehearsal, patience).await {
            Ok(played) => played,
            Err(unplayed) => return Ok((Simulation::none(unplayed.to_string()), Vec::new())),
        };
        let steps = handout.judge(self, &played)?;
        let note = (steps < count).then(|| PARTLY.to_owned());
        Ok((Simulation { steps, note }, played.answers))
    }

    /// The newest block that is stored, whichever server follows the chain.
    async fn newest_known(&self) -> Option<u64> {
        let checkpoint = self.call.app.store.checkpoint(self.key.chain).await;
        let checkpoint =
            checkpoint.inspect_err(|error| tracing::warn!(%error, "a checkpoint cannot be read"));
        checkpoint.ok().flatten().map(|(number, _)| number)
    }

    /// An amount of a currency in words; the bare number where the currency is not known.
    pub(crate) fn worded(&self, amount: Amount, currency: Address) -> String {
        let known = self.call.app.resident.currencies(self.key.chain);
        let currency = known.iter().find(|known| known.contract_address == currency);
        currency.map_or_else(|| amount.to_string(), |known| in_words(amount, known))
    }
}
