//! Tokens by name, in a collection or in all of the project's market.

use bourse_wire::{Address, ChainRef, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::token_walk::{COLLECTIONS_MAX, TokenSearch};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::PageInput;
use crate::route::request;

/// Which tokens.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SearchTokenMetadataByQueryRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// A part of the name in any letter case, or the token id.
    #[serde(default)]
    q: Text<256>,
    /// Chain, by number or by name; left out, collections of every chain are searched.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address of the one collection to search, on the chain that is named; left out, all collections are searched
    /// that are in the market of the project.
    contract_address: Option<Address>,
    /// Which page.
    page: Option<PageInput>,
}
request!(Request);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let search = TokenSearch::new(&call, request.q, request.page)?;
    let chain = request.chain_id.as_ref();
    let collections = if let Some(address) = request.contract_address {
        let key = call.collection(chain, address)?;
        let found = call.app.store.collection(key).await?;
        found.filter(|id| id.number() > search.done()).map(|id| (id, key)).into_iter().collect()
    } else {
        let (chain, limit) = (call.named_chain(chain)?, COLLECTIONS_MAX as u64 + 1);
        call.app.store.market_keys(call.scope(), chain, search.done(), limit).await?
    };
    search.answer(&call, collections).await
}
