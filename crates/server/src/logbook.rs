//! Who said what, as people and programs read it: for the command line and the console alike.

use bourse_store::{Attribution, AuditRecord, Author, Identity};
use bourse_wire::ServiceName;
use serde_json::{Value, json};

/// Orders that a line for people names.
const ORDERS_NAMED: usize = 3;

/// Who said what of a collection, for programs of the operator.
pub fn attribution_record(attribution: &Attribution, service: &ServiceName) -> Value {
    let author = &attribution.author;
    let (block, wallet) = match author {
        Author::Chain { block } => (*block, None),
        Author::Wallet { wallet, .. } => (None, *wallet),
        Author::Fetcher | Author::Operator | Author::Steward(_) | Author::Unknown(_) => (None, None),
    };
    let sender = author.sender();
    let orders = attribution.order_keys.iter();
    let orders: Vec<Value> = orders
        .map(|key| json!({ "marketplace": key.marketplace.word(service), "orderId": key.order_id }))
        .collect();
    json!({
        "version": attribution.version,
        "at": attribution.at,
        "author": author.word(),
        "blockNumber": block,
        "wallet": wallet,
        "projectId": sender.map(|sender| sender.project),
        "credential": sender.map(|sender| sender.credential.to_string()),
        "contract": attribution.contract,
        "tokenCount": attribution.tokens,
        "balanceCount": attribution.balances,
        "orderCount": attribution.orders,
        "activityCount": attribution.activities,
        "orders": orders,
    })
}

/// How much was said of a collection, for people: `1 contract, 2 orders, 1 token`.
pub fn attribution_counts(attribution: &Attribution) -> String {
    let counted = [
        (u64::from(attribution.contract), "contract", "contracts"),
        (attribution.orders, "order", "orders"),
        (attribution.tokens, "token", "tokens"),
        (attribution.balances, "balance", "balances"),
        (attribution.activities, "activity", "activities"),
    ];
    let counted = counted.into_iter().filter(|(count, _, _)| *count > 0);
    let parts: Vec<String> = counted
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    parts.join(", ")
}

/// The same, with some of the orders: `2 orders, 1 token: opensea 0x12, opensea 0x34`.
pub fn attribution_summary(attribution: &Attribution, service: &ServiceName) -> String {
    let named = attribution.order_keys.iter().take(ORDERS_NAMED);
    let mut named: Vec<String> =
        named.map(|key| format!("{} {}", key.marketplace.word(service), key.order_id)).collect();
    if named.is_empty() {
        return attribution_counts(attribution);
    }
    if attribution.order_keys.len() > named.len() {
        named.push("…".to_owned());
    }
    format!("{}: {}", attribution_counts(attribution), named.join(", "))
}

/// An entry of the audit log, for programs.
pub fn audit_record(entry: &AuditRecord) -> Value {
    let identity = &entry.actor.identity;
    let (account, email, sender) = match identity {
        Identity::Service | Identity::CommandLine | Identity::Unknown(_) => (None, None, None),
        Identity::Account { id, email } => (Some(*id), Some(email), None),
        Identity::Program(sender) => (None, None, Some(sender)),
    };
    json!({
        "id": entry.id,
        "at": entry.actor.at,
        "actor": identity.word(),
        "actorAccountId": account,
        "actorEmail": email,
        "actorProjectId": sender.map(|sender| sender.project),
        "actorCredential": sender.map(|sender| sender.credential.to_string()),
        "address": entry.actor.address.map(|address| address.to_string()),
        "act": entry.word,
        "projectId": entry.project,
        "subject": entry.subject,
        "detail": entry.detail,
    })
}

/// What was done, for people: `rotated an access key: key 3 (default, in the place of key 2)`.
pub fn audit_summary(entry: &AuditRecord) -> String {
    let (did, subject) = (entry.sentence(), &entry.subject);
    match entry.detail.as_str() {
        "" => format!("{did}: {subject}"),
        detail => format!("{did}: {subject} ({detail})"),
    }
}
