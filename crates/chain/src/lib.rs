//! The follower: what nodes say of blocks and logs becomes facts; and what contracts and their links say of tokens
//! becomes metadata.

pub mod fetch;
mod tls;
