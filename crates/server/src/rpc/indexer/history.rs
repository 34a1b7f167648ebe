//! Going through the transfers of accounts, contracts and transactions, newest first. Each kind that is named is a stream of its
//! own in the store, and they are merged as far as all of them were read; what else is asked for is looked at row by row, and
//! only so many rows for each page.

use std::io::Write as _;

use alloy_primitives::B256;
use bourse_store::{CollectionId, CollectionKey, Transfer, TransferPlace, TransfersOf, TransfersQuery};
use bourse_wire::{Address, ChainId, Error, TokenId};
use hashbrown::HashMap;
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::balances::metadata_of;
use super::contract::Contract;
use super::rows::separate;
use super::types::ContractStatus;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::Begin;

/// Accounts, contracts or transactions whose transfers are read: each is one or two statements, of every look.
pub(super) const NAMED_MAX: usize = 10;
/// How often one call asks the store.
const LOOKS_MAX: usize = 4;
/// Rows that are read at once of all streams together, and those that a page has at most.
const ROWS_MAX: usize = 2_000;
/// Rows that are read of each stream at least.
const STREAM_ROWS_MIN: usize = 20;
/// Rows that are read of each where most may be none that are asked for.
const FILTERED_ROWS: usize = 500;

/// What of the history of a chain is asked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Who gave or got tokens; anybody when none are named.
    pub(super) accounts: IndexSet<Address>,
    /// Of which contracts; of any when none are named.
    pub(super) contracts: IndexSet<Address>,
    /// In which transactions; in any when none are named.
    pub(super) transactions: IndexSet<B256>,
    /// Of which token.
    pub(super) token: Option<TokenId>,
    /// The first block that counts.
    pub(super) from_block: u64,
    /// The last block that counts.
    pub(super) to_block: u64,
    /// Which contracts count.
    pub(super) status: ContractStatus,
    /// Of these contracts whatever their status.
    pub(super) admitted: Vec<Address>,
    /// Whether what is known of contracts and tokens comes with them.
    pub(super) with_metadata: bool,
}

/// A place in the history of a chain: before this one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    #[serde(rename = "b")]
    block_number: u64,
    #[serde(rename = "l")]
    log_index: u64,
    #[serde(rename = "a")]
    activity_id: u64,
}

impl From<TransferPlace> for Place {
    fn from(TransferPlace { block_number, log_index, activity_id }: TransferPlace) -> Self {
        Self { block_number, log_index, activity_id }
    }
}

impl From<Place> for TransferPlace {
    fn from(Place { block_number, log_index, activity_id }: Place) -> Self {
        Self { block_number, log_index, activity_id }
    }
}

/// Appends the transactions of a page, from where it begins and so many at most, as a JSON array; where the next one begins when
/// there is one.
pub(super) async fn write_rows(
    call: &Call,
    chain: ChainId,
    wanted: &Wanted,
    (begin, limit): (&Begin<Place>, usize),
    answer: &mut Vec<u8>,
) -> Result<Option<Place>, Failure> {
    let (place, skip) = match begin {
        Begin::Skip(skip) => {
            (Place { block_number: wanted.to_block.saturating_add(1), log_index: 0, activity_id: 0 }, *skip)
        }
        Begin::After(place) => (*place, 0),
    };
    let too_far_away =
        || Error::invalid("page.page", "is too far away: go on with the `after` of each answer");
    let skip = usize::try_from(skip).ok().filter(|skip| *skip <= ROWS_MAX).ok_or_else(too_far_away)?;
    let of = streams(call, chain, wanted).await?;
    let walk = Walk { call, chain, wanted, contracts: HashMap::new(), transactions: Vec::new(), rows: 0 };
    let (walk, next) = walk.go(&of, place.into(), skip.saturating_add(limit)).await?;
    if skip > 0 && next.is_some() && walk.transactions.len() <= skip {
        return Err(too_far_away().into());
    }
    if walk.transactions.is_empty() && next.is_none() {
        call.check_known(chain).await?;
    }
    walk.write(skip, answer).await?;
    Ok(next.map(Place::from))
}

/// What is read of the store: the fewest rows that all that is asked for is among.
async fn streams(call: &Call, chain: ChainId, wanted: &Wanted) -> Result<Vec<TransfersOf>, Failure> {
    if !wanted.transactions.is_empty() {
        return Ok(wanted.transactions.iter().copied().map(TransfersOf::Transaction).collect());
    }
    if !wanted.accounts.is_empty() {
        let both = |account: &Address| [TransfersOf::From(*account), TransfersOf::To(*account)];
        return Ok(wanted.accounts.iter().flat_map(both).collect());
    }
    let mut of = Vec::with_capacity(wanted.contracts.len());
    for address in &wanted.contracts {
        let key = CollectionKey { chain, address: *address };
        of.extend(call.app.store.collection(key).await?.map(TransfersOf::Collection));
    }
    Ok(of)
}

