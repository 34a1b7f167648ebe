//! A walk over the tokens of several collections by text: what the operations that search more than one share.

use bourse_catalog::{Collection, OrderFilter, Position, Start, TokenFilter, TokensQuery};
use bourse_store::{CollectionId, CollectionKey};
use bourse_wire::{Address, ChainId, OrderSide, Text, TokenMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::PAGE_SIZE_DEFAULT;
use super::write_item;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, NextPage, PageInput, PagePlan};
use crate::resident::Residence;

/// Collections that one call looks into.
pub(super) const COLLECTIONS_MAX: usize = 100;
/// Collections that one call has brought into memory: each of them takes the place of others there.
const LOADS_MAX: usize = 10;

/// A page of metadata.
#[derive(JsonSchema)]
#[schemars(rename = "SearchTokensAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The tokens, by collection and token id. Collections larger than the memory there is are left out.
    token_metadata: Vec<FoundToken>,
    /// The page to ask for next; null when there is no more. A call looks into at most 100 collections,
    /// and brings at most 10 into memory: a page may have fewer tokens than asked for, or none, while there is a next one.
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

/// A place among the tokens of collections.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct TokenCursor {
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

/// A search that is about to begin.
pub(super) struct TokenSearch {
    tokens: TokenFilter,
    page: PagePlan<TokenCursor>,
    begin: TokenCursor,
}

impl TokenSearch {
    pub(super) fn new(call: &Call, text: Text<256>, page: Option<PageInput>) -> Result<Self, Failure> {
        let page = PagePlan::<TokenCursor>::with_default(page, PAGE_SIZE_DEFAULT, &call.app.settings.limits)?
            .in_order(&[])?;
        let begin = match &page.begin {
            Begin::Skip(skip) => TokenCursor { skip: *skip, ..TokenCursor::default() },
            Begin::After(place) => place.clone(),
        };
        let tokens = TokenFilter { text: text.into_string(), ..TokenFilter::default() };
        Ok(Self { tokens, page, begin })
    }

    /// Number of the last collection that is done with.
    pub(super) fn done(&self) -> u64 {
        self.begin.done
    }

    /// The page out of these collections: those that come next, and one more than a call looks into where there are more.
    pub(super) async fn answer(
        self,
        call: &Call,
        collections: Vec<(CollectionId, CollectionKey)>,
    ) -> Result<Vec<u8>, Failure> {
        let Self { tokens, page, begin } = self;
        let mut search = Search { tokens, found: Vec::new(), room: page.limit(), skip: begin.skip };
        let (mut next, mut patience, mut loads) = (None, call.patience(), LOADS_MAX);
        for (index, (id, key)) in collections.into_iter().enumerate() {
            let done = id.number() - 1;
            let row = begin.row.clone().filter(|_| done == begin.done);
            let resident = &call.app.resident;
            if index == COLLECTIONS_MAX || (loads == 0 && !resident.has(&key)) {
                next = Some(TokenCursor { done, row, skip: search.skip });
                break;
            }
            loads -= usize::from(!resident.has(&key));
            let Residence::Resident(slot) = resident.find_within(key, &mut patience).await? else {
                continue;
            };
            if let Some(more) = search.look_into(key, &slot.read(), row) {
                next = Some(TokenCursor { done, row: more.row, skip: 0 });
                break;
            }
        }
        let mut answer = [br#"{"tokenMetadata":["#, search.found.as_slice(), b"]"].concat();
        page.write_next(&mut answer, next)?;
        answer.push(b'}');
        Ok(answer)
    }
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
