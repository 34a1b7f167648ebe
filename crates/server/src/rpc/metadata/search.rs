//! Tokens of a collection by text and properties.

use bourse_catalog::{Collection, Column, Rows, TokenFilter, TokensQuery};
use bourse_wire::{Address, ChainRef, Error, Text, TokenId, TokenMetadata};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{BY_TOKEN_ID, PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::marketplace::answer_page;
use crate::rpc::marketplace::filter::{PropertyInput, properties, search_text};

/// Tokens in a page when the client does not ask for a number.
pub(super) const PAGE_SIZE_DEFAULT: u64 = 10;

/// Which tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SearchTokenMetadataRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    #[serde(rename = "chainID")]
    chain_id: Option<ChainRef>,
    /// Contract address.
    contract_address: Address,
    /// Which of its tokens.
    filter: Option<SearchFilter>,
    /// Which page.
    page: Option<PageInput>,
}
request!(exact Request);

/// Which tokens. What is empty or absent restricts nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct SearchFilter {
    /// Words, all of which are in the name, in any order and letter case; or the token id.
    text: Text<256>,
    /// Whether words may be in the description as well. A call then looks at at most 4,096 tokens: a page may have fewer than asked
    /// for, or none, while there is more, and `after` goes on where it ended.
    #[serde(rename = "inDescriptions")]
    in_descriptions: bool,
    /// Properties, all of which must hold.
    properties: Vec<PropertyInput>,
}

/// Tokens of which one call reads the description.
const DESCRIPTIONS_MAX: usize = 4_096;

impl SearchFilter {
    pub(crate) fn read(self) -> Result<TokenFilter, Error> {
        let properties = properties("filter.properties", self.properties)?;
        Ok(TokenFilter { text: search_text("filter.text", self.text)?, properties, ..TokenFilter::default() })
    }
}

/// A page of metadata.
#[derive(JsonSchema)]
#[schemars(rename = "SearchTokenMetadataAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct MetadataAnswer {
    /// The page.
    page: PageAnswer<'static>,
    /// Metadata, in the order of the token ids.
    token_metadata: Vec<TokenMetadata>,
}

/// A page of token ids.
#[derive(JsonSchema)]
#[schemars(rename = "SearchTokenIDsAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct IdsAnswer {
    /// The page.
    page: PageAnswer<'static>,
    /// The ids, ascending.
    token_ids: Vec<TokenId>,
}

/// A page of token ids, as the member is spelled by who calls them `tokenIDs`.
#[derive(JsonSchema)]
#[schemars(rename = "SearchTokenMetadataTokenIDsAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct TokenIdsAnswer {
    /// The page.
    page: PageAnswer<'static>,
    /// The ids, ascending.
    #[schemars(rename = "tokenIDs")]
    token_ids: Vec<TokenId>,
}

pub(crate) async fn metadata(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    search(call, request, br#"{"tokenMetadata":"#, |collection, answer, rows| {
        collection.write_metadata(answer, rows);
        Ok(())
    })
    .await
}

pub(crate) async fn ids(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    search(call, request, br#"{"tokenIds":"#, write_ids).await
}

pub(crate) async fn token_ids(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    search(call, request, br#"{"tokenIDs":"#, write_ids).await
}

fn write_ids(collection: &Collection, answer: &mut Vec<u8>, rows: &Rows) -> Result<(), Failure> {
    let ids: Vec<TokenId> = collection.ids(rows).collect();
    Ok(serde_json::to_writer(answer, &ids)?)
}

type Write = fn(&Collection, &mut Vec<u8>, &Rows) -> Result<(), Failure>;

async fn search(call: Call, request: Request, head: &[u8], write: Write) -> Result<Vec<u8>, Failure> {
    let key = call.collection(request.chain_id.as_ref(), request.contract_address)?;
    let filter = request.filter.unwrap_or_default();
    let in_descriptions = filter.in_descriptions;
    let tokens = filter.read()?;
    let page = PagePlan::with_default(request.page, PAGE_SIZE_DEFAULT, &call.app.settings.limits)?;
    let page = page.in_order(&BY_TOKEN_ID)?;
    answer_page(&call, key, head, &page, async |slot, answer| {
        let collection = slot.read();
        let (start, limit) = (page.start(Column::TokenId)?, page.limit());
        let query = TokensQuery { tokens: &tokens, start, limit };
        let rows = if in_descriptions && !tokens.text.trim().is_empty() {
            described(&collection, &query)?
        } else {
            collection.search(&query)
        };
        write(&collection, answer, &rows)?;
        Ok(rows.next)
    })
    .await
}

/// The rows whose names or descriptions have the text.
fn described(collection: &Collection, query: &TokensQuery<'_>) -> Result<Rows, Error> {
    let (rows, left) = collection.search_descriptions(query, DESCRIPTIONS_MAX);
    if left > 0 && rows.next.is_some() {
        let reason = "is too far for a search in descriptions: ask for the page before, and then with the `after` of its answer";
        return Err(Error::invalid("page.page", reason));
    }
    Ok(rows)
}
