//! Many calls in few requests: through Multicall3 where the chain has it, else as a batch.

use std::collections::BTreeMap;

use alloy_primitives::{Address as RawAddress, Bytes};
use alloy_sol_types::{SolCall, sol};
use bourse_market::facts::BlockHash;
use bourse_wire::Address;
use tokio::sync::OnceCell;

use crate::node::{Call, CallResults, Failure, Node, Reverted};

sol! {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result3 {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calls) returns (Result3[] results);
}

/// Where Multicall3 is on nearly every chain.
pub const MULTICALL3: Address = Address::from_bytes([
    0xca, 0x11, 0xbd, 0xe0, 0x59, 0x77, 0xb3, 0x63, 0x11, 0x67, 0x02, 0x88, 0x62, 0xbe, 0x2a, 0x17, 0x39,
    0x76, 0xca, 0x11,
]);

/// How many calls go through Multicall3, or in one batch, at once; nodes bound the gas of a call, and the length of a batch.
const CALLS_AT_ONCE: usize = 200;

/// The way to ask contracts.
#[derive(Debug)]
pub struct Caller {
    multicall: Option<Address>,
    has_code: OnceCell<bool>,
}

impl Caller {
    /// Several calls go through this contract where it has code; as a batch of requests when there is none.
    pub fn new(multicall: Option<Address>) -> Self {
        Self { multicall, has_code: OnceCell::new() }
    }

    /// What calls give at the end of a block, or of the newest one.
    pub async fn call<N: Node>(
        &self,
        node: &N,
        calls: &[Call],
        at: Option<BlockHash>,
    ) -> Result<CallResults, Failure> {
        // A contract that is asked through another one sees that as the caller.
        let is_anybody = calls.iter().all(|call| call.from.is_none());
        let multicall = if calls.len() > 1 && is_anybody { self.available(node).await? } else { None };
        let Some(multicall) = multicall else {
            let mut called = Vec::with_capacity(calls.len());
            for some in calls.chunks(CALLS_AT_ONCE) {
                called.extend(node.call(some, at).await?);
            }
            return Ok(called);
        };
        let mut called: Vec<(usize, Result<Bytes, Reverted>)> = Vec::with_capacity(calls.len());
        for groups in batches(groups(calls)) {
            let together: Vec<Call> =
                groups.iter().map(|group| Call::new(multicall, aggregated(&group.calls))).collect();
            for (group, answer) in groups.into_iter().zip(node.call(&together, at).await?) {
                let answers = match answer.ok().and_then(|answer| separated(&answer, group.calls.len())) {
                    Some(answers) => answers,
                    // One call may have used up the gas of all.
                    None => node.call(&group.calls, at).await?,
                };
                called.extend(group.places.into_iter().zip(answers));
            }
        }
        called.sort_unstable_by_key(|(place, _)| *place);
        Ok(called.into_iter().map(|(_, answer)| answer).collect())
    }

    async fn available<N: Node>(&self, node: &N) -> Result<Option<Address>, Failure> {
        let Some(multicall) = self.multicall else { return Ok(None) };
        let look = || async { Ok(node.code(&[multicall]).await?.iter().any(|code| !code.is_empty())) };
        let has_code = self.has_code.get_or_try_init(look).await?;
        Ok(has_code.then_some(multicall))
    }
}

/// Calls that may go through one, and the places that they have among all.
#[derive(Default)]
struct Group {
    places: Vec<usize>,
    calls: Vec<Call>,
}

/// Calls about the same contract go together. A contract may use up nearly all the gas that there is, and what comes after it would
/// seem to be refused: so none is asked together with another one.
fn groups(calls: &[Call]) -> Vec<Group> {
    let mut groups: BTreeMap<Address, Vec<Group>> = BTreeMap::new();
    for (place, call) in calls.iter().enumerate() {
        let groups = groups.entry(call.about).or_default();
        if groups.last().is_none_or(|group| group.calls.len() == CALLS_AT_ONCE) {
            groups.push(Group::default());
        }
        if let Some(group) = groups.last_mut() {
            group.places.push(place);
            group.calls.push(call.clone());
        }
    }
    groups.into_values().flatten().collect()
}

