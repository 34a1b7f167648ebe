//! `/self-check`: which collections are in memory, whether one of them says what the store says, and which servers share them. For
//! the operator's own commands: whoever has the signing secret may ask, and nobody else.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use bourse_peers::{PeerState, Server, Trouble};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainId, Code, Error};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::RequestCredentials;
use crate::dispatch::{error_response, response};
use crate::failure::Failure;
use crate::resident::Verdict;

/// The addresses of this module.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/self-check", get(list))
        .route("/self-check/peers", get(peers))
        .route("/self-check/{chain}/{contract}", post(check))
}

async fn peers(State(app): State<Arc<App>>, request: HeaderMap) -> Response {
    let record = |PeerState { server: Server { id, address }, version, seen, trouble }: PeerState| {
        let (trouble, is_lasting) = (trouble.map(Trouble::advice), trouble.is_some_and(Trouble::is_lasting));
        let (id, seen) = (id.to_string(), seen.as_secs());
        json!({ "id": id, "address": &*address, "version": version, "seenSecondsAgo": seen, "trouble": trouble, "lasts": is_lasting })
    };
    let told = permit(&app, &request).map(|()| {
        let peers = app.peers.iter().flat_map(|peers| peers.states()).map(record).collect::<Vec<_>>();
        let address = app.peers.as_ref().map(|peers| &*peers.me().address);
        json!({ "address": address, "collections": app.resident.keys().len(), "peers": peers })
    });
    answer(&app, told.map_err(Failure::from))
}

async fn list(State(app): State<Arc<App>>, request: HeaderMap) -> Response {
    let listed = permit(&app, &request).map(|()| {
        let record = |key: CollectionKey| json!({ "chainId": key.chain, "contractAddress": key.address });
        let keys: Vec<Value> = app.resident.keys().into_iter().map(record).collect();
        json!({ "collections": keys })
    });
    answer(&app, listed.map_err(Failure::from))
}

async fn check(
    State(app): State<Arc<App>>,
    Path((chain, contract)): Path<(u64, String)>,
    request: HeaderMap,
) -> Response {
    let key = permit(&app, &request).and_then(|()| {
        let address: Address = contract.parse().map_err(|error| {
            Error::new(Code::InvalidArgument, format!("the contract of the path: {error}"))
        })?;
        Ok(CollectionKey { chain: ChainId(chain), address })
    });
    let checked = match key {
        Ok(key) => app.resident.check(key).await.map_err(Failure::from),
        Err(error) => Err(error.into()),
    };
    answer(&app, checked.map(|verdict| record(&verdict)))
}

fn record(verdict: &Verdict) -> Value {
    let parts = if let Verdict::Different(parts) = verdict { parts.as_slice() } else { &[] };
    json!({ "outcome": verdict.word(), "differences": parts })
}

/// Lets in whoever proves to have the signing secret.
fn permit(app: &App, request: &HeaderMap) -> Result<(), Error> {
    let token = RequestCredentials::read(request)?.token().ok_or_else(|| {
        let message = "a token is needed that the signing secret signed: ask with `bourse doctor --deep`";
        Error::new(Code::Unauthorized, message)
    })?;
    app.signer.verify_operator(token, app.now())
}

fn answer(app: &App, result: Result<Value, Failure>) -> Response {
    match result {
        Ok(body) => response(app, StatusCode::OK, HeaderMap::new(), body.to_string().into()),
        Err(failure) => error_response(app, failure, HeaderMap::new()),
    }
}