/// A walk under way.
struct Walk<'w> {
    call: &'w Call,
    chain: ChainId,
    wanted: &'w Wanted,
    /// The contracts met; nothing of those that do not count.
    contracts: HashMap<CollectionId, Option<Contract>>,
    /// The transfers of each transaction found, the newest first.
    transactions: Vec<Vec<Transfer>>,
    /// How many these are.
    rows: usize,
}

/// Rows of all streams, as far as all of them were read.
struct Merged {
    rows: Vec<Transfer>,
    /// How far that is; nothing at the end.
    until: Option<TransferPlace>,
}

impl Walk<'_> {
    /// Finds so many transactions below a place, and where the next ones begin when there are more.
    async fn go(
        mut self,
        of: &[TransfersOf],
        mut below: TransferPlace,
        count: usize,
    ) -> Result<(Self, Option<TransferPlace>), Failure> {
        if of.is_empty() {
            return Ok((self, None));
        }
        let each = (ROWS_MAX / of.len()).max(STREAM_ROWS_MIN);
        let usual = if self.is_filtered() { FILTERED_ROWS } else { 2 * (count + 1) };
        for _ in 0..LOOKS_MAX {
            let query = TransfersQuery {
                chain: self.chain,
                of: of.to_vec(),
                below,
                from_block: self.wanted.from_block,
                limit: each.min(usual) as u64,
            };
            let merged = merge(self.call.app.store.transfers(query).await?, each.min(usual));
            self.meet(&merged.rows).await?;
            self.take(merged.rows);
            if self.transactions.len() > count {
                self.transactions.truncate(count);
                let next = self.last_place();
                return Ok((self, next));
            }
            let Some(until) = merged.until else { return Ok((self, None)) };
            below = until;
            if self.rows > ROWS_MAX {
                break;
            }
        }
        // The rest of the last one may follow, and comes with it, if there is another one to end the page with.
        if self.transactions.len() > 1 {
            self.transactions.pop();
            below = self.last_place().unwrap_or(below);
        }
        Ok((self, Some(below)))
    }

    fn last_place(&self) -> Option<TransferPlace> {
        Some(self.transactions.last()?.last()?.place())
    }

    /// Whether rows of the streams may be none that are asked for.
    fn is_filtered(&self) -> bool {
        let Wanted { accounts, contracts, transactions, token, status, .. } = self.wanted;
        let named = [accounts.is_empty(), contracts.is_empty(), transactions.is_empty()];
        let kinds = named.into_iter().filter(|is_empty| !is_empty).count();
        kinds > 1 || token.is_some() || *status != ContractStatus::All
    }

    /// Finds out of which contracts rows are, and which of these count.
    async fn meet(&mut self, rows: &[Transfer]) -> Result<(), Failure> {
        let new: IndexSet<CollectionId> = rows.iter().map(|row| row.collection).collect();
        let new: Vec<CollectionId> = new.into_iter().filter(|id| !self.contracts.contains_key(id)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for known in self.call.app.store.known_collections(&new).await? {
            let contract = Contract::read(self.call, known.key, known.info).await?;
            let Wanted { contracts, status, admitted, .. } = self.wanted;
            let address = &contract.key.address;
            let counts = (contracts.is_empty() || contracts.contains(address))
                && (status.admits(contract.is_verified) || admitted.contains(address));
            self.contracts.insert(known.id, counts.then_some(contract));
        }
        Ok(())
    }

    fn take(&mut self, rows: Vec<Transfer>) {
        for row in rows {
            if !self.counts(&row) {
                continue;
            }
            self.rows += 1;
            match self.transactions.last_mut().filter(|last| is_same(last, &row)) {
                Some(last) => last.push(row),
                None => self.transactions.push(vec![row]),
            }
        }
    }

    fn counts(&self, row: &Transfer) -> bool {
        let Wanted { accounts, transactions, token, .. } = self.wanted;
        let is_known = self.contracts.get(&row.collection).is_some_and(Option::is_some);
        is_known
            && row.block_number <= self.wanted.to_block
            && (accounts.is_empty() || accounts.contains(&row.from) || accounts.contains(&row.to))
            && (transactions.is_empty() || transactions.contains(&row.transaction))
            && token.is_none_or(|token| token == row.token_id)
    }

    /// Appends what was found behind so many transactions.
    async fn write(mut self, skip: usize, answer: &mut Vec<u8>) -> Result<(), Failure> {
        let transactions = self.transactions.split_off(skip.min(self.transactions.len()));
        let known = self.metadata(&transactions).await?;
        answer.push(b'[');
        let first = answer.len();
        for mut rows in transactions {
            // The newest came first, and what a transaction did is told in its order.
            rows.reverse();
            let Some(row) = rows.first() else { continue };
            separate(answer, first);
            // Writing to memory cannot fail.
            let _ = write!(
                answer,
                r#"{{"txnHash":"{}","blockNumber":{},"blockHash":"{}","chainId":{},"timestamp":"{}","transfers":["#,
                row.transaction, row.block_number, row.block_hash, self.chain, row.at
            );
            let begin = answer.len();
            for log in rows.chunk_by(|one, next| {
                (one.collection, one.log_index, one.from, one.to)
                    == (next.collection, next.log_index, next.from, next.to)
            }) {
                separate(answer, begin);
                self.write_transfer(log, &known, answer);
            }
            answer.extend_from_slice(b"]}");
        }
        answer.push(b']');
        Ok(())
    }

    /// What is known of the tokens of transfers.
    async fn metadata(&self, transactions: &[Vec<Transfer>]) -> Result<Texts, Failure> {
        let mut known = Texts::new();
        if !self.wanted.with_metadata {
            return Ok(known);
        }
        let mut wanted: HashMap<CollectionId, IndexSet<TokenId>> = HashMap::new();
        for row in transactions.iter().flatten() {
            wanted.entry(row.collection).or_default().insert(row.token_id);
        }
        for (id, tokens) in wanted {
            let Some(Some(contract)) = self.contracts.get(&id) else { continue };
            let tokens: Vec<TokenId> = tokens.into_iter().collect();
            for (token, text) in metadata_of(self.call, contract.key, tokens).await? {
                known.insert((id, token), text);
            }
        }
        Ok(known)
    }

    /// Appends what one log tells.
    fn write_transfer(&self, log: &[Transfer], known: &Texts, out: &mut Vec<u8>) {
        let Some(row) = log.first() else { return };
        let Some(Some(contract)) = self.contracts.get(&row.collection) else { return };
        let kind = if self.wanted.accounts.contains(&row.from) {
            "SEND"
        } else if self.wanted.accounts.contains(&row.to) {
            "RECEIVE"
        } else {
            "UNKNOWN"
        };
        let listed = |text: &dyn Fn(&Transfer) -> String| {
            log.iter().map(|row| format!("\"{}\"", text(row))).collect::<Vec<_>>().join(",")
        };
        // Writing to memory cannot fail.
        let _ = write!(
            out,
            r#"{{"transferType":"{kind}","contractAddress":"{}","contractType":"{}","from":"{}","to":"{}","tokenIds":[{}],"amounts":[{}],"logIndex":{}"#,
            contract.key.address,
            contract.contract_type.word(),
            row.from,
            row.to,
            listed(&|row| row.token_id.to_string()),
            listed(&|row| row.quantity.to_string()),
            row.log_index
        );
        if self.wanted.with_metadata {
            if let Some(info) = &contract.info {
                out.extend_from_slice(b",\"contractInfo\":");
                out.extend_from_slice(info);
            }
            write_tokens(log, known, out);
        }
        out.push(b'}');
    }
}

