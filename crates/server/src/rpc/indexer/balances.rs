//! Answers with a page of balances.

use bourse_store::CollectionKey;
use bourse_wire::{ChainId, TokenId, TokenMetadata};
use hashbrown::HashMap;

use super::contract::shown;
use super::rows::separate;
use super::types::{AskedBalances, Wanted, check_sort};
use super::walk::{self, Effort, Found, Place};
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageInput, PagePlan};
use crate::rpc::begin_answer;

/// Answers a request with a page of balances.
pub(super) async fn answer<Q: AskedBalances>(
    call: &Call,
    chain: ChainId,
    request: Q,
) -> Result<Vec<u8>, Failure> {
    let page = page_of(call, request.page())?;
    let wanted = request.wanted(call)?;
    let mut answer = begin_answer(b"{");
    write_page(call, chain, &wanted, &page, &mut answer).await?;
    answer.push(b'}');
    Ok(answer)
}

/// The page that a request asks for.
pub(super) fn page_of(call: &Call, page: Option<PageInput>) -> Result<PagePlan<Place>, Failure> {
    let page = PagePlan::new(page, &call.app.settings.limits)?;
    check_sort(&page)?;
    Ok(page)
}

/// Appends `"balances":[…],"page":{…}`.
pub(super) async fn write_page(
    call: &Call,
    chain: ChainId,
    wanted: &Wanted,
    page: &PagePlan<Place>,
    answer: &mut Vec<u8>,
) -> Result<(), Failure> {
    answer.extend_from_slice(b"\"balances\":");
    let part = (&mut *answer, &mut Effort::of(call));
    let next = write_rows(call, chain, wanted, (&page.begin, page.limit()), part).await?;
    Ok(page.write(answer, next)?)
}

/// Appends the rows of a page, from where it begins and so many at most, as a JSON array; where the next one begins when there is one.
pub(super) async fn write_rows(
    call: &Call,
    chain: ChainId,
    wanted: &Wanted,
    page: (&Begin<Place>, usize),
    (answer, effort): (&mut Vec<u8>, &mut Effort),
) -> Result<Option<Place>, Failure> {
    let mut found = walk::find(call, chain, wanted, page, effort).await?;
    if wanted.with_metadata {
        add_metadata(call, &mut found).await?;
    }
    answer.push(b'[');
    let first = answer.len();
    for row in &found.rows {
        separate(answer, first);
        row.write(answer, &found.contracts[row.contract], wanted.with_metadata);
    }
    answer.push(b']');
    Ok(found.next)
}

/// Adds what is known of tokens to the rows that do not have it yet.
async fn add_metadata(call: &Call, found: &mut Found) -> Result<(), Failure> {
    let mut wanted: HashMap<usize, Vec<TokenId>> = HashMap::new();
    for row in found.rows.iter().filter(|row| row.metadata.is_none()) {
        wanted.entry(row.contract).or_default().extend(row.token);
    }
    for (contract, tokens) in wanted {
        let key = found.contracts[contract].key;
        let texts = metadata_of(call, key, tokens).await?;
        for row in found.rows.iter_mut().filter(|row| row.contract == contract && row.metadata.is_none()) {
            row.metadata = row.token.and_then(|token| texts.get(&token).cloned());
        }
    }
    Ok(())
}

/// What is known of tokens, as JSON text: from memory where their collection is there already, and from the store otherwise, as
/// nobody who looks at an account may fill the memory with all that it ever held.
pub(super) async fn metadata_of(
    call: &Call,
    key: CollectionKey,
    tokens: Vec<TokenId>,
) -> Result<HashMap<TokenId, Vec<u8>>, Failure> {
    let mut texts: HashMap<TokenId, Vec<u8>> = HashMap::with_capacity(tokens.len());
    if let Some(slot) = call.app.resident.resident(key) {
        let collection = slot.read();
        texts.extend(tokens.iter().filter_map(|token| {
            let mut text = Vec::new();
            collection.write_token(&mut text, *token).then_some((*token, text))
        }));
    } else if let Some(id) = call.app.store.collection(key).await?.filter(|_| !tokens.is_empty()) {
        let stored = call.app.store.tokens(id, tokens.clone()).await?;
        texts.extend(stored.into_iter().map(|token| (token.token_id, shown(token.metadata.as_bytes()))));
        for token in tokens {
            if !texts.contains_key(&token) {
                texts.insert(token, shown(TokenMetadata::not_available(token).to_json()?.as_bytes()));
            }
        }
    }
    Ok(texts)
}
