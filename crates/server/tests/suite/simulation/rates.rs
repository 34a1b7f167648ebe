//! A source of rates, which may say anything.

use std::time::Duration;

use bourse_chain::{RateError, RateSource, RateTeller};
use bourse_simulation::{CHAIN, MONEY};
use bourse_store::Store;
use bourse_wire::{ChainId, Timestamp};
use serde_json::json;

use crate::support::orders::COIN;
use crate::venues::stand_in::{Reply, StandIn};

/// Where nobody listens.
const NOWHERE: &str = "http://127.0.0.1:1";

/// What a source does when it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Telling {
    Rate,
    /// It fails, and says so.
    Failure,
    /// It shows people a page.
    Page,
    /// It says something else in the same shape.
    NoRate,
    /// It has the rate, and says it in another shape.
    AnotherShape,
    /// It is not there.
    Nothing,
}

impl Telling {
    pub(super) const ALL: [Self; 6] =
        [Self::Rate, Self::Failure, Self::Page, Self::NoRate, Self::AnotherShape, Self::Nothing];

    fn reply(self, rate: u8) -> Option<Reply> {
        match self {
            Self::Rate => Some(Reply::json(&json!({ "data": [{ "price": rate.to_string() }] }))),
            Self::Failure => Some(Reply::text(503, &json!({ "data": [{ "price": "999" }] }).to_string())),
            Self::Page => Some(Reply::text(200, "<html>999</html>")),
            Self::NoRate => Some(Reply::json(&json!({ "data": [{ "price": "-999" }] }))),
            Self::AnotherShape => Some(Reply::json(&json!({ "price": "999" }))),
            Self::Nothing => None,
        }
    }
}

/// The source of the rates of all currencies.
pub(super) struct RateDesk(StandIn);

impl RateDesk {
    pub(super) async fn open() -> Self {
        Self(StandIn::start().await)
    }

    /// Asks for the rate of every currency; whether they are told by it.
    pub(super) async fn ask(&self, store: &Store, now: Timestamp, rate: u8, telling: Telling) -> bool {
        let (coin, mut told) = (COIN.parse().unwrap(), Vec::new());
        for (chain, currency) in [(ChainId(137), coin), (CHAIN, coin), (CHAIN, MONEY)] {
            let reply = telling.reply(rate);
            let url = if reply.is_some() { &self.0.url } else { NOWHERE };
            self.0.forced(reply);
            let teller = RateTeller::Link { url: url.parse().unwrap(), path: "data.0.price".to_owned() };
            let source = RateSource { chain, currency, teller, interval: Duration::from_mins(1) };
            let answer = source.ask(store, now).await;
            let is_at_fault = matches!(answer, Err(RateError::Source { .. }));
            assert_eq!(is_at_fault, telling != Telling::Rate, "{telling:?}: {answer:?}");
            told.push(answer.is_ok());
        }
        assert!(told.iter().all(|is_told| *is_told == told[0]), "all are known, or none: {told:?}");
        told[0]
    }
}
