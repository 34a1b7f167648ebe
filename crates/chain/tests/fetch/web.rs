//! A small web that only this machine can reach: servers that do what they are told, and names for them.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bourse_chain::fetch::Lookup;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server does with a request.
pub(crate) enum Reply {
    /// Sends this and closes.
    Bytes(Vec<u8>),
    /// Sends this, and then more of the same for as long as somebody listens.
    Endless(Vec<u8>),
    /// Sends this, and then a byte every now and then.
    Drip(Vec<u8>),
    /// Says nothing.
    Silence,
}

/// An answer with headers and a body.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let headers = headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect::<String>();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
    Reply::Bytes([head.as_bytes(), body].concat())
}

pub(crate) fn ok(body: &str) -> Reply {
    answer("200 OK", &[("Content-Type", "text/plain")], body.as_bytes())
}

pub(crate) fn redirect(to: &str) -> Reply {
    answer("302 Found", &[("Location", to)], b"")
}

/// A server. It stops when this is dropped.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts one. The handler gets the path and how many requests there were before.
    pub(crate) async fn start(handler: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let (handler, counter) = (Arc::new(handler), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (handler, counter) = (Arc::clone(&handler), Arc::clone(&counter));
                connections.spawn(async move {
                    drop(serve(stream, handler.as_ref(), &counter).await);
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Self { port, asked, task }
    }

    /// How many requests there were.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn serve(
    mut stream: TcpStream,
    handler: &(impl Fn(&str, usize) -> Reply + Send + Sync),
    counter: &AtomicUsize,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let reply = handler(path, counter.fetch_add(1, Ordering::SeqCst));
    match reply {
        Reply::Bytes(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await
        }
        Reply::Endless(head) => {
            stream.write_all(&head).await?;
            loop {
                stream.write_all(&[b' '; 16 * 1024]).await?;
            }
        }
        Reply::Drip(head) => {
            stream.write_all(&head).await?;
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                stream.write_all(b" ").await?;
            }
        }
        Reply::Silence => std::future::pending().await,
    }
}

/// Says that every name is this machine, and counts.
#[derive(Default)]
pub(crate) struct EveryNameIsHere(pub(crate) AtomicUsize);

impl Lookup for EveryNameIsHere {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
    }
}
