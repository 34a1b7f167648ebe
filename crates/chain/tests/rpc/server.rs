//! A node that says what a test wants it to say.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bourse_chain::rpc::{HttpNode, HttpOptions};
use serde_json::{Value, json};

/// What a node answers to one body: a status, a header or none, and a text.
pub(crate) type Reply = (StatusCode, Option<(&'static str, &'static str)>, String);

/// A server that is gone when this is.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The bodies that were sent.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers whole bodies.
    pub(crate) async fn raw(answer: impl Fn(&Value) -> Reply + Clone + Send + Sync + 'static) -> Self {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let log = Arc::clone(&asked);
        let handler = move |body: Bytes| {
            let body: Value = serde_json::from_slice(&body).unwrap();
            log.lock().unwrap().push(body.clone());
            let (status, header, text) = answer(&body);
            let mut headers = HeaderMap::new();
            if let Some((name, value)) = header {
                headers.insert(name, value.parse().unwrap());
            }
            async move { (status, headers, text) }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/{*any}", post(handler));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, asked, task }
    }

    /// Answers requests one by one, in batches too: a result, or a code and a message.
    pub(crate) async fn node(
        answer: impl Fn(&str, &Value) -> Result<Value, (i64, String)> + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::raw(move |body| {
            let one = |request: &Value| {
                let mut reply = json!({"jsonrpc": "2.0", "id": request["id"]});
                match answer(request["method"].as_str().unwrap(), &request["params"]) {
                    Ok(result) => reply["result"] = result,
                    Err((code, message)) => reply["error"] = json!({"code": code, "message": message}),
                }
                reply
            };
            let text = match body {
                // Answers of a batch may come in any order.
                Value::Array(requests) => requests.iter().rev().map(one).collect::<Value>().to_string(),
                request => one(request).to_string(),
            };
            (StatusCode::OK, None, text)
        })
        .await
    }

    pub(crate) fn client(&self, options: HttpOptions) -> HttpNode {
        let url = format!("http://{}/v3/SECRET", self.address);
        HttpNode::new(url.parse().unwrap(), options, Arc::default()).unwrap()
    }
}

/// A block as nodes write it.
pub(crate) fn block(number: u64) -> Value {
    json!({
        "number": format!("{number:#x}"),
        "hash": format!("0x{number:064x}"),
        "parentHash": format!("0x{:064x}", number.wrapping_sub(1)),
        "timestamp": format!("{:#x}", 1_700_000_000 + number),
        "transactions": ["0x01"],
    })
}

/// A log as nodes write it.
pub(crate) fn log(number: u64, index: u64) -> Value {
    json!({
        "address": format!("0x{}", "c1".repeat(20)),
        "topics": [format!("0x{:064x}", 7)],
        "data": "0x0102",
        "blockNumber": format!("{number:#x}"),
        "blockHash": format!("0x{number:064x}"),
        "transactionHash": format!("0x{:064x}", 99),
        "transactionIndex": "0x0",
        "logIndex": format!("{index:#x}"),
        "removed": false,
    })
}
