//! Writing what facts make of a collection.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bourse_market::facts::Block;
use bourse_market::ledger::{Ledger, Needs, Outcome};
use bourse_market::{Nonces, OrderParts, OrderState};
use bourse_wire::{
    ActivityFacts, Address, Amount, ChainId, MetadataStatus, OrderFacts, OrderKey, Timestamp, TokenId,
    TokenMetadata,
};

use super::undo::{Undo, UndoRow};
use super::{BlockFacts, metadata, orders, standing, tokens};
use crate::args::args;
use crate::attributions::{Author, Authorship};
use crate::collections::{CollectionId, Mark, StoredToken, are_some_gone, hold, known_tokens, read_balances};
use crate::columns::{Insert, Value as _, or_nothing, or_replace, or_replace_only, record};
use crate::commit::{Changed, NextVersion, forget_changes, raise_version};
use crate::load::Balance;
use crate::order_parts::{Apart, KnownOrder, read_known, write_known};
use crate::session::{Keys, Session};
use crate::{StoreError, activities};

/// What a transaction does to one collection.
pub(super) struct Work {
    chain: ChainId,
    /// The version that it has; `None` until the collection is held.
    version: Option<Mark>,
    /// What is different.
    pub(super) changed: Changed,
    /// Tokens that were undone and not made again yet.
    pub(super) unmade: BTreeSet<TokenId>,
    /// Tokens of which something was deleted.
    pub(super) orphans: BTreeSet<TokenId>,
    /// Whether balances were deleted.
    pub(super) balances_gone: bool,
    /// The last block that states something of it, or to which others were undone, and when it was made.
    last_block: Option<(u64, Timestamp)>,
    /// Which block stated the last change to an order.
    order_blocks: BTreeMap<OrderKey, u64>,
}

impl Work {
    /// Nothing yet, on this chain.
    pub(super) fn on(chain: ChainId) -> Self {
        Self {
            chain,
            version: None,
            changed: Changed::default(),
            unmade: BTreeSet::new(),
            orphans: BTreeSet::new(),
            balances_gone: false,
            last_block: None,
            order_blocks: BTreeMap::new(),
        }
    }

    /// Holds the collection until the transaction ends, so that its versions follow each other, whoever commits.
    pub(super) async fn hold(
        &mut self,
        session: &mut Session<'_>,
        id: CollectionId,
    ) -> Result<(), StoreError> {
        if self.version.is_none() {
            self.version = Some(hold(session, id).await?);
        }
        Ok(())
    }

    /// Notes the block by which the chain states what is different.
    pub(super) fn note_block(&mut self, block: &Block) {
        self.last_block = Some((block.number, block.at));
    }

    /// Applies what blocks state. Those above a height can be undone later.
    pub(super) async fn apply(
        &mut self,
        session: &mut Session<'_>,
        id: CollectionId,
        blocks: Vec<BlockFacts>,
        undo_above: u64,
    ) -> Result<(), StoreError> {
        if blocks.iter().all(|block| block.facts.is_empty()) {
            return Ok(());
        }
        self.hold(session, id).await?;
        let needs = Needs::of(blocks.iter().flat_map(|block| &block.facts));
        let Loaded { mut ledger, known, absent } = load(session, id, &needs, &self.unmade).await?;
        let first_activity = activities::next_number(session, id).await?;
        let mut undo_rows = Vec::new();
        for BlockFacts { block, facts } in &blocks {
            let can_be_undone = block.number > undo_above;
            ledger.begin_block(can_be_undone);
            for stated in facts {
                ledger.apply(block, stated);
            }
            let before = ledger.end_block();
            if can_be_undone {
                let before = Undo::of(before, |key, order| known.is_unstated(key, order))?;
                undo_rows.push(UndoRow { number: block.number, before });
            }
        }
        // Of collections that nothing is stated of this is done now and then.
        let sql = "DELETE FROM chain_undo WHERE collection_id = $1 AND number <= $2";
        session.execute(sql, args![id.0, undo_above]).await?;
        session.insert(Insert::owned(id, undo_rows)?, "").await?;
        let outcome = ledger.finish();
        let made = outcome.tokens.clone();
        write_orders(session, id, known.now(&outcome.orders), &absent).await?;
        self.write(session, id, (outcome, &absent), first_activity).await?;
        if let Some(last) = blocks.last() {
            self.note_block(&last.block);
            metadata::queue_made(session, id, &made, &blocks).await?;
        }
        metadata::queue_changed(session, id, &blocks).await
    }

