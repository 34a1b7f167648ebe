//! Tokens by name, in every collection of a chain.

use bourse_wire::{ChainRef, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::token_walk::{COLLECTIONS_MAX, TokenSearch};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::PageInput;
use crate::route::request;

/// Which tokens.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SearchTokensRequest")]
pub(crate) struct Request {
    /// A part of the name in any letter case, or the token id.
    #[serde(default)]
    q: Text<256>,
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let search = TokenSearch::new(&call, request.q, request.page)?;
    let limit = COLLECTIONS_MAX as u64 + 1;
    let collections = call.app.store.collections_of(chain, search.done(), limit).await?;
    search.answer(&call, collections).await
}
