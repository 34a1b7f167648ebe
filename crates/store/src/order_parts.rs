//! What a chain states of orders and what others say of them, as it is kept beside what follows from both.

use bourse_market::{OrderParts, OrderState};
use bourse_wire::{OrderFacts, OrderKey, OrderStatus};

use crate::StoreError;
use crate::collections::CollectionId;
use crate::columns::{Insert, or_replace, record, selection};
use crate::orders::with_keys;
use crate::session::Session;

record! {
    /// What is kept apart of an order. Where there is neither, the order itself is what others say.
    pub(crate) struct Apart: "orders" ("collection_id, marketplace, order_id") {
        said: Option<OrderState>,
        stated: Option<OrderState>,
    }
}

selection! {
    /// Whether something was signed of an order.
    pub(crate) struct IsSigned {
        is_signed: bool = "orders.native IS NOT NULL",
    }
}

impl Apart {
    pub(crate) fn of(KnownOrder { facts, parts }: &KnownOrder) -> Self {
        // What others say alone is the order itself, and not written twice where that is clear.
        let is_clear = parts.stated.is_none() && !is_stated_alone(facts);
        Self { said: parts.said.filter(|_| !is_clear), stated: parts.stated }
    }
}

/// An order that is known, and who said what of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownOrder {
    pub(crate) facts: OrderFacts,
    pub(crate) parts: OrderParts,
}

impl KnownOrder {
    /// Reads an order with what is kept apart of it.
    pub(crate) fn read(facts: OrderFacts, apart: &Apart, is_signed: bool) -> Self {
        let whole = OrderState::of(&facts);
        let parts = match (apart.said, apart.stated) {
            (None, None) if is_signed => OrderParts {
                said: Some(OrderState { remaining: facts.quantity_initial, ..whole }),
                stated: Some(OrderState { status: OrderStatus::Active, ..whole }),
            },
            (None, None) if is_stated_alone(&facts) => OrderParts { said: None, stated: Some(whole) },
            (None, None) => OrderParts { said: Some(whole), stated: None },
            (said, stated) => OrderParts { said, stated },
        };
        Self { facts, parts }
    }

    /// An order with these terms, as what is said and stated makes it; `None` when nobody tells of it any more.
    pub(crate) fn of(terms: &OrderFacts, parts: OrderParts) -> Option<Self> {
        let state = parts.together()?;
        Some(Self { facts: state.apply_to(terms), parts })
    }

    /// The order as its chain has it.
    pub(crate) fn as_stated(&self) -> OrderFacts {
        self.parts.as_stated(&self.facts)
    }

    /// Takes an order as its chain has it now. Of orders of contracts of our own, which these keep themselves, nobody else
    /// has anything to say then.
    pub(crate) fn state(&self, now: &OrderFacts) -> Option<Self> {
        let was = OrderState::of(&self.as_stated());
        let state = OrderState::of(now);
        // Only what covers it may be different, which is nobody's word.
        let stated = self.parts.stated.or((state != was).then_some(state)).map(|_| state);
        let said = self.parts.said.filter(|_| stated.is_none() || !now.marketplace.is_own());
        Self::of(now, OrderParts { said, stated })
    }
}

/// Whether an order is one that only a chain states where nothing is kept apart of it.
fn is_stated_alone(order: &OrderFacts) -> bool {
    order.marketplace.is_own() && order.operator.is_some()
}

/// Those of these orders that there are, with who said what of them.
pub(crate) async fn read_known(
    session: &mut Session<'_>,
    id: CollectionId,
    keys: impl IntoIterator<Item = OrderKey>,
) -> Result<Vec<KnownOrder>, StoreError> {
    let found: Vec<(OrderFacts, Apart, IsSigned)> = session.keyed(id, with_keys("orders", keys)).await?;
    let known = |(facts, apart, IsSigned { is_signed })| KnownOrder::read(facts, &apart, is_signed);
    Ok(found.into_iter().map(known).collect())
}

/// Writes orders as they are. What was signed of them stays.
pub(crate) async fn write_known<'a>(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: impl IntoIterator<Item = &'a KnownOrder>,
) -> Result<(), StoreError> {
    let rows = orders.into_iter().map(|order| (&order.facts, Apart::of(order)));
    session.insert(Insert::owned(id, rows)?, &or_replace::<(OrderFacts, Apart)>(&[])).await
}