    async fn write(
        &mut self,
        session: &mut Session<'_>,
        id: CollectionId,
        (outcome, absent): (Outcome, &Absent),
        first_activity: u64,
    ) -> Result<(), StoreError> {
        if outcome.unknown_orders > 0 {
            let (collection, count) = (id.0, outcome.unknown_orders);
            tracing::debug!(
                collection,
                count,
                "orders of before the collection was followed were filled or cancelled"
            );
        }
        let changed = Changed {
            tokens: outcome.tokens.clone(),
            balances: outcome.balances.iter().map(|(key, _)| *key).collect(),
            orders: outcome.orders.iter().map(OrderFacts::key).collect(),
            activities: outcome.activities.len() as u64,
            ..Changed::default()
        };
        for token in &outcome.tokens {
            self.unmade.remove(token);
        }
        self.order_blocks.extend(outcome.orders.iter().map(|order| (order.key(), order.block_number)));
        write_tokens(session, id, outcome.tokens, absent).await?;
        let is_new = |(key, _): &((TokenId, Address), Amount)| absent.balances.contains(key);
        let (new, others) = outcome.balances.into_iter().partition(is_new);
        session.insert(Insert::owned(id, balance_rows(new))?, "").await?;
        write_balances(session, id, others).await?;
        publish(session, id, outcome.published).await?;
        write_approvals(session, id, outcome.approvals).await?;
        write_token_approvals(session, id, outcome.token_approvals).await?;
        standing::enqueue(session, id, outcome.unsettled.iter()).await?;
        let activities =
            activities::numbered((id, Some(self.chain)), first_activity, each_once(outcome.activities))?;
        // One that was told of before the collection was left, and is told of again, may be in another block by now.
        let told_again =
            or_replace_only::<ActivityFacts>(&["chain_id", "block_number", "block_hash", "log_index", "at"]);
        session.insert(activities, &told_again).await?;
        self.changed.merge(changed);
        Ok(())
    }

    /// Raises the collection's version, when anything is different, and tells how many records are.
    pub(super) async fn finish(
        mut self,
        session: &mut Session<'_>,
        id: CollectionId,
        changes_kept: u64,
    ) -> Result<u64, StoreError> {
        for token in std::mem::take(&mut self.unmade) {
            if tokens::unmake(session, id, token).await? {
                self.unmade.insert(token);
            }
        }
        let count = self.changed.len() + self.unmade.len() as u64;
        let Some(before) = self.version.filter(|_| count > 0) else { return Ok(0) };
        let (block, at) = self.last_block.unzip();
        let author = Author::Chain { block };
        let authorship = Authorship {
            author,
            at: at.unwrap_or(Timestamp::ZERO),
            order_blocks: std::mem::take(&mut self.order_blocks),
        };
        let next = NextVersion { before, changed: &self.changed, authorship: &authorship, changes_kept };
        raise_version(session, id, next).await?;
        if self.leaves_less(session, id).await? {
            forget_changes(session, id).await?;
        }
        Ok(count)
    }

    /// Whether there is something less than followers would make of the changes, so that they must load everything: a
    /// token that nothing tells of any more, or balances where there are none any more.
    async fn leaves_less(&self, session: &mut Session<'_>, id: CollectionId) -> Result<bool, StoreError> {
        if !self.unmade.is_empty() || are_some_gone(session, id, &self.orphans).await? {
            return Ok(true);
        }
        let sql = "SELECT token_id FROM balances WHERE collection_id = $1 LIMIT 1";
        Ok(self.balances_gone && !session.has(sql, args![id.0]).await?)
    }
}

/// What facts need.
struct Loaded {
    ledger: Ledger,
    known: KnownOrders,
    absent: Absent,
}

/// What was looked for and is not there. The collection is held, so that it can be written without being looked for again.
struct Absent {
    balances: BTreeSet<(TokenId, Address)>,
    tokens: BTreeSet<TokenId>,
    orders: BTreeSet<OrderKey>,
}

