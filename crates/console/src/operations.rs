//! Pages ask the operations for what they show, as any other client does, but by right of the session: nothing is
//! charged, and a viewer may ask whatever changes nothing.

use axum::body::Bytes;
use bourse_server::{Asker, Media};
use bourse_wire::{Code, Error};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::Member;
use crate::refusal::Refusal;

impl Member {
    /// Asks an operation, `ask("Marketplace/ListCollectibles", &body)`, and reads its answer.
    pub(crate) async fn ask(&self, operation: &str, body: &Value) -> Result<Value, Refusal> {
        self.ask_as(operation, body).await
    }

    /// The same, with the answer as a record.
    pub(crate) async fn ask_as<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: &Value,
    ) -> Result<T, Refusal> {
        let answer = self.ask_for(operation, body.to_string().into(), Media::Json).await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    /// Asks an operation with a body as it is, and gives its answer as it is.
    pub(crate) async fn ask_for(
        &self,
        operation: &str,
        body: Bytes,
        media: Media,
    ) -> Result<Vec<u8>, Refusal> {
        let console = self.console();
        let (service, name) = operation.split_once('/').unwrap_or_default();
        let route = console.operation(service, name).ok_or_else(|| Refusal::missing("operation"))?;
        if !self.is_owner() && !route.is_for_viewers() {
            return Err(Refusal::for_owners());
        }
        let visitor = &self.visitor;
        let asker = Asker { scope: self.scope(), account: visitor.account.id, peer: visitor.peer };
        Ok(console.ask(asker, &route, body, media).await?)
    }
}

/// What is missing is nothing to be told apart; anything else is passed on.
pub(crate) fn unless_missing<T>(answer: Result<T, Refusal>) -> Result<Option<T>, Refusal> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Refusal::Refused(Error { code: Code::NotFound | Code::ProjectNotFound, .. })) => Ok(None),
        Err(other) => Err(other),
    }
}
