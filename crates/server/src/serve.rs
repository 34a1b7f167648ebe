//! Connections: taken in until told to stop, each served by a task of its own.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::http::Extensions;
use futures_util::future::BoxFuture;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use crate::http::Entrance;

/// How long requests under way may take to finish once the service is told to stop.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait before connections are taken in again after that failed, as it does without free descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The address that a request comes from; an extension of it.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// The address among the extensions of a request; none where nobody served it over a connection.
    pub fn of(extensions: &Extensions) -> Option<IpAddr> {
        extensions.get::<Self>().map(|peer| peer.0)
    }
}

/// Answers requests until `stop` is over, and finishes those under way. The future is boxed because the bodies of async
/// functions are compiled by whoever awaits them: this is where requests spend their time, and it is to be compiled as
/// this crate is.
pub fn serve(
    listener: TcpListener,
    entrance: Entrance,
    stop: BoxFuture<'static, ()>,
) -> BoxFuture<'static, ()> {
    Box::pin(take_in(listener, entrance, stop))
}

async fn take_in(listener: TcpListener, entrance: Entrance, stop: BoxFuture<'static, ()>) {
    let (stopping, stopped) = watch::channel(false);
    // Each connection holds one of these; the channel is closed with the last of them.
    let (open, mut closed) = mpsc::channel::<()>(1);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = serve_connection(stream, peer, entrance.clone(), stopped.clone());
                let open = open.clone();
                tokio::spawn(async move {
                    connection.await;
                    drop(open);
                });
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "taking in connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    tracing::info!("stopping: finishing requests under way");
    drop((listener, open));
    stopping.send_replace(true);
    if tokio::time::timeout(DRAIN_TIMEOUT, closed.recv()).await.is_err() {
        tracing::warn!("requests were still under way after {} s", DRAIN_TIMEOUT.as_secs());
    }
}

/// Whether only the connection failed that was to be taken in.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    entrance: Entrance,
    mut stopped: watch::Receiver<bool>,
) {
    // Small answers must not wait for the acknowledgement of earlier ones.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "setting TCP_NODELAY");
    }
    let service = service_fn(move |request| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer.ip()));
        entrance.answer(request)
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let stopping = async {
        // An error means that the sender is gone, which is a stop as well.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let served = tokio::select! {
        served = &mut connection => served,
        () = stopping => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::trace!(%error, %peer, "a connection ended");
    }
}
