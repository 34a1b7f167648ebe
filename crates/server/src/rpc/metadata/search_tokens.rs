//! Tokens by name, in every collection of a chain.

use bourse_catalog::{Collection, OrderFilter, Position, Start, TokenFilter, TokensQuery};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainId, ChainRef, OrderSide, Text, TokenMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::PAGE_SIZE_DEFAULT;
use super::write_item;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, NextPage, PageInput, PagePlan};
use crate::resident::Residence;
use crate::route::request;

/// Collections that one call looks into: each may have to be loaded first.
const COLLECTIONS_MAX: usize = 100;

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

/// A page of metadata.
#[derive(JsonSchema)]
#[schemars(rename = "SearchTokensAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The tokens, by collection and token id. Collections larger than the memory there is are left out.
    token_metadata: Vec<FoundToken>,
    /// The page to ask for next; null when there is no more. A call looks into at most 100 collections: a page may
    /// have fewer tokens than asked for, or none, while there is a next one.
    next_page: Option<NextPage>,
}

/// A token, and where it is.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct FoundToken {
    /// Chain.
    chain_id: ChainId,
    /// Contract of its collection.
    contract_address: Address,
    /// The token itself.
    #[schemars(flatten)]
    metadata: TokenMetadata,
}

/// A place among the tokens of a chain.
#[derive(Clone, Default, Serialize, Deserialize)]
struct TokenCursor {
    /// The last collection that is done with.
    #[serde(rename = "d")]
    done: u64,
    /// The place in the one after it.
    #[serde(rename = "r")]
    row: Option<Position>,
    /// Tokens to pass over from there on.
    #[serde(rename = "s")]
    skip: u64,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let chain = call.chain(request.chain_id.as_ref())?;
    let limits = &call.app.settings.limits;
    let page =
        PagePlan::<TokenCursor>::with_default(request.page, PAGE_SIZE_DEFAULT, limits)?.in_order(&[])?;
    let begin = match &page.begin {
        Begin::Skip(skip) => TokenCursor { skip: *skip, ..TokenCursor::default() },
        Begin::After(place) => place.clone(),
    };
    let tokens = TokenFilter { text: request.q.into_string(), ..TokenFilter::default() };
    let mut search = Search { tokens, found: Vec::new(), room: page.limit(), skip: begin.skip };
    let collections = call.app.store.collections_of(chain, begin.done, COLLECTIONS_MAX as u64 + 1).await?;
    let (mut next, mut patience) = (None, call.patience());
    for (index, (id, key)) in collections.into_iter().enumerate() {
        let done = id.number() - 1;
        if index == COLLECTIONS_MAX {
            next = Some(TokenCursor { done, row: None, skip: search.skip });
            break;
        }
        let Residence::Resident(slot) = call.app.resident.find_within(key, &mut patience).await? else {
            continue;
        };
        let row = begin.row.as_ref().filter(|_| done == begin.done);
        if let Some(more) = search.look_into(key, &slot.read(), row.cloned()) {
            next = Some(TokenCursor { done, row: more.row, skip: 0 });
            break;
        }
    }
    let mut answer = [br#"{"tokenMetadata":["#, search.found.as_slice(), b"]"].concat();
    page.write_next(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}

/// A search under way.
struct Search {
    tokens: TokenFilter,
    /// The tokens so far, as JSON.
    found: Vec<u8>,
    /// Tokens that the page still has room for.
    room: usize,
    /// Tokens to pass over first.
    skip: u64,
}

/// The page is full, and the collection has more: from a row on, or from its beginning.
struct More {
    row: Option<Position>,
}

impl Search {
    fn look_into(
        &mut self,
        key: CollectionKey,
        collection: &Collection,
        after: Option<Position>,
    ) -> Option<More> {
        let tokens = &self.tokens;
        if self.skip > 0 {
            let all = collection.count(OrderSide::Unknown, tokens, &OrderFilter::default(), true) as u64;
            if all <= self.skip {
                self.skip -= all;
                return None;
            }
        }
        let start = after.map_or(Start::Skip(self.skip), Start::After);
        self.skip = 0;
        if self.room == 0 {
            let rows = collection.search(&TokensQuery { tokens, start, limit: 1 });
            return (!rows.rows.is_empty()).then_some(More { row: None });
        }
        let rows = collection.search(&TokensQuery { tokens, start, limit: self.room });
        self.room -= rows.rows.len();
        let place = format!(r#"{{"chainId":{},"contractAddress":"{}","#, key.chain, key.address);
        let mut token = Vec::new();
        for id in collection.ids(&rows) {
            token.clear();
            collection.write_token(&mut token, id);
            write_item(&mut self.found, 0, place.as_bytes());
            // The place takes the part of the bracket that the token's own members begin with.
            self.found.extend_from_slice(token.strip_prefix(b"{").unwrap_or_default());
        }
        rows.next.map(|position| More { row: Some(position) })
    }
}
