//! The front door, over real connections: what clients do that never come to the point, and what others notice of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bourse_server::serve;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::service;
use crate::support::{TestApp, wait_until};

const HALF: &str = "POST /rpc/Builder/Ping HTTP/1.1\r\nHost: x\r\n";
const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
/// How long something may take that must come to be.
const WAIT_MAX: Duration = Duration::from_mins(2);

/// A service that listens.
struct OpenDoor {
    app: TestApp,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl OpenDoor {
    async fn with(settings: &[(&'static str, &str)]) -> Self {
        let app = TestApp::with(settings).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = Box::pin(async { stopped.await.unwrap_or_default() });
        let served = tokio::spawn(serve(listener, service(Arc::clone(&app.app)), stopped));
        Self { app, address, stop, served }
    }

    async fn connect(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// What comes back for a request, to the end of the connection; empty where the connection was not taken in.
    async fn ask(&self, text: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(text.as_bytes()).await;
        rest_of(&mut stream).await
    }

    async fn refusals(&self, kind: &str) -> usize {
        let metrics = String::from_utf8(self.app.anonymous.get("/metrics").await.body.to_vec()).unwrap();
        let line = metrics
            .lines()
            .find(|line| line.starts_with(&format!("bourse_refusals_total{{kind=\"{kind}\"}}")));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Tells the service to stop, and waits until it has.
    async fn close(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(WAIT_MAX, self.served).await.unwrap().unwrap();
    }
}

/// Everything that comes until the connection ends.
async fn rest_of(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that is reset has ended as well.
    let read = tokio::time::timeout(WAIT_MAX, stream.read_to_end(&mut text)).await;
    assert!(read.is_ok(), "the connection is still open");
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn a_request_of_which_half_comes_is_not_waited_for() {
    let door = OpenDoor::with(&[("limits.header_timeout_ms", "1000")]).await;
    let mut half = door.connect(HALF).await;
    assert_eq!(rest_of(&mut half).await, "");
    assert_eq!(door.refusals("HeadTimeout").await, 1);
    assert!(door.ask(HEALTH).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_connection_on_which_nothing_happens_ends() {
    let door = OpenDoor::with(&[("limits.idle_timeout_ms", "1000")]).await;
    let mut idle = door.connect("").await;
    let mut after_a_request = door.connect(&HEALTH.replace("Connection: close\r\n", "")).await;
    assert_eq!(rest_of(&mut idle).await, "");
    assert!(rest_of(&mut after_a_request).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn half_a_request_does_not_hold_up_a_stop() {
    let door = OpenDoor::with(&[]).await;
    let mut half = door.connect(HALF).await;
    let mut idle = door.connect("").await;
    assert!(door.ask(HEALTH).await.starts_with("HTTP/1.1 200"));
    door.close().await;
    assert_eq!((rest_of(&mut half).await, rest_of(&mut idle).await), (String::new(), String::new()));
}

#[tokio::test]
async fn whoever_gets_nowhere_makes_room_for_others() {
    for limit in ["limits.connections_per_address_max", "limits.connections_max"] {
        let door = OpenDoor::with(&[(limit, "3")]).await;
        let mut stalled = Vec::new();
        for _ in 0..3 {
            stalled.push(door.connect(HALF).await);
        }
        wait_until("an answer in spite of the others", async || door.ask(HEALTH).await.contains(" 200 "))
            .await;
        assert!(door.refusals("MadeRoom").await > 0, "{limit}");
        drop(stalled);
    }
}

#[tokio::test]
async fn trusted_proxies_may_bring_many_connections() {
    let settings = [("limits.connections_per_address_max", "2"), ("server.trusted_proxies", "127.0.0.0/8")];
    let door = OpenDoor::with(&settings).await;
    let mut open = Vec::new();
    for _ in 0..6 {
        open.push(door.connect(HALF).await);
    }
    for stream in &mut open {
        stream.write_all(b"Connection: close\r\n\r\n").await.unwrap();
        assert!(rest_of(stream).await.starts_with("HTTP/1.1 "));
    }
}

#[tokio::test]
async fn limits_concern_whom_a_trusted_proxy_names() {
    let guess = |client: &str| {
        format!(
            "POST /rpc/Builder/ListAudiences HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             X-Forwarded-For: 198.51.100.77, {client}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
        )
    };
    let rate = ("limits.rate_per_minute", "1");
    let behind = OpenDoor::with(&[rate, ("server.trusted_proxies", "127.0.0.1")]).await;
    for (client, status) in [("192.0.2.1", 401), ("192.0.2.2", 401), ("192.0.2.1", 429)] {
        let answer = behind.ask(&guess(client)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{client}: {answer}");
    }
    // Nobody else is believed.
    let open = OpenDoor::with(&[rate]).await;
    for (client, status) in [("192.0.2.1", 401), ("192.0.2.2", 429)] {
        let answer = open.ask(&guess(client)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{client}: {answer}");
    }
}

#[tokio::test]
async fn whoever_is_refused_while_they_still_write_reads_why() {
    let door = OpenDoor::with(&[]).await;
    let body = " ".repeat(3 << 20);
    let head = |path: &str, credential: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{credential}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        )
    };
    let key = format!("X-Access-Key: {}", door.app.project_a.key_text);
    let (audiences, bad) = ("/rpc/Builder/ListAudiences", "Authorization: Bearer x.y.z");
    for (path, credential, status) in [
        (audiences, key.as_str(), 413),
        (audiences, bad, 401),
        ("/rpc/Nowhere/Nothing", bad, 404),
        ("/projects/1/collections/1/assets/1/upload", bad, 405),
        ("/health", bad, 405),
        ("/nowhere", bad, 404),
    ] {
        let mut stream = TcpStream::connect(door.address).await.unwrap();
        stream.write_all(head(path, credential).as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let answer = rest_of(&mut stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path} {credential}: {answer}");
    }
    // Whoever asks first is told at once.
    let asking = head(audiences, "Expect: 100-continue");
    assert!(door.ask(&asking).await.starts_with("HTTP/1.1 401"));
}

#[tokio::test]
async fn an_answer_that_nobody_takes_is_given_up() {
    let door = OpenDoor::with(&[("limits.write_timeout_ms", "1000")]).await;
    // More than the buffers of both sides hold, of which nothing is read.
    let ask = HEALTH.replace("/health", "/openapi.json").replace("Connection: close\r\n", "");
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let writing = async {
        loop {
            if stream.write_all(ask.as_bytes()).await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(WAIT_MAX, writing).await.unwrap();
    wait_until("the connection is given up", async || door.refusals("WriteTimeout").await == 1).await;
}
