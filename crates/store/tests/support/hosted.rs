//! Tokens of hosted collections.

use bourse_store::NewHostedToken;
use bourse_wire::{TokenId, TokenInput};

pub(crate) fn new_token(token_id: TokenId, input: TokenInput, private: bool) -> NewHostedToken {
    NewHostedToken { token_id, input, private }
}
