//! The same rules on plain maps of everything, one fact after the other.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Everything of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plain {
    balances: BTreeMap<(TokenId, Address), Amount>,
    tokens: BTreeSet<TokenId>,
    orders: BTreeMap<OrderKey, OrderFacts>,
    approvals: BTreeMap<(Address, Address), bool>,
    token_approvals: BTreeMap<TokenId, Address>,
}

impl Plain {
    fn apply(&mut self, block: &Block, fact: &Fact) {
        match fact {
            Fact::Transfer { token_id, from, to, quantity, single } => {
                if *quantity == Amount::ZERO {
                    return;
                }
                if let Some(held) = self.balances.get_mut(&(*token_id, *from)) {
                    *held = Amount::from(held.value().saturating_sub(quantity.value()));
                }
                if *to != Address::ZERO {
                    let held = self.balances.entry((*token_id, *to)).or_default();
                    *held = Amount::from(held.value().saturating_add(quantity.value()));
                    self.tokens.insert(*token_id);
                }
                if *single {
                    self.set_token_approval(*token_id, Address::ZERO);
                }
            }
            Fact::Approval { owner, operator, approved } => {
                self.approvals.insert((*owner, *operator), *approved);
                let for_token = self.token_approvals.clone();
                for order in self.open_listings(Some(*operator)).filter(|order| order.maker == *owner) {
                    let covered = *approved || for_token.get(&order.token_id.unwrap()) == Some(operator);
                    order.backing = (!covered).then_some(Amount::ZERO);
                }
            }
            Fact::TokenApproval { token_id, operator } => self.set_token_approval(*token_id, *operator),
            Fact::OrderMade(made) => {
                let known_not = self.approvals.get(&(made.maker, made.operator)) == Some(&false);
                let for_token = self.token_approvals.get(&made.token_id.unwrap()) == Some(&made.operator);
                let uncovered = made.side == OrderSide::Listing && known_not && !for_token;
                let backing = uncovered.then_some(Amount::ZERO);
                let order = OrderFacts { backing, ..order_of(block, made) };
                self.orders.insert(order.key(), order);
            }
            Fact::OrderFilled(filled) => {
                let OrderRef::Id(order_id) = &filled.order_ref else {
                    unreachable!("no such facts are drawn")
                };
                if let Some(order) = self
                    .orders
                    .get_mut(&OrderKey { marketplace: filled.marketplace, order_id: order_id.clone() })
                {
                    let quantity_remaining = filled.remaining.unwrap();
                    *order = OrderFacts { quantity_remaining, ..changed_in(block, order) };
                }
            }
            Fact::OrderCancelled { marketplace, order_id } => {
                if let Some(order) =
                    self.orders.get_mut(&OrderKey { marketplace: *marketplace, order_id: order_id.clone() })
                {
                    *order = OrderFacts { status: OrderStatus::Cancelled, ..changed_in(block, order) };
                }
            }
            Fact::OrdersInvalidated { maker, below, .. } => {
                for order in self.orders.values_mut().filter(|order| is_open(order) && order.maker == *maker)
                {
                    if order.order_id.parse::<U256>().unwrap() < *below {
                        *order = OrderFacts { status: OrderStatus::Cancelled, ..changed_in(block, order) };
                    }
                }
            }
            Fact::Paid { .. }
            | Fact::OrderPublished(_)
            | Fact::OrdersRevoked { .. }
            | Fact::Grant { .. }
            | Fact::RoyaltiesChanged => {
                unreachable!("no such facts are drawn")
            }
            Fact::MetadataChanged { .. } => {}
        }
    }

    fn open_listings(&mut self, operator: Option<Address>) -> impl Iterator<Item = &mut OrderFacts> {
        self.orders.values_mut().filter(move |order| order.operator == operator && is_open_listing(order))
    }

    fn set_token_approval(&mut self, token: TokenId, operator: Address) {
        let former = self.token_approvals.get(&token).copied().unwrap_or_default();
        if former == operator {
            return;
        }
        self.token_approvals.insert(token, operator);
        let for_all = self.approvals.clone();
        for order in self.open_listings(Some(former)).filter(|order| order.token_id == Some(token)) {
            let covered = for_all.get(&(order.maker, former)) == Some(&true);
            order.backing = if covered { None } else { Some(Amount::ZERO) };
        }
        for order in self.open_listings(Some(operator)).filter(|order| order.token_id == Some(token)) {
            order.backing = None;
        }
    }

