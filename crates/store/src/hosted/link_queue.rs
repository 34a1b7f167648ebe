//! The queue of contracts and tokens of which a hosted collection may say something else than before. Whoever changes a link, or
//! what one leads to, puts them into it in the same transaction; [`super::link_pages`] takes them out of it.

use bourse_wire::{Address, ChainId, ProjectId, RecordId, Timestamp, TokenId};

use crate::args::{Arg, args};
use crate::collections::CollectionKey;
use crate::columns::{Insert, record};
use crate::grants::Reach;
use crate::metadata_queue::{item_id, millis};
use crate::session::Session;
use crate::{Store, StoreError};

/// The name of everything that there is of a contract.
pub(super) const EVERYTHING: &str = "*";

/// What is asked for again is begun again, and whoever is at it finds that it was asked for more often than they know of.
const OR_AGAIN: &str =
    "ON CONFLICT (chain_id, contract_address, token_id) DO UPDATE SET asked = link_queue.asked + 1,
    of_hosted = excluded.of_hosted, after_token = excluded.after_token, due_at = excluded.due_at";

record! {
    /// Something of a contract that waits.
    pub(super) struct Asked: "link_queue" ("chain_id, contract_address, token_id") {
        chain_id: ChainId,
        contract_address: Address,
        token_id: String,
        asked: u64,
        of_hosted: bool,
        after_token: String,
        due_at: i64,
    }
}

/// What a hosted collection may say something else of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Concerned {
    /// The contract, and all its tokens.
    Everything,
    /// The contract itself.
    Contract,
    /// One token.
    Token(TokenId),
}

impl Concerned {
    /// A token, or the contract itself.
    pub(super) fn of(token: Option<TokenId>) -> Self {
        token.map_or(Self::Contract, Self::Token)
    }

    fn name(self) -> String {
        match self {
            Self::Everything => EVERYTHING.to_owned(),
            Self::Contract => item_id(None),
            Self::Token(token) => item_id(Some(token)),
        }
    }
}

/// Puts everything of a contract into the queue.
pub(super) async fn ask(
    session: &mut Session<'_>,
    contract: CollectionKey,
    now: Timestamp,
) -> Result<(), StoreError> {
    let asked = Asked {
        chain_id: contract.chain,
        contract_address: contract.address,
        token_id: EVERYTHING.to_owned(),
        asked: 0,
        of_hosted: false,
        after_token: String::new(),
        due_at: millis(now),
    };
    session.insert(Insert::of([asked])?, OR_AGAIN).await
}

/// Puts everything into the queue of all contracts that are linked.
pub(super) async fn ask_of_all(session: &mut Session<'_>, now: Timestamp) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO link_queue (chain_id, contract_address, token_id, asked, of_hosted, after_token, due_at)
        SELECT DISTINCT chain_id, contract_address, CAST($1 AS TEXT), 0, FALSE, '', CAST($2 AS BIGINT) FROM contract_links
        WHERE TRUE ORDER BY chain_id, contract_address {OR_AGAIN}"
    );
    session.execute(sql, args![EVERYTHING, millis(now)]).await.map(drop)
}

/// Puts something of every contract into the queue that is linked with a hosted collection.
pub(super) async fn ask_of_collection(
    session: &mut Session<'_>,
    (project, collection): (ProjectId, RecordId),
    concerned: Concerned,
    now: Timestamp,
) -> Result<(), StoreError> {
    let of_collection = vec![("hosted_collection_id", Arg::from(collection))];
    ask_of_links(session, project, of_collection, (concerned, now)).await
}

/// Puts everything into the queue of the contracts that a project linked and that something reaches which it may state now, or no
/// longer.
pub(crate) async fn ask_within(
    session: &mut Session<'_>,
    project: ProjectId,
    reach: Reach,
    now: Timestamp,
) -> Result<(), StoreError> {
    let reached = match reach {
        Reach::Everywhere => Vec::new(),
        Reach::Chain(chain) => vec![("chain_id", Arg::from(chain))],
        Reach::Contract(CollectionKey { chain, address }) => {
            vec![("chain_id", Arg::from(chain)), ("contract_address", Arg::from(address))]
        }
    };
    ask_of_links(session, project, reached, (Concerned::Everything, now)).await
}

/// Of links in the order of their contracts, so that two who ask of several never wait for each other. Where there is none, nothing is
/// written: on a cluster this is on the coordinator, and what is changed there and on a worker is committed in two phases. Whoever
/// links meanwhile asks for everything themselves.
async fn ask_of_links(
    session: &mut Session<'_>,
    project: ProjectId,
    which: Vec<(&'static str, Arg)>,
    (concerned, now): (Concerned, Timestamp),
) -> Result<(), StoreError> {
    let (names, values): (Vec<&str>, Vec<Arg>) = which.into_iter().unzip();
    let links = |after: usize| {
        let named = names.iter().zip(after + 1..).map(|(name, place)| format!(" AND {name} = ${place}"));
        format!("FROM contract_links WHERE project_id = $1{}", named.collect::<String>())
    };
    let sql = format!("SELECT 1 {} LIMIT 1", links(1));
    if !session.has(sql, args![project].into_iter().chain(values.clone()).collect()).await? {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO link_queue (chain_id, contract_address, token_id, asked, of_hosted, after_token, due_at)
        SELECT chain_id, contract_address, $2, 0, FALSE, '', $3 {}
        ORDER BY chain_id, contract_address {OR_AGAIN}",
        links(3)
    );
    let args = args![project, concerned.name(), millis(now)];
    session.execute(sql, args.into_iter().chain(values).collect()).await.map(drop)
}

impl Store {
    /// Puts everything into the queue of all contracts that are linked: an older server that ran beside this one, and changed what
    /// links lead to, knew of no queue.
    pub async fn ask_all_links(&self, now: Timestamp) -> Result<(), StoreError> {
        let linked = self.read(|mut session| {
            Box::pin(async move { session.has("SELECT 1 FROM contract_links LIMIT 1", args![]).await })
        });
        if linked.await? {
            self.write(move |mut session| Box::pin(async move { ask_of_all(&mut session, now).await }))
                .await?;
        }
        Ok(())
    }
}
