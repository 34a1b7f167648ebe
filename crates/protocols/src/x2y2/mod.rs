//! X2Y2: orders that only its own service can have filled, as the contract wants its signature over every fill.

mod abi;
mod logs;
mod source;
#[cfg(test)]
mod tests;
mod venues;

use alloy_primitives::{B256, U256};
use bourse_market::facts::Log;
use bourse_market::{Nonces, Standing};
use bourse_wire::{Address, Amount, Marketplace, OrderFacts, OrderSide, TokenId, from_value};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::abi::inventoryStatusCall;
pub(crate) use self::venues::FAMILY;
use super::native::{
    self, Answers, Deal, Inquiry, NativeOrder, Number, OrderFault, Proof, SourceRequest, SubmittedOrder,
    Word, returned,
};
use super::{
    Call, LogError, NewOrder, OrderMaking, OrderSeed, OrderTerms, Plan, Protocol, Refusal, Statement,
    StoredOrder, Trade,
};

/// What the protocol is called in messages.
const NAME: &str = "X2Y2";
/// The contract says that an item was sold.
const COMPLETE: u8 = 2;
/// The contract says that an item was taken back.
const CANCELLED: u8 = 3;

/// X2Y2 on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct X2y2 {
    /// The contract that settles.
    pub contract: Address,
    /// The contract that moves tokens of which there is one each.
    pub erc721_delegate: Address,
    /// The contract that moves tokens of which there are many each.
    pub erc1155_delegate: Address,
}

/// An order as the service tells of it, as it is put and as it is kept. The service keeps the signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct X2y2Order {
    /// The service's own number for it.
    id: Number,
    /// `sell` or `buy`.
    #[serde(rename = "type")]
    kind: String,
    currency: Address,
    price: Number,
    amount: Number,
    maker: Address,
    #[serde(default)]
    taker: Address,
    deadline: Number,
    item_hash: Word,
    delegate_type: u8,
    nft: Nft,
    /// The contract that settles it.
    #[serde(default)]
    protocol_address: Address,
}

/// What an order is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nft {
    token: Address,
    /// Absent for an offer on any token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_id: Option<Number>,
}

impl X2y2Order {
    fn read(order: SubmittedOrder<'_>, contract: Address) -> Result<Self, OrderFault> {
        let mut held: Self = from_value(Value::Object(order.native.clone()))?;
        held.protocol_address = contract;
        if !["sell", "buy"].contains(&held.kind.as_str()) {
            return Err(OrderFault::Unsupported {
                member: "type",
                what: "orders other than `sell` and `buy`",
            });
        }
        if !(1..=2).contains(&held.delegate_type) {
            let (value, known) = (held.delegate_type.into(), "1 (ERC721), 2 (ERC1155)");
            return Err(OrderFault::Kind { member: "delegateType", value, known });
        }
        Ok(held)
    }

    fn side(&self) -> OrderSide {
        if self.kind == "sell" { OrderSide::Listing } else { OrderSide::Offer }
    }

    fn is_multiple(&self) -> bool {
        self.delegate_type == 2
    }
}

impl X2y2 {
    fn derive(&self, held: &X2y2Order) -> Result<OrderFacts, OrderFault> {
        let is_offer = held.side() == OrderSide::Offer;
        let (value, is_single) = (held.amount.0, !held.is_multiple());
        match () {
            () if held.taker != Address::ZERO => {
                return Err(OrderFault::Private { member: "taker", taker: held.taker });
            }
            () if is_offer && held.currency == Address::ZERO => {
                return Err(OrderFault::NativeOffer { member: "currency" });
            }
            () if !is_offer && held.nft.token_id.is_none() => {
                return Err(OrderFault::Bundle { member: "nft.tokenId", count: 0 });
            }
            () if value.is_zero() || is_single && value != U256::ONE => {
                let expected = if is_single { "1 of an ERC721 token" } else { "at least 1" };
                return Err(OrderFault::Quantity { member: "amount", value, expected });
            }
            () => {}
        }
        let deal = Deal {
            marketplace: Marketplace::X2y2,
            order_id: held.item_hash.to_string(),
            side: held.side(),
            maker: held.maker,
            token_id: held.nft.token_id.map(|id| TokenId::from(id.0)),
            quantity: value,
            is_whole: true,
            price: held.price.0,
            currency: held.currency,
            shares: Vec::new(),
            time: (U256::ZERO, held.deadline.0),
            operator: if is_offer { self.contract } else { self.delegate(held.is_multiple()) },
            price_member: "price",
        };
        deal.facts()
    }

    /// Who moves tokens.
    fn delegate(&self, is_multiple: bool) -> Address {
        if is_multiple { self.erc1155_delegate } else { self.erc721_delegate }
    }
}

impl Protocol for X2y2 {
    fn contract(&self) -> Address {
        self.contract
    }

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let held = X2y2Order::read(order, self.contract)?;
        let facts = self.derive(&held)?;
        // Members are numbers and texts.
        let text = serde_json::to_string(&held).unwrap_or_default();
        let nonces = Nonces::default();
        Ok(NativeOrder { collection: held.nft.token, facts, nonces, text, proof: Proof::Held })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        let whole = stored.facts.quantity_initial;
        if quantity != whole {
            let order_id = stored.facts.order_id.clone();
            return Err(Refusal::Whole { order_id, quantity: whole.value() });
        }
        Ok(native::read_stored::<X2y2Order>(stored)?.price.0)
    }

    fn source_requests(&self, trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
        source::ask(trade)
    }

    fn fill(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade, answers)
    }

    fn make_order(&self, _order: &NewOrder, _seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        Err(Refusal::MakeElsewhere { protocol: NAME })
    }

    fn cancel(&self, _stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        Err(Refusal::CancelElsewhere { protocol: NAME })
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let held: X2y2Order = native::read_stored(stored)?;
        let call = inventoryStatusCall { itemHash: held.item_hash.0 };
        Ok(vec![Inquiry::new(self.contract, &call)])
    }

    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        match returned::<inventoryStatusCall>(answers, 0)? {
            COMPLETE => Some(Standing::Filled),
            CANCELLED => Some(Standing::Cancelled),
            _ => Some(Standing::Open { remaining: stored.facts.quantity_initial }),
        }
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |held: &X2y2Order| Ok((held.nft.token, self.derive(held)?)))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(logs)
    }
}
