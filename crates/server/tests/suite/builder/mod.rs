//! Wallets that sign themselves up to audiences.

mod registration;

use serde_json::{Value, json};

use crate::support::START;
use crate::venues::wallet::Wallet;

/// What the wallet of a key signs for an audience, with what it says of itself, when the tests begin.
pub(crate) fn proof((key, project, audience): (u8, u64, u64), purpose: &str, said: &str) -> Value {
    proof_at(START, (key, project, audience), purpose, said)
}

/// The same at another time.
fn proof_at(time: &str, (key, project, audience): (u8, u64, u64), purpose: &str, said: &str) -> Value {
    let wallet = Wallet::of(key);
    let message = format!(
        "Audience registration\n\nService: bourse\nProject: {project}\nAudience: {audience}\nWallet: {}\n\
         Purpose: {purpose}\n{said}Time: {time}",
        wallet.address()
    );
    json!({ "address": wallet.address(), "signature": wallet.sign_text(&message), "message": message, "chainId": 137 })
}
