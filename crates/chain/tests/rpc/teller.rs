//! A node that tells of new blocks over a WebSocket, each in its own manner.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio_websockets::{Message, ServerBuilder, WebSocketStream};

use crate::server::block;

/// What a node does on each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It tells of blocks as they come.
    Tells,
    /// It answers as a web server that knows no sockets.
    Pages,
    /// It accepts for another key than it was asked with.
    Mistakes,
    /// It answers nothing at all.
    Mute,
    /// It does not know subscriptions.
    Refuses,
    /// It is of another chain.
    Elsewhere,
    /// It is subscribed to, and says what is no JSON.
    Babbles,
    /// It is subscribed to, and tells of something else than blocks.
    Digresses,
    /// It is subscribed to, and begins something that is larger than memory.
    Boasts,
    /// It is subscribed to, and never ends what it begins.
    Drones,
    /// It tells of thousands of blocks.
    Floods,
    /// It pings without end.
    Pesters,
    /// It is subscribed to, and reads nothing any more.
    Deaf,
    /// It is subscribed to, and hangs up at once.
    HangsUp,
}

/// The node; it is gone when this is.
pub(crate) struct Teller {
    pub(crate) address: SocketAddr,
    /// The height of the newest block.
    pub(crate) head: watch::Sender<u64>,
    /// Ends all connections.
    pub(crate) end: Arc<Notify>,
    /// How many connections there were.
    pub(crate) connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Teller {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let head = watch::Sender::new(100);
        let (end, connections) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let (blocks, ended, count) = (head.clone(), Arc::clone(&end), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            let mut served = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                let (blocks, ended) = (blocks.subscribe(), Arc::clone(&ended));
                served.spawn(async move {
                    tokio::select! {
                        () = ended.notified() => {}
                        _ = serve(stream, manner, blocks) => {}
                    }
                });
            }
        });
        Self { address, head, end, connections, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/v3/SECRET", self.address)
    }
}

type Ended = Result<(), Box<dyn std::error::Error + Send + Sync>>;

async fn serve(mut stream: TcpStream, manner: Manner, blocks: watch::Receiver<u64>) -> Ended {
    match manner {
        Manner::Pages => {
            read_request(&mut stream).await?;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await?;
            return std::future::pending().await;
        }
        Manner::Mistakes => {
            read_request(&mut stream).await?;
            let accept = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
            stream.write_all(accept.as_bytes()).await?;
            return std::future::pending().await;
        }
        Manner::Mute => return std::future::pending().await,
        _ => {}
    }
    let (_, mut socket) = ServerBuilder::new().accept(stream).await?;
    let chain = if manner == Manner::Elsewhere { "0x2" } else { "0x1" };
    answer(&mut socket, "eth_chainId", json!({ "result": chain })).await?;
    let refusal = json!({ "error": { "code": -32601, "message": "notifications not supported" } });
    let answered = if manner == Manner::Refuses { refusal } else { json!({ "result": "0xcd" }) };
    answer(&mut socket, "eth_subscribe", answered).await?;
    talk(socket, manner, blocks).await
}

/// Reads what a connection is asked for with.
async fn read_request(stream: &mut TcpStream) -> Ended {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    Ok(())
}

/// Answers the next request, which must be this one.
async fn answer(socket: &mut WebSocketStream<TcpStream>, method: &str, mut answer: Value) -> Ended {
    let message = socket.next().await.ok_or("gone")??;
    let request: Value = serde_json::from_str(message.as_text().unwrap()).unwrap();
    assert_eq!(request["method"], method);
    answer["id"] = request["id"].clone();
    answer["jsonrpc"] = json!("2.0");
    Ok(socket.send(Message::text(answer.to_string())).await?)
}

async fn talk(
    mut socket: WebSocketStream<TcpStream>,
    manner: Manner,
    mut blocks: watch::Receiver<u64>,
) -> Ended {
    match manner {
        Manner::Babbles => socket.send(Message::text("<html>busy</html>")).await?,
        Manner::Digresses => socket.send(Message::text(told(&json!({ "gasPrice": "0x1" })))).await?,
        Manner::HangsUp => return Ok(socket.close().await?),
        Manner::Deaf => return std::future::pending().await,
        Manner::Boasts => {
            // A text frame of 2^40 bytes.
            let head = [0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0];
            socket.get_mut().write_all(&head).await?;
        }
        Manner::Drones => {
            // A message in pieces of a thousand bytes, of which none is the last.
            let piece = [[1, 126, 3, 232].as_slice(), &[b' '; 1000]].concat();
            socket.get_mut().write_all(&piece).await?;
            let piece = [[0, 126, 3, 232].as_slice(), &[b' '; 1000]].concat();
            loop {
                socket.get_mut().write_all(&piece).await?;
            }
        }
        Manner::Pesters => loop {
            socket.send(Message::ping("x")).await?;
        },
        Manner::Floods => {
            for number in 0.. {
                socket.send(Message::text(told(&block(number)))).await?;
            }
        }
        _ => {}
    }
    loop {
        tokio::select! {
            said = socket.next() => drop(said.ok_or("gone")??),
            changed = blocks.changed() => {
                changed?;
                let number = *blocks.borrow_and_update();
                socket.send(Message::text(told(&block(number)))).await?;
            }
        }
    }
}

fn told(result: &Value) -> String {
    let params = json!({ "subscription": "0xcd", "result": result });
    json!({ "jsonrpc": "2.0", "method": "eth_subscription", "params": params }).to_string()
}

/// Waits for something that happens; the bound ends a test that would wait forever.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_mins(2), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
