//! What a primary sale sells.

use bourse_wire::{Address, ChainRef, Error, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::primary_sales::{CollectiblePrimarySaleItem, ItemWriter, OpenSale, PrimarySaleItemsFilter};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{BY_TOKEN_ID, Begin, PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;

/// Items that are left out by a page's number at most: beyond, `after` goes on where a page ended.
const SKIPPED_MAX: u64 = 10_000;

/// Which items.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListPrimarySaleItemsRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The contract that sells.
    primary_sale_contract_address: Address,
    /// Which of what it sells.
    filter: Option<PrimarySaleItemsFilter>,
    /// Which page; items come by token id.
    page: Option<PageInput>,
}
request!(Request);

/// A page of items.
#[derive(JsonSchema)]
#[schemars(rename = "ListPrimarySaleItemsAnswer", rename_all = "camelCase")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer<'a> {
    /// The items, by token id: tokens that have terms of their own, and tokens that are known of the collection within the
    /// range that has terms.
    primary_sale_items: Vec<CollectiblePrimarySaleItem>,
    /// The page.
    page: PageAnswer<'a>,
}

/// A place among items.
#[derive(Clone, Serialize, Deserialize)]
struct ItemCursor {
    /// The token that comes next.
    #[serde(rename = "t")]
    next: TokenId,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let page =
        PagePlan::<ItemCursor>::new(request.page, &call.app.settings.limits)?.in_order(&BY_TOKEN_ID)?;
    let (from, skip) = match &page.begin {
        Begin::After(place) => (place.next, 0),
        Begin::Skip(skip) if *skip <= SKIPPED_MAX => (TokenId::from(0), *skip),
        Begin::Skip(_) => {
            let reason = "is too far: ask for the page before, and then with the `after` of its answer";
            return Err(Error::invalid("page.page", reason).into());
        }
    };
    let wanted = request.filter.unwrap_or_default().read()?;
    let open =
        OpenSale::open(&call, request.chain_id.as_ref(), request.primary_sale_contract_address).await?;
    let collection = open.slot.as_ref().map(|slot| slot.read());
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    // One more than the page has, to tell where the next one begins.
    let tokens = open.sale.tokens(&wanted, from, skip + page.limit() + 1, collection.as_deref());
    let shown = tokens.get(skip..).unwrap_or_default();
    let next = shown.get(page.limit()).map(|next| ItemCursor { next: *next });
    let writer = ItemWriter::new(&open);
    let mut answer = begin_answer(br#"{"primarySaleItems":["#);
    let items = shown.iter().take(page.limit()).filter_map(|token| open.sale.offered(*token));
    for (index, item) in items.enumerate() {
        if index > 0 {
            answer.push(b',');
        }
        writer.write(&mut answer, &item, collection.as_deref())?;
    }
    answer.push(b']');
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}
