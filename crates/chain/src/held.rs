//! Who holds tokens, by what was followed and by what contracts say: where logs were left out the two differ.

use alloy_primitives::Bytes;
use bourse_protocols::native::{has_owner, held, held_inquiries};
use bourse_store::{Balance, HeldSample};
use bourse_wire::{Address, Amount};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node};

/// How what was followed of a collection compares with what its contract says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldReport {
    /// How many balances are the same.
    pub equal: usize,
    /// How many the contract says nothing about.
    pub untold: usize,
    /// What was followed, and how much the contract says it is.
    pub different: Vec<(Balance, Amount)>,
}

/// Asks a contract about each balance of a sample, at the block that the sample is of.
pub async fn compare_held<N: Node>(
    node: &N,
    caller: &Caller,
    collection: Address,
    sample: &HeldSample,
) -> Result<HeldReport, Failure> {
    let asked = sample.balances.iter().flat_map(|one| held_inquiries(collection, one.token_id, one.account));
    let calls: Vec<Call> = asked.map(Call::from).collect();
    let answers = caller.call(node, &calls, Some(sample.hash)).await?;
    let answers: Vec<Option<Bytes>> = answers.into_iter().map(Result::ok).collect();
    let answers: Vec<&[Option<Bytes>]> = answers.chunks(2).collect();
    let has_owners = answers.iter().any(|answers| has_owner(answers));
    let mut report = HeldReport::default();
    for (balance, answers) in sample.balances.iter().zip(answers) {
        // A contract that tells owners refuses to tell that of a token which is gone.
        let told = held(balance.account, answers).or(has_owners.then_some(Amount::ZERO));
        match told {
            None => report.untold += 1,
            Some(told) if told == balance.balance => report.equal += 1,
            Some(told) => report.different.push((*balance, told)),
        }
    }
    Ok(report)
}
