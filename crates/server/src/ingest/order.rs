//! Orders, whole and by name.

use bourse_store::CollectionKey;
use bourse_wire::{
    Address, ChainRef, JsonObject, Marketplace, OrderFacts, OrderFactsError, OrderInput, Text, from_value,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Reader, Reason, Rejection};

/// What an order is called within its collection.
pub type OrderKey = (Marketplace, String);

/// Which order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderKeyInput {
    /// Chain; may be left out where the request names it.
    chain_id: Option<ChainRef>,
    /// Contract of the collection.
    collection_contract_address: Address,
    /// Where it can be filled.
    marketplace: Text<64>,
    /// The marketplace's own name for the order.
    order_id: Text<256>,
}

/// Refuses an order that nobody but its chain may put or end: one of the service's own marketplaces, of a collection
/// that is followed.
pub fn not_stated(
    collection: CollectionKey,
    marketplace: Marketplace,
    is_followed: bool,
) -> Result<(), Rejection> {
    if !is_followed || !marketplace.is_own() {
        return Ok(());
    }
    let CollectionKey { chain, address } = collection;
    let message = format!(
        "marketplace: chain {chain} is followed for {address} and states the orders of this service's own marketplaces"
    );
    Err(Rejection::new(Reason::StatedByChain, message))
}

impl Reader<'_> {
    /// Reads an order, as long as its facts make sense together. It may be over: history is read too.
    pub fn order(&self, members: JsonObject) -> Result<(CollectionKey, OrderFacts), Rejection> {
        self.order_input(from_value(Value::Object(members))?)
    }

    /// Reads an order whose members have been read.
    pub fn order_input(&self, input: OrderInput) -> Result<(CollectionKey, OrderFacts), Rejection> {
        let chain = self.chain(input.chain_id.as_ref())?;
        let collection = CollectionKey { chain, address: input.collection_contract_address };
        Ok((collection, input.facts(self.service)?))
    }

    /// Reads which order is meant.
    pub fn order_key(&self, members: JsonObject) -> Result<(CollectionKey, OrderKey), Rejection> {
        let input: OrderKeyInput = from_value(Value::Object(members))?;
        let chain = self.chain(input.chain_id.as_ref())?;
        let word = input.marketplace.as_str();
        let marketplace = Marketplace::parse(word, self.service)
            .ok_or_else(|| OrderFactsError::Marketplace { word: word.to_owned() })?;
        let collection = CollectionKey { chain, address: input.collection_contract_address };
        Ok((collection, (marketplace, input.order_id.into_string())))
    }
}
