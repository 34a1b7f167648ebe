//! Writing what facts make of a collection.

use std::collections::BTreeSet;

use bourse_market::Nonces;
use bourse_market::ledger::{Ledger, Needs, Outcome, key_of as ledger_key};
use bourse_wire::{
    ActivityFacts, Address, Amount, Marketplace, MetadataStatus, OrderFacts, TokenId, TokenMetadata,
};

use super::undo::Undo;
use super::{BlockFacts, metadata, orders, standing};
use crate::args::args;
use crate::collections::{CollectionId, hold, read_balances};
use crate::commit::{Changed, forget_changes, raise_version};
use crate::metadata_queue::dequeue;
use crate::orders::{key_of, nonces_text, read_orders};
use crate::session::Session;
use crate::{StoreError, activities};

/// What a transaction does to one collection.
#[derive(Default)]
pub(super) struct Work {
    /// The version that it has; `None` until the collection is held.
    version: Option<u64>,
    /// What is different.
    pub(super) changed: Changed,
    /// Tokens that were undone and not made again yet.
    pub(super) unmade: BTreeSet<TokenId>,
    /// Tokens of which something was deleted.
    pub(super) orphans: BTreeSet<TokenId>,
    /// Whether balances were deleted.
    pub(super) balances_gone: bool,
}

impl Work {
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
        let mut ledger = load(session, id, &needs, &self.unmade).await?;
        let first_activity = activities::next_number(session, id).await?;
        let (mut undo_rows, mut next_activity) = (Vec::new(), first_activity);
        for BlockFacts { block, facts } in &blocks {
            let can_be_undone = block.number > undo_above;
            ledger.begin_block(can_be_undone);
            for stated in facts {
                ledger.apply(block, stated);
            }
            let before = ledger.end_block();
            let added = before.activities as u64;
            if can_be_undone {
                let undo = Undo::of(id, before, next_activity)?;
                undo_rows.push(args![id.0, block.number, undo.to_text()?]);
            }
            next_activity += added;
        }
        let head = "INSERT INTO chain_undo (collection_id, number, before)";
        session.insert(head, "", undo_rows).await?;
        let outcome = ledger.finish();
        let made = outcome.tokens.clone();
        self.write(session, id, outcome, first_activity).await?;
        if let Some(last) = blocks.last() {
            metadata::queue_made(session, id, &made, last.block.at).await?;
        }
        metadata::queue_changed(session, id, &blocks).await
    }

    async fn write(
        &mut self,
        session: &mut Session<'_>,
        id: CollectionId,
        outcome: Outcome,
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
            orders: outcome.orders.iter().map(key_of).collect(),
            activities: outcome.activities.len() as u64,
            ..Changed::default()
        };
        for token in &outcome.tokens {
            self.unmade.remove(token);
        }
        write_tokens(session, id, outcome.tokens).await?;
        write_balances(session, id, outcome.balances).await?;
        write_orders(session, id, &outcome.orders).await?;
        publish(session, id, outcome.published).await?;
        write_approvals(session, id, outcome.approvals).await?;
        write_token_approvals(session, id, outcome.token_approvals).await?;
        write_activities(session, id, first_activity, outcome.activities).await?;
        self.changed.merge(changed);
        Ok(())
    }

    /// Raises the collection's version, when anything is different, and tells how many records are.
    pub(super) async fn finish(
        self,
        session: &mut Session<'_>,
        id: CollectionId,
        changes_kept: u64,
    ) -> Result<u64, StoreError> {
        for token in &self.unmade {
            let sql = "DELETE FROM tokens WHERE collection_id = $1 AND token_id = $2";
            session.execute(sql, args![id.0, *token]).await?;
            dequeue(session, id, &[Some(*token)]).await?;
        }
        let count = self.changed.len() + self.unmade.len() as u64;
        let Some(version) = self.version.filter(|_| count > 0) else { return Ok(0) };
        raise_version(session, id, version + 1, &self.changed, changes_kept).await?;
        if self.leaves_less(session, id).await? {
            forget_changes(session, id).await?;
        }
        Ok(count)
    }

    /// Whether there is something less than followers would make of the changes, so that they must load everything: a
    /// token that nothing tells of any more, or balances where there are none any more.
    async fn leaves_less(&self, session: &mut Session<'_>, id: CollectionId) -> Result<bool, StoreError> {
        if !self.unmade.is_empty() {
            return Ok(true);
        }
        let orphans = self.orphans.iter().map(|token| args![*token]).collect();
        let known = session.keyed("SELECT token_id FROM tokens", id, "token_id", orphans).await?;
        if known.len() < self.orphans.len() {
            return Ok(true);
        }
        let sql = "SELECT token_id FROM balances WHERE collection_id = $1 LIMIT 1";
        Ok(self.balances_gone && session.first(sql, args![id.0]).await?.is_none())
    }
}

