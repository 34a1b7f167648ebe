//! Orders, whole and by name.

use bourse_protocols::native::{NativeOrder, Proof, SubmittedOrder};
use bourse_store::{CollectionKey, SignedOrder};
use bourse_wire::{
    Address, ChainRef, JsonObject, Marketplace, OrderFacts, OrderFactsError, OrderInput, OrderKey, Text,
    Timestamp, from_value, take_member,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Reader, Reason, Rejection};

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

/// An order as its marketplace knows it, with the signature of its maker.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedOrderInput {
    /// Chain; may be left out where the request names it.
    chain_id: Option<ChainRef>,
    /// Where it can be filled.
    marketplace: Text<64>,
    /// The order with the members that were signed, as the marketplace publishes it.
    native: serde_json::Map<String, Value>,
    /// The signature in hexadecimal; left out where the marketplace keeps it.
    signature: Option<Text<4096>>,
}

/// An order as somebody puts it here.
pub enum OrderSubmission {
    /// By what it is.
    Facts(Box<OrderFacts>),
    /// By what was signed.
    Signed(Box<NativeOrder>),
}

impl OrderSubmission {
    /// What it is.
    pub fn facts(&self) -> &OrderFacts {
        match self {
            Self::Facts(facts) => facts,
            Self::Signed(admitted) => &admitted.facts,
        }
    }
}

/// A signed order as it is to be stored when there is nobody to ask about it.
pub fn unasked(order: NativeOrder, now: Timestamp) -> Result<SignedOrder, Rejection> {
    if matches!(order.proof, Proof::Ask(_)) {
        let message = "signature: was not made with the maker's key; whether the maker is a contract that agrees, \
            only a node of the network can tell";
        return Err(Rejection::new(Reason::InvalidSignature, message));
    }
    let NativeOrder { facts, nonces, text, .. } = order;
    Ok(SignedOrder { facts: dated(facts, now), native: text, nonces })
}

/// An order as it is to be stored. One that was sent before keeps its times there when nothing else is different.
pub(crate) fn dated(mut order: OrderFacts, now: Timestamp) -> OrderFacts {
    for time in [&mut order.created_at, &mut order.updated_at] {
        if *time == Timestamp::ZERO {
            *time = now;
        }
    }
    order
}

impl Reader<'_> {
    /// Reads an order by what it is, or by what was signed.
    pub fn any_order(&self, mut members: JsonObject) -> Result<(CollectionKey, OrderSubmission), Rejection> {
        if let Some(native) = take_member(&mut members, "native") {
            members.insert("native".to_owned(), native);
            let (key, admitted) = self.signed_order(&from_value(Value::Object(members))?)?;
            return Ok((key, OrderSubmission::Signed(Box::new(admitted))));
        }
        self.order(members).map(|(key, facts)| (key, OrderSubmission::Facts(Box::new(facts))))
    }

    /// Reads a signed order.
    pub fn signed_order(&self, input: &SignedOrderInput) -> Result<(CollectionKey, NativeOrder), Rejection> {
        let chain = self.chain(input.chain_id.as_ref())?;
        let word = input.marketplace.as_str();
        let marketplace = Marketplace::parse(word, self.service)
            .ok_or_else(|| OrderFactsError::Marketplace { word: word.to_owned() })?;
        let nowhere = || {
            let message = format!("marketplace: {word} has no contract on chain {chain}");
            Rejection::new(Reason::UnknownContract, message)
        };
        let venue = self.registry.venue(chain, marketplace).ok_or_else(nowhere)?;
        let signature = input.signature.as_ref().map(Text::as_str);
        let admitted = venue.read_order(SubmittedOrder { native: &input.native, signature })?;
        let key = CollectionKey { chain, address: admitted.collection };
        Ok((key, admitted))
    }

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
        Ok((collection, OrderKey { marketplace, order_id: input.order_id.into_string() }))
    }
}
