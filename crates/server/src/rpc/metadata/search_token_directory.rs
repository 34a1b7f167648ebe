//! The contracts that are known here by name, symbol or address, for people to look through.

use bourse_catalog::fold;
use bourse_wire::{ChainId, ChainRef, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::contracts::{ContractQuery, Presentable, begin, scan};
use super::search::PAGE_SIZE_DEFAULT;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{PageInput, PagePlan};
use crate::route::request;

/// What is looked for in which part of the directory.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SearchTokenDirectoryRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// A part of the name, the symbol or the address, in any letter case.
    #[serde(default)]
    query: Text<256>,
    /// Whether it may be a part of the description as well.
    #[serde(default)]
    in_descriptions: bool,
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

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let named = call.named_chain(request.chain_id.as_ref())?;
    let query = ContractQuery {
        text: fold(request.query.as_str()).into_owned(),
        in_descriptions: request.in_descriptions,
        types: None,
        presentable: Some(Presentable { testnets: request.include_testnets || named.is_some() }),
        featured: request.only_featured,
    };
    answer(&call, named, &query, request.page).await
}

/// A page of the directory, of one chain or of all.
pub(super) async fn answer(
    call: &Call,
    chain: Option<ChainId>,
    query: &ContractQuery,
    page: Option<PageInput>,
) -> Result<Vec<u8>, Failure> {
    let page = PagePlan::with_default(page, PAGE_SIZE_DEFAULT, &call.app.settings.limits)?.in_order(&[])?;
    let (found, next) = scan(call, chain.as_slice(), query, &page).await?;
    let mut answer = begin(br#"{"contracts":["#, &found);
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}
