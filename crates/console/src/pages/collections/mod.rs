//! Collections of contracts: a project's own, and every other that the service knows.

mod attributes;
mod browse;
mod contract;
mod history;
mod images;
mod list;
mod records;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use bourse_store::CollectionKey;
use bourse_wire::{Address, TokenId};
use serde_json::{Value, json};

use crate::Console;
use crate::access::Member;
use crate::refusal::Refusal;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/collections", get(list::show))
        .route("/collections/open", get(list::open))
        .route("/collections/follow", post(list::follow))
        .route("/collections/{chain}/{address}", get(browse::show))
        .route("/collections/{chain}/{address}/history", get(history::show))
        .route("/collections/{chain}/{address}/logo", get(images::logo))
        .route("/collections/{chain}/{address}/refresh", post(contract::refresh))
        .route("/collections/{chain}/{address}/unfollow", post(contract::unfollow))
        .route("/collections/{chain}/{address}/{token}", get(token::show))
        .route("/collections/{chain}/{address}/{token}/image", get(images::token))
        .route("/collections/{chain}/{address}/{token}/json", get(token::json))
        .route("/collections/{chain}/{address}/{token}/refresh", post(token::refresh))
}

/// A contract on a chain, and where its pages are.
struct CollectionRef {
    key: CollectionKey,
    /// The network's name, or the chain's number where it has none.
    network: String,
    /// The path of its first page.
    path: String,
}

impl CollectionRef {
    fn new(member: &Member, key: CollectionKey) -> Self {
        let network = member.console().settings().networks.label(key.chain.0);
        let path = member.path(&format!("/collections/{network}/{}", key.address));
        Self { key, network, path }
    }

    /// The contract that the path names.
    fn of(member: &Member) -> Result<Self, Refusal> {
        let chain = member.console().chain(member.name("chain"));
        let chain = chain.map_err(|_| Refusal::missing("network"))?;
        let address: Address = member.part("address")?;
        Ok(Self::new(member, CollectionKey { chain, address }))
    }

    /// The path of a token's page, or of what belongs to it.
    fn token(&self, token: TokenId, rest: &str) -> String {
        format!("{}/{token}{rest}", self.path)
    }

    /// The body of a question about it, with some more members.
    fn body(&self, more: Value) -> Value {
        let mut body = json!({ "chainId": self.key.chain.to_string(), "contractAddress": self.key.address });
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
        body
    }
}
