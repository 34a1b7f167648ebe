//! The server to compare with: axum, the same allocator and runtime, and no work but the same bytes.

use std::io::Read;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use crate::answers::Answers;
use crate::error::{Context, Error};
use crate::options::BareArguments;

/// Answers every POST on one path with the next of the bodies it was given, until the process that started it
/// ends.
pub(crate) async fn serve(arguments: &BareArguments) -> Result<(), Error> {
    let answers = Arc::new(Answers::read(&arguments.answers)?);
    exit_with_parent();
    // The request is taken whole, as an operation has to take it, but not looked at.
    let answer = move |_request: Bytes| {
        let body = answers.next();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    };
    let router = Router::new().route("/health", get(|| async { "ok" })).route(&arguments.path, post(answer));
    let bound = TcpListener::bind(arguments.listen).await;
    let listener = bound.context(|| format!("listening on {}", arguments.listen))?;
    // Small writes must not wait here: the comparison should flatter the bare server, if anyone. A socket
    // that refuses the option is about to fail anyway, and its client reports that.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await.context(|| "serving".to_owned())
}

/// Ends this process when its standard input closes, which the system does even if the parent is killed.
pub(crate) fn exit_with_parent() {
    std::thread::spawn(|| {
        let mut ignored = Vec::new();
        // An input that cannot be read has no parent at its other end either.
        drop(std::io::stdin().read_to_end(&mut ignored));
        std::process::exit(0);
    });
}