/// Reads what facts need. Tokens that were undone are there no more.
async fn load(
    session: &mut Session<'_>,
    id: CollectionId,
    needs: &Needs,
    unmade: &BTreeSet<TokenId>,
) -> Result<Loaded, StoreError> {
    let mut ledger = Ledger::default();
    let mut absent = Absent {
        balances: needs.balances.clone(),
        tokens: needs.tokens.difference(unmade).copied().collect(),
        orders: needs.orders.clone(),
    };
    for held in read_balances(session, id, needs.balances.iter().copied()).await? {
        absent.balances.remove(&(held.token_id, held.account));
        ledger.load_balance(held.token_id, held.account, held.balance);
    }
    for token in known_tokens(session, id, absent.tokens.iter().copied()).await? {
        absent.tokens.remove(&token);
        ledger.load_token(token);
    }
    load_approvals(session, id, &needs.approvals, &mut ledger).await?;
    load_token_approvals(session, id, &needs.token_approvals, &mut ledger).await?;
    let mut known = KnownOrders::default();
    for order in read_known(session, id, needs.orders.iter().cloned()).await? {
        absent.orders.remove(&order.facts.key());
        known.load(order, &mut ledger);
    }
    let mut found = orders::read_of_makers(session, id, &needs.makers).await?;
    found.extend(orders::read_of_tokens(session, id, &ledger.listed_tokens(needs)).await?);
    for (order, nonces) in found {
        if let Some(nonces) = nonces {
            ledger.load_nonces(order.facts.key(), nonces);
        }
        known.load(order, &mut ledger);
    }
    let (approvals, token_approvals) = ledger.deciding_approvals();
    let approvals = approvals.difference(&needs.approvals).copied().collect();
    let token_approvals = token_approvals.difference(&needs.token_approvals).copied().collect();
    load_approvals(session, id, &approvals, &mut ledger).await?;
    load_token_approvals(session, id, &token_approvals, &mut ledger).await?;
    Ok(Loaded { ledger, known, absent })
}

/// The orders that facts need, and who said what of them before.
#[derive(Default)]
struct KnownOrders(HashMap<OrderKey, KnownOrder>);

impl KnownOrders {
    /// Loads an order as its chain has it: blocks go on from that, whatever others say.
    fn load(&mut self, order: KnownOrder, ledger: &mut Ledger) {
        ledger.load_order(order.as_stated());
        self.0.insert(order.facts.key(), order);
    }

    /// Whether an order is as it was before a chain stated anything of it.
    fn is_unstated(&self, key: &OrderKey, order: &OrderFacts) -> bool {
        let untouched = self.0.get(key).filter(|known| known.parts.stated.is_none());
        untouched.is_some_and(|known| OrderState::of(&known.as_stated()) == OrderState::of(order))
    }

    /// What follows of how the chain has orders now.
    fn now(&self, stated: &[OrderFacts]) -> Vec<KnownOrder> {
        let now = |order: &OrderFacts| match self.0.get(&order.key()) {
            Some(known) => known.state(order),
            None => KnownOrder::of(order, OrderParts { said: None, stated: Some(OrderState::of(order)) }),
        };
        stated.iter().filter_map(now).collect()
    }
}

record! {
    #[derive(Debug)]
    pub(crate) struct Approval: "approvals" ("collection_id, owner, operator") {
        owner: Address,
        operator: Address,
        approved: bool,
    }
}

record! {
    #[derive(Debug)]
    pub(crate) struct TokenApproval: "token_approvals" ("collection_id, token_id") {
        token_id: TokenId,
        operator: Address,
    }
}

async fn load_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    approvals: &BTreeSet<(Address, Address)>,
    ledger: &mut Ledger,
) -> Result<(), StoreError> {
    let keys = approvals.iter().map(|(owner, operator)| args![*owner, *operator]).collect();
    let keys = Keys { from: "approvals", columns: "owner, operator", keys };
    let found: Vec<Approval> = session.keyed(id, keys).await?;
    for Approval { owner, operator, approved } in found {
        ledger.load_approval(owner, operator, approved);
    }
    Ok(())
}

