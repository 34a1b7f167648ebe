//! A receiver on this machine, which does as it is told.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a receiver does with a message.
#[derive(Clone, Debug)]
pub(super) enum Does {
    /// Answers with a status.
    Answer(u16),
    /// Answers with 500 to what has this text, and with 200 to all else.
    Refuse(&'static str),
    /// Says nothing to what has this text until it is told otherwise, and answers with 200 to all else.
    Hold(&'static str),
    /// Leads elsewhere.
    Redirect(String),
    /// Says nothing until it is told otherwise.
    Wait,
}

/// A message that came.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// What became of what: the type of the message and the hash of what it is about.
    pub(super) fn told(&self) -> String {
        let json = self.json();
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        [&json["type"], &json["activity"]["uniqueHash"]].map(text).join(" ")
    }
}

#[derive(Clone)]
struct Desk {
    received: Arc<Mutex<Vec<Received>>>,
    does: watch::Receiver<Does>,
}

/// A receiver that is not there yet. Nobody else has its address meanwhile.
pub(super) struct Down {
    pub(super) host: String,
    socket: TcpSocket,
}

impl Down {
    pub(super) fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        Self { host: socket.local_addr().unwrap().to_string(), socket }
    }

    pub(super) fn come_up(self, does: Does) -> Receiver {
        Receiver::on(self.socket.listen(128).unwrap(), does)
    }
}

/// A receiver. It stops when this is dropped.
pub(super) struct Receiver {
    pub(super) host: String,
    does: watch::Sender<Does>,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    pub(super) async fn start(does: Does) -> Self {
        Self::on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap(), does)
    }

    fn on(listener: TcpListener, does: Does) -> Self {
        let host = listener.local_addr().unwrap().to_string();
        let (does, told) = watch::channel(does);
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let desk = Desk { received: Arc::clone(&received), does: told };
        let router = Router::new().fallback(receive).with_state(desk);
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { host, does, received, task }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/told", self.host)
    }

    /// From now on it does this, with what it has not answered yet as well.
    pub(super) fn does(&self, does: Does) {
        self.does.send_replace(does);
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }

    /// What it was told so far.
    pub(super) fn told(&self) -> Vec<String> {
        self.received().iter().map(Received::told).collect()
    }
}

async fn receive(State(mut desk): State<Desk>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    desk.received.lock().unwrap().push(Received { headers, body: body.clone() });
    let is_silent = |does: &Does| match does {
        Does::Wait => true,
        Does::Hold(text) => body.contains(text),
        _ => false,
    };
    let does = desk.does.wait_for(|does| !is_silent(does)).await.unwrap().clone();
    match does {
        Does::Answer(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Does::Refuse(text) if body.contains(text) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Does::Refuse(_) | Does::Hold(_) => StatusCode::OK.into_response(),
        Does::Redirect(to) => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response(),
        Does::Wait => unreachable!("it waited"),
    }
}
