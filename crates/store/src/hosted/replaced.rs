//! What tokens and contracts say where a hosted collection may speak for them: that, or without it what they said before. What a
//! hosted collection says is stored in the place of what was there, which is kept until it counts again.

use std::collections::{BTreeMap, HashMap};

use bourse_wire::{
    CollectionMetadata, ContractInfo, HOSTED, MetadataStatus, Timestamp, TokenId, TokenMetadata, is_hosted,
};

use super::said::contract_said;
use crate::StoreError;
use crate::args::args;
use crate::collections::{CollectionId, CollectionKey, StoredToken, read_contract};
use crate::columns::{Insert, or_replace, record};
use crate::commit::Change;
use crate::metadata_queue::{ask_anew, item_id, read_json};
use crate::session::{Keys, Session, list};

record! {
    /// What something said before a hosted collection did.
    struct ReplacedRow: "replaced_metadata" ("collection_id, token_id") {
        token_id: String,
        metadata: String,
    }
}

/// What becomes of tokens of a collection that is held: those that something is said of say that, and of the others those that a
/// hosted collection spoke for say again what they said before. What is said of tokens that are not stored makes them.
pub(crate) async fn token_changes(
    session: &mut Session<'_>,
    id: CollectionId,
    stored: Vec<StoredToken>,
    mut said: BTreeMap<TokenId, TokenMetadata>,
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let (mut changes, mut replaced, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for StoredToken { token_id, metadata: before } in stored {
        match said.remove(&token_id) {
            Some(token) => {
                changes.push(Change::Token { token_id, metadata: token.to_json()? });
                if !is_hosted(before.as_bytes()) {
                    replaced.push(ReplacedRow { token_id: item_id(Some(token_id)), metadata: before });
                }
            }
            None if is_hosted(before.as_bytes()) => left.push(token_id),
            None => {}
        }
    }
    for (token_id, token) in said {
        changes.push(Change::Token { token_id, metadata: token.to_json()? });
        let metadata = TokenMetadata::not_available(token_id).to_json()?;
        replaced.push(ReplacedRow { token_id: item_id(Some(token_id)), metadata });
    }
    keep(session, id, replaced).await?;
    changes.extend(tokens_again(session, id, left, now).await?);
    Ok(changes)
}

/// What tokens said before a hosted collection spoke for them. Their contract is asked anew, unless it never said anything.
async fn tokens_again(
    session: &mut Session<'_>,
    id: CollectionId,
    tokens: Vec<TokenId>,
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let names: Vec<String> = tokens.iter().map(|token| item_id(Some(*token))).collect();
    let mut before = replaced(session, id, &names).await?;
    forget_replaced(session, id, &names).await?;
    let (mut changes, mut asked) = (Vec::new(), Vec::new());
    for (token_id, name) in tokens.into_iter().zip(names) {
        let mut token: TokenMetadata = match before.remove(&name) {
            Some(text) => read_json("token metadata", &text)?,
            None => TokenMetadata::not_available(token_id),
        };
        token.queued_at = None;
        token.updated_at = now;
        if let Some(status) = &mut token.status {
            *status = at_rest(*status);
            asked.push(Some(token_id));
        }
        changes.push(Change::Token { token_id, metadata: token.to_json()? });
    }
    ask_anew(session, id, &asked, now).await?;
    Ok(changes)
}

/// What a contract says by itself, without what a hosted collection says of it, as JSON text.
pub(crate) async fn own_contract(
    session: &mut Session<'_>,
    (id, contract): (CollectionId, CollectionKey),
) -> Result<Option<String>, StoreError> {
    match read_contract(session, id).await? {
        Some(text) if is_hosted(text.as_bytes()) => {
            let name = item_id(None);
            let before = replaced(session, id, std::slice::from_ref(&name)).await?.remove(&name);
            Ok(Some(before.map_or_else(|| unknown_contract(contract).to_json(), Ok)?))
        }
        stored => Ok(stored),
    }
}

/// What becomes of the information of a contract that says something by itself, or nothing: what a hosted collection says of it is
/// laid over that. Whoever calls this holds its collection.
pub(crate) async fn contract_change(
    session: &mut Session<'_>,
    (id, contract): (CollectionId, CollectionKey),
    own: Option<ContractInfo>,
    (public_url, now): (&str, Timestamp),
) -> Result<Option<Change>, StoreError> {
    let stored = read_contract(session, id).await?;
    let was_hosted = stored.as_deref().is_some_and(|text| is_hosted(text.as_bytes()));
    let info = match contract_said(session, contract, public_url).await? {
        Some(said) => {
            let own = own.unwrap_or_else(|| unknown_contract(contract));
            let row = ReplacedRow { token_id: item_id(None), metadata: own.to_json()? };
            keep(session, id, vec![row]).await?;
            laid_over(own, &said)
        }
        None if was_hosted => {
            forget_replaced(session, id, &[item_id(None)]).await?;
            let mut own = own.unwrap_or_else(|| unknown_contract(contract));
            own.queued_at = None;
            own.status = own.status.map(at_rest);
            if own.status.is_some() {
                ask_anew(session, id, &[None], now).await?;
            }
            own
        }
        None => return Ok(own.map(|own| own.to_json()).transpose()?.map(Change::Contract)),
    };
    let before: Option<ContractInfo> =
        stored.as_deref().map(|text| read_json("contract information", text)).transpose()?;
    let is_same = before
        .as_ref()
        .is_some_and(|before| *before == ContractInfo { updated_at: before.updated_at, ..info.clone() });
    let updated_at = before.filter(|_| is_same).map_or(now, |before| before.updated_at);
    Ok(Some(Change::Contract(ContractInfo { updated_at, ..info }.to_json()?)))
}

/// A contract with what a hosted collection says of it; what that leaves out stays as it is.
fn laid_over(mut info: ContractInfo, said: &CollectionMetadata) -> ContractInfo {
    let put = |member: &mut String, text: &String| {
        if !text.is_empty() {
            member.clone_from(text);
        }
    };
    put(&mut info.name, &said.name);
    put(&mut info.logo_uri, &said.image);
    let extensions = &mut info.extensions;
    put(&mut extensions.og_name, &said.name);
    put(&mut extensions.og_image, &said.image);
    put(&mut extensions.description, &said.description);
    put(&mut extensions.link, &said.external_link);
    info.queued_at = None;
    info.status = Some(MetadataStatus::Available);
    HOSTED.clone_into(&mut info.source);
    info
}

/// A contract that nothing is known of, and that nobody waits for.
fn unknown_contract(contract: CollectionKey) -> ContractInfo {
    let status = Some(MetadataStatus::NotAvailable);
    ContractInfo { status, ..ContractInfo::unknown(contract.chain, contract.address) }
}

/// The status of what is not being fetched.
fn at_rest(status: MetadataStatus) -> MetadataStatus {
    match status {
        MetadataStatus::Refreshing => MetadataStatus::Available,
        MetadataStatus::Available | MetadataStatus::NotAvailable => status,
    }
}

async fn keep(session: &mut Session<'_>, id: CollectionId, rows: Vec<ReplacedRow>) -> Result<(), StoreError> {
    session.insert(Insert::owned(id, rows)?, &or_replace::<ReplacedRow>(&[])).await
}

/// The next tokens that a hosted collection spoke for, after one of them in the order of their names.
pub(super) async fn replaced_tokens(
    session: &mut Session<'_>,
    id: CollectionId,
    after: &str,
    limit: u64,
) -> Result<Vec<TokenId>, StoreError> {
    let sql = "SELECT token_id FROM replaced_metadata WHERE collection_id = $1 AND token_id > $2
        ORDER BY token_id LIMIT $3";
    // The empty name, which is the contract's, comes after no other.
    session.values(sql, args![id.0, after, limit]).await
}

async fn replaced(
    session: &mut Session<'_>,
    id: CollectionId,
    names: &[String],
) -> Result<HashMap<String, String>, StoreError> {
    let keys = names.iter().map(|name| args![name.as_str()]).collect();
    let keys = Keys { from: "replaced_metadata", columns: "token_id", keys };
    let rows: Vec<ReplacedRow> = session.keyed(id, keys).await?;
    Ok(rows.into_iter().map(|row| (row.token_id, row.metadata)).collect())
}

/// Forgets what things said before: they say it again, or they are no more.
pub(crate) async fn forget_replaced(
    session: &mut Session<'_>,
    id: CollectionId,
    names: &[String],
) -> Result<(), StoreError> {
    if names.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM replaced_metadata WHERE collection_id = $1 AND token_id IN ({})",
        list(names.len(), 1)
    );
    let names = names.iter().flat_map(|name| args![name.as_str()]);
    session.execute(sql, args![id.0].into_iter().chain(names).collect()).await.map(drop)
}
