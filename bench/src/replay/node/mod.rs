//! A node that replays the recorded chain over JSON-RPC, as a process of its own.

mod call;
mod filter;
mod record;
mod rpc;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use super::chain::Chain;
use crate::bare::exit_with_parent;
use crate::error::{Context, Error};
use crate::options::NodeArguments;
use record::Record;

/// Answers every POST on any path, until the process that started it ends.
pub(crate) async fn serve(arguments: &NodeArguments) -> Result<(), Error> {
    let record = Arc::new(Record::new(Chain::new(arguments.logs)));
    exit_with_parent();
    let answer = move |request: Bytes| {
        let body = rpc::answer(&record, &request);
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    };
    let router = Router::new().route("/health", get(|| async { "ok" })).fallback(post(answer));
    let bound = TcpListener::bind(arguments.listen).await;
    let listener = bound.context(|| format!("listening on {}", arguments.listen))?;
    // A socket that refuses the option is about to fail anyway, and its client reports that.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await.context(|| "replaying".to_owned())
}
