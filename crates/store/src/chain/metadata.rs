//! Metadata that blocks make due: of tokens that were made, and of those whose contract says that it changed.

use std::collections::BTreeSet;

use bourse_market::facts::{Fact, StatedFact};
use bourse_wire::TokenId;

use super::BlockFacts;
use crate::StoreError;
use crate::args::args;
use crate::collections::{CollectionId, known_tokens};
use crate::metadata_queue::{ask_anew, enqueue};
use crate::session::Session;

/// Puts the tokens that were made into the queue, once these blocks are written. Nothing is said anywhere of money as a token.
pub(super) async fn queue_made(
    session: &mut Session<'_>,
    id: CollectionId,
    made: &[TokenId],
    blocks: &[BlockFacts],
) -> Result<(), StoreError> {
    let Some(at) = blocks.last().map(|last| last.block.at) else { return Ok(()) };
    let mut facts = blocks.iter().flat_map(|block| &block.facts);
    let is_money = facts.any(|stated| matches!(stated.fact, Fact::Paid { .. }));
    let told_of = made.iter().filter(|token| !is_money || **token != Fact::MONEY);
    let items: Vec<_> = told_of.map(|token| Some(*token)).collect();
    enqueue(session, id, &items, at).await
}

/// Puts the tokens into the queue whose metadata changed, as far as there are such tokens.
pub(super) async fn queue_changed(
    session: &mut Session<'_>,
    id: CollectionId,
    blocks: &[BlockFacts],
) -> Result<(), StoreError> {
    let Some(at) = blocks.last().map(|last| last.block.at) else { return Ok(()) };
    let ranges: Vec<(TokenId, TokenId)> =
        blocks.iter().flat_map(|block| &block.facts).filter_map(changed_range).collect();
    if ranges.is_empty() {
        return Ok(());
    }
    let items: Vec<_> = tokens_in(session, id, &ranges).await?.into_iter().map(Some).collect();
    ask_anew(session, id, &items, at).await
}

fn changed_range(stated: &StatedFact) -> Option<(TokenId, TokenId)> {
    match stated.fact {
        Fact::MetadataChanged { first, last } => Some((first, last)),
        _ => None,
    }
}

/// The tokens of a collection that lie in any of these ranges. Ids are texts, which do not sort as numbers, so that all
/// are looked at unless each range is of one token.
async fn tokens_in(
    session: &mut Session<'_>,
    id: CollectionId,
    ranges: &[(TokenId, TokenId)],
) -> Result<BTreeSet<TokenId>, StoreError> {
    let tokens: Vec<TokenId> = if ranges.iter().all(|(first, last)| first == last) {
        let named: BTreeSet<TokenId> = ranges.iter().map(|(token, _)| *token).collect();
        known_tokens(session, id, named).await?
    } else {
        session.values("SELECT token_id FROM tokens WHERE collection_id = $1", args![id.0]).await?
    };
    let is_in = |token: &TokenId| ranges.iter().any(|(first, last)| (first..=last).contains(&token));
    Ok(tokens.into_iter().filter(is_in).collect())
}
