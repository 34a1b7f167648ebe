//! Many calls in few requests: through Multicall3 where the chain has it, else as a batch.

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
        let mut called = Vec::with_capacity(calls.len());
        for some in calls.chunks(CALLS_AT_ONCE) {
            let Some(multicall) = multicall else {
                called.extend(node.call(some, at).await?);
                continue;
            };
            let one = Call::new(multicall, aggregated(some));
            let answer = node.call(&[one], at).await?.pop();
            match answer.and_then(Result::ok).and_then(|answer| separated(&answer, some.len())) {
                Some(results) => called.extend(results),
                // One call may have used up the gas of all.
                None => called.extend(node.call(some, at).await?),
            }
        }
        Ok(called)
    }

    async fn available<N: Node>(&self, node: &N) -> Result<Option<Address>, Failure> {
        let Some(multicall) = self.multicall else { return Ok(None) };
        let look = || async { Ok(node.code(&[multicall]).await?.iter().any(|code| !code.is_empty())) };
        let has_code = self.has_code.get_or_try_init(look).await?;
        Ok(has_code.then_some(multicall))
    }
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
