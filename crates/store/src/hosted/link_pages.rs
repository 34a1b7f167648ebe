//! Going through what links may have changed, page by page. Each page is a transaction of its own that also says how far it came,
//! so that whoever is stopped in the middle, and whichever server, goes on from there.

use std::collections::{BTreeMap, BTreeSet};

use bourse_wire::{Address, ChainId, ContractInfo, Timestamp, TokenId};

use super::link_queue::{Asked, EVERYTHING};
use super::replaced::{contract_change, own_contract, replaced_tokens, token_changes};
use super::said::{self, Speaker, tokens_said};
use crate::StoreError;
use crate::args::{Arg, args};
use crate::attributions::Author;
use crate::backend::{Pending, Store};
use crate::chain::is_followed;
use crate::collections::{
    CollectionId, CollectionKey, find, find_or_create, hold, hold_contract, read_tokens,
};
use crate::columns::selection;
use crate::commit::{Batch, Change, commit_within};
use crate::grants::Subject;
use crate::metadata_queue::{item_id, millis, read_json, token_of};
use crate::session::Session;

/// Tokens of a page: few enough that nobody waits long for it, and that those with the longest texts fit into memory.
const TOKENS_PER_PAGE: u64 = 100;

/// After how many milliseconds what failed is tried again; others do not wait for it.
const RETRY_MS: i64 = 10_000;

selection! {
    struct WaitingContract {
        chain: ChainId = "chain_id",
        address: Address = "contract_address",
    }
}

/// A contract that is gone through, and who speaks for it.
struct Linked<'a> {
    contract: CollectionKey,
    id: CollectionId,
    speaker: Option<Speaker>,
    /// Which tokens there are its chain says alone.
    is_followed: bool,
    public_url: &'a str,
    now: Timestamp,
}

impl Store {
    /// Goes through the next page of what links may have changed; whether there was any.
    pub fn follow_links(&self, now: Timestamp) -> Pending<'_, bool> {
        Box::pin(async move {
            let Some(contract) = self.next_linked(now).await? else { return Ok(false) };
            match self.follow_link(contract, now).await {
                Ok(()) => Ok(true),
                Err(error) => {
                    self.put_off_link(contract, now).await?;
                    Err(error)
                }
            }
        })
    }

    /// The contract of what has been due for longest.
    fn next_linked(&self, now: Timestamp) -> Pending<'_, Option<CollectionKey>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let sql = "FROM link_queue WHERE due_at <= $1 ORDER BY due_at LIMIT 1";
                let found: Option<WaitingContract> = session.select_first(sql, args![millis(now)]).await?;
                Ok(found.map(|WaitingContract { chain, address }| CollectionKey { chain, address }))
            })
        })
    }

    fn put_off_link(&self, contract: CollectionKey, now: Timestamp) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE link_queue SET due_at = $3 WHERE chain_id = $1 AND contract_address = $2";
                let args = args![contract.chain, contract.address, millis(now) + RETRY_MS];
                session.execute(sql, args).await.map(drop)
            })
        })
    }

    fn follow_link(&self, contract: CollectionKey, now: Timestamp) -> Pending<'_, ()> {
        let (changes_kept, public_url) = (self.options.changes_kept, self.public_url.clone());
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                // Of two servers one is at a contract. What the other has read by then is read again.
                hold_contract(session, contract).await?;
                let asked = read_asked(session, contract).await?;
                said::hold_speakers(session, contract).await?;
                let speaker = said::speaker(session, contract, Subject::Collections).await?;
                let identity = said::speaker(session, contract, Subject::Identity).await?;
                let id = match find(session, contract).await? {
                    None if speaker.is_some() || identity.is_some() => {
                        find_or_create(session, contract).await?
                    }
                    Some(id) => id,
                    None => return end_all(session, &asked).await,
                };
                // Whoever states something of the collection comes before this, or after.
                hold(session, id).await?;
                let is_followed = is_followed(session, id).await?;
                let linked = Linked { contract, id, speaker, is_followed, public_url: &public_url, now };
                let changes = linked.page(session, asked).await?;
                if !changes.is_empty() {
                    let batch =
                        Batch { collection: contract, changes, key: None, author: Author::Fetcher, at: now };
                    commit_within(session, batch, changes_kept).await?;
                }
                Ok(())
            })
        })
    }
}