/// Groups that are asked about in one request, so that it carries no more calls than without Multicall3.
fn batches(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let (mut batches, mut count) = (Vec::<Vec<Group>>::new(), 0);
    for group in groups {
        count += group.calls.len();
        match batches.last_mut() {
            Some(batch) if count <= CALLS_AT_ONCE => batch.push(group),
            _ => {
                count = group.calls.len();
                batches.push(vec![group]);
            }
        }
    }
    batches
}

fn aggregated(calls: &[Call]) -> Bytes {
    let calls = calls.iter().map(|call| Call3 {
        target: RawAddress::from(*call.to.bytes()),
        allowFailure: true,
        callData: call.data.clone(),
    });
    aggregate3Call { calls: calls.collect() }.abi_encode().into()
}

fn separated(answer: &[u8], calls: usize) -> Option<CallResults> {
    let results = aggregate3Call::abi_decode_returns(answer).ok()?;
    let separate = |result: Result3| if result.success { Ok(result.returnData) } else { Err(Reverted) };
    (results.len() == calls).then(|| results.into_iter().map(separate).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::testing::{Answers, Contracts};

    /// Answers every call with its own data, and notes how many come at once.
    #[derive(Default)]
    struct Echo(Mutex<Vec<usize>>);

    impl Answers for Echo {
        fn answers(&self, calls: &[Call], _: Option<BlockHash>) -> Result<CallResults, Failure> {
            self.0.lock().unwrap().push(calls.len());
            Ok(calls.iter().map(|call| Ok(call.data.clone())).collect())
        }
    }

    /// Multicall3 where one contract uses up the gas: whatever is asked after it is refused.
    struct Greedy;

    const GREEDY: Address = Address::from_bytes([5; 20]);

    impl Answers for Greedy {
        fn answers(&self, calls: &[Call], _: Option<BlockHash>) -> Result<CallResults, Failure> {
            let alone = |call: &Call| if call.to == GREEDY { Err(Reverted) } else { Ok(call.data.clone()) };
            let together = |call: &Call| {
                let Ok(asked) = aggregate3Call::abi_decode(&call.data) else { return alone(call) };
                let mut is_used_up = false;
                let results = asked.calls.into_iter().map(|call| {
                    is_used_up |= call.target == RawAddress::from(*GREEDY.bytes());
                    Result3 { success: !is_used_up, returnData: call.callData }
                });
                Ok(aggregate3Call::abi_encode_returns(&results.collect()).into())
            };
            Ok(calls.iter().map(together).collect())
        }
    }

    #[tokio::test]
    async fn a_contract_that_uses_up_all_gas_spoils_nobody_elses_answers() {
        let node = Contracts(Greedy);
        let call = |number: u32| {
            let to = Address::from_bytes([u8::try_from(number % 7).unwrap(); 20]);
            let data = number.to_be_bytes().into();
            // Whoever is asked by another one may do so as well.
            if number.is_multiple_of(3) { Call::about(GREEDY, to, data) } else { Call::new(to, data) }
        };
        let calls: Vec<Call> = (0..450).map(call).collect();
        let answers = Caller::new(Some(MULTICALL3)).call(&node, &calls, None).await.unwrap();
        assert_eq!(answers.len(), calls.len());
        for (call, answer) in calls.into_iter().zip(answers).filter(|(call, _)| call.about != GREEDY) {
            assert_eq!(answer, Ok(call.data.clone()), "{call:?}");
        }
    }

    /// Nodes refuse a batch that is too long, and with it everything.
    #[tokio::test]
    async fn many_calls_go_in_several_batches() {
        let node = Contracts(Echo::default());
        let calls: Vec<Call> =
            (0..450_u32).map(|number| Call::new(MULTICALL3, number.to_be_bytes().into())).collect();
        let answers = Caller::new(None).call(&node, &calls, None).await.unwrap();
        assert!(answers.into_iter().zip(&calls).all(|(answer, call)| answer == Ok(call.data.clone())));
        assert_eq!(*node.0.0.lock().unwrap(), [200, 200, 50]);
    }
}