async fn load_token_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: &BTreeSet<TokenId>,
    ledger: &mut Ledger,
) -> Result<(), StoreError> {
    let keys = tokens.iter().map(|token| args![*token]).collect();
    let keys = Keys { from: "token_approvals", columns: "token_id", keys };
    let found: Vec<TokenApproval> = session.keyed(id, keys).await?;
    for TokenApproval { token_id, operator } in found {
        ledger.load_token_approval(token_id, operator);
    }
    Ok(())
}

/// Makes tokens of which nothing is known but that there are such. What was fetched of one that is made again stays.
async fn write_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: Vec<TokenId>,
    absent: &Absent,
) -> Result<(), StoreError> {
    let token = |token_id| {
        let status = Some(MetadataStatus::NotAvailable);
        let metadata = TokenMetadata { token_id, status, ..TokenMetadata::default() }.to_json()?;
        Ok(StoredToken { token_id, metadata })
    };
    let tokens = tokens.into_iter().map(token).collect::<Result<Vec<_>, StoreError>>()?;
    let (new, others): (Vec<_>, Vec<_>) =
        tokens.into_iter().partition(|token| absent.tokens.contains(&token.token_id));
    session.insert(Insert::owned(id, new)?, "").await?;
    session.insert(Insert::owned(id, others)?, &or_nothing::<StoredToken>()).await
}

/// What happened, but what a node tells again in another block: no statement may write a row twice.
fn each_once(mut activities: Vec<ActivityFacts>) -> Vec<ActivityFacts> {
    let mut names = HashSet::with_capacity(activities.len());
    activities.retain(|activity| names.insert(activity.unique_hash.clone()));
    activities
}

async fn write_orders(
    session: &mut Session<'_>,
    id: CollectionId,
    orders: Vec<KnownOrder>,
    absent: &Absent,
) -> Result<(), StoreError> {
    let (new, others): (Vec<_>, Vec<_>) =
        orders.into_iter().partition(|order| absent.orders.contains(&order.facts.key()));
    let new = new.iter().map(|order| (&order.facts, Apart::of(order)));
    session.insert(Insert::owned(id, new)?, "").await?;
    write_known(session, id, &others).await
}

fn balance_rows(balances: Vec<((TokenId, Address), Amount)>) -> impl Iterator<Item = Balance> {
    balances.into_iter().map(|((token_id, account), balance)| Balance { token_id, account, balance })
}

pub(super) async fn write_balances(
    session: &mut Session<'_>,
    id: CollectionId,
    balances: Vec<((TokenId, Address), Amount)>,
) -> Result<(), StoreError> {
    session.insert(Insert::owned(id, balance_rows(balances))?, &or_replace::<Balance>(&[])).await
}

/// Keeps what was signed of orders that the chain told of, and has it asked about them.
async fn publish(
    session: &mut Session<'_>,
    id: CollectionId,
    published: Vec<(OrderKey, String, Nonces)>,
) -> Result<(), StoreError> {
    let mut keys = Vec::with_capacity(published.len());
    for (key, native, nonces) in published {
        let sql = "UPDATE orders SET native = $4, nonces = $5
            WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
        let (marketplace, order_id) = (key.marketplace.number(), key.order_id.as_str());
        session.execute(sql, args![id.0, marketplace, order_id, native, nonces.arg()?]).await?;
        keys.push(key);
    }
    standing::enqueue(session, id, keys.iter()).await
}

pub(super) async fn write_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    approvals: Vec<((Address, Address), bool)>,
) -> Result<(), StoreError> {
    let approvals = approvals.into_iter();
    let approvals = approvals.map(|((owner, operator), approved)| Approval { owner, operator, approved });
    session.insert(Insert::owned(id, approvals)?, &or_replace::<Approval>(&[])).await
}

pub(super) async fn write_token_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    approvals: Vec<(TokenId, Address)>,
) -> Result<(), StoreError> {
    let approvals = approvals.into_iter();
    let approvals = approvals.map(|(token_id, operator)| TokenApproval { token_id, operator });
    session.insert(Insert::owned(id, approvals)?, &or_replace::<TokenApproval>(&[])).await
}