    /// A ledger with what these facts need, and nothing else.
    fn ledger(&self, facts: &[StatedFact]) -> Ledger {
        let needs = Needs::of(facts);
        let mut ledger = Ledger::default();
        for ((token, account), held) in self.balances.iter().filter(|(key, _)| needs.balances.contains(key)) {
            ledger.load_balance(*token, *account, *held);
        }
        for token in self.tokens.intersection(&needs.tokens) {
            ledger.load_token(*token);
        }
        self.load_approvals(&mut ledger, &needs.approvals, &needs.token_approvals);
        let listed = ledger.listed_tokens(&needs);
        for (key, order) in &self.orders {
            let of_token = is_open(order) && order.token_id.is_some_and(|token| listed.contains(&token));
            let of_maker = is_open(order) && needs.makers.contains(&order.maker);
            if needs.orders.contains(key) || of_token || of_maker {
                ledger.load_order(order.clone());
            }
        }
        let (approvals, token_approvals) = ledger.deciding_approvals();
        self.load_approvals(&mut ledger, &approvals, &token_approvals);
        ledger
    }

    fn load_approvals(
        &self,
        ledger: &mut Ledger,
        approvals: &BTreeSet<(Address, Address)>,
        token_approvals: &BTreeSet<TokenId>,
    ) {
        for (owner, operator) in approvals {
            if let Some(approved) = self.approvals.get(&(*owner, *operator)) {
                ledger.load_approval(*owner, *operator, *approved);
            }
        }
        for token in token_approvals {
            if let Some(operator) = self.token_approvals.get(token) {
                ledger.load_token_approval(*token, *operator);
            }
        }
    }

    fn take_over(&mut self, outcome: Outcome) {
        self.balances.extend(outcome.balances);
        self.tokens.extend(outcome.tokens);
        self.orders.extend(outcome.orders.into_iter().map(|order| (order.key(), order)));
        self.approvals.extend(outcome.approvals);
        self.token_approvals.extend(outcome.token_approvals);
    }

    fn undo(&mut self, before: Before) {
        restore(&mut self.balances, before.balances);
        for token in before.tokens {
            self.tokens.remove(&token);
        }
        restore(&mut self.orders, before.orders);
        restore(&mut self.approvals, before.approvals);
        restore(&mut self.token_approvals, before.token_approvals);
    }
}

fn restore<K: Ord, V>(records: &mut BTreeMap<K, V>, before: BTreeMap<K, Option<V>>) {
    for (key, value) in before {
        match value {
            Some(value) => drop(records.insert(key, value)),
            None => drop(records.remove(&key)),
        }
    }
}

/// Facts of few tokens, accounts and orders, so that much of it meets.
fn fact() -> impl Strategy<Value = Fact> {
    let (token, who, operator, order_id) = (0_u64..3, 0_u8..4, 0_u8..3, 0_u64..6);
    let side = prop_oneof![3 => Just(OrderSide::Listing), 1 => Just(OrderSide::Offer)];
    prop_oneof![
        4 => (token.clone(), who.clone(), who.clone(), 0_u64..3, any::<bool>())
            .prop_map(|(token, from, to, quantity, single)| transfer(token, from, to, quantity, single)),
        2 => (who.clone(), operator.clone(), any::<bool>())
            .prop_map(|(owner, operator, approved)| approval(owner, operator, approved)),
        2 => (token.clone(), operator.clone()).prop_map(|(token, operator)| token_approval(token, operator)),
        3 => (order_id.clone(), side, who.clone(), 1_u8..3, token)
            .prop_map(|(id, side, maker, operator, token)| made(id, side, maker, operator, token)),
        2 => (order_id.clone(), who.clone(), 0_u64..3)
            .prop_map(|(id, taker, remaining)| filled(id, taker, taker, 1, remaining)),
        1 => order_id.clone().prop_map(cancelled),
        1 => (who, order_id).prop_map(|(maker, below)| Fact::OrdersInvalidated {
            marketplace: Marketplace::OwnV2,
            maker: account(maker),
            below: U256::from(below),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Batches of blocks of facts: what a ledger that knows only what it needs makes of them is what plain maps of
    /// everything become, and undoing the blocks from the last to the first leads back.
    #[test]
    fn a_ledger_does_what_plain_maps_do(batches in vec(vec(vec(fact(), 0..6), 1..4), 1..5)) {
        let (mut plain, mut kept) = (Plain::default(), Plain::default());
        let mut number = 0;
        for batch in batches {
            let before_batch = kept.clone();
            let all: Vec<StatedFact> = batch.iter().flatten().map(|fact| stated(0, fact.clone())).collect();
            let mut ledger = kept.ledger(&all);
            let mut befores = Vec::new();
            for facts in batch {
                number += 1;
                ledger.begin_block(true);
                for fact in facts {
                    plain.apply(&block(number), &fact);
                    ledger.apply(&block(number), &stated(0, fact));
                }
                befores.push(ledger.end_block());
            }
            kept.take_over(ledger.finish());
            prop_assert_eq!(&kept, &plain);
            let mut undone = kept.clone();
            for before in befores.into_iter().rev() {
                undone.undo(before);
            }
            prop_assert_eq!(&undone, &before_batch);
        }
    }
}
