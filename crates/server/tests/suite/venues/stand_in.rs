//! Stands in for the own services of marketplaces: it takes what their documentation says that they take, and answers in
//! their shapes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::{Value, json};

use super::wallet::signer_of_text;

/// The key that it lets in.
pub(crate) const KEY: &str = "the key of the operator";
/// What Blur gives to whom has logged in.
const SESSION: &str = "a session";
/// What Blur has everybody sign.
const MESSAGE: &str = "Sign in to Blur\n\nChallenge: 4a7d";

/// A server that is gone when this is.
pub(crate) struct StandIn {
    pub(crate) url: String,
    desk: Arc<Desk>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Desk {
    asked: Mutex<Vec<Asked>>,
    /// Answers by the order that they are about.
    known: Mutex<HashMap<String, Value>>,
    /// What is answered whatever is asked, once each.
    forced: Mutex<VecDeque<Reply>>,
}

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: u16,
    text: String,
    after: Duration,
}

impl Reply {
    pub(crate) fn json(value: &Value) -> Self {
        Self::text(200, &value.to_string())
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self { status, text: text.to_owned(), after: Duration::ZERO }
    }

    /// The same, later.
    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl StandIn {
    pub(crate) async fn start() -> Self {
        let desk: Arc<Desk> = Arc::default();
        let router = Router::new().fallback(serve).with_state(Arc::clone(&desk));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, desk, task }
    }

    /// Teaches it what to answer about an order: its hash, or its number where it has one.
    pub(crate) fn knows(&self, order: &str, answer: &Value) {
        self.desk.known.lock().unwrap().insert(order.to_owned(), answer.clone());
    }

    /// Makes it answer this next, whatever it is asked.
    pub(crate) fn forced(&self, replies: impl IntoIterator<Item = Reply>) {
        self.desk.forced.lock().unwrap().extend(replies);
    }

    /// What it was asked since this was called last.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.desk.asked.lock().unwrap())
    }
}

async fn serve(
    State(desk): State<Arc<Desk>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = Asked { path: uri.path().to_owned(), headers, body };
    desk.asked.lock().unwrap().push(asked.clone());
    let forced = desk.forced.lock().unwrap().pop_front();
    let reply = forced.unwrap_or_else(|| match desk.answer(&method, &asked) {
        Ok(answer) => Reply::json(&answer),
        Err((status, answer)) => Reply::text(status, &answer.to_string()),
    });
    tokio::time::sleep(reply.after).await;
    (StatusCode::from_u16(reply.status).unwrap(), reply.text)
}

/// A status and what is said with it.
type Refused = (u16, Value);

impl Desk {
    fn answer(&self, method: &Method, asked: &Asked) -> Result<Value, Refused> {
        if asked.header("x-api-key") != KEY {
            return Err((401, json!({ "errors": ["Invalid API key"] })));
        }
        if method != Method::POST || asked.header("content-type") != "application/json" {
            return Err((415, json!({ "errors": ["POST JSON"] })));
        }
        match asked.path.as_str() {
            "/api/v2/listings/fulfillment_data" => {
                asked.has(&["/listing/chain", "/listing/protocol_address", "/fulfiller/address"])?;
                self.about(asked, "/listing/hash")
            }
            "/api/v2/offers/fulfillment_data" => {
                asked.has(&["/offer/chain", "/offer/protocol_address", "/fulfiller/address"])?;
                asked.has(&["/consideration/asset_contract_address", "/consideration/token_id"])?;
                self.about(asked, "/offer/hash")
            }
            path @ ("/execute/buy/v7" | "/execute/sell/v7") => {
                asked.has(&["/taker"])?;
                let is_sale = path.contains("sell");
                asked.knows(if is_sale {
                    &["items", "taker"]
                } else {
                    &["items", "taker", "skipBalanceCheck"]
                })?;
                if is_sale {
                    asked.has(&["/items/0/token"])?;
                }
                self.about(asked, "/items/0/orderId")
            }
            "/api/orders/sign" => {
                asked.has(&["/caller", "/amountToEth", "/amountToWeth"])?;
                asked.has(&["/items/0/currency", "/items/0/price"])?;
                if asked.body["op"].as_u64().is_none() {
                    return Err((400, json!({ "success": false, "message": "op is no number" })));
                }
                self.about(asked, "/items/0/orderId")
            }
            "/auth/challenge" => {
                let wallet = asked.text("/walletAddress")?;
                Ok(json!({ "message": MESSAGE, "walletAddress": wallet,
                    "expiresOn": "2025-03-15T12:00:00.000Z", "hmac": "5f0c" }))
            }
            "/auth/login" => {
                asked.has(&["/expiresOn", "/hmac"])?;
                let signer = signer_of_text(asked.text("/message")?, asked.text("/signature")?);
                if signer.as_deref() != Some(asked.text("/walletAddress")?) {
                    return Err((401, json!({ "statusCode": 401, "message": "Unauthorized" })));
                }
                Ok(json!({ "accessToken": SESSION }))
            }
            path if path.starts_with("/v1/buy/") => {
                if asked.header("authtoken") != SESSION {
                    return Err((401, json!({ "statusCode": 401, "message": "Unauthorized" })));
                }
                asked.has(&["/tokenPrices/0/price/amount", "/tokenPrices/0/price/unit"])?;
                assert_eq!(asked.header("walletaddress"), asked.text("/userAddress")?);
                self.about(asked, "/tokenPrices/0/tokenId")
            }
            path => Err((404, json!({ "message": format!("no {path}") }))),
        }
    }

    fn about(&self, asked: &Asked, member: &str) -> Result<Value, Refused> {
        let order = asked.text(member)?;
        let unknown = || (404, json!({ "errors": [format!("order {order} was not found")] }));
        self.known.lock().unwrap().get(order).cloned().ok_or_else(unknown)
    }
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self, member: &str) -> Result<&str, Refused> {
        let refused = || (400, json!({ "errors": [format!("{member} is required")] }));
        self.body.pointer(member).and_then(Value::as_str).ok_or_else(refused)
    }

    /// Refuses members of the question that the service does not know.
    fn knows(&self, members: &[&str]) -> Result<(), Refused> {
        let all = self.body.as_object().into_iter().flatten();
        let unknown = all.map(|(name, _)| name).find(|name| !members.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err((400, json!({ "message": format!("\"{name}\" is not allowed") }))))
    }

    fn has(&self, members: &[&str]) -> Result<(), Refused> {
        members.iter().try_for_each(|member| self.text(member).map(|_| ()))
    }
}
