//! Balances of a contract that changed since a block, on several chains.

use bourse_wire::ChainId;
use schemars::JsonSchema;

use super::chains::OfChains;
use super::parts::{OfEachChain, Places, write_parts};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PagePlan};
use crate::rpc::begin_answer;
use crate::rpc::indexer::get_balance_updates::{Place, Request, Since};
use crate::rpc::indexer::types::{TokenBalance, check_sort};
use crate::rpc::indexer::walk::Effort;

/// A page of what changed on each chain.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayGetBalanceUpdatesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// One for each chain, in the order asked for.
    balances: Vec<OfChain>,
    /// The page: of so many rows on each chain. The next one is of the chains that have more.
    page: PageAnswer<'static>,
}

/// What changed on one chain.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayBalanceUpdates", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
struct OfChain {
    /// Chain.
    chain_id: ChainId,
    /// Why there is nothing, where something is wrong: the contract is not followed there.
    error_reason: Option<String>,
    /// Whether these are all balances there are: whatever is in a copy and not among them is nothing by now.
    is_complete: Option<bool>,
    /// What is held now, of what changed; `0` for nothing.
    results: Vec<TokenBalance>,
}

impl OfEachChain for Since {
    type Place = Place;

    async fn write(
        &self,
        call: &Call,
        chain: ChainId,
        page: (&Begin<Place>, usize),
        (part, _): (&mut Vec<u8>, &mut Effort),
    ) -> Result<Option<Place>, Failure> {
        self.write_part(call, chain, page, ("results", part)).await
    }
}

pub(crate) async fn handle(call: Call, request: OfChains<Request>) -> Result<Vec<u8>, Failure> {
    let chains = request.chains.read(&call)?;
    let page = PagePlan::<Places<Place>>::new(request.asked.page.clone(), &call.app.settings.limits)?;
    check_sort(&page)?;
    let since = request.asked.since();
    let mut answer = begin_answer(br#"{"balances":"#);
    write_parts(&call, &chains, &since, &page, &mut answer).await?;
    answer.push(b'}');
    Ok(answer)
}
