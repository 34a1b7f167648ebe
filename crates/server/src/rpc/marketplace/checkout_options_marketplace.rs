//! How orders can be paid for.

use bourse_protocols::Refusal;
use bourse_wire::{Address, Amount, ChainRef, Error, OrderSide, Text};
use hashbrown::HashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trading::{Desk, FillRequest, ORDERS_MAX, OrderData, VenueRequest, read_chosen};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// Which orders, and who wants to pay.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckoutOptionsMarketplaceRequest")]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// Who wants to pay.
    wallet: Address,
    /// The orders: at most 50.
    orders: Vec<OrderName>,
    /// A share for somebody else, in basis points; it makes no difference to how orders can be paid for.
    #[expect(dead_code, reason = "clients send it, and the document shows it")]
    additional_fee: Option<Amount>,
}
request!(Request);

/// What an order is known by.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CheckoutOptionsMarketplaceOrderInput")]
pub(crate) struct OrderName {
    /// Contract of its collection.
    contract_address: Address,
    /// The marketplace's own name for it.
    order_id: Text<256>,
    /// Where it can be filled.
    marketplace: Text<64>,
}

impl OrderName {
    fn key(&self) -> (Address, String, String) {
        let text = |text: &str| text.to_owned();
        (self.contract_address, text(self.order_id.as_str()), text(self.marketplace.as_str()))
    }
}

/// How they can be paid for.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CheckoutOptionsMarketplaceAnswer")]
pub(crate) struct Answer {
    /// The ways.
    pub(super) options: CheckoutOptions,
}

/// Ways to pay.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckoutOptions {
    /// How many of what is named can be bought right now.
    crypto: TransactionCrypto,
    /// Always empty: no exchange of currencies is built in.
    swap: Vec<String>,
    /// Always empty: no payment by card is built in.
    nft_checkout: Vec<String>,
    /// Always empty: no sale of currencies is built in.
    on_ramp: Vec<String>,
}

/// How many of some orders.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TransactionCrypto {
    /// None of them.
    None,
    /// Some of them.
    Partially,
    /// All of them.
    All,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let count = request.orders.len();
    if count > ORDERS_MAX {
        let reason = format!("{count} entries where at most {ORDERS_MAX} are allowed");
        return Err(Error::invalid("orders", reason).into());
    }
    // Before any order is looked at: a request that makes no sense is refused, an order only counted.
    call.chain(request.chain_id.as_ref())?;
    // Each once: it is asked of nodes what becomes of it.
    let (mut orders, mut named) = (request.orders, HashSet::new());
    orders.retain(|order| named.insert(order.key()));
    let (mut payable, count) = (0, orders.len());
    for order in orders {
        payable += usize::from(is_payable(&call, request.chain_id.as_ref(), order, request.wallet).await?);
    }
    Ok(Answer { options: CheckoutOptions::of(payable, count) })
}

impl CheckoutOptions {
    /// Of so many things for sale, so many can be bought right now.
    pub(super) fn of(payable: usize, count: usize) -> Self {
        let crypto = match payable {
            0 => TransactionCrypto::None,
            payable if payable == count => TransactionCrypto::All,
            _ => TransactionCrypto::Partially,
        };
        Self { crypto, swap: Vec::new(), nft_checkout: Vec::new(), on_ramp: Vec::new() }
    }
}

/// Whether there are steps to buy a unit of an order, or all of one that cannot be bought in parts. The service of its marketplace is
/// not asked: it is when somebody buys.
async fn is_payable(
    call: &Call,
    chain: Option<&ChainRef>,
    order: OrderName,
    taker: Address,
) -> Result<bool, Failure> {
    let venue = VenueRequest {
        chain,
        collection: order.contract_address,
        member: "marketplace",
        marketplace: &order.marketplace,
    };
    let filling = |quantity: Amount| {
        let data = vec![OrderData { order_id: order.order_id.clone(), quantity, token_id: None }];
        FillRequest { data, side: OrderSide::Listing, member: "wallet", taker }
    };
    let steps = async {
        let desk = Desk::open(call.clone(), venue).await?;
        let one = Amount::from(1);
        let mut orders = read_chosen(&desk, filling(one)).await?;
        let protocol = desk.protocol_of_all(&orders)?;
        if let Some(Err(Refusal::Whole { quantity, .. })) =
            orders.first().map(|order| protocol.fill_price(order.stored(), one))
        {
            orders = read_chosen(&desk, filling(quantity.into())).await?;
        }
        let trade = desk.trade(protocol, &orders, &[], taker).await?;
        desk.check_payable(protocol, trade).await
    };
    match steps.await {
        Ok(()) => Ok(true),
        Err(Failure::Refused(_)) => Ok(false),
        Err(failed @ (Failure::Storage { .. } | Failure::HeldElsewhere(_) | Failure::Internal(_))) => {
            Err(failed)
        }
    }
}
