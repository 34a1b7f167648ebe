//! What accounts hold on several chains: the operations of the Indexer that answer with a page of balances.

use bourse_wire::ChainId;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;

use super::chains::OfChains;
use super::parts::{OfEachChain, Places, write_parts};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PagePlan};
use crate::rpc::begin_answer;
use crate::rpc::indexer::balances::write_rows;
use crate::rpc::indexer::get_token_balances_details::{self, Resolved};
use crate::rpc::indexer::native::NativeTokenBalance;
use crate::rpc::indexer::types::{AskedBalances, TokenBalance, Wanted, check_sort};
use crate::rpc::indexer::walk::{Effort, Place};

/// A page of balances on each chain.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayTokenBalancesAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// One for each chain, in the order asked for.
    balances: Vec<BalancesOfChain>,
    /// The page: of so many rows on each chain. The next one is of the chains that have more.
    page: PageAnswer<'static>,
}

/// The same with the chains' own currencies.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayTokenBalancesDetailsAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct DetailsAnswer {
    /// One for each chain, in the order asked for; on the first page only.
    native_balances: Vec<NativeOfChain>,
    /// One for each chain, in the order asked for.
    balances: Vec<BalancesOfChain>,
    /// The page: of so many rows on each chain. The next one is of the chains that have more.
    page: PageAnswer<'static>,
}

/// Balances on one chain.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayTokenBalances", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
struct BalancesOfChain {
    /// Chain.
    chain_id: ChainId,
    /// Why there are none, where something is wrong.
    error_reason: Option<String>,
    /// The balances, by account, contract and token.
    results: Vec<TokenBalance>,
}

/// What accounts have of one chain's own currency.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GatewayNativeTokenBalances")]
struct NativeOfChain {
    /// Chain.
    chain_id: ChainId,
    /// Why nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_reason: Option<String>,
    /// One for each account.
    results: Vec<NativeTokenBalance>,
}

pub(crate) async fn handle<Q: AskedBalances>(call: Call, request: OfChains<Q>) -> Result<Vec<u8>, Failure> {
    let chains = request.chains.read(&call)?;
    let page = PagePlan::<Places<Place>>::new(request.asked.page(), &call.app.settings.limits)?;
    check_sort(&page)?;
    let wanted = request.asked.wanted(&call)?;
    let mut answer = begin_answer(br#"{"balances":"#);
    write_parts(&call, &chains, &wanted, &page, &mut answer).await?;
    answer.push(b'}');
    Ok(answer)
}

pub(crate) async fn details(
    call: Call,
    request: OfChains<get_token_balances_details::Request>,
) -> Result<Vec<u8>, Failure> {
    with_native(call, request, false).await
}

pub(crate) async fn summary(
    call: Call,
    request: OfChains<get_token_balances_details::Request>,
) -> Result<Vec<u8>, Failure> {
    with_native(call, request, true).await
}

async fn with_native(
    call: Call,
    request: OfChains<get_token_balances_details::Request>,
    is_summary: bool,
) -> Result<Vec<u8>, Failure> {
    let chains = request.chains.read(&call)?;
    let page = PagePlan::<Places<Place>>::new(request.asked.page.clone(), &call.app.settings.limits)?;
    check_sort(&page)?;
    let resolved = get_token_balances_details::resolve(&call, request.asked, is_summary)?;
    let mut rows = br#","balances":"#.to_vec();
    write_parts(&call, &chains, &resolved.wanted, &page, &mut rows).await?;
    let native = if page.is_first() { native_of(&call, &chains, &resolved).await } else { Vec::new() };
    let mut answer = begin_answer(br#"{"nativeBalances":"#);
    serde_json::to_writer(&mut answer, &native)?;
    answer.append(&mut rows);
    answer.push(b'}');
    Ok(answer)
}

async fn native_of(call: &Call, chains: &[ChainId], resolved: &Resolved) -> Vec<NativeOfChain> {
    let found = join_all(chains.iter().map(|chain| resolved.native(call, *chain))).await;
    let of_chain = |(chain, results): (&ChainId, Vec<NativeTokenBalance>)| {
        let error_reason = results.first().and_then(|result| result.error_reason.clone());
        NativeOfChain { chain_id: *chain, error_reason, results }
    };
    chains.iter().zip(found).map(of_chain).collect()
}

impl OfEachChain for Wanted {
    type Place = Place;

    async fn write(
        &self,
        call: &Call,
        chain: ChainId,
        page: (&Begin<Place>, usize),
        (part, effort): (&mut Vec<u8>, &mut Effort),
    ) -> Result<Option<Place>, Failure> {
        part.extend_from_slice(b"\"results\":");
        write_rows(call, chain, self, page, (part, effort)).await
    }
}