impl Linked<'_> {
    /// What a page changes, which ends what was asked for or says how far it came.
    async fn page(&self, session: &mut Session<'_>, asked: Vec<Asked>) -> Result<Vec<Change>, StoreError> {
        let (mut tokens, mut of_contract) = (BTreeSet::new(), false);
        for asked in asked {
            if asked.token_id == EVERYTHING {
                of_contract |= asked.after_token.is_empty() && !asked.of_hosted;
                tokens.extend(self.go_on(session, asked).await?);
            } else {
                match token_of(&asked.token_id)? {
                    Some(token) => _ = tokens.insert(token),
                    None => of_contract = true,
                }
                end(session, &asked).await?;
            }
        }
        let tokens: Vec<TokenId> = tokens.into_iter().collect();
        let stored = read_tokens(session, self.id, tokens.iter().copied()).await?;
        let mut said = match self.speaker {
            Some(speaker) => tokens_said(session, speaker, &tokens, self.public_url).await?,
            None => BTreeMap::new(),
        };
        if self.is_followed {
            let known: BTreeSet<TokenId> = stored.iter().map(|token| token.token_id).collect();
            said.retain(|token, _| known.contains(token));
        }
        let mut changes = token_changes(session, self.id, stored, said, self.now).await?;
        if of_contract {
            changes.extend(self.contract_change(session).await?);
        }
        Ok(changes)
    }

    async fn contract_change(&self, session: &mut Session<'_>) -> Result<Option<Change>, StoreError> {
        let key = (self.id, self.contract);
        let own = own_contract(session, key).await?;
        let own: Option<ContractInfo> =
            own.as_deref().map(|text| read_json("contract information", text)).transpose()?;
        contract_change(session, key, own, (self.public_url, self.now)).await
    }

    /// The next tokens of a contract: first all that a hosted collection spoke for, then all that are published in the one that
    /// does. How many others the contract has makes no difference.
    async fn go_on(&self, session: &mut Session<'_>, asked: Asked) -> Result<Vec<TokenId>, StoreError> {
        let after = asked.after_token.as_str();
        let tokens: Vec<TokenId> = match self.speaker {
            Some(Speaker { project, collection }) if asked.of_hosted => {
                let sql = "SELECT token_id FROM hosted_tokens
                    WHERE project_id = $1 AND hosted_collection_id = $2 AND private = FALSE AND token_id > $3
                    ORDER BY token_id LIMIT $4";
                session.values(sql, args![project, collection, after, TOKENS_PER_PAGE]).await?
            }
            None if asked.of_hosted => Vec::new(),
            Some(_) | None => replaced_tokens(session, self.id, after, TOKENS_PER_PAGE).await?,
        };
        let last = tokens.last().filter(|_| tokens.len() as u64 == TOKENS_PER_PAGE);
        let place = match last {
            Some(last) => Some((asked.of_hosted, item_id(Some(*last)))),
            None if asked.of_hosted || self.speaker.is_none() => None,
            None => Some((true, String::new())),
        };
        match place {
            Some((of_hosted, after)) => {
                // It was its turn: other contracts do not wait until all of a large one is done.
                let sql = "UPDATE link_queue SET of_hosted = $5, after_token = $6, due_at = $7
                    WHERE chain_id = $1 AND contract_address = $2 AND token_id = $3 AND asked = $4";
                let more = args![of_hosted, after, millis(self.now)];
                session.execute(sql, of(&asked).into_iter().chain(more).collect()).await?;
            }
            None => end(session, &asked).await?,
        }
        Ok(tokens)
    }
}

/// What waits of a contract, as much as goes into a page.
async fn read_asked(session: &mut Session<'_>, contract: CollectionKey) -> Result<Vec<Asked>, StoreError> {
    let sql =
        "FROM link_queue WHERE chain_id = $1 AND contract_address = $2 ORDER BY due_at, token_id LIMIT $3";
    session.select(sql, args![contract.chain, contract.address, TOKENS_PER_PAGE]).await
}

async fn end_all(session: &mut Session<'_>, asked: &[Asked]) -> Result<(), StoreError> {
    for asked in asked {
        end(session, asked).await?;
    }
    Ok(())
}

/// Takes something out of the queue, unless it was asked for again since it was read.
async fn end(session: &mut Session<'_>, asked: &Asked) -> Result<(), StoreError> {
    let sql = "DELETE FROM link_queue
        WHERE chain_id = $1 AND contract_address = $2 AND token_id = $3 AND asked = $4";
    session.execute(sql, of(asked)).await.map(drop)
}

fn of(asked: &Asked) -> Vec<Arg> {
    args![asked.chain_id, asked.contract_address, asked.token_id.as_str(), asked.asked]
}
