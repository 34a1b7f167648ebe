//! Tokens that blocks make, and that others tell of.

use bourse_wire::TokenId;

use super::state::is_followed;
use crate::StoreError;
use crate::args::args;
use crate::collections::CollectionId;
use crate::hosted::forget_replaced;
use crate::metadata_queue::{dequeue, item_id};
use crate::session::{Session, list};

/// Tokens that one statement names.
const TOKENS_PER_WRITE: usize = 500;

/// Keeps that others than the chain told of tokens, so that these stay when the blocks that made them are undone. Whoever
/// calls this holds the collection.
pub(crate) async fn keep_said(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: Vec<TokenId>,
) -> Result<(), StoreError> {
    // Nothing else is undone.
    if tokens.is_empty() || !is_followed(session, id).await? {
        return Ok(());
    }
    for tokens in tokens.chunks(TOKENS_PER_WRITE) {
        let sql = format!(
            "UPDATE tokens SET said = $2 WHERE collection_id = $1 AND said <> $2 AND token_id IN ({})",
            list(tokens.len(), 2)
        );
        let args = args![id.0, true].into_iter().chain(tokens.iter().flat_map(|token| args![*token]));
        session.execute(sql, args.collect()).await?;
    }
    Ok(())
}

/// Deletes a token that only blocks tell of which no longer count, and tells whether it did. Nobody fetches anything of it
/// any more.
pub(super) async fn unmake(
    session: &mut Session<'_>,
    id: CollectionId,
    token: TokenId,
) -> Result<bool, StoreError> {
    let sql = "DELETE FROM tokens WHERE collection_id = $1 AND token_id = $2 AND said = $3";
    let is_gone = session.execute(sql, args![id.0, token, false]).await? > 0;
    dequeue(session, id, &[Some(token)]).await?;
    if is_gone {
        forget_replaced(session, id, &[item_id(Some(token))]).await?;
    }
    Ok(is_gone)
}