/// What is known of tokens, as JSON text.
type Texts = HashMap<(CollectionId, TokenId), Vec<u8>>;

fn write_tokens(log: &[Transfer], known: &Texts, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"tokenMetadata\":{");
    let (first, mut told) = (out.len(), IndexSet::new());
    for row in log {
        let text = known.get(&(row.collection, row.token_id)).filter(|_| told.insert(row.token_id));
        let Some(text) = text else { continue };
        separate(out, first);
        out.extend_from_slice(format!("\"{}\":", row.token_id).as_bytes());
        out.extend_from_slice(text);
    }
    out.push(b'}');
}

fn is_same(transaction: &[Transfer], row: &Transfer) -> bool {
    let last = transaction.last();
    last.is_some_and(|last| (last.transaction, last.block_number) == (row.transaction, row.block_number))
}

/// The rows of all streams, the newest first, as far as all were read: of one that was read to its limit there may be more below
/// its last. What is in several streams is there once.
fn merge(streams: Vec<Vec<Transfer>>, limit: usize) -> Merged {
    let cut = streams.iter().filter(|rows| rows.len() >= limit).filter_map(|rows| rows.last());
    let until = cut.map(Transfer::place).max();
    let mut rows: Vec<Transfer> = streams.into_iter().flatten().collect();
    rows.retain(|row| until.is_none_or(|until| row.place() >= until));
    rows.sort_unstable_by_key(|row| std::cmp::Reverse((row.place(), row.collection.number())));
    rows.dedup_by_key(|row| (row.place(), row.collection));
    Merged { rows, until }
}
