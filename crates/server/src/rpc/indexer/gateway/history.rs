//! Who gave tokens to whom on several chains.

use bourse_wire::ChainId;
use schemars::JsonSchema;

use super::chains::OfChains;
use super::parts::{OfEachChain, Places, write_parts};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PagePlan};
use crate::rpc::begin_answer;
use crate::rpc::indexer::get_transaction_history::{Request, Transaction};
use crate::rpc::indexer::history::{Place, Wanted, write_rows};
use crate::rpc::indexer::types::check_sort;
use crate::rpc::indexer::walk::Effort;

/// A page of transactions on each chain.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayGetTransactionHistoryAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// One for each chain, in the order asked for.
    transactions: Vec<OfChain>,
    /// The page: of so many transactions on each chain. The next one is of the chains that have more.
    page: PageAnswer<'static>,
}

/// Transactions on one chain.
#[derive(JsonSchema)]
#[schemars(rename = "GatewayTransactions", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
struct OfChain {
    /// Chain.
    chain_id: ChainId,
    /// Why there are none, where something is wrong.
    error_reason: Option<String>,
    /// The transactions, the newest first.
    results: Vec<Transaction>,
}

impl OfEachChain for Wanted {
    type Place = Place;

    async fn write(
        &self,
        call: &Call,
        chain: ChainId,
        page: (&Begin<Place>, usize),
        (part, _): (&mut Vec<u8>, &mut Effort),
    ) -> Result<Option<Place>, Failure> {
        part.extend_from_slice(b"\"results\":");
        write_rows(call, chain, self, page, part).await
    }
}

pub(crate) async fn handle(call: Call, request: OfChains<Request>) -> Result<Vec<u8>, Failure> {
    let chains = request.chains.read(&call)?;
    let page = PagePlan::<Places<Place>>::new(request.asked.page.clone(), &call.app.settings.limits)?;
    check_sort(&page)?;
    let wanted = request.asked.wanted(&call)?;
    let mut answer = begin_answer(br#"{"transactions":"#);
    write_parts(&call, &chains, &wanted, &page, &mut answer).await?;
    answer.push(b'}');
    Ok(answer)
}
