//! People trade: each asks the service for the steps, as any client does, and carries them out on the chain.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::SolCall as _;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use bourse_server::{App, Entrance};
use bourse_wire::{Address, Marketplace};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::contracts::{self, Contracts, abi};
use super::journal::Credentials;
use super::scene::{Deal, Item, Price};
use super::sender::Sending;
use super::setting_up::{SALE_MILLI, milli};
use super::wallet::Wallet;
use crate::context::CommandError;

/// How long the service may take to see what is on the chain.
const SEEN: Duration = Duration::from_mins(2);
/// Time between two looks at whether it does.
const LOOK: Duration = Duration::from_millis(100);
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// When orders end: in the next century.
const EXPIRY: &str = "4102444800";
/// Units of the demo's currency that are worth a thousandth of the chain's own coin.
const CROWN_UNITS: u64 = 2_500_000;

/// The market as the people of the demo see it.
pub(super) struct Market {
    entrance: Entrance,
    chain: u64,
    access_key: String,
    /// What the two own marketplaces are called, the older one first.
    words: [String; 2],
    contracts: Contracts,
    wallets: Vec<Wallet>,
}

impl Market {
    /// Asks a service by a project's key.
    pub(super) fn new(
        app: &Arc<App>,
        chain: u64,
        project: &Credentials,
        contracts: Contracts,
        wallets: Vec<Wallet>,
    ) -> Self {
        let words = [Marketplace::OwnV1, Marketplace::OwnV2].map(|own| own.word(app.service_name()));
        let entrance = bourse_server::service(Arc::clone(app));
        Self { entrance, chain, access_key: project.access_key.clone(), words, contracts, wallets }
    }

    /// Waits until the tokens of both collections are known.
    pub(super) async fn wait_followed(&self) -> Result<(), CommandError> {
        for collection in [self.contracts.relics, self.contracts.provisions] {
            let body = json!({ "contractAddress": collection, "side": "listing",
                "filter": { "includeEmpty": true }, "page": { "pageSize": 1 } });
            let known = async || {
                let answer = self.ask("ListCollectibles", &body).await;
                Ok(answer.ok().filter(|answer| answer["collectibles"][0].is_object()))
            };
            self.wait(&format!("the tokens of {collection}"), known).await?;
        }
        Ok(())
    }

    /// Waits until the service knows all that somebody offers. What it asks them to allow covers the offers that it knows: without
    /// one that the chain has already, that would no longer be backed.
    pub(super) async fn wait_offers(&self, who: usize, done: &[Deal]) -> Result<(), CommandError> {
        let is_taken = |offer: &Item| {
            let takes = |deal: &Deal| matches!(deal, Deal::Accept { item, maker, .. } if (item, *maker) == (offer, who));
            done.iter().any(takes)
        };
        for deal in done {
            if let Deal::Offer { who: maker, item, .. } = deal
                && *maker == who
                && !is_taken(item)
            {
                self.order(item, who, "ListOffersForCollectible", "offers").await?;
            }
        }
        Ok(())
    }

    /// Waits until the service has seen what the last deal changed: who bought from the sale has the token.
    pub(super) async fn wait_seen(&self, last: &Deal) -> Result<(), CommandError> {
        let Deal::Mint { who, item } = last else { return Ok(()) };
        let token = json!(item.token.to_string());
        let body = json!({ "contractAddress": self.collection(item), "side": "listing",
            "filter": { "includeEmpty": true, "inAccounts": [self.address(*who)] } });
        let seen = async || {
            let answer = self.ask("ListCollectibles", &body).await?;
            let rows = answer["collectibles"].as_array().into_iter().flatten();
            Ok(rows.map(|row| &row["metadata"]["tokenId"]).any(|held| *held == token).then_some(()))
        };
        self.wait("what was sold last", seen).await
    }

