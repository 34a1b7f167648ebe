//! What was followed of who holds tokens, held against what contracts say.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeMap;

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_chain::testing::{Answers, Contracts};
use bourse_chain::{Call, CallResults, Caller, Failure, HeldReport, Reverted, compare_held};
use bourse_market::facts::{Block, BlockHash};
use bourse_store::testing::{TestDatabase, batch};
use bourse_store::{Balance, Change, CollectionKey, HeldSample};
use bourse_wire::{Address, Amount, ChainId, Timestamp};

sol! {
    interface Single {
        function ownerOf(uint256 tokenId) returns (address owner);
    }

    interface Multi {
        function balanceOf(address account, uint256 id) returns (uint256 balance);
    }
}

const CHAIN: ChainId = ChainId(1);
const AT: BlockHash = B256::repeat_byte(5);

fn account(byte: u8) -> Address {
    Address::from_bytes([byte; 20])
}

fn held(token: u64, holder: u8, balance: u64) -> Balance {
    Balance { token_id: token.into(), account: account(holder), balance: balance.into() }
}

/// A contract whose tokens have an owner each, who may be nobody any more.
struct Singles(BTreeMap<u64, u8>);

impl Answers for Singles {
    fn answers(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        assert_eq!(at, Some(AT), "the block that the chain is followed to");
        let answer = |call: &Call| {
            let asked = Single::ownerOfCall::abi_decode(&call.data).map_err(|_| Reverted)?;
            let owner = self.0.get(&asked.tokenId.to()).ok_or(Reverted)?;
            Ok(Bytes::from(alloy_primitives::Address::repeat_byte(*owner).abi_encode()))
        };
        Ok(calls.iter().map(answer).collect())
    }
}

/// A contract of which everybody holds as many of a token as its number says.
struct Multis;

impl Answers for Multis {
    fn answers(&self, calls: &[Call], _: Option<BlockHash>) -> Result<CallResults, Failure> {
        let answer = |call: &Call| {
            let asked = Multi::balanceOfCall::abi_decode(&call.data).map_err(|_| Reverted)?;
            Ok(Bytes::from(U256::from(asked.id).abi_encode()))
        };
        Ok(calls.iter().map(answer).collect())
    }
}

async fn compare(contract: impl Answers, balances: &[Balance]) -> HeldReport {
    let sample = HeldSample { number: 9, hash: AT, balances: balances.to_vec() };
    let node = Contracts(contract);
    compare_held(&node, &Caller::new(None), account(0xc0), &sample).await.unwrap()
}

#[tokio::test]
async fn a_transfer_and_a_burn_that_were_left_out_are_found() {
    let followed = [held(1, 0xa1, 1), held(2, 0xa1, 1), held(3, 0xa2, 1)];
    let report = compare(Singles([(1, 0xa1), (2, 0xa2)].into()), &followed).await;
    assert_eq!((report.equal, report.untold), (1, 0));
    assert_eq!(report.different, [(followed[1], Amount::ZERO), (followed[2], Amount::ZERO)]);
}

#[tokio::test]
async fn balances_are_compared_by_their_amounts() {
    let followed = [held(3, 0xa1, 3), held(4, 0xa2, 5)];
    let report = compare(Multis, &followed).await;
    assert_eq!((report.equal, report.different), (1, vec![(followed[1], 4.into())]));
}

#[tokio::test]
async fn a_contract_that_says_nothing_proves_nothing() {
    let report = compare(Singles(BTreeMap::new()), &[held(1, 0xa1, 1)]).await;
    assert_eq!(report, HeldReport { untold: 1, ..HeldReport::default() });
}

#[tokio::test]
async fn a_sample_is_spread_over_the_collection_and_of_the_checkpoint() {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    let key = CollectionKey { chain: CHAIN, address: account(0xc0) };
    let balance = |token: u64, balance: u64| {
        let Balance { token_id, account, balance } = held(token, 0xa1, balance);
        Change::Balance { token_id, account, balance }
    };
    let changes = (0..300).map(|token| balance(token, u64::from(token != 7))).collect();
    store.commit(batch(key, changes)).await.unwrap();
    let id = store.collection(key).await.unwrap().unwrap();
    assert_eq!(store.held_sample(CHAIN, id, 2).await.unwrap(), None, "the chain is not followed");
    let block = Block { number: 9, hash: AT, parent: B256::ZERO, at: Timestamp::ZERO };
    store.start_chain(CHAIN, block).await.unwrap();
    let sample = store.held_sample(CHAIN, id, 2).await.unwrap().unwrap();
    assert_eq!((sample.number, sample.hash), (9, AT));
    let tokens: Vec<String> = sample.balances.iter().map(|held| held.token_id.to_string()).collect();
    let expected = "0 1 10 2 20 3 30 4 40 5 50 6 60 70 71 8 80 9 90";
    assert_eq!(tokens.join(" "), expected);
}
