//! Balances of a contract that changed since a block, for who keeps a copy of them.

use bourse_store::{ChangesQuery, CollectionKey};
use bourse_wire::{Address, ChainId, ChainRef, Code, Error, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Contract;
use super::hash::Hash;
use super::rows::{Row, separate};
use super::types::{TokenBalance, check_sort};
use crate::call::Call;
use crate::failure::Failure;
use crate::followed::Checkpoint;
use crate::paging::{Begin, PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;

/// Of which contract, and since when.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetBalanceUpdatesRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name, where the address names none.
    chain_id: Option<ChainRef>,
    /// The contract.
    contract_address: Address,
    /// Height of the block up to which the copy is, 0 for none: the `blockNumber` of the first row of an earlier answer, which is 0
    /// while older blocks of the contract are still read.
    last_block_number: u64,
    /// Name of that block, by which it is noticed that the chain took it back.
    last_block_hash: Option<Hash>,
    /// Which page.
    pub(super) page: Option<PageInput>,
}
request!(Request);

/// A page of what changed.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GetBalanceUpdatesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// Whether these are all balances there are, as it is not known what changed since the block, which is too old, or before all of
    /// the contract was read, or the chain took it back: whatever is in the copy and not among them is nothing by now.
    is_complete: bool,
    /// What is held now, of what changed; `0` for nothing.
    balances: Vec<TokenBalance>,
    /// The page.
    page: PageAnswer<'static>,
}

/// A place among what changed.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Place {
    /// Whether it is among all balances.
    #[serde(rename = "f")]
    is_all: bool,
    #[serde(rename = "t")]
    token: TokenId,
    #[serde(rename = "a")]
    account: Address,
}

/// What is asked for on a chain.
pub(super) struct Since {
    contract: Address,
    number: u64,
    hash: Option<Hash>,
}

impl Request {
    pub(super) fn since(&self) -> Since {
        Since { contract: self.contract_address, number: self.last_block_number, hash: self.last_block_hash }
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let since = request.since();
    let page = PagePlan::<Place>::new(request.page, &call.app.settings.limits)?;
    check_sort(&page)?;
    let mut answer = begin_answer(b"{");
    let part = ("balances", &mut answer);
    let next = since.write_part(&call, key.chain, (&page.begin, page.limit()), part).await?;
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}

impl Since {
    /// Appends `"isComplete":…` and a member of this name with so many rows at most; where the next page begins when there is one.
    pub(super) async fn write_part(
        &self,
        call: &Call,
        chain: ChainId,
        (begin, limit): (&Begin<Place>, usize),
        (member, part): (&str, &mut Vec<u8>),
    ) -> Result<Option<Place>, Failure> {
        let key = CollectionKey { chain, address: self.contract };
        let query = self.query(begin, limit)?;
        let found = call.app.store.balance_changes(key, query).await?.ok_or_else(|| {
            let message =
                format!("{} is not followed on chain {chain}, so that no block changes it", key.address);
            Error::new(Code::NotFound, message)
        })?;
        let info = match call.app.store.collection(key).await? {
            Some(id) => call.app.store.contract(id).await?,
            None => None,
        };
        let (number, hash) = found.checkpoint;
        let contract = Contract::known(key, info, Some(Checkpoint { number, hash }));
        let (mut balances, is_all) = (found.balances, found.is_all);
        let more = balances.len() > limit;
        balances.truncate(limit);
        part.extend_from_slice(format!(r#""isComplete":{is_all},"{member}":["#).as_bytes());
        let first = part.len();
        for held in &balances {
            separate(part, first);
            Row::of(held).write(part, &contract, false);
        }
        part.push(b']');
        let last = balances.last().filter(|_| more);
        Ok(last.map(|last| Place { is_all, token: last.token_id, account: last.account }))
    }

    fn query(&self, begin: &Begin<Place>, limit: usize) -> Result<ChangesQuery, Error> {
        begin.check_distance()?;
        let (place, skip) = match begin {
            Begin::Skip(skip) => (None, *skip),
            Begin::After(place) => (Some(*place), 0),
        };
        Ok(ChangesQuery {
            since: self.number,
            since_hash: self.hash.map(|hash| hash.0),
            is_all: place.is_some_and(|place| place.is_all),
            after: place.map(|place| (place.token, place.account)),
            skip,
            limit: limit as u64 + 1,
        })
    }
}
