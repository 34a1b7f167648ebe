//! Credentials: public access keys and secret tokens.

mod access_key;
mod check;
mod credentials;
mod hs256;
mod secret_token;

pub use access_key::{AccessKey, KeyHash};
pub(crate) use check::{ACCESS_KEY, Authority, Caller, RequestCredentials, origin_allowed};
pub(crate) use credentials::Credentials;
pub(crate) use secret_token::SEAL_BYTES;
pub use secret_token::{IssuedToken, SECRET_FILE, TokenSigner};
