//! The contracts that are known here, for people to look through.

use bourse_wire::{ChainRef, ContractInfo};
use schemars::JsonSchema;
use serde::Deserialize;

use super::contracts::{ContractQuery, Presentable};
use super::search_token_directory::answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageAnswer, PageInput};
use crate::route::request;

/// Which part of the directory.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GetTokenDirectoryRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// Chain, by number or by name; a test network that is named is answered for.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Where no chain is named, whether test networks are in it.
    #[serde(default)]
    include_testnets: bool,
    /// Only contracts that are featured.
    #[serde(default)]
    only_featured: bool,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

/// A page of the directory.
#[derive(JsonSchema)]
#[schemars(rename = "TokenDirectoryAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The contracts, in the order in which they came to be known, without those that are blacklisted.
    contracts: Vec<ContractInfo>,
    /// The page. A call looks at at most 2,000 contracts: a page may have fewer than asked for, or none, while there is
    /// a next one.
    page: PageAnswer<'static>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let named = call.named_chain(request.chain_id.as_ref())?;
    let presentable = Some(Presentable { testnets: request.include_testnets || named.is_some() });
    let query = ContractQuery { presentable, featured: request.only_featured, ..ContractQuery::default() };
    answer(&call, named, &query, request.page).await
}
