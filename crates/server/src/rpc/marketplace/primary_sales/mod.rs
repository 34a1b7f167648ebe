//! What primary sales sell: found in what their contract says, with the tokens that are known of the collection.

mod filter;
mod record;

use std::sync::Arc;

use bourse_catalog::{Collection, Start, TokenFilter, TokensQuery};
use bourse_protocols::primary_sale::{SaleItem, SaleTerms};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainId, ChainRef, Currency, TokenId};

pub(super) use filter::{ItemsWanted, PrimarySaleItemsFilter};
pub(super) use record::{CollectiblePrimarySaleItem, ItemWriter};

use super::searchable;
use crate::call::Call;
use crate::failure::Failure;
use crate::resident::Slot;
use crate::sales::Sale;

/// Tokens of a collection that are looked at together.
const ROWS_AT_ONCE: usize = 256;

/// A sale, with what is known of its collection.
pub(super) struct OpenSale {
    pub(super) sale: Arc<Sale>,
    pub(super) chain: ChainId,
    pub(super) slot: Option<Arc<Slot>>,
    pub(super) currencies: Arc<[Currency]>,
}

/// A token that is for sale.
#[derive(Clone, Copy)]
pub(super) struct Offered<'s> {
    pub(super) token: TokenId,
    pub(super) terms: SaleTerms,
    /// What it has itself; nothing where the terms are those of the range.
    pub(super) own: Option<&'s SaleItem>,
}

impl OpenSale {
    pub(super) async fn open(
        call: &Call,
        chain: Option<&ChainRef>,
        contract: Address,
    ) -> Result<Self, Failure> {
        let chain = call.chain(chain)?;
        let app = &call.app;
        let sale = app.sales.find(app.chains.as_ref(), chain, contract).await?;
        let slot = searchable(call, CollectionKey { chain, address: sale.head.collection }).await?;
        Ok(Self { sale, chain, slot, currencies: app.resident.currencies(chain) })
    }
}

impl Sale {
    /// On which terms a token is sold; nothing where it is not for sale at all.
    pub(super) fn offered(&self, token: TokenId) -> Option<Offered<'_>> {
        let own = self
            .items
            .binary_search_by_key(&token, |item| item.token_id)
            .ok()
            .map(|index| &self.items[index]);
        if let Some((own, terms)) = own.and_then(|own| Some((own, own.terms?))) {
            return Some(Offered { token, terms, own: Some(own) });
        }
        let range = self.head.range.filter(|range| (range.min..=range.max).contains(&token))?;
        Some(Offered { token, terms: range.terms, own: None })
    }

    /// The tokens that are wanted among those that have terms of their own, in their order, from one on.
    fn own_tokens(
        &self,
        wanted: &ItemsWanted,
        from: TokenId,
        collection: Option<&Collection>,
    ) -> Vec<TokenId> {
        let begin = self.items.partition_point(|item| item.token_id < from);
        let items = self.items[begin..].iter();
        let has_terms = |item: &&SaleItem| item.terms.is_some_and(|terms| wanted.allows_own(&terms));
        let tokens: Vec<TokenId> = items.filter(has_terms).map(|item| item.token_id).collect();
        // A filter that asks for nothing lets through what is not known, too.
        if wanted.tokens == TokenFilter::default() {
            return tokens;
        }
        collection.map_or_else(Vec::new, |collection| collection.picked(&wanted.tokens, &tokens))
    }

    fn has_own_terms(&self, token: TokenId) -> bool {
        self.offered(token).is_some_and(|offered| offered.own.is_some())
    }

    /// The tokens that are wanted, in their order, from one on; at most so many.
    pub(super) fn tokens(
        &self,
        wanted: &ItemsWanted,
        from: TokenId,
        limit: usize,
        collection: Option<&Collection>,
    ) -> Vec<TokenId> {
        let mut tokens = self.own_tokens(wanted, from, collection);
        tokens.truncate(limit);
        if let Some(collection) = collection {
            tokens.extend(self.range_tokens(wanted, from, limit, collection));
            tokens.sort_unstable();
            tokens.truncate(limit);
        }
        tokens
    }

    /// Which tokens of the range are wanted. There is one of each where the collection is of single tokens, and one that somebody
    /// holds is not to be had any more.
    fn of_range(&self, wanted: &ItemsWanted) -> TokenFilter {
        TokenFilter { held_by_nobody: !self.head.is_erc1155, ..wanted.tokens.clone() }
    }

    /// Those that are sold on the terms of the range: tokens that are known of the collection.
    fn range_tokens(
        &self,
        wanted: &ItemsWanted,
        from: TokenId,
        limit: usize,
        collection: &Collection,
    ) -> Vec<TokenId> {
        let mut found = Vec::new();
        let Some(range) = self.head.range.filter(|range| wanted.allows_range(&range.terms)) else {
            return found;
        };
        let tokens = self.of_range(wanted);
        let mut start = Start::at_token(range.min.max(from));
        loop {
            let rows = collection.search(&TokensQuery { tokens: &tokens, start, limit: ROWS_AT_ONCE });
            let is_sold = |token: &TokenId| *token <= range.max && !self.has_own_terms(*token);
            found.extend(collection.ids(&rows).filter(is_sold));
            match rows.next {
                Some(next) if next.token < range.max && found.len() < limit => start = Start::After(next),
                _ => break,
            }
        }
        found.truncate(limit);
        found
    }

    /// How many tokens are wanted.
    pub(super) fn count(&self, wanted: &ItemsWanted, collection: Option<&Collection>) -> usize {
        let own = self.own_tokens(wanted, TokenId::from(0), collection).len();
        let range = self.head.range.filter(|range| wanted.allows_range(&range.terms));
        let (Some(range), Some(collection)) = (range, collection) else { return own };
        let tokens = self.of_range(wanted);
        let all = collection.count_between(&tokens, range.min, range.max);
        let is_inside =
            |item: &&SaleItem| item.terms.is_some() && (range.min..=range.max).contains(&item.token_id);
        let others: Vec<TokenId> = self.items.iter().filter(is_inside).map(|item| item.token_id).collect();
        own + all - collection.picked(&tokens, &others).len()
    }
}