    /// What has to be sent for a deal.
    pub(super) async fn steps(&self, deal: &Deal) -> Result<Vec<Sending>, CommandError> {
        let who = self.address(deal.who());
        let (operation, body) = match deal {
            Deal::List { item, price, on_older, .. } => {
                let mut body = self.making(item, *price, "listing");
                body["owner"] = json!(who);
                body["orderbook"] = json!(self.words[usize::from(!on_older)]);
                ("GenerateListingTransaction", body)
            }
            Deal::Offer { item, price, .. } => {
                let mut body = self.making(item, *price, "offer");
                body["maker"] = json!(who);
                body["orderbook"] = json!(self.words[1]);
                ("GenerateOfferTransaction", body)
            }
            Deal::Buy { item, seller, .. } => {
                let order = self.order(item, *seller, "ListListingsForCollectible", "listings").await?;
                ("GenerateBuyTransaction", self.filling("buyer", who, item, &order))
            }
            Deal::Accept { item, maker, .. } => {
                let order = self.order(item, *maker, "ListOffersForCollectible", "offers").await?;
                ("GenerateSellTransaction", self.filling("seller", who, item, &order))
            }
            Deal::Mint { item, .. } => return Ok(vec![self.minting(who, item)]),
        };
        let answer = self.ask(operation, &body).await?;
        let steps = answer["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        let steps: Option<Vec<Sending>> = steps.iter().map(sending).collect();
        let steps = steps.filter(|steps| !steps.is_empty());
        steps.ok_or_else(|| {
            CommandError::Other(format!("{operation} answered no steps to send: {answer:.300}"))
        })
    }

    fn address(&self, person: usize) -> Address {
        self.wallets[person].address
    }

    fn collection(&self, item: &Item) -> Address {
        if item.is_relic { self.contracts.relics } else { self.contracts.provisions }
    }

    /// What makes a listing or an offer.
    fn making(&self, item: &Item, price: Price, order: &str) -> Value {
        let (currency, unit_price) = if price.in_crowns {
            (self.contracts.currency, U256::from(price.milli) * U256::from(CROWN_UNITS))
        } else {
            (Address::ZERO, milli(price.milli))
        };
        json!({
            "collectionAddress": self.collection(item), "walletType": "unknown",
            "contractType": if item.is_relic { "ERC721" } else { "ERC1155" },
            order: { "tokenId": item.token.to_string(), "quantity": item.units.to_string(), "expiry": EXPIRY,
                "currencyAddress": currency, "pricePerToken": unit_price.to_string() },
        })
    }

    /// What fills an order.
    fn filling(&self, role: &str, who: Address, item: &Item, order: &Value) -> Value {
        json!({
            "collectionAddress": self.collection(item), role: who, "walletType": "unknown",
            "marketplace": order["marketplace"], "additionalFees": [],
            "ordersData": [{ "orderId": order["orderId"], "quantity": item.units.to_string(),
                "tokenId": item.token.to_string() }],
        })
    }

    /// What mints from the sale.
    fn minting(&self, who: Address, item: &Item) -> Sending {
        let value = milli(SALE_MILLI) * U256::from(item.units);
        let call = contracts::Sale::mintCall {
            to: abi(who),
            tokenIds: vec![U256::from(item.token)],
            amounts: vec![U256::from(item.units)],
            data: Bytes::new(),
            expectedPaymentToken: abi(Address::ZERO),
            maxTotal: value,
            proof: Vec::new(),
        };
        Sending { to: Some(self.contracts.sale), data: call.abi_encode(), value }
    }

    /// The open order that somebody made for a token, once the service knows it.
    async fn order(
        &self,
        item: &Item,
        maker: usize,
        operation: &str,
        member: &str,
    ) -> Result<Value, CommandError> {
        let body = json!({ "contractAddress": self.collection(item), "tokenId": item.token.to_string() });
        let maker = json!(self.address(maker));
        let known = async || {
            let answer = self.ask(operation, &body).await?;
            let mut orders = answer[member].as_array().into_iter().flatten();
            Ok(orders.find(|order| order["createdBy"] == maker).cloned())
        };
        self.wait(&format!("an order of {maker}"), known).await
    }

    /// Waits until something is there.
    async fn wait<T>(
        &self,
        what: &str,
        look: impl AsyncFn() -> Result<Option<T>, CommandError>,
    ) -> Result<T, CommandError> {
        let seen = async {
            loop {
                if let Some(seen) = look().await? {
                    return Ok(seen);
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let late = |_| {
            CommandError::Other(format!(
                "the service does not see {what} within {} minutes: the log says how it follows the chain",
                SEEN.as_secs() / 60
            ))
        };
        tokio::time::timeout(SEEN, seen).await.map_err(late)?
    }

    /// Asks an operation of the marketplace through the front door.
    pub(super) async fn ask(&self, operation: &str, body: &Value) -> Result<Value, CommandError> {
        let mut body = body.clone();
        body["chainId"] = json!(self.chain.to_string());
        let failed = |why: &dyn fmt::Display| CommandError::Other(format!("{operation}: {why}"));
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("/rpc/Marketplace/{operation}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("X-Access-Key", &self.access_key)
            .body(Body::from(body.to_string()))
            .map_err(|error| failed(&error))?;
        let answered: Result<_, Infallible> = self.entrance.clone().oneshot(request).await;
        let Ok(response) = answered;
        let status = response.status();
        let answer =
            to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.map_err(|error| failed(&error))?;
        if status != StatusCode::OK {
            return Err(failed(&String::from_utf8_lossy(&answer)));
        }
        serde_json::from_slice(&answer).map_err(|error| failed(&error))
    }
}

/// A step of a wallet as a transaction.
fn sending(step: &Value) -> Option<Sending> {
    Some(Sending {
        to: Some(step["to"].as_str()?.parse().ok()?),
        data: const_hex::decode(step["data"].as_str()?).ok()?,
        value: step["value"].as_str()?.parse().ok()?,
    })
}