/// Reads what facts need. Tokens that were undone are there no more.
async fn load(
    session: &mut Session<'_>,
    id: CollectionId,
    needs: &Needs,
    unmade: &BTreeSet<TokenId>,
) -> Result<Ledger, StoreError> {
    let mut ledger = Ledger::default();
    for held in read_balances(session, id, needs.balances.iter().copied()).await? {
        ledger.load_balance(held.token_id, held.account, held.balance);
    }
    let keys =
        needs.tokens.iter().filter(|token| !unmade.contains(token)).map(|token| args![*token]).collect();
    for row in session.keyed("SELECT token_id FROM tokens", id, "token_id", keys).await? {
        ledger.load_token(row.parse(0, "token id")?);
    }
    load_approvals(session, id, &mut ledger, (&needs.approvals, &needs.token_approvals)).await?;
    let named = needs.orders.iter().map(|(marketplace, order_id)| (marketplace.number(), order_id.clone()));
    for order in read_orders(session, id, named).await? {
        ledger.load_order(order);
    }
    let mut found = orders::read_of_makers(session, id, &needs.makers).await?;
    found.extend(orders::read_of_tokens(session, id, &ledger.listed_tokens(needs)).await?);
    for (order, nonces) in found {
        if let Some(nonces) = nonces {
            ledger.load_nonces(ledger_key(&order), nonces);
        }
        ledger.load_order(order);
    }
    let (approvals, token_approvals) = ledger.deciding_approvals();
    let approvals = approvals.difference(&needs.approvals).copied().collect();
    let token_approvals = token_approvals.difference(&needs.token_approvals).copied().collect();
    load_approvals(session, id, &mut ledger, (&approvals, &token_approvals)).await?;
    Ok(ledger)
}

async fn load_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    ledger: &mut Ledger,
    (approvals, token_approvals): (&BTreeSet<(Address, Address)>, &BTreeSet<TokenId>),
) -> Result<(), StoreError> {
    let keys = approvals.iter().map(|(owner, operator)| args![*owner, *operator]).collect();
    let select = "SELECT owner, operator, approved FROM approvals";
    for row in session.keyed(select, id, "owner, operator", keys).await? {
        ledger.load_approval(row.parse(0, "account")?, row.parse(1, "account")?, row.bool(2)?);
    }
    let keys = token_approvals.iter().map(|token| args![*token]).collect();
    let select = "SELECT token_id, operator FROM token_approvals";
    for row in session.keyed(select, id, "token_id", keys).await? {
        ledger.load_token_approval(row.parse(0, "token id")?, row.parse(1, "account")?);
    }
    Ok(())
}

/// Makes tokens of which nothing is known but that there are such. What was fetched of one that is made again stays.
async fn write_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: Vec<TokenId>,
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(tokens.len());
    for token_id in tokens {
        let metadata = TokenMetadata {
            token_id,
            status: Some(MetadataStatus::NotAvailable),
            ..TokenMetadata::default()
        }
        .to_json()?;
        rows.push(args![id.0, token_id, metadata]);
    }
    let head = "INSERT INTO tokens (collection_id, token_id, metadata)";
    session.insert(head, "ON CONFLICT (collection_id, token_id) DO NOTHING", rows).await.map(drop)
}

pub(super) async fn write_balances(
    session: &mut Session<'_>,
    id: CollectionId,
    balances: Vec<((TokenId, Address), Amount)>,
) -> Result<(), StoreError> {
    let row = |((token, account), held)| args![id.0, token, account, held];
    let head = "INSERT INTO balances (collection_id, token_id, account, balance)";
    let tail = "ON CONFLICT (collection_id, token_id, account) DO UPDATE SET balance = excluded.balance";
    session.insert(head, tail, balances.into_iter().map(row).collect()).await.map(drop)
}

async fn write_orders(
    session: &mut Session<'_>,
    id: CollectionId,
    stated: &[OrderFacts],
) -> Result<(), StoreError> {
    let rows = stated.iter().map(|order| orders::order_row(id, order)).collect::<Result<_, _>>()?;
    orders::write(session, rows).await
}

/// Keeps what was signed of orders that the chain told of, and has it asked about them.
async fn publish(
    session: &mut Session<'_>,
    id: CollectionId,
    published: Vec<((Marketplace, String), String, Nonces)>,
) -> Result<(), StoreError> {
    let mut keys = Vec::with_capacity(published.len());
    for ((marketplace, order_id), native, nonces) in published {
        let sql = "UPDATE orders SET native = $4, nonces = $5
            WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3";
        let nonces = nonces_text(&nonces)?;
        let args = args![id.0, marketplace.number(), order_id.as_str(), native, nonces];
        session.execute(sql, args).await?;
        keys.push((marketplace.number(), order_id));
    }
    standing::enqueue(session, id, keys.iter()).await
}

pub(super) async fn write_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    approvals: Vec<((Address, Address), bool)>,
) -> Result<(), StoreError> {
    let row = |((owner, operator), approved)| args![id.0, owner, operator, approved];
    let head = "INSERT INTO approvals (collection_id, owner, operator, approved)";
    let tail = "ON CONFLICT (collection_id, owner, operator) DO UPDATE SET approved = excluded.approved";
    session.insert(head, tail, approvals.into_iter().map(row).collect()).await.map(drop)
}

pub(super) async fn write_token_approvals(
    session: &mut Session<'_>,
    id: CollectionId,
    approvals: Vec<(TokenId, Address)>,
) -> Result<(), StoreError> {
    let row = |(token, operator)| args![id.0, token, operator];
    let head = "INSERT INTO token_approvals (collection_id, token_id, operator)";
    let tail = "ON CONFLICT (collection_id, token_id) DO UPDATE SET operator = excluded.operator";
    session.insert(head, tail, approvals.into_iter().map(row).collect()).await.map(drop)
}

async fn write_activities(
    session: &mut Session<'_>,
    id: CollectionId,
    first: u64,
    happened: Vec<ActivityFacts>,
) -> Result<(), StoreError> {
    let rows = (first..).zip(happened).map(|(number, facts)| activities::activity_row(id, number, facts));
    let tail = "ON CONFLICT (collection_id, unique_hash) DO NOTHING";
    session.insert(&activities::insert_head(), tail, rows.collect()).await.map(drop)
}
